//! A hosted game without a socket: seats, versions, modes, names and the stored events. The game
//! itself is tested in `crownhead_play`.
use std::time::Duration;

use crownhead_play::{Action, CATALOG, Choice, End, Event, OfferKind};
use crownhead_rules::{Game, Side};
use crownhead_server::error::RefusalCode;
use crownhead_server::hosted_game::{Effect, HostedEvent, HostedGame, SeatRights};
use crownhead_server::new_game::{ClockSettings, GameSetup, Mode};
use crownhead_server::store::codec::{decode_event, encode_event};

const FIRST: SeatRights = SeatRights([true, false]);
const SECOND: SeatRights = SeatRights([false, true]);
const BOTH: SeatRights = SeatRights([true, true]);
const SPECTATOR: SeatRights = SeatRights([false, false]);

const DRAW: Action = Action::Offer(OfferKind::Draw);
const TAKE_BACK: Action = Action::Offer(OfferKind::TakeBack);
const REMATCH: Action = Action::Offer(OfferKind::Rematch);

fn setup(mode: Mode) -> GameSetup {
    GameSetup {
        game: Game::English(Default::default()),
        mode,
        clock: None,
        position: None,
        seed: 1,
    }
}

fn computer() -> Mode {
    let player = CATALOG[0];
    Mode::Computer { side: Side::Second, player, think_time: Duration::from_secs(1) }
}

/// A game whose time the test sets, and its stored events.
struct Table {
    game: HostedGame,
    now: Duration,
    stored: Vec<String>,
}

impl Table {
    fn new(setup: GameSetup) -> Table {
        let now = Duration::from_secs(100);
        Table { game: HostedGame::new(setup, now).unwrap(), now, stored: Vec::new() }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
    }

    fn act(&mut self, rights: SeatRights, action: Action) -> Result<Effect, RefusalCode> {
        let version = self.game.version();
        let decided = self.game.decide(rights, version, &action, self.now);
        let effect = decided.map_err(|refusal| refusal.code)?;
        match &effect {
            Effect::Append(event) => self.append(event.clone()),
            Effect::Apply(event) | Effect::AskComputer(event) => {
                self.game.apply(&HostedEvent::Game(event.clone()), self.now).unwrap();
            }
            Effect::Decline(..) | Effect::StartRematch => {}
        }
        Ok(effect)
    }

    fn append(&mut self, event: HostedEvent) {
        self.game.apply(&event, self.now).unwrap();
        self.stored.push(encode_event(&event).unwrap());
    }

    fn play(&mut self, moves: &str) {
        for text in moves.split_whitespace() {
            let rights = match self.game.session().side() {
                Side::First => FIRST,
                Side::Second => SECOND,
            };
            self.act(rights, Action::Move(text.into())).unwrap();
        }
    }

    fn left(&self) -> [u64; 2] {
        self.game.time_left(self.now).unwrap().map(|left| left.as_millis() as u64)
    }
}

fn ended(end: End) -> Result<Effect, RefusalCode> {
    Ok(Effect::Append(HostedEvent::Game(Event::End(end))))
}

#[test]
fn only_the_side_to_move_can_move() {
    let mut table = Table::new(setup(Mode::Friend));
    let first_move = || Action::Move("11-15".into());
    assert_eq!(table.act(SECOND, first_move()), Err(RefusalCode::Seat));
    assert_eq!(table.act(SPECTATOR, first_move()), Err(RefusalCode::Seat));
    assert!(table.act(FIRST, first_move()).is_ok());
    assert_eq!(table.act(FIRST, Action::Move("8-11".into())), Err(RefusalCode::Seat));
    assert_eq!(table.game.session().moves(), ["11-15"]);
}

#[test]
fn spectators_can_do_nothing() {
    let mut table = Table::new(setup(Mode::Friend));
    table.play("11-15 22-18");
    for action in [
        Action::Resign,
        DRAW,
        TAKE_BACK,
        REMATCH,
        Action::Accept(OfferKind::Draw),
        Action::Decline(OfferKind::Draw),
    ] {
        assert_eq!(table.act(SPECTATOR, action), Err(RefusalCode::Seat));
    }
}

#[test]
fn action_for_another_version_is_stale() {
    let mut table = Table::new(setup(Mode::Hotseat));
    let action = Action::Move("11-15".into());
    table.act(BOTH, action.clone()).unwrap();
    for version in [0, 2, u64::MAX] {
        let refused = table.game.decide(BOTH, version, &action, table.now).unwrap_err();
        assert_eq!(refused.code, RefusalCode::Stale);
    }
    assert_eq!(table.game.version(), 1);
}

#[test]
fn illegal_move_is_refused_with_the_rule_and_changes_nothing() {
    let mut table = Table::new(setup(Mode::Friend));
    table.play("11-15 22-18");
    let before = table.game.session().position();
    let action = Action::Move("8-11".into());
    let refused = table.game.decide(FIRST, 2, &action, table.now).unwrap_err();
    assert_eq!(refused.code, RefusalCode::Illegal);
    assert_eq!(refused.kind, Some("rule"));
    assert_eq!(refused.reason, "illegal: 15x22 is mandatory");
    assert_eq!((table.game.session().position(), table.game.version()), (before, 2));
}

#[test]
fn friends_agree_to_a_draw_by_offer_and_answer() {
    for answer in [DRAW, Action::Accept(OfferKind::Draw)] {
        let mut table = Table::new(setup(Mode::Friend));
        table.play("11-15");
        let accept = || Action::Accept(OfferKind::Draw);
        assert_eq!(table.act(FIRST, accept()), Err(RefusalCode::Nothing));
        let offer = Event::Offer(OfferKind::Draw, Side::First);
        assert_eq!(table.act(FIRST, DRAW), Ok(Effect::Apply(offer)));
        assert_eq!(table.game.offer(OfferKind::Draw), Some(Side::First));
        assert_eq!(table.act(FIRST, accept()), Err(RefusalCode::Nothing), "the offer is their own");
        assert_eq!(table.act(SECOND, answer), ended(End::DrawAgreed));
        assert_eq!(table.act(SECOND, Action::Move("22-18".into())), Err(RefusalCode::Over));
    }
}

#[test]
fn computer_considers_a_draw_offer_and_not_again_for_some_plies() {
    let mut table = Table::new(setup(computer()));
    let offer = Event::Offer(OfferKind::Draw, Side::First);
    assert_eq!(table.act(FIRST, DRAW), Ok(Effect::AskComputer(offer)));
    assert_eq!(table.game.offer(OfferKind::Draw), None, "shown only to people");
    let answer = || Action::Decline(OfferKind::Draw);
    assert_eq!(table.act(FIRST, answer()), Err(RefusalCode::Nothing));
    let declined = Effect::Apply(Event::Decline(OfferKind::Draw, Side::Second));
    assert_eq!(table.game.answer_draw(false, table.now), Ok(declined.clone()));
    let Effect::Apply(event) = declined else { panic!("not an offer") };
    table.game.apply(&HostedEvent::Game(event), table.now).unwrap();
    let again = Effect::Decline(OfferKind::Draw, Side::Second);
    assert_eq!(table.act(FIRST, DRAW), Ok(again));
    table.play("11-15");
    assert_eq!(table.act(FIRST, DRAW), Err(RefusalCode::Seat), "it is the computer's turn");
    let mut accepting = Table::new(setup(computer()));
    accepting.act(FIRST, DRAW).unwrap();
    let agreed = accepting.game.answer_draw(true, accepting.now).map_err(|error| error.code);
    assert_eq!(agreed, ended(End::DrawAgreed));
}

#[test]
fn friends_take_back_by_agreement() {
    let mut table = Table::new(setup(Mode::Friend));
    assert_eq!(table.act(FIRST, TAKE_BACK), Err(RefusalCode::Nothing));
    table.play("11-15 22-18");
    let offer = Event::Offer(OfferKind::TakeBack, Side::First);
    assert_eq!(table.act(FIRST, TAKE_BACK), Ok(Effect::Apply(offer)));
    assert_eq!(table.game.session().plies(), 2);
    table.act(SECOND, Action::Accept(OfferKind::TakeBack)).unwrap();
    assert_eq!((table.game.session().plies(), table.game.moves().len()), (0, 0));
}

#[test]
fn against_a_computer_moves_and_resignations_are_taken_back_at_once() {
    let mut table = Table::new(setup(computer()));
    table.play("11-15");
    let event = table.game.decide_computer(&Choice::from_text("22-18".into()), table.now).unwrap();
    table.append(event);
    table.act(FIRST, TAKE_BACK).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    table.act(FIRST, Action::Resign).unwrap();
    assert_eq!(table.game.describe_end().unwrap(), "Black resigns: White wins.");
    assert_eq!(table.game.legal(), []);
    table.act(FIRST, TAKE_BACK).unwrap();
    assert!(!table.game.is_over());
    table.play("11-15");
}

#[test]
fn recorded_moves_have_clock_times_and_the_computers_evaluation() {
    let clock = Some(ClockSettings { time: 60_000, increment: 1000 });
    let mut table = Table::new(GameSetup { clock, ..setup(computer()) });
    table.play("9-14 23-19");
    table.act(FIRST, TAKE_BACK).unwrap();
    table.play("11-15");
    let choice = Choice { score: Some(35), depth: 18, ..Choice::from_text("22-18".into()) };
    table.append(table.game.decide_computer(&choice, table.now).unwrap());
    let replayed = table.stored.iter().fold(
        HostedGame::new(table.game.setup().clone(), table.now).unwrap(),
        |mut game, event| {
            game.apply(&decode_event(event).unwrap(), table.now).unwrap();
            game
        },
    );
    for game in [&table.game, &replayed] {
        let plies = game.recorded_plies();
        let texts: Vec<_> = plies.iter().map(|ply| ply.text.as_str()).collect();
        assert_eq!(texts, ["11-15", "22-18"]);
        assert!(plies[0].data().clock.is_some() && plies[0].data().eval.is_none(), "{plies:?}");
        let comment = plies[1].comment.as_deref().unwrap();
        assert_eq!(comment, "[%clk 0:01:00] [%eval -0.35,18]", "the clocks start after two plies");
    }
}

#[test]
fn at_one_screen_the_side_to_move_resigns_and_draws_are_agreed_at_once() {
    let mut table = Table::new(setup(Mode::Hotseat));
    table.play("11-15");
    assert_eq!(table.act(BOTH, Action::Resign), ended(End::Resigned(Side::Second)));
    table.act(BOTH, TAKE_BACK).unwrap();
    table.act(BOTH, TAKE_BACK).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    assert_eq!(table.act(BOTH, DRAW), ended(End::DrawAgreed));
}

#[test]
fn rematch_needs_a_finished_game_and_the_consent_of_both_friends() {
    let mut table = Table::new(setup(Mode::Friend));
    assert_eq!(table.act(FIRST, REMATCH), Err(RefusalCode::Nothing));
    table.act(FIRST, Action::Resign).unwrap();
    let offer = Event::Offer(OfferKind::Rematch, Side::First);
    assert_eq!(table.act(FIRST, REMATCH), Ok(Effect::Apply(offer)));
    let accepted = table.act(SECOND, Action::Accept(OfferKind::Rematch));
    assert_eq!(accepted, Ok(Effect::StartRematch));
    table.append(HostedEvent::Next("id".into()));
    assert_eq!(table.game.next(), Some("id"));
    assert_eq!(table.act(FIRST, REMATCH), Err(RefusalCode::Nothing));
    let mut table = Table::new(setup(computer()));
    table.act(FIRST, Action::Resign).unwrap();
    assert_eq!(table.act(FIRST, REMATCH), Ok(Effect::StartRematch));
    table.append(HostedEvent::Next("id".into()));
    assert_eq!(table.act(FIRST, TAKE_BACK), Err(RefusalCode::Over));
    assert!(setup(computer()).swapped(2).computer(Side::First).is_some());
}

#[test]
fn renames_do_not_count_as_moves() {
    let mut table = Table::new(setup(Mode::Friend));
    for number in 0..3000 {
        table.append(HostedEvent::Name(Side::Second, Some(format!("Name {number}"))));
    }
    assert!(!table.game.can_rename(Side::Second) && table.game.can_rename(Side::First));
    table.play("11-15");
    assert_eq!((table.game.events(), table.game.version()), (3001, 1));
}

#[test]
fn number_of_events_is_limited() {
    let mut table = Table::new(setup(Mode::Hotseat));
    for _ in 0..1000 {
        table.act(BOTH, Action::Move("11-15".into())).unwrap();
        table.act(BOTH, TAKE_BACK).unwrap();
    }
    assert_eq!(table.act(BOTH, Action::Move("11-15".into())), Err(RefusalCode::TooMany));
    assert_eq!(table.act(BOTH, TAKE_BACK), Err(RefusalCode::TooMany));
    table.act(BOTH, Action::Resign).unwrap();
}

fn with_clock() -> GameSetup {
    let clock = Some(ClockSettings { time: 10_000, increment: 1000 });
    GameSetup { clock, ..setup(Mode::Friend) }
}

#[test]
fn clocks_run_once_both_have_moved() {
    let mut table = Table::new(with_clock());
    table.wait(Duration::from_secs(3600));
    table.play("11-15");
    table.wait(Duration::from_secs(3600));
    table.play("22-18");
    assert_eq!(table.left(), [10_000, 10_000], "a friend may join late");
    table.wait(Duration::from_secs(4));
    assert_eq!(table.left(), [6_000, 10_000]);
    table.play("15x22");
    assert_eq!(table.left(), [7_000, 10_000]);
}

#[test]
fn late_action_loses_on_time() {
    let mut table = Table::new(with_clock());
    table.play("11-15 22-18");
    table.wait(Duration::from_secs(10));
    let late = table.act(FIRST, Action::Move("15x22".into()));
    assert_eq!(late, ended(End::OutOfTime(Side::First)));
    assert_eq!(table.left()[0], 0);
    assert_eq!(table.act(FIRST, TAKE_BACK), Err(RefusalCode::Over));
}

#[test]
fn clock_of_a_computer_runs_only_while_it_thinks() {
    let mut table = Table::new(GameSetup { mode: computer(), ..with_clock() });
    table.play("11-15");
    let event = table.game.decide_computer(&Choice::from_text("22-18".into()), table.now).unwrap();
    table.append(event);
    table.play("15x22");
    table.wait(Duration::from_secs(60));
    assert_eq!(table.game.running(), None, "the search is still queued");
    table.game.on_player_joined(table.now);
    assert_eq!(table.game.running(), None);
    table.game.start_turn(table.now);
    table.wait(Duration::from_secs(1));
    assert_eq!(table.left()[1], 9_000);
}

#[test]
fn loaded_game_waits_for_a_player() {
    let mut table = Table::new(with_clock());
    table.play("11-15 22-18");
    table.game.pause();
    table.wait(Duration::from_secs(3600));
    assert_eq!((table.game.running(), table.left()), (None, [10_000, 10_000]));
    table.game.on_player_joined(table.now);
    table.wait(Duration::from_secs(1));
    table.game.on_player_joined(table.now);
    assert_eq!(table.left(), [9_000, 10_000], "only the first player to join starts the turn");
}

#[test]
fn stored_events_restore_the_game() {
    let mut table = Table::new(with_clock());
    table.play("11-15 22-18");
    table.wait(Duration::from_secs(2));
    table.play("15x22 25x18");
    table.act(FIRST, TAKE_BACK).unwrap();
    table.act(SECOND, Action::Accept(OfferKind::TakeBack)).unwrap();
    table.play("15x22 26x17");
    table.append(HostedEvent::Name(Side::First, Some("Ann".into())));
    table.act(SECOND, Action::Resign).unwrap();
    table.append(HostedEvent::Next("id".into()));
    let later = table.now + Duration::from_secs(1_000_000);
    let mut again = HostedGame::new(with_clock(), later).unwrap();
    for text in &table.stored {
        again.apply(&decode_event(text).unwrap(), later).unwrap();
    }
    assert_eq!(again.session().moves(), table.game.session().moves());
    assert_eq!((again.version(), again.events()), (table.game.version(), table.stored.len()));
    assert_eq!(again.moves(), table.game.moves());
    assert_eq!(again.end(), table.game.end());
    assert_eq!((again.name(Side::First), again.next()), (Some("Ann"), Some("id")));
    assert_eq!(again.time_left(later), table.game.time_left(table.now));
}
