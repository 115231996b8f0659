//! Properties: games survive writing and reading, and no input makes the reader panic.

use crownhead_records::{GameRecord, GameResult, Line, Ply, Reader, format_game};
use crownhead_rules::{Game, GameVisitor, MoveList, Notation};
use fastrand::Rng;
use proptest::prelude::*;

const GAMES: [&str; 7] = [
    "english",
    "english:draw-plies=80",
    "contest",
    "contest:kings=true",
    "contest:kings=true,draw-plies=20",
    "chinese-checkers",
    "capture-halma",
];

/// Words that look like other tokens.
const WORDS: [&str; 22] = [
    "good",
    "[Event",
    "\"x\"]",
    "[%clk",
    "1:00]",
    "%",
    "{",
    "(",
    ")",
    "*",
    "1-0",
    "11-15",
    "$7",
    ";",
    "\\",
    "\"",
    "½",
    "Žižka",
    "…",
    "1.",
    "[Event \"in one word\"]",
    "averyveryveryveryveryveryveryveryveryveryveryverylongword",
];

fn words(rng: &mut Rng) -> Option<String> {
    if rng.u8(..8) > 0 {
        return None;
    }
    let count = rng.usize(1..30);
    let words: Vec<_> = (0..count).map(|_| WORDS[rng.usize(..WORDS.len())]).collect();
    Some(words.join(" "))
}

/// Returns a random line with comments, annotations and variations.
fn random_line<P: Notation>(position: &mut P, plies: usize, depth: usize, rng: &mut Rng) -> Line {
    let mut line = Line { comment: words(rng), plies: Vec::new() };
    let mut legal = MoveList::new();
    for _ in 0..plies {
        position.legal_moves(&mut legal);
        let Some(&mv) = rng.choice(legal.iter()) else {
            break;
        };
        let mut ply = Ply::new(position.format_move(mv));
        ply.comment = words(rng);
        ply.nags = (0..rng.usize(..20).saturating_sub(16)).map(|_| rng.u8(..)).collect();
        while depth < 3 && rng.u8(..16) == 0 {
            let length = rng.usize(1..6);
            ply.variations.push(random_line(&mut position.clone(), length, depth + 1, rng));
        }
        line.plies.push(ply);
        position.play(mv);
    }
    line
}

struct RandomRecord<'a>(&'a Game, &'a mut Rng);

impl GameVisitor for RandomRecord<'_> {
    type Output = GameRecord;

    fn visit<P: Notation>(self, options: &P::Options) -> GameRecord {
        let RandomRecord(game, rng) = self;
        let mut record = GameRecord::new(game.clone());
        let mut position = P::start(options);
        if rng.bool() {
            let plies = rng.usize(1..60);
            random_line(&mut position, plies, 3, rng);
            record.start = Some(position.format_position());
        }
        let plies = rng.usize(..80);
        record.line = random_line(&mut position, plies, 0, rng);
        let results = ["1-0", "0-1", "1/2-1/2", "0-0", "*"];
        record.result = GameResult::parse(results[rng.usize(..5)]).unwrap();
        for name in ["Event", "Date", "White", "Black", "Annotator", "Game"] {
            if let Some(value) = words(rng) {
                record.set_tag(name, if name == "Game" { "7".to_string() } else { value });
            }
        }
        record
    }
}

fn read_all(bytes: &[u8]) -> Vec<GameRecord> {
    Reader::new(bytes).collect::<Result<_, _>>().unwrap()
}

/// Reads arbitrary bytes. The valid games must survive writing and reading.
fn check_bytes(bytes: &[u8]) {
    let mut games = Vec::new();
    for (i, item) in Reader::new(bytes).enumerate() {
        assert!(i <= bytes.len(), "more games than bytes");
        games.extend(item.ok());
    }
    let text: String = games.iter().map(|game| format_game(game).unwrap()).collect();
    assert_eq!(read_all(text.as_bytes()), games, "{text}");
}

/// Characters with a meaning in PDN.
const SIGNS: &[u8] = b" \n[]{}()\"\\$*!?.%;/-x0123456789aE\xBD\xC2";

/// Fragments of files, valid and invalid.
const FRAGMENTS: &[&str] = &[
    "1. ",
    "11-15 ",
    "23-19 ",
    "8-11 ",
    "22-18 ",
    "15x22 ",
    "25x18 ",
    "12-16 ",
    "9-13 ",
    "1... ",
    "2 ",
    "(",
    ")",
    "{",
    "}",
    "{a comment} ",
    "; rest\n",
    "% line\n",
    "$7 ",
    "$",
    "! ",
    "?? ",
    "(?) ",
    "* ",
    "1-0 ",
    "0-1\n",
    "1/2-1/2 ",
    "1-1 ",
    "½ ",
    "[",
    "]",
    "\"",
    "\\",
    "[Event \"a\"]\n",
    "[Event\n",
    "[Result \"0-1\"]\n",
    "\n\n",
    "[FEN \"W:W30,31:B1,K2\"]\n",
    "[FEN \"B:W21:B1\"]\n",
    "[Game \"contest\"]\n",
    "[Game \"capture-halma\"]\n",
    "[Game \"chinese-checkers\"]\n",
    "[GameType \"20\"]\n",
    "[GameType \"21\"]\n",
    "/FEN \"W:W32:B1\"/ ",
    "/",
    "-",
    "x",
    "11 - 15 ",
    "11x15 ",
    "1115 ",
    "1131 ",
    "8868 ",
    "pass ",
    "\r\n",
    "\u{a0}",
    "\u{feff}",
    "prose ",
    "0.5-0.5 ",
    ". ",
];

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn written_games_are_read_unchanged(seed: u64) {
        let mut rng = Rng::with_seed(seed);
        let records: Vec<GameRecord> = (0..3)
            .map(|_| {
                let game: Game = GAMES[rng.usize(..GAMES.len())].parse().unwrap();
                game.visit(RandomRecord(&game, &mut rng))
            })
            .collect();
        let text: String = records.iter().map(|record| format_game(record).unwrap()).collect();
        prop_assert_eq!(read_all(text.as_bytes()), records, "{}", text);
    }

    #[test]
    fn arbitrary_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        check_bytes(&bytes);
    }

    #[test]
    fn arbitrary_pdn_characters_are_read(bytes in prop::collection::vec(prop::sample::select(SIGNS), 0..400)) {
        check_bytes(&bytes);
    }

    #[test]
    fn arbitrary_fragments_are_read(fragments in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..80)) {
        check_bytes(fragments.concat().as_bytes());
    }

    #[test]
    fn truncated_and_changed_files_are_read(seed: u64, cut: prop::sample::Index, change: u8) {
        let mut rng = Rng::with_seed(seed);
        let game: Game = GAMES[rng.usize(..GAMES.len())].parse().unwrap();
        let record = game.visit(RandomRecord(&game, &mut rng));
        let mut bytes = format_game(&record).unwrap().repeat(2).into_bytes();
        let at = cut.index(bytes.len());
        bytes[at] = change;
        check_bytes(&bytes);
        check_bytes(&bytes[at..]);
        check_bytes(&bytes[..at]);
    }
}
