//! What an analysis says about games: known blunders, known best moves, and the laws that hold for
//! every game. All searches are limited by depth, so they find the same every time.

#![allow(clippy::unwrap_used)] // a test that cannot go on may stop

use crownhead_play::analysis::{
    AnalysisRequest, Eval, FileAnalysis, GameAnalysis, Judgement, MoveVerdict, PositionSpec,
    analyse_game, analyse_position, html, json, pdn, text,
};
use crownhead_records::{GameRecord, Line, Ply, Reader, format_game};
use crownhead_rules::{Game, GameVisitor, MoveList, Notation, Side};
use crownhead_search::{EngineConfig, Knowledge, SearchLimits, StopFlag};
use serde_json::Value;

fn request(depth: u32) -> AnalysisRequest {
    AnalysisRequest {
        limits: SearchLimits { depth: Some(depth), ..SearchLimits::default() },
        engine: EngineConfig { hash_mb: 1, ..EngineConfig::default() },
        lines: 1,
    }
}

fn analysed(record: &GameRecord, request: &AnalysisRequest) -> GameAnalysis {
    analyse_game(record, 1, request, &Knowledge::default(), &StopFlag::new(), &mut |_| {}).unwrap()
}

fn read(text: &str) -> GameRecord {
    let mut games: Vec<_> = Reader::new(text.as_bytes()).map(Result::unwrap).collect();
    assert_eq!(games.len(), 1, "{text}");
    games.remove(0)
}

fn record(game: &str, start: &str, moves: &str) -> GameRecord {
    read(&format!("[Game \"{game}\"]\n[SetUp \"1\"]\n[FEN \"{start}\"]\n\n{moves} *\n"))
}

/// Positions in which one move wins and another loses.
struct Case {
    game: &'static str,
    start: &'static str,
    best: &'static str,
    blunder: &'static str,
    reply: &'static str,
}

const CASES: [Case; 4] = [
    // White's only man is blocked by 5-9; 6-9 loses a man and lets it through.
    Case { game: "english", start: "B:W13:B5,6", best: "5-9", blunder: "6-9", reply: "13x6" },
    // White runs out of moves on the last row first; after 1-6 Black has no man left.
    Case { game: "contest", start: "B:W10:B1", best: "1-5", blunder: "1-6", reply: "10x1" },
    // The last piece steps into the camp, or Red's does.
    Case {
        game: "chinese-checkers",
        start: "OOO5/O7/O1O5/8/8/5#1#/7#/5### # 20",
        best: "6677",
        blunder: "6656",
        reply: "3322",
    },
    // Black ends the game 2-1, or White ends it 2-1.
    Case {
        game: "capture-halma",
        start: "6b1/5b2/8/w7/2w5/8/8/8 b 0",
        best: "26-27",
        blunder: "26-36",
        reply: "53-52",
    },
];

#[test]
fn a_blunder_is_marked_and_the_better_line_named() {
    for case in &CASES {
        let Case { game, start, best, blunder, reply } = case;
        let found = analysed(&record(game, start, &format!("{blunder} {reply}")), &request(6));
        let played = &found.moves[0];
        assert_eq!(played.verdict, MoveVerdict::Judged(Judgement::Blunder), "{game}: {played:?}");
        let better = played.better.as_ref().unwrap();
        assert_eq!(better.steps[0].text, *best, "{game}");
        assert!(matches!(better.eval, Eval::Win { winner: Side::First, .. }), "{game}");
        assert_eq!(played.before, better.eval, "{game}");
        assert_eq!(found.turning_point, Some(0), "{game}");
        assert!(found.moves[1].verdict.judgement().is_none(), "{game}: the reply is the best");
        assert_eq!(found.summaries[0].judgements, [0, 0, 1], "{game}");
        assert!(found.summaries[0].accuracy.unwrap() < 0.3, "{game}");
        let shown = text::game(&found, text::Colours::None);
        assert!(shown.contains(&format!("{blunder} ??")) && shown.contains(best), "{shown}");
    }
}

#[test]
fn a_game_of_best_moves_has_no_marks_and_full_accuracy() {
    for Case { game, start, best, .. } in &CASES {
        let parsed: Game = game.parse().unwrap();
        let place = PositionSpec { game: &parsed, position: Some(start), moves: "" };
        let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
        let line = analyse_position(&place, &request(6), &knowledge, &stop, &mut |_| {}).unwrap();
        let moves = line.lines[0].moves_text(usize::MAX);
        assert!(moves.starts_with(best), "{game}: {moves}");

        let found = analysed(&record(game, start, &moves), &request(6));
        assert!(found.moves.iter().all(|played| played.verdict.judgement().is_none()), "{game}");
        assert_eq!(found.summaries[0].accuracy, Some(1.0), "{game}: {found:?}");
        assert_eq!(found.turning_point, None, "{game}: it was won from the beginning");
        let end = found.end.as_ref().unwrap();
        assert_eq!((end.winner, end.plies), (Some(Side::First), found.moves.len()), "{game}");
        let last = found.moves.last().unwrap();
        assert_eq!(last.after, Eval::Win { winner: Side::First, plies: 0 }, "{game}");
        assert_eq!(last.before, Eval::Win { winner: Side::First, plies: 1 }, "{game}");
    }
}

#[test]
fn a_quicker_win_is_what_the_position_was_worth() {
    // 5-9 blocks White's man at once; any move of the king lets it step forward and be taken.
    let found = analysed(&record("english", "B:W13:B5,6,K32", "32-27"), &request(6));
    let played = &found.moves[0];
    assert_eq!(played.before, Eval::Win { winner: Side::First, plies: 1 }, "{played:?}");
    assert_eq!(played.after, Eval::Win { winner: Side::First, plies: 2 }, "{played:?}");
    assert_eq!((played.verdict, played.loss), (MoveVerdict::Fine, 0.0));
}

#[test]
fn red_must_not_open_its_camp_to_a_long_jump() {
    let found = analysed(&read("[Game \"chinese-checkers\"]\n1. 2233 7766 *"), &request(4));
    let played = &found.moves[1];
    assert!(matches!(played.after, Eval::Win { winner: Side::First, plies: 1 }), "{played:?}");
    assert_eq!(played.verdict, MoveVerdict::Judged(Judgement::Blunder));
    assert_eq!(played.after.text(&found.sides), "Blue wins in 1");
}

#[test]
fn only_moves_and_lost_positions_are_not_judged() {
    // 21x14 is compulsory and wins.
    let found = analysed(&record("english", "W:W21:B17", "1... 21x14"), &request(4));
    assert_eq!(found.moves[0].verdict, MoveVerdict::Forced);
    assert_eq!(found.summaries[1].accuracy, None);
    // Black loses whatever it does; the shortest way is no mistake.
    let lost = "B:W27:B19";
    for moves in ["19-23", "19-24"] {
        let found = analysed(&record("english", lost, moves), &request(4));
        assert!(matches!(found.eval, Eval::Win { winner: Side::Second, .. }), "{found:?}");
        assert_eq!(found.moves[0].verdict.judgement(), None, "{moves}");
        assert_eq!(found.summaries[0].counted_moves, 0, "{moves}");
    }
}

#[test]
fn moves_behind_the_end_are_kept_and_not_judged() {
    let text = "[Game \"contest:draw-plies=2\"]\n1. 9-13 24-20 2. 11-16 *";
    let found = analysed(&read(text), &request(3));
    let end = found.end.as_ref().unwrap();
    assert_eq!((end.plies, end.winner), (2, None), "{end:?}");
    let behind = found.moves.last().unwrap();
    assert_eq!((behind.verdict, behind.after), (MoveVerdict::AfterTheEnd, Eval::Drawn));
    let shown = text::game(&found, text::Colours::None);
    assert!(shown.contains("The last move was played after that."), "{shown}");
}

#[test]
fn a_skipped_turn_is_judged_as_a_move_is() {
    // Black could have ended the game and won; White then has no better way than to end it.
    let start = "6b1/5b2/8/w7/2w5/8/8/8 b 0";
    let found = analysed(&record("capture-halma", start, "1. pass 53-52"), &request(6));
    let skipped = &found.moves[0];
    assert_eq!((skipped.step.text.as_str(), skipped.step.path.len()), ("pass", 0));
    assert_eq!(skipped.verdict, MoveVerdict::Judged(Judgement::Blunder), "{skipped:?}");
    assert_eq!(skipped.better.as_ref().unwrap().steps[0].text, "26-27");
    assert_eq!(read(&format_game(&pdn::annotated(&found)).unwrap()), pdn::annotated(&found));
}

/// A game of random moves.
struct RandomGame(u64);

impl GameVisitor for RandomGame {
    type Output = String;
    fn visit<P: Notation>(self, options: &P::Options) -> String {
        let mut position = P::start(options);
        let mut random = self.0;
        let (mut moves, mut past) = (Vec::new(), Vec::new());
        while moves.len() < 24 && position.outcome(&past).is_none() {
            let mut list = MoveList::new();
            position.legal_moves(&mut list);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mv = list[(random >> 33) as usize % list.len()];
            moves.push(position.format_move(mv));
            past.push(position.key());
            position.play(mv);
        }
        moves.join(" ")
    }
}

fn random_games() -> Vec<GameRecord> {
    let games = Game::all().into_iter().flat_map(|game| {
        (1..=2).map(move |seed| {
            read(&format!("[Black \"A\"]\n[Game \"{game}\"]\n{} *", game.visit(RandomGame(seed))))
        })
    });
    games.collect()
}

#[test]
fn laws_of_every_analysis() {
    let mut marked = 0;
    for record in random_games() {
        let found = analysed(&record, &request(3));
        assert_eq!(found.moves.len(), record.line.plies.len());
        for (index, played) in found.moves.iter().enumerate() {
            assert_eq!(played.step.text, record.line.plies[index].text);
            let best = played.before.expected_for(played.side);
            let kept = played.after.expected_for(played.side);
            assert!((0.0..=1.0).contains(&played.loss), "{played:?}");
            assert!((best - kept - played.loss).abs() < 1e-12, "{played:?}");
            assert_eq!(played.better.is_some(), played.verdict.judgement().is_some());
            if let Some(better) = &played.better {
                marked += 1;
                assert_ne!(better.steps[0].text, played.step.text);
                assert!(played.loss >= 0.05);
            }
            if matches!(played.verdict, MoveVerdict::Best | MoveVerdict::Forced) {
                assert_eq!(played.loss, 0.0, "{played:?}");
            }
        }
        for (played, next) in found.moves.iter().zip(&found.moves[1..]) {
            assert_eq!(played.after, next.before, "one position, one worth: {played:?} {next:?}");
        }
        for summary in &found.summaries {
            assert!(summary.counted_moves <= summary.moves);
            assert!(summary.accuracy.is_none_or(|share| (0.0..=1.0).contains(&share)));
            assert!(summary.judgements.iter().sum::<usize>() <= summary.counted_moves);
        }
        assert!(found.turning_point.is_none_or(|index| index < found.moves.len()));
    }
    assert!(marked > 20, "random games are full of mistakes: {marked}");
}

#[test]
fn an_annotated_game_is_read_back_as_it_is_and_not_annotated_twice() {
    for mut record in random_games() {
        record.line.plies[0].comment = Some("Said before.".into());
        record.line.plies[1].nags = vec![5];
        let found = analysed(&record, &request(3));
        let annotated = pdn::annotated(&found);
        let written = format_game(&annotated).unwrap();
        assert_eq!(read(&written), annotated, "{written}");
        let plies = annotated.line.plies.iter().zip(&found.moves);
        for (ply, played) in plies {
            let nags = played.verdict.judgement().map(Judgement::nag);
            assert!(nags.is_none_or(|nag| ply.nags.contains(&nag)), "{ply:?}");
            assert_eq!(ply.variations.len(), usize::from(played.better.is_some()));
        }
        assert!(written.contains("Said before."));
        assert!(annotated.line.plies[1].nags.contains(&5));

        let again = pdn::annotated(&analysed(&annotated, &request(3)));
        assert_eq!(format_game(&again).unwrap(), written);
    }
}

fn file(games: Vec<GameAnalysis>) -> FileAnalysis {
    let limits = SearchLimits { depth: Some(3), ..SearchLimits::default() };
    FileAnalysis { file: "games.pdn".into(), limits, games, errors: Vec::new() }
}

#[test]
fn json_says_what_is_documented() {
    let more = AnalysisRequest { lines: 2, ..request(3) };
    let games: Vec<_> = random_games().iter().map(|record| analysed(record, &more)).collect();
    let object = json::file(&file(games.clone()));
    assert_eq!(object["version"], 1);
    assert_eq!(object["limits"]["depth"], 3);
    assert_eq!(object["games"].as_array().unwrap().len(), games.len());
    for (game, found) in object["games"].as_array().unwrap().iter().zip(&games) {
        assert_eq!(game["sides"][0]["player"], "A");
        assert_eq!(game["sides"][1]["player"], Value::Null);
        assert_eq!(game["sides"][0]["letter"], found.sides[0].letter.to_string());
        assert_eq!(game["turning_point"].as_u64(), found.turning_point.map(|at| at as u64 + 1));
        let moves = game["moves"].as_array().unwrap();
        for (index, (object, played)) in moves.iter().zip(&found.moves).enumerate() {
            assert_eq!(object["ply"], index + 1);
            assert_eq!(object["move"], played.step.text);
            assert_eq!(object["loss"].as_f64(), Some(played.loss));
            let after = &object["after"];
            assert_eq!(after["points"].is_null(), after["winner"].is_string());
            assert_eq!(after["expected"].as_f64(), Some(played.after.expected_score()));
            assert_eq!(object["mark"].as_str(), played.verdict.judgement().map(Judgement::symbol));
            assert_eq!(object["better"].is_object(), played.verdict.judgement().is_some());
            let choice = played.verdict != MoveVerdict::Forced;
            assert_eq!(object["lines"].as_array().map(Vec::len), choice.then_some(2));
        }
    }
}

#[test]
fn scores_are_seen_by_the_player_who_moves_first() {
    let game: Game = "english".parse().unwrap();
    // Black is three men ahead, whoever is to move.
    for position in ["B:W30:B1,2,3,4", "W:W30:B1,2,3,4"] {
        let place = PositionSpec { game: &game, position: Some(position), moves: "" };
        let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
        let found = analyse_position(&place, &request(4), &knowledge, &stop, &mut |_| {}).unwrap();
        assert!(found.lines[0].eval.expected_score() > 0.8, "{found:?}");
        let object = json::position(&found, &request(4).limits);
        assert!(object["lines"][0]["eval"]["points"].as_i64().unwrap() > 0, "{object}");
    }
}

const HOSTILE: &str = r#"</script><script>alert(1)</script><img src=x onerror="alert(2)">&'"#;

/// The data that a page has in it.
fn embedded(page: &str) -> Value {
    let open = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(open).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn texts_of_a_file_are_only_texts_on_the_page() {
    let mut record = read("1. 11-15 {A remark.} 23-19 *");
    for side in [Side::First, Side::Second] {
        record.set_player(side, HOSTILE);
    }
    record.set_tag("Event", HOSTILE);
    record.line.plies[0].comment = Some(HOSTILE.into());
    let found = analysed(&record, &request(3));
    let plain = html::page(&file(vec![analysed(&read("1. 11-15 23-19 *"), &request(3))]));
    let page = html::page(&file(vec![found]));
    for tag in ["<script", "</script", "<img", "<!--"] {
        assert_eq!(page.matches(tag).count(), plain.matches(tag).count(), "{tag}");
    }
    let game = &embedded(&page)["games"][0];
    assert_eq!(game["sides"][0]["player"], HOSTILE);
    assert_eq!(game["moves"][0]["comment"], HOSTILE);
}

#[test]
fn a_page_needs_nothing_but_itself_and_shows_every_board() {
    let games: Vec<_> = random_games().iter().map(|record| analysed(record, &request(3))).collect();
    let page = html::page(&file(games.clone()));
    for gap in ["@TITLE@", "@DATA@", "/*STYLE*/", "/*SCRIPT*/", " src=", "url(", "@import", "<link"]
    {
        assert!(!page.contains(gap), "{gap}");
    }
    // The one address is the name of SVG, which is not fetched.
    assert_eq!(page.matches("://").count(), 1);
    let data = embedded(&page);
    for (object, game) in data["games"].as_array().unwrap().iter().zip(&games) {
        let boards = object["moves"].as_array().unwrap().iter().map(|played| &played["board"]);
        for (board, played) in boards.zip(&game.moves) {
            assert_eq!(board.as_str(), Some(played.step.board.as_str()));
            assert_eq!(played.step.board.chars().count(), 64);
        }
        for letter in game.moves.iter().flat_map(|played| played.step.board.chars()) {
            assert!(letter == '.' || object["pieces"][letter.to_string()].is_object());
        }
    }
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let mut record = read("1. 11-15 *");
    record.set_player(Side::First, "A\u{1b}[2J\u{7}B");
    let shown = text::game(&analysed(&record, &request(2)), text::Colours::None);
    assert!(!shown.contains(['\u{1b}', '\u{7}']), "{shown:?}");
}

#[test]
fn a_raised_flag_ends_an_analysis_without_a_result() {
    let stop = StopFlag::new();
    stop.set();
    let record = read("1. 11-15 23-19 *");
    let unlimited = AnalysisRequest { limits: SearchLimits::default(), ..request(1) };
    let found = analyse_game(&record, 1, &unlimited, &Knowledge::default(), &stop, &mut |_| {});
    assert_eq!(found.unwrap_err().to_string(), "the analysis was interrupted");
}

#[test]
fn lines_found_before_the_flag_was_raised_are_kept() {
    let game: Game = "english".parse().unwrap();
    let place = PositionSpec { game: &game, position: None, moves: "" };
    let unlimited = AnalysisRequest { limits: SearchLimits::default(), ..request(1) };
    let stop = StopFlag::new();
    let mut heard = |_: &_| stop.set();
    let found =
        analyse_position(&place, &unlimited, &Knowledge::default(), &stop, &mut heard).unwrap();
    assert!(found.depth >= 1 && found.lines.len() == 1, "{found:?}");
}

#[test]
fn a_better_analysis_replaces_an_earlier_one_and_nothing_else() {
    for mut record in random_games() {
        record.line.plies[0].nags = vec![5];
        for ply in &mut record.line.plies[..2] {
            let own = Ply { comment: Some("[%eval 0.10] Mine.".into()), ..ply.clone() };
            ply.variations.push(Line { comment: None, plies: vec![own] });
        }
        let weak = pdn::annotated(&analysed(&record, &request(1)));
        let again = pdn::annotated(&analysed(&weak, &request(4)));
        let strong = pdn::annotated(&analysed(&record, &request(4)));
        assert_ne!(weak, strong, "they differ, or nothing is replaced");
        assert_eq!(format_game(&again).unwrap(), format_game(&strong).unwrap());
    }
}

#[test]
fn a_won_game_has_no_sign_in_its_score() {
    let found = analysed(&record("english", "W:W21:B17", "1... 21x14"), &request(4));
    let written = format_game(&pdn::annotated(&found)).unwrap();
    assert!(written.contains("21x14 {[%eval #0] White has won.}"), "{written}");
}
