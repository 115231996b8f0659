//! Workers, coordinators and servers that are killed.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::cli::{command, finish};
use crate::harness::{Running, TestFleet, tables, write_tournament};

/// Number of kills; the environment variable asks for more.
fn kills() -> u32 {
    std::env::var("CROWNHEAD_FLEET_KILLS").map_or(6, |text| text.parse().unwrap())
}

/// Number of finished games in a journal.
pub(crate) fn finished_games(journal: &Path) -> u32 {
    let Ok(connection) = Connection::open_with_flags(journal, OpenFlags::SQLITE_OPEN_READ_WRITE)
    else {
        return 0;
    };
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    let sql = "SELECT count(*) FROM games WHERE finished IS NOT NULL";
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or(0)
}

fn coordinator(fleet: &TestFleet, verb: &str) -> Running {
    fleet.spawn(&["tournament", verb, "class.toml", "--fleet"], "coordinator.log")
}

#[test]
fn killed_workers_coordinators_and_servers_lose_and_repeat_no_game() {
    let Some(mut fleet) = TestFleet::start("killed_workers_coordinators_and_servers") else {
        return;
    };
    fleet.deliver_again_after_a_second();
    let kills = kills();
    // Six pairings; a few games between two kills.
    let games = 2 * kills.max(6);
    let local = fleet.path("local");
    write_tournament(&local, games);
    let run = ["tournament", "run", "class.toml"];
    assert_eq!(finish(command(&run).current_dir(&local)).code, Some(0));
    write_tournament(&fleet.path(""), games);
    let seed = std::env::var("CROWNHEAD_FLEET_SEED").map_or(1, |text| text.parse().unwrap());
    let mut rng = fastrand::Rng::with_seed(seed);
    let journal = fleet.path("class.journal");
    let mut workers = ["ada", "bob", "cyd"].map(|name| (name, fleet.worker(name)));
    let mut main = coordinator(&fleet, "run");
    for kill in 1..=kills {
        // All kinds of processes, then at random.
        let victim = if kill <= 3 { kill } else { rng.u32(0..4) };
        while finished_games(&journal) < kill * 6 * games / (kills + 2) {
            std::thread::sleep(Duration::from_millis(20));
            if main.0.try_wait().unwrap().is_some() {
                main = resume(&fleet);
            }
        }
        match victim {
            1 => {
                drop(main);
                main = coordinator(&fleet, "resume");
            }
            2 => {
                fleet.kill_server();
                fleet.start_server();
            }
            _ => {
                let (name, worker) = &mut workers[rng.usize(0..3)];
                worker.0.kill().unwrap();
                *worker = fleet.worker(name);
            }
        }
    }
    while main.wait() != Some(0) {
        main = resume(&fleet);
    }
    assert_eq!(finished_games(&journal), 6 * games);
    assert_eq!(tables(&fleet.path("")), tables(&local));
    let games = Connection::open(&journal).unwrap();
    let voided: u32 = games.query_row("SELECT count(*) FROM voided", [], |row| row.get(0)).unwrap();
    assert_eq!(voided, 0);
}

/// Resumes a tournament whose coordinator has ended, because a job was killed five times or because
/// the server was away.
fn resume(fleet: &TestFleet) -> Running {
    assert_eq!(fleet.crownhead(&["fleet", "dead", "--retry"]).code, Some(0));
    coordinator(fleet, "resume")
}
