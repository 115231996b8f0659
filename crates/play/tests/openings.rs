//! Openings.

use std::collections::HashSet;

use crownhead_play::{Knowledge, Opening, Openings, Session};
use crownhead_rules::Game;

fn game(text: &str) -> Game {
    text.parse().unwrap()
}

fn pick(openings: &Openings, game: &Game, seed: u64, number: u32) -> Opening {
    openings.picker(game, &Knowledge::default(), seed).opening(number)
}

#[test]
fn all_174_ballots_are_three_legal_moves_and_144_are_crossboard() {
    let english = game("english");
    for (crossboard, count) in [(false, 174), (true, 144)] {
        let Openings::Listed(ballots) = Openings::ballots(&english, crossboard).unwrap() else {
            unreachable!()
        };
        assert_eq!(ballots.len(), count);
        let mut ends = HashSet::new();
        for ballot in &ballots {
            let session = ballot.session(&english).unwrap();
            assert_eq!(session.moves(), ballot.moves, "canonical texts");
            assert_eq!(ballot.moves.len(), 3);
            ends.insert(session.position());
        }
        assert!(ends.len() > count / 2, "many different positions");
    }
    let error = Openings::ballots(&game("capture-halma"), false).unwrap_err().to_string();
    assert!(error.contains("not of capture-halma"), "{error}");
}

#[test]
fn eleven_man_ballots_are_different_positions_with_eleven_men_or_fewer_on_each_side() {
    let english = game("english");
    let Openings::Listed(ballots) = Openings::eleven_man_ballots(&english).unwrap() else {
        unreachable!()
    };
    assert_eq!(ballots.len(), 6305);
    let mut positions = HashSet::new();
    for ballot in &ballots {
        let session = ballot.session(&english).unwrap();
        assert_eq!(session.moves(), ballot.moves, "canonical texts");
        assert_eq!(ballot.moves.len(), 2);
        let men = |letter| session.board().iter().filter(|other| **other == letter).count();
        assert!([men('b'), men('w')].into_iter().all(|men| (9..=11).contains(&men)), "{ballot:?}");
        positions.insert(session.position());
    }
    assert_eq!(positions.len(), ballots.len());
    let spec = Openings::parse_spec("ballots:11man", &english, |_| unreachable!()).unwrap();
    assert_eq!(spec, Openings::Listed(ballots));
    assert!(Openings::eleven_man_ballots(&game("capture-halma")).is_err());
}

#[test]
fn generated_eleven_man_ballots_are_a_list_of_openings() {
    let english = game("english");
    let text = "# a comment: 1 21\n1 21 9-13: 22-18 23-19\n12 32 9-14: 22-18\n";
    let Openings::Listed(openings) = Openings::parse(text, &english).unwrap() else {
        unreachable!()
    };
    let Openings::Listed(shipped) = Openings::eleven_man_ballots(&english).unwrap() else {
        unreachable!()
    };
    assert_eq!(openings.len(), 3);
    assert!(openings.iter().all(|opening| shipped.contains(opening)), "{openings:?}");
    for line in ["1 21 9-13: 9-9", "1 21 9-99: 22-18", "1 21: 22-18", "13 21 9-14: 22-18"] {
        let error = Openings::parse(line, &english).unwrap_err().to_string();
        assert!(error.starts_with("line 1: "), "{line}: {error}");
    }
}

#[test]
fn random_openings_are_playable_and_depend_only_on_the_seed() {
    for game in Game::all() {
        let openings: Openings = "random:6".parse().unwrap();
        let picker = openings.picker(&game, &Knowledge::default(), 1);
        let picked: Vec<_> = (0..8).map(|number| picker.opening(number)).collect();
        for (opening, number) in picked.iter().zip(0..) {
            assert_eq!(opening.moves.len(), 6);
            let session = opening.session(&game).unwrap();
            assert_eq!(session.outcome(), None);
            assert_eq!(*opening, pick(&openings, &game, 1, number), "in any order");
        }
        let different: HashSet<_> = picked.iter().map(|opening| &opening.moves).collect();
        assert!(different.len() >= 6, "{game}: {different:?}");
        assert_ne!(
            picked,
            (0..8).map(|number| pick(&openings, &game, 2, number)).collect::<Vec<_>>()
        );
    }
    let openings: Openings = "random:0".parse().unwrap();
    assert_eq!(pick(&openings, &game("english"), 1, 0), Opening::default());
}

#[test]
fn random_openings_are_limited_to_40_plies() {
    for text in ["random:41", "random:", "random:-1", "random", "random:x"] {
        let error = text.parse::<Openings>().unwrap_err().to_string();
        assert!(error.contains("random:PLIES, with 0 to 40 plies"), "{text}: {error}");
    }
}

#[test]
fn list_has_positions_moves_and_comments() {
    let text = "# openings\n\n11-15 23-19\nW:W21,22:B1,2\n9-13 21-17 5-9\tcrossboard\tname\n#\n";
    let Openings::Listed(openings) = Openings::parse(text, &game("english")).unwrap() else {
        unreachable!()
    };
    let moves = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    assert_eq!(openings.len(), 3);
    assert_eq!(openings[0], Opening { start: None, moves: moves("11-15 23-19") });
    assert_eq!(openings[1], Opening { start: Some("W:W21,22:B1,2".into()), moves: Vec::new() });
    assert_eq!(openings[2].moves, moves("9-13 21-17 5-9"));
    // A position of Chinese checkers may start with `#`, like a comment.
    let text = "# comment\n###5/##6/#7/8/8/7O/6OO/5OOO # 0\n1232 8866\n";
    let Openings::Listed(openings) = Openings::parse(text, &Game::ChineseCheckers(())).unwrap()
    else {
        unreachable!()
    };
    assert_eq!(openings.len(), 2);
}

#[test]
fn list_errors_name_the_line() {
    for (text, message) in [
        ("", "no openings"),
        ("# nothing\n", "no openings"),
        ("11-15\n\n11-16 12-16", "line 3: move 2, 12-16: "),
        ("B:W21:B40", "line 1: position, character 8: "),
        ("W:W:B1", "line 1: the game is already over: "),
    ] {
        let error = Openings::parse(text, &game("english")).unwrap_err().to_string();
        assert!(error.contains(message), "{text:?}: {error}");
    }
}

#[test]
fn list_repeats_only_after_its_last_opening() {
    let english = game("english");
    let openings = Openings::ballots(&english, false).unwrap();
    let texts = |from: u32| -> Vec<_> {
        (from..from + 174).map(|number| pick(&openings, &english, 5, number).moves).collect()
    };
    let (first, second) = (texts(0), texts(174));
    assert_eq!(first, second);
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 174);
}

#[test]
fn session_starts_after_the_opening() {
    let opening = Opening { start: None, moves: vec!["1232".into(), "8866".into()] };
    let session: Box<dyn Session> = opening.session(&Game::ChineseCheckers(())).unwrap();
    assert_eq!(session.position(), "#1#5/##6/##6/8/8/5O1O/6OO/5OO1 # 2");
}
