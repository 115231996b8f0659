//! Detects what changed since a tournament last ran: the tournament file or the bots.
//!
//! Some changes affect no finished game: concurrency, points, tie-breaks, the number of rounds, a
//! new player in a round robin. Others do, and the organiser decides whether those games are kept
//! or replayed. The pairings of Swiss tournaments, knockouts and ladders depend on results, so
//! their games can be kept but not replayed, and a change of the pairings needs a new journal.

use std::collections::{HashMap, HashSet};

use crate::journal::{Game, Journal, JournalError, JournalUpdate, Player, Snapshot};
use crate::schedule::{NextRound, PlayerIndex, pair_key, scheduler};
use crate::{Entrant, Schedule, Tournament};

/// A change since the last run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Description of the change.
    pub message: String,
    affects: AffectedGames,
    /// Why affected games cannot be kept, if so.
    pub must_replay_because: Option<&'static str>,
}

/// Games affected by a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AffectedGames {
    None,
    All,
    /// Games of this player.
    Player(PlayerIndex),
    /// Games that a fixed schedule does not contain any more.
    Excess,
}

/// All changes since the last run.
#[derive(Clone, Debug)]
pub struct ResumePlan {
    /// Changes, in the order of the file, players last.
    pub changes: Vec<Change>,
    /// Entrant of each player in the journal.
    players: Vec<Option<usize>>,
    /// Entrants that are not in the journal.
    new_players: Vec<usize>,
    /// Finished games that a fixed schedule does not contain any more.
    excess: HashSet<i64>,
    is_fixed: bool,
}

/// What to do with finished games that a change affects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FinishedGames {
    /// Keep their results.
    Keep,
    /// Void and replay them.
    Replay,
}

/// Compares a tournament with its journal.
pub fn compare(tournament: &Tournament, snapshot: &Snapshot) -> ResumePlan {
    let is_fixed = tournament.schedule.is_fixed() && snapshot.settings.schedule.is_fixed();
    let mut changes = changed_settings(tournament, snapshot, is_fixed);
    let membership_change = |message: String, affects: AffectedGames| match is_fixed {
        true => Change { message, affects, must_replay_because: None },
        false => Change {
            message,
            affects: AffectedGames::All,
            must_replay_because: Some("the pairings depend on who takes part"),
        },
    };
    let place = |name: &str| tournament.entrants.iter().position(|entrant| entrant.name == name);
    let players: Vec<_> = snapshot.players.iter().map(|player| place(&player.name)).collect();
    for (index, player) in snapshot.players.iter().enumerate() {
        let Some(entrant) = players[index].map(|place| &tournament.entrants[place]) else {
            if player.place.is_some() {
                let message = format!("{} has left", player.name);
                changes.push(membership_change(message, AffectedGames::Player(index)));
            }
            continue;
        };
        if player.place.is_none() {
            let message = format!("{} has returned", player.name);
            changes.push(membership_change(message, AffectedGames::None));
        }
        if let Some(message) = changed_player(entrant, player) {
            let affects = AffectedGames::Player(index);
            changes.push(Change { message, affects, must_replay_because: None });
        }
    }
    let is_new = |name: &str| snapshot.players.iter().all(|player| player.name != name);
    let new_players: Vec<usize> = (0..tournament.entrants.len())
        .filter(|&entrant| is_new(&tournament.entrants[entrant].name))
        .collect();
    for &entrant in &new_players {
        let message = format!("{} has joined", tournament.entrants[entrant].name);
        changes.push(membership_change(message, AffectedGames::None));
    }
    let mut plan = ResumePlan { changes, players, new_players, excess: HashSet::new(), is_fixed };
    let excess = plan.excess_games(tournament, snapshot, FinishedGames::Replay).into_iter();
    plan.excess = excess.filter(|game| game.summary.is_some()).map(|game| game.number).collect();
    plan
}

/// Returns the changed settings that game results depend on.
fn changed_settings(tournament: &Tournament, snapshot: &Snapshot, is_fixed: bool) -> Vec<Change> {
    let is_swiss = matches!(tournament.schedule, Schedule::Swiss { .. });
    let mut changes = Vec::new();
    for (key, value) in tournament.result_settings() {
        let Some(before) = snapshot.result_settings.get(key).filter(|before| **before != value)
        else {
            continue;
        };
        let affects = match key {
            "games" | "schedule" if is_fixed => AffectedGames::Excess,
            _ => AffectedGames::All,
        };
        let must_replay_because = match key {
            "game" => Some("a journal holds games of one kind"),
            "schedule" if !is_fixed => Some("the rounds of one schedule do not fit another"),
            "tie-replays" => Some("it decides who advances"),
            "games" if !is_fixed => Some("all pairings need the same number of games"),
            // In a Swiss tournament the seeding only separates players with equal points.
            "order of players" if !is_swiss => Some("the pairings depend on the seeding"),
            _ => None,
        };
        let message = format!("{key} was {before}, is now {value}");
        changes.push(Change { message, affects, must_replay_because });
    }
    changes
}

/// Describes how a player differs from the journal; `None` if it does not.
fn changed_player(entrant: &Entrant, player: &Player) -> Option<String> {
    let (name, description) = (&player.name, entrant.description());
    if description != player.text {
        return Some(format!("{name} was {}, is now {description}", player.text));
    }
    match entrant.files().diff(&player.files).as_slice() {
        [] => None,
        [change] => Some(format!("{name}: {change}")),
        [change, rest @ ..] => Some(format!("{name}: {change}, and {} more", rest.len())),
    }
}

impl ResumePlan {
    /// Returns whether games can be replayed: not if later pairings depend on their results.
    pub fn can_replay(&self) -> bool {
        self.is_fixed
    }

    /// Returns why the affected games cannot be kept, if so.
    pub fn must_replay_because(&self) -> Option<&'static str> {
        self.changes.iter().find_map(|change| change.must_replay_because)
    }

    fn is_affected(&self, game: &Game, change: &Change) -> bool {
        match change.affects {
            AffectedGames::None => false,
            AffectedGames::All => true,
            AffectedGames::Player(player) => game.players.contains(&player),
            AffectedGames::Excess => self.excess.contains(&game.number),
        }
    }

    /// Returns the finished games that a change affects.
    pub fn affected_games<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a Game> {
        let is_affected =
            |game: &&Game| self.changes.iter().any(|change| self.is_affected(game, change));
        snapshot.finished().map(|(game, _)| game).filter(is_affected).collect()
    }

    /// Returns why a game is voided.
    fn void_reason(&self, game: &Game) -> String {
        let changes = self.changes.iter().filter(|change| self.is_affected(game, change));
        let messages: Vec<_> = changes.map(|change| change.message.as_str()).collect();
        if messages.is_empty() { "requested".into() } else { messages.join("; ") }
    }

    /// Stores all changes in the journal. Games of `replay_players` are replayed in any case.
    /// Returns the number of finished games that were voided.
    pub fn apply(
        &self,
        journal: &mut Journal,
        tournament: &Tournament,
        text: &str,
        finished_games: FinishedGames,
        replay_players: &[PlayerIndex],
    ) -> Result<usize, JournalError> {
        let snapshot = journal.snapshot()?;
        let is_replay = finished_games == FinishedGames::Replay;
        let mut voided: HashSet<i64> = HashSet::new();
        if is_replay {
            voided.extend(self.affected_games(&snapshot).iter().map(|game| game.number));
        }
        let is_requested =
            |game: &Game| game.players.iter().any(|player| replay_players.contains(player));
        let requested = snapshot.finished().filter(|(game, _)| is_requested(game));
        voided.extend(requested.map(|(game, _)| game.number));
        let affects_all = |change: &Change| change.affects == AffectedGames::All;
        let starts_over = self.must_replay_because().is_some()
            || is_replay && self.changes.iter().any(affects_all);
        let dropped: HashSet<i64> = if starts_over {
            snapshot.games.iter().map(|game| game.number).collect()
        } else {
            let excess = self.excess_games(tournament, &snapshot, finished_games).into_iter();
            let is_unwanted =
                |game: &&Game| game.summary.is_none() || voided.contains(&game.number);
            excess.filter(is_unwanted).map(|game| game.number).collect()
        };
        let with_reason = |game: &Game| (game.number, self.void_reason(game));
        let (to_drop, others): (Vec<&Game>, Vec<&Game>) =
            snapshot.games.iter().partition(|game| dropped.contains(&game.number));
        let to_replay = others.into_iter().filter(|game| voided.contains(&game.number));
        let to_replay: Vec<_> = to_replay.map(with_reason).collect();
        let dropped_results = to_drop.iter().filter(|game| game.summary.is_some()).count();
        journal.update(&JournalUpdate {
            tournament,
            text,
            players: &self.players,
            new_players: &self.new_players,
            to_replay: &to_replay,
            to_drop: &to_drop.into_iter().map(with_reason).collect::<Vec<_>>(),
            drop_rounds: starts_over,
        })?;
        Ok(to_replay.len() + dropped_results)
    }

    /// Returns the games that a fixed schedule does not contain any more: the last ones of each
    /// pair, or the last unfinished ones if results are kept.
    fn excess_games<'a>(
        &self,
        tournament: &Tournament,
        snapshot: &'a Snapshot,
        finished_games: FinishedGames,
    ) -> Vec<&'a Game> {
        if !self.is_fixed {
            return Vec::new();
        }
        let mut names = snapshot.names();
        let mut active: Vec<PlayerIndex> =
            (0..names.len()).filter(|&player| self.players[player].is_some()).collect();
        for &entrant in &self.new_players {
            active.push(names.len());
            names.push(tournament.entrants[entrant].name.clone());
        }
        let mut remaining: HashMap<[PlayerIndex; 2], u32> = HashMap::new();
        let mut scheduler = scheduler(&tournament.settings(), &names, &active);
        while let NextRound::Round(round) = scheduler.next() {
            scheduler.on_scheduled(&round);
            for pair in round.pairs {
                *remaining.entry(pair_key(pair)).or_default() += tournament.games;
            }
        }
        let keeps_result =
            |game: &Game| finished_games == FinishedGames::Keep && game.summary.is_some();
        let mut games: Vec<&Game> = snapshot.games.iter().collect();
        games.sort_by_key(|game| (!keeps_result(game), game.number));
        let is_excess = |game: &&Game| match remaining.get_mut(&pair_key(game.players)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => !keeps_result(game),
        };
        games.into_iter().filter(is_excess).collect()
    }
}
