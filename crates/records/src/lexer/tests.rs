use std::io::{self, Read};

use super::*;
use crate::record::GameResult::{Draw, FirstWins, SecondWins, Unknown};

/// Returns one byte per read, to test that tokens do not depend on buffering.
struct OneByteReads<'a>(&'a [u8]);

impl Read for OneByteReads<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (Some((first, rest)), Some(byte)) = (self.0.split_first(), out.first_mut()) else {
            return Ok(0);
        };
        *byte = *first;
        self.0 = rest;
        Ok(1)
    }
}

/// Returns the tokens with their texts; an error is `End` with its message.
fn tokens(text: &[u8]) -> Vec<(Token, String)> {
    fn all(mut lexer: Lexer<'_>) -> Vec<(Token, String)> {
        let mut found = Vec::new();
        loop {
            match lexer.next() {
                Ok(Token::End) => return found,
                Ok(Token::Tag) => {
                    found.push((Token::Tag, format!("{}={}", lexer.name(), lexer.text())))
                }
                Ok(token @ (Token::Word | Token::Comment | Token::Setup)) => {
                    found.push((token, lexer.text().to_string()));
                }
                Ok(token) => found.push((token, String::new())),
                Err(error) => found.push((Token::End, error.message)),
            }
        }
    }
    let whole = all(Lexer::new(text));
    assert_eq!(whole, all(Lexer::new(OneByteReads(text))), "one byte per read");
    whole
}

fn check(text: impl AsRef<[u8]>, expected: &[(Token, &str)]) {
    let text = text.as_ref();
    let found = tokens(text);
    let found: Vec<_> = found.iter().map(|(token, text)| (*token, text.as_str())).collect();
    assert_eq!(found, expected, "{}", String::from_utf8_lossy(text));
}

const NUMBER: (Token, &str) = (Token::Number(None), "");

fn word(text: &str) -> (Token, &str) {
    (Token::Word, text)
}

fn comment(text: &str) -> (Token, &str) {
    (Token::Comment, text)
}

fn result(result: GameResult) -> (Token, &'static str) {
    (Token::Result(result), "")
}

fn nag(nag: u8) -> (Token, &'static str) {
    (Token::Nag(nag), "")
}

#[test]
fn lexes_moves_and_numbers() {
    check("1. 11-15 23-19", &[NUMBER, word("11-15"), word("23-19")]);
    check("1.11-15 1...23-19", &[NUMBER, word("11-15"), NUMBER, word("23-19")]);
    check("12. ... 8x15x22 . 1-5", &[NUMBER, word("8x15x22"), word("1-5")]);
    check("01. 06-11", &[NUMBER, word("06-11")]);
    check("1 11-15", &[(Token::Number(Some(1)), ""), word("11-15")]);
    check("1115 1131 pass", &[word("1115"), word("1131"), word("pass")]);
    check("11-15, 23-19.", &[word("11-15"), word("23-19")]);
}

#[test]
fn joins_moves_with_spaces() {
    check("11 - 15 23 -19 8- 11", &[word("11-15"), word("23-19"), word("8-11")]);
    check("22 x 15 x 8 1 - 0", &[word("22x15x8"), result(FirstWins)]);
    check("8-\n11", &[word("8-11")]);
    check("41. - -", &[NUMBER, word("-"), word("-")]);
}

#[test]
fn results_are_not_moves() {
    check(
        "1-0 0-1 1/2-1/2 *",
        &[result(FirstWins), result(SecondWins), result(Draw), result(Unknown)],
    );
    check("2-0 0-2 1-1 1/2", &[result(FirstWins), result(SecondWins), result(Draw), result(Draw)]);
    check("1-5 1-10 10-1 2-01", &[word("1-5"), word("1-10"), word("10-1"), word("2-01")]);
    check("1/2 - 1/2", &[result(Draw)]);
    check("0.5-0.5 1-0.", &[result(Draw), result(FirstWins)]);
    check("½-½ ½", &[result(Draw), result(Draw)]);
    check(b"\xBD-\xBD", &[result(Draw)]);
    check("1–0", &[result(FirstWins)]);
    check("1-0{end}", &[result(FirstWins), comment("end")]);
}

#[test]
fn lexes_annotations() {
    check("11-15! 23-19?", &[word("11-15"), nag(1), word("23-19"), nag(2)]);
    check(
        "1-5!! 2-6?? 3-7!? 4-8?!",
        &[word("1-5"), nag(3), word("2-6"), nag(4), word("3-7"), nag(5), word("4-8"), nag(6)],
    );
    check("1-5(?) 2-6 (!?!!)", &[word("1-5"), nag(2), word("2-6"), nag(5)]);
    check("1-5 $0 $255", &[word("1-5"), nag(0), nag(255)]);
    check("1-5* 2-6!*", &[word("1-5"), nag(7), word("2-6"), nag(1), nag(7)]);
    check("1-5 *", &[word("1-5"), result(Unknown)]);
    check(
        "$256 $ $12345",
        &[
            (Token::End, "invalid annotation: write $0 to $255"),
            (Token::End, "invalid annotation: write $0 to $255"),
            (Token::End, "invalid annotation: write $0 to $255"),
            (Token::Number(Some(5)), ""),
        ],
    );
    check(
        "1-5 (? 2-6)",
        &[
            word("1-5"),
            (Token::End, "the annotation is not closed: write (?)"),
            word("2-6"),
            (Token::VariationEnd, ""),
        ],
    );
}

#[test]
fn lexes_comments() {
    check("{one} {two\r\n  three\t} {}", &[comment("one"), comment("two three"), comment("")]);
    check(
        "1-5;to the end { of the line\n2-6",
        &[word("1-5"), comment("to the end { of the line"), word("2-6")],
    );
    check("; no line end", &[comment("no line end")]);
    check("; a } brace", &[comment("a ) brace")]);
    check("% skipped\n1-5 % this too\n% and this", &[word("1-5")]);
    check("{100 % sure}", &[comment("100 % sure")]);
    check("{a { b } } 1-5", &[comment("a { b"), word("1-5")]);
    check("{Andr\u{e9}}", &[comment("André")]);
    check(b"{Andr\xE9 \x96 M\xFCller}", &[comment("André – Müller")]);
    check("{open", &[(Token::End, "the comment is not closed before the end of the file")]);
    check(
        "{open\n[Event \"next\"]\n1-5",
        &[
            (Token::End, "the comment is not closed before the next game"),
            (Token::Tag, "Event=next"),
            word("1-5"),
        ],
    );
    check("{a\n[%clk 1:00]\n[b] [C]\n}", &[comment("a [%clk 1:00] [b] [C]")]);
}

#[test]
fn lexes_parentheses() {
    check("(2-6)", &[(Token::VariationStart, ""), word("2-6"), (Token::VariationEnd, "")]);
    check(
        "( 3. 2-6 )",
        &[(Token::VariationStart, ""), NUMBER, word("2-6"), (Token::VariationEnd, "")],
    );
    check("(pass)", &[(Token::VariationStart, ""), word("pass"), (Token::VariationEnd, "")]);
    check("(c3-d4)", &[(Token::VariationStart, ""), word("c3-d4"), (Token::VariationEnd, "")]);
    check(
        "({a} 2-6)",
        &[(Token::VariationStart, ""), comment("a"), word("2-6"), (Token::VariationEnd, "")],
    );
    check("(White wins, 2-6 next) 1-5", &[comment("White wins, 2-6 next"), word("1-5")]);
}

#[test]
fn lexes_tags_and_setups() {
    check(
        "[Event \"a\"]\n[Site\n[Date \"b\"] 1-5",
        &[(Token::Tag, "Event=a"), (Token::Tag, "Site="), (Token::Tag, "Date=b"), word("1-5")],
    );
    check("/FEN \"B:W21:B1\"/ 1-5", &[(Token::Setup, "B:W21:B1"), word("1-5")]);
    check(
        "/ /FEN \"B",
        &[
            (Token::End, "invalid position: write /FEN \"…\"/"),
            (Token::End, "the position is not closed: write /FEN \"…\"/"),
        ],
    );
    check(
        "[5] ]",
        &[
            (Token::End, "invalid tag: write [Name \"value\"]"),
            (Token::Number(Some(5)), ""),
            (Token::End, "unexpected ']' outside a tag"),
            (Token::End, "unexpected ']' outside a tag"),
        ],
    );
}

#[test]
fn replaces_typographic_signs() {
    check("11–15 22×15 23—19", &[word("11-15"), word("22x15"), word("23-19")]);
    check(b"11\x9615 22\xD715\xA023-19", &[word("11-15"), word("22x15"), word("23-19")]);
    check("11-15\u{a0}23-19\u{a0}\u{a0}8-11", &[word("11-15"), word("23-19"), word("8-11")]);
    check(b"1-5\x1A\0", &[word("1-5")]);
}

#[test]
fn skips_utf8_bom_and_rejects_utf16() {
    check("\u{feff}[Event \"a\"]", &[(Token::Tag, "Event=a")]);
    check(b"\xFF\xFE[\0E\0", &[(Token::End, "the file is UTF-16: save it as UTF-8")]);
}

#[test]
fn locations_are_line_and_column() {
    fn locations(text: &str) -> Vec<(u64, u64, bool)> {
        let mut lexer = Lexer::new(text.as_bytes());
        let mut found = Vec::new();
        while lexer.next().unwrap() != Token::End {
            found.push((lexer.location().line, lexer.location().column, lexer.is_line_start()));
        }
        found
    }
    assert_eq!(locations("1-5 2-6\n 3-7"), [(1, 1, true), (1, 5, false), (2, 2, true)]);
    assert_eq!(
        locations("a\r\nb\rc\n\nd"),
        [(1, 1, true), (2, 1, true), (3, 1, true), (5, 1, true)]
    );
    assert_eq!(locations("{é½} 1-5"), [(1, 1, true), (1, 6, false)]);
    assert_eq!(locations("\u{feff}1-5"), [(1, 1, true)]);
    assert_eq!(locations("{a\nb} 1-5"), [(1, 1, true), (2, 4, false)]);
}

#[test]
fn unread_returns_the_token_again() {
    let mut lexer = Lexer::new(&b"1-5 2-6"[..]);
    assert_eq!(lexer.next().unwrap(), Token::Word);
    lexer.unread();
    assert_eq!(lexer.next().unwrap(), Token::Word);
    assert_eq!(lexer.text(), "1-5");
    assert_eq!(lexer.next().unwrap(), Token::Word);
    assert_eq!(lexer.text(), "2-6");
}

#[test]
fn long_tokens_are_errors_and_skipped() {
    let long = "9".repeat(3 * MAX_WORD / 2);
    let found = tokens(format!("{long} 1-5").as_bytes());
    assert!(found[0].1.contains("longer than"), "{found:?}");
    assert_eq!(found.last(), Some(&(Token::Word, "1-5".to_string())));

    let long = "a ".repeat(MAX_TEXT);
    let mut lexer = Lexer::new(io::Cursor::new(format!("{{{long}}} 1-5")));
    assert_eq!(lexer.next().unwrap_err().kind, RecordErrorKind::Limit);
    assert_eq!(lexer.next().unwrap(), Token::Word);

    let long = "a".repeat(2 * MAX_TAG);
    let mut lexer = Lexer::new(io::Cursor::new(format!("[Event \"{long}\"] 1-5")));
    assert_eq!(lexer.next().unwrap_err().kind, RecordErrorKind::Limit);
}

#[test]
fn io_error_is_reported_once() {
    struct FailingRead;
    impl Read for FailingRead {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    let mut lexer = Lexer::new((&b"1-5 "[..]).chain(FailingRead));
    assert_eq!(lexer.next().unwrap(), Token::Word);
    let error = lexer.next().unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (RecordErrorKind::Io, "disk on fire"));
    assert_eq!(lexer.next().unwrap(), Token::End);
}
