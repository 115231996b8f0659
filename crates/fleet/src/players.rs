//! Players as they travel to the workers.

use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::TimeControl;
use crownhead_tournament::Entrant;
use serde::{Deserialize, Serialize};

/// A player of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PlayerMessage {
    /// Name in the tournament.
    name: String,
    /// The player as the user wrote it.
    text: String,
    source: PlayerSource,
}

/// What a worker needs to create a player.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum PlayerSource {
    /// A built-in player, as text.
    Builtin(String),
    /// A player that cannot play, and why: it forfeits every turn.
    Invalid(String),
}

impl PlayerMessage {
    pub(crate) fn new(entrant: Option<&Entrant>) -> PlayerMessage {
        let Some(entrant) = entrant else {
            let reason = "it is not in the tournament file any more".into();
            let source = PlayerSource::Invalid(reason);
            return PlayerMessage { name: String::new(), text: String::new(), source };
        };
        let source = match &entrant.player {
            Ok(spec) if spec.program().is_none() => PlayerSource::Builtin(spec.to_string()),
            Ok(_) => PlayerSource::Invalid("bots cannot play on other machines".into()),
            Err(reason) => PlayerSource::Invalid(reason.clone()),
        };
        PlayerMessage { name: entrant.name.clone(), text: entrant.text.clone(), source }
    }

    /// Creates the player on a worker that needs `time_factor` times as long as the coordinator.
    pub(crate) fn entrant(&self, time_factor: f64) -> Result<Entrant, String> {
        let player = match &self.source {
            PlayerSource::Builtin(text) => {
                let mut spec: PlayerSpec =
                    text.parse().map_err(|error| format!("player {text:?}: {error}"))?;
                if let Some(time) = spec.builtin_mut().and_then(|it| it.options.movetime.as_mut()) {
                    *time = scaled(*time, time_factor);
                }
                // The coordinator may claim anything; a bot must be marked as one.
                match spec.program() {
                    None => Ok(spec),
                    Some(_) => return Err(format!("player {text:?} is not built in")),
                }
            }
            PlayerSource::Invalid(reason) => Err(reason.clone()),
        };
        Ok(Entrant { name: self.name.clone(), text: self.text.clone(), player })
    }

    /// Returns whether the player chooses the same moves in every run without a time control.
    pub(crate) fn is_deterministic(&self) -> bool {
        let PlayerSource::Builtin(text) = &self.source else { return false };
        let Ok(PlayerSpec::Builtin(spec)) = text.parse() else { return false };
        let options = spec.options;
        options.movetime.is_none() && options.threads.unwrap_or(1) == 1
    }
}

/// Multiplies a time control.
pub(crate) fn scale_time_control(control: TimeControl, factor: f64) -> TimeControl {
    match control {
        TimeControl::Unlimited => TimeControl::Unlimited,
        TimeControl::PerMove(time) => TimeControl::PerMove(scaled(time, factor)),
        TimeControl::PerGame { time, increment } => TimeControl::PerGame {
            time: scaled(time, factor),
            increment: scaled(increment, factor),
        },
    }
}

/// Multiplies a time, to a whole number of milliseconds, as bots are told.
fn scaled(time: Duration, factor: f64) -> Duration {
    let milliseconds = (time.as_secs_f64() * factor * 1e3).round();
    Duration::from_millis((milliseconds as u64).max(u64::from(!time.is_zero())))
}
