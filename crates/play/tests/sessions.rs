//! A game in progress.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop

use crownhead_play::{FaultPolicy, PlayError, Session, TypedSession, new_session};
use crownhead_rules::{English, Game, MoveErrorKind, Position, Side};
use proptest::prelude::*;

fn new(game: &str, start: Option<&str>) -> Box<dyn Session> {
    new_session(&game.parse().unwrap(), start).unwrap()
}

#[test]
fn a_game_from_the_start() {
    let mut game = new("english", None);
    assert_eq!(game.start(), game.position());
    assert_eq!((game.side(), game.legal_moves().len()), (Side::First, 7));
    game.play(" 11-15 ").unwrap();
    game.play("22-18").unwrap();
    game.play("15x22").unwrap();
    assert_eq!(game.moves(), ["11-15", "22-18", "15x22"]);
    let captures: Vec<_> = game.legal_moves().iter().map(|mv| mv.text.clone()).collect();
    assert_eq!(captures, ["25x18", "26x17"]);
    assert_eq!(game.legal_moves()[0].captures.len(), 1);
    let Err(PlayError::Illegal(error)) = game.play("25-21") else { unreachable!() };
    assert_eq!(error.kind, MoveErrorKind::End);
    assert_eq!(game.moves().len(), 3, "a refused move changes nothing");
}

#[test]
fn a_game_that_is_over_has_no_moves_and_takes_none() {
    let mut game = new("english", Some("B:W5:B1"));
    assert_eq!(game.outcome_text(), None);
    game.play("1-6").unwrap();
    game.play("5-1").unwrap();
    game.play("6-10").unwrap();
    let mut game = new("english", Some("W:W30:B25,22,21,17"));
    assert!(game.outcome().is_none());
    game.play("30-26").unwrap();
    game.play("22x31").unwrap();
    assert_eq!(game.outcome().unwrap().winner, Some(Side::First));
    assert!(game.legal_moves().is_empty());
    let told = game.play("1-5").unwrap_err().to_string();
    assert!(told.starts_with("the game is over: "), "{told}");
    assert!(game.undo());
    assert_eq!((game.outcome(), game.moves().len()), (None, 1));
}

#[test]
fn repetition_is_seen_with_the_past_of_the_game() {
    let mut game = new("english:rules=wcdf", Some("B:WK32:BK1"));
    for text in ["1-6", "32-27", "6-1", "27-32", "1-6", "32-27", "6-1", "27-32"] {
        assert_eq!(game.outcome(), None);
        game.play(text).unwrap();
    }
    assert_eq!(game.outcome().map(|outcome| outcome.reason.code()), Some("repetition"));
}

#[test]
fn the_type_behind_a_session_can_be_had_back() {
    let game = new("english", None);
    let typed = game.as_any().downcast_ref::<TypedSession<English>>().unwrap();
    assert_eq!(*typed.current(), English::start(&Default::default()));
    assert!(typed.history_keys().is_empty() && typed.moves_played().is_empty());
}

proptest! {
    #[test]
    fn undoing_leads_back_to_the_start(picks in prop::collection::vec(any::<u16>(), 0..60)) {
        for kind in Game::all() {
            let mut game = new_session(&kind, None).unwrap();
            let mut seen = vec![game.position()];
            for &pick in &picks {
                let moves = game.legal_moves();
                prop_assert_eq!(moves.is_empty(), game.outcome().is_some());
                if moves.is_empty() {
                    break;
                }
                let text = &moves[usize::from(pick) % moves.len()].text;
                game.play(text).unwrap();
                prop_assert_eq!(game.moves().last().cloned(), Some(text.clone()));
                seen.push(game.position());
            }
            while let Some(position) = seen.pop() {
                prop_assert_eq!(game.position(), position);
                prop_assert_eq!(game.undo(), !seen.is_empty());
            }
            prop_assert_eq!(game.position(), game.start());
        }
    }
}

#[test]
fn a_turn_can_be_skipped_where_the_rules_know_that() {
    for (game, can) in [
        ("english", false),
        ("contest", false),
        ("chinese-checkers", true),
        ("capture-halma", true),
    ] {
        let game: Game = game.parse().unwrap();
        let mut session = new_session(&game, None).unwrap();
        let (side, board) = (session.side(), session.board());
        assert_eq!(session.skip_turn(), can, "{game}");
        assert_eq!(FaultPolicy::Skip.supports(&game), can, "{game}");
        if can {
            assert_eq!((session.side(), session.board()), (side.other(), board), "{game}");
            assert_eq!((session.plies(), session.last_move_text().as_deref()), (1, Some("pass")));
            assert!(session.play("pass").is_err(), "{game}: nobody may pass who can move");
            assert!(session.undo());
        }
        assert_eq!((session.side(), session.plies(), session.last_move_text()), (side, 0, None));
    }
}

#[test]
fn the_quick_list_of_moves_is_the_list_of_moves() {
    for game in Game::all() {
        let session = new_session(&game, None).unwrap();
        let mut texts = String::new();
        session.write_legal_moves(&mut texts);
        let moves: Vec<_> = session.legal_moves().into_iter().map(|mv| mv.text).collect();
        assert_eq!(texts.split(',').collect::<Vec<_>>(), moves, "{game}");
    }
}
