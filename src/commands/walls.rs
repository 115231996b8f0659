//! The walls around outside programs, as commands that start some ask for them and tell of them.

use crownhead_bots::BotProgram;
use crownhead_sandbox::{Isolation, IsolationStatus, Limits};
use serde_json::{Value, json};

use super::{Failure, say};

#[derive(clap::Args)]
pub(crate) struct WallOptions {
    /// Walls around programs: default (all that this machine has), require (nothing is started
    /// without all of them) or off (to debug a program of yours)
    #[arg(long, value_name = "WALLS", default_value = "default")]
    isolation: Isolation,
    /// What each program may use: cores=1,memory=2GB,disk=256MB,processes=256,files=256,spare=5s; what
    /// is not named is as here
    #[arg(long, value_name = "LIMITS")]
    limits: Option<Limits>,
}

impl WallOptions {
    /// Sets the walls of programs and says once what they are; none if there is no program.
    pub(crate) fn apply<'a>(
        &self,
        programs: impl IntoIterator<Item = &'a mut BotProgram>,
    ) -> Result<Option<IsolationStatus>, Failure> {
        let mut walls = None;
        for program in programs {
            program.isolation = self.isolation;
            program.limits = self.limits.unwrap_or_default();
            if walls.is_none() {
                let up =
                    IsolationStatus::detect(self.isolation).map_err(|why| anyhow::anyhow!(why))?;
                let limits = match self.isolation {
                    Isolation::Off => String::new(),
                    _ => format!(" ({})", program.limits),
                };
                say(format_args!("isolation: {up}{limits}"));
                walls = Some(up);
            }
        }
        Ok(walls)
    }
}

/// The walls for machines, with the limits of each player; null if there is none.
pub(crate) fn walls_json(
    walls: Option<&IsolationStatus>,
    programs: &[Option<&BotProgram>],
) -> Value {
    let Some(walls) = walls else { return Value::Null };
    let limits = |program: &BotProgram| -> Value {
        let texts = program.effective_limits().texts().into_iter();
        Value::Object(texts.map(|(key, text)| (key.to_string(), json!(text))).collect())
    };
    let is_limited = walls.isolation != Isolation::Off;
    json!({
        "asked": walls.isolation.code(),
        "active": walls.active().collect::<Vec<_>>(),
        "missing": walls.missing().collect::<Vec<_>>(),
        "limits": programs.iter().map(|program| program.filter(|_| is_limited).map(limits)).collect::<Vec<_>>(),
    })
}
