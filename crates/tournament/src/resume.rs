//! What is other in a tournament that is taken up again: its file, or the bots themselves.
//!
//! Some changes concern nobody: how many games are played at once, points and tie-breaks, more rounds, or
//! one more player in a round robin. Others concern games that are finished, which would have gone
//! otherwise now: whether those are kept or played again is for the organiser to say.

use std::collections::{HashMap, HashSet};

use crate::journal::{Game, Journal, JournalError, JournalUpdate, Snapshot};
use crate::schedule::{NextRound, PlayerIndex, scheduler};
use crate::{Schedule, Tournament};

/// Something that is other than it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// What, in a sentence.
    pub message: String,
    affects: AffectedGames,
    /// Why games cannot be kept after it, if that is so.
    pub must_replay_because: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AffectedGames {
    Nobody,
    All,
    Player(PlayerIndex),
    /// Games that a fixed schedule has no room for any more.
    Extra,
    /// The rounds from this one on.
    Rounds(u32),
}

/// All differences.
#[derive(Clone, Debug)]
pub struct ResumePlan {
    /// In the order of the file, players last.
    pub changes: Vec<Change>,
    /// The entrants of the journal's players.
    players: Vec<Option<usize>>,
    /// Entrants whom the journal does not know.
    new: Vec<usize>,
    /// Numbers of finished games that a fixed schedule has no room for any more.
    extra: HashSet<i64>,
}

/// What shall become of finished games that a change affects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FinishedGames {
    /// They count as they are.
    Keep,
    /// They are played again.
    Replay,
}

/// Compares a tournament with its journal.
pub fn compare(tournament: &Tournament, snapshot: &Snapshot) -> ResumePlan {
    let mut differences = Vec::new();
    let both_fixed = tournament.schedule.is_fixed() && snapshot.settings.schedule.is_fixed();
    for (key, now) in tournament.result_settings() {
        let Some(before) = snapshot.result_settings.get(key).filter(|before| **before != now)
        else {
            continue;
        };
        let affects = match key {
            "games" | "schedule" if both_fixed => AffectedGames::Extra,
            _ => AffectedGames::All,
        };
        let must_replay_because = match key {
            "game" => Some("a journal holds games of one kind".to_string()),
            "schedule" if !both_fixed => {
                Some("its rounds cannot be made rounds of another schedule".to_string())
            }
            "replays" => Some("who goes on after a tie depends on it".to_string()),
            "games" if !both_fixed => {
                Some("in this schedule all rounds have as many games for each pair".to_string())
            }
            // In a Swiss tournament it only decides between those who are equal.
            "order of players" if !matches!(tournament.schedule, Schedule::Swiss { .. }) => {
                Some("in this schedule the pairs depend on it".to_string())
            }
            _ => None,
        };
        let message = format!("{key} was {before}, and is {now}");
        differences.push(Change { message, affects, must_replay_because });
    }
    differences.extend(fewer_rounds(tournament, snapshot));
    let place = |name: &str| tournament.entrants.iter().position(|entrant| entrant.name == name);
    let players: Vec<_> = snapshot.players.iter().map(|player| place(&player.name)).collect();
    let missing = "in this schedule the pairs depend on everybody who takes part";
    // Whoever comes is no matter of others in a fixed schedule.
    let comes = |message: String| match both_fixed {
        true => Change { message, affects: AffectedGames::Nobody, must_replay_because: None },
        false => Change {
            message,
            affects: AffectedGames::All,
            must_replay_because: Some(missing.to_string()),
        },
    };
    for (index, player) in snapshot.players.iter().enumerate() {
        let Some(entrant) = players[index].map(|place| &tournament.entrants[place]) else {
            if player.place.is_some() {
                let must_replay_because = (!both_fixed).then(|| missing.to_string());
                let message = format!("{} does not take part any more", player.name);
                differences.push(Change {
                    message,
                    affects: AffectedGames::Player(index),
                    must_replay_because,
                });
            }
            continue;
        };
        if player.place.is_none() {
            differences.push(comes(format!("{} takes part again", player.name)));
        }
        let now = entrant.description();
        let files = entrant.files();
        let message = if now != player.text {
            format!("{} was {}, and is {now}", player.name, player.text)
        } else {
            match files.diff(&player.files).as_slice() {
                [] => continue,
                [one] => format!("{}: {one}", player.name),
                [one, rest @ ..] => format!("{}: {one}, and {} more", player.name, rest.len()),
            }
        };
        let affects = AffectedGames::Player(index);
        differences.push(Change { message, affects, must_replay_because: None });
    }
    let is_known = |name: &str| snapshot.players.iter().any(|player| player.name == name);
    let new: Vec<usize> = (0..tournament.entrants.len())
        .filter(|&entrant| !is_known(&tournament.entrants[entrant].name))
        .collect();
    for entrant in new.iter().map(|&entrant| &tournament.entrants[entrant]) {
        differences.push(comes(format!("{} is new", entrant.name)));
    }
    let mut comparison = ResumePlan { changes: differences, players, new, extra: HashSet::new() };
    if both_fixed {
        let extra = comparison.extra(tournament, snapshot, FinishedGames::Replay).into_iter();
        comparison.extra =
            extra.filter(|game| game.end.is_some()).map(|game| game.number).collect();
    }
    comparison
}

/// Rounds that were played and are not wanted any more. More of them are no change.
fn fewer_rounds(tournament: &Tournament, snapshot: &Snapshot) -> Option<Change> {
    let (rounds, before) = match (&tournament.schedule, &snapshot.settings.schedule) {
        (Schedule::Swiss { rounds }, Schedule::Swiss { rounds: before }) => {
            (*rounds, Some(*before))
        }
        (Schedule::Ladder { rounds: Some(rounds) }, Schedule::Ladder { rounds: before }) => {
            (*rounds, *before)
        }
        _ => return None,
    };
    if before == Some(rounds) || snapshot.rounds.len() <= rounds as usize {
        return None;
    }
    let before = before.map_or("not said".into(), |before| before.to_string());
    let message = format!("rounds was {before}, and is {rounds}");
    Some(Change { message, affects: AffectedGames::Rounds(rounds + 1), must_replay_because: None })
}

impl ResumePlan {
    fn affects(&self, difference: &Change, game: &Game) -> bool {
        match difference.affects {
            AffectedGames::Nobody => false,
            AffectedGames::All => true,
            AffectedGames::Player(player) => game.players.contains(&player),
            AffectedGames::Extra => self.extra.contains(&game.number),
            AffectedGames::Rounds(from) => game.round >= from,
        }
    }

    /// The finished games that are concerned.
    pub fn affected_games<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a Game> {
        let is_concerned =
            |game: &Game| self.changes.iter().any(|difference| self.affects(difference, game));
        snapshot.finished().map(|(game, _)| game).filter(|game| is_concerned(game)).collect()
    }

    /// Everything that makes a difference to a game.
    fn why(&self, game: &Game) -> String {
        let concerning = self.changes.iter().filter(|other| self.affects(other, game));
        let whats: Vec<_> = concerning.map(|difference| difference.message.as_str()).collect();
        match whats.is_empty() {
            true => "by request, or since an earlier game is played again".into(),
            false => whats.join("; "),
        }
    }

    /// Takes all changes over. Games of the players `again` are played again whatever was chosen. The
    /// number of games that do not count any more.
    pub fn apply(
        &self,
        journal: &mut Journal,
        tournament: &Tournament,
        text: &str,
        choice: FinishedGames,
        again: &[PlayerIndex],
    ) -> Result<usize, JournalError> {
        let snapshot = journal.snapshot()?;
        let mut void: Vec<&Game> = match choice {
            FinishedGames::Keep => Vec::new(),
            FinishedGames::Replay => self.affected_games(&snapshot),
        };
        let of_again = snapshot.finished().map(|(game, _)| game);
        void.extend(of_again.filter(|game| game.players.iter().any(|p| again.contains(p))));
        void.sort_by_key(|game| game.number);
        void.dedup_by_key(|game| game.number);
        let is_fixed = tournament.schedule.is_fixed() && snapshot.settings.schedule.is_fixed();
        let is_other = self.changes.iter().any(|other| other.must_replay_because.is_some());
        let is_all = self.changes.iter().any(|other| other.affects == AffectedGames::All);
        let fewer = self.changes.iter().find_map(|other| match other.affects {
            AffectedGames::Rounds(from) => Some(from),
            _ => None,
        });
        let drop_rounds_from =
            match (is_other || is_all && choice == FinishedGames::Replay, is_fixed) {
                // Everything is dealt anew, as in a tournament that begins.
                (true, _) => Some(1),
                (false, true) => None,
                // Who meets whom afterwards depends on these games.
                (false, false) => {
                    let later = void.first().map(|first| first.round + 1);
                    let fewer = fewer.filter(|_| choice == FinishedGames::Replay);
                    later.into_iter().chain(fewer).min()
                }
            };
        let mut dropped: HashSet<i64> = HashSet::new();
        if is_fixed {
            let extra = self.extra(tournament, &snapshot, choice).into_iter();
            let numbers: HashSet<i64> = void.iter().map(|game| game.number).collect();
            let is_void = |game: &Game| numbers.contains(&game.number);
            let extra = extra.filter(|game| game.end.is_none() || is_void(game));
            dropped.extend(extra.map(|game| game.number));
        }
        let is_dropped = |game: &Game| {
            dropped.contains(&game.number)
                || drop_rounds_from.is_some_and(|round: u32| game.round >= round)
        };
        let told = |game: &Game| (game.number, self.why(game));
        let drop: Vec<_> =
            snapshot.games.iter().filter(|game| is_dropped(game)).map(told).collect();
        let again: Vec<_> = void.into_iter().filter(|game| !is_dropped(game)).map(told).collect();
        let finished_dropped = snapshot.finished().filter(|(game, _)| is_dropped(game)).count();
        journal.update(&JournalUpdate {
            tournament,
            text,
            players: &self.players,
            new: &self.new,
            to_replay: &again,
            to_drop: &drop,
            drop_rounds_from,
        })?;
        Ok(again.len() + finished_dropped)
    }

    /// Games that a fixed schedule has no room for any more: the last of each pair, or of those that are
    /// not finished if the others shall be kept.
    fn extra<'a>(
        &self,
        tournament: &Tournament,
        snapshot: &'a Snapshot,
        choice: FinishedGames,
    ) -> Vec<&'a Game> {
        let mut names = snapshot.names();
        let mut present: Vec<PlayerIndex> =
            (0..names.len()).filter(|&player| self.players[player].is_some()).collect();
        for entrant in &self.new {
            present.push(names.len());
            names.push(tournament.entrants[*entrant].name.clone());
        }
        let mut wanted: HashMap<[PlayerIndex; 2], u32> = HashMap::new();
        let mut scheduler = scheduler(&tournament.settings(), &names, &present);
        while let NextRound::Round(round) = scheduler.next() {
            scheduler.on_scheduled(&round);
            for [one, other] in round.pairs {
                *wanted.entry([one.min(other), one.max(other)]).or_default() += tournament.games;
            }
        }
        let mut games: Vec<&Game> = snapshot.games.iter().collect();
        let is_kept = |game: &Game| choice == FinishedGames::Keep && game.end.is_some();
        games.sort_by_key(|game| (!is_kept(game), game.number));
        let mut extra = Vec::new();
        for game in games {
            let [one, other] = game.players;
            match wanted.get_mut(&[one.min(other), one.max(other)]) {
                Some(left) if *left > 0 => *left -= 1,
                _ if is_kept(game) => {}
                _ => extra.push(game),
            }
        }
        extra
    }
}
