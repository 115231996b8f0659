//! Opening books.

use std::collections::HashSet;

use crownhead_play::book::{
    Book, BookBatch, BookError, BookOptions, BookScores, MAX_BOOK_BYTES, new_book_maker,
};
use crownhead_play::{
    BuiltinSpec, Choice, Clock, GameSettings, GameStart, Knowledge, Openings, Player, StopFlag,
    new_session,
};
use crownhead_rules::{English, Game, MoveList, Notation, Position, Side};

fn english() -> Game {
    "english".parse().unwrap()
}

/// Makes a small book, in runs of so many batches. Returns it with the file of scores.
fn make(threads: usize, batches_per_run: usize) -> (Vec<u8>, Vec<u8>) {
    let (game, stop) = (english(), StopFlag::new());
    let options = BookOptions { nodes: 100, positions: 400, threads };
    let mut file = Vec::new();
    loop {
        let mut scores = BookScores::new(&game, options.nodes);
        match file.is_empty() {
            true => file = format!("{}\n", scores.header()).into_bytes(),
            false => assert_eq!(scores.read(&file), Ok(file.len())),
        }
        let mut maker = new_book_maker(&game, options, scores).unwrap();
        let mut batches = 0;
        while let Some(BookBatch { searched, bytes, .. }) = maker.expand(&stop) {
            file.extend(bytes);
            // Those that only read scores do not count.
            batches += usize::from(searched > 0);
            if batches == batches_per_run {
                break;
            }
        }
        if batches < batches_per_run {
            return (maker.book(), file);
        }
    }
}

/// Keys of the positions in which a player who follows the book finds itself in the book.
fn reachable(book: &Book<'_>, root: &English, side: Side) -> HashSet<u64> {
    /// Own moves in a row that are forced, and so not in the book.
    const MAX_FORCED: u32 = 8;
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut stack = vec![(root.clone(), 0)];
    let mut legal = MoveList::new();
    while let Some((position, forced)) = stack.pop() {
        if !seen.insert((position.key(), forced)) {
            continue;
        }
        position.legal_moves(&mut legal);
        if position.side() != side {
            stack.extend(legal.iter().map(|&mv| (position.after(mv), forced)));
            continue;
        }
        let moves = book.moves(&position);
        if !moves.is_empty() {
            found.insert(position.key());
        }
        assert!(moves.iter().all(|mv| legal.contains(mv)));
        stack.extend(moves.iter().map(|&mv| (position.after(mv), 0)));
        if let [only] = legal[..]
            && forced < MAX_FORCED
        {
            stack.push((position.after(only), forced + 1));
        }
    }
    found
}

#[test]
fn every_position_of_the_book_arises_from_book_moves_and_replies() {
    let game = english();
    let book = Book::shipped(&game).unwrap();
    let Openings::Listed(ballots) = Openings::ballots(&game, false).unwrap() else {
        panic!("ballots are a list")
    };
    let roots = ballots.iter().map(|ballot| {
        let position = ballot.session(&game).unwrap().position();
        English::parse_position(&position, &Default::default()).unwrap()
    });
    let mut found = HashSet::new();
    for root in roots.chain([English::start(&Default::default())]) {
        for side in [Side::First, Side::Second] {
            found.extend(reachable(book, &root, side));
        }
    }
    let keys: HashSet<u64> = book.keys().into_iter().collect();
    assert_eq!(found.len(), keys.len());
    assert!(found == keys);
    assert!(keys.len() > 500, "{} positions", keys.len());
    assert!(include_bytes!("../data/english.book").len() <= MAX_BOOK_BYTES);
}

#[test]
fn book_knows_the_start_position_and_the_crossboard_ballots() {
    let game = english();
    let book = Book::shipped(&game).unwrap();
    let start = English::start(&Default::default());
    assert!(!book.moves(&start).is_empty());
    let Openings::Listed(ballots) = Openings::ballots(&game, true).unwrap() else {
        panic!("ballots are a list")
    };
    for ballot in ballots {
        let position = ballot.session(&game).unwrap().position();
        let position = English::parse_position(&position, &Default::default()).unwrap();
        let mut legal = MoveList::new();
        position.legal_moves(&mut legal);
        assert!(legal.len() == 1 || !book.moves(&position).is_empty(), "{:?}", ballot.moves);
    }
}

#[test]
fn book_is_for_english_checkers_with_its_usual_options() {
    for (game, has_book) in [
        ("english", true),
        ("english:rules=wcdf", true),
        ("english:draw-plies=20", false),
        ("english:kings=false", false),
        ("contest:kings=true", false),
        ("capture-halma", false),
    ] {
        assert_eq!(Book::shipped(&game.parse().unwrap()).is_some(), has_book, "{game}");
    }
}

#[test]
fn book_depends_neither_on_threads_nor_on_interruptions() {
    let (book, scores) = make(1, usize::MAX);
    assert!(Book::read(&book).unwrap().entries() > 20);
    assert_eq!((&book, &scores), (&make(3, usize::MAX).0, &make(3, usize::MAX).1));
    let (continued, continued_scores) = make(1, 7);
    assert_eq!(continued, book);
    assert_eq!(continued_scores, scores);
}

#[test]
fn damaged_book_is_refused_with_the_place() {
    let bytes = include_bytes!("../data/english.book");
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for index in (0..bytes.len()).step_by(97).chain(0..header) {
        let mut damaged = bytes.to_vec();
        damaged[index] ^= 1;
        let place = match Book::read(&damaged).unwrap_err() {
            BookError::Header(_) => 0,
            BookError::Block(place) | BookError::Incomplete(place) => place,
            error => panic!("{error}"),
        };
        assert!(place <= index.max(header) && index < place.max(header) + 2508, "byte {index}");
        assert!(Book::read(&bytes[..index]).is_err(), "{index} bytes");
    }
    let mut longer = bytes.to_vec();
    longer.extend(&bytes[header..]);
    let error = Book::read(&longer).unwrap_err().to_string();
    assert_eq!(error, format!("the block at byte {} is damaged", bytes.len()));
}

#[test]
fn damaged_scores_are_refused_and_the_rest_of_a_killed_run_is_dropped() {
    let game = english();
    let (_, file) = make(1, usize::MAX);
    let read = |bytes: &[u8], nodes| BookScores::new(&game, nodes).read(bytes);
    let end = read(&file[..file.len() - 1], 100).unwrap();
    assert!(end < file.len() && read(&file[..end], 100) == Ok(end));
    let mut damaged = file.clone();
    damaged[100] ^= 1;
    let header = file.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    assert_eq!(read(&damaged, 100), Err(BookError::Block(header)));
    let error = read(&file, 99).unwrap_err().to_string();
    assert_eq!(error, "made with other settings: crownhead-book-scores 1 game=english nodes=100");
    assert!(read(include_bytes!("../data/english.book"), 100).is_err());
}

fn start_game(player: &mut dyn Player, game: &Game, seed: u64) {
    let settings = GameSettings::default_for(game);
    player.start_game(&GameStart::new(game, Side::First, &settings, seed), &StopFlag::new());
}

/// First moves of a game that a player plays against itself.
fn first_moves(player: &str, game: &str, seed: u64) -> Vec<Choice> {
    let game: Game = game.parse().unwrap();
    let spec: BuiltinSpec = player.parse().unwrap();
    let mut player = spec.player(&game, &Knowledge::default()).unwrap();
    start_game(player.as_mut(), &game, seed);
    let mut session = new_session(&game, None).unwrap();
    let mut choices = Vec::new();
    for _ in 0..12 {
        let choice = player
            .choose(session.as_ref(), &Clock::Unlimited, &StopFlag::new(), &mut |_| {})
            .unwrap();
        session.play(&choice.text).unwrap();
        choices.push(choice);
    }
    choices
}

#[test]
fn best_plays_the_book_and_then_searches() {
    for (player, game, uses_book) in [
        ("best:nodes=50,hash=1", "english", true),
        ("level:10:nodes=50,hash=1", "english:rules=wcdf", true),
        ("best:nodes=50,hash=1,book=on", "english", true),
        ("best:nodes=50,hash=1,book=off", "english", false),
        ("best:nodes=50,hash=1", "english:draw-plies=20", false),
        ("level:9:nodes=50,hash=1", "english", false),
        ("best:nodes=50,hash=1", "capture-halma", false),
    ] {
        let choices = first_moves(player, game, 1);
        assert_eq!(choices[0].score.is_none(), uses_book, "{player} {game}");
        assert_eq!(choices[0].nodes == 0, uses_book, "{player} {game}");
    }
    // It leaves the book at last, and searches then.
    let game = english();
    let out_of_book = Some("W:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,13");
    let session = new_session(&game, out_of_book).unwrap();
    let spec: BuiltinSpec = "best:nodes=50,hash=1".parse().unwrap();
    let mut player = spec.player(&game, &Knowledge::default()).unwrap();
    let choice =
        player.choose(session.as_ref(), &Clock::Unlimited, &StopFlag::new(), &mut |_| {}).unwrap();
    assert!(choice.nodes > 0);
}

#[test]
fn games_with_the_book_vary_with_the_seed_and_repeat_with_it() {
    let moves = |seed| {
        let choices = first_moves("best:nodes=50,hash=1", "english", seed);
        choices.into_iter().map(|choice| choice.text).collect::<Vec<_>>()
    };
    assert_eq!(moves(1), moves(1));
    let games: HashSet<_> = (0..20).map(moves).collect();
    assert!(games.len() > 2, "{} games", games.len());
}
