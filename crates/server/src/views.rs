//! JSON of games and positions. `docs/api.md` describes it.

use std::time::Duration;

use crownhead_play::OfferKind;
use crownhead_play::position_json::{
    Board, Cells, OutcomeView, PlayedMoveView, PositionView, side_letter,
};
use crownhead_rules::{Game, Side};
use serde::Serialize;

use crate::hosted_game::{HostedGame, PlayedMove};
use crate::ids::GameId;

/// The clients that follow a game.
#[derive(Clone, Copy, Default)]
pub struct Presence {
    /// Whether the player of each side is connected.
    pub online: [bool; 2],
    /// Number of spectators.
    pub spectators: usize,
    /// State of the computer; `None` if it is not to move.
    pub computer: Option<ComputerState>,
}

/// State of the computer player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComputerState {
    /// In the search queue.
    Waiting,
    /// Searching.
    Thinking,
}

/// A seat.
#[derive(Serialize)]
pub struct SeatView<'a> {
    side: char,
    kind: &'static str,
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<&'a str>,
    online: bool,
}

/// The seats of a game.
pub fn seats_view<'a>(game: &'a HostedGame, presence: &Presence) -> [SeatView<'a>; 2] {
    [Side::First, Side::Second].map(|side| {
        let computer = game.setup().computer(side).map(|(player, _)| player);
        SeatView {
            side: side_letter(&game.setup().game, side),
            kind: if computer.is_some() { "computer" } else { "person" },
            name: computer.map(|player| player.name).or(game.name(side)),
            player: computer.map(|player| player.spec),
            online: computer.is_some() || presence.online[side.index()],
        }
    })
}

/// For each kind of offer the side that made it.
#[derive(Serialize)]
pub struct OffersView {
    draw: Option<char>,
    take_back: Option<char>,
    rematch: Option<char>,
}

/// The offers of a game.
pub fn offers_view(game: &HostedGame) -> OffersView {
    let by = |kind| game.offer(kind).map(|side| side_letter(&game.setup().game, side));
    OffersView {
        draw: by(OfferKind::Draw),
        take_back: by(OfferKind::TakeBack),
        rematch: by(OfferKind::Rematch),
    }
}

#[derive(Serialize)]
struct ClocksView {
    time: u64,
    increment: u64,
    left: [u64; 2],
    running: Option<char>,
}

fn clocks_view(game: &HostedGame, now: Duration) -> Option<ClocksView> {
    let (clock, left) = (game.setup().clock?, game.time_left(now)?);
    Some(ClocksView {
        time: clock.time,
        increment: clock.increment,
        left: left.map(|left| left.as_millis() as u64),
        running: game.running().map(|side| side_letter(&game.setup().game, side)),
    })
}

fn played_move_view<'a>(game: &Game, played: &'a PlayedMove) -> PlayedMoveView<'a> {
    PlayedMoveView {
        text: &played.text,
        side: side_letter(game, played.side),
        path: Cells(&played.path),
        captures: Cells(&played.captures),
        board: Some(Board(&played.board)),
    }
}

fn hosted_view<'a>(game: &'a HostedGame, board: &'a [char; 64]) -> PositionView<'a> {
    PositionView::new(game.session(), board, game.legal(), game.end())
}

/// The message `state`.
pub fn state_json(
    id: &GameId,
    game: &HostedGame,
    presence: &Presence,
    now: Duration,
) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct State<'a> {
        r#type: &'static str,
        id: &'a str,
        game: String,
        kind: &'static str,
        mode: &'static str,
        version: u64,
        start: String,
        start_board: Board<'a>,
        #[serde(flatten)]
        view: PositionView<'a>,
        history: Vec<PlayedMoveView<'a>>,
        clocks: Option<ClocksView>,
        seats: [SeatView<'a>; 2],
        watchers: usize,
        offers: OffersView,
        computer: Option<ComputerState>,
        next: Option<&'a str>,
    }
    let setup = game.setup();
    let board = game.session().board();
    serde_json::to_string(&State {
        r#type: "state",
        id: id.as_str(),
        game: setup.game.to_string(),
        kind: setup.game.info().id,
        mode: setup.mode.code(),
        version: game.version(),
        start: game.session().start(),
        start_board: Board(game.start_board()),
        view: hosted_view(game, &board),
        history: game.moves().iter().map(|played| played_move_view(&setup.game, played)).collect(),
        clocks: clocks_view(game, now),
        seats: seats_view(game, presence),
        watchers: presence.spectators,
        offers: offers_view(game),
        computer: presence.computer,
        next: game.next(),
    })
}

/// The message `moved`.
pub fn moved_json(
    game: &HostedGame,
    presence: &Presence,
    now: Duration,
) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Moved<'a> {
        r#type: &'static str,
        version: u64,
        r#move: Option<PlayedMoveView<'a>>,
        #[serde(flatten)]
        view: PositionView<'a>,
        clocks: Option<ClocksView>,
        offers: OffersView,
        computer: Option<ComputerState>,
    }
    let board = game.session().board();
    serde_json::to_string(&Moved {
        r#type: "moved",
        version: game.version(),
        r#move: game.moves().last().map(|played| played_move_view(&game.setup().game, played)),
        view: hosted_view(game, &board),
        clocks: clocks_view(game, now),
        offers: offers_view(game),
        computer: presence.computer,
    })
}

/// Summary of a game for lists.
#[derive(Serialize)]
pub struct Summary {
    id: String,
    game: String,
    kind: &'static str,
    name: &'static str,
    mode: &'static str,
    ply: usize,
    side: char,
    board: String,
    seats: serde_json::Value,
    outcome: Option<OutcomeView>,
    next: Option<String>,
    last_activity: u64,
}

/// Summary of a game for lists. `last_activity` is the time of the last event, in milliseconds
/// since 1970.
pub fn summary(id: &GameId, game: &HostedGame, presence: &Presence, last_activity: u64) -> Summary {
    let (setup, session) = (game.setup(), game.session());
    let info = setup.game.info();
    Summary {
        id: id.as_str().into(),
        game: setup.game.to_string(),
        kind: info.id,
        name: info.name,
        mode: setup.mode.code(),
        ply: session.plies(),
        side: side_letter(&setup.game, session.side()),
        board: session.board().iter().collect(),
        seats: serde_json::to_value(seats_view(game, presence)).unwrap_or_default(),
        outcome: game.end().map(|end| OutcomeView::new(end, game.session())),
        next: game.next().map(String::from),
        last_activity,
    }
}
