//! Summaries of the games of a file. Only one game is in memory at a time.

use std::io::Read;

use crownhead_records::{GameRecord, Reader};
use crownhead_rules::Side;
use serde_json::{Value, json};

use crate::Host;

/// Number of games in a message.
const GAMES_PER_MESSAGE: usize = 500;
/// Maximum number of games, so that the page can hold the list.
const MAX_GAMES: u64 = 200_000;
/// Maximum number of errors that are reported.
const MAX_ERRORS: usize = 100;
/// Maximum number of characters of a name in a summary.
const MAX_NAME_CHARS: usize = 100;

struct HostFile<'a>(&'a dyn Host);

impl Read for HostFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Ok(self.0.read(buffer))
    }
}

/// Reads the file of the host and sends summaries of its games.
pub(crate) fn import(host: &dyn Host) -> Value {
    let mut reader = Reader::new(HostFile(host));
    let (mut games, mut failed, mut number) = (0_u64, 0_u64, 0_u64);
    let (mut errors, mut batch) = (Vec::new(), Vec::new());
    let send = |batch: &mut Vec<Value>, bytes: u64| {
        let message = json!({ "type": "games", "games": std::mem::take(batch), "bytes": bytes });
        host.emit(&message.to_string());
    };
    while number < MAX_GAMES
        && let Some(game) = reader.next()
    {
        number += 1;
        match game {
            Ok(record) => {
                games += 1;
                batch.push(summary(number, &record, &reader));
            }
            Err(error) => {
                failed += 1;
                if errors.len() < MAX_ERRORS {
                    errors.push(json!({
                        "number": error.game,
                        "line": error.line,
                        "column": error.column,
                        "message": error.message,
                    }));
                }
            }
        }
        if batch.len() >= GAMES_PER_MESSAGE {
            send(&mut batch, reader.game_range().end);
        }
    }
    if !batch.is_empty() {
        send(&mut batch, reader.game_range().end);
    }
    json!({ "games": games, "failed": failed, "errors": errors })
}

fn summary(number: u64, record: &GameRecord, reader: &Reader<'_>) -> Value {
    let short = |text: &str| text.chars().take(MAX_NAME_CHARS).collect::<String>();
    let tag = |name: &str| short(record.tag(name).unwrap_or_default());
    let players =
        [Side::First, Side::Second].map(|side| short(record.player(side).unwrap_or_default()));
    let range = reader.game_range();
    json!({
        "number": number,
        "game": record.game.to_string(),
        "players": players,
        "event": tag("Event"),
        "date": tag("Date"),
        "result": record.result.text(),
        "plies": record.line.plies.len(),
        "offset": range.start,
        "length": range.end - range.start,
    })
}
