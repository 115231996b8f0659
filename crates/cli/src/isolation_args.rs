//! `--isolation`, `--limits`, `--read` and `--ponder` of the commands that start bots.

use std::path::PathBuf;

use crownhead_bots::BotProgram;
use crownhead_sandbox::{Isolation, IsolationStatus, Limits};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::eprint_message;

/// Options of the commands that start bots.
#[derive(clap::Args)]
pub struct IsolationArgs {
    /// Sandbox for bots: default (every mechanism that this machine offers), require (start nothing
    /// unless all are available) or off (for debugging your own bot)
    #[arg(long, value_name = "MODE", default_value = "default")]
    pub isolation: Isolation,
    /// Resource limits of each bot; those not named keep their default [default:
    /// cores=1,cpu-slack=5s,memory=2GB,disk=256MB,files=256,processes=256]
    #[arg(long, value_name = "LIMITS")]
    pub limits: Option<Limits>,
    /// File or folder that bots may read besides their own, such as language packages; repeatable
    #[arg(long, value_name = "PATH")]
    pub read: Vec<PathBuf>,
    /// Let bots think while their opponents do; otherwise a bot that does is frozen
    #[arg(long)]
    pub ponder: bool,
}

impl IsolationArgs {
    /// Applies the options to the bots, and reports the isolation on standard error. Returns `None`
    /// if there are no bots.
    pub fn apply<'a>(
        &self,
        programs: impl IntoIterator<Item = &'a mut BotProgram>,
    ) -> Result<Option<IsolationStatus>, Failure> {
        if let Some(missing) = self.read.iter().find(|path| !path.exists()) {
            return Err(Failure::Usage(format!("--read {}: no such path", missing.display())));
        }
        let limits = self.limits.unwrap_or_default();
        let mut has_bots = false;
        for program in programs {
            has_bots = true;
            program.isolation = self.isolation;
            program.limits = limits;
            program.runtime_paths.clone_from(&self.read);
            program.ponder = self.ponder;
        }
        if !has_bots {
            return Ok(None);
        }
        let status = IsolationStatus::detect(self.isolation).map_err(anyhow::Error::msg)?;
        match self.isolation {
            Isolation::Off => eprint_message(format_args!("isolation: {status}")),
            _ => eprint_message(format_args!("isolation: {status} ({limits})")),
        }
        Ok(Some(status))
    }
}

/// Isolation as JSON, with the limits of each player that is a bot; null without bots.
pub fn isolation_json(status: Option<&IsolationStatus>, programs: &[Option<&BotProgram>]) -> Value {
    let Some(status) = status else { return Value::Null };
    let is_limited = status.isolation != Isolation::Off;
    let limits = |program: &BotProgram| -> Value {
        let limits = program.effective_limits().key_values().into_iter();
        limits.map(|(key, value)| (key.to_string(), json!(value))).collect()
    };
    let limits = programs.iter().map(|program| program.filter(|_| is_limited).map(limits));
    json!({
        "requested": status.isolation.code(),
        "active": status.active().collect::<Vec<_>>(),
        "missing": status.missing().collect::<Vec<_>>(),
        "limits": limits.collect::<Vec<_>>(),
    })
}
