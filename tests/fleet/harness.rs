//! A NATS server, workers and coordinators in a temporary folder.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::{self, stream};
use crownhead_test_support::skip;
use tempfile::TempDir;

use crate::cli::{Finished, command, finish};

/// A NATS server with an empty data folder, and the processes that use it. All end with it.
pub(crate) struct TestFleet {
    folder: TempDir,
    pub(crate) port: u16,
    server: Option<Child>,
}

/// Ends a process if it still runs.
fn kill(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for TestFleet {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            kill(server);
        }
    }
}

/// A process that is killed when the test ends.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        kill(&mut self.0);
    }
}

/// A process that is stopped when the test ends, and stops others first: `crownhead fleet up`.
pub(crate) struct Stopped(pub(crate) Running);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.signal("-TERM");
        self.0.wait();
    }
}

impl Running {
    /// Sends a signal, such as `-TERM`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for the exit, and returns the exit code.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl TestFleet {
    /// Starts a server; `None` if there is none on this machine.
    pub(crate) fn start(test: &str) -> Option<TestFleet> {
        if Command::new("nats-server").arg("--version").output().is_err() {
            skip(test, "nats-server is not installed (Debian: apt-get install nats-server)");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let mut fleet = TestFleet { folder, port, server: None };
        fleet.start_server();
        Some(fleet)
    }

    /// Starts the server, and waits until it accepts connections.
    pub(crate) fn start_server(&mut self) {
        let log =
            fs::File::options().append(true).create(true).open(self.path("nats.log")).unwrap();
        let server = Command::new("nats-server")
            .args(["--jetstream", "--addr", "127.0.0.1", "--port", &self.port.to_string()])
            .arg("--store_dir")
            .arg(self.path("jetstream"))
            .stderr(log)
            .spawn()
            .unwrap();
        self.server = Some(server);
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let server = self.server.as_mut().unwrap();
            assert!(server.try_wait().unwrap().is_none(), "nats-server does not start");
            std::thread::yield_now();
        }
    }

    /// Kills the server, as a loss of power would.
    pub(crate) fn kill_server(&mut self) {
        kill(self.server.as_mut().unwrap());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns a command with the address of the server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let url = self.url();
        let mut command = command(&[arguments, &["--nats", &url]].concat());
        command.current_dir(self.folder.path()).env("CROWNHEAD_DATA", self.path("data"));
        command
    }

    /// Runs a command to its end.
    pub(crate) fn crownhead(&self, arguments: &[&str]) -> Finished {
        finish(&mut self.command(arguments))
    }

    /// Starts a command; its messages go to a file.
    pub(crate) fn spawn(&self, arguments: &[&str], log: &str) -> Running {
        let log = fs::File::options().append(true).create(true).open(self.path(log)).unwrap();
        let mut command = self.command(arguments);
        Running(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    pub(crate) fn worker(&self, name: &str) -> Running {
        let log = format!("{name}.log");
        self.spawn(&["worker", "--concurrency", "1", "--name", name], &log)
    }

    /// Returns what processes wrote to a log.
    pub(crate) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until a log contains a text.
    pub(crate) fn wait_for(&self, log: &str, text: &str) {
        while !self.log(log).contains(text) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Connects to the server without the program.
    pub(crate) async fn connect(&self) -> (async_nats::Client, jetstream::Context) {
        let client = async_nats::connect(self.url()).await.unwrap();
        (client.clone(), jetstream::new(client))
    }

    /// Creates the queue with a consumer that delivers jobs of dead workers again after a second
    /// instead of 30.
    pub(crate) fn deliver_again_after_a_second(&self) {
        block_on(async {
            let (_, jetstream) = self.connect().await;
            let jobs = jetstream.create_stream(stream::Config {
                name: "CROWNHEAD_JOBS".into(),
                subjects: vec!["crownhead.jobs.*.*".into()],
                retention: stream::RetentionPolicy::WorkQueue,
                ..stream::Config::default()
            });
            let consumer = pull::Config {
                durable_name: Some("workers".into()),
                ack_wait: Duration::from_secs(1),
                max_deliver: 5,
                max_ack_pending: -1,
                ..pull::Config::default()
            };
            jobs.await.unwrap().create_consumer(consumer).await.unwrap();
        });
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Players whose games are the same in every run.
const PLAYERS: &str =
    r#"["level:1", "level:2", "minimax:1", { name = "nodes", player = "best:nodes=300,hash=1" }]"#;

/// Writes a tournament of four players, with this number of games per pairing.
pub(crate) fn write_tournament(folder: &Path, games: u32) {
    let text = format!("game = \"english\"\nplayers = {PLAYERS}\ngames = {games}\n");
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("class.toml"), text).unwrap();
}

/// Returns the standings and all games of a tournament as text.
pub(crate) fn tables(folder: &Path) -> (String, String) {
    let run = |arguments: &[&str]| {
        let finished = finish(command(arguments).current_dir(folder));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stdout
    };
    let standings = run(&["tournament", "standings", "class.toml", "--crosstable"]);
    run(&["tournament", "games", "class.toml", "--pdn", "games.pdn"]);
    (standings, fs::read_to_string(folder.join("games.pdn")).unwrap())
}
