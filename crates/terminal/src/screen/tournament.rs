//! A running tournament, full screen: standings, boards, results and faults. Keys follow one game,
//! player or pairing on a large board.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use crownhead_rules::{Cell, Game, Side};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, MouseEvent};
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Screen;
use super::board::{BoardView, Highlights};
use super::layout::{Layout, MIN_SIZE};
use super::move_list::MoveList;
use super::theme::{Look, Role, Tone};
use super::widgets::{
    Popup, framed, too_small, truncate, write_keys, write_line, write_player, write_text,
};

/// State of a tournament.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentView {
    /// Name, game and format.
    pub title: String,
    /// State, games finished and time left.
    pub progress: String,
    /// The game and its options.
    pub game: Game,
    /// Players by rank.
    pub standings: Vec<StandingsLine>,
    /// Games in progress.
    pub running: Vec<LiveGame>,
    /// Finished games, latest first.
    pub results: Vec<LiveResult>,
    /// Faults, latest first.
    pub faults: Vec<String>,
}

/// A player in the standings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingsLine {
    /// Rank; tied players share it.
    pub rank: String,
    /// Name.
    pub player: String,
    /// Points.
    pub points: i64,
    /// Games won, drawn and lost.
    pub games: [u32; 3],
}

/// A game in progress.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveGame {
    /// Number of the game.
    pub number: i64,
    /// Names of the players; the first one moves first.
    pub names: [String; 2],
    /// Letters of the 64 cells.
    pub board: [char; 64],
    /// Side to move.
    pub side: Side,
    /// Side of the first move in `moves`.
    pub first: Side,
    /// Path of the last move.
    pub path: Vec<Cell>,
    /// Cells of the pieces it captured.
    pub captures: Vec<Cell>,
    /// All moves, opening included.
    pub moves: Vec<String>,
    /// Time used by each side.
    pub time: [Duration; 2],
    /// Scores that the players reported last.
    pub score: Option<String>,
}

/// A finished game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveResult {
    /// Number of the game.
    pub number: i64,
    /// Names of the players; the first one moves first.
    pub names: [String; 2],
    /// Result, such as `1-0`.
    pub result: String,
    /// Code of the reason.
    pub reason: String,
}

/// The games that the large board shows.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Follow {
    Game(i64),
    Player(String),
    Pairing([String; 2]),
}

impl Follow {
    fn includes(&self, game: &LiveGame) -> bool {
        match self {
            Follow::Game(number) => game.number == *number,
            Follow::Player(name) => game.names.contains(name),
            Follow::Pairing(names) => names.iter().all(|name| game.names.contains(name)),
        }
    }

    fn title(&self) -> String {
        match self {
            Follow::Game(number) => format!("game {number}"),
            Follow::Player(name) => format!("all games of {name}"),
            Follow::Pairing([first, second]) => format!("all games of {first} and {second}"),
        }
    }
}

/// Called for Ctrl-C; returns a message. Without it, Ctrl-C closes the screen.
pub type OnInterrupt = Box<dyn FnMut() -> String + Send>;

/// Screen of a running tournament.
pub struct TournamentScreen {
    updates: Receiver<TournamentView>,
    view: Option<TournamentView>,
    on_interrupt: Option<OnInterrupt>,
    message: String,
    /// Number of the selected game.
    selected: Option<i64>,
    follow: Option<Follow>,
    /// The followed game, which stays on the board after its end.
    followed: Option<LiveGame>,
    /// First visible row of the standings.
    first_row: usize,
    look: Look,
    show_help: bool,
    quit: bool,
}

/// Size of a small board with its two lines of names.
const BOARD_SIZE: (u16, u16) = (16, 10);
/// Time between two frames without a key press: nothing moves faster than the updates.
const FRAME_INTERVAL: Duration = Duration::from_millis(100);

impl TournamentScreen {
    /// Creates the screen. It shows the latest of the `updates`.
    pub fn new(
        updates: Receiver<TournamentView>,
        on_interrupt: Option<OnInterrupt>,
        look: Look,
    ) -> TournamentScreen {
        let mut screen = TournamentScreen {
            updates,
            view: None,
            on_interrupt,
            message: String::new(),
            selected: None,
            follow: None,
            followed: None,
            first_row: 0,
            look,
            show_help: false,
            quit: false,
        };
        screen.tick();
        screen
    }

    fn running(&self) -> &[LiveGame] {
        self.view.as_ref().map_or(&[], |view| &view.running)
    }

    fn selected_index(&self) -> usize {
        let is_selected = |game: &LiveGame| Some(game.number) == self.selected;
        self.running().iter().position(is_selected).unwrap_or(0)
    }

    /// The followed game, or else the selected one.
    fn current(&self) -> Option<&LiveGame> {
        match self.follow {
            Some(_) => self.followed.as_ref(),
            None => self.running().get(self.selected_index()),
        }
    }

    fn select(&mut self, step: isize) {
        let count = self.running().len().max(1) as isize;
        let index = (self.selected_index() as isize + step).rem_euclid(count) as usize;
        self.selected = self.running().get(index).map(|game| game.number);
        if let (Some(_), Some(number)) = (&self.follow, self.selected) {
            self.set_follow(Some(Follow::Game(number)));
        }
    }

    fn set_follow(&mut self, follow: Option<Follow>) {
        self.follow = follow;
        self.update_followed();
    }

    /// Follows the other player of the current game, or the first one.
    fn follow_player(&mut self) {
        let Some(game) = self.current() else { return };
        let [first, second] = &game.names;
        let is_first = |follow: &Follow| *follow == Follow::Player(first.clone());
        let name = if self.follow.as_ref().is_some_and(is_first) { second } else { first };
        let follow = Follow::Player(name.clone());
        self.set_follow(Some(follow));
    }

    /// A followed game stays until it has a successor.
    fn update_followed(&mut self) {
        let Some(follow) = &self.follow else { return self.followed = None };
        let current = self.followed.as_ref().map(|game| game.number);
        let is_current = |game: &&LiveGame| Some(game.number) == current && follow.includes(game);
        let running = self.running();
        let next = running.iter().find(is_current);
        let next = next.or_else(|| running.iter().find(|game| follow.includes(game)));
        match next.cloned() {
            Some(game) => self.followed = Some(game),
            None => self.followed = self.followed.take().filter(|game| follow.includes(game)),
        }
    }

    fn draw_overview(&self, frame: &mut Frame<'_>, view: &TournamentView) {
        let area = frame.area();
        let content = Rect { y: area.y + 2, height: area.height - 3, ..area };
        let left = Rect { width: (area.width / 2 + 2).min(64), ..content };
        let faults_height = if view.faults.is_empty() { 0 } else { 5 };
        let rows = (view.standings.len() as u16).saturating_add(3);
        let standings_height = rows.min((content.height - faults_height) * 3 / 5).max(5);
        let standings = Rect { height: standings_height, ..left };
        let results = Rect {
            y: standings.bottom(),
            height: content.height - standings_height - faults_height,
            ..left
        };
        self.draw_standings(frame, view, standings);
        let lines = view.results.iter().map(|LiveResult { number, names, result, reason }| {
            format!("{number:>4}  {result:<7}  {} - {}, {reason}", names[0], names[1])
        });
        self.draw_lines(frame, results, "Latest results", lines);
        if faults_height > 0 {
            let faults = Rect { y: results.bottom(), height: faults_height, ..left };
            self.draw_lines(frame, faults, "Faults", view.faults.iter().cloned());
        }
        let x = left.right() + 1;
        self.draw_boards(frame, view, Rect { x, width: area.right() - x, ..content });
    }

    fn draw_lines(
        &self,
        frame: &mut Frame<'_>,
        place: Rect,
        title: &str,
        lines: impl Iterator<Item = String>,
    ) {
        let area = framed(frame, place, title, self.look);
        for (text, y) in lines.zip(area.y..area.bottom()) {
            let text = truncate(&text, area.width.into());
            write_line(frame, Rect { y, height: 1, ..area }, &text, Style::default());
        }
    }

    fn draw_standings(&self, frame: &mut Frame<'_>, view: &TournamentView, place: Rect) {
        let rows = usize::from(place.height.saturating_sub(3));
        let last = view.standings.len().saturating_sub(rows);
        let first = self.first_row.min(last);
        let name_width = usize::from(place.width).saturating_sub(4 + 4 + 7 + 17);
        let line = |rank: &str, name: &str, points: &str, games: [String; 3]| {
            let [won, drawn, lost] = games;
            let name = truncate(name, name_width);
            format!("{rank:>3} {name:<name_width$} {points:>6} {won:>5}{drawn:>6}{lost:>5}")
        };
        let header = line("", "player", "points", ["won", "drawn", "lost"].map(String::from));
        let row = |row: &StandingsLine| {
            line(&row.rank, &row.player, &row.points.to_string(), row.games.map(|n| n.to_string()))
        };
        let lines = view.standings.iter().skip(first).map(row);
        let title = match last {
            0 => "Standings".into(),
            _ => {
                format!("Standings ({} to {} of {})", first + 1, first + rows, view.standings.len())
            }
        };
        self.draw_lines(frame, place, &title, [header].into_iter().chain(lines));
    }

    /// Draws as many boards as fit, the selected one among them.
    fn draw_boards(&self, frame: &mut Frame<'_>, view: &TournamentView, area: Rect) {
        let (width, height) = BOARD_SIZE;
        let columns = ((area.width + 1) / (width + 2)).max(1);
        let rows = ((area.height + 1) / (height + 1)).max(1);
        let capacity = usize::from(columns * rows);
        let selected = self.selected_index();
        let first = selected / capacity * capacity;
        if view.running.is_empty() {
            write_text(frame, area, "No game is running.", "…");
        }
        for (game, place) in view.running[first.min(view.running.len())..].iter().zip(0..) {
            if usize::from(place) >= capacity {
                break;
            }
            let x = area.x + place % columns * (width + 2);
            let y = area.y + place / columns * (height + 1);
            let is_selected = usize::from(place) + first == selected;
            let style = if is_selected { self.look.bold() } else { Style::default() };
            for (name, side) in game.names.iter().zip([Side::First, Side::Second]) {
                let mark = match (is_selected, side) {
                    (true, Side::First) => "▸",
                    _ => " ",
                };
                let turn = if game.side == side { "*" } else { " " };
                let text = truncate(&format!("{mark}{turn}{name}"), width.into());
                let line = Rect { x, y: y + side.index() as u16, width, height: 1 };
                write_line(frame, line, &text, style);
            }
            self.draw_small_board(frame.buffer_mut(), &view.game, game, x, y + 2);
        }
    }

    /// Draws a board with cells of two columns and one row.
    fn draw_small_board(&self, buffer: &mut Buffer, game: &Game, live: &LiveGame, x: u16, y: u16) {
        let (info, look) = (game.info(), self.look);
        for cell in Cell::all() {
            let (row, column) = (u16::from(cell.row()) - 1, u16::from(cell.column()) - 1);
            let letter = live.board[cell.index() as usize];
            let piece = info.piece(letter);
            let is_last = live.path.contains(&cell) || live.captures.contains(&cell);
            let (symbol, style) = if look.has_colours() {
                let dark = !(row + column).is_multiple_of(2);
                let role =
                    if is_last { Role::LastMove } else { Role::Square(Tone::new(info, dark)) };
                let square = Style::default().bg(look.colour(role));
                match piece {
                    Some((side, kind)) => {
                        let is_man = kind.name == info.pieces[0].name;
                        let colour = info.sides[side.index()].colour;
                        (
                            if is_man { "● " } else { "◉ " },
                            square.fg(look.colour(Role::Piece(colour))),
                        )
                    }
                    None => ("  ", square),
                }
            } else {
                let empty = if info.is_playable(cell) { "· " } else { "  " };
                (if piece.is_some() { "" } else { empty }, Style::default())
            };
            let place = (x + 2 * column, y + row);
            match symbol {
                "" => buffer.set_string(place.0, place.1, format!("{letter} "), style),
                symbol => buffer.set_string(place.0, place.1, symbol, style),
            }
        }
    }

    fn draw_followed(&self, frame: &mut Frame<'_>, view: &TournamentView, follow: &Follow) {
        let Some(layout) = Layout::new(frame.area(), false) else { return too_small(frame) };
        let look = self.look;
        let Some(game) = &self.followed else {
            let text = format!("Waiting for {}. Esc: all games.", follow.title());
            return write_text(frame, layout.message, &text, "…");
        };
        let highlights = Highlights {
            last_path: game.path.clone(),
            captured: game.captures.clone(),
            ..Highlights::default()
        };
        let board = BoardView {
            game: &view.game,
            board: &game.board,
            highlights: &highlights,
            look,
            show_numbers: true,
        };
        board.draw(frame.buffer_mut(), layout.board);
        let is_running = view.running.iter().any(|running| running.number == game.number);
        let players = framed(frame, layout.players, &format!("Game {}", game.number), look);
        for side in [Side::First, Side::Second] {
            let line = Rect { y: players.y + side.index() as u16, height: 1, ..players };
            let time = format!("{:.1} s", game.time[side.index()].as_secs_f64());
            let player = (game.names[side.index()].as_str(), time.as_str());
            write_player(
                frame,
                line,
                (&view.game, side),
                is_running && game.side == side,
                player,
                look,
            );
        }
        let status = framed(frame, layout.captured, "Following", look);
        write_text(frame, status, &follow.title(), "…");
        let engine = framed(frame, layout.engine, "Score", look);
        write_text(frame, engine, game.score.as_deref().unwrap_or("none reported"), "…");
        let moves = framed(frame, layout.moves, "Moves", look);
        let list = MoveList {
            sides: view.game.info().sides,
            first: game.first,
            texts: &game.moves,
            current_ply: game.moves.len(),
            look,
        };
        list.draw(frame.buffer_mut(), moves);
        let result = view.results.iter().find(|result| result.number == game.number);
        if let Some(LiveResult { number, result, reason, .. }) = result.filter(|_| !is_running) {
            write_text(frame, layout.message, &format!("Game {number}: {result}, {reason}."), "…");
        }
    }
}

const HELP: &[&str] = &[
    "← → Tab   select a running game",
    "Enter     follow the selected game on a large board",
    "p         follow a player of it; again: the other player",
    "v         follow the pairing: all games of the two players",
    "Esc       all games",
    "↑ ↓       scroll the standings",
    "q         close the screen; a tournament that runs here continues",
    "Ctrl-C    finish the running games and stop; again: abort them",
];

impl Screen for TournamentScreen {
    fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
            return too_small(frame);
        }
        let Some(view) = &self.view else {
            return write_text(frame, area, "Reading the journal …", "…");
        };
        let line = |y: u16| Rect { x: area.x + 1, y, width: area.width - 2, height: 1 };
        let title = truncate(&view.title, usize::from(area.width) - 2);
        match &self.follow {
            Some(follow) => self.draw_followed(frame, view, follow),
            None => {
                self.draw_overview(frame, view);
                let text = if self.message.is_empty() { &view.progress } else { &self.message };
                let text = truncate(text, usize::from(area.width) - 2);
                write_line(frame, line(area.y + 1), &text, Style::default());
            }
        }
        write_line(frame, line(area.y), &title, self.look.bold());
        let short = "← → select · Enter game · p player · v pairing · Esc all · ? help · q close";
        let long = format!("↑ ↓ standings · {short}");
        write_keys(frame, line(area.bottom() - 1), &[long, short.into()], self.look);
        if self.show_help {
            Popup::Keys.draw(frame, HELP, "");
        }
    }

    fn key(&mut self, code: KeyCode) {
        if std::mem::take(&mut self.show_help) {
            return;
        }
        match code {
            KeyCode::Char('q') => self.quit = true,
            KeyCode::Char('?') => self.show_help = true,
            KeyCode::Right | KeyCode::Tab | KeyCode::Char('l' | 'n') => self.select(1),
            KeyCode::Left | KeyCode::BackTab | KeyCode::Char('h') => self.select(-1),
            KeyCode::Down | KeyCode::Char('j') => {
                let last = self.view.as_ref().map_or(0, |view| view.standings.len());
                self.first_row = (self.first_row + 1).min(last.saturating_sub(1));
            }
            KeyCode::Up | KeyCode::Char('k') => self.first_row = self.first_row.saturating_sub(1),
            KeyCode::Enter => {
                let game = self.current().map(|game| Follow::Game(game.number));
                self.set_follow(game);
            }
            KeyCode::Char('p') => self.follow_player(),
            KeyCode::Char('v') => {
                let pairing = self.current().map(|game| Follow::Pairing(game.names.clone()));
                self.set_follow(pairing);
            }
            KeyCode::Esc => self.set_follow(None),
            _ => {}
        }
    }

    fn mouse(&mut self, _: MouseEvent, _: Rect) {}

    fn tick(&mut self) {
        if let Some(view) = self.updates.try_iter().last() {
            self.view = Some(view);
            self.update_followed();
        }
    }

    fn quit(&mut self) {
        match &mut self.on_interrupt {
            Some(interrupt) => {
                self.message = interrupt();
                self.set_follow(None);
            }
            None => self.quit = true,
        }
    }

    fn has_quit(&self) -> bool {
        self.quit
    }

    fn frame_interval(&self) -> Duration {
        FRAME_INTERVAL
    }
}
