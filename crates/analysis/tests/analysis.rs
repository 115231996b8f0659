//! Analysis: known blunders, known best moves, and properties that hold for every game. Searches
//! are limited by depth, so results are reproducible.

use crownhead_analysis::{
    AnalysisRequest, Eval, FileAnalysis, GameAnalysis, HINT_PLAYER, Judgement, MoveVerdict,
    PositionSpec, analyse_game, analyse_position, json, pdn, text,
};
use crownhead_play::BuiltinSpec;
use crownhead_play::book::Book;
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

fn analyse(record: &GameRecord, request: &AnalysisRequest) -> GameAnalysis {
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
fn blunder_is_judged_with_a_better_line() {
    for case in &CASES {
        let Case { game, start, best, blunder, reply } = case;
        let analysis = analyse(&record(game, start, &format!("{blunder} {reply}")), &request(6));
        let played = &analysis.moves[0];
        assert_eq!(played.verdict, MoveVerdict::Judged(Judgement::Blunder), "{game}: {played:?}");
        let better = played.better.as_ref().unwrap();
        assert_eq!(better.steps[0].text, *best, "{game}");
        assert!(matches!(better.eval, Eval::Win { winner: Side::First, .. }), "{game}");
        assert_eq!(played.before, better.eval, "{game}");
        assert_eq!(analysis.turning_point, Some(0), "{game}");
        assert!(analysis.moves[1].verdict.judgement().is_none(), "{game}: the reply is the best");
        assert_eq!(analysis.summaries[0].judgements, [0, 0, 1], "{game}");
        assert!(analysis.summaries[0].accuracy.unwrap() < 0.3, "{game}");
        let output = text::game(&analysis, text::Colours::None);
        assert!(output.contains(&format!("{blunder} ??")) && output.contains(best), "{output}");
    }
}

#[test]
fn best_moves_have_no_judgements_and_full_accuracy() {
    for Case { game, start, best, .. } in &CASES {
        let parsed: Game = game.parse().unwrap();
        let spec = PositionSpec { game: &parsed, position: Some(start), moves: "" };
        let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
        let line = analyse_position(&spec, &request(6), &knowledge, &stop, &mut |_| {}).unwrap();
        let moves = line.lines[0].moves_text(usize::MAX);
        assert!(moves.starts_with(best), "{game}: {moves}");

        let analysis = analyse(&record(game, start, &moves), &request(6));
        assert!(analysis.moves.iter().all(|played| played.verdict.judgement().is_none()), "{game}");
        assert_eq!(analysis.summaries[0].accuracy, Some(1.0), "{game}: {analysis:?}");
        assert_eq!(analysis.turning_point, None, "{game}: won from the start");
        let end = analysis.end.as_ref().unwrap();
        assert_eq!((end.winner, end.plies), (Some(Side::First), analysis.moves.len()), "{game}");
        let last = analysis.moves.last().unwrap();
        assert_eq!(last.after, Eval::Win { winner: Side::First, plies: 0 }, "{game}");
        assert_eq!(last.before, Eval::Win { winner: Side::First, plies: 1 }, "{game}");
    }
}

#[test]
fn slower_win_is_fine_and_before_is_the_quicker_win() {
    // 5-9 blocks White's man at once; any move of the king lets it advance and be captured.
    let analysis = analyse(&record("english", "B:W13:B5,6,K32", "32-27"), &request(6));
    let played = &analysis.moves[0];
    assert_eq!(played.before, Eval::Win { winner: Side::First, plies: 1 }, "{played:?}");
    assert_eq!(played.after, Eval::Win { winner: Side::First, plies: 2 }, "{played:?}");
    assert_eq!((played.verdict, played.loss), (MoveVerdict::Fine, 0.0));
}

#[test]
fn opening_the_camp_to_a_long_jump_is_a_blunder() {
    let analysis = analyse(&read("[Game \"chinese-checkers\"]\n1. 2233 7766 *"), &request(4));
    let played = &analysis.moves[1];
    assert!(matches!(played.after, Eval::Win { winner: Side::First, plies: 1 }), "{played:?}");
    assert_eq!(played.verdict, MoveVerdict::Judged(Judgement::Blunder));
    assert_eq!(played.after.text(&analysis.sides), "Blue wins in 1");
}

#[test]
fn forced_moves_and_lost_positions_are_not_judged() {
    // 21x14 is mandatory and wins.
    let analysis = analyse(&record("english", "W:W21:B17", "1... 21x14"), &request(4));
    assert_eq!(analysis.moves[0].verdict, MoveVerdict::Forced);
    assert_eq!(analysis.summaries[1].accuracy, None);
    // Black loses whatever it does; even the quickest loss is not a mistake.
    let lost = "B:W27:B19";
    for moves in ["19-23", "19-24"] {
        let analysis = analyse(&record("english", lost, moves), &request(4));
        assert!(matches!(analysis.eval, Eval::Win { winner: Side::Second, .. }), "{analysis:?}");
        assert_eq!(analysis.moves[0].verdict.judgement(), None, "{moves}");
        assert_eq!(analysis.summaries[0].counted_moves, 0, "{moves}");
    }
}

#[test]
fn moves_after_the_end_are_not_judged() {
    let text = "[Game \"contest:draw-plies=2\"]\n1. 9-13 24-20 2. 11-16 *";
    let analysis = analyse(&read(text), &request(3));
    let end = analysis.end.as_ref().unwrap();
    assert_eq!((end.plies, end.winner), (2, None), "{end:?}");
    let last = analysis.moves.last().unwrap();
    assert_eq!((last.verdict, last.after), (MoveVerdict::AfterTheEnd, Eval::Drawn));
    let output = text::game(&analysis, text::Colours::None);
    assert!(output.contains("The last move was played after that."), "{output}");
}

#[test]
fn skipped_turn_is_judged_like_a_move() {
    // Black could have ended the game and won; White then does best to end it.
    let start = "6b1/5b2/8/w7/2w5/8/8/8 b 0";
    let analysis = analyse(&record("capture-halma", start, "1. pass 53-52"), &request(6));
    let skipped = &analysis.moves[0];
    assert_eq!((skipped.step.text.as_str(), skipped.step.path.len()), ("pass", 0));
    assert_eq!(skipped.verdict, MoveVerdict::Judged(Judgement::Blunder), "{skipped:?}");
    assert_eq!(skipped.better.as_ref().unwrap().steps[0].text, "26-27");
    assert_eq!(read(&format_game(&pdn::annotated(&analysis)).unwrap()), pdn::annotated(&analysis));
}

/// A game of random moves.
struct RandomGame(u64);

impl GameVisitor for RandomGame {
    type Output = String;
    fn visit<P: Notation>(self, options: &P::Options) -> String {
        let mut position = P::start(options);
        let mut random = self.0;
        let (mut moves, mut history_keys) = (Vec::new(), Vec::new());
        while moves.len() < 24 && position.outcome(&history_keys).is_none() {
            let mut list = MoveList::new();
            position.legal_moves(&mut list);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mv = list[(random >> 33) as usize % list.len()];
            moves.push(position.format_move(mv));
            history_keys.push(position.key());
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
fn properties_of_every_analysis() {
    let mut judged = 0;
    for record in random_games() {
        let analysis = analyse(&record, &request(3));
        assert_eq!(analysis.moves.len(), record.line.plies.len());
        for (index, played) in analysis.moves.iter().enumerate() {
            assert_eq!(played.step.text, record.line.plies[index].text);
            let best = played.before.expected_for(played.side);
            let after = played.after.expected_for(played.side);
            assert!((0.0..=1.0).contains(&played.loss), "{played:?}");
            assert!((best - after - played.loss).abs() < 1e-12, "{played:?}");
            assert_eq!(played.better.is_some(), played.verdict.judgement().is_some());
            if let Some(better) = &played.better {
                judged += 1;
                assert_ne!(better.steps[0].text, played.step.text);
                assert!(played.loss >= 0.05);
            }
            if matches!(played.verdict, MoveVerdict::Best | MoveVerdict::Forced) {
                assert_eq!(played.loss, 0.0, "{played:?}");
            }
        }
        for (played, next) in analysis.moves.iter().zip(&analysis.moves[1..]) {
            assert_eq!(
                played.after, next.before,
                "one evaluation per position: {played:?} {next:?}"
            );
        }
        for summary in &analysis.summaries {
            assert!(summary.counted_moves <= summary.moves);
            assert!(summary.accuracy.is_none_or(|share| (0.0..=1.0).contains(&share)));
            assert!(summary.judgements.iter().sum::<usize>() <= summary.counted_moves);
        }
        assert!(analysis.turning_point.is_none_or(|index| index < analysis.moves.len()));
    }
    assert!(judged > 20, "random games have many mistakes: {judged}");
}

#[test]
fn annotated_game_round_trips_and_repeated_analysis_changes_nothing() {
    for mut record in random_games() {
        record.line.plies[0].comment = Some("A comment.".into());
        record.line.plies[1].nags = vec![5];
        let analysis = analyse(&record, &request(3));
        let annotated = pdn::annotated(&analysis);
        let pdn_text = format_game(&annotated).unwrap();
        assert_eq!(read(&pdn_text), annotated, "{pdn_text}");
        let plies = annotated.line.plies.iter().zip(&analysis.moves);
        for (ply, played) in plies {
            let nags = played.verdict.judgement().map(Judgement::nag);
            assert!(nags.is_none_or(|nag| ply.nags.contains(&nag)), "{ply:?}");
            assert_eq!(ply.variations.len(), usize::from(played.better.is_some()));
        }
        assert!(pdn_text.contains("A comment."));
        assert!(annotated.line.plies[1].nags.contains(&5));

        let again = pdn::annotated(&analyse(&annotated, &request(3)));
        assert_eq!(format_game(&again).unwrap(), pdn_text);
    }
}

fn file(games: Vec<GameAnalysis>) -> FileAnalysis {
    let limits = SearchLimits { depth: Some(3), ..SearchLimits::default() };
    FileAnalysis { file: "games.pdn".into(), limits, games, errors: Vec::new() }
}

#[test]
fn json_has_the_documented_fields() {
    let two_lines = AnalysisRequest { lines: 2, ..request(3) };
    let games: Vec<_> = random_games().iter().map(|record| analyse(record, &two_lines)).collect();
    let object = json::file(&file(games.clone()));
    assert_eq!(object["version"], 1);
    assert_eq!(object["limits"]["depth"], 3);
    assert_eq!(object["games"].as_array().unwrap().len(), games.len());
    for (game, analysis) in object["games"].as_array().unwrap().iter().zip(&games) {
        assert_eq!(game["sides"][0]["player"], "A");
        assert_eq!(game["sides"][1]["player"], Value::Null);
        assert_eq!(game["sides"][0]["letter"], analysis.sides[0].letter.to_string());
        assert_eq!(game["turning_point"].as_u64(), analysis.turning_point.map(|at| at as u64 + 1));
        let moves = game["moves"].as_array().unwrap();
        for (index, (object, played)) in moves.iter().zip(&analysis.moves).enumerate() {
            assert_eq!(object["ply"], index + 1);
            assert_eq!(object["move"], played.step.text);
            assert_eq!(object["loss"].as_f64(), Some(played.loss));
            let after = &object["after"];
            assert_eq!(after["points"].is_null(), after["winner"].is_string());
            assert_eq!(after["expected"].as_f64(), Some(played.after.expected_score()));
            assert_eq!(object["mark"].as_str(), played.verdict.judgement().map(Judgement::symbol));
            assert_eq!(object["better"].is_object(), played.verdict.judgement().is_some());
            let has_choice = played.verdict != MoveVerdict::Forced;
            assert_eq!(object["lines"].as_array().map(Vec::len), has_choice.then_some(2));
        }
    }
}

#[test]
fn scores_are_from_the_view_of_the_first_side() {
    let game: Game = "english".parse().unwrap();
    // Black is three men ahead, with either side to move.
    for position in ["B:W30:B1,2,3,4", "W:W30:B1,2,3,4"] {
        let spec = PositionSpec { game: &game, position: Some(position), moves: "" };
        let (knowledge, stop) = (Knowledge::default(), StopFlag::new());
        let analysis =
            analyse_position(&spec, &request(4), &knowledge, &stop, &mut |_| {}).unwrap();
        assert!(analysis.lines[0].eval.expected_score() > 0.8, "{analysis:?}");
        let object = json::position(&analysis, &request(4).limits);
        assert!(object["lines"][0]["eval"]["points"].as_i64().unwrap() > 0, "{object}");
    }
}

#[test]
fn text_output_has_no_control_characters() {
    let mut record = read("1. 11-15 *");
    record.set_player(Side::First, "A\u{1b}[2J\u{7}B");
    let output = text::game(&analyse(&record, &request(2)), text::Colours::None);
    assert!(!output.contains(['\u{1b}', '\u{7}']), "{output:?}");
}

#[test]
fn stop_flag_interrupts_game_analysis() {
    let stop = StopFlag::new();
    stop.set();
    let record = read("1. 11-15 23-19 *");
    let unlimited = AnalysisRequest { limits: SearchLimits::default(), ..request(1) };
    let analysis = analyse_game(&record, 1, &unlimited, &Knowledge::default(), &stop, &mut |_| {});
    assert_eq!(analysis.unwrap_err().to_string(), "the analysis was interrupted");
}

#[test]
fn stop_flag_keeps_finished_iterations_of_a_position() {
    let game: Game = "english".parse().unwrap();
    let spec = PositionSpec { game: &game, position: None, moves: "" };
    let unlimited = AnalysisRequest { limits: SearchLimits::default(), ..request(1) };
    let stop = StopFlag::new();
    let mut on_progress = |_: &_| stop.set();
    let analysis =
        analyse_position(&spec, &unlimited, &Knowledge::default(), &stop, &mut on_progress)
            .unwrap();
    assert!(analysis.depth >= 1 && analysis.lines.len() == 1, "{analysis:?}");
}

#[test]
fn analysis_and_hints_search_positions_of_the_opening_book() {
    let game: Game = "english".parse().unwrap();
    assert!(Book::shipped(&game).is_some());
    let spec = PositionSpec { game: &game, position: None, moves: "" };
    let (none, stop) = (Knowledge::default(), StopFlag::new());
    let analysis = analyse_position(&spec, &request(3), &none, &stop, &mut |_| {}).unwrap();
    assert!(analysis.nodes > 0 && analysis.depth == 3, "{analysis:?}");
    let hint_player: BuiltinSpec = HINT_PLAYER.parse().unwrap();
    assert_eq!(hint_player.options.book, Some(false));
}

#[test]
fn new_analysis_replaces_only_an_earlier_analysis() {
    for mut record in random_games() {
        record.line.plies[0].nags = vec![5];
        for ply in &mut record.line.plies[..2] {
            let variation = Ply { comment: Some("[%eval 0.10] Mine.".into()), ..ply.clone() };
            ply.variations.push(Line { comment: None, plies: vec![variation] });
        }
        let weak = pdn::annotated(&analyse(&record, &request(1)));
        let again = pdn::annotated(&analyse(&weak, &request(4)));
        let strong = pdn::annotated(&analyse(&record, &request(4)));
        assert_ne!(weak, strong, "the analyses must differ");
        assert_eq!(format_game(&again).unwrap(), format_game(&strong).unwrap());
    }
}

#[test]
fn eval_of_a_won_game_has_no_sign() {
    let analysis = analyse(&record("english", "W:W21:B17", "1... 21x14"), &request(4));
    let pdn_text = format_game(&pdn::annotated(&analysis)).unwrap();
    assert!(pdn_text.contains("21x14 {[%eval #0] White has won.}"), "{pdn_text}");
}
