//! Help, games with options, and invalid arguments.

use crate::harness::crownhead;

#[test]
fn help_goes_to_standard_error_without_arguments() {
    let finished = crownhead::<&str>(&[]);
    let message = finished.refused(2);
    assert!(message.contains("Usage: crownhead [COMMAND]"), "{message}");
    for command in ["play", "learn", "view", "games", "moves", "perft", "pdn", "completions", "man"]
    {
        assert!(message.contains(&format!("\n  {command} ")), "{command} in {message}");
    }
}

#[test]
fn requested_help_goes_to_standard_output_with_exit_codes() {
    for arguments in [&["--help"][..], &["help"], &["-h"]] {
        let finished = crownhead(arguments);
        let help = finished.printed();
        assert!(
            help.contains("Exit codes: 0 success, 1 failure, 2 usage, 3 invalid input"),
            "{help}"
        );
    }
    for command in ["games", "moves", "perft", "completions", "man"] {
        let finished = crownhead(&[command, "--help"]);
        assert!(finished.printed().contains(&format!("Usage: crownhead {command}")));
        assert_eq!(crownhead(&["help", command]).stdout, finished.stdout);
    }
}

#[test]
fn version_is_the_package_version() {
    let version = format!("crownhead {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(crownhead(&["--version"]).printed(), version);
    assert_eq!(crownhead(&["-V"]).printed(), version);
}

#[test]
fn unknown_command_or_option_is_a_usage_error() {
    assert!(crownhead(&["chess"]).refused(2).contains("'chess'"));
    assert!(crownhead(&["games", "--yaml"]).refused(2).contains("'--yaml'"));
    assert!(crownhead(&["moves"]).refused(2).contains("<GAME>"));
    assert!(crownhead(&["moves", "english", "contest"]).refused(2).contains("'contest'"));
}

#[test]
fn mistyped_command_is_answered_with_the_nearest_one() {
    for (typed, tip) in [
        (&["paly"][..], "a similar subcommand exists: 'play'"),
        (&["turnament"], "a similar subcommand exists: 'tournament'"),
        (&["bot", "chek"], "a similar subcommand exists: 'check'"),
    ] {
        let finished = crownhead(typed);
        assert!(finished.refused(2).contains(tip), "{finished:?}");
    }
}

#[test]
fn unknown_game_is_refused_with_the_list_of_games() {
    let list = "available games: english, contest, chinese-checkers, capture-halma";
    for game in ["chess", "", "english checkers", "englisch:kings=true"] {
        for command in [&["moves"][..], &["perft", "--depth", "1"]] {
            let finished = crownhead(&[command, &[game]].concat());
            let message = finished.refused(2);
            assert!(message.contains(list), "{game:?}: {message}");
        }
    }
}

#[test]
fn mistyped_names_are_answered_with_the_nearest_one() {
    for (arguments, name) in [
        (&["play", "chineese"][..], "chinese-checkers"),
        (&["play", "checkers"], "english"),
        (&["learn", "halma"], "capture-halma"),
        (&["play", "--second", "best1"], "best"),
        (&["play", "--second", "levle:3"], "level:3"),
        (&["play", "--first", "humna"], "human"),
        (&["bot", "new", "pyhton", "x"], "python"),
    ] {
        let finished = crownhead(arguments);
        let hint = format!(" (did you mean {name}?)");
        assert!(finished.refused(2).contains(&hint), "{arguments:?}: {finished:?}");
    }
}

#[test]
fn game_ids_ignore_case() {
    let moves = crownhead(&["moves", "english"]);
    assert_eq!(crownhead(&["moves", "English"]).printed(), moves.printed());
    let finished = crownhead(&["perft", "CONTEST:kings=true", "--depth", "1", "--json"]);
    assert_eq!(finished.json()["game"], "contest:kings=true");
}

#[test]
fn invalid_game_options_are_refused_with_the_valid_ones() {
    for (game, expected) in [
        (
            "contest:flying=true",
            "contest: unknown option \"flying\"; available options: draw-plies, kings",
        ),
        ("english:rule=wcdf", "unknown option \"rule\" (did you mean rules?); available options"),
        (
            "capture-halma:kings=true",
            "capture-halma: unknown option \"kings\"; the game has no options",
        ),
        ("contest:kings=maybe", "invalid value \"maybe\" for kings; expected true or false"),
        ("english:draw-plies=0", "invalid value \"0\" for draw-plies; expected 1 to 10000"),
        ("english:draw-plies=10001", "invalid value \"10001\" for draw-plies; expected 1 to 10000"),
        ("english:rules=fide", "invalid value \"fide\" for rules; expected assignment or wcdf"),
        ("english:kings", "invalid option \"kings\": write key=value"),
        ("english:kings=true,kings=true", "duplicate option kings"),
    ] {
        let finished = crownhead(&["moves", game]);
        let message = finished.refused(2);
        assert!(message.contains(expected), "{game}: {message}");
    }
}

#[test]
fn game_options_can_be_in_any_order() {
    let first = crownhead(&["perft", "english:rules=wcdf,draw-plies=3", "--depth", "5"]);
    let second = crownhead(&["perft", "english:draw-plies=3,rules=wcdf", "--depth", "5"]);
    assert_eq!((first.code, &first.stdout), (Some(0), &second.stdout));
}

#[test]
fn very_long_arguments_get_a_short_message() {
    let long = "9".repeat(100_000);
    let position = format!("B:W{long}");
    let rows = format!("8/8/8/8/8/8/8/8 b {long}");
    for (arguments, code) in [
        (&["moves", "english", "--position", &position][..], 3),
        (&["moves", "capture-halma", "--position", &rows], 3),
        (&["moves", "english", "--position", &long], 3),
        (&["moves", "english", "--after", &long], 3),
    ] {
        let finished = crownhead(arguments);
        let message = finished.refused(code);
        assert!(message.len() < 1000, "{} bytes: {message:.200}", message.len());
    }
    // These quote the argument.
    for arguments in [&["moves", &long][..], &[&long], &["perft", "english", "--depth", &long]] {
        crownhead(arguments).refused(2);
    }
    crownhead(&["pdn", "check", &long]).refused(1);
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf8_are_usage_errors() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let invalid = OsStr::from_bytes(b"english\xff");
    for before in [&["moves"][..], &[], &["moves", "english", "--position"], &["completions"]] {
        let arguments: Vec<&OsStr> = before.iter().map(OsStr::new).chain([invalid]).collect();
        crownhead(&arguments).refused(2);
    }
}
