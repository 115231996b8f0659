//! The walls around the programs of a tournament, as they are told and written down: a tournament may be
//! taken up again on a machine that has others.

use std::fmt;

use serde_json::{Value, json};

use crate::Tournament;

/// Walls as a journal has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IsolationRecord {
    /// The isolation that the tournament file asks for.
    pub requested: String,
    /// Words for those that are up.
    pub active: Vec<String>,
    /// What the machine does not have, and why.
    pub missing: Vec<String>,
    /// What each program may use, as in `cores=1,memory=2GB`; nothing if nobody looks.
    pub limits: String,
}

impl IsolationRecord {
    /// The walls that this machine puts up for a tournament; none if no program takes part. An error if
    /// they are fewer than required.
    pub fn detect(tournament: &Tournament) -> Result<Option<IsolationRecord>, String> {
        if !tournament.has_bots() {
            return Ok(None);
        }
        let walls = crownhead_sandbox::IsolationStatus::detect(tournament.isolation)?;
        let is_limited = tournament.isolation != crownhead_sandbox::Isolation::Off;
        Ok(Some(IsolationRecord {
            requested: walls.isolation.to_string(),
            active: walls.active().map(String::from).collect(),
            missing: walls.missing().collect(),
            limits: if is_limited { tournament.limits.to_string() } else { String::new() },
        }))
    }

    /// One object.
    pub fn json(&self) -> Value {
        let pairs = self.limits.split(',').filter_map(|limit| limit.split_once('='));
        let limits: Value = pairs.map(|(key, text)| (key.to_string(), json!(text))).collect();
        json!({
            "asked": self.requested,
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
