//! Moments of logged games, asked again with real processes.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use crownhead_bots::BotProgram;
use crownhead_bots::replay::{LoggedTurn, ReplayResult};
use crownhead_play::{GameSettings, Knowledge, Openings, Stop};
use crownhead_rules::Game;
use crownhead_sandbox::Isolation;
use crownhead_tournament::matches::{self, MatchConfig};
use tempfile::TempDir;

/// More moves than fit into 16 KiB.
const MANY: &str = "8/8/2w1b1b1/1b1w1w1b/2w1w1w1/1w1w1b1w/1bb1b1b1/8 b 10";

/// A bot whose answer to a turn is a piece of Python; `line` is the turn, `first` the first move.
fn bot(answer: &str) -> String {
    let script = format!(
        "import sys\nfor line in sys.stdin:\n word = line.split()[0]\n if word == 'quit': break\n \
         if word in ('crownhead', 'newgame'): print('ready now=1', flush=True)\n \
         if word == 'turn':\n  first = line.split(' moves=')[1].split(',')[0].split()[0]\n  {answer}"
    );
    format!("cmd:python3 -c \"{script}\"")
}

/// The log of a game that begins with a position.
fn logged(game: &str, start: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let game: Game = game.parse().unwrap();
    let plan = MatchConfig {
        settings: GameSettings::default_for(&game),
        openings: Openings::parse(start, &game).unwrap(),
        game,
        players: [
            bot("print('move', first, flush=True)").parse().unwrap(),
            "random".parse().unwrap(),
        ],
        pairs: 1,
        seed: 1,
        concurrency: 1,
        log: Some(folder.path().into()),
    };
    matches::play(&plan, &Knowledge::default(), &Stop::new(), |_| {}).unwrap();
    let paths = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let first = paths.min().unwrap();
    (folder, first)
}

fn asked(moment: &LoggedTurn, answer: &str) -> ReplayResult {
    let mut program = BotProgram::from_text(&bot(answer), Path::new(".")).unwrap().unwrap();
    program.isolation = Isolation::Off;
    // It is never waited for so long: "ready now=1" is ready.
    let time = Duration::from_secs(3600);
    moment.ask(&program, time, time, &Stop::new()).unwrap()
}

#[test]
fn a_very_long_turn_line_is_sent_again_as_it_was() {
    let (_folder, log) = logged("capture-halma", MANY);
    let moment = LoggedTurn::read(&log, 0).unwrap();
    assert!(moment.turn.len() > 20_000, "{} bytes", moment.turn.len());
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard");
    let answer =
        format!("open('{}', 'w').write(line); print('move', first, flush=True)", heard.display());
    let again = asked(&moment, &answer);
    assert_eq!(again.fault, None);
    assert_eq!(std::fs::read_to_string(heard).unwrap(), format!("{}\n", moment.turn));
    // A line of an older log may be cut.
    let cut = format!("{}…", &moment.turn[..1000]);
    let cut = std::fs::read_to_string(&log).unwrap().replace(&moment.turn, &cut);
    std::fs::write(&log, cut).unwrap();
    let refused = LoggedTurn::read(&log, moment.ply).unwrap_err();
    assert!(refused.contains("the turn line is cut short"), "{refused}");
}

#[test]
fn a_bot_asked_again_is_understood_and_judged_as_in_a_game() {
    let (_folder, log) = logged("capture-halma", "b7/8/b7/8/8/7w/8/7w b 392");
    let moment = LoggedTurn::read(&log, 0).unwrap();
    let again = asked(&moment, "print('move ', first, flush=True)");
    let first = moment.moves().split(',').next().unwrap();
    assert_eq!((again.played.as_deref(), again.fault), (Some(first), None));
    let again = asked(&moment, "print('move 11-99', flush=True)");
    let fault = again.fault.unwrap();
    assert!(fault.starts_with("illegal-move: ") && fault.contains("11-99"), "{fault}");
    assert_eq!(again.lines, ["move 11-99"]);
}
