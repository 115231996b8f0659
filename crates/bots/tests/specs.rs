//! Bots as text.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use crownhead_bots::PlayerSpec;

#[test]
fn errors_name_the_valid_values() {
    for (text, expected) in [
        ("stockfish", "built-in players: random, minimax:DEPTH"),
        ("stockfish", "bots: cmd:COMMAND, a folder with a bot.toml"),
        ("cmd:", "the command is empty: write the program to run, as in cmd:./my_bot"),
        ("cmd:'x", "the command has a ' without its second"),
        ("no/such/folder", "\"no/such/folder\" is no folder: a bot is a folder with a bot.toml"),
        ("./tests", "bot.toml: "),
    ] {
        let message = text.parse::<PlayerSpec>().unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    let message = "9".repeat(100_000).parse::<PlayerSpec>().unwrap_err().to_string();
    assert!(message.len() < 300, "{message}");
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
