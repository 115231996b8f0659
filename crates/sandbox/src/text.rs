//! Helpers for parsing settings.

/// Splits `text` into a number and the value of its unit. The first of `units` that fits is taken.
pub(crate) fn split_unit<'a, T: Copy>(text: &'a str, units: &[(&str, T)]) -> Option<(&'a str, T)> {
    units.iter().find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit)))
}

/// First 40 characters of `text`, for error messages.
pub(crate) fn truncate(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
