//! A game in progress: offers, ends, clocks and undo, and the properties that hold for every
//! sequence of actions.
use std::time::Duration;

use crownhead_play::game::COMPUTER_GRACE;
use crownhead_play::{
    Action, End, Event, Fault, FaultKind, FaultPolicy, GameConfig, GameInPlay, GameSettings,
    OfferKind, Refusal, SideConfig, TimeControl, TimeLeft, new_session,
};
use crownhead_records::GameResult;
use crownhead_rules::{Game, MoveErrorKind, Side};

use Side::{First, Second};

/// Two people, each on their own screen.
const ONLINE: GameConfig = config(SideConfig::human(TimeControl::Unlimited), &OfferKind::ALL);
/// Two people on one screen.
const HOTSEAT: GameConfig = config(SideConfig::human(TimeControl::Unlimited), &[]);

const fn config(second: SideConfig, consent: &'static [OfferKind]) -> GameConfig {
    let first = SideConfig::human(second.time_control);
    GameConfig { sides: [first, second], clock_start_ply: 0, consent }
}

const TEN_SECONDS: TimeControl =
    TimeControl::PerGame { time: Duration::from_secs(10), increment: Duration::from_secs(1) };

/// Two people with clocks that run once both have moved.
const CLOCKED: GameConfig =
    GameConfig { clock_start_ply: 2, ..config(SideConfig::human(TEN_SECONDS), &OfferKind::ALL) };

/// A person against a computer, with clocks.
const COMPUTER: GameConfig = GameConfig {
    clock_start_ply: 2,
    ..config(SideConfig::computer(TEN_SECONDS), &[OfferKind::Draw])
};

/// A game whose time the test sets.
struct Table {
    game: GameInPlay,
    now: Duration,
}

impl Table {
    fn new(config: GameConfig) -> Table {
        Table::for_game("english", config)
    }

    fn for_game(game: &str, config: GameConfig) -> Table {
        let session = new_session(&game.parse().unwrap(), None).unwrap();
        let now = Duration::from_secs(100);
        Table { game: GameInPlay::new(session, config, now), now }
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn act(&mut self, by: Side, action: Action) -> Result<Event, Refusal> {
        let event = self.game.decide(by, &action, self.now)?;
        self.apply(&event);
        Ok(event)
    }

    fn apply(&mut self, event: &Event) {
        self.game.apply(event, self.now).unwrap();
    }

    fn play(&mut self, moves: &str) {
        for text in moves.split_whitespace() {
            let side = self.game.session().side();
            self.act(side, Action::Move(text.into())).unwrap();
        }
    }

    fn left(&self) -> [u128; 2] {
        self.game.time_left(self.now).map(|left| left.unwrap().as_millis())
    }

    fn moves(&self) -> Vec<String> {
        self.game.session().moves()
    }
}

fn draw() -> Action {
    Action::Offer(OfferKind::Draw)
}

fn take_back() -> Action {
    Action::Offer(OfferKind::TakeBack)
}

fn rematch() -> Action {
    Action::Offer(OfferKind::Rematch)
}

#[test]
fn only_the_side_to_move_can_move() {
    let mut table = Table::new(ONLINE);
    let step = || Action::Move("11-15".into());
    assert_eq!(table.act(Second, step()), Err(Refusal::NotYourTurn("Black")));
    table.act(First, step()).unwrap();
    let again = table.act(First, Action::Move("8-11".into()));
    assert_eq!(again, Err(Refusal::NotYourTurn("White")));
    assert_eq!(table.moves(), ["11-15"]);
}

#[test]
fn illegal_move_is_refused_with_the_rule_and_changes_nothing() {
    let mut table = Table::new(ONLINE);
    table.play("11-15 22-18");
    let before = table.game.session().position();
    let Err(Refusal::Illegal(error)) = table.act(First, Action::Move("8-11".into())) else {
        panic!("not refused")
    };
    assert_eq!(error.kind, MoveErrorKind::Rule);
    assert!(error.reason.contains("15x22"), "{}", error.reason);
    assert_eq!(table.game.session().position(), before);
    assert_eq!(table.game.events().len(), 2);
}

#[test]
fn moves_are_stored_in_their_canonical_form() {
    let mut table = Table::new(ONLINE);
    table.play("11-15 22-18");
    let Event::Move { text, .. } = table.act(First, Action::Move("15-22".into())).unwrap() else {
        panic!("no move")
    };
    assert_eq!(text, "15x22");
}

#[test]
fn draw_is_agreed_by_the_same_offer_or_by_accepting() {
    for answer in [draw(), Action::Accept(OfferKind::Draw)] {
        let mut table = Table::new(ONLINE);
        table.play("11-15");
        assert_eq!(table.act(First, Action::Accept(OfferKind::Draw)), Err(Refusal::NoOffer));
        assert_eq!(table.act(First, draw()), Ok(Event::Offer(OfferKind::Draw, First)));
        let own = table.act(First, Action::Accept(OfferKind::Draw));
        assert_eq!(own, Err(Refusal::NoOffer), "nobody accepts their own offer");
        assert_eq!(table.act(Second, answer), Ok(Event::End(End::DrawAgreed)));
        assert_eq!(table.game.result(), GameResult::Draw);
        assert_eq!(table.game.end().unwrap().code(), "agreed");
        let over = table.act(Second, Action::Move("22-18".into()));
        let text = "The game is over. The players agreed to a draw.";
        assert_eq!(over.unwrap_err().to_string(), text);
    }
}

#[test]
fn draw_offer_stands_until_the_opponent_moves_or_declines() {
    let mut table = Table::new(ONLINE);
    table.act(First, draw()).unwrap();
    table.play("11-15");
    assert_eq!(table.game.offer(OfferKind::Draw), Some(First), "one's own move keeps it");
    table.play("22-18");
    assert_eq!(table.game.offer(OfferKind::Draw), None);
    table.act(First, draw()).unwrap();
    let declined = table.act(Second, Action::Decline(OfferKind::Draw));
    assert_eq!(declined, Ok(Event::Decline(OfferKind::Draw, Second)));
    assert_eq!(table.game.draw_declined_at(), Some(2));
    assert_eq!(table.act(Second, Action::Accept(OfferKind::Draw)), Err(Refusal::NoOffer));
    table.act(First, draw()).unwrap();
    let withdrawn = table.act(First, Action::Decline(OfferKind::Draw));
    assert_eq!(withdrawn, Ok(Event::Withdraw(OfferKind::Draw, First)));
    assert_eq!(table.game.offer(OfferKind::Draw), None);
}

#[test]
fn between_people_moves_are_taken_back_by_agreement() {
    let mut table = Table::new(ONLINE);
    assert_eq!(table.act(First, take_back()), Err(Refusal::NothingToTakeBack));
    table.play("11-15 22-18");
    // Black is to move: its own last move is two plies away.
    let offer = table.act(First, take_back());
    assert_eq!(offer, Ok(Event::Offer(OfferKind::TakeBack, First)));
    assert_eq!(table.game.session().plies(), 2);
    table.act(Second, Action::Accept(OfferKind::TakeBack)).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    table.play("11-15 22-18");
    // White has just moved: one ply.
    table.act(Second, take_back()).unwrap();
    table.act(First, Action::Accept(OfferKind::TakeBack)).unwrap();
    assert_eq!(table.moves(), ["11-15"]);
    table.act(Second, Action::Resign).unwrap();
    assert!(matches!(table.act(First, take_back()), Err(Refusal::GameOver(_))));
}

#[test]
fn without_consent_moves_and_resignations_are_taken_back_at_once() {
    let mut table =
        Table::new(config(SideConfig::computer(TimeControl::Unlimited), &[OfferKind::Draw]));
    table.play("11-15 22-18");
    table.act(First, take_back()).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    table.act(First, Action::Resign).unwrap();
    assert_eq!(table.game.describe_end().unwrap(), "Black resigns: White wins.");
    assert_eq!(table.game.end().unwrap().code(), "resigned");
    assert_eq!(table.act(First, take_back()), Ok(Event::Reopen));
    assert!(!table.game.is_over());
    table.play("11-15");
}

#[test]
fn at_one_screen_draws_are_agreed_at_once() {
    let mut table = Table::new(HOTSEAT);
    table.play("11-15");
    table.act(Second, Action::Resign).unwrap();
    assert_eq!(table.game.winner(), Some(First));
    table.act(First, take_back()).unwrap();
    table.act(First, take_back()).unwrap();
    assert_eq!(table.game.session().plies(), 0);
    assert_eq!(table.act(First, draw()), Ok(Event::End(End::DrawAgreed)));
}

#[test]
fn finished_game_can_be_taken_back_only_without_consent() {
    for (config, can) in [(HOTSEAT, true), (ONLINE, false)] {
        let game = Game::English(Default::default());
        let session = new_session(&game, Some("B:W18:B15")).unwrap();
        let mut table =
            Table { game: GameInPlay::new(session, config, Duration::ZERO), now: Duration::ZERO };
        table.play("15x22");
        assert_eq!(table.game.end().unwrap().code(), "no-move");
        assert_eq!(table.game.describe_end().unwrap(), "Black wins: White has no move.");
        assert_eq!(table.act(First, take_back()).is_ok(), can);
        assert_eq!(table.game.is_over(), !can);
    }
}

#[test]
fn rematch_needs_a_finished_game_and_consent_of_both_people() {
    let mut table = Table::new(ONLINE);
    assert_eq!(table.act(First, rematch()), Err(Refusal::GameNotOver));
    table.act(First, Action::Resign).unwrap();
    assert_eq!(table.act(First, rematch()), Ok(Event::Offer(OfferKind::Rematch, First)));
    assert_eq!(table.act(Second, Action::Accept(OfferKind::Rematch)), Ok(Event::Rematch));
    assert_eq!(table.act(First, rematch()), Err(Refusal::RematchAgreed));
    let mut alone = Table::new(HOTSEAT);
    alone.act(First, Action::Resign).unwrap();
    assert_eq!(alone.act(First, rematch()), Ok(Event::Rematch));
    let back = alone.act(First, take_back());
    assert!(matches!(back, Err(Refusal::GameOver(_))), "a game with a rematch stays as it is");
}

#[test]
fn clocks_start_after_both_have_moved_and_add_the_increment() {
    let mut table = Table::new(CLOCKED);
    table.wait(3_600_000);
    table.play("11-15");
    table.wait(3_600_000);
    table.play("22-18");
    assert_eq!(table.left(), [10_000, 10_000]);
    table.wait(4_000);
    assert_eq!(table.left(), [6_000, 10_000]);
    table.play("15x22");
    assert_eq!(table.left(), [7_000, 10_000]);
    table.wait(2_000);
    assert_eq!(table.left(), [7_000, 8_000]);
}

#[test]
fn running_out_of_time_loses_and_cannot_be_taken_back() {
    for consent in [&OfferKind::ALL[..], &[]] {
        let mut table = Table::new(GameConfig { consent, ..CLOCKED });
        table.play("11-15 22-18");
        table.wait(9_999);
        assert_eq!(table.game.check_flag(table.now), None);
        table.wait(1);
        // A move that comes too late is not played.
        let late = table.act(First, Action::Move("15x22".into()));
        assert_eq!(late, Ok(Event::End(End::OutOfTime(First))));
        assert_eq!(table.game.describe_end().unwrap(), "Black ran out of time: White wins.");
        assert_eq!(table.game.end().unwrap().code(), "time");
        assert_eq!(table.left()[0], 0);
        assert!(matches!(table.act(First, take_back()), Err(Refusal::GameOver(_))));
    }
}

#[test]
fn take_back_restores_no_time_and_adds_no_second_increment() {
    let mut table = Table::new(CLOCKED);
    table.play("11-15 22-18");
    table.wait(2_000);
    table.play("15x22");
    assert_eq!(table.left(), [9_000, 10_000]);
    table.act(First, take_back()).unwrap();
    table.wait(1_000);
    table.act(Second, Action::Accept(OfferKind::TakeBack)).unwrap();
    assert_eq!(table.left(), [9_000, 9_000]);
    table.play("15x22");
    assert_eq!(table.left(), [9_000, 9_000]);
}

#[test]
fn clock_of_a_computer_runs_only_while_it_thinks() {
    let mut table = Table::new(COMPUTER);
    table.play("11-15 22-18 15x22");
    table.wait(60_000);
    assert_eq!(table.game.running_clock(), None, "it has not been asked yet");
    table.apply(&Event::ClockStart);
    table.wait(1_000);
    assert_eq!(table.left()[1], 9_000);
    assert_eq!(table.game.deadline(), Some(table.now + Duration::from_secs(9) + COMPUTER_GRACE));
    table.apply(&Event::ClockStop);
    table.wait(60_000);
    assert_eq!(table.left()[1], 10_000, "the turn starts over");
}

fn answer(answer: Result<&str, FaultKind>, policy: FaultPolicy) -> Action {
    let fault = |kind| Fault::new(kind, "the bot is not running");
    Action::Answer { answer: answer.map(String::from).map_err(fault), policy, seed: 7 }
}

fn refereed(game: &str, time_control: TimeControl) -> Table {
    let settings = GameSettings::default_for(&game.parse().unwrap());
    let settings = GameSettings { time_control, ..settings };
    Table::for_game(game, GameConfig::refereed(&settings))
}

#[test]
fn fault_costs_what_the_policy_says() {
    let mut forfeit = refereed("capture-halma", TimeControl::Unlimited);
    forfeit.act(First, answer(Ok("55-56"), FaultPolicy::Forfeit)).unwrap();
    let Some(end @ End::Forfeited(incident)) = forfeit.game.end() else { panic!("no forfeit") };
    assert_eq!((end.code(), end.winner()), ("illegal-move", Some(Second)));
    assert_eq!(incident.fault.received.as_deref(), Some("\"move 55-56\""));
    assert!(
        end.describe(forfeit.game.session())
            .starts_with("Black forfeits the game: White wins. Illegal-move, Black, ply 0: ")
    );
    assert!(end.reason(forfeit.game.session()).starts_with("illegal-move, Black, ply 0: "));

    let mut skip = refereed("capture-halma", TimeControl::Unlimited);
    skip.act(First, answer(Err(FaultKind::Crash), FaultPolicy::Skip)).unwrap();
    assert_eq!(skip.moves(), ["pass"]);

    // English checkers has no skipped turns: a random move is played.
    let mut random = refereed("english", TimeControl::Unlimited);
    for policy in [FaultPolicy::Skip, FaultPolicy::RandomMove] {
        let side = random.game.session().side();
        let event = random.act(side, answer(Err(FaultKind::Crash), policy)).unwrap();
        assert!(matches!(event, Event::Fault { text, .. } if text != "pass"));
    }
    assert_eq!(random.game.session().plies(), 2);
}

#[test]
fn late_answer_is_a_fault_and_uses_up_the_time() {
    let mut table = refereed("capture-halma", TEN_SECONDS);
    table.wait(10_005);
    table.act(First, answer(Ok("31-32"), FaultPolicy::Skip)).unwrap();
    assert_eq!(table.moves(), ["31-32"], "within the grace");
    assert_eq!(table.left(), [1_000, 10_000]);
    table.wait(10_006);
    table.act(Second, answer(Ok("73-72"), FaultPolicy::Skip)).unwrap();
    assert_eq!(table.moves(), ["31-32", "pass"]);
    assert_eq!(table.left(), [1_000, 0], "no increment for a fault");

    let mut per_move = refereed("english", TimeControl::PerMove(Duration::from_secs(1)));
    per_move.wait(1_006);
    per_move.act(First, answer(Ok("11-15"), FaultPolicy::Forfeit)).unwrap();
    assert_eq!(per_move.game.end().unwrap().code(), "time");
    assert!(per_move.game.can_reopen(), "time per move starts again with every turn");
}

#[test]
fn stored_events_restore_the_game() {
    let mut table = Table::new(CLOCKED);
    table.play("11-15 22-18");
    table.wait(2_000);
    table.play("15x22 25x18");
    table.act(First, take_back()).unwrap();
    table.act(Second, Action::Accept(OfferKind::TakeBack)).unwrap();
    table.play("15x22 26x17");
    table.act(Second, Action::Resign).unwrap();
    let later = table.now + Duration::from_secs(1_000_000);
    let mut restored = Table::new(CLOCKED);
    restored.now = later;
    for event in table.game.events() {
        restored.apply(event);
    }
    assert_eq!(restored.moves(), table.moves());
    assert_eq!(restored.game.end(), table.game.end());
    assert_eq!(restored.left(), table.left());
}

#[test]
fn event_that_does_not_fit_is_an_error_and_changes_nothing() {
    let mut table = Table::new(ONLINE);
    table.play("11-15");
    let before = state(&table.game, table.now);
    let time_left = [None, None];
    for event in [
        Event::Move { text: "11-15".into(), time_left, eval: None },
        Event::Move { text: "pass".into(), time_left, eval: None },
        Event::Undo { plies: 2, time_left },
    ] {
        assert!(table.game.apply(&event, table.now).is_err());
        assert_eq!(state(&table.game, table.now), before);
    }
    table.act(First, Action::Resign).unwrap();
    let late = Event::Move { text: "22-18".into(), time_left, eval: None };
    assert!(table.game.apply(&late, table.now).is_err());
}

/// Everything a game shows.
fn state(game: &GameInPlay, now: Duration) -> impl PartialEq + std::fmt::Debug + use<> {
    let session = game.session();
    let offers = OfferKind::ALL.map(|kind| game.offer(kind));
    let clocks =
        (game.clocks().clone(), game.time_left(now), game.running_clock(), game.deadline());
    let events = game.events().to_vec();
    let end = (game.end().cloned(), game.can_reopen(), game.draw_declined_at());
    (session.position(), session.moves(), offers, clocks, events, end)
}

/// A random action, most often a legal move.
fn random_action(game: &GameInPlay, rng: &mut fastrand::Rng) -> (Side, Action) {
    let to_move = game.session().side();
    let other = [First, Second][rng.usize(..2)];
    let text = match rng.u8(..10) {
        0 => ["", "pass", "11-15", "99", "22x15x8", "1131"][rng.usize(..6)].into(),
        _ => rng.choice(game.session().legal_moves()).map_or("pass".into(), |mv| mv.text),
    };
    let kind = OfferKind::ALL[rng.usize(..3)];
    let policy = FaultPolicy::ALL[rng.usize(..3)];
    match rng.u8(..100) {
        0..60 => (to_move, Action::Move(text)),
        60..64 => (other, Action::Move(text)),
        64..66 => (other, Action::Resign),
        66..77 => (other, Action::Offer(kind)),
        77..84 => (other, Action::Accept(kind)),
        84..88 => (other, Action::Decline(kind)),
        88..98 => (to_move, Action::Answer { answer: Ok(text), policy, seed: rng.u64(..) }),
        _ => {
            let fault = Fault::new(FaultKind::Crash, "exit code 1");
            (to_move, Action::Answer { answer: Err(fault), policy, seed: rng.u64(..) })
        }
    }
}

fn check_clocks(before: TimeLeft, event: &Event, mover: Side, after: TimeLeft) {
    for side in [First, Second] {
        let (Some(before), Some(after)) = (before[side.index()], after[side.index()]) else {
            assert_eq!(before[side.index()], after[side.index()]);
            continue;
        };
        let earns = matches!(event, Event::Move { .. }) && side == mover;
        let TimeControl::PerGame { increment, .. } = TEN_SECONDS else { panic!("no increment") };
        let limit = if earns { before + increment } else { before };
        assert!(after <= limit, "{side:?} has {after:?} after {before:?} and {event:?}");
    }
}

/// Plays a random game and checks the properties after every action.
fn check_properties(id: &str, config: GameConfig, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut table = Table::for_game(id, config);
    let start = table.now;
    // Positions by ply, and everything that was applied.
    let mut positions = vec![table.game.session().position()];
    let mut applied: Vec<(Event, Duration)> = Vec::new();
    for _ in 0..150 {
        table.wait(if rng.u8(..30) == 0 { rng.u64(..12_000) } else { rng.u64(..700) });
        let (by, action) = random_action(&table.game, &mut rng);
        let before = state(&table.game, table.now);
        let decided = match rng.u8(..40) {
            0 => Ok(Event::ClockStart),
            1 => Ok(Event::ClockStop),
            _ => table.game.decide(by, &action, table.now),
        };
        assert_eq!(state(&table.game, table.now), before, "decide changes nothing: {action:?}");
        let Ok(event) = decided else { continue };
        if let Some(end) = table.game.end() {
            let is_allowed = match &event {
                Event::Rematch
                | Event::Offer(OfferKind::Rematch, _)
                | Event::Withdraw(..)
                | Event::Decline(..)
                | Event::ClockStart
                | Event::ClockStop => true,
                Event::Reopen => matches!(end, End::Resigned(_) | End::DrawAgreed),
                Event::Undo { .. } => !matches!(end, End::OutOfTime(_)),
                _ => false,
            };
            assert!(is_allowed, "{event:?} after {end:?}");
            let is_back = matches!(event, Event::Reopen | Event::Undo { .. });
            assert!(!is_back || !config.consent.contains(&OfferKind::TakeBack));
        }
        let mover = table.game.session().side();
        let time_left = table.game.time_left(table.now);
        table.game.apply(&event, table.now).unwrap();
        // Stopping a clock starts the turn over.
        if event != Event::ClockStart && event != Event::ClockStop {
            check_clocks(time_left, &event, mover, table.game.time_left(table.now));
        }
        let session = table.game.session();
        match &event {
            Event::Move { text, .. } | Event::Fault { text, .. } => {
                assert_eq!(session.last_move_text().as_ref(), Some(text));
                positions.push(session.position());
            }
            Event::Undo { plies, .. } => {
                positions.truncate(positions.len() - plies);
                assert!(!table.game.is_over());
            }
            Event::End(end) => assert_eq!(table.game.end(), Some(end)),
            _ => {}
        }
        assert_eq!(session.position(), positions[session.plies()], "{event:?}");
        if let Some(outcome) = session.outcome() {
            assert_eq!(table.game.end(), Some(&End::Rules(outcome)));
        }
        assert_eq!(table.game.is_over(), table.game.describe_end().is_some());
        assert!(!table.game.is_over() || table.game.running_clock().is_none());
        applied.push((event, table.now));
    }
    let mut replayed =
        GameInPlay::new(new_session(&id.parse().unwrap(), None).unwrap(), config, start);
    for (event, now) in &applied {
        replayed.apply(event, *now).unwrap();
    }
    assert_eq!(state(&replayed, table.now), state(&table.game, table.now));
    let mut restored =
        GameInPlay::new(new_session(&id.parse().unwrap(), None).unwrap(), config, start);
    for event in table.game.events() {
        restored.apply(event, start).unwrap();
    }
    assert_eq!(restored.session().moves(), table.game.session().moves());
    assert_eq!(restored.end(), table.game.end());
    assert_eq!(restored.events(), table.game.events());
}

#[test]
fn properties_hold_for_every_sequence_of_actions() {
    let unlimited = |config: GameConfig| GameConfig {
        sides: config.sides.map(|side| SideConfig { time_control: TimeControl::Unlimited, ..side }),
        ..config
    };
    let refereed = GameConfig { clock_start_ply: 0, ..CLOCKED };
    for game in Game::all() {
        let id = game.info().id;
        for (config, number) in [CLOCKED, COMPUTER, refereed, ONLINE, HOTSEAT].into_iter().zip(0..)
        {
            for seed in 0..5 {
                check_properties(id, config, 1000 * number + seed);
                check_properties(id, unlimited(config), 1000 * number + 500 + seed);
            }
        }
    }
}
