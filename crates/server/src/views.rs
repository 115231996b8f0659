//! Games as the page is told of them. `docs/server.md` has the shapes.

use std::time::Duration;

use crownhead_play::{LegalMove, OfferKind, Session, to_sentence};
use crownhead_rules::{Cell, Game, Outcome, Side};
use serde::{Serialize, Serializer};

use crate::hosted_game::{HostedGame, PlayedMove};
use crate::ids::GameId;
use crate::new_game::side_letter;

/// A position and what is possible in it.
#[derive(Serialize)]
pub struct View<'a> {
    position: String,
    board: Board<'a>,
    side: char,
    ply: usize,
    legal: Legal<'a>,
    must_capture: bool,
    outcome: Option<OutcomeView>,
}

/// How a game ended.
#[derive(Serialize)]
pub struct OutcomeView {
    winner: Option<char>,
    reason: &'static str,
    score: Option<(u8, u8)>,
    text: String,
}

/// A move that was made.
#[derive(Serialize)]
pub struct MadeView<'a> {
    text: &'a str,
    side: char,
    path: Cells<'a>,
    captures: Cells<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    board: Option<Board<'a>>,
}

struct Board<'a>(&'a [char; 64]);
struct Cells<'a>(&'a [Cell]);
struct CellText(Cell);
struct Legal<'a>(&'a [LegalMove]);

impl Serialize for Board<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().collect::<String>())
    }
}

impl Serialize for CellText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().copied().map(CellText))
    }
}

impl Serialize for Legal<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Move<'a> {
            text: &'a str,
            from: Option<CellText>,
            to: Option<CellText>,
            path: Cells<'a>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            other_paths: Vec<Cells<'a>>,
            captures: Cells<'a>,
        }
        serializer.collect_seq(self.0.iter().map(|mv| Move {
            text: &mv.text,
            from: mv.path.first().copied().map(CellText),
            to: mv.path.last().copied().map(CellText),
            path: Cells(&mv.path),
            other_paths: mv.other_paths.iter().map(|path| Cells(path)).collect(),
            captures: Cells(&mv.captures),
        }))
    }
}

fn must_capture(game: &Game, legal: &[LegalMove]) -> bool {
    game.info().forced_capture && legal.first().is_some_and(|mv| !mv.captures.is_empty())
}

fn outcome_view(game: &Game, outcome: Outcome, text: String) -> OutcomeView {
    OutcomeView {
        winner: outcome.winner.map(|side| side_letter(game, side)),
        reason: outcome.reason.code(),
        score: outcome.score,
        text,
    }
}

/// The end of a hosted game.
pub fn ending_view(game: &HostedGame) -> Option<OutcomeView> {
    let end = game.end()?;
    Some(OutcomeView {
        winner: end.winner().map(|side| side_letter(&game.setup().game, side)),
        reason: end.code(),
        score: end.score(),
        text: end.describe(game.session()),
    })
}

/// A position that belongs to no hosted game, with its legal moves, and the last move if one was made.
pub fn position_json(
    session: &dyn Session,
    last: Option<(&LegalMove, Side)>,
) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Answer<'a> {
        #[serde(flatten)]
        view: View<'a>,
        last: Option<MadeView<'a>>,
    }
    let (game, board, legal) = (session.game(), session.board(), session.legal_moves());
    let text = session.outcome_text().map(|text| to_sentence(&text)).unwrap_or_default();
    serde_json::to_string(&Answer {
        view: View {
            position: session.position(),
            board: Board(&board),
            side: side_letter(game, session.side()),
            ply: session.plies(),
            must_capture: must_capture(game, &legal),
            legal: Legal(&legal),
            outcome: session.outcome().map(|outcome| outcome_view(game, outcome, text)),
        },
        last: last.map(|(mv, side)| MadeView {
            text: &mv.text,
            side: side_letter(game, side),
            path: Cells(&mv.path),
            captures: Cells(&mv.captures),
            board: None,
        }),
    })
}

/// What the server knows of a game besides the game itself.
#[derive(Clone, Copy, Default)]
pub struct Presence {
    /// Whether the player of each side is connected.
    pub online: [bool; 2],
    /// How many look on.
    pub watchers: usize,
    /// What the computer does.
    pub computer: Option<Computer>,
}

/// What the computer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Computer {
    /// Others are served first.
    Waiting,
    /// It thinks.
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

/// Who has offered what.
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

fn made_view<'a>(kind: &Game, made: &'a PlayedMove) -> MadeView<'a> {
    MadeView {
        text: &made.text,
        side: side_letter(kind, made.side),
        path: Cells(&made.path),
        captures: Cells(&made.captures),
        board: Some(Board(&made.board)),
    }
}

fn hosted_view<'a>(game: &'a HostedGame, board: &'a [char; 64]) -> View<'a> {
    let session = game.session();
    View {
        position: session.position(),
        board: Board(board),
        side: side_letter(session.game(), session.side()),
        ply: session.plies(),
        legal: Legal(game.legal()),
        must_capture: must_capture(session.game(), game.legal()),
        outcome: ending_view(game),
    }
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
        view: View<'a>,
        history: Vec<MadeView<'a>>,
        clocks: Option<ClocksView>,
        seats: [SeatView<'a>; 2],
        watchers: usize,
        offers: OffersView,
        computer: Option<Computer>,
        next: Option<&'a str>,
    }
    let setup = game.setup();
    let board = game.session().board();
    serde_json::to_string(&State {
        r#type: "state",
        id: id.as_str(),
        game: setup.game.to_string(),
        kind: setup.game.info().id,
        mode: setup.mode_text(),
        version: game.version(),
        start: game.session().start(),
        start_board: Board(game.start_board()),
        view: hosted_view(game, &board),
        history: game.moves().iter().map(|made| made_view(&setup.game, made)).collect(),
        clocks: clocks_view(game, now),
        seats: seats_view(game, presence),
        watchers: presence.watchers,
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
        r#move: Option<MadeView<'a>>,
        #[serde(flatten)]
        view: View<'a>,
        clocks: Option<ClocksView>,
        offers: OffersView,
        computer: Option<Computer>,
    }
    let board = game.session().board();
    serde_json::to_string(&Moved {
        r#type: "moved",
        version: game.version(),
        r#move: game.moves().last().map(|made| made_view(&game.setup().game, made)),
        view: hosted_view(game, &board),
        clocks: clocks_view(game, now),
        offers: offers_view(game),
        computer: presence.computer,
    })
}

/// A game in a list.
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

/// A game in a list. `last_activity` is the time of its last change, in milliseconds since 1970.
pub fn summary(id: &GameId, game: &HostedGame, presence: &Presence, last_activity: u64) -> Summary {
    let (setup, session) = (game.setup(), game.session());
    let info = setup.game.info();
    Summary {
        id: id.as_str().into(),
        game: setup.game.to_string(),
        kind: info.id,
        name: info.name,
        mode: setup.mode_text(),
        ply: session.plies(),
        side: side_letter(&setup.game, session.side()),
        board: session.board().iter().collect(),
        seats: serde_json::to_value(seats_view(game, presence)).unwrap_or_default(),
        outcome: ending_view(game),
        next: game.next().map(String::from),
        last_activity,
    }
}
