//! How a game ended.

use crownhead_records::GameResult;
use crownhead_rules::{Outcome, Side};

use crate::{AdjudicationRule, FaultKind, Incident, Session, to_sentence};

/// The end of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// By the rules of the game.
    Rules(Outcome),
    /// A side resigned.
    Resigned(Side),
    /// The players agreed to a draw.
    DrawAgreed,
    /// A side ran out of time.
    OutOfTime(Side),
    /// A side lost by a fault.
    Forfeited(Box<Incident>),
    /// The referee ended the game.
    Adjudicated {
        /// Why.
        rule: AdjudicationRule,
        /// The winner; `None` for a draw.
        winner: Option<Side>,
    },
}

impl End {
    /// The winner; `None` in a drawn game.
    pub fn winner(&self) -> Option<Side> {
        match self {
            End::Rules(outcome) => outcome.winner,
            End::DrawAgreed => None,
            End::Adjudicated { winner, .. } => *winner,
            End::Resigned(side) | End::OutOfTime(side) => Some(side.other()),
            End::Forfeited(incident) => Some(incident.side.other()),
        }
    }

    /// The result, for game files.
    pub fn result(&self) -> GameResult {
        match self.winner() {
            Some(Side::First) => GameResult::FirstWins,
            Some(Side::Second) => GameResult::SecondWins,
            None => GameResult::Draw,
        }
    }

    /// Points of the first and the second player, in games that count points.
    pub fn score(&self) -> Option<(u8, u8)> {
        match self {
            End::Rules(outcome) => outcome.score,
            _ => None,
        }
    }

    /// The stable external word for the reason.
    pub fn code(&self) -> &'static str {
        match self {
            End::Rules(outcome) => outcome.reason.code(),
            End::Resigned(_) => "resigned",
            End::DrawAgreed => "agreed",
            End::OutOfTime(_) => FaultKind::Timeout.code(),
            End::Forfeited(incident) => incident.fault.kind.code(),
            End::Adjudicated { rule, .. } => rule.code(),
        }
    }

    /// The end in a sentence, as players read it. `session` is the finished game.
    pub fn describe(&self, session: &dyn Session) -> String {
        let sides = session.game().info().sides;
        let (loser, how) = match self {
            End::Rules(_) => return to_sentence(&session.outcome_text().unwrap_or_default()),
            End::DrawAgreed => return "The players agreed to a draw.".into(),
            End::Adjudicated { rule, winner } => {
                let result = winner.map_or_else(
                    || "draw".into(),
                    |side| format!("{} wins", sides[side.index()].name),
                );
                let reason = match rule {
                    AdjudicationRule::Draw => "both players reported an even position",
                    AdjudicationRule::Resign => "the opponent reported a lost position",
                    AdjudicationRule::Length => "the game reached its maximum length",
                    AdjudicationRule::Table => "an endgame table has the result",
                };
                return format!("Adjudicated: {result}, because {reason}.");
            }
            End::Resigned(side) => (*side, "resigns"),
            End::OutOfTime(side) => (*side, "ran out of time"),
            End::Forfeited(incident) => (incident.side, "forfeits the game"),
        };
        let [name, winner] = [loser, loser.other()].map(|side| sides[side.index()].name);
        let text = format!("{name} {how}: {winner} wins.");
        match self {
            End::Forfeited(incident) => {
                format!("{text} {}", to_sentence(&incident.describe(session.game())))
            }
            _ => text,
        }
    }

    /// The reason as game files and bots receive it; for a forfeit, only the report of the fault.
    pub fn reason(&self, session: &dyn Session) -> String {
        match self {
            End::Rules(_) => session.outcome_text().unwrap_or_default(),
            End::Forfeited(incident) => incident.describe(session.game()),
            End::Resigned(_) | End::DrawAgreed | End::OutOfTime(_) | End::Adjudicated { .. } => {
                self.describe(session)
            }
        }
    }
}
