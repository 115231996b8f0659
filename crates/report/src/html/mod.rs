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

use crownhead_records::format_date;
use sha2::{Digest, Sha256};

use crate::data::{round_to, seconds};
use markup::{Html, html};
use viewer::ViewerData;

const STYLE: &str = include_str!("../../viewer/viewer.css");
const SCRIPT: &str = include_str!("../../viewer/viewer.js");

/// Returns a complete page. The content security policy allows this script only.
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
    out.raw(
        "</style>\n<noscript><style>.page { display: block }</style>\
     </noscript>\n</head>\n<body>\n<div class=\"sheet\">\n",
    );
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
    round_to(value, 1).to_string()
}

/// Formats a number with its sign: `+1.20`, `−35`.
fn signed(value: f64, decimals: usize) -> String {
    // Adding zero turns −0 into 0.
    let rounded = round_to(value, decimals as i32) + 0.0;
    format!("{rounded:+.decimals$}").replace('-', "−")
}

/// Formats the date of a time in milliseconds since 1970: `2024-03-16`.
fn date(milliseconds: i64) -> String {
    format_date(milliseconds.max(0).unsigned_abs()).replace('.', "-")
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
    fn signed_numbers_have_a_minus_sign() {
        let numbers = [(-51.4, 0), (3.0, 0), (-0.04, 1), (-0.25, 2)];
        let texts = numbers.map(|(value, decimals)| signed(value, decimals));
        assert_eq!(texts, ["−51", "+3", "+0.0", "−0.25"]);
    }

    #[test]
    fn dates_are_in_iso_format() {
        assert_eq!(date(1_709_164_800_000), "2024-02-29");
        assert_eq!(date(-1), "1970-01-01");
    }

    #[test]
    fn script_cannot_end_its_element() {
        // After `<!--`, `<script` would hide the end of the element.
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<script"));
        assert!(!STYLE.contains("</style"));
    }
}
