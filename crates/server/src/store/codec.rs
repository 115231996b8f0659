//! Stored form of setups and events: JSON. Its words must not change without a new schema version.

use std::time::Duration;

use crownhead_play::position_json::{parse_side, side_letter};
use crownhead_play::{End, Event, TimeLeft};
use crownhead_records::ParseEvalError;
use crownhead_rules::{Game, Side};
use serde::{Deserialize, Serialize};

use crate::hosted_game::HostedEvent;
use crate::new_game::{ClockSettings, GameSetup, Mode, parse_player};

/// A value without a stored form, or an invalid stored form.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(String);

impl From<serde_json::Error> for CodecError {
    fn from(error: serde_json::Error) -> CodecError {
        CodecError(error.to_string())
    }
}

/// Returns the stored form of an event.
pub fn encode_event(event: &HostedEvent) -> Result<String, CodecError> {
    let stored = match event {
        HostedEvent::Game(Event::Move { text, time_left, eval }) => StoredEvent::Move {
            text: text.clone(),
            left: to_millis(*time_left),
            eval: eval.map(|eval| eval.to_string()),
        },
        HostedEvent::Game(Event::Undo { plies, time_left }) => {
            StoredEvent::Undo { plies: *plies, left: to_millis(*time_left) }
        }
        HostedEvent::Game(Event::End(End::Resigned(side))) => {
            StoredEvent::End(StoredEnd::Resigned((*side).into()))
        }
        HostedEvent::Game(Event::End(End::DrawAgreed)) => StoredEvent::End(StoredEnd::Agreed),
        HostedEvent::Game(Event::End(End::OutOfTime(side))) => {
            StoredEvent::End(StoredEnd::Time((*side).into()))
        }
        HostedEvent::Game(Event::Reopen) => StoredEvent::Reopen,
        HostedEvent::Game(event) => return Err(CodecError(format!("{event:?} is not stored"))),
        HostedEvent::Name(side, name) => StoredEvent::Name((*side).into(), name.clone()),
        HostedEvent::Next(id) => StoredEvent::Next(id.clone()),
    };
    Ok(serde_json::to_string(&stored)?)
}

/// Parses the stored form of an event.
pub fn decode_event(text: &str) -> Result<HostedEvent, CodecError> {
    Ok(match serde_json::from_str(text)? {
        StoredEvent::Move { text, left, eval } => {
            let eval = eval.map(|eval| eval.parse()).transpose();
            let eval = eval.map_err(|error: ParseEvalError| CodecError(error.to_string()))?;
            HostedEvent::Game(Event::Move { text, time_left: from_millis(left), eval })
        }
        StoredEvent::Undo { plies, left } => {
            HostedEvent::Game(Event::Undo { plies, time_left: from_millis(left) })
        }
        StoredEvent::End(end) => HostedEvent::Game(Event::End(match end {
            StoredEnd::Resigned(side) => End::Resigned(side.into()),
            StoredEnd::Agreed => End::DrawAgreed,
            StoredEnd::Time(side) => End::OutOfTime(side.into()),
        })),
        StoredEvent::Reopen => HostedEvent::Game(Event::Reopen),
        StoredEvent::Name(side, name) => HostedEvent::Name(side.into(), name),
        StoredEvent::Next(id) => HostedEvent::Next(id),
    })
}

/// Returns the stored form of a setup.
pub fn encode_setup(setup: &GameSetup) -> Result<String, CodecError> {
    let mut stored = StoredSetup {
        game: setup.game.to_string(),
        mode: setup.mode.code().into(),
        computer: None,
        player: None,
        players: None,
        thinking: None,
        clock: setup.clock,
        position: setup.position.clone(),
        seed: setup.seed,
    };
    match &setup.mode {
        Mode::Computer { side, player, think_time } => {
            stored.computer = Some(side_letter(&setup.game, *side).into());
            stored.player = Some(player.spec.into());
            stored.thinking = Some(think_time.as_millis() as u64);
        }
        Mode::Computers { players, think_time } => {
            stored.players = Some(players.each_ref().map(|player| player.spec.into()));
            stored.thinking = Some(think_time.as_millis() as u64);
        }
        Mode::Hotseat | Mode::Friend => {}
    }
    Ok(serde_json::to_string(&stored)?)
}

/// Parses the stored form of a setup.
pub fn decode_setup(text: &str) -> Result<GameSetup, CodecError> {
    let stored: StoredSetup = serde_json::from_str(text)?;
    stored.into_setup().ok_or_else(|| CodecError(format!("invalid setup: {text}")))
}

#[derive(Serialize, Deserialize)]
struct StoredSetup {
    game: String,
    mode: String,
    /// Letter of the computer's side.
    #[serde(skip_serializing_if = "Option::is_none")]
    computer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    players: Option<[String; 2]>,
    /// Thinking time per move, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    seed: u64,
}

impl StoredSetup {
    fn into_setup(self) -> Option<GameSetup> {
        let game: Game = self.game.parse().ok()?;
        let mode = match self.mode.as_str() {
            "computer" => Mode::Computer {
                side: parse_side(&game, &self.computer?)?,
                player: parse_player(&self.player?)?,
                think_time: Duration::from_millis(self.thinking?),
            },
            "hotseat" => Mode::Hotseat,
            "friend" => Mode::Friend,
            "computers" => {
                let [first, second] = self.players?;
                Mode::Computers {
                    players: [parse_player(&first)?, parse_player(&second)?],
                    think_time: Duration::from_millis(self.thinking?),
                }
            }
            _ => return None,
        };
        Some(GameSetup { game, mode, clock: self.clock, position: self.position, seed: self.seed })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredEvent {
    Move {
        text: String,
        /// Remaining time of both sides after the move, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<[u64; 2]>,
        /// The computer's evaluation, as PDN writes it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        eval: Option<String>,
    },
    Undo {
        plies: usize,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        left: Option<[u64; 2]>,
    },
    End(StoredEnd),
    Reopen,
    Name(StoredSide, Option<String>),
    Next(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredEnd {
    Resigned(StoredSide),
    Agreed,
    Time(StoredSide),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredSide {
    First,
    Second,
}

impl From<Side> for StoredSide {
    fn from(side: Side) -> StoredSide {
        match side {
            Side::First => StoredSide::First,
            Side::Second => StoredSide::Second,
        }
    }
}

impl From<StoredSide> for Side {
    fn from(side: StoredSide) -> Side {
        match side {
            StoredSide::First => Side::First,
            StoredSide::Second => Side::Second,
        }
    }
}

fn to_millis(time_left: TimeLeft) -> Option<[u64; 2]> {
    let [first, second] = time_left;
    Some([first?, second?].map(|left| left.as_millis() as u64))
}

fn from_millis(left: Option<[u64; 2]>) -> TimeLeft {
    match left {
        Some(left) => left.map(|millis| Some(Duration::from_millis(millis))),
        None => [None; 2],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use crownhead_play::{CATALOG, OfferKind};

    use super::*;

    #[test]
    fn stored_form_of_every_event_is_stable() {
        let left = Some(Duration::from_millis(1500));
        let clocked = [left, Some(Duration::ZERO)];
        let unlimited = [None, None];
        let text = || "11-15".to_string();
        for (event, stored) in [
            (
                Event::Move { text: text(), time_left: unlimited, eval: None },
                r#"{"move":{"text":"11-15"}}"#,
            ),
            (
                Event::Move { text: text(), time_left: clocked, eval: "-0.07,21".parse().ok() },
                r#"{"move":{"text":"11-15","left":[1500,0],"eval":"-0.07,21"}}"#,
            ),
            (Event::Undo { plies: 2, time_left: unlimited }, r#"{"undo":{"plies":2}}"#),
            (
                Event::Undo { plies: 1, time_left: clocked },
                r#"{"undo":{"plies":1,"left":[1500,0]}}"#,
            ),
            (Event::End(End::Resigned(Side::First)), r#"{"end":{"resigned":"first"}}"#),
            (Event::End(End::DrawAgreed), r#"{"end":"agreed"}"#),
            (Event::End(End::OutOfTime(Side::Second)), r#"{"end":{"time":"second"}}"#),
            (Event::Reopen, r#""reopen""#),
        ] {
            let event = HostedEvent::Game(event);
            assert_eq!(encode_event(&event).unwrap(), stored);
            assert_eq!(decode_event(stored).unwrap(), event);
        }
        for (event, stored) in [
            (HostedEvent::Name(Side::First, Some("Ann".into())), r#"{"name":["first","Ann"]}"#),
            (HostedEvent::Name(Side::Second, None), r#"{"name":["second",null]}"#),
            (HostedEvent::Next("abc".into()), r#"{"next":"abc"}"#),
        ] {
            assert_eq!(encode_event(&event).unwrap(), stored);
            assert_eq!(decode_event(stored).unwrap(), event);
        }
        for text in ["", "{}", r#""rename""#, r#"{"end":{"late":"first"}}"#] {
            assert!(decode_event(text).is_err(), "{text}");
        }
    }

    #[test]
    fn events_that_are_not_stored_have_no_stored_form() {
        for event in [Event::ClockStart, Event::Offer(OfferKind::Draw, Side::First)] {
            assert!(!event.is_stored());
            assert!(encode_event(&HostedEvent::Game(event)).is_err());
        }
    }

    #[test]
    fn setups_round_trip() {
        let computer = Mode::Computer {
            side: Side::Second,
            player: CATALOG[0],
            think_time: Duration::from_millis(200),
        };
        for (game, mode, clock, position) in [
            ("chinese-checkers", computer, None, None),
            (
                "english:rules=wcdf",
                Mode::Friend,
                Some(ClockSettings { time: 60_000, increment: 1000 }),
                None,
            ),
            ("contest", Mode::Hotseat, None, Some("B:W32:B11".to_string())),
        ] {
            let setup = GameSetup { game: game.parse().unwrap(), mode, clock, position, seed: 7 };
            assert_eq!(decode_setup(&encode_setup(&setup).unwrap()), Ok(setup));
        }
        for text in ["", "{}", r#"{"game":"english","mode":"alone","seed":7}"#] {
            assert!(decode_setup(text).is_err(), "{text}");
        }
    }
}
