//! Tournament files: what is accepted, and how errors are reported.

use std::fs;
use std::path::Path;

use crownhead_play::{FaultPolicy, TimeControl};
use crownhead_sandbox::{Isolation, Limits};
use crownhead_tournament::config::{Diagnostic, TEMPLATE, parse};
use crownhead_tournament::{Colours, Schedule, Tournament};

fn valid(text: &str) -> Tournament {
    parse(text, Path::new("."), "class").unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// Returns the errors in a file, as `line:column message`.
fn errors(text: &str) -> Vec<String> {
    let diagnostics = parse(text, Path::new("."), "class").expect_err(text);
    let format =
        |Diagnostic { line, column, message }: &Diagnostic| format!("{line}:{column} {message}");
    diagnostics.iter().map(format).collect()
}

const PLAYERS: &str = "players = [\"level:1\", \"random\"]\n";

#[test]
fn template_is_valid_and_mentions_every_key() {
    let tournament = valid(TEMPLATE);
    assert_eq!(tournament.entrants.len(), 4);
    assert_eq!(tournament.name, "class");
    assert_eq!(tournament.game_settings.fault_policy, FaultPolicy::Skip);
    for key in
        ["submissions", "challengers", "tie-replays", "rounds", "colours", "nodes", "one-at-a-time"]
            .into_iter()
            .chain(["isolation", "[limits]"])
            .chain(Limits::KEYS)
    {
        assert!(TEMPLATE.contains(key), "{key}");
    }
}

#[test]
fn missing_keys_have_defaults() {
    let tournament = valid(&format!("game = \"english\"\n{PLAYERS}"));
    assert_eq!((tournament.schedule.clone(), tournament.games), (Schedule::RoundRobin, 2));
    assert_eq!((tournament.concurrency, tournament.seed), (1, 1));
    assert!(tournament.exclusive_players);
    assert_eq!(tournament.game_settings.time_control, TimeControl::Unlimited);
    assert_eq!(tournament.planned_games(), Some(2));
    let swiss = valid(&format!("game = \"contest\"\nschedule = \"swiss\"\nrounds = 3\n{PLAYERS}"));
    assert_eq!(
        (swiss.schedule, swiss.games, swiss.colours),
        (Schedule::Swiss { rounds: 3 }, 1, Colours::Balanced)
    );
}

#[test]
fn errors_have_a_location_and_a_hint() {
    for (text, expected) in [
        (
            "game = \"englsh\"\n",
            "1:8 unknown game \"englsh\" (did you mean english?); available games: english, \
             contest, chinese-checkers, capture-halma",
        ),
        ("gam = \"english\"\n", "1:1 unknown key \"gam\"; did you mean \"game\"?"),
        (
            "schedule = \"swis\"",
            "2:12 unknown schedule \"swis\"; available schedules: round-robin, gauntlet, swiss, \
             knockout, ladder; did you mean \"swiss\"?",
        ),
        ("shedule = 1", "2:1 unknown key \"shedule\"; did you mean \"schedule\"?"),
        ("tie-breaks = [\"win\"]", "2:14 unknown tie-break \"win\"; available: wins, "),
        (
            "schedule = \"gauntlet\"\nchallengers = []",
            "3:15 a gauntlet needs at least one challenger",
        ),
        (
            "schedule = \"gauntlet\"\nchallengers = [\"random\", \"random\"]",
            "3:15 random is listed twice",
        ),
        (
            "schedule = \"ladder\"\nrounds = 1000000\ngames = 10000",
            "4:9 a tournament has at most 10000000 games",
        ),
        ("rounds = 3", "2:10 rounds is for swiss and ladder, not for round-robin"),
        ("tie-replays = 3", "2:15 tie-replays is for knockout, not for round-robin"),
        ("games = 0", "2:9 games must be an integer from 1 to 10000"),
        ("movetime = \"5\"", "2:12 "),
        ("movetime = \"5s\"\ntime = \"1+1\"", "3:8 movetime and time exclude each other"),
        ("policy = \"skip\"", "2:10 turns cannot be skipped in english"),
        ("policy = \"forgive\"", "2:10 "),
        ("openings = \"missing.txt\"", "2:12 cannot read the openings \"missing.txt\""),
        ("openings = \"random:99\"", "2:12 random openings are written random:PLIES"),
        (
            "colours = \"ballanced\"",
            "2:11 colours must be random or balanced, not \"ballanced\"; did you mean \
             \"balanced\"?",
        ),
        ("[points]\nwins = 2", "4:1 unknown key \"wins\"; did you mean \"win\"?"),
        ("points = { win = 1, draw = 2 }", "2:10 a win must not be worth less than a draw"),
        ("submissions = \"nowhere\"", "2:15 cannot read submissions folder ./nowhere"),
        (
            "schedule = \"gauntlet\"\nchallengers = [\"randm\"]",
            "3:15 unknown player \"randm\"; did you mean \"random\"?",
        ),
        ("seed = ", "2:8 "),
        (
            "isolation = \"requier\"",
            "2:13 invalid isolation \"requier\": must be default, require or off; \
             did you mean \"require\"?",
        ),
        ("isolation = false", "2:13 isolation must be a string"),
        ("limits = \"1GB\"", "2:10 limits must be a table, such as [limits]"),
        ("[limits]\nmemroy = \"1GB\"", "4:1 unknown key \"memroy\"; did you mean \"memory\"?"),
        ("[limits]\ncores = 2\nmemory = 1", "5:10 "),
        ("[limits]\ncores = true", "4:9 cores takes a whole number"),
        ("[limits]\ncores = []", "4:9 cores must be a number or a string"),
        (
            "[adjudication]\ndraw-scor = 1",
            "4:1 unknown key \"draw-scor\"; did you mean \"draw-score\"?",
        ),
        ("[adjudication]\nmax-moves = 0", "4:13 max-moves takes a whole number from 1 to 100000"),
        ("[adjudication]\ntables = 1", "4:10 tables takes true or false"),
        ("adjudication = { draw-moves = 3 }", "2:16 no adjudication rule is on: set draw-score"),
    ] {
        let game = if text.starts_with("gam") && !text.starts_with("games") {
            ""
        } else {
            "game = \"english\"\n"
        };
        // Tables go to the end of the file.
        let file = match text.starts_with('[') {
            true => format!("{game}{PLAYERS}{text}"),
            false => format!("{game}{text}\n{PLAYERS}"),
        };
        let found = errors(&file);
        assert!(found.iter().any(|error| error.starts_with(expected)), "{text}: {found:#?}");
    }
}

#[test]
fn misspelt_words_get_a_suggestion() {
    let game = errors(&format!("game = \"englsh\"\n{PLAYERS}"));
    assert!(game[0].contains("(did you mean english?)"), "{game:?}");
    let isolation = errors(&format!("game = \"english\"\nisolation = \"requier\"\n{PLAYERS}"));
    assert!(isolation[0].ends_with("; did you mean \"require\"?"), "{isolation:?}");
}

#[test]
fn players_need_unique_names_and_there_must_be_two() {
    let single = errors("game = \"english\"\nplayers = [\"random\"]");
    let expected = "2:11 a tournament needs at least two players, but this has 1";
    assert!(single[0].starts_with(expected), "{single:?}");
    let duplicate = errors("game = \"english\"\nplayers = [\"random\", \"random\"]");
    assert!(duplicate[0].starts_with("2:22 duplicate player name \"random\""), "{duplicate:?}");
    let misspelt =
        errors("game = \"english\"\nplayers = [\"random\", { nam = \"x\", player = \"levl:3\" }]");
    assert!(misspelt[0].contains("unknown key \"nam\"; did you mean \"name\"?"), "{misspelt:?}");
    let expected = "unknown player \"levl:3\" (did you mean level:3?)";
    assert!(misspelt[1].contains(expected), "{misspelt:?}");
    let text =
        "game = \"english\"\nplayers = [\"random\", { name = \"chance\", player = \"random\" }]";
    assert_eq!(valid(text).entrants[1].name, "chance");
}

#[test]
fn integers_accept_every_toml_notation() {
    let seed = |text: &str| valid(&format!("game = \"english\"\n{PLAYERS}seed = {text}\n")).seed;
    assert_eq!([seed("0x10"), seed("0b11"), seed("1_000"), seed("7")], [16, 3, 1000, 7]);
}

#[test]
fn names_are_short_and_have_no_invisible_characters() {
    let file = |name: &str| {
        format!(
            "game = \"english\"\nplayers = [\"random\", {{ name = \"{name}\", player = \
             \"level:1\" }}]"
        )
    };
    let name = |text: &str| valid(&file(text)).entrants[1].name.clone();
    assert_eq!([name("a\u{202e}b"), name("Bär 猫")], ["a b", "Bär 猫"]);
    // Names that look the same are the same.
    assert!(errors(&file("\u{200b}random"))[0].contains("duplicate player name \"random\""));
    assert!(errors(&file(&"x".repeat(61)))[0].contains("has more than 60 characters"));
}

#[test]
fn isolation_and_limits_apply_to_every_bot() {
    let head = "game = \"english\"\nplayers = [\"random\", \"cmd:./a\", \"cmd:./b\"]\n";
    let text = format!("{head}isolation = \"off\"\n[limits]\ncores = 2\nmemory = \"512MB\"\n");
    let tournament = valid(&text);
    let programs = tournament.entrants.iter().filter_map(|e| e.player.as_ref().unwrap().program());
    let limits = "cores=2,memory=512MB".parse::<Limits>().unwrap();
    let found: Vec<_> = programs.map(|program| (program.isolation, program.limits)).collect();
    assert_eq!(found, [(Isolation::Off, limits); 2]);
    assert_eq!(valid(head).limits, Limits::default());
    assert_eq!(valid(head).isolation, Isolation::Default);
    // Results depend on the limits only if a bot plays.
    assert!(tournament.result_settings().contains(&("limits", limits.to_string())));
    let without_bots = valid(&format!("game = \"english\"\n{PLAYERS}"));
    assert!(!without_bots.result_settings().iter().any(|(key, _)| *key == "limits"));
}

#[test]
fn player_must_support_the_game() {
    let found = errors("game = \"english\"\nplayers = [\"random\", \"tcp-int32:./client\"]\n");
    assert!(found[0].starts_with("2:22 tcp-int32:./client cannot play english"), "{found:?}");
}

#[test]
fn all_errors_are_reported_at_once() {
    let found = errors("gme = \"english\"\ngames = 0\ncolours = 3\nplayers = []\n");
    assert_eq!(found.len(), 5, "{found:#?}");
    let empty = errors("");
    assert!(empty[0].contains("at least two players"), "{empty:?}");
    assert!(empty[1].contains("missing key \"game\""), "{empty:?}");
}

#[cfg(unix)]
#[test]
fn every_submission_takes_part_even_if_it_cannot_play() {
    let folder = tempfile::tempdir().unwrap();
    let bots = folder.path().join("bots");
    for (name, content) in [
        ("ada", Some("command = \"./bot\"")),
        ("bob", Some("comand = \"./bot\"")),
        ("eve", Some("protocol = \"c-function\"\nsource = \"bot.c\"")),
        ("notes", None),
        (".git", Some("command = \"x\"")),
    ] {
        fs::create_dir_all(bots.join(name)).unwrap();
        if let Some(content) = content {
            fs::write(bots.join(name).join("bot.toml"), content).unwrap();
        }
    }
    fs::write(bots.join("eve/bot.c"), "").unwrap();
    let latin1: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"caf\xe9");
    fs::create_dir(bots.join(latin1)).unwrap();
    fs::write(bots.join(latin1).join("bot.toml"), "command = \"./bot\"").unwrap();
    let text = "game = \"capture-halma\"\nplayers = [\"random\"]\nsubmissions = \"bots\"\n";
    let tournament = parse(text, folder.path(), "class").unwrap();
    let names: Vec<_> = tournament.entrants.iter().map(|entrant| entrant.name.as_str()).collect();
    assert_eq!(names, ["random", "ada", "bob", "eve"]);
    assert!(tournament.entrants[1].player.is_ok());
    let reason = tournament.entrants[2].player.as_ref().unwrap_err();
    assert!(reason.contains("\"comand\""), "{reason}");
    let reason = tournament.entrants[3].player.as_ref().unwrap_err();
    assert!(reason.contains("cannot play capture-halma"), "{reason}");
    let warnings = &tournament.warnings;
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    let has = |part: &str| warnings.iter().any(|warning| warning.contains(part));
    assert!(has("is skipped: its name is not UTF-8"), "{warnings:?}");
    assert!(has("notes is skipped: it has no bot.toml"), "{warnings:?}");
    // Bots have five seconds per move by default.
    assert_eq!(tournament.game_settings.time_control.to_string(), "5s per move");
}
