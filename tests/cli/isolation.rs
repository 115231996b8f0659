//! `--isolation`, `--limits` and `crownhead doctor` as a user sees them.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crownhead_test_support::skip;
use serde_json::{Value, json};

use crate::bots::{hostile, processes, program, result};
use crate::harness::{command, crownhead, crownhead_in, finish};

#[test]
fn killed_match_leaves_no_bot_and_no_file_behind() {
    // The bot's child left its session and holds no pipe.
    let mark = format!("mark-{}-killed", std::process::id());
    let bot = hostile(&format!("daemon-at-once {mark}"));
    let mut command = command(&["match", &bot, "random", "--game", "english"]);
    command.args(["--movetime", "600s", "--isolation", "require"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while processes(&mark).len() < 2 {
        if child.try_wait().unwrap().is_some() {
            return skip(
                "killed_match_leaves_no_bot_and_no_file_behind",
                "isolation is incomplete: crownhead doctor says why",
            );
        }
        std::thread::yield_now();
    }
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel kills them a moment later.
    while !processes(&mark).is_empty() {
        std::thread::yield_now();
    }
    let scratch = format!("crownhead-scratch-{pid}");
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let left: Vec<_> =
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&scratch)).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn isolation_is_reported_once_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let bot = hostile("fine");
    let arguments =
        ["match", &bot, &bot, "--game", "english", "-n", "2", "--json", "--log", "logs"];
    let limits = ["--limits", "memory=1GB,cores=2"];
    let finished = crownhead_in(folder.path(), &[&arguments[..], &limits].concat());
    let line = finished.isolation.clone().unwrap();
    assert!(line.contains("limits (cores=2,cpu-slack=5s,memory=1GB,disk=256MB,"), "{line}");
    let object = result(&finished);
    let isolation = &object["isolation"];
    assert_eq!(isolation["requested"], "default", "{isolation}");
    assert_eq!(isolation["limits"][0]["memory"], "1GB", "{isolation}");
    assert_eq!(isolation["limits"][0]["cpu-slack"], "5s", "{isolation}");
    // Control groups are optional, so they are never missing.
    let active = isolation["active"].as_array().unwrap();
    let count = active.iter().filter(|mechanism| *mechanism != "cgroups").count();
    assert_eq!(count + isolation["missing"].as_array().unwrap().len(), 4, "{isolation}");
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
    for (option, value, reason) in [
        ("--isolation", "some", "invalid isolation \"some\": must be default, require or off"),
        ("--limits", "memory=x", "memory takes a size from 1MB up"),
    ] {
        let refused = crownhead(&["match", &bot, "random", "--game", "english", option, value]);
        assert!(refused.refused(2).contains(reason), "{refused:?}");
    }
}

#[test]
fn bot_toml_lowers_limits() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.toml");
    crownhead_in(folder.path(), &["bot", "new", "c", "kit"]).printed();
    let kit = fs::read_to_string(folder.path().join("kit/bot.toml")).unwrap();
    fs::copy(folder.path().join("kit/bot.c"), folder.path().join("bot.c")).unwrap();
    fs::write(&file, format!("{kit}\n[limits]\nmemory = \"64MB\"\nfiles = 32\ncores = 8\n"))
        .unwrap();
    let name = folder.path().to_str().unwrap();
    let object =
        result(&crownhead(&["match", name, "random", "--game", "english", "-n", "2", "--json"]));
    let limits = &object["isolation"]["limits"][0];
    assert_eq!(
        (&limits["memory"], &limits["files"], &limits["cores"]),
        (&json!("64MB"), &json!("32"), &json!("1"))
    );
    for (text, reason) in [
        ("memory = true", "line 6, column 2: memory must be a number or a string"),
        ("speed = 3", "unknown limit \"speed\""),
    ] {
        fs::write(&file, format!("{kit}\n[limits]\n{text}\n")).unwrap();
        let refused = crownhead(&["match", name, "random", "--game", "english"]);
        assert!(refused.refused(3).contains(reason), "{refused:?}");
    }
}

#[test]
fn bots_play_where_the_session_began_outside_of_the_container() {
    // Like the first process of a container, crownhead has session id 0 here.
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
    let mut probe = Command::new("unshare");
    probe.args(command.get_args()).arg("true");
    if !probe.output().is_ok_and(|output| output.status.success()) {
        return skip(
            "bots_play_where_the_session_began_outside_of_the_container",
            "unshare cannot create namespaces",
        );
    }
    let bot = hostile("leaves-a-child");
    command.args([program(), "match", &bot, "random", "--game", "english", "-n", "2", "--json"]);
    assert_eq!(finish(&mut command).json()["ends"], json!({ "crash": 2 }));
}

#[test]
fn bots_play_where_the_user_has_less_than_the_default_limits() {
    let bot = hostile("fine");
    // Open files, locked memory, and the size of files in KiB.
    for limit in ["-n 60", "-l 0", "-f 2000"] {
        let mut command = Command::new("bash");
        command.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "bash", program()]);
        command.args(["match", &bot, "random", "--game", "english", "-n", "2", "--json"]);
        let object = finish(&mut command).json();
        assert_eq!((&object["games"], &object["faults"]), (&json!(2), &json!([0, 0])), "{object}");
        let missing = &object["isolation"]["missing"];
        assert!(!missing.to_string().contains("failed"), "{limit}: {missing}");
    }
}

/// Runs crownhead without capabilities, with few open files and where it cannot create user
/// namespaces. `None` if that cannot be arranged; then `test` is reported as skipped.
fn without_namespaces(test: &str, arguments: &[&str]) -> Option<Command> {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && ulimit -n 60 && \
                  exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"";
    let unshare = |argv: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", script, "sh"]).args(argv);
        command
    };
    let reason = match unshare(&["true"]).output() {
        Ok(output) if output.status.success() => {
            return Some(unshare(&[&[program()], arguments].concat()));
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    skip(test, format!("cannot disable user namespaces: {reason}"));
    None
}

#[test]
fn scratch_directory_is_removed_without_namespaces_whatever_it_contains() {
    let script = "import os\n\
        os.chdir(os.environ['TMPDIR'])\n\
        os.mkdir('half')\nopen('half/file', 'w').close()\n\
        os.symlink(os.path.join(os.path.dirname(__file__), 'other'), 'half/link')\n\
        for _ in range(200):\n os.mkdir('deep')\n os.chdir('deep')\n\
        os.mkdir('locked', 0)\nos.chdir(os.environ['TMPDIR'])\n\
        os.mkdir('half/locked', 0o300)\nos.mkdir('locked', 0)\n\
        raise SystemExit('script finished')\n";
    let folder = tempfile::tempdir().unwrap();
    let [temporary, other] = ["temporary", "other"].map(|name| folder.path().join(name));
    fs::create_dir(&temporary).unwrap();
    fs::create_dir(&other).unwrap();
    fs::write(other.join("file"), "").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o500)).unwrap();
    let file = folder.path().join("bot.py");
    fs::write(&file, script).unwrap();
    let bot = format!("cmd:python3 '{}'", file.display());
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2"];
    let test = "scratch_directory_is_removed_without_namespaces_whatever_it_contains";
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let finished = finish(command.env("TMPDIR", &temporary));
    // Its locked directories may be noticed first.
    let endings = ["script finished", "directories whose size cannot be measured"];
    assert!(endings.iter().any(|ending| finished.stdout.contains(ending)), "{finished:?}");
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(other.join("file").exists(), "links are not followed");
    assert_eq!(fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o500);
}

#[test]
fn build_without_namespaces_ends_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("mark-{}-build", std::process::id());
    // A child that holds the output of the build open.
    let build = format!("sh -c 'sleep 600; : {mark}' & echo built; exit 3");
    let text = format!("command = \"./bot\"\nbuild = [\"sh\", \"-c\", \"{build}\"]\n");
    fs::write(folder.path().join("bot.toml"), text).unwrap();
    let name = folder.path().to_str().unwrap();
    let arguments = ["match", name, "random", "--game", "english", "-n", "2"];
    let test = "build_without_namespaces_ends_with_its_process";
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let finished = finish(&mut command);
    assert!(finished.stderr.contains("failed with exit code 3:\nbuilt"), "{finished:?}");
    assert_eq!(processes(&mark), Vec::<String>::new());
}

#[test]
fn other_mechanisms_work_without_namespaces() {
    let test = "other_mechanisms_work_without_namespaces";
    let bot = hostile("leaves-a-child");
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2", "--json"];
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let finished = finish(&mut command);
    assert_eq!(finished.json()["ends"], json!({ "crash": 2 }), "{finished:?}");
    let line = finished.isolation.clone().unwrap();
    assert!(
        line.contains("namespaces unavailable: ") && line.contains("landlock, seccomp"),
        "{line}"
    );
    let script = "try:\n open('/etc/passwd'); print('# read')\nexcept OSError: pass\n\
        import os\n\
        try:\n os.chmod(os.environ['HOME'], 0o700); print('# chmod')\nexcept OSError: pass\n\
        try:\n os.setsid(); print('# setsid')\nexcept OSError: pass\n\
        open(os.environ['HOME'] + '/x', 'w').write('x')\nraise SystemExit('script finished')\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.py");
    fs::write(&file, script).unwrap();
    let bot = format!("cmd:python3 '{}'", file.display());
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2", "--log"];
    let arguments = [&arguments[..], &[folder.path().to_str().unwrap()]].concat();
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let finished = finish(&mut command);
    assert!(finished.stdout.contains("script finished"), "{finished:?}");
    for log in fs::read_dir(folder.path()).unwrap().flatten() {
        let text = fs::read_to_string(log.path()).unwrap();
        assert!(!text.contains("< # "), "{text}");
    }
    let arguments = ["match", &bot, "random", "--game", "english", "--isolation", "require"];
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let refused = finish(&mut command);
    assert!(
        refused.refused(1).contains("required but incomplete: namespaces unavailable: "),
        "{refused:?}"
    );
}

#[test]
fn attacks_are_contained_without_namespaces_as_documented() {
    let test = "attacks_are_contained_without_namespaces_as_documented";
    let Some(mut command) = without_namespaces(test, &["doctor", "--attack", "--json"]) else {
        return;
    };
    let finished = finish(&mut command);
    let object = finished.json();
    let state = |name: &str| {
        let attacks = object["attacks"].as_array().unwrap();
        attacks.iter().find(|attack| attack["attack"] == name).unwrap()["state"].clone()
    };
    for name in [
        "fork-bomb",
        "memory",
        "memory-in-children",
        "memory-in-sockets",
        "memory-in-mappings",
        "hidden-memory",
        "page-tables",
        "disk",
        "hidden-cpu-time",
        "opponents-time",
        "opponents-time-in-children",
        "hidden-opponents-time",
        "daemon",
        "log",
        "invisible-text",
        "build-disk",
        "build-outside",
    ] {
        assert_eq!(state(name), "contained", "{name}: {object}");
    }
}

#[test]
fn bot_with_a_process_that_cannot_be_measured_is_stopped() {
    // The kernel does not show the memory of a program that nobody may read.
    let script = "import os, time\n\
        name = os.path.join(os.environ['TMPDIR'], 'sleep')\n\
        copy = os.open(name, os.O_WRONLY | os.O_CREAT, 0o111)\n\
        os.write(copy, open('/bin/sleep', 'rb').read())\n\
        os.close(copy)\n\
        if os.fork() == 0: os.execl(name, name, '600')\n\
        time.sleep(600)\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bot.py");
    fs::write(&file, script).unwrap();
    let bot = format!("cmd:python3 '{}'", file.display());
    let arguments = ["match", &bot, "random", "--game", "english", "-n", "2"];
    let test = "bot_with_a_process_that_cannot_be_measured_is_stopped";
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let finished = finish(&mut command);
    assert!(
        finished.stdout.contains("the memory of one of its processes cannot be measured"),
        "{finished:?}"
    );
}

#[test]
fn daemon_ends_with_a_killed_referee_without_namespaces() {
    let test = "daemon_ends_with_a_killed_referee_without_namespaces";
    let mark = format!("mark-{}-daemon", std::process::id());
    let bot = hostile(&format!("daemon-at-once {mark}"));
    let arguments = ["match", &bot, "random", "--game", "english", "--movetime", "600s"];
    let Some(mut command) = without_namespaces(test, &arguments) else { return };
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while processes(&mark).len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "the match has ended");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Init kills them a moment later.
    while !processes(&mark).is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn name_of_a_folder_cannot_reorder_what_a_match_shows() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("ev\u{202e}il\u{2069}");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("bot.toml"), "command = \"./missing\"").unwrap();
    let pdn = dir.path().join("games.pdn");
    let [name, pdn] = [&folder, &pdn].map(|path| path.to_str().unwrap());
    let arguments = ["match", name, "random", "--game", "english", "-n", "2", "--pdn", pdn];
    let text = crownhead(&arguments);
    let json = crownhead(&[&arguments[..7], &["--json"]].concat());
    let games = fs::read_to_string(pdn).unwrap_or_default();
    for shown in [&text.stdout, &text.stderr, &json.stdout, &json.stderr, &games] {
        assert!(!shown.contains(['\u{202e}', '\u{2069}']), "{shown}");
    }
    assert!(text.stderr.contains("ev\\u{202e}il"), "{text:?}");
}

#[test]
fn bot_folder_cannot_run_this_program() {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("runtime/bin");
    fs::create_dir_all(&bin).unwrap();
    let engine = bin.join("crownhead");
    fs::copy(program(), &engine).unwrap();
    // A runtime in PATH: every bot may read its folder, in which crownhead is installed too.
    std::os::unix::fs::symlink("/usr/bin/env", bin.join("rustc")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let bot = folder.path().join("bot");
    fs::create_dir(&bot).unwrap();
    let run = |player: &str| {
        let mut command = Command::new(&engine);
        command.args(["match", player, "random", "--game", "english", "-n", "2"]);
        finish(command.env("PATH", &path).env_remove("CARGO_HOME"))
    };
    let by_command = run(&format!("cmd:{} engine level:1", engine.display()));
    assert_eq!(by_command.code, Some(0), "the organiser may: {by_command:?}");
    for command in
        ["\"crownhead engine level:1\"", "[\"sh\", \"-c\", \"crownhead engine level:1\"]"]
    {
        fs::write(bot.join("bot.toml"), format!("command = {command}")).unwrap();
        let by_folder = run(bot.to_str().unwrap());
        assert_ne!(by_folder.code, Some(0), "{by_folder:?}");
    }
}

#[test]
fn bot_finds_packages_in_its_own_environment_and_where_the_organiser_allows() {
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot");
    fs::create_dir(&bot).unwrap();
    let fixture = hostile("fine");
    let source = fixture.split('\'').nth(1).unwrap();
    let text = fs::read_to_string(source).unwrap();
    fs::write(bot.join("bot.py"), format!("import extra_package\n{text}")).unwrap();
    let packages = folder.path().join("packages");
    fs::create_dir(&packages).unwrap();
    fs::write(packages.join("extra_package.py"), "").unwrap();
    let play = |command: &str, options: &[&str]| {
        fs::write(bot.join("bot.toml"), format!("command = {command}")).unwrap();
        let arguments = ["match", bot.to_str().unwrap(), "random", "--game", "english", "-n", "2"];
        crownhead(&[&arguments[..], options].concat())
    };
    let missing = play("\"python3 bot.py fine\"", &[]);
    assert_eq!(missing.code, Some(4), "{missing:?}");
    assert!(missing.stdout.contains("the sandbox may have refused it"), "{missing:?}");
    let hidden = play("[\"python3\", \"-c\", \"open('/tmp/weights')\"]", &[]);
    assert!(hidden.stdout.contains("the sandbox may have refused it"), "{hidden:?}");
    let path = packages.display();
    let by_path = format!("[\"env\", \"PYTHONPATH={path}\", \"python3\", \"bot.py\", \"fine\"]");
    assert_eq!(play(&by_path, &[]).code, Some(4), "not without permission");
    let allowed = play(&by_path, &["--read", packages.to_str().unwrap()]);
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--without-pip", ".venv"]).current_dir(&bot);
    if !venv.output().is_ok_and(|output| output.status.success()) {
        return skip(
            "bot_finds_packages_in_its_own_environment_and_where_the_organiser_allows",
            "python3 cannot create a virtual environment (python3-venv)",
        );
    }
    let lib = fs::read_dir(bot.join(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    fs::copy(packages.join("extra_package.py"), lib.join("site-packages/extra_package.py"))
        .unwrap();
    let venv = play("\".venv/bin/python bot.py fine\"", &[]);
    assert_eq!(venv.code, Some(0), "{venv:?}");
}

#[test]
fn doctor_says_where_bots_have_no_users_of_their_own() {
    let test = "doctor_says_where_bots_have_no_users_of_their_own";
    let users = crownhead(&["doctor", "--json"]).json()["users"].clone();
    if users["first"].is_null() {
        return skip(test, users["note"].to_string());
    }
    let note = "the file system of /proc has no idmapped mounts";
    let output = finish(command(&["doctor"]).current_dir("/proc"));
    assert!(output.printed().contains(note), "{output:?}");
    let json = finish(command(&["doctor", "--json"]).current_dir("/proc")).json();
    assert!(json["users"]["note"].as_str().unwrap().contains(note), "{json}");
}

#[test]
fn doctor_shows_what_is_there_and_what_to_install() {
    let output = crownhead(&["doctor"]);
    for part in [
        "sandbox\n",
        "  landlock ",
        "  cgroups ",
        "bot languages\n",
        "  python ",
        "directories\n",
        "tables\n",
    ] {
        assert!(output.printed().contains(part), "{output:?}");
    }
    let object = crownhead(&["doctor", "--json"]).json();
    let mechanisms = object["isolation"].as_array().unwrap();
    let mechanisms: Vec<_> = mechanisms.iter().map(|entry| &entry["mechanism"]).collect();
    assert_eq!(mechanisms, ["namespaces", "landlock", "seccomp", "cgroups"], "{object}");
    assert!(
        object["tools"].as_array().unwrap().iter().any(|tool| tool["program"] == "node"),
        "{object}"
    );
    let poor = finish(command(&["doctor"]).env("PATH", "/nowhere"));
    assert!(poor.printed().contains("node NOT FOUND: install nodejs"), "{poor:?}");
}
