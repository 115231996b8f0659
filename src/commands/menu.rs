//! `crownhead` alone: the questions of the original program, and a game.

use std::io::{BufRead, Write};
use std::time::Duration;

use crownhead_play::{PlayerKind, TimeControl};
use crownhead_rules::Game;
use crownhead_terminal::autosave::Autosave;
use crownhead_terminal::local_game::{LocalGame, Seat, Setup};
use crownhead_terminal::plain::input::{self, InputLine};

use super::Failure;
use super::play::{lot, play};
use super::serve;

/// Asks what to play, and plays it. End of input at a question ends the program.
pub(crate) fn run() -> Result<(), Failure> {
    // The locks end here: whoever plays needs the input and the output too.
    let wanted = ask(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
    match wanted {
        None => Ok(()),
        Some(Wanted::Browser) => serve::run(&serve::Arguments::for_menu()),
        Some(Wanted::Game(setup)) => {
            let live =
                LocalGame::new(setup).map_err(|error| Failure::BadInput(error.to_string()))?;
            play(live, Autosave::new(), false, None)
        }
    }
}

/// What to do.
enum Wanted {
    /// Play a game here.
    Game(Setup),
    /// Play in the browser.
    Browser,
}

/// The questions; none if the input ended before the last answer.
fn ask(input: &mut impl BufRead, output: &mut impl Write) -> std::io::Result<Option<Wanted>> {
    // The game of the original program comes first.
    let mut games = Game::all();
    games.sort_by_key(|game| game.info().assignment_texts.is_none());
    let count = games.len();
    writeln!(output, "Crownhead: checkers games on 8x8. q quits.\n")?;
    for (number, game) in games.iter().enumerate() {
        writeln!(output, "{} {}", number + 1, game.info().name)?;
    }
    writeln!(output, "b in the browser, all of them")?;
    let numbers = |text: &str| match text {
        "b" => Some(None),
        _ => text.parse::<usize>().ok().filter(|n| (1..=count).contains(n)).map(Some),
    };
    let what = format!("a number from 1 to {count}, or b");
    let Some(game) = question(input, output, "Which game? [1] ", "1", &what, numbers)? else {
        return Ok(None);
    };
    let Some(game) = game else { return Ok(Some(Wanted::Browser)) };
    let game = games[game - 1].clone();
    writeln!(output, "\n1 human v.s. human\n2 human v.s. computer")?;
    let modes = |text: &str| text.parse::<usize>().ok().filter(|n| (1..=2).contains(n));
    let Some(mode) = question(input, output, "Which mode? [2] ", "2", "1 or 2", modes)? else {
        return Ok(None);
    };
    let (mut seats, mut time) = ([Seat::Human, Seat::Human], TimeControl::Unlimited);
    if mode == 2 {
        let [first, second] = game.info().sides;
        writeln!(output, "\n1 {} (moves first)\n2 {}", first.name, second.name)?;
        let Some(own) =
            question(input, output, "Which side do you play? [1] ", "1", "1 or 2", modes)?
        else {
            return Ok(None);
        };
        writeln!(
            output,
            "\nThe computer can be random, minimax, or level:1 (easy) to level:10 (the best there is)."
        )?;
        let player = |text: &str| {
            let text =
                if text.parse::<u8>().is_ok() { format!("level:{text}") } else { text.into() };
            text.parse().ok().filter(|seat| *seat != Seat::Human)
        };
        let what = "random, minimax, or level:1 to level:10";
        let Some(seat) =
            question(input, output, "Against whom? [level:3] ", "level:3", what, player)?
        else {
            return Ok(None);
        };
        let thinks = !matches!(&seat, Seat::Computer(spec) if spec.builtin().is_some_and(|spec| spec.kind == PlayerKind::Random));
        seats[2 - own] = seat;
        if !thinks {
            let setup = Setup { game, seats, position: None, time_control: time, seed: lot() };
            return Ok(Some(Wanted::Game(setup)));
        }
        let seconds = |text: &str| {
            let number = text.strip_suffix('s').unwrap_or(text).parse::<f64>().ok()?;
            (0.01..=3600.0).contains(&number).then(|| Duration::from_secs_f64(number))
        };
        let what = "seconds, 0.01 to 3600";
        let Some(thought) = question(
            input,
            output,
            "How many seconds may it think about a move? [1] ",
            "1",
            what,
            seconds,
        )?
        else {
            return Ok(None);
        };
        time = TimeControl::PerMove(thought);
    }
    let setup = Setup { game, seats, position: None, time_control: time, seed: lot() };
    Ok(Some(Wanted::Game(setup)))
}

/// Asks until the answer will do; an empty answer is the usual one.
fn question<T>(
    input: &mut impl BufRead,
    output: &mut impl Write,
    text: &str,
    usual: &str,
    wanted: &str,
    read: impl Fn(&str) -> Option<T>,
) -> std::io::Result<Option<T>> {
    loop {
        write!(output, "{text}")?;
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
            Some("") => read(usual),
            Some(answer) => read(answer),
            None => None,
        };
        match value {
            Some(value) => return Ok(Some(value)),
            None => writeln!(output, "Please answer with {wanted}.")?,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;

    fn asked(answers: &str) -> (Option<Setup>, String) {
        let mut output = Vec::new();
        let setup = match ask(&mut answers.as_bytes(), &mut output).unwrap() {
            Some(Wanted::Game(setup)) => Some(setup),
            Some(Wanted::Browser) | None => None,
        };
        (setup, String::from_utf8(output).unwrap())
    }

    #[test]
    fn enter_alone_gives_a_game_of_chinese_checkers_against_a_computer() {
        let (setup, output) = asked("\n\n\n\n\n");
        let setup = setup.unwrap();
        assert_eq!(setup.game, "chinese-checkers".parse().unwrap());
        assert_eq!(setup.seats[0], Seat::Human);
        assert_eq!(setup.seats[1], "level:3".parse().unwrap());
        assert!(output.find("Chinese") < output.find("English"), "{output}");
    }

    #[test]
    fn the_browser_is_one_letter_away() {
        let wanted = ask(&mut "b\n".as_bytes(), &mut Vec::new()).unwrap();
        assert!(matches!(wanted, Some(Wanted::Browser)));
    }

    #[test]
    fn every_answer_counts_and_nonsense_is_asked_again() {
        let long = "9".repeat(5000);
        let (setup, output) =
            asked(&format!("-1\n{long}\n\u{1b}[2J\n2\n2\n2\nhuman\nminimax\n0.5\n"));
        let setup = setup.unwrap();
        assert_eq!(setup.seats[1], Seat::Human);
        assert_eq!(setup.seats[0], "minimax".parse().unwrap());
        assert_eq!(setup.time_control, TimeControl::PerMove(Duration::from_millis(500)));
        assert_eq!(output.matches("Please answer").count(), 4, "{output}");
        assert!(asked("1\n1\n").0.is_some_and(|setup| setup.seats == [Seat::Human, Seat::Human]));
    }

    #[test]
    fn nobody_is_asked_how_long_lots_are_thought_about() {
        let (setup, output) = asked("1\n2\n1\nrandom\n");
        assert_eq!(setup.unwrap().time_control, TimeControl::Unlimited);
        assert!(!output.contains("How many seconds"), "{output}");
    }

    #[test]
    fn the_end_of_the_input_and_q_end_the_questions() {
        assert!(asked("").0.is_none());
        assert!(asked("1\nq\n").0.is_none());
        assert!(asked("1\n2\n1\n").0.is_none());
    }
}
