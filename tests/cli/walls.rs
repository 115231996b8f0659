//! Walls around bots as a user sees them, and `crownhead doctor`.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::bots::{hostile, processes, program, result};
use crate::run::{crownhead, crownhead_in, finish};

#[test]
fn a_match_that_is_killed_leaves_no_bot_and_no_file_behind() {
    // Children that left their session and hold no pipe.
    let mark = format!("mark-{}-killed", std::process::id());
    let bot = hostile(&format!("daemon-at-once {mark}"));
    let mut command = crate::run::command(&["match", &bot, "random", "--game", "english"]);
    command.args(["--movetime", "600s", "--isolation", "require"]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    while processes(&mark).len() < 2 {
        if child.try_wait().unwrap().is_some() {
            eprintln!("the end by SIGKILL is not tested: crownhead doctor says why");
            return;
        }
        std::thread::yield_now();
    }
    let number = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel ends them by itself, a moment later.
    while !processes(&mark).is_empty() {
        std::thread::yield_now();
    }
    let scratch = format!("crownhead-scratch-{number}");
    let left = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let left: Vec<_> =
        left.filter(|entry| entry.file_name().to_string_lossy().starts_with(&scratch)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_walls_are_told_once_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let bot = hostile("fine");
    let arguments =
        ["match", &bot, &bot, "--game", "english", "-n", "2", "--json", "--log", "logs"];
    let limits = ["--limits", "memory=1GB,cores=2"];
    let finished = crownhead_in(folder.path(), &[&arguments[..], &limits].concat());
    let told = finished.isolation.clone().unwrap();
    assert!(told.contains("limits (cores=2,spare=5s,memory=1GB,disk=256MB,"), "{told}");
    let games = result(&finished);
    let walls = &games["isolation"];
    assert_eq!(walls["requested"], "default", "{walls}");
    assert_eq!(walls["limits"][0]["memory"], "1GB", "{walls}");
    // Control groups are not everybody's, and nobody misses them.
    let active = walls["active"].as_array().unwrap();
    let count = active.iter().filter(|wall| *wall != "cgroups").count();
    assert_eq!(count + walls["missing"].as_array().unwrap().len(), 4, "{walls}");
    for log in fs::read_dir(folder.path().join("logs")).unwrap().flatten() {
        let text = fs::read_to_string(log.path()).unwrap();
        assert!(text.contains("\nisolation ") && text.contains("\nlimits    cores=2,"), "{text}");
    }
    let off = [&arguments[..8], &["--isolation", "off"]].concat();
    let off = crownhead_in(folder.path(), &off);
    assert_eq!(off.isolation.as_deref(), Some("isolation: off"), "{off:?}");
    assert_eq!(result(&off)["isolation"]["active"], json!([]));
    let none = crownhead(&["match", "random", "random", "--game", "english", "-n", "2", "--json"]);
    assert_eq!((&result(&none)["isolation"], &none.isolation), (&Value::Null, &None));
    for (option, value, why) in [
        ("--isolation", "some", "isolation is default, require or off"),
        ("--limits", "memory=x", "memory takes a size from 1MB up"),
    ] {
        let refused = crownhead(&["match", &bot, "random", "--game", "english", option, value]);
        assert!(refused.refused(2).contains(why), "{refused:?}");
    }
}

#[test]
fn a_bot_may_ask_for_less_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.toml");
    crownhead_in(folder.path(), &["bot", "new", "c", "kit"]).printed();
    let kit = fs::read_to_string(folder.path().join("kit/bot.toml")).unwrap();
    fs::copy(folder.path().join("kit/bot.c"), folder.path().join("bot.c")).unwrap();
    fs::write(&file, format!("{kit}\n[limits]\nmemory = \"64MB\"\nfiles = 32\ncores = 8\n"))
        .unwrap();
    let name = folder.path().to_str().unwrap();
    let games =
        result(&crownhead(&["match", name, "random", "--game", "english", "-n", "2", "--json"]));
    let limits = &games["isolation"]["limits"][0];
    assert_eq!(
        (&limits["memory"], &limits["files"], &limits["cores"]),
        (&json!("64MB"), &json!("32"), &json!("1"))
    );
    for (text, why) in [
        ("memory = true", "line 6, column 2: memory is a number or a text in quotes"),
        ("speed = 3", "there is no limit \"speed\""),
    ] {
        fs::write(&file, format!("{kit}\n[limits]\n{text}\n")).unwrap();
        let refused = crownhead(&["match", name, "random", "--game", "english"]);
        assert!(refused.refused(3).contains(why), "{refused:?}");
    }
}

#[test]
fn bots_play_where_the_session_began_outside_the_container() {
    // As the first process of a container does, this one has a session of number 0.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
    let mut trial = Command::new("unshare");
    trial.args(command.get_args()).arg("true");
    if !trial.output().is_ok_and(|output| output.status.success()) {
        return eprintln!("a container is not tested: no namespace can be made here");
    }
    let bot = hostile("leaves-a-child");
    command.args([program(), "match", &bot, "random", "--game", "english", "-n", "2", "--json"]);
    assert_eq!(finish(&mut command).json()["ends"], json!({ "crash": 2 }));
}

#[test]
fn bots_play_where_the_user_may_have_less_than_the_usual_limits() {
    let bot = hostile("fine");
    // Open files, memory that stays in place, and the size of files in KiB.
    for limit in ["-n 60", "-l 0", "-f 2000"] {
        let mut command = Command::new("bash");
        command.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "bash", program()]);
        command.args(["match", &bot, "random", "--game", "english", "-n", "2", "--json"]);
        let finished = finish(&mut command);
        let object = finished.json();
        assert_eq!((&object["games"], &object["faults"]), (&json!(2), &json!([0, 0])), "{object}");
        let missing = &object["isolation"]["missing"];
        assert!(!missing.to_string().contains("failed"), "{limit}: {missing}");
    }
}

/// A command where no user namespace can be made, for one without special rights and with few open
/// files; none if that cannot be arranged.
fn without_namespaces(arguments: &[&str]) -> Option<Command> {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && ulimit -n 60 && \
                  exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let unshare = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]).args(words);
        command
    };
    match unshare(&["true"]).output() {
        Ok(output) if output.status.success() => Some(unshare(&[&[program()], arguments].concat())),
        other => {
            eprintln!("walls without namespaces are not tested: {other:?}");
            None
        }
    }
}

#[test]
fn without_namespaces_a_scratch_folder_is_removed_whatever_is_in_it() {
    let script = "import os\n\
        os.chdir(os.environ['TMPDIR'])\n\
        os.mkdir('locked', 0)\n\
        os.mkdir('half')\nopen('half/file', 'w').close()\nos.mkdir('half/locked', 0o300)\n\
        os.symlink(os.path.join(os.path.dirname(__file__), 'other'), 'half/link')\n\
        for _ in range(200):\n os.mkdir('deep')\n os.chdir('deep')\n\
        os.mkdir('locked', 0)\n\
        raise SystemExit('all is made')\n";
    let folder = tempfile::tempdir().unwrap();
    let [temporary, other] = ["temporary", "other"].map(|name| folder.path().join(name));
    fs::create_dir(&temporary).unwrap();
    fs::create_dir(&other).unwrap();
    fs::write(other.join("kept"), "").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o500)).unwrap();
    let file = folder.path().join("bot.py");
    fs::write(&file, script).unwrap();
    let bot = format!("cmd:python3 '{}'", file.display());
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2"];
    let Some(mut command) = without_namespaces(&arguments) else { return };
    let finished = finish(command.env("TMPDIR", &temporary));
    assert!(finished.stdout.contains("all is made"), "{finished:?}");
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(other.join("kept").exists(), "links are not followed");
    assert_eq!(fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o500);
}

#[test]
fn without_namespaces_a_build_is_over_when_its_process_is() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("mark-{}-build", std::process::id());
    // A child that holds the build's output.
    let build = format!("sh -c 'sleep 600; : {mark}' & echo built; exit 3");
    let text = format!("command = \"./bot\"\nbuild = [\"sh\", \"-c\", \"{build}\"]\n");
    fs::write(folder.path().join("bot.toml"), text).unwrap();
    let name = folder.path().to_str().unwrap();
    let arguments = ["match", name, "random", "--game", "english", "-n", "2"];
    let Some(mut command) = without_namespaces(&arguments) else { return };
    let finished = finish(&mut command);
    assert!(finished.stderr.contains("failed with exit code 3:\nbuilt"), "{finished:?}");
    assert_eq!(processes(&mark), Vec::<String>::new());
}

#[test]
fn without_namespaces_the_other_walls_stand() {
    let bot = hostile("leaves-a-child");
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2", "--json"];
    let Some(mut command) = without_namespaces(&arguments) else { return };
    let finished = finish(&mut command);
    assert_eq!(finished.json()["ends"], json!({ "crash": 2 }), "{finished:?}");
    let told = finished.isolation.clone().unwrap();
    assert!(
        told.contains("namespaces is missing: ") && told.contains("landlock, seccomp"),
        "{told}"
    );
    let script = "try:\n open('/etc/passwd'); print('# read')\nexcept OSError: pass\n\
        import os\ntry:\n os.chmod(os.environ['HOME'], 0o700); print('# chmod')\nexcept OSError: pass\n\
        try:\n os.setsid(); print('# setsid')\nexcept OSError: pass\n\
        open(os.environ['HOME'] + '/x', 'w').write('x')\nraise SystemExit('walls stand')\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.py");
    fs::write(&file, script).unwrap();
    let bot = format!("cmd:python3 '{}'", file.display());
    let arguments = [
        "match",
        &bot,
        "random",
        "--game",
        "english",
        "-n",
        "2",
        "--log",
        folder.path().to_str().unwrap(),
    ];
    let Some(mut command) = without_namespaces(&arguments) else { return };
    let finished = finish(&mut command);
    assert!(finished.stdout.contains("walls stand"), "{finished:?}");
    for log in fs::read_dir(folder.path()).unwrap().flatten() {
        let text = fs::read_to_string(log.path()).unwrap();
        assert!(!text.contains("< # "), "{text}");
    }
    let refused = without_namespaces(&[
        "match",
        &bot,
        "random",
        "--game",
        "english",
        "--isolation",
        "require",
    ]);
    let told = finish(&mut refused.unwrap());
    assert!(
        told.refused(1).contains("isolation is required, but namespaces is missing"),
        "{told:?}"
    );
}

#[test]
fn the_doctor_says_what_there_is_and_what_to_install() {
    let told = crownhead(&["doctor"]);
    for part in [
        "walls around bots\n",
        "  landlock ",
        "  cgroups ",
        "languages of bots\n",
        "  python ",
        "folders\n",
        "tables\n",
    ] {
        assert!(told.printed().contains(part), "{told:?}");
    }
    let object = crownhead(&["doctor", "--json"]).json();
    assert_eq!(object["isolation"].as_array().unwrap().len(), 4, "{object}");
    assert!(
        object["tools"].as_array().unwrap().iter().any(|tool| tool["program"] == "node"),
        "{object}"
    );
    let poor = finish(crate::run::command(&["doctor"]).env("PATH", "/nowhere"));
    assert!(poor.printed().contains("node is MISSING: install nodejs"), "{poor:?}");
}
