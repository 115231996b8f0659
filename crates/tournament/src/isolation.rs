//! Isolation as recorded in the journal. A tournament may be resumed on a machine that offers less
//! of it.

use std::fmt;

use crownhead_sandbox::{Isolation, IsolationStatus};
use serde_json::{Value, json};

use crate::Tournament;

/// Isolation that the bots of a tournament had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IsolationRecord {
    /// Mode in the tournament file.
    pub requested: String,
    /// Mechanisms in use.
    pub active: Vec<String>,
    /// Unavailable mechanisms, with reasons.
    pub missing: Vec<String>,
    /// Limits of each bot, such as `cores=1,memory=2GB`; empty without isolation.
    pub limits: String,
}

impl IsolationRecord {
    /// Detects the isolation of a tournament's bots on this machine; `None` if there are no bots.
    /// Fails if isolation is required and incomplete.
    pub fn detect(tournament: &Tournament) -> Result<Option<IsolationRecord>, String> {
        if !tournament.has_bots() {
            return Ok(None);
        }
        let status = IsolationStatus::detect(tournament.isolation)?;
        let is_limited = tournament.isolation != Isolation::Off;
        Ok(Some(IsolationRecord {
            requested: status.isolation.to_string(),
            active: status.active().map(String::from).collect(),
            missing: status.missing().collect(),
            limits: if is_limited { tournament.limits.to_string() } else { String::new() },
        }))
    }

    /// Returns the record as a JSON object.
    pub fn json(&self) -> Value {
        let limits = self.limits.split(',').filter_map(|limit| limit.split_once('='));
        let limits: Value = limits.map(|(key, value)| (key.to_string(), json!(value))).collect();
        json!({
            "requested": self.requested,
            "active": self.active,
            "missing": self.missing,
            "limits": if self.limits.is_empty() { Value::Null } else { limits },
        })
    }
}

impl fmt::Display for IsolationRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.active.is_empty() {
            return f.write_str("off");
        }
        f.write_str(&self.active.join(", "))?;
        self.missing.iter().try_for_each(|missing| write!(f, "; {missing}"))?;
        write!(f, " ({})", self.limits)
    }
}
