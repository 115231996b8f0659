//! The state of a run, saved so that it can be resumed.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use crownhead_files::{read_text, write_atomic};
use crownhead_play::{ParamChanges, truncate};
use crownhead_search::params::PARAMS;
use crownhead_statistics::spsa::Spsa;

use crate::failure::Failure;

/// Maximum size of a saved run.
const MAX_BYTES: u64 = 64 << 10;

/// A run, and the file in which it is saved, if there is one.
pub(super) struct State<'a> {
    path: Option<PathBuf>,
    /// First lines of the file: everything that the result depends on.
    header: String,
    /// Index of each tuned parameter.
    params: &'a [usize],
    pub(super) spsa: Spsa,
}

impl<'a> State<'a> {
    /// Starts a run, or resumes that of the same command.
    pub(super) fn open(
        output: Option<&Path>,
        command: &str,
        params: &'a [usize],
        spsa: Spsa,
    ) -> Result<State<'a>, Failure> {
        let mut header = format!("crownhead tune, state 1\n{command}\n");
        for (&index, value) in params.iter().zip(&spsa.values) {
            let param = &PARAMS[index];
            // As in fishtest: name, start value, range, and step at the end.
            // Writing to a string cannot fail.
            let _ = writeln!(
                header,
                "{},{value},{},{},{}",
                param.name, param.min, param.max, param.step
            );
        }
        let path = output.map(|path| {
            let mut name = path.as_os_str().to_owned();
            name.push(".state");
            PathBuf::from(name)
        });
        let mut state = State { path, header, params, spsa };
        let Some(path) = &state.path else { return Ok(state) };
        let damaged = || {
            let path = path.display();
            Failure::BadInput(format!("{path} is damaged: delete it to start again"))
        };
        let text = match read_text(path, MAX_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(state),
            Err(error) if error.kind() == ErrorKind::InvalidData => return Err(damaged()),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        if text.is_empty() {
            return Err(damaged());
        }
        let Some(values) = text.strip_prefix(&state.header) else {
            let made_by = truncate(text.lines().nth(1).unwrap_or_default());
            return Err(Failure::BadInput(format!(
                "{} belongs to another run ({made_by}): choose another output file, or delete it",
                path.display()
            )));
        };
        let (iteration, values) = parse(values, &state.spsa).ok_or_else(damaged)?;
        (state.spsa.iteration, state.spsa.values) = (iteration, values);
        Ok(state)
    }

    /// Saves the run.
    pub(super) fn save(&self) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let mut text = format!("{}iteration {}\n", self.header, self.spsa.iteration);
        for value in &self.spsa.values {
            // The shortest text that is read as the same number. Writing to a string cannot fail.
            let _ = writeln!(text, "{value}");
        }
        Ok(write_atomic(path, &text)?)
    }

    /// Index and value of each parameter, rounded.
    pub(super) fn rounded(&self) -> impl Iterator<Item = (usize, i64)> {
        self.params
            .iter()
            .zip(&self.spsa.values)
            .map(|(index, value)| (*index, value.round() as i64))
    }

    /// The values as options of a player.
    pub(super) fn changes(&self) -> ParamChanges {
        let values: Vec<_> = self.rounded().map(|(_, value)| value).collect();
        changes(self.params, &values)
    }
}

/// Values as options of a player.
pub(super) fn changes(params: &[usize], values: &[i64]) -> ParamChanges {
    let mut changes = ParamChanges::NONE;
    for (&index, &value) in params.iter().zip(values) {
        // The tuner keeps values in their ranges.
        let _ = changes.set(index, value);
    }
    changes
}

/// Reads the number of iterations and the values; `None` if the text is invalid.
fn parse(text: &str, spsa: &Spsa) -> Option<(u32, Vec<f64>)> {
    let mut lines = text.lines();
    let iteration = lines.next()?.strip_prefix("iteration ")?.parse().ok()?;
    let values: Vec<f64> = lines.map(|line| line.parse().ok()).collect::<Option<_>>()?;
    let is_valid = values.len() == spsa.params.len()
        && std::iter::zip(&values, &spsa.params)
            .all(|(value, param)| (param.min..=param.max).contains(value));
    (is_valid && iteration <= spsa.iterations).then_some((iteration, values))
}
