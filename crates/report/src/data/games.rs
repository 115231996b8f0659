//! Games and faults.

use crownhead_rules::{Game, Side};
use crownhead_tournament::MoveReport;
use serde::{Serialize, Serializer};

use super::ReportInput;
use crate::replay::{Replay, ReplayAnalysis};

/// A finished game. Pairs are by side, first mover first.
#[derive(Debug, Serialize)]
pub struct GameEntry {
    /// Number of the game.
    pub number: i64,
    /// Round.
    pub round: u32,
    /// The players.
    pub players: [usize; 2],
    /// `1-0`, `0-1` or `1/2-1/2`.
    pub result: &'static str,
    /// Code of the reason for the end.
    pub reason: String,
    /// How the game ended, as a sentence. After a forfeit it may quote the output of the bot: it is
    /// for the author of the bot only.
    pub ending: Option<String>,
    /// How the game ended, for everybody.
    #[serde(skip)]
    pub(crate) public_ending: Option<String>,
    /// Side that lost by a fault.
    pub forfeit: Option<usize>,
    /// Score of the game itself, in games that have one.
    pub score: Option<[i64; 2]>,
    /// Number of faults.
    pub faults: [u32; 2],
    /// Number of plies of the opening.
    pub opening: usize,
    /// Number of plies after the opening.
    pub plies: usize,
    /// Time of each move after the opening, in milliseconds, separated by spaces.
    pub times: String,
    /// The moves, opening included; `None` if they cannot be replayed. Paths are for the viewer
    /// alone and not part of the JSON.
    #[serde(serialize_with = "without_paths")]
    pub replay: Option<Replay>,
    /// Text of the opening.
    #[serde(skip)]
    pub opening_text: String,
    /// Times and depths by side.
    #[serde(skip)]
    pub(super) move_times: Vec<MoveTime>,
}

/// Time and depth of one move.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveTime {
    /// Side that moved: 0 or 1.
    pub(super) side: usize,
    /// Number of plies after it, opening included.
    pub(super) ply: usize,
    pub(super) milliseconds: u64,
    /// Search depth that the player reported with it.
    pub(super) depth: Option<u32>,
}

/// A fault.
#[derive(Clone, Debug, Serialize)]
pub struct FaultEntry {
    /// Player at fault.
    pub player: usize,
    /// Number of the game.
    pub game: i64,
    /// Plies played before it.
    pub ply: u32,
    /// Code of the fault.
    pub code: String,
    /// What happened, for the author of the bot: it may quote what the bot printed.
    pub description: String,
    /// What happened, for everybody.
    pub summary: String,
}

impl GameEntry {
    /// Winning side; `None` for a draw.
    pub fn winner(&self) -> Option<usize> {
        match self.result {
            "1-0" => Some(0),
            "0-1" => Some(1),
            _ => None,
        }
    }

    /// Points of a side, 0 to 1.
    pub fn points(&self, side: usize) -> f64 {
        match self.winner() {
            None => 0.5,
            Some(winner) => f64::from(u8::from(winner == side)),
        }
    }

    /// Side of a player; `None` if it did not play.
    pub fn side_of(&self, player: usize) -> Option<usize> {
        self.players.iter().position(|&other| other == player)
    }

    /// Text of the move after which `ply` plies were played.
    pub(super) fn move_text(&self, ply: usize) -> &str {
        let moves = self.replay.as_ref().map_or("", |replay| &replay.moves);
        moves.split(' ').nth(ply.wrapping_sub(1)).unwrap_or("")
    }
}

fn without_paths<S: Serializer>(replay: &Option<Replay>, to: S) -> Result<S::Ok, S::Error> {
    let without = |replay: &Replay| Replay { paths: String::new(), ..replay.clone() };
    replay.as_ref().map(without).serialize(to)
}

/// Returns the finished games, by number.
pub(super) fn entries(input: &ReportInput<'_>, game: &Game) -> Vec<GameEntry> {
    let mut entries = Vec::new();
    for (played, summary) in input.snapshot.finished() {
        let no_details = Default::default();
        let details = input.details.get(&played.number).unwrap_or(&no_details);
        let opening = &details.opening;
        let moves: Vec<&str> =
            opening.moves.iter().chain(&details.moves).map(String::as_str).collect();
        let replayed = Replay::new(game, opening.start.as_deref(), &moves).ok();
        let first_side = replayed.as_ref().map_or(0, |(replay, _)| replay.side);
        let move_time = |(index, report): (usize, &MoveReport)| {
            let ply = opening.moves.len() + index;
            let MoveReport { milliseconds, depth, .. } = *report;
            MoveTime { side: (first_side + ply) % 2, ply: ply + 1, milliseconds, depth }
        };
        let mut replay = replayed.map(|(replay, _)| replay);
        if let (Some(replay), Some(analysis)) = (&mut replay, input.analyses.get(&played.number)) {
            replay.analysis = Some(ReplayAnalysis::new(analysis));
        }
        let times: Vec<String> =
            details.reports.iter().map(|report| report.milliseconds.to_string()).collect();
        entries.push(GameEntry {
            number: played.number,
            round: played.round,
            players: played.players,
            result: summary.result(),
            reason: summary.reason.clone(),
            ending: details.description.clone(),
            public_ending: match summary.forfeit {
                Some(side) => {
                    let ply = moves.len() as u32;
                    let fault = fault_summary(&summary.reason, game, side, ply);
                    Some(format!("{fault}: the game is lost"))
                }
                None => details.description.clone(),
            },
            forfeit: summary.forfeit,
            score: summary.score,
            faults: summary.faults,
            opening: opening.moves.len(),
            plies: details.moves.len(),
            times: times.join(" "),
            replay,
            opening_text: match (&opening.start, opening.moves.as_slice()) {
                (None, []) => "start position".into(),
                (Some(start), []) => start.clone(),
                (None, moves) => moves.join(" "),
                // The moves first: a chart has no room for the position.
                (Some(start), moves) => format!("{} from {start}", moves.join(" ")),
            },
            move_times: details.reports.iter().enumerate().map(move_time).collect(),
        });
    }
    entries
}

/// Describes a fault without quoting the bot.
fn fault_summary(code: &str, game: &Game, side: usize, ply: u32) -> String {
    format!("{code}, {}, ply {ply}", game.info().sides[side.min(1)].name)
}

/// Returns all faults on record, by game.
pub(super) fn faults(input: &ReportInput<'_>, rules: &Game) -> Vec<FaultEntry> {
    let mut faults = Vec::new();
    for (game, _) in input.snapshot.finished() {
        let Some(details) = input.details.get(&game.number) else { continue };
        faults.extend(details.faults.iter().map(|fault| FaultEntry {
            player: game.players[fault.side.min(1)],
            game: game.number,
            ply: fault.ply,
            code: fault.code.clone(),
            description: fault.description.clone(),
            summary: fault_summary(&fault.code, rules, fault.side, fault.ply),
        }));
    }
    faults
}

/// The side with an index.
pub(super) const fn side(index: usize) -> Side {
    if index == 0 { Side::First } else { Side::Second }
}
