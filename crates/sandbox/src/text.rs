//! Text of limits.

use std::time::Duration;

/// Parses `100ms`, `2s` or `1.5s`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let parse = |number: &str, unit: f64| {
        let number = number.parse::<f64>().ok().filter(|number| *number >= 0.001);
        number.and_then(|number| Duration::try_from_secs_f64(number * unit).ok())
    };
    let parsed = match text.strip_suffix("ms") {
        Some(number) => parse(number, 1e-3),
        None => text.strip_suffix('s').and_then(|number| parse(number, 1.0)),
    };
    parsed.filter(|time| *time <= Duration::from_secs(86_400)).ok_or_else(|| {
        format!(
            "a time is written 100ms, 2s or 1.5s and is 1ms to 86400s, not {:?}",
            truncate(text)
        )
    })
}

/// Formats a duration as [`parse_duration`] reads it.
pub(crate) fn format_duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis.is_multiple_of(1000) { format!("{}s", millis / 1000) } else { format!("{millis}ms") }
}

/// The first 40 characters of a text, for messages.
pub(crate) fn truncate(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
