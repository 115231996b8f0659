//! What a game is played with: the game, who sits where, the clock. How it is asked for, checked and
//! kept.

use std::time::Duration;

use crownhead_play::{CATALOG, CatalogPlayer, Clock, Session, TimeControl, new_session};
use crownhead_rules::{Game, Side};
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, Code};

/// Names have at most so many characters.
pub const MAX_NAME_CHARS: usize = 24;
/// No clock has more time, nor a larger increment.
pub const MAX_MAIN_TIME: Duration = Duration::from_secs(3 * 60 * 60);
/// See `LONGEST_TIME`.
pub const MAX_INCREMENT: Duration = Duration::from_secs(3 * 60);
/// The thinking times that can be asked for; the longest is the server's to choose.
pub const MIN_THINK_TIME: Duration = Duration::from_millis(100);
/// The thinking time when nothing is said.
pub const DEFAULT_THINK_TIME: Duration = Duration::from_secs(1);
const DEFAULT_PLAYER: &str = "level:3";
const MAX_POSITION_BYTES: usize = 300;
/// A game does not begin with a position of more moves: none that comes up in play has so many, and all are
/// listed after each move.
const MAX_LEGAL_MOVES: usize = 256;

/// What is played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameSetup {
    /// The game and its options.
    pub game: Game,
    /// Who plays.
    pub mode: Mode,
    /// The time both have; none without a clock.
    pub clock: Option<ClockSettings>,
    /// The position to begin with, if not the usual one.
    pub position: Option<String>,
    /// What the computer draws by lot follows from it.
    pub seed: u64,
}

/// Who plays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A person against a computer.
    Computer {
        /// The computer's side.
        side: Side,
        /// The computer.
        player: CatalogPlayer,
        /// How long it may think about a move.
        thinking: Duration,
    },
    /// Two people at one screen, who have one secret.
    Hotseat,
    /// Two people with a secret each.
    Friend,
}

/// A clock as it is asked for and told: milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSettings {
    /// For the game.
    pub time: u64,
    /// For each move made.
    #[serde(default)]
    pub increment: u64,
}

/// A wish for a new game.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGameRequest {
    game: String,
    mode: String,
    side: Option<String>,
    player: Option<String>,
    thinking: Option<u64>,
    clock: Option<ClockSettings>,
    name: Option<String>,
    position: Option<String>,
}

/// A wish that can be fulfilled.
pub struct ValidatedRequest {
    /// What is played.
    pub setup: GameSetup,
    /// The side of whoever asked; none if it plays both.
    pub side: Option<Side>,
    /// The name of whoever asked.
    pub name: Option<String>,
}

impl NewGameRequest {
    /// Checks everything that can be wrong with a wish. `seed` decides what is left to chance.
    pub fn grant(self, longest_thought: Duration, seed: u64) -> Result<ValidatedRequest, ApiError> {
        let bad = |reason: String| ApiError::new(Code::BadRequest, reason);
        if self.game.len() > MAX_POSITION_BYTES {
            return Err(bad("the text of a game is shorter than 300 bytes".into()));
        }
        let game: Game = self.game.parse().map_err(|error| bad(format!("{error}")))?;
        if let Some(position) = &self.position
            && parse_position(&game, position)?.legal_moves().len() > MAX_LEGAL_MOVES
        {
            return Err(bad(format!(
                "a game begins with a position of at most {MAX_LEGAL_MOVES} moves"
            )));
        }
        let side = match self.side.as_deref() {
            None | Some("random") => [Side::First, Side::Second][(seed & 1) as usize],
            Some(letter) => parse_side(&game, letter).ok_or_else(|| {
                let [first, second] = game.info().sides.map(|side| side.letter);
                bad(format!("a side is {first}, {second} or random"))
            })?,
        };
        let mode = match self.mode.as_str() {
            "computer" => Mode::Computer {
                side: side.other(),
                player: parse_player(self.player.as_deref().unwrap_or(DEFAULT_PLAYER))
                    .ok_or_else(|| bad("player is one of the players of /api/games".into()))?,
                thinking: parse_think_time(self.thinking, longest_thought)?,
            },
            "hotseat" => Mode::Hotseat,
            "friend" => Mode::Friend,
            _ => return Err(bad("mode is computer, hotseat or friend".into())),
        };
        let is_computer = matches!(mode, Mode::Computer { .. });
        if !is_computer && (self.player.is_some() || self.thinking.is_some()) {
            return Err(bad("player and thinking are for the mode computer".into()));
        }
        let clock = self.clock.map(ClockSettings::check).transpose()?;
        let name = self.name.as_deref().map(parse_name).transpose()?.flatten();
        let side = (mode != Mode::Hotseat).then_some(side);
        let setup = GameSetup { game, mode, clock, position: self.position, seed };
        Ok(ValidatedRequest { setup, side, name })
    }
}

/// Reads a position of a game.
pub fn parse_position(game: &Game, text: &str) -> Result<Box<dyn Session>, ApiError> {
    if text.len() > MAX_POSITION_BYTES {
        let reason = "the text of a position is shorter than 300 bytes";
        return Err(ApiError::new(Code::BadRequest, reason));
    }
    new_session(game, Some(text)).map_err(ApiError::from)
}

fn parse_think_time(millis: Option<u64>, longest: Duration) -> Result<Duration, ApiError> {
    let time = millis.map_or(DEFAULT_THINK_TIME, Duration::from_millis);
    if time < MIN_THINK_TIME || time > longest {
        let reason = format!(
            "thinking is {} to {} milliseconds",
            MIN_THINK_TIME.as_millis(),
            longest.as_millis()
        );
        return Err(ApiError::new(Code::BadRequest, reason));
    }
    Ok(time)
}

/// Nothing but the listed players: a text could name any program.
fn parse_player(spec: &str) -> Option<CatalogPlayer> {
    CATALOG.into_iter().find(|opponent| opponent.spec == spec)
}

impl ClockSettings {
    fn check(self) -> Result<ClockSettings, ApiError> {
        let (time, increment) =
            (Duration::from_millis(self.time), Duration::from_millis(self.increment));
        if !time.is_zero() && time <= MAX_MAIN_TIME && increment <= MAX_INCREMENT {
            return Ok(self);
        }
        let reason = format!(
            "a clock has 1 to {} milliseconds and an increment up to {}",
            MAX_MAIN_TIME.as_millis(),
            MAX_INCREMENT.as_millis()
        );
        Err(ApiError::new(Code::BadRequest, reason))
    }
}

/// Reads a name: blanks are made single, and an empty one is none. What would not be seen, or would
/// change how the rest is read, is refused.
pub fn parse_name(text: &str) -> Result<Option<String>, ApiError> {
    let bad = |reason: &str| Err(ApiError::new(Code::BadRequest, reason));
    // Four bytes a character at most, and some blanks.
    if text.len() > 4 * MAX_NAME_CHARS + 32 {
        return bad("a name has up to 24 characters");
    }
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().count() > MAX_NAME_CHARS {
        return bad("a name has up to 24 characters");
    }
    if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        return bad("a name has no control characters");
    }
    Ok((!name.is_empty()).then_some(name))
}

/// Marks of direction, joiners and the like.
fn is_invisible(c: char) -> bool {
    // Letters are joined and parted by two that are not among them.
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The side of a letter.
pub fn parse_side(game: &Game, letter: &str) -> Option<Side> {
    [Side::First, Side::Second].into_iter().find(|&side| {
        let mut own = [0; 4];
        side_letter(game, side).encode_utf8(&mut own) == letter
    })
}

/// The letter of a side.
pub fn side_letter(game: &Game, side: Side) -> char {
    game.info().sides[side.index()].letter
}

impl GameSetup {
    /// The word for the mode.
    pub fn mode_text(&self) -> &'static str {
        match self.mode {
            Mode::Computer { .. } => "computer",
            Mode::Hotseat => "hotseat",
            Mode::Friend => "friend",
        }
    }

    /// The computer, if it plays this side.
    pub fn computer(&self, side: Side) -> Option<(&CatalogPlayer, Duration)> {
        match &self.mode {
            Mode::Computer { side: own, player, thinking } if *own == side => {
                Some((player, *thinking))
            }
            _ => None,
        }
    }

    /// The same with colours swapped.
    pub fn swapped(&self, seed: u64) -> GameSetup {
        let mut setup = GameSetup { seed, ..self.clone() };
        if let Mode::Computer { side, .. } = &mut setup.mode {
            *side = side.other();
        }
        setup
    }

    /// The clock of a computer that has so much time left.
    pub fn computer_clock(&self, thinking: Duration, left: Option<Duration>) -> Clock {
        match (self.clock, left) {
            (Some(clock), Some(left)) => {
                Clock::PerGame { left, increment: Duration::from_millis(clock.increment) }
            }
            _ => Clock::PerMove(thinking),
        }
    }

    /// The time control, for records.
    pub fn time_control(&self) -> TimeControl {
        self.clock.map_or(TimeControl::Unlimited, |clock| TimeControl::PerGame {
            time: Duration::from_millis(clock.time),
            increment: Duration::from_millis(clock.increment),
        })
    }
}

/// A setup as it is kept.
#[derive(Serialize, Deserialize)]
struct StoredSetup {
    game: String,
    mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    computer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    seed: u64,
}

impl GameSetup {
    /// The text that is kept.
    pub fn write(&self) -> String {
        let mut kept = StoredSetup {
            game: self.game.to_string(),
            mode: self.mode_text().into(),
            computer: None,
            player: None,
            thinking: None,
            clock: self.clock,
            position: self.position.clone(),
            seed: self.seed,
        };
        if let Mode::Computer { side, player, thinking } = &self.mode {
            kept.computer = Some(side_letter(&self.game, *side).into());
            kept.player = Some(player.spec.into());
            kept.thinking = Some(thinking.as_millis() as u64);
        }
        // Strings and numbers: writing them cannot fail.
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Reads what was kept; none if it is something else.
    pub fn read(text: &str) -> Option<GameSetup> {
        let kept: StoredSetup = serde_json::from_str(text).ok()?;
        let game: Game = kept.game.parse().ok()?;
        let mode = match kept.mode.as_str() {
            "computer" => Mode::Computer {
                side: parse_side(&game, &kept.computer?)?,
                player: parse_player(&kept.player?)?,
                thinking: Duration::from_millis(kept.thinking?),
            },
            "hotseat" => Mode::Hotseat,
            "friend" => Mode::Friend,
            _ => return None,
        };
        Some(GameSetup { game, mode, clock: kept.clock, position: kept.position, seed: kept.seed })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;

    fn granted(json: &str) -> Result<ValidatedRequest, ApiError> {
        let wish: NewGameRequest = serde_json::from_str(json).unwrap();
        wish.grant(Duration::from_secs(10), 7)
    }

    #[test]
    fn what_is_kept_is_read_back() {
        for wish in [
            r##"{"game":"chinese-checkers","mode":"computer","side":"#","player":"level:10","thinking":200}"##,
            r#"{"game":"english:rules=wcdf","mode":"friend","clock":{"time":60000,"increment":1000}}"#,
            r#"{"game":"contest","mode":"hotseat","position":"B:W32:B11"}"#,
        ] {
            let setup = granted(wish).unwrap().setup;
            assert_eq!(GameSetup::read(&setup.write()), Some(setup));
        }
    }

    #[test]
    fn wishes_out_of_range_are_refused_with_a_sentence() {
        for (wish, reason) in [
            (r#"{"game":"chess","mode":"friend"}"#, "unknown game \"chess\""),
            (r#"{"game":"english","mode":"alone"}"#, "mode is computer, hotseat or friend"),
            (r##"{"game":"english","mode":"friend","side":"#"}"##, "a side is b, w or random"),
            (r#"{"game":"english","mode":"computer","player":"cmd:rm -rf /"}"#, "player is one of"),
            (r#"{"game":"english","mode":"computer","player":"minimax:30"}"#, "player is one of"),
            (
                r#"{"game":"english","mode":"computer","thinking":99999}"#,
                "thinking is 100 to 10000",
            ),
            (
                r#"{"game":"english","mode":"friend","player":"random"}"#,
                "player and thinking are for",
            ),
            (r#"{"game":"english","mode":"friend","clock":{"time":0}}"#, "a clock has 1 to"),
            (r#"{"game":"english","mode":"friend","position":"B:W99:B1"}"#, "position, character"),
            (
                r#"{"game":"capture-halma","mode":"hotseat","position":"4b3/4b3/1w1w1w2/w1b1b1b1/1w1b1w2/w1w1b3/1w1bb3/8 b 0"}"#,
                "at most 256 moves",
            ),
            (r#"{"game":"english","mode":"friend","name":"a\u0007"}"#, "no control characters"),
            (r#"{"game":"english","mode":"friend","name":"\u202eevil"}"#, "no control characters"),
        ] {
            let Err(error) = granted(wish) else { panic!("{wish} was granted") };
            assert!(error.reason.contains(reason), "{wish}: {}", error.reason);
        }
        let long = format!(r#"{{"game":"english","mode":"friend","name":"{}"}}"#, "x".repeat(25));
        assert!(granted(&long).is_err());
    }

    #[test]
    fn names_are_tidied_and_otherwise_left_as_they_are() {
        assert_eq!(parse_name("  Ann \n Lee ").unwrap().unwrap(), "Ann Lee");
        assert_eq!(parse_name("<script>").unwrap().unwrap(), "<script>");
        assert_eq!(parse_name("   ").unwrap(), None);
    }
}
