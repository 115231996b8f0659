//! A hosted game without a socket: who may do what, clocks, offers, and that its events are the game.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)] // a test may fail

use std::time::{Duration, Instant};

use crownhead_play::CATALOG;
use crownhead_rules::{Game, Side};
use crownhead_server::deeds::{Action, Decision, Deed, Event, RefusalCode, Rights, What};
use crownhead_server::hosted_game::HostedGame;
use crownhead_server::new_game::{ClockSettings, GameSetup, Mode};

const FIRST: Rights = Rights([true, false]);
const SECOND: Rights = Rights([false, true]);
const BOTH: Rights = Rights([true, true]);
const NOBODY: Rights = Rights([false, false]);

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
    Mode::Computer { side: Side::Second, player, thinking: Duration::from_secs(1) }
}

/// A game with a time that the test sets, and all that was kept of it.
struct Table {
    game: HostedGame,
    now: Instant,
    kept: Vec<Event>,
}

impl Table {
    fn new(setup: GameSetup) -> Table {
        let now = Instant::now();
        Table { game: HostedGame::new(setup, now).unwrap(), now, kept: Vec::new() }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    fn act(&mut self, rights: Rights, action: Action) -> Result<Deed, RefusalCode> {
        let version = self.game.version();
        let deed = self.game.decide(rights, version, &action, self.now);
        if let Ok(Deed::Happens(event)) = &deed {
            self.happen(event.clone());
        }
        deed.map_err(|refusal| refusal.code)
    }

    fn happen(&mut self, event: Event) {
        self.game.apply(&event, self.now).unwrap();
        self.kept.push(event);
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
        self.game.left(self.now).unwrap().map(|left| left.as_millis() as u64)
    }
}

#[test]
fn only_the_side_to_move_moves() {
    let mut table = Table::new(setup(Mode::Friend));
    let step = || Action::Move("11-15".into());
    assert_eq!(table.act(SECOND, step()), Err(RefusalCode::Seat));
    assert_eq!(table.act(NOBODY, step()), Err(RefusalCode::Seat));
    assert!(table.act(FIRST, step()).is_ok());
    assert_eq!(table.act(FIRST, Action::Move("8-11".into())), Err(RefusalCode::Seat));
    assert_eq!(table.game.session().moves(), ["11-15"]);
}

#[test]
fn who_looks_on_can_do_nothing() {
    let mut table = Table::new(setup(Mode::Friend));
    table.play("11-15 22-18");
    for action in [
        Action::Resign,
        Action::Offer(What::Draw),
        Action::Offer(What::TakeBack),
        Action::Offer(What::Rematch),
        Action::Accept(What::Draw),
        Action::Decline(What::Draw),
    ] {
        assert_eq!(table.act(NOBODY, action), Err(RefusalCode::Seat));
    }
}

#[test]
fn a_move_for_another_version_is_stale_and_so_is_its_repetition() {
    let mut table = Table::new(setup(Mode::Hotseat));
    let action = Action::Move("11-15".into());
    let event = table.game.decide(BOTH, 0, &action, table.now).unwrap();
    let Deed::Happens(event) = event else { panic!("{event:?}") };
    table.happen(event);
    for version in [0, 2, u64::MAX] {
        let refused = table.game.decide(BOTH, version, &action, table.now).unwrap_err();
        assert_eq!(refused.code, RefusalCode::Stale);
    }
    assert_eq!(table.game.version(), 1);
}

#[test]
fn a_refused_move_has_the_sentence_of_the_rules_and_changes_nothing() {
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
fn a_draw_is_agreed_by_offering_the_same_or_by_accepting() {
    for answer in [Action::Offer(What::Draw), Action::Accept(What::Draw)] {
        let mut table = Table::new(setup(Mode::Friend));
        table.play("11-15");
        assert_eq!(table.act(FIRST, Action::Accept(What::Draw)), Err(RefusalCode::Nothing));
        assert_eq!(table.act(FIRST, Action::Offer(What::Draw)), Ok(Deed::Offers));
        assert_eq!(table.act(FIRST, Action::Accept(What::Draw)), Err(RefusalCode::Nothing), "own");
        table.act(SECOND, answer).unwrap();
        assert_eq!(table.game.decision(), Some(Decision::Agreed));
        assert_eq!(table.act(SECOND, Action::Move("22-18".into())), Err(RefusalCode::Over));
    }
}

#[test]
fn a_draw_offer_stands_until_the_other_side_moves_or_declines() {
    let mut table = Table::new(setup(Mode::Friend));
    table.act(FIRST, Action::Offer(What::Draw)).unwrap();
    table.play("11-15");
    assert_eq!(table.game.offer(What::Draw), Some(Side::First), "one's own move keeps it");
    table.play("22-18");
    assert_eq!(table.game.offer(What::Draw), None);
    table.act(FIRST, Action::Offer(What::Draw)).unwrap();
    let declined = table.act(SECOND, Action::Decline(What::Draw));
    assert_eq!(declined, Ok(Deed::Declined(What::Draw, Side::Second)));
    assert_eq!(table.act(SECOND, Action::Accept(What::Draw)), Err(RefusalCode::Nothing));
    table.act(FIRST, Action::Offer(What::Draw)).unwrap();
    assert_eq!(table.act(FIRST, Action::Decline(What::Draw)), Ok(Deed::Offers), "withdrawn");
    assert_eq!(table.game.offer(What::Draw), None);
}

#[test]
fn between_people_moves_are_taken_back_by_agreement() {
    let mut table = Table::new(setup(Mode::Friend));
    assert_eq!(table.act(FIRST, Action::Offer(What::TakeBack)), Err(RefusalCode::Nothing));
    table.play("11-15 22-18");
    // Black is to move: its own last move is two plies away.
    assert_eq!(table.act(FIRST, Action::Offer(What::TakeBack)), Ok(Deed::Offers));
    assert_eq!(table.game.session().plies(), 2);
    table.act(SECOND, Action::Accept(What::TakeBack)).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    table.play("11-15 22-18");
    // White has just moved: one ply.
    table.act(SECOND, Action::Offer(What::TakeBack)).unwrap();
    table.act(FIRST, Action::Accept(What::TakeBack)).unwrap();
    assert_eq!(table.game.session().moves(), ["11-15"]);
}

#[test]
fn against_a_computer_moves_are_taken_back_at_once_and_resigning_too() {
    let mut table = Table::new(setup(computer()));
    table.play("11-15");
    let event = table.game.decide_computer("22-18", table.now).unwrap();
    table.happen(event);
    table.act(FIRST, Action::Offer(What::TakeBack)).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    table.act(FIRST, Action::Resign).unwrap();
    assert_eq!(table.game.ending().unwrap(), "Black resigns: White wins.");
    assert_eq!(table.game.legal(), []);
    table.act(FIRST, Action::Offer(What::TakeBack)).unwrap();
    assert!(!table.game.is_over());
    table.play("11-15");
}

#[test]
fn the_two_at_one_screen_resign_for_the_side_to_move_and_agree_at_once() {
    let mut table = Table::new(setup(Mode::Hotseat));
    table.play("11-15");
    table.act(BOTH, Action::Resign).unwrap();
    assert_eq!(table.game.winner(), Some(Side::First));
    table.act(BOTH, Action::Offer(What::TakeBack)).unwrap();
    table.act(BOTH, Action::Offer(What::TakeBack)).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    table.act(BOTH, Action::Offer(What::Draw)).unwrap();
    assert_eq!(table.game.decision(), Some(Decision::Agreed));
}

#[test]
fn a_rematch_needs_an_end_and_between_people_both() {
    let mut table = Table::new(setup(Mode::Friend));
    assert_eq!(table.act(FIRST, Action::Offer(What::Rematch)), Err(RefusalCode::Nothing));
    table.act(FIRST, Action::Resign).unwrap();
    assert_eq!(table.act(FIRST, Action::Offer(What::Rematch)), Ok(Deed::Offers));
    assert_eq!(table.act(SECOND, Action::Accept(What::Rematch)), Ok(Deed::Rematch));
    table.happen(Event::Next("id".into()));
    assert_eq!(table.act(FIRST, Action::Offer(What::Rematch)), Err(RefusalCode::Nothing));
    let mut alone = Table::new(setup(computer()));
    alone.act(FIRST, Action::Resign).unwrap();
    assert_eq!(alone.act(FIRST, Action::Offer(What::Rematch)), Ok(Deed::Rematch));
    assert!(setup(computer()).swapped(2).computer(Side::First).is_some());
}

#[test]
fn names_do_not_use_up_what_can_happen_in_a_game() {
    let mut table = Table::new(setup(Mode::Friend));
    let seat = crownhead_server::deeds::Seat::Second;
    for number in 0..3000 {
        table.happen(Event::Name(seat, Some(format!("Name {number}"))));
    }
    assert!(!table.game.may_name(Side::Second) && table.game.may_name(Side::First));
    table.play("11-15");
}

fn with_clock() -> GameSetup {
    let clock = Some(ClockSettings { time: 10_000, increment: 1000 });
    GameSetup { clock, ..setup(Mode::Friend) }
}

#[test]
fn clocks_run_once_both_have_moved_and_pay_the_increment() {
    let mut table = Table::new(with_clock());
    table.pass(Duration::from_secs(3600));
    table.play("11-15");
    table.pass(Duration::from_secs(3600));
    table.play("22-18");
    assert_eq!(table.left(), [10_000, 10_000], "a friend may come late");
    table.pass(Duration::from_secs(4));
    assert_eq!(table.left(), [6_000, 10_000]);
    table.play("15x22");
    assert_eq!(table.left(), [7_000, 10_000]);
    table.pass(Duration::from_secs(2));
    assert_eq!(table.left(), [7_000, 8_000]);
}

#[test]
fn who_is_late_has_lost_and_cannot_take_it_back() {
    let mut table = Table::new(with_clock());
    table.play("11-15 22-18");
    table.pass(Duration::from_millis(9_999));
    assert_eq!(table.game.flag(table.now), None);
    table.pass(Duration::from_millis(1));
    // A move that comes too late is no move any more.
    table.act(FIRST, Action::Move("15x22".into())).unwrap();
    assert_eq!(table.game.ending().unwrap(), "Black has used up the time: White wins.");
    assert_eq!(table.left()[0], 0);
    assert_eq!(table.act(FIRST, Action::Offer(What::TakeBack)), Err(RefusalCode::Over));
}

#[test]
fn taking_back_brings_no_time_back_and_no_second_increment() {
    let mut table = Table::new(with_clock());
    table.play("11-15 22-18");
    table.pass(Duration::from_secs(2));
    table.play("15x22");
    assert_eq!(table.left(), [9_000, 10_000]);
    table.act(FIRST, Action::Offer(What::TakeBack)).unwrap();
    table.pass(Duration::from_secs(1));
    table.act(SECOND, Action::Accept(What::TakeBack)).unwrap();
    assert_eq!(table.left(), [9_000, 9_000]);
    table.play("15x22");
    assert_eq!(table.left(), [9_000, 9_000]);
}

#[test]
fn a_computers_clock_runs_only_while_it_thinks() {
    let mut table = Table::new(GameSetup { mode: computer(), ..with_clock() });
    table.play("11-15");
    let event = table.game.decide_computer("22-18", table.now).unwrap();
    table.happen(event);
    table.play("15x22");
    table.pass(Duration::from_secs(60));
    assert_eq!(table.game.running(), None, "it waits for its turn to think");
    table.game.begin_turn(table.now);
    table.pass(Duration::from_secs(1));
    assert_eq!(table.left()[1], 9_000);
}

#[test]
fn the_events_of_a_game_are_the_game() {
    let mut table = Table::new(with_clock());
    table.play("11-15 22-18");
    table.pass(Duration::from_secs(2));
    table.play("15x22 25x18");
    table.act(FIRST, Action::Offer(What::TakeBack)).unwrap();
    table.act(SECOND, Action::Accept(What::TakeBack)).unwrap();
    table.play("15x22 26x17");
    table.happen(Event::Name(crownhead_server::deeds::Seat::First, Some("Ann".into())));
    table.act(SECOND, Action::Resign).unwrap();
    let texts: Vec<_> =
        table.kept.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let later = table.now + Duration::from_secs(1_000_000);
    let mut again = HostedGame::new(with_clock(), later).unwrap();
    for text in &texts {
        again.apply(&serde_json::from_str(text).unwrap(), later).unwrap();
    }
    assert_eq!(again.session().moves(), table.game.session().moves());
    assert_eq!(again.version(), table.game.version());
    assert_eq!(again.made(), table.game.made());
    assert_eq!(again.ending(), table.game.ending());
    assert_eq!(again.name(Side::First), Some("Ann"));
    assert_eq!(again.left(later), table.game.left(table.now));
}
