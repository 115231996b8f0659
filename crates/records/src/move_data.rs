//! Data of a move that programs write into its comment: `[%clk 0:04:59] [%eval 0.35,18]`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::record::Ply;

/// Data of a move in its comment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MoveData {
    /// `clk`: the time left for the rest of the game after the move.
    pub clock: Option<Duration>,
    /// `emt`: the time that the move took.
    pub elapsed: Option<Duration>,
    /// `eval`: the evaluation of the player or of an analysis.
    pub eval: Option<MoveEval>,
}

/// Evaluation of the position after a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveEval {
    /// Score from the view of the side that moves first.
    pub score: EvalScore,
    /// Search depth in plies.
    pub depth: Option<u32>,
}

/// Score of a [`MoveEval`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvalScore {
    /// `0.35`: hundredths of a man.
    Points(i32),
    /// `#7`: a forced win in this number of moves; negative if the side that moves second wins, 0
    /// if the game is won.
    WinIn(i32),
}

impl MoveData {
    /// Reads the data from a comment and returns it with the rest of the comment. Unknown and
    /// invalid commands stay in the comment.
    pub fn split(comment: &str) -> (MoveData, String) {
        let mut data = MoveData::default();
        let mut words = Vec::new();
        let mut rest = comment;
        while let Some((before, after)) = rest.split_once("[%") {
            words.extend(before.split_whitespace());
            let Some((command, after)) = after.split_once(']') else { break };
            if !data.read(command) {
                words.push(&rest[before.len()..rest.len() - after.len()]);
            }
            rest = after;
        }
        // Without a closing bracket, the rest begins with text that has been read.
        let unread = rest.find("[%").map_or(rest, |start| &rest[start..]);
        words.extend(unread.split_whitespace());
        (data, words.join(" "))
    }

    /// Reads a command such as `clk 0:04:59`. Returns whether it is known and valid.
    fn read(&mut self, command: &str) -> bool {
        let Some((name, value)) = command.split_once(char::is_whitespace) else { return false };
        let value = value.trim();
        match name {
            "clk" => set(&mut self.clock, parse_time(value)),
            "emt" => set(&mut self.elapsed, parse_time(value)),
            "eval" => set(&mut self.eval, value.parse().ok()),
            _ => false,
        }
    }
}

fn set<T>(target: &mut Option<T>, value: Option<T>) -> bool {
    let is_valid = value.is_some();
    *target = value.or(target.take());
    is_valid
}

impl fmt::Display for MoveData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = [
            self.clock.map(|time| format!("[%clk {}]", format_time(time))),
            self.elapsed.map(|time| format!("[%emt {}]", format_time(time))),
            self.eval.map(|eval| format!("[%eval {eval}]")),
        ];
        f.write_str(&commands.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

impl Ply {
    /// Returns a move with data in its comment.
    pub fn with_data(text: impl Into<String>, data: &MoveData) -> Ply {
        let comment = (*data != MoveData::default()).then(|| data.to_string());
        Ply { comment, ..Ply::new(text) }
    }

    /// Returns the data in the comment.
    pub fn data(&self) -> MoveData {
        self.comment.as_deref().map(|comment| MoveData::split(comment).0).unwrap_or_default()
    }
}

impl fmt::Display for MoveEval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score {
            EvalScore::Points(points) => write!(f, "{:.2}", f64::from(points) / 100.0)?,
            EvalScore::WinIn(moves) => write!(f, "#{moves}")?,
        }
        self.depth.map_or(Ok(()), |depth| write!(f, ",{depth}"))
    }
}

/// Error of a text that is not an evaluation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invalid evaluation {0:?}: write 0.35, #7 or #-7, and optionally a comma and the depth")]
pub struct ParseEvalError(pub String);

impl FromStr for MoveEval {
    type Err = ParseEvalError;

    fn from_str(text: &str) -> Result<MoveEval, ParseEvalError> {
        parse_eval(text).ok_or_else(|| ParseEvalError(text.into()))
    }
}

fn parse_eval(text: &str) -> Option<MoveEval> {
    let (score, depth) = match text.split_once(',') {
        Some((score, depth)) => (score, Some(depth.trim().parse().ok()?)),
        None => (text, None),
    };
    let score = match score.trim().strip_prefix('#') {
        Some(moves) => EvalScore::WinIn(moves.parse().ok()?),
        None => {
            let points = 100.0 * score.trim().parse::<f64>().ok()?;
            (points.abs() < f64::from(i32::MAX)).then_some(())?;
            EvalScore::Points(points.round() as i32)
        }
    };
    Some(MoveEval { score, depth })
}

/// Formats a time as `0:04:59`, with up to three decimals.
fn format_time(time: Duration) -> String {
    let (seconds, millis) = (time.as_secs(), time.subsec_millis());
    let mut text = format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if millis > 0 {
        text.push_str(format!(".{millis:03}").trim_end_matches('0'));
    }
    text
}

/// Parses `0:04:59`, `4:59` or `59.5`.
fn parse_time(text: &str) -> Option<Duration> {
    let (minutes, seconds) = text.rsplit_once(':').unwrap_or(("0", text));
    let minutes = minutes
        .split(':')
        .try_fold(0_u64, |sum, part| sum.checked_mul(60)?.checked_add(part.parse().ok()?))?;
    let seconds = Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    Duration::from_secs(minutes.checked_mul(60)?).checked_add(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(comment: &str) -> (String, String) {
        let (data, rest) = MoveData::split(comment);
        (data.to_string(), rest)
    }

    #[test]
    fn data_is_separated_from_the_comment() {
        for (comment, data, rest) in [
            ("", "", ""),
            ("A fine move.", "", "A fine move."),
            ("[%eval 0.13] Fine.", "[%eval 0.13]", "Fine."),
            ("So [%clk 1:02:03.500] what", "[%clk 1:02:03.5]", "So what"),
            ("[%eval -0.5,12][%clk 4:59]", "[%clk 0:04:59] [%eval -0.50,12]", ""),
            ("[%emt 0.25] [%eval #-7]", "[%emt 0:00:00.25] [%eval #-7]", ""),
            // Unknown, invalid and unfinished commands are text.
            ("[%csl Ga1] x", "", "[%csl Ga1] x"),
            ("a [%eval good] b", "", "a [%eval good] b"),
            (
                "[%clk -1] [%eval 1e300] [%clk 99999999999999999999:00]",
                "",
                "[%clk -1] [%eval 1e300] [%clk 99999999999999999999:00]",
            ),
            ("[%clk 0:01] then [%clk", "[%clk 0:00:01]", "then [%clk"),
        ] {
            assert_eq!(split(comment), (data.into(), rest.into()), "{comment}");
        }
    }

    #[test]
    fn written_data_reads_back() {
        let eval = |score, depth| Some(MoveEval { score, depth });
        for data in [
            MoveData::default(),
            MoveData { clock: Some(Duration::from_millis(3_723_004)), ..MoveData::default() },
            MoveData { elapsed: Some(Duration::ZERO), ..MoveData::default() },
            MoveData { eval: eval(EvalScore::Points(-7), Some(21)), ..MoveData::default() },
            MoveData { eval: eval(EvalScore::WinIn(-4), None), ..MoveData::default() },
        ] {
            assert_eq!(Ply::with_data("11-15", &data).data(), data);
        }
        assert_eq!(Ply::with_data("11-15", &MoveData::default()), Ply::new("11-15"));
    }
}
