//! Bots as text: commands, folders and their manifests.

use crownhead_bots::{BotProgram, PlayerSpec};

#[test]
fn errors_name_the_valid_values() {
    for (text, expected) in [
        ("stockfish", "built-in players: random, minimax:DEPTH"),
        ("stockfish", "bots: cmd:COMMAND, a folder with a bot.toml"),
        ("cmd:", "the command is empty: write the program to run, for example cmd:./my_bot"),
        ("cmd:'x", "the command has an unclosed '"),
        ("no/such/folder", "\"no/such/folder\" is not a folder: a bot is a folder with a bot.toml"),
        ("./tests", "bot.toml: "),
    ] {
        let message = text.parse::<PlayerSpec>().unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
    let message = "9".repeat(100_000).parse::<PlayerSpec>().unwrap_err().to_string();
    assert!(message.len() < 300, "{message}");
}

fn parse(text: &str) -> BotProgram {
    text.parse::<PlayerSpec>().unwrap().program().unwrap().clone()
}

#[test]
fn command_is_split_and_gives_the_bot_its_name() {
    assert_eq!(parse("cmd:./Bot --depth 3").command, ["./Bot", "--depth", "3"]);
    assert_eq!(parse("cmd: ./Bot ").to_string(), "cmd:./Bot");
    for (text, name) in [
        ("cmd:python3 dir/greedy.py -v", "greedy.py"),
        ("cmd:python3 bot.py --depth 2", "bot.py"),
        ("cmd:./my_bot book.txt 1.5", "my_bot"),
        ("cmd:my_bot --ratio 1.5", "my_bot"),
    ] {
        assert_eq!(parse(text).short_name(), name, "{text}");
    }
}

#[test]
fn manifest_describes_the_bot_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("bot.toml"), text).unwrap();
    write("name = \"My bot\"\ncommand = \"python3 'my bot.py'\"\nrestart = true\n");
    let bot = parse(name);
    assert_eq!(bot.command, ["python3", "my bot.py"]);
    assert_eq!((bot.short_name().as_str(), bot.restart), ("My bot", true));
    assert_eq!(bot.to_string(), name);
    write("command = [\"./a b\", \"c\"]\nbuild = \"make\"\n");
    assert_eq!(parse(name).command, ["./a b", "c"]);
    assert_eq!(parse(name).build, Some(vec!["make".into()]));
    for (text, expected) in [
        ("", "missing command = \"…\""),
        ("command = 3", "command must be a string or a list of strings"),
        ("command = \"\"", "command is empty"),
        ("comand = \"x\"", "unknown key \"comand\"; available keys: name, command"),
        ("command = ", "bot.toml: TOML parse error at line 1"),
    ] {
        write(text);
        let message = name.parse::<PlayerSpec>().unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn manifest_cannot_use_files_outside_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let [own, neighbour] = ["own", "neighbour"].map(|name| folder.path().join(name));
    for folder in [&own, &neighbour] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("ai.c"), "int ai_player(int p, const int *b) { return 0; }")
            .unwrap();
    }
    std::os::unix::fs::symlink(neighbour.join("ai.c"), own.join("link.c")).unwrap();
    let bot = |source: &str| {
        let text = format!("protocol = \"c-function\"\nsource = \"{source}\"\n");
        std::fs::write(own.join("bot.toml"), text).unwrap();
        own.to_str().unwrap().parse::<PlayerSpec>()
    };
    assert!(bot("ai.c").is_ok());
    for source in ["../neighbour/ai.c", "link.c"] {
        let message = bot(source).unwrap_err().to_string();
        assert!(message.contains("is not in the bot's folder"), "{message}");
    }
    let linked = folder.path().join("linked");
    std::fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", linked.join("bot.toml")).unwrap();
    let message = linked.to_str().unwrap().parse::<PlayerSpec>().unwrap_err().to_string();
    assert!(message.ends_with("links to a file outside the bot's folder"), "{message}");
}
