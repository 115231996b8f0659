//! Checks the result of a game, which comes from a machine that may be hostile.

use crownhead_rules::Side;
use crownhead_tournament::{FinishedGame, GameJob};

/// Maximum number of bytes in the texts of a result.
const MAX_TEXT: usize = 64 * 1024;

/// Returns why the result of a game is invalid. A valid result may still be a lie about who chose
/// which moves, but it describes a game by the rules.
pub(crate) fn check(job: &GameJob, played: &FinishedGame) -> Result<(), String> {
    let summary = &played.summary;
    if played.opening != job.opening {
        return Err("it starts with another opening".into());
    }
    let sides = [summary.winner, summary.forfeit].into_iter().flatten();
    let sides = sides.chain(played.incidents.iter().map(|incident| incident.side));
    let mut sides = sides.chain(played.absences.iter().map(|absence| absence.side));
    if sides.any(|side| side > 1) {
        return Err("it names a third side".into());
    }
    if played.moves.len() != summary.plies as usize || played.reports.len() != played.moves.len() {
        return Err("its move counts differ".into());
    }
    if !(0..=i64::MAX / 2).contains(&summary.finished) || summary.milliseconds < 0 {
        return Err("its times are impossible".into());
    }
    let texts = [&summary.reason, &played.description].into_iter();
    let texts = texts.chain(&played.log_error);
    if texts.map(String::len).sum::<usize>() > MAX_TEXT {
        return Err("its texts are too long".into());
    }
    let mut session = job.opening.session(&job.game)?;
    for (text, ply) in played.moves.iter().zip(1..) {
        if session.outcome().is_some() {
            return Err(format!("move {ply} follows the end of the game"));
        }
        session.replay(text).map_err(|error| format!("move {ply}: {error}"))?;
    }
    if let Some(outcome) = session.outcome()
        && outcome.winner.map(Side::index) != summary.winner
    {
        return Err("its winner is not the winner by the rules".into());
    }
    played.replaces.as_ref().map_or(Ok(()), |replaced| match replaced.replaces {
        None => check(job, replaced),
        Some(_) => Err("it replaces more than one game".into()),
    })
}
