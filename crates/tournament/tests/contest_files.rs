//! Contest files: what is accepted, and what is said about the rest.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on may stop

use std::fs;
use std::path::Path;

use crownhead_play::{FaultPolicy, TimeControl};
use crownhead_sandbox::{Isolation, Limits};
use crownhead_tournament::contest_file::{Complaint, TEMPLATE, read};
use crownhead_tournament::{Colours, Contest, Schedule};

fn good(text: &str) -> Contest {
    read(text, Path::new("."), "class").unwrap_or_else(|wrong| panic!("{text}\n{wrong:?}"))
}

/// The complaints about a text, as `line:column what`.
fn wrong(text: &str) -> Vec<String> {
    let complaints = read(text, Path::new("."), "class").expect_err(text);
    complaints
        .iter()
        .map(|Complaint { line, column, what }| format!("{line}:{column} {what}"))
        .collect()
}

const PLAYERS: &str = "players = [\"level:1\", \"random\"]\n";

#[test]
fn the_file_that_new_writes_is_good_and_shows_every_key() {
    let contest = good(TEMPLATE);
    assert_eq!(contest.entrants.len(), 4);
    assert_eq!(contest.name, "class");
    assert_eq!(contest.terms.fault_policy, FaultPolicy::Skip);
    for key in
        ["submissions", "challengers", "replays", "rounds", "colours", "nodes", "one-at-a-time"]
            .into_iter()
            .chain(["isolation", "[limits]"])
            .chain(Limits::KEYS)
    {
        assert!(TEMPLATE.contains(key), "{key}");
    }
}

#[test]
fn little_must_be_said() {
    let contest = good(&format!("game = \"english\"\n{PLAYERS}"));
    assert_eq!((contest.schedule.clone(), contest.games), (Schedule::RoundRobin, 2));
    assert_eq!((contest.concurrency, contest.one_at_a_time, contest.seed), (1, true, 1));
    assert_eq!(contest.terms.time_control, TimeControl::Unlimited);
    assert_eq!(contest.planned_games(), Some(2));
    let swiss = good(&format!("game = \"contest\"\nschedule = \"swiss\"\nrounds = 3\n{PLAYERS}"));
    assert_eq!(
        (swiss.schedule, swiss.games, swiss.colours),
        (Schedule::Swiss { rounds: 3 }, 1, Colours::Balanced)
    );
}

#[test]
fn every_complaint_has_its_place_and_says_what_would_be_right() {
    for (text, said) in [
        (
            "game = \"englsh\"\n",
            "1:8 unknown game \"englsh\"; available games: english, contest, chinese-checkers, \
             capture-halma; did you mean \"english\"?",
        ),
        ("gam = \"english\"\n", "1:1 there is no key \"gam\"; did you mean \"game\"?"),
        (
            "schedule = \"swis\"",
            "2:12 there is no schedule \"swis\": the schedules are round-robin, gauntlet, swiss, \
             knockout and ladder; did you mean \"swiss\"?",
        ),
        ("shedule = 1", "2:1 there is no key \"shedule\"; did you mean \"schedule\"?"),
        ("tie-breaks = [\"win\"]", "2:14 there is no tie-break \"win\": the tie-breaks are wins, "),
        ("schedule = \"gauntlet\"\nchallengers = []", "3:15 a gauntlet has a challenger or more"),
        (
            "schedule = \"gauntlet\"\nchallengers = [\"random\", \"random\"]",
            "3:15 random is named twice",
        ),
        (
            "schedule = \"ladder\"\nrounds = 1000000\ngames = 10000",
            "4:9 a contest has at most 10000000 games",
        ),
        ("rounds = 3", "2:10 rounds belongs to swiss and ladder, not to round-robin"),
        ("games = 0", "2:9 games is a whole number from 1 to 10000"),
        ("movetime = \"5\"", "2:12 a time is written 100ms, 2s or 1.5s"),
        ("movetime = \"5s\"\ntime = \"1+1\"", "3:8 either movetime or time"),
        ("policy = \"skip\"", "2:10 in english no turn can be skipped"),
        ("policy = \"forgive\"", "2:10 a policy is forfeit, skip or random-move"),
        ("openings = \"missing.txt\"", "2:12 cannot read the openings \"missing.txt\""),
        ("openings = \"random:99\"", "2:12 random openings are written random:PLIES"),
        (
            "colours = \"ballanced\"",
            "2:11 colours are random or balanced, not \"ballanced\"; did you mean \"balanced\"?",
        ),
        ("[points]\nwins = 2", "4:1 there is no key \"wins\"; did you mean \"win\"?"),
        ("points = { win = 1, draw = 2 }", "2:10 a win brings no less than a draw"),
        ("submissions = \"nowhere\"", "2:15 the folder of submissions ./nowhere"),
        (
            "schedule = \"gauntlet\"\nchallengers = [\"randm\"]",
            "3:15 there is no player \"randm\"; did you mean \"random\"?",
        ),
        ("seed = ", "2:8 "),
        (
            "isolation = \"requier\"",
            "2:13 invalid isolation \"requier\": must be default, require or off; did you mean \"require\"?",
        ),
        ("isolation = false", "2:13 isolation is a text in quotes"),
        ("limits = \"1GB\"", "2:10 limits is a table, as in [limits]"),
        ("[limits]\nmemroy = \"1GB\"", "4:1 there is no key \"memroy\"; did you mean \"memory\"?"),
        ("[limits]\ncores = 2\nmemory = 1", "5:10 memory takes a size from 1MB up, as in 512MB"),
        ("[limits]\ncores = true", "4:9 cores is a number or a text in quotes"),
    ] {
        let game = if text.starts_with("gam ") || text.starts_with("game ") {
            ""
        } else {
            "game = \"english\"\n"
        };
        let tail = if text.starts_with('[') { text.to_string() } else { String::new() };
        let body = if tail.is_empty() { format!("{text}\n") } else { String::new() };
        let whole = format!("{game}{body}{PLAYERS}{tail}");
        let found = wrong(&whole);
        assert!(found.iter().any(|found| found.starts_with(said)), "{text}: {found:#?}");
    }
}

#[test]
fn players_are_named_once_and_there_are_two() {
    let one = wrong("game = \"english\"\nplayers = [\"random\"]");
    assert!(one[0].starts_with("2:11 a contest needs two players or more, and has 1"), "{one:?}");
    let same = wrong("game = \"english\"\nplayers = [\"random\", \"random\"]");
    assert!(same[0].starts_with("2:22 two players are called \"random\""), "{same:?}");
    let odd =
        wrong("game = \"english\"\nplayers = [\"random\", { nam = \"x\", player = \"levl:3\" }]");
    assert!(odd[0].contains("there is no key \"nam\"; did you mean \"name\"?"), "{odd:?}");
    assert!(odd[1].contains("unknown player \"levl\""), "{odd:?}");
    assert!(odd[1].ends_with("; did you mean \"level\"?"), "{odd:?}");
    let text =
        "game = \"english\"\nplayers = [\"random\", { name = \"lots\", player = \"random\" }]";
    assert_eq!(good(text).entrants[1].name, "lots");
}

#[test]
fn numbers_may_be_written_as_toml_has_them() {
    let seed = |text: &str| good(&format!("game = \"english\"\n{PLAYERS}seed = {text}\n")).seed;
    assert_eq!([seed("0x10"), seed("0b11"), seed("1_000"), seed("7")], [16, 3, 1000, 7]);
}

#[test]
fn names_cannot_hide_letters_or_be_endless() {
    let named = |name: &str| {
        format!(
            "game = \"english\"\nplayers = [\"random\", {{ name = \"{name}\", player = \"level:1\" }}]"
        )
    };
    let name = |text: &str| good(&named(text)).entrants[1].name.clone();
    assert_eq!([name("a\u{202e}b"), name("Bär 猫")], ["a b", "Bär 猫"]);
    // What cannot be seen is no difference.
    assert!(wrong(&named("\u{200b}random"))[0].contains("two players are called \"random\""));
    assert!(wrong(&named(&"x".repeat(61)))[0].contains("a name has at most 60 characters"));
}

#[test]
fn walls_and_limits_are_those_of_every_program() {
    let head = "game = \"english\"\nplayers = [\"random\", \"cmd:./a\", \"cmd:./b\"]\n";
    let text = format!("{head}isolation = \"off\"\n[limits]\ncores = 2\nmemory = \"512MB\"\n");
    let contest = good(&text);
    let programs = contest.entrants.iter().filter_map(|e| e.player.as_ref().unwrap().program());
    let limits = "cores=2,memory=512MB".parse::<Limits>().unwrap();
    let found: Vec<_> = programs.map(|program| (program.isolation, program.limits)).collect();
    assert_eq!(found, [(Isolation::Off, limits); 2]);
    assert_eq!(good(head).limits, Limits::default());
    assert_eq!(good(head).isolation, Isolation::Default);
    // Whoever changes them may want games played again, if there was a program in them.
    assert!(contest.facts().contains(&("limits", limits.to_string())));
    let without = good(&format!("game = \"english\"\n{PLAYERS}"));
    assert!(!without.facts().iter().any(|(key, _)| *key == "limits"));
}

#[test]
fn a_player_suits_the_game() {
    let found = wrong("game = \"english\"\nplayers = [\"random\", \"tcp-int32:./client\"]\n");
    assert!(found[0].starts_with("2:22 tcp-int32:./client cannot play english"), "{found:?}");
}

#[test]
fn several_faults_are_told_at_once() {
    let found = wrong("gme = \"english\"\ngames = 0\ncolours = 3\nplayers = []\n");
    assert_eq!(found.len(), 5, "{found:#?}");
    let empty = wrong("");
    assert!(empty[0].contains("two players or more") && empty[1].contains("game is missing"));
}

#[test]
fn a_folder_of_submissions_is_taken_as_a_whole() {
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
    let latin: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"caf\xe9");
    fs::create_dir(bots.join(latin)).unwrap();
    fs::write(bots.join(latin).join("bot.toml"), "command = \"./bot\"").unwrap();
    let text = "game = \"capture-halma\"\nplayers = [\"random\"]\nsubmissions = \"bots\"\n";
    let contest = read(text, folder.path(), "class").unwrap();
    let names: Vec<_> = contest.entrants.iter().map(|entrant| entrant.name.as_str()).collect();
    assert_eq!(names, ["random", "ada", "bob", "eve"]);
    assert!(contest.entrants[1].player.is_ok());
    assert!(contest.entrants[2].player.as_ref().unwrap_err().contains("unknown key \"comand\""));
    let why = contest.entrants[3].player.as_ref().unwrap_err();
    assert!(
        why.contains("cannot play capture-halma: c-function bots play chinese-checkers only"),
        "{why}"
    );
    assert_eq!(contest.notes.len(), 4, "{:?}", contest.notes);
    let latin = |note: &String| note.contains("does not take part: its name is not UTF-8");
    assert!(contest.notes.iter().any(latin), "{:?}", contest.notes);
    assert!(contest.notes.iter().any(|note| note.contains("notes has no bot.toml")));
    // Programs have five seconds where nothing is said.
    assert_eq!(contest.terms.time_control.to_string(), "5s per move");
}
