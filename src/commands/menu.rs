//! `crownhead` alone on a dumb terminal or in a pipe: a menu with the prompts of the original
//! program.

use std::io::{BufRead, Write};
use std::time::Duration;

use crownhead_play::TimeControl;
use crownhead_rules::Game;
use crownhead_terminal::autosave::Autosave;
use crownhead_terminal::local_game::{LocalGame, Seat, Setup};
use crownhead_terminal::plain::input::{self, InputLine};

use super::play::{play, random_seed};
use super::serve;
use crate::failure::Failure;

/// Asks what to play, and plays it. End of input at a prompt exits.
pub(crate) fn run() -> Result<(), Failure> {
    // The locks end here, because the game needs input and output too.
    let choice = ask(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
    match choice {
        None => Ok(()),
        Some(MenuChoice::Browser) => serve::run(&serve::Args::for_menu()),
        Some(MenuChoice::Game(setup)) => {
            let game =
                LocalGame::new(*setup).map_err(|error| Failure::BadInput(error.to_string()))?;
            play(game, Autosave::new(), false, None)
        }
    }
}

enum MenuChoice {
    /// Play in this terminal.
    Game(Box<Setup>),
    Browser,
}

/// Asks all questions; `None` if the user quits.
fn ask(input: &mut impl BufRead, output: &mut impl Write) -> std::io::Result<Option<MenuChoice>> {
    // The default game comes first.
    let mut games = Game::all();
    games.sort_by_key(|game| *game != Game::default());
    let count = games.len();
    writeln!(output, "Crownhead: checkers games on an 8x8 board. q quits.\n")?;
    for (number, game) in games.iter().enumerate() {
        writeln!(output, "{} {}", number + 1, game.info().name)?;
    }
    writeln!(output, "b play in the browser")?;
    let parse_game = |text: &str| match text {
        "b" => Some(None),
        _ => text.parse::<usize>().ok().filter(|n| (1..=count).contains(n)).map(Some),
    };
    let expected = format!("a number from 1 to {count}, or b");
    let Some(number) = prompt(input, output, "Which game? [1] ", "1", &expected, parse_game)?
    else {
        return Ok(None);
    };
    let Some(number) = number else { return Ok(Some(MenuChoice::Browser)) };
    let game = games[number - 1].clone();
    writeln!(output, "\n1 human v.s. human\n2 human v.s. computer")?;
    let one_or_two = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=2).contains(n));
    let Some(mode) = prompt(input, output, "Which mode? [2] ", "2", "1 or 2", one_or_two)? else {
        return Ok(None);
    };
    let mut seats = [Seat::Human, Seat::Human];
    let mut time = TimeControl::Unlimited;
    if mode == 2 {
        let [first, second] = game.info().sides;
        writeln!(output, "\n1 {} (moves first)\n2 {}", first.name, second.name)?;
        let question = "Which side do you play? [1] ";
        let Some(side) = prompt(input, output, question, "1", "1 or 2", one_or_two)? else {
            return Ok(None);
        };
        writeln!(output, "\nOpponents: random, minimax, level:1 (easy) to level:10 (strongest).")?;
        let expected = "random, minimax, or level:1 to level:10";
        let default = Setup::default_for(&game).seats[1].to_string();
        let question = format!("Which opponent? [{default}] ");
        let Some(opponent) = prompt(input, output, &question, &default, expected, parse_opponent)?
        else {
            return Ok(None);
        };
        if uses_time(&opponent) {
            let question = "Seconds per move for the computer? [2] ";
            let expected = "seconds, 0.01 to 3600";
            let Some(move_time) = prompt(input, output, question, "2", expected, parse_seconds)?
            else {
                return Ok(None);
            };
            time = TimeControl::PerMove(move_time);
        }
        seats[2 - side] = opponent;
    }
    let setup = Setup { game, seats, position: None, time_control: time, seed: random_seed() };
    Ok(Some(MenuChoice::Game(Box::new(setup))))
}

/// Parses a computer player; a number alone is a level.
fn parse_opponent(text: &str) -> Option<Seat> {
    let text = if text.parse::<u8>().is_ok() { format!("level:{text}") } else { text.into() };
    text.parse().ok().filter(|seat| *seat != Seat::Human)
}

/// Returns whether only the clock limits a player's search. Levels and textbook players have limits
/// of their own.
fn uses_time(seat: &Seat) -> bool {
    matches!(seat, Seat::Computer(spec) if spec.has_no_limit())
}

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>().ok()?;
    (0.01..=3600.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// Asks until the answer is valid; `None` if the user quits. An empty answer is `default`.
fn prompt<T>(
    input: &mut impl BufRead,
    output: &mut impl Write,
    question: &str,
    default: &str,
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> std::io::Result<Option<T>> {
    loop {
        write!(output, "{question}")?;
        output.flush()?;
        let answer = match input::read_line(input)? {
            InputLine::End | InputLine::Interrupted => {
                writeln!(output)?;
                return Ok(None);
            }
            InputLine::Text(text) => Some(text.to_ascii_lowercase()),
            InputLine::Invalid(_) => None,
        };
        let value = match answer.as_deref() {
            Some("q" | "quit") => return Ok(None),
            Some("") => parse(default),
            Some(answer) => parse(answer),
            None => None,
        };
        match value {
            Some(value) => return Ok(Some(value)),
            None => writeln!(output, "Please enter {expected}.")?,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    fn answer(answers: &str) -> (Option<Setup>, String) {
        let mut output = Vec::new();
        let setup = match ask(&mut answers.as_bytes(), &mut output).unwrap() {
            Some(MenuChoice::Game(setup)) => Some(*setup),
            Some(MenuChoice::Browser) | None => None,
        };
        (setup, String::from_utf8(output).unwrap())
    }

    #[test]
    fn menu_has_the_defaults_of_play() {
        let (setup, output) = answer("\n\n\n\n");
        let default = Setup::default_for(&Game::default());
        let setup = setup.unwrap();
        assert_eq!((setup.game, setup.seats), (default.game, default.seats));
        assert!(output.contains("1 English checkers"), "{output}");
    }

    #[test]
    fn b_opens_the_browser() {
        let choice = ask(&mut "b\n".as_bytes(), &mut Vec::new()).unwrap();
        assert!(matches!(choice, Some(MenuChoice::Browser)));
    }

    #[test]
    fn invalid_answers_are_asked_again() {
        let long = "9".repeat(5000);
        let (setup, output) =
            answer(&format!("-1\n{long}\n\u{1b}[2J\n2\n2\n2\nhuman\nlevel:10\n0.5\n"));
        let setup = setup.unwrap();
        assert_eq!(setup.seats[1], Seat::Human);
        assert_eq!(setup.seats[0], "level:10".parse().unwrap());
        assert_eq!(setup.time_control, TimeControl::PerMove(Duration::from_millis(500)));
        assert_eq!(output.matches("Please enter").count(), 4, "{output}");
        assert!(answer("1\n1\n").0.is_some_and(|setup| setup.seats == [Seat::Human, Seat::Human]));
    }

    #[test]
    fn menu_asks_think_time_only_where_it_matters() {
        for opponent in ["random", "minimax", "level:9"] {
            let (setup, output) = answer(&format!("1\n2\n1\n{opponent}\n"));
            assert_eq!(setup.unwrap().time_control, TimeControl::Unlimited, "{opponent}");
            assert!(!output.contains("Seconds per move"), "{output}");
        }
        assert!(answer("1\n2\n1\nlevel:10\n").1.contains("Seconds per move"));
    }

    #[test]
    fn end_of_input_and_q_quit_the_menu() {
        assert!(answer("").0.is_none());
        assert!(answer("1\nq\n").0.is_none());
        assert!(answer("1\n2\n1\n").0.is_none());
    }
}
