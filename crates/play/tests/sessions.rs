//! Sessions.

use crownhead_play::{FaultPolicy, PlayError, Session, TypedSession, new_session};
use crownhead_rules::{English, Game, MoveErrorKind, Position, Side};
use proptest::prelude::*;

fn new(game: &str, start: Option<&str>) -> Box<dyn Session> {
    new_session(&game.parse().unwrap(), start).unwrap()
}

#[test]
fn moves_are_played_and_checked() {
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
    assert_eq!(game.moves().len(), 3, "an illegal move changes nothing");
}

#[test]
fn finished_game_has_no_legal_moves_and_rejects_moves() {
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
    let error = game.play("1-5").unwrap_err().to_string();
    assert!(error.starts_with("the game is over: "), "{error}");
    assert!(game.undo());
    assert_eq!((game.outcome(), game.moves().len()), (None, 1));
}

#[test]
fn repetition_depends_on_the_history() {
    let mut game = new("english:rules=wcdf", Some("B:WK32:BK1"));
    for text in ["1-6", "32-27", "6-1", "27-32", "1-6", "32-27", "6-1", "27-32"] {
        assert_eq!(game.outcome(), None);
        game.play(text).unwrap();
    }
    assert_eq!(game.outcome().map(|outcome| outcome.reason.code()), Some("repetition"));
}

#[test]
fn session_can_be_downcast() {
    let game = new("english", None);
    let typed = game.as_any().downcast_ref::<TypedSession<English>>().unwrap();
    assert_eq!(*typed.current(), English::start(&Default::default()));
    assert!(typed.history_keys().is_empty() && typed.moves_played().is_empty());
}

proptest! {
    #[test]
    fn undo_restores_every_position(picks in prop::collection::vec(any::<u16>(), 0..60)) {
        for game_kind in Game::all() {
            let mut game = new_session(&game_kind, None).unwrap();
            let mut positions = vec![game.position()];
            for &pick in &picks {
                let moves = game.legal_moves();
                prop_assert_eq!(moves.is_empty(), game.outcome().is_some());
                if moves.is_empty() {
                    break;
                }
                let text = &moves[usize::from(pick) % moves.len()].text;
                game.play(text).unwrap();
                prop_assert_eq!(game.moves().last().cloned(), Some(text.clone()));
                positions.push(game.position());
            }
            while let Some(position) = positions.pop() {
                prop_assert_eq!(game.position(), position);
                prop_assert_eq!(game.undo(), !positions.is_empty());
            }
            prop_assert_eq!(game.position(), game.start());
        }
    }
}

#[test]
fn turn_can_be_skipped_only_where_the_rules_allow_it() {
    for (game, is_allowed) in [
        ("english", false),
        ("contest", false),
        ("chinese-checkers", true),
        ("capture-halma", true),
    ] {
        let game: Game = game.parse().unwrap();
        let mut session = new_session(&game, None).unwrap();
        let (side, board) = (session.side(), session.board());
        assert_eq!(session.skip_turn(), is_allowed, "{game}");
        assert_eq!(FaultPolicy::Skip.supports(&game), is_allowed, "{game}");
        if is_allowed {
            assert_eq!((session.side(), session.board()), (side.other(), board), "{game}");
            assert_eq!((session.plies(), session.last_move_text().as_deref()), (1, Some("pass")));
            assert!(session.play("pass").is_err(), "{game}: a pass needs a position without moves");
            assert!(session.undo());
        }
        assert_eq!((session.side(), session.plies(), session.last_move_text()), (side, 0, None));
    }
}

#[test]
fn written_legal_moves_match_the_list() {
    for game in Game::all() {
        let session = new_session(&game, None).unwrap();
        let mut texts = String::new();
        session.write_legal_moves(&mut texts);
        let moves: Vec<_> = session.legal_moves().into_iter().map(|mv| mv.text).collect();
        assert_eq!(texts.split(',').collect::<Vec<_>>(), moves, "{game}");
    }
}
