//! What is other in a contest that is taken up again: its file, or the bots themselves.
//!
//! Some changes concern nobody: how many games are played at once, points and tie-breaks, more rounds, or
//! one more player in a round robin. Others concern games that are finished, which would have gone
//! otherwise now: whether those are kept or played again is for the organiser to say.

use std::collections::HashMap;

use crate::journal::{Change, Game, Journal, JournalError, Snapshot};
use crate::schedule::{Next, PlayerIndex, director};
use crate::{Contest, Files};

/// Something that is other than it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// What, in a sentence.
    pub what: String,
    concerns: Concern,
    /// Why games cannot be kept after it, if that is so.
    pub forbids_keeping: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Concern {
    Nobody,
    All,
    Player(PlayerIndex),
}

/// All differences.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// In the order of the file, players last.
    pub differences: Vec<Difference>,
    /// The entrants of the journal's players.
    players: Vec<Option<usize>>,
    /// Entrants whom the journal does not know.
    new: Vec<usize>,
}

/// What shall become of finished games that a change concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// They count as they are.
    Keep,
    /// They are played again.
    Replay,
}

/// Compares a contest with its journal.
pub fn compare(contest: &Contest, snapshot: &Snapshot) -> Comparison {
    let mut differences = Vec::new();
    let both_fixed = contest.schedule.is_fixed() && snapshot.settings.schedule.is_fixed();
    for (key, now) in contest.facts() {
        let Some(before) = snapshot.facts.get(key).filter(|before| **before != now) else {
            continue;
        };
        let concerns = match key {
            "games" | "schedule" if both_fixed => Concern::Nobody,
            _ => Concern::All,
        };
        let forbids_keeping = match key {
            "game" => Some("a journal holds games of one kind".to_string()),
            "schedule" if !both_fixed => {
                Some("its rounds cannot be made rounds of another schedule".to_string())
            }
            _ => None,
        };
        let what = format!("{key} was {before}, and is {now}");
        differences.push(Difference { what, concerns, forbids_keeping });
    }
    let place = |name: &str| contest.entrants.iter().position(|entrant| entrant.name == name);
    let players: Vec<_> = snapshot.players.iter().map(|player| place(&player.name)).collect();
    let missing = "in this schedule the pairs depend on everybody who takes part";
    for (index, player) in snapshot.players.iter().enumerate() {
        let Some(entrant) = players[index].map(|place| &contest.entrants[place]) else {
            if player.is_present {
                let forbids_keeping = (!both_fixed).then(|| missing.to_string());
                let what = format!("{} does not take part any more", player.name);
                differences.push(Difference {
                    what,
                    concerns: Concern::Player(index),
                    forbids_keeping,
                });
            }
            continue;
        };
        let now = entrant.described();
        let files = entrant.player.as_ref().map(Files::of).unwrap_or_default();
        let what = if now != player.text {
            format!("{} was {}, and is {now}", player.name, player.text)
        } else {
            match files.changes_since(&player.files).as_slice() {
                [] => continue,
                [one] => format!("{}: {one}", player.name),
                [one, rest @ ..] => format!("{}: {one}, and {} more", player.name, rest.len()),
            }
        };
        let concerns = Concern::Player(index);
        differences.push(Difference { what, concerns, forbids_keeping: None });
    }
    let is_known = |name: &str| snapshot.players.iter().any(|player| player.name == name);
    let new: Vec<usize> = (0..contest.entrants.len())
        .filter(|&entrant| !is_known(&contest.entrants[entrant].name))
        .collect();
    for entrant in new.iter().map(|&entrant| &contest.entrants[entrant]) {
        let (concerns, forbids_keeping) = match both_fixed {
            true => (Concern::Nobody, None),
            false => (Concern::All, Some(missing.to_string())),
        };
        let what = format!("{} is new", entrant.name);
        differences.push(Difference { what, concerns, forbids_keeping });
    }
    Comparison { differences, players, new }
}

impl Comparison {
    /// The finished games that are concerned.
    pub fn concerned<'a>(&self, snapshot: &'a Snapshot) -> Vec<&'a Game> {
        let is_concerned = |game: &Game| {
            self.differences.iter().any(|difference| match difference.concerns {
                Concern::Nobody => false,
                Concern::All => true,
                Concern::Player(player) => game.players.contains(&player),
            })
        };
        snapshot.finished().map(|(game, _)| game).filter(|game| is_concerned(game)).collect()
    }

    /// Takes all changes over. Games of the players `again` are played again whatever was chosen. The
    /// number of games that do not count any more.
    pub fn apply(
        &self,
        journal: &mut Journal,
        contest: &Contest,
        text: &str,
        choice: Choice,
        again: &[PlayerIndex],
    ) -> Result<usize, JournalError> {
        let snapshot = journal.snapshot()?;
        let mut void: Vec<&Game> = match choice {
            Choice::Keep => Vec::new(),
            Choice::Replay => self.concerned(&snapshot),
        };
        let of_again = snapshot.finished().map(|(game, _)| game);
        void.extend(of_again.filter(|game| game.players.iter().any(|p| again.contains(p))));
        void.sort_by_key(|game| game.number);
        void.dedup_by_key(|game| game.number);
        let mut drop = Vec::new();
        let mut drop_rounds_from = None;
        if contest.schedule.is_fixed() && snapshot.settings.schedule.is_fixed() {
            let extra = self.extra(contest, &snapshot);
            drop = extra
                .into_iter()
                .filter(|game| game.end.is_none() || choice == Choice::Replay)
                .map(|game| game.number)
                .collect();
        } else {
            // Who meets whom afterwards depends on these games; on the players everything does.
            let is_other = self.differences.iter().any(|other| other.forbids_keeping.is_some());
            let is_all = self.differences.iter().any(|other| other.concerns == Concern::All);
            drop_rounds_from = match is_other || is_all && choice == Choice::Replay {
                true => Some(1),
                false => void.first().map(|first| first.round + 1),
            };
        }
        let is_dropped = |game: &Game| {
            drop.contains(&game.number)
                || drop_rounds_from.is_some_and(|round: u32| game.round >= round)
        };
        let finished_dropped = snapshot.finished().filter(|(game, _)| is_dropped(game)).count();
        let void: Vec<i64> =
            void.into_iter().filter(|game| !is_dropped(game)).map(|game| game.number).collect();
        let why = match self.differences.first() {
            Some(difference) => difference.what.as_str(),
            None => "played again by request",
        };
        journal.change(&Change {
            contest,
            text,
            players: &self.players,
            new: &self.new,
            void: &void,
            drop_rounds_from,
            drop: &drop,
            why,
        })?;
        Ok(void.len() + finished_dropped)
    }

    /// Games that a fixed schedule has no room for any more; unfinished ones first.
    fn extra<'a>(&self, contest: &Contest, snapshot: &'a Snapshot) -> Vec<&'a Game> {
        let mut names = snapshot.names();
        let mut present: Vec<PlayerIndex> =
            (0..names.len()).filter(|&player| self.players[player].is_some()).collect();
        for entrant in &self.new {
            present.push(names.len());
            names.push(contest.entrants[*entrant].name.clone());
        }
        let mut wanted: HashMap<[PlayerIndex; 2], u32> = HashMap::new();
        let mut director = director(&contest.settings(), &names, &present);
        while let Next::Round(round) = director.next() {
            director.issued(&round);
            for [one, other] in round.pairs {
                *wanted.entry([one.min(other), one.max(other)]).or_default() += contest.games;
            }
        }
        let mut games: Vec<&Game> = snapshot.games.iter().collect();
        games.sort_by_key(|game| (game.end.is_none(), game.number));
        let mut extra = Vec::new();
        for game in games {
            let [one, other] = game.players;
            match wanted.get_mut(&[one.min(other), one.max(other)]) {
                Some(left) if *left > 0 => *left -= 1,
                _ => extra.push(game),
            }
        }
        extra
    }
}
