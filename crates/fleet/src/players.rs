//! Players as they are sent to the workers.

use std::path::PathBuf;
use std::time::Duration;

use crownhead_bots::PlayerSpec;
use crownhead_play::{BuiltinSpec, TimeControl};
use crownhead_sandbox::{Isolation, IsolationStatus};
use crownhead_tournament::Entrant;
use serde::{Deserialize, Serialize};

/// A player of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PlayerMessage {
    /// Name in the tournament.
    name: String,
    /// The player as the user wrote it.
    text: String,
    pub(crate) source: PlayerSource,
}

/// A player in a form that any machine can use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum PlayerSource {
    /// A built-in player, as text.
    Builtin(String),
    /// A bot.
    Bot(BotMessage),
    /// A player that cannot play, and why: it forfeits every turn.
    Invalid(String),
}

/// A bot of a job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BotMessage {
    /// Name of its bundle in the object store.
    pub(crate) object: String,
    /// Key of its bundle.
    pub(crate) key: String,
    /// The bot as a user would write it in the folder of its files.
    pub(crate) text: String,
    isolation: String,
    limits: String,
    ponder: bool,
    read: Vec<PathBuf>,
}

/// Finds the bot of a message among the unpacked ones, or downloads it.
pub(crate) type FindBot<'a> = dyn Fn(&BotMessage) -> Result<PlayerSpec, String> + 'a;

impl PlayerMessage {
    /// Describes a player that is not a bot.
    pub(crate) fn new(entrant: Option<&Entrant>) -> PlayerMessage {
        let Some(entrant) = entrant else {
            let reason = "it is not in the tournament file any more".into();
            let source = PlayerSource::Invalid(reason);
            return PlayerMessage { name: String::new(), text: String::new(), source };
        };
        let source = match &entrant.player {
            Ok(spec) => PlayerSource::Builtin(spec.to_string()),
            Err(reason) => PlayerSource::Invalid(reason.clone()),
        };
        PlayerMessage { name: entrant.name.clone(), text: entrant.text.clone(), source }
    }

    /// Describes a bot whose bundle has been stored.
    pub(crate) fn bot(
        entrant: &Entrant,
        program: &crownhead_bots::BotProgram,
        bundle: &crate::bundle::Bundle,
    ) -> PlayerMessage {
        let source = PlayerSource::Bot(BotMessage {
            object: bundle.name.clone(),
            key: bundle.key.clone(),
            text: bundle.text.clone(),
            isolation: program.isolation.to_string(),
            limits: program.limits.to_string(),
            ponder: program.ponder,
            read: program.runtime_paths.clone(),
        });
        PlayerMessage { name: entrant.name.clone(), text: entrant.text.clone(), source }
    }

    /// Creates the player on a worker that needs `time_factor` times as long as the coordinator.
    pub(crate) fn entrant(
        &self,
        time_factor: f64,
        find_bot: &FindBot<'_>,
    ) -> Result<Entrant, String> {
        let player = match &self.source {
            PlayerSource::Builtin(text) => {
                // Not a `PlayerSpec`, whose text may name a file.
                let mut spec: BuiltinSpec =
                    text.parse().map_err(|error| format!("player {text:?}: {error}"))?;
                if let Some(time) = spec.options.movetime.as_mut() {
                    *time = scaled(*time, time_factor);
                }
                Ok(spec.into())
            }
            PlayerSource::Bot(bot) => {
                let mut spec = find_bot(bot)?;
                let program = spec.program_mut().ok_or("the bundle is not a bot")?;
                program.isolation = bot.isolation()?;
                program.limits = bot.limits.parse()?;
                program.ponder = bot.ponder;
                program.runtime_paths.clone_from(&bot.read);
                Ok(spec)
            }
            PlayerSource::Invalid(reason) => Err(reason.clone()),
        };
        Ok(Entrant { name: self.name.clone(), text: self.text.clone(), player })
    }

    /// Returns why this machine cannot run the player as a bot; nothing for other players.
    pub(crate) fn missing_isolation(&self) -> Option<String> {
        let PlayerSource::Bot(bot) = &self.source else { return None };
        bot.isolation().and_then(IsolationStatus::detect).err()
    }

    /// Returns whether the player chooses the same moves in every run without a time control.
    pub(crate) fn is_deterministic(&self) -> bool {
        let PlayerSource::Builtin(text) = &self.source else { return false };
        let Ok(spec) = text.parse::<BuiltinSpec>() else { return false };
        let options = spec.options;
        options.movetime.is_none() && options.threads.unwrap_or(1) == 1
    }
}

impl BotMessage {
    /// Returns the isolation. A worker never runs the programs of others without any.
    fn isolation(&self) -> Result<Isolation, String> {
        match self.isolation.parse()? {
            Isolation::Off => Err("workers run no bots without isolation".into()),
            isolation => Ok(isolation),
        }
    }
}

/// Multiplies the times of a time control.
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

/// Multiplies a time, to a whole number of milliseconds: the bot protocol has no fractions.
pub(crate) fn scaled(time: Duration, factor: f64) -> Duration {
    let milliseconds = (time.as_secs_f64() * factor * 1e3).round();
    Duration::from_millis((milliseconds as u64).max(u64::from(!time.is_zero())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_worker_has_more_time() {
        let second = Duration::from_secs(1);
        let control = TimeControl::PerGame { time: 60 * second, increment: second };
        let expected = TimeControl::PerGame { time: 90 * second, increment: second * 3 / 2 };
        assert_eq!(scale_time_control(control, 1.5), expected);
        let per_move = TimeControl::PerMove(Duration::from_millis(1));
        assert_eq!(scale_time_control(per_move, 0.125), per_move);
        let entrant = |text: &str| Entrant {
            name: "a".into(),
            text: text.into(),
            player: Ok(text.parse().unwrap()),
        };
        let message = PlayerMessage::new(Some(&entrant("best:movetime=100ms")));
        let slower = message.entrant(2.0, &|_| Err(String::new())).unwrap();
        assert_eq!(slower.player.unwrap().to_string(), "best:movetime=200ms");
    }

    #[test]
    fn text_of_a_built_in_player_names_no_file_of_the_worker() {
        for text in ["best:params=/etc/hostname", "cmd:true", "."] {
            let source = PlayerSource::Builtin(text.into());
            let message = PlayerMessage { name: "a".into(), text: text.into(), source };
            let error = message.entrant(1.0, &|_| Err(String::new())).err().unwrap();
            assert!(error.contains("unknown"), "{error}");
        }
    }
}
