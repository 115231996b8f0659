//! Setup of a game: how it is requested and validated.

use std::time::Duration;

use crownhead_play::position_json::parse_side;
use crownhead_play::{
    CATALOG, CatalogPlayer, Clock, DEFAULT_PLAYER, MAX_POSITION_BYTES, Session, TimeControl,
    new_session,
};
use crownhead_rules::{Game, Side, is_invisible};
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::hosted_game::SeatRights;

/// Maximum length of a name.
pub const MAX_NAME_CHARS: usize = 24;
/// Maximum time for the game.
pub const MAX_MAIN_TIME: Duration = Duration::from_secs(3 * 60 * 60);
/// Maximum increment per move.
pub const MAX_INCREMENT: Duration = Duration::from_secs(3 * 60);
/// Minimum thinking time per move of a computer. The maximum is in
/// [`Limits`](crate::limits::Limits).
pub const MIN_THINK_TIME: Duration = Duration::from_millis(100);
/// Default thinking time per move of a computer.
pub const DEFAULT_THINK_TIME: Duration = Duration::from_secs(1);
/// Maximum number of legal moves in a start position. No position of a real game comes near it, and
/// all legal moves are sent after each move.
const MAX_LEGAL_MOVES: usize = 256;

/// Setup of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameSetup {
    /// The game and its options.
    pub game: Game,
    /// The players.
    pub mode: Mode,
    /// The clock, if there is one.
    pub clock: Option<ClockSettings>,
    /// The start position, if it is not the default one.
    pub position: Option<String>,
    /// Random seed of the computer.
    pub seed: u64,
}

/// Players of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A person against a computer.
    Computer {
        /// The computer's side.
        side: Side,
        /// The computer.
        player: CatalogPlayer,
        /// The computer's thinking time per move.
        think_time: Duration,
    },
    /// Two people at one screen, with one secret for both seats.
    Hotseat,
    /// Two people, with a secret each.
    Friend,
    /// Two computers; everybody watches.
    Computers {
        /// The computers.
        players: [CatalogPlayer; 2],
        /// Thinking time per move.
        think_time: Duration,
    },
}

impl Mode {
    /// The stable external word for the mode.
    pub fn code(&self) -> &'static str {
        match self {
            Mode::Computer { .. } => "computer",
            Mode::Hotseat => "hotseat",
            Mode::Friend => "friend",
            Mode::Computers { .. } => "computers",
        }
    }
}

/// Time control of a game, in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockSettings {
    /// Time for the game.
    pub time: u64,
    /// Increment per move.
    #[serde(default)]
    pub increment: u64,
}

/// Request for a new game.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGameRequest {
    game: String,
    mode: String,
    side: Option<String>,
    player: Option<String>,
    players: Option<[String; 2]>,
    thinking: Option<u64>,
    clock: Option<ClockSettings>,
    name: Option<String>,
    position: Option<String>,
}

/// Validated request for a new game.
pub struct ValidatedRequest {
    /// The setup.
    pub setup: GameSetup,
    /// The sides that the client plays.
    pub rights: SeatRights,
    /// The name of the client.
    pub name: Option<String>,
}

impl NewGameRequest {
    /// Validates the request. `seed` also chooses the side if the request does not.
    pub fn validate(
        self,
        max_think_time: Duration,
        seed: u64,
    ) -> Result<ValidatedRequest, ApiError> {
        if self.game.len() > MAX_POSITION_BYTES {
            let reason = format!("game is longer than {MAX_POSITION_BYTES} bytes");
            return Err(ApiError::bad_request(reason));
        }
        let game: Game =
            self.game.parse().map_err(|error| ApiError::bad_request(format!("{error}")))?;
        if let Some(position) = &self.position
            && parse_position(&game, position)?.legal_moves().len() > MAX_LEGAL_MOVES
        {
            let reason = format!("position has more than {MAX_LEGAL_MOVES} legal moves");
            return Err(ApiError::bad_request(reason));
        }
        let side = match self.side.as_deref() {
            None | Some("random") => [Side::First, Side::Second][(seed & 1) as usize],
            Some(letter) => parse_side(&game, letter).ok_or_else(|| {
                let [first, second] = game.info().sides.map(|side| side.letter);
                ApiError::bad_request(format!("side must be {first}, {second} or random"))
            })?,
        };
        let find_player = |spec: Option<&str>| {
            parse_player(spec.unwrap_or(DEFAULT_PLAYER)).ok_or_else(|| {
                ApiError::bad_request("unknown player: GET /api/games lists the players")
            })
        };
        let (mode, rights) = match self.mode.as_str() {
            "computer" => {
                let think_time = parse_think_time(self.thinking, max_think_time)?;
                let player = find_player(self.player.as_deref())?;
                let mode = Mode::Computer { side: side.other(), player, think_time };
                (mode, SeatRights::only(side))
            }
            "hotseat" => (Mode::Hotseat, SeatRights([true; 2])),
            "friend" => (Mode::Friend, SeatRights::only(side)),
            "computers" => {
                let think_time = parse_think_time(self.thinking, max_think_time)?;
                let specs = match &self.players {
                    Some([first, second]) => [Some(first.as_str()), Some(second.as_str())],
                    None => [None; 2],
                };
                let players = [find_player(specs[0])?, find_player(specs[1])?];
                (Mode::Computers { players, think_time }, SeatRights::default())
            }
            _ => {
                let reason = "mode must be computer, hotseat, friend or computers";
                return Err(ApiError::bad_request(reason));
            }
        };
        let (is_computer, is_watched) =
            (matches!(mode, Mode::Computer { .. }), matches!(mode, Mode::Computers { .. }));
        let misplaced = [
            (self.player.is_some() && !is_computer, "player requires the mode computer"),
            (self.players.is_some() && !is_watched, "players requires the mode computers"),
            (
                self.thinking.is_some() && !is_computer && !is_watched,
                "thinking requires the mode computer or computers",
            ),
            (self.clock.is_some() && is_watched, "the mode computers has no clock"),
        ];
        if let Some((_, reason)) = misplaced.into_iter().find(|(is_misplaced, _)| *is_misplaced) {
            return Err(ApiError::bad_request(reason));
        }
        let clock = self.clock.map(ClockSettings::validate).transpose()?;
        let name = self.name.as_deref().map(parse_name).transpose()?.flatten();
        let setup = GameSetup { game, mode, clock, position: self.position, seed };
        Ok(ValidatedRequest { setup, rights, name })
    }
}

/// Parses a position of a game.
pub fn parse_position(game: &Game, text: &str) -> Result<Box<dyn Session>, ApiError> {
    if text.len() > MAX_POSITION_BYTES {
        let reason = format!("position is longer than {MAX_POSITION_BYTES} bytes");
        return Err(ApiError::bad_request(reason));
    }
    new_session(game, Some(text)).map_err(ApiError::from)
}

fn parse_think_time(millis: Option<u64>, max: Duration) -> Result<Duration, ApiError> {
    let time = millis.map_or(DEFAULT_THINK_TIME, Duration::from_millis);
    if time < MIN_THINK_TIME || time > max {
        let (min, max) = (MIN_THINK_TIME.as_millis(), max.as_millis());
        let reason = format!("thinking must be {min} to {max} milliseconds");
        return Err(ApiError::bad_request(reason));
    }
    Ok(time)
}

/// Finds a player in the catalogue. Other specs are not parsed: they could name any program.
pub(crate) fn parse_player(spec: &str) -> Option<CatalogPlayer> {
    CATALOG.into_iter().find(|player| player.spec == spec)
}

impl ClockSettings {
    fn validate(self) -> Result<ClockSettings, ApiError> {
        let (time, increment) =
            (Duration::from_millis(self.time), Duration::from_millis(self.increment));
        if !time.is_zero() && time <= MAX_MAIN_TIME && increment <= MAX_INCREMENT {
            return Ok(self);
        }
        let reason = format!(
            "clock must have a time of 1 to {} and an increment of at most {} milliseconds",
            MAX_MAIN_TIME.as_millis(),
            MAX_INCREMENT.as_millis()
        );
        Err(ApiError::bad_request(reason))
    }
}

/// Parses a name. White space is collapsed, and an empty name is `None`. Characters that are
/// invisible or change the direction of the text are refused.
pub fn parse_name(text: &str) -> Result<Option<String>, ApiError> {
    let too_long =
        || ApiError::bad_request(format!("name is longer than {MAX_NAME_CHARS} characters"));
    // At most four bytes per character, and some white space.
    if text.len() > 4 * MAX_NAME_CHARS + 32 {
        return Err(too_long());
    }
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(too_long());
    }
    // Some scripts need U+200C and U+200D.
    let is_refused = |c: char| is_invisible(c) && !matches!(c, '\u{200c}' | '\u{200d}');
    if name.chars().any(is_refused) {
        return Err(ApiError::bad_request("name contains control characters"));
    }
    Ok((!name.is_empty()).then_some(name))
}

impl GameSetup {
    /// The computer and its thinking time, if it plays this side.
    pub fn computer(&self, side: Side) -> Option<(&CatalogPlayer, Duration)> {
        match &self.mode {
            Mode::Computer { side: computer, player, think_time } if *computer == side => {
                Some((player, *think_time))
            }
            Mode::Computers { players, think_time } => Some((&players[side.index()], *think_time)),
            _ => None,
        }
    }

    /// The setup of the rematch: colours are swapped.
    pub fn swapped(&self, seed: u64) -> GameSetup {
        let mut setup = GameSetup { seed, ..self.clone() };
        match &mut setup.mode {
            Mode::Computer { side, .. } => *side = side.other(),
            Mode::Computers { players, .. } => players.swap(0, 1),
            Mode::Hotseat | Mode::Friend => {}
        }
        setup
    }

    /// The clock for a search of the computer.
    pub fn computer_clock(&self, think_time: Duration, time_left: Option<Duration>) -> Clock {
        match (self.clock, time_left) {
            (Some(clock), Some(left)) => {
                Clock::PerGame { left, increment: Duration::from_millis(clock.increment) }
            }
            _ => Clock::PerMove(think_time),
        }
    }

    /// The time control.
    pub fn time_control(&self) -> TimeControl {
        self.clock.map_or(TimeControl::Unlimited, |clock| TimeControl::PerGame {
            time: Duration::from_millis(clock.time),
            increment: Duration::from_millis(clock.increment),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;

    fn validate(json: &str) -> Result<ValidatedRequest, ApiError> {
        let request: NewGameRequest = serde_json::from_str(json).unwrap();
        request.validate(Duration::from_secs(10), 7)
    }

    #[test]
    fn invalid_requests_are_refused_with_a_reason() {
        for (request, reason) in [
            (r#"{"game":"chess","mode":"friend"}"#, "unknown game \"chess\""),
            (r#"{"game":"english","mode":"alone"}"#, "mode must be computer, hotseat, friend or"),
            (r##"{"game":"english","mode":"friend","side":"#"}"##, "side must be b, w or random"),
            (r#"{"game":"english","mode":"computer","player":"cmd:rm -rf /"}"#, "unknown player"),
            (r#"{"game":"english","mode":"computer","player":"minimax:30"}"#, "unknown player"),
            (
                r#"{"game":"english","mode":"computer","thinking":99999}"#,
                "thinking must be 100 to 10000",
            ),
            (
                r#"{"game":"english","mode":"friend","player":"random"}"#,
                "player requires the mode computer",
            ),
            (
                r#"{"game":"english","mode":"computer","players":["random","random"]}"#,
                "players requires the mode computers",
            ),
            (
                r#"{"game":"english","mode":"computers","players":["random","cmd:rm -rf /"]}"#,
                "unknown player",
            ),
            (
                r#"{"game":"english","mode":"computers","clock":{"time":1000}}"#,
                "the mode computers has no clock",
            ),
            (
                r#"{"game":"english","mode":"friend","clock":{"time":0}}"#,
                "clock must have a time of 1 to",
            ),
            (r#"{"game":"english","mode":"friend","position":"B:W99:B1"}"#, "position, character"),
            (
                r#"{"game":"capture-halma","mode":"hotseat",
                    "position":"4b3/4b3/1w1w1w2/w1b1b1b1/1w1b1w2/w1w1b3/1w1bb3/8 b 0"}"#,
                "more than 256 legal moves",
            ),
            (
                r#"{"game":"english","mode":"friend","name":"a\u0007"}"#,
                "contains control characters",
            ),
            (
                r#"{"game":"english","mode":"friend","name":"\u202eevil"}"#,
                "contains control characters",
            ),
        ] {
            let Err(error) = validate(request) else { panic!("{request} was accepted") };
            assert!(error.reason.contains(reason), "{request}: {}", error.reason);
        }
        let long = format!(r#"{{"game":"english","mode":"friend","name":"{}"}}"#, "x".repeat(25));
        assert!(validate(&long).is_err());
    }

    #[test]
    fn names_are_trimmed_and_otherwise_unchanged() {
        assert_eq!(parse_name("  Ann \n Lee ").unwrap().unwrap(), "Ann Lee");
        assert_eq!(parse_name("<script>").unwrap().unwrap(), "<script>");
        assert_eq!(parse_name("   ").unwrap(), None);
    }
}
