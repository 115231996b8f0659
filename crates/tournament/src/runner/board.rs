//! One game of a contest, from the two players' arrival to the record of it.

use crownhead_bots::log::file_name;
use crownhead_play::referee::{self, PlayedGame};
use crownhead_play::{End, GameSetup, OpeningPicker, Player, PlayerError, StopFlag, derive_seed};
use crownhead_rules::Side;

use super::pool::Pool;
use crate::journal::{Fault, Game, Pen, Record, Text, now};
use crate::schedule::PlayerIndex;
use crate::{Contest, Entrant};

pub(super) struct Board<'a> {
    pub(super) contest: &'a Contest,
    pub(super) openings: &'a OpeningPicker<'a>,
    pub(super) pool: &'a Pool<'a>,
    pub(super) entrants: &'a [Option<&'a Entrant>],
    /// The number of the walls around programs.
    pub(super) walls: Option<i64>,
    pub(super) stop: &'a StopFlag,
}

impl Board<'_> {
    /// Plays a game and hands its record over. A game that is stopped leaves none.
    pub(super) fn play(&self, game: &Game, number: usize, pen: &Pen) -> Result<(), PlayerError> {
        let Board { contest, pool, stop, .. } = self;
        let mut players = Vec::with_capacity(2);
        for player in game.players {
            match pool.take(player, stop) {
                Ok(player) => players.push(player),
                Err(PlayerError::Stopped) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        let Ok([mut first, mut second]) = <[_; 2]>::try_from(players) else { return Ok(()) };
        let opening = self.openings.opening(game.opening);
        let names = game.players.map(|player| {
            self.entrants.get(player).copied().flatten().map_or("", |entrant| entrant.name.as_str())
        });
        let seeds = seeds(contest.seed, names, game.meeting);
        let log = |side: Side| {
            let folder = contest.log.as_ref()?;
            let number = game.number.unsigned_abs();
            Some(folder.join(file_name(&contest.game, number, side, names[side.index()])))
        };
        let setup = GameSetup {
            game: &contest.game,
            settings: &contest.terms,
            opening: &opening,
            names,
            seeds: [seeds[0], seeds[1]],
            referee_seed: seeds[2],
            logs: [log(Side::First), log(Side::Second)],
        };
        let started = now();
        pen.started(game.number, started);
        pen.board(number).begin(game.number, opening.start.clone(), &opening.moves);
        let players: [&mut dyn Player; 2] = [first.as_mut(), second.as_mut()];
        let refereed = referee::play_game(&setup, players, stop, &mut |text, time| {
            pen.board(number).add(text, time);
        });
        let text = pen.board(number).end();
        if let Some(refereed) = refereed? {
            pen.finished(self.record(game, refereed, text, started));
            pool.give(game.players[0], first);
            pool.give(game.players[1], second);
        }
        Ok(())
    }

    fn record(&self, game: &Game, refereed: PlayedGame, moves: Text, started: i64) -> Record {
        let score = refereed.end.score();
        let forfeit = match &refereed.end {
            End::Forfeited(incident) => Some(incident.side.index()),
            _ => None,
        };
        let fault = |incident: &crownhead_play::Incident| Fault {
            side: incident.side.index(),
            ply: incident.ply as u32,
            code: incident.fault.kind.code().into(),
            sentence: incident.describe(&self.contest.game),
        };
        let is_program = |player: PlayerIndex| {
            let entrant = self.entrants.get(player).copied().flatten();
            let player = entrant.and_then(|entrant| entrant.player.as_ref().ok());
            player.is_some_and(|player| player.program().is_some())
        };
        Record {
            number: game.number,
            times: [started, now().max(started)],
            winner: refereed.end.winner().map(Side::index),
            reason: refereed.end.code().into(),
            forfeit,
            score: score.map(|(first, second)| [first.into(), second.into()]),
            faults: refereed.faults,
            slowest: refereed.slowest_move,
            plies: refereed.moves.len() as u32,
            walls: self.walls.filter(|_| game.players.into_iter().any(is_program)),
            moves,
            incidents: refereed.incidents.iter().map(fault).collect(),
            ending: refereed.description,
        }
    }
}

/// What is drawn by lot in a game follows from the seed of the contest, who plays, and how often they
/// have: not from what else is played, or when.
fn seeds(seed: u64, names: [&str; 2], meeting: u32) -> [u64; 3] {
    let [first, second] = names.map(number_of);
    [0, 1, 2].map(|whose| derive_seed(&[seed, first, second, meeting.into(), whose]))
}

/// A number for a name, the same on every machine: FNV-1a.
fn number_of(name: &str) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}
