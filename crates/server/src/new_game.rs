//! What a game is played with: the game, who sits where, the clock. How it is asked for, checked and
//! kept.

use std::time::Duration;

use crownhead_play::{CATALOG, CatalogPlayer, Clock, Session, TimeControl, new_session};
use crownhead_rules::{Game, Side};
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, Code};

/// Names have at most so many characters.
pub const LONGEST_NAME: usize = 24;
/// No clock has more time, nor a larger increment.
pub const LONGEST_TIME: Duration = Duration::from_secs(3 * 60 * 60);
/// See [`LONGEST_TIME`].
pub const LONGEST_INCREMENT: Duration = Duration::from_secs(3 * 60);
/// The thinking times that can be asked for; the longest is the server's to choose.
pub const SHORTEST_THOUGHT: Duration = Duration::from_millis(100);
/// The thinking time when nothing is said.
pub const USUAL_THOUGHT: Duration = Duration::from_secs(1);
const USUAL_PLAYER: &str = "level:3";
const LONGEST_TEXT: usize = 300;
/// A game does not begin with a position of more moves: none that comes up in play has so many, and all are
/// listed after each move.
const MOST_MOVES: usize = 256;

/// What is played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The game and its options.
    pub game: Game,
    /// Who plays.
    pub mode: Mode,
    /// The time both have; none without a clock.
    pub clock: Option<ClockText>,
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
pub struct ClockText {
    /// For the game.
    pub time: u64,
    /// For each move made.
    #[serde(default)]
    pub increment: u64,
}

/// A wish for a new game.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    game: String,
    mode: String,
    side: Option<String>,
    player: Option<String>,
    thinking: Option<u64>,
    clock: Option<ClockText>,
    name: Option<String>,
    position: Option<String>,
}

/// A wish that can be fulfilled.
pub struct Granted {
    /// What is played.
    pub setup: Setup,
    /// The side of whoever asked; none if it plays both.
    pub side: Option<Side>,
    /// The name of whoever asked.
    pub name: Option<String>,
}

impl Wish {
    /// Checks everything that can be wrong with a wish. `seed` decides what is left to chance.
    pub fn grant(self, longest_thought: Duration, seed: u64) -> Result<Granted, ApiError> {
        let bad = |reason: String| ApiError::new(Code::BadRequest, reason);
        if self.game.len() > LONGEST_TEXT {
            return Err(bad("the text of a game is shorter than 300 bytes".into()));
        }
        let game: Game = self.game.parse().map_err(|error| bad(format!("{error}")))?;
        if let Some(position) = &self.position
            && read_position(&game, position)?.legal_moves().len() > MOST_MOVES
        {
            return Err(bad(format!(
                "a game begins with a position of at most {MOST_MOVES} moves"
            )));
        }
        let side = match self.side.as_deref() {
            None | Some("random") => [Side::First, Side::Second][(seed & 1) as usize],
            Some(letter) => read_side(&game, letter).ok_or_else(|| {
                let [first, second] = game.info().sides.map(|side| side.letter);
                bad(format!("a side is {first}, {second} or random"))
            })?,
        };
        let mode = match self.mode.as_str() {
            "computer" => Mode::Computer {
                side: side.other(),
                player: read_player(self.player.as_deref().unwrap_or(USUAL_PLAYER))
                    .ok_or_else(|| bad("player is one of the players of /api/games".into()))?,
                thinking: read_thinking(self.thinking, longest_thought)?,
            },
            "hotseat" => Mode::Hotseat,
            "friend" => Mode::Friend,
            _ => return Err(bad("mode is computer, hotseat or friend".into())),
        };
        let is_computer = matches!(mode, Mode::Computer { .. });
        if !is_computer && (self.player.is_some() || self.thinking.is_some()) {
            return Err(bad("player and thinking are for the mode computer".into()));
        }
        let clock = self.clock.map(ClockText::check).transpose()?;
        let name = self.name.as_deref().map(read_name).transpose()?.flatten();
        let side = (mode != Mode::Hotseat).then_some(side);
        let setup = Setup { game, mode, clock, position: self.position, seed };
        Ok(Granted { setup, side, name })
    }
}

/// Reads a position of a game.
pub fn read_position(game: &Game, text: &str) -> Result<Box<dyn Session>, ApiError> {
    if text.len() > LONGEST_TEXT {
        let reason = "the text of a position is shorter than 300 bytes";
        return Err(ApiError::new(Code::BadRequest, reason));
    }
    new_session(game, Some(text)).map_err(ApiError::from)
}

fn read_thinking(millis: Option<u64>, longest: Duration) -> Result<Duration, ApiError> {
    let time = millis.map_or(USUAL_THOUGHT, Duration::from_millis);
    if time < SHORTEST_THOUGHT || time > longest {
        let reason = format!(
            "thinking is {} to {} milliseconds",
            SHORTEST_THOUGHT.as_millis(),
            longest.as_millis()
        );
        return Err(ApiError::new(Code::BadRequest, reason));
    }
    Ok(time)
}

/// Nothing but the listed players: a text could name any program.
fn read_player(spec: &str) -> Option<CatalogPlayer> {
    CATALOG.into_iter().find(|opponent| opponent.spec == spec)
}

impl ClockText {
    fn check(self) -> Result<ClockText, ApiError> {
        let (time, increment) =
            (Duration::from_millis(self.time), Duration::from_millis(self.increment));
        if !time.is_zero() && time <= LONGEST_TIME && increment <= LONGEST_INCREMENT {
            return Ok(self);
        }
        let reason = format!(
            "a clock has 1 to {} milliseconds and an increment up to {}",
            LONGEST_TIME.as_millis(),
            LONGEST_INCREMENT.as_millis()
        );
        Err(ApiError::new(Code::BadRequest, reason))
    }
}

/// Reads a name: blanks are made single, and an empty one is none. What would not be seen, or would
/// change how the rest is read, is refused.
pub fn read_name(text: &str) -> Result<Option<String>, ApiError> {
    let bad = |reason: &str| Err(ApiError::new(Code::BadRequest, reason));
    // Four bytes a character at most, and some blanks.
    if text.len() > 4 * LONGEST_NAME + 32 {
        return bad("a name has up to 24 characters");
    }
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().count() > LONGEST_NAME {
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
pub fn read_side(game: &Game, letter: &str) -> Option<Side> {
    [Side::First, Side::Second].into_iter().find(|&side| {
        let mut own = [0; 4];
        side_letter(game, side).encode_utf8(&mut own) == letter
    })
}

/// The letter of a side.
pub fn side_letter(game: &Game, side: Side) -> char {
    game.info().sides[side.index()].letter
}

impl Setup {
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
    pub fn swapped(&self, seed: u64) -> Setup {
        let mut setup = Setup { seed, ..self.clone() };
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
struct Kept {
    game: String,
    mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    computer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<String>,
    seed: u64,
}

impl Setup {
    /// The text that is kept.
    pub fn write(&self) -> String {
        let mut kept = Kept {
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
    pub fn read(text: &str) -> Option<Setup> {
        let kept: Kept = serde_json::from_str(text).ok()?;
        let game: Game = kept.game.parse().ok()?;
        let mode = match kept.mode.as_str() {
            "computer" => Mode::Computer {
                side: read_side(&game, &kept.computer?)?,
                player: read_player(&kept.player?)?,
                thinking: Duration::from_millis(kept.thinking?),
            },
            "hotseat" => Mode::Hotseat,
            "friend" => Mode::Friend,
            _ => return None,
        };
        Some(Setup { game, mode, clock: kept.clock, position: kept.position, seed: kept.seed })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may fail
mod tests {
    use super::*;

    fn granted(json: &str) -> Result<Granted, ApiError> {
        let wish: Wish = serde_json::from_str(json).unwrap();
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
            assert_eq!(Setup::read(&setup.write()), Some(setup));
        }
    }

    #[test]
    fn wishes_out_of_range_are_refused_with_a_sentence() {
        for (wish, reason) in [
            (r#"{"game":"chess","mode":"friend"}"#, "there is no game \"chess\""),
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
        assert_eq!(read_name("  Ann \n Lee ").unwrap().unwrap(), "Ann Lee");
        assert_eq!(read_name("<script>").unwrap().unwrap(), "<script>");
        assert_eq!(read_name("   ").unwrap(), None);
    }
}
