//! Players by name.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test that cannot go on may stop

use std::time::Duration;

use crownhead_play::{PlayerKind, PlayerOptions, PlayerSpec};
use proptest::prelude::*;

#[test]
fn a_name_and_its_options_are_read() {
    let spec = |text: &str| text.parse::<PlayerSpec>().unwrap();
    for (text, kind) in [
        ("random", PlayerKind::Random),
        ("minimax:2", PlayerKind::Minimax(2)),
        ("alphabeta:30", PlayerKind::AlphaBeta(30)),
        ("level:1", PlayerKind::Level(1)),
        ("level:10", PlayerKind::Level(10)),
        ("best", PlayerKind::Best),
        (" Best ", PlayerKind::Best),
    ] {
        assert_eq!(spec(text), PlayerSpec::new(kind), "{text}");
    }
    assert_eq!(
        spec("best:threads=2,hash=128,movetime=500ms,nodes=100000").options,
        PlayerOptions {
            threads: Some(2),
            hash: Some(128),
            movetime: Some(Duration::from_millis(500)),
            nodes: Some(100_000),
        }
    );
    assert_eq!(spec("level:4:movetime=1s").options.movetime, Some(Duration::from_secs(1)));
    assert_eq!(spec("level:4:movetime=1.5s").to_string(), "level:4:movetime=1500ms");
    assert_eq!(spec("best:nodes=7,threads=2").to_string(), "best:threads=2,nodes=7");
}

#[test]
fn what_is_refused_is_refused_with_what_would_be_right() {
    let players =
        "the players are random, minimax:DEPTH, alphabeta:DEPTH, level:1 to level:10 and best";
    for (text, complaint) in [
        ("", players),
        ("stockfish", "there is no player \"stockfish\""),
        ("stockfish", players),
        ("level", "level takes a level from 1 to 10, as in level:4, not \"\""),
        ("level:0", "from 1 to 10, as in level:4, not \"0\""),
        ("level:11", "from 1 to 10"),
        ("level:+3", "not \"+3\""),
        ("minimax", "minimax takes a depth from 1 to 30"),
        ("minimax:31", "from 1 to 30"),
        ("alphabeta:-1", "from 1 to 30"),
        ("best:9", "options of a player are written key=value, not \"9\""),
        ("best:", "written key=value"),
        ("best:threads=0", "the option threads takes a whole number from 1 to 256, not \"0\""),
        ("best:threads=257", "from 1 to 256"),
        ("best:hash=0", "the option hash takes a whole number from 1 to 65536"),
        ("best:hash=65537", "from 1 to 65536"),
        ("best:nodes=0", "the option nodes takes a whole number from 1"),
        ("best:nodes=99999999999999999999", "the option nodes"),
        ("best:movetime=0ms", "a time is written 100ms, 2s or 1.5s"),
        ("best:movetime=5", "a time is written 100ms, 2s or 1.5s"),
        ("best:movetime=1h", "not \"1h\""),
        ("best:threads=2,threads=2", "the option threads is given twice"),
        ("best:speed=9", "best has no option \"speed\": it has threads, hash, movetime, nodes"),
        ("random:nodes=9", "random has no option \"nodes\": it has none"),
        ("minimax:2:nodes=9", "minimax:2 has no option \"nodes\": it has movetime"),
        ("level:4:nodes=9:hash=9", "after the options of level:4"),
        ("cmd:", "the command is empty: write the program to run, as in cmd:./my_bot"),
        ("cmd:'x", "the command has a ' without its second"),
        ("no/such/folder", "\"no/such/folder\" is no folder: a bot is a folder with a bot.toml"),
        ("./tests", "bot.toml: "),
    ] {
        let told = text.parse::<PlayerSpec>().unwrap_err().to_string();
        assert!(told.contains(complaint), "{text}: {told}");
    }
    let told = "9".repeat(100_000).parse::<PlayerSpec>().unwrap_err().to_string();
    assert!(told.len() < 300, "{told}");
}

#[test]
fn a_program_is_named_by_its_command_or_its_folder() {
    let spec = |text: &str| text.parse::<PlayerSpec>();
    let program = |text: &str| spec(text).unwrap().program().cloned().unwrap();
    assert_eq!(program("cmd:./Bot --depth 3").command, ["./Bot", "--depth", "3"]);
    for (text, name) in [
        ("cmd:python3 dir/greedy.py -v", "greedy.py"),
        ("cmd:python3 bot.py --depth 2", "bot.py"),
        ("cmd:./my_bot book.txt 1.5", "my_bot"),
        ("cmd:my_bot --ratio 1.5", "my_bot"),
    ] {
        assert_eq!(program(text).short_name(), name, "{text}");
    }
    assert_eq!(spec("cmd: ./Bot ").unwrap().to_string(), "cmd:./Bot");
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("bot.toml"), text).unwrap();
    write("name = \"My bot\"\ncommand = \"python3 'my bot.py'\"\nrestart = true\n");
    let bot = program(name);
    assert_eq!(bot.command, ["python3", "my bot.py"]);
    assert_eq!((bot.short_name().as_str(), bot.restart), ("My bot", true));
    assert_eq!(spec(name).unwrap().to_string(), name);
    write("command = [\"./a b\", \"c\"]\nbuild = \"make\"\n");
    assert_eq!(program(name).command, ["./a b", "c"]);
    assert_eq!(program(name).build, Some(vec!["make".into()]));
    for (text, complaint) in [
        ("", "the line command = \"…\" is missing"),
        ("command = 3", "command is a text in quotes or a list of such texts"),
        ("command = \"\"", "command is empty"),
        ("comand = \"x\"", "there is no key \"comand\": the keys are name, command"),
        ("command = ", "bot.toml: TOML parse error at line 1"),
    ] {
        write(text);
        let told = spec(name).unwrap_err().to_string();
        assert!(told.contains(complaint), "{text}: {told}");
    }
}

#[test]
fn a_bot_cannot_enter_the_source_next_door() {
    let folder = tempfile::tempdir().unwrap();
    let [own, other] = ["own", "other"].map(|name| folder.path().join(name));
    for folder in [&own, &other] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("ai.c"), "int ai_player(int p, const int *b) { return 0; }")
            .unwrap();
    }
    std::os::unix::fs::symlink(other.join("ai.c"), own.join("link.c")).unwrap();
    let bot = |source: &str| {
        let text = format!("protocol = \"c-function\"\nsource = \"{source}\"\n");
        std::fs::write(own.join("bot.toml"), text).unwrap();
        own.to_str().unwrap().parse::<PlayerSpec>()
    };
    assert!(bot("ai.c").is_ok());
    let linked = folder.path().join("linked");
    std::fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", linked.join("bot.toml")).unwrap();
    let refused = linked.to_str().unwrap().parse::<PlayerSpec>().unwrap_err().to_string();
    assert!(
        refused.ends_with("it is a link to a file that is not in the bot's folder"),
        "{refused}"
    );
    for source in ["../other/ai.c", "link.c"] {
        let told = bot(source).unwrap_err().to_string();
        assert!(told.contains("is not in the bot's folder"), "{told}");
    }
}

fn specs() -> impl Strategy<Value = PlayerSpec> {
    let kinds = prop_oneof![
        Just(PlayerKind::Best),
        (1u8..=10).prop_map(PlayerKind::Level),
        Just(PlayerKind::Random),
        (1u32..=30).prop_map(PlayerKind::Minimax),
        (1u32..=30).prop_map(PlayerKind::AlphaBeta),
    ];
    let time = (1u64..=86_400_000).prop_map(Duration::from_millis);
    let options = (
        proptest::option::of(1u16..=256),
        proptest::option::of(1u32..=65_536),
        proptest::option::of(time),
        proptest::option::of(1u64..),
    );
    (kinds, options).prop_map(|(kind, (threads, hash, movetime, nodes))| {
        let mut spec = PlayerSpec::new(kind.clone());
        if spec.counts_nodes() {
            spec.options = PlayerOptions { threads, hash, movetime, nodes };
        } else if kind != PlayerKind::Random {
            spec.options.movetime = movetime;
        }
        spec
    })
}

proptest! {
    #[test]
    fn every_player_is_read_back_as_it_was_written(spec in specs()) {
        prop_assert_eq!(spec.to_string().parse::<PlayerSpec>(), Ok(spec));
    }

    #[test]
    fn no_text_is_too_odd_to_be_answered(text in ".{0,60}") {
        let _ = text.parse::<PlayerSpec>();
        let _ = format!("level:{text}").parse::<PlayerSpec>();
        let _ = format!("best:{text}").parse::<PlayerSpec>();
    }
}
