//! Workers in network namespaces of their own, as on separate machines.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crownhead_test_support::skip;

use crate::cli::{command, finish};
use crate::harness::{Running, Stopped, tables, write_tournament};
use crate::kills::finished_games;

/// Three namespaces, each with a cable to a fourth one.
struct Network {
    /// Part of the names, which are those of the whole machine.
    id: u32,
    folder: tempfile::TempDir,
}

fn ip(arguments: &str) -> bool {
    let status = Command::new("ip").args(arguments.split(' ')).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

impl Network {
    /// Creates the namespaces; `None` where that is impossible.
    fn create(test: &str) -> Option<Network> {
        if Command::new("nats-server").arg("--version").output().is_err() {
            skip(test, "nats-server is not installed");
            return None;
        }
        let network = Network { id: std::process::id(), folder: tempfile::tempdir().unwrap() };
        let hub = network.namespace("hub");
        if !ip(&format!("netns add {hub}")) {
            skip(test, "network namespaces need root and iproute2");
            return None;
        }
        let mut commands = vec![
            format!("-n {hub} link add name bridge type bridge"),
            format!("-n {hub} addr add 10.77.0.1/24 dev bridge"),
            format!("-n {hub} link set bridge up"),
            format!("-n {hub} link set lo up"),
        ];
        for worker in 1..=3 {
            let own = network.namespace(&worker.to_string());
            commands.extend([
                format!("netns add {own}"),
                format!("-n {hub} link add port{worker} type veth peer name cable netns {own}"),
                format!("-n {hub} link set port{worker} master bridge"),
                format!("-n {hub} link set port{worker} up"),
                format!("-n {own} addr add 10.77.0.{}/24 dev cable", 10 + worker),
                format!("-n {own} link set cable up"),
            ]);
        }
        if let Some(failed) = commands.iter().find(|command| !ip(command)) {
            skip(test, format_args!("ip {failed} fails here"));
            return None;
        }
        Some(network)
    }

    fn namespace(&self, name: &str) -> String {
        format!("crownhead-{}-{name}", self.id)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the program in a namespace.
    fn spawn(&self, namespace: &str, arguments: &[&str]) -> Running {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace(namespace)]);
        command.arg(env!("CARGO_BIN_EXE_crownhead")).args(arguments);
        command.current_dir(self.folder.path()).env("CROWNHEAD_DATA", self.path("data"));
        let log =
            fs::File::create(self.path(&format!("{namespace}-{}.log", arguments[0]))).unwrap();
        Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in ["hub", "1", "2", "3"] {
            ip(&format!("netns del {}", self.namespace(name)));
        }
    }
}

#[test]
fn worker_that_is_cut_off_and_reconnected_changes_no_result() {
    let test = "worker_that_is_cut_off_and_reconnected_changes_no_result";
    let Some(network) = Network::create(test) else { return };
    let local = network.path("local");
    write_tournament(&local, 12);
    let run = ["tournament", "run", "class.toml"];
    assert_eq!(finish(command(&run).current_dir(&local)).code, Some(0));
    write_tournament(&network.path(""), 12);
    let up = ["fleet", "up", "--host", "10.77.0.1", "--workers", "3", "--data", "fleet"];
    let _server = Stopped(network.spawn("hub", &up));
    while !fs::read_to_string(network.path("hub-fleet.log")).unwrap().contains("with TLS") {
        std::thread::sleep(Duration::from_millis(20));
    }
    let credentials = "--credentials";
    let mut coordinator = network
        .spawn("hub", &[&run[..], &["--fleet", credentials, "fleet/coordinator.json"]].concat());
    let mut workers = ["1", "2", "3"].map(|worker| {
        let file = format!("fleet/workers/worker-{worker}.json");
        network.spawn(worker, &["worker", "--concurrency", "1", credentials, &file])
    });
    let journal = network.path("class.journal");
    let wait_for_games = |games| {
        while finished_games(&journal) < games {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_for_games(6);
    let hub = network.namespace("hub");
    assert!(ip(&format!("-n {hub} link set port1 down")));
    wait_for_games(36);
    assert!(ip(&format!("-n {hub} link set port1 up")));
    assert_eq!(coordinator.wait(), Some(0));
    assert_eq!(finished_games(&journal), 72);
    assert_eq!(tables(&network.path("")), tables(&local));
    for worker in &mut workers {
        worker.signal("-TERM");
        assert_eq!(worker.wait(), Some(0));
    }
}
