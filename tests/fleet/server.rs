//! `crownhead fleet up`: TLS, users, and what a worker's user may not do.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_nats::jetstream::consumer::{PullConsumer, push};
use async_nats::jetstream::{self, AckKind};
use async_nats::{Client, ConnectOptions};
use futures_util::StreamExt;
use serde_json::Value;

use crate::cli::{command, finish};
use crate::harness::{Running, Stopped, block_on};

/// A server of `crownhead fleet up`.
pub(crate) struct SecureServer {
    // Stopped before its folder is removed.
    _process: Stopped,
    folder: tempfile::TempDir,
}

impl SecureServer {
    pub(crate) fn start(test: &str) -> Option<SecureServer> {
        if std::process::Command::new("nats-server").arg("--version").output().is_err() {
            crownhead_test_support::skip(test, "nats-server is not installed");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut up = command(&["fleet", "up", "--tls", "--workers", "2"]);
        up.arg("--port").arg(port.to_string()).arg("--data").arg(folder.path().join("fleet"));
        let up = up.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut process = Running(up);
        let mut line = String::new();
        let mut output = std::io::BufReader::new(process.0.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        assert_eq!(line, "crownhead worker --credentials worker-1.json\n");
        Some(SecureServer { folder, _process: Stopped(process) })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn credentials(&self, name: &str) -> PathBuf {
        match name {
            "coordinator" => self.path("fleet/coordinator.json"),
            _ => self.path(&format!("fleet/workers/{name}.json")),
        }
    }

    /// Returns a command with credentials.
    pub(crate) fn command(&self, user: &str, arguments: &[&str]) -> std::process::Command {
        let mut command = command(arguments);
        command.arg("--credentials").arg(self.credentials(user));
        command.current_dir(self.folder.path()).env("CROWNHEAD_DATA", self.path("data"));
        command
    }

    fn worker(&self, user: &str) -> Running {
        let mut command = self.command(user, &["worker", "--concurrency", "1"]);
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Connects as a user, without the program.
    async fn connect(&self, user: &str) -> (Client, jetstream::Context) {
        let text = fs::read(self.credentials(user)).unwrap();
        let credentials: Value = serde_json::from_slice(&text).unwrap();
        let text = |key: &str| credentials[key].as_str().unwrap().to_string();
        let ca = self.path("fleet/ca.pem");
        let options = ConnectOptions::with_user_and_password(text("name"), text("password"))
            .add_root_certificates(ca)
            .require_tls(true)
            .request_timeout(Some(Duration::from_secs(1)))
            .custom_inbox_prefix(format!("_INBOX_{}", text("name")));
        let client = options.connect(text("url")).await.unwrap();
        let prefix = if user == "coordinator" { "$JS.API" } else { "crownhead.api" };
        let mut jetstream = jetstream::with_prefix(client.clone(), prefix);
        jetstream.set_timeout(Duration::from_secs(1));
        (client, jetstream)
    }
}

#[test]
fn second_server_in_a_folder_is_refused() {
    let Some(server) = SecureServer::start("second_server_in_a_folder") else { return };
    let before = fs::read(server.path("fleet/nats.conf")).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut second = command(&["fleet", "up"]);
    second.arg("--port").arg(port.to_string()).arg("--data").arg(server.path("fleet"));
    let second = finish(&mut second);
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("another `crownhead fleet up` uses"), "{second:?}");
    assert_eq!(fs::read(server.path("fleet/nats.conf")).unwrap(), before);
}

#[test]
fn fleet_with_tls_plays_bots_from_bundles() {
    let Some(server) = SecureServer::start("fleet_with_tls_plays_bots_from_bundles") else {
        return;
    };
    // One is built by its worker, one is a command, and neither folder is the worker's.
    for (language, folder) in [("c", "bots/lovelace"), ("python", "bots/hopper")] {
        let new = finish(command(&["bot", "new", language, folder]).current_dir(&server.folder));
        assert_eq!(new.code, Some(0), "{new:?}");
    }
    let script = fs::read_dir(server.path("bots/hopper")).unwrap().flatten();
    let script =
        script.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|it| it == "py"));
    fs::copy(script.unwrap(), server.path("hopper.py")).unwrap();
    let _workers = ["worker-1", "worker-2"].map(|user| server.worker(user));
    let players = ["match", "bots/lovelace", "cmd:python3 hopper.py", "--game", "english"];
    let options = ["-n", "4", "--movetime", "30s", "--json", "--fleet"];
    let played = finish(&mut server.command("coordinator", &[&players[..], &options].concat()));
    assert_eq!(played.code, Some(0), "{played:?}");
    let object = played.json();
    assert_eq!(object["games"], 4);
    assert_eq!(object["faults"], serde_json::json!([0, 0]));
    let off = [&players[..], &["--isolation", "off", "--fleet"]].concat();
    let off = finish(&mut server.command("coordinator", &off));
    assert_eq!(off.code, Some(2));
    assert!(off.stderr.contains("workers run no bots without isolation"), "{off:?}");
}

#[test]
fn bot_that_does_not_build_on_a_worker_forfeits() {
    let Some(server) = SecureServer::start("bot_that_does_not_build_on_a_worker_forfeits") else {
        return;
    };
    let bot = server.path("bots/broken");
    fs::create_dir_all(&bot).unwrap();
    fs::write(bot.join("bot.toml"), "build = \"false\"\ncommand = \"./missing\"\n").unwrap();
    let text = "game = \"english\"\nplayers = [\"bots/broken\", \"random\"]\n";
    fs::write(server.path("class.toml"), text).unwrap();
    let _worker = server.worker("worker-1");
    let run = ["tournament", "run", "class.toml", "--json", "--fleet"];
    let played = finish(&mut server.command("coordinator", &run));
    assert_eq!(played.code, Some(4), "{played:?}");
    assert!(played.stdout.contains("\"reason\":\"start\""), "{played:?}");
}

#[test]
fn user_of_a_worker_can_do_nothing_but_its_work() {
    let Some(server) = SecureServer::start("user_of_a_worker_can_do_nothing_but_its_work") else {
        return;
    };
    // Files with secrets are for their owner only.
    for file in ["nats.conf", "server-key.pem", "coordinator.json", "workers/worker-1.json"] {
        let mode = fs::metadata(server.path("fleet").join(file)).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o077, 0, "{file}");
    }
    let arguments =
        ["match", "random", "random", "--game", "english", "-n", "4", "--json", "--fleet"];
    let mut coordinator = server.command("coordinator", &arguments);
    let log = fs::File::create(server.path("coordinator.log")).unwrap();
    let coordinator = coordinator.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    block_on(attack(&server));
    let _worker = server.worker("worker-1");
    let output = coordinator.wait_with_output().unwrap();
    let log = fs::read_to_string(server.path("coordinator.log")).unwrap();
    assert!(output.status.success(), "{log}");
    let games: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(games["games"], 4, "{log}");
}

/// Tries everything that could harm others as the user `worker-2`.
async fn attack(server: &SecureServer) {
    let (client, jetstream) = server.connect("worker-2").await;
    let (_, trusted) = server.connect("coordinator").await;
    // It gets jobs,
    let consumer: PullConsumer = loop {
        match jetstream.get_consumer_from_stream("workers", "CROWNHEAD_JOBS").await {
            Ok(consumer) => break consumer,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let mut jobs = consumer.batch().max_messages(1).expires(PULL).messages().await.unwrap();
    let job = jobs.next().await.unwrap().unwrap();
    let run =
        serde_json::from_slice::<Value>(&job.payload).unwrap()["run"].as_str().unwrap().to_string();
    // and learns nothing about those of others: neither what is delivered to them nor what they
    // say.
    for subject in [">", "_INBOX.>", "_INBOX_worker-1.>", "crownhead.>", "$JS.>", "$O.>", "*.>"] {
        let mut messages = client.subscribe(subject).await.unwrap();
        client.flush().await.unwrap();
        let (other, _) = server.connect("worker-1").await;
        other.publish("crownhead.workers.worker-1", "x".into()).await.unwrap();
        other.flush().await.unwrap();
        let received = tokio::time::timeout(Duration::from_millis(200), messages.next()).await;
        assert!(!matches!(received, Ok(Some(_))), "{subject}");
    }
    // It cannot speak for others, queue jobs, or change what all must run.
    let before = messages(&trusted).await;
    let result = format!("crownhead.results.{run}.worker-1");
    for subject in [
        &result,
        "crownhead.jobs.x.1-2",
        "crownhead.fleet",
        "crownhead.workers.worker-1",
        "$O.crownhead-bots.C.y",
        "$O.crownhead-bots.M.y",
        "_INBOX_worker-1.x",
        "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.CROWNHEAD_JOBS.workers",
    ] {
        client.publish(subject.to_string(), "lie".into()).await.unwrap();
    }
    client.flush().await.unwrap();
    // It cannot read, change or delete streams and consumers.
    assert!(jetstream.get_stream("CROWNHEAD_JOBS").await.is_err());
    assert!(jetstream.delete_stream("CROWNHEAD_JOBS").await.is_err());
    for stream in ["CROWNHEAD_JOBS", "CROWNHEAD_RESULTS", "CROWNHEAD_REPORTS", BOTS] {
        let is_readable = stream == BOTS;
        let stream = jetstream.get_stream_no_info(stream).await.unwrap();
        // Every worker may read the bots, which are encrypted.
        assert!(is_readable || stream.get_raw_message(1).await.is_err());
        assert!(stream.delete_message(1).await.is_err());
        assert!(stream.purge().await.is_err());
        let spy = push::Config { deliver_subject: client.new_inbox(), ..push::Config::default() };
        assert!(stream.create_consumer(spy).await.is_err());
    }
    assert!(jetstream.delete_consumer_from_stream("workers", "CROWNHEAD_JOBS").await.is_err());
    // A request may name any subject for its answer. Without an account of their own, workers could
    // have empty answers delete streams, and others put into the queue.
    for reply in [
        "$JS.API.STREAM.DELETE.CROWNHEAD_RESULTS",
        "$JS.API.STREAM.PURGE.CROWNHEAD_JOBS",
        "crownhead.api.STREAM.DELETE.CROWNHEAD_RESULTS",
        "crownhead.jobs.x.1-2",
        "crownhead.fleet",
        "$O.crownhead-bots.M.y",
        &result,
    ] {
        have_answers_sent_to(&client, reply).await;
    }
    assert_eq!(messages(&trusted).await, before);
    job.ack_with(AckKind::Nak(None)).await.unwrap();
    client.flush().await.unwrap();
}

/// Has the server send answers to a subject, by all requests that a worker may make.
async fn have_answers_sent_to(client: &Client, reply: &str) {
    for (request, payload) in [
        ("CONSUMER.MSG.NEXT.CROWNHEAD_JOBS.workers", r#"{"batch":1,"no_wait":true}"#),
        ("CONSUMER.INFO.CROWNHEAD_JOBS.workers", ""),
        ("STREAM.MSG.GET.CROWNHEAD_FLEET", r#"{"last_by_subj":"crownhead.fleet"}"#),
        ("STREAM.INFO.OBJ_crownhead-bots", ""),
        ("STREAM.MSG.GET.OBJ_crownhead-bots", r#"{"seq":1}"#),
        ("DIRECT.GET.OBJ_crownhead-bots", r#"{"seq":1}"#),
    ] {
        let request = format!("crownhead.api.{request}");
        client.publish_with_reply(request, reply.to_string(), payload.into()).await.unwrap();
    }
    client.flush().await.unwrap();
    // The server answers in order.
    let info = "crownhead.api.CONSUMER.INFO.CROWNHEAD_JOBS.workers";
    client.request(info, "".into()).await.unwrap();
}

/// Number of messages of each stream except the reports.
async fn messages(jetstream: &jetstream::Context) -> Vec<u64> {
    let mut counts = Vec::new();
    for name in ["CROWNHEAD_JOBS", "CROWNHEAD_RESULTS", "CROWNHEAD_FLEET", "CROWNHEAD_DEAD", BOTS] {
        let stream = jetstream.get_stream(name).await.unwrap();
        counts.push(stream.cached_info().state.messages);
    }
    counts
}

const BOTS: &str = "OBJ_crownhead-bots";

const PULL: Duration = Duration::from_secs(20);

#[test]
fn missing_server_program_is_explained() {
    let mut up = command(&["fleet", "up", "--port", "1", "--data"]);
    let folder = tempfile::tempdir().unwrap();
    let is_elsewhere = ["/usr/sbin", "/usr/local/sbin"]
        .iter()
        .any(|path| Path::new(path).join("nats-server").is_file());
    if is_elsewhere {
        // It is found there without a path; an old one is refused.
        let fake = folder.path().join("nats-server");
        fs::write(&fake, "#!/bin/sh\necho nats-server: v2.1.0\n").unwrap();
        fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/bin", folder.path().display());
    let finished = finish(up.arg(folder.path().join("fleet")).env("PATH", path));
    assert_eq!(finished.code, Some(1));
    let expected =
        if is_elsewhere { "is version 2.1.0: install 2.9.10 or newer" } else { "apt install" };
    assert!(finished.stderr.contains(expected), "{finished:?}");
}
