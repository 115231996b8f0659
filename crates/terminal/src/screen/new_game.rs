//! A form for the settings of a game: game, opponent and side. The home screen and the dialog for a
//! new game share it.

use crownhead_play::TimeControl;
use crownhead_rules::Game;
use ratatui::crossterm::event::KeyCode;

use crate::local_game::{Seat, Setup};

/// Side that the person plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Played {
    First,
    Second,
    /// The computer plays both.
    Neither,
}

/// A row of the form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    Game,
    Opponent,
    Side,
    /// The position that the last game started from, or the start position.
    Start,
}

/// Settings of the next game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct NewGame {
    games: Vec<Game>,
    game: usize,
    opponents: Vec<Seat>,
    opponent: usize,
    played: Played,
    time_control: TimeControl,
    position: Option<String>,
    /// Whether the game starts from `position`.
    uses_position: bool,
    /// The selected row.
    row: usize,
}

/// The result of a key press.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FormEvent {
    /// The form stays open.
    Changed,
    Cancelled,
    Done,
}

impl NewGame {
    /// The default settings of a game.
    pub(super) fn new(game: &Game) -> NewGame {
        NewGame::after(&Setup::default_for(game))
    }

    /// The settings of a game that was just played.
    pub(super) fn after(setup: &Setup) -> NewGame {
        let names = ["human".to_string(), "random".to_string(), "minimax".to_string()];
        let levels = (1..=10).map(|level| format!("level:{level}"));
        let opponents: Vec<Seat> =
            names.into_iter().chain(levels).filter_map(|name| name.parse().ok()).collect();
        let mut form = NewGame {
            games: Game::all().to_vec(),
            game: 0,
            opponents,
            opponent: 0,
            played: Played::First,
            time_control: setup.time_control,
            position: setup.position.clone(),
            uses_position: true,
            row: 0,
        };
        form.set_game(&setup.game);
        let [first, second] = &setup.seats;
        let (played, opponent) = match (first, second) {
            (Seat::Human, _) => (Played::First, second),
            (_, Seat::Human) => (Played::Second, first),
            _ => (Played::Neither, second),
        };
        form.set_opponent(opponent.clone());
        form.played = played;
        form
    }

    fn set_game(&mut self, game: &Game) {
        // A game with options is added to the list.
        self.game = self.games.iter().position(|other| other == game).unwrap_or_else(|| {
            self.games.push(game.clone());
            self.games.len() - 1
        });
    }

    fn set_opponent(&mut self, seat: Seat) {
        self.opponent =
            self.opponents.iter().position(|other| *other == seat).unwrap_or_else(|| {
                self.opponents.push(seat);
                self.opponents.len() - 1
            });
    }

    /// The chosen game.
    pub(super) fn game(&self) -> &Game {
        &self.games[self.game]
    }

    /// Starts from a position that was set up.
    pub(super) fn set_position(&mut self, position: Option<String>) {
        self.position = position;
    }

    /// The rows that matter: between two people, the side does not.
    pub(super) fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::Game, Field::Opponent];
        if matches!(self.opponents[self.opponent], Seat::Computer(_)) {
            fields.push(Field::Side);
        }
        if self.position.is_some() {
            fields.push(Field::Start);
        }
        fields
    }

    /// Label and value of a row.
    pub(super) fn text(&self, field: Field) -> (&'static str, String) {
        match field {
            Field::Game => {
                let (info, options) = (self.game().info(), self.game().options_text());
                let options = if options.is_empty() { options } else { format!(" ({options})") };
                ("Game", format!("{}{options}", info.name))
            }
            Field::Opponent => {
                let text = match &self.opponents[self.opponent] {
                    Seat::Human => "a person, here".into(),
                    Seat::Computer(spec) => spec.to_string().replacen("level:", "level ", 1),
                };
                ("Opponent", text)
            }
            Field::Side => {
                let sides = self.game().info().sides.map(|side| side.name);
                let text = match self.played {
                    Played::First => sides[0],
                    Played::Second => sides[1],
                    Played::Neither => "neither (watch)",
                };
                ("You play", text.into())
            }
            Field::Start => {
                let text = if self.uses_position { "the same position" } else { "the start" };
                ("From", text.into())
            }
        }
    }

    /// Shows the next or the previous value of a row.
    pub(super) fn change(&mut self, field: Field, forward: bool) {
        let step = |index: usize, count: usize| match forward {
            true => (index + 1) % count,
            false => (index + count - 1) % count,
        };
        match field {
            Field::Game => {
                self.game = step(self.game, self.games.len());
                self.position = None;
            }
            Field::Opponent => self.opponent = step(self.opponent, self.opponents.len()),
            Field::Side => {
                const ALL: [Played; 3] = [Played::First, Played::Second, Played::Neither];
                let index = ALL.iter().position(|other| *other == self.played).unwrap_or(0);
                self.played = ALL[step(index, ALL.len())];
            }
            Field::Start => self.uses_position = !self.uses_position,
        }
    }

    /// Handles a key in the dialog.
    pub(super) fn key(&mut self, code: KeyCode) -> FormEvent {
        let fields = self.fields();
        let field = fields[self.row.min(fields.len() - 1)];
        match code {
            KeyCode::Enter => return FormEvent::Done,
            KeyCode::Esc | KeyCode::Char('q') => return FormEvent::Cancelled,
            KeyCode::Up | KeyCode::Char('k') => self.row = self.row.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.row = (self.row + 1).min(fields.len() - 1),
            KeyCode::Left | KeyCode::Char('h') => self.change(field, false),
            KeyCode::Right | KeyCode::Char('l' | ' ') => self.change(field, true),
            _ => {}
        }
        FormEvent::Changed
    }

    /// The lines of the dialog.
    pub(super) fn lines(&self) -> Vec<String> {
        let rows = self.fields().into_iter().enumerate().map(|(index, field)| {
            let (label, value) = self.text(field);
            let mark = if index == self.row { '▸' } else { ' ' };
            format!("{mark} {label:<9} ◂ {value} ▸")
        });
        let mut lines: Vec<_> = rows.collect();
        lines.push(String::new());
        lines.push("↑ ↓ row   ← → change   Enter: start   Esc: cancel".into());
        lines
    }

    /// The settings of the game.
    pub(super) fn setup(&self, seed: u64) -> Setup {
        let opponent = self.opponents[self.opponent].clone();
        let seats = match (&opponent, self.played) {
            (Seat::Human, _) | (_, Played::First) => [Seat::Human, opponent],
            (_, Played::Second) => [opponent, Seat::Human],
            (_, Played::Neither) => [opponent.clone(), opponent],
        };
        Setup {
            game: self.game().clone(),
            seats,
            position: self.position.clone().filter(|_| self.uses_position),
            time_control: self.time_control,
            seed,
        }
    }
}
