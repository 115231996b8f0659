//! Reports as web pages.
//!
//! A page is one file: it can be published, sent by mail and opened from a folder, and loads
//! nothing. The viewer, built from the sources of the web page, draws boards and lets readers step
//! through the games; everything else is plain HTML, so it can be printed and read without
//! scripts. Names and comments are never markup (see [`markup`]).

mod analysis;
mod charts;
mod markup;
mod player;
mod report;
mod viewer;

pub use analysis::analysis_page;
pub use player::player_page;
pub use report::report_page;

use crate::data::seconds;
use markup::{Html, html};
use sha2::{Digest, Sha256};
use viewer::ViewerData;

const STYLE: &str = include_str!("../../viewer/viewer.css");
const SCRIPT: &str = include_str!("../../viewer/viewer.js");

/// Returns a complete page. The content security policy allows this very script and nothing else.
fn page(title: &str, body: &Html, data: &ViewerData<'_>) -> String {
    let mut out = Html::default();
    html!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'sha256-",
        (base64(&Sha256::digest(SCRIPT))),
        "'; base-uri 'none'; form-action 'none'\">\n<title>",
        (title),
        "</title>\n<style>"
    );
    out.raw(STYLE);
    out.raw("</style>\n<noscript><style>.page { display: block }</style></noscript>\n</head>\n<body>\n<div class=\"sheet\">\n");
    out.append(body);
    out.raw(
        "<footer>Made by Crownhead.</footer>\n</div>\n\
         <noscript><p class=\"notice\">Boards need JavaScript.</p></noscript>\n\
         <script type=\"application/json\" id=\"data\">",
    );
    out.json(data);
    out.raw("</script>\n<script>");
    out.raw(SCRIPT);
    out.raw("</script>\n</body>\n</html>\n");
    out.finish()
}

/// Encodes bytes in base 64.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= chunk.len() { char::from(DIGITS[value]) } else { '=' });
        }
    }
    text
}

/// Formats a number of points: `3`, `3.5`.
fn points(value: f64) -> String {
    format!("{}", (value * 10.0).round() / 10.0)
}

/// Formats a date from milliseconds since 1970.
fn date(milliseconds: i64) -> String {
    let days = milliseconds.div_euclid(86_400_000);
    // Howard Hinnant's algorithm: years start in March, so that the leap day is the last one.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads_the_last_group() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(1_709_164_800_000), "2024-02-29");
        assert_eq!(date(1_709_251_200_000), "2024-03-01");
    }

    #[test]
    fn script_cannot_end_its_element() {
        // After `<!--`, `<script` would hide the end of the element.
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<script"));
        assert!(!STYLE.contains("</style"));
    }
}
