//! Reports of a small tournament and pages of analysed games.

#![allow(clippy::unwrap_used)] // a failing test may panic

use std::collections::HashMap;
use std::time::Duration;

use crownhead_analysis::{AnalysisRequest, Eval, FileAnalysis, GameAnalysis, analyse_game};
use crownhead_play::{Opening, TimeControl};
use crownhead_records::{GameRecord, Reader};
use crownhead_report::data::{CrosstableCell, GameLog};
use crownhead_report::html::{analysis_page, player_page, report_page};
use crownhead_report::replay::Replay;
use crownhead_report::{Report, ReportInput};
use crownhead_rules::Side;
use crownhead_search::{EngineConfig, Knowledge, SearchLimits, StopFlag};
use crownhead_tournament::journal::{FaultRow, Game, GameDetails, Player, Snapshot, State};
use crownhead_tournament::standings::TieBreak;
use crownhead_tournament::{FileDigests, GameSummary, MoveReport, Points, Schedule, Settings};
use serde_json::Value;

const HOSTILE: &str = r#"</script><script>alert(1)</script><img src=x onerror="alert(2)">&'"#;

fn analyse(record: &GameRecord, number: u64) -> GameAnalysis {
    let request = AnalysisRequest {
        limits: SearchLimits { depth: Some(5), ..SearchLimits::default() },
        engine: EngineConfig { hash_mb: 1, ..EngineConfig::default() },
        lines: 1,
    };
    let knowledge = Knowledge::default();
    analyse_game(record, number, &request, &knowledge, &StopFlag::new(), &mut |_| {}).unwrap()
}

fn read(text: &str) -> GameRecord {
    Reader::new(text.as_bytes()).next().unwrap().unwrap()
}

fn file(games: Vec<GameAnalysis>) -> FileAnalysis {
    FileAnalysis {
        file: "games.pdn".into(),
        limits: SearchLimits::default(),
        games,
        errors: Vec::new(),
    }
}

/// Returns the data embedded in a page.
fn embedded(page: &str) -> Value {
    let open = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(open).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Fails if a page has more elements that could run something than a harmless one.
fn assert_same_elements(page: &str, harmless: &str) {
    for tag in ["<script", "</script", "<img", "<svg", "<!--", "<b "] {
        assert_eq!(page.matches(tag).count(), harmless.matches(tag).count(), "{tag}");
    }
}

#[test]
fn analysis_page_escapes_text_from_the_file() {
    let page = |text: &str| {
        let mut record = read("1. 11-15 23-19 *");
        for side in [Side::First, Side::Second] {
            record.set_player(side, text);
        }
        record.set_tag("Event", text);
        record.line.plies[0].comment = Some(text.into());
        analysis_page(&file(vec![analyse(&record, 1)]))
    };
    let hostile = page(HOSTILE);
    assert_same_elements(&hostile, &page("harmless"));
    let data = embedded(&hostile);
    assert_eq!(data["names"][0], HOSTILE);
    assert_eq!(data["games"][0]["details"][0], HOSTILE);
    assert_eq!(data["games"][0]["replay"]["comments"]["1"], HOSTILE);
}

#[test]
fn analysis_page_marks_the_blunder_and_shows_what_was_better() {
    // White's only man is blocked by 5-9; 6-9 loses a man and lets it through.
    let record = read("[FEN \"B:W13:B5,6\"]\n1. 6-9 13x6 *");
    let data = embedded(&analysis_page(&file(vec![analyse(&record, 7)])));
    let game = &data["games"][0];
    assert_eq!((&game["number"], &game["game"]), (&7.into(), &"english".into()));
    let mistake = &game["replay"]["analysis"]["mistakes"][0];
    assert_eq!((&mistake["ply"], &mistake["mark"]), (&1.into(), &"??".into()));
    assert!(mistake["better"]["moves"].as_str().unwrap().starts_with("5-9"), "{mistake}");
}

#[test]
fn pages_load_nothing() {
    let page = analysis_page(&file(vec![analyse(&read("1. 11-15 23-19 *"), 1)]));
    for text in [" src=", "url(", "@import", "<link", "http-equiv=\"refresh"] {
        assert!(!page.contains(text), "{text}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("script-src 'sha256-"));
}

/// A player of the test tournament: name and number of faults.
const PLAYERS: [&str; 4] = ["Ada", HOSTILE, "Carol", "Dan"];
/// Games: players, winner.
const GAMES: [([usize; 2], Option<usize>); 5] = [
    ([0, 1], Some(0)),
    ([1, 0], None),
    ([0, 2], Some(1)),
    ([1, 2], Some(1)),
    // Carol and Dan: not public to Ada beyond their results.
    ([2, 3], Some(0)),
];
/// Black loses a man and the game with the first move.
const START: &str = "B:W13:B5,6";

struct Tournament {
    snapshot: Snapshot,
    details: HashMap<i64, GameDetails>,
    analyses: HashMap<i64, GameAnalysis>,
    logs: HashMap<(i64, usize), GameLog>,
}

impl Tournament {
    fn new(names: [&str; 4]) -> Tournament {
        let moves = ["6-9", "13x6"];
        let player = |(place, name): (usize, &&str)| Player {
            name: name.to_string(),
            text: format!("cmd:./bot{place}"),
            files: FileDigests::default(),
            place: Some(place),
        };
        let game = |(index, (players, winner)): (usize, &([usize; 2], Option<usize>))| Game {
            number: index as i64 + 1,
            round: index as u32 / 2 + 1,
            players: *players,
            opening: 0,
            repeat: 0,
            started: Some(1_709_164_800_000),
            isolation: None,
            summary: Some(GameSummary {
                finished: 1_709_164_801_000,
                milliseconds: 1000,
                winner: *winner,
                reason: "no-move".into(),
                forfeit: None,
                score: None,
                faults: [u32::from(index == 0), u32::from(index == 4)],
                plies: 2,
            }),
        };
        let games: Vec<Game> = GAMES.iter().enumerate().map(game).collect();
        let fault = |side: usize, text: &str| FaultRow {
            side,
            ply: 0,
            code: "illegal-move".into(),
            description: format!("fault of {text}: {HOSTILE}"),
        };
        let report = |milliseconds| MoveReport { milliseconds, ..MoveReport::default() };
        let details = |game: &Game| GameDetails {
            absences: Vec::new(),
            opening: Opening { start: Some(START.into()), moves: Vec::new() },
            moves: moves.map(String::from).to_vec(),
            reports: [1500 + game.number as u64, 10].map(report).to_vec(),
            description: Some("Black has no move".into()),
            faults: match game.number {
                1 => vec![fault(0, "Ada")],
                5 => vec![fault(1, "Dan")],
                _ => Vec::new(),
            },
        };
        let analysis = |game: &Game| {
            let record = read(&format!("[FEN \"{START}\"]\n1. {} *", moves.join(" ")));
            (game.number, analyse(&record, game.number as u64))
        };
        let move_time = TimeControl::PerMove(Duration::from_secs(2));
        let log = |text: &str| GameLog::parse(&format!("ply 0\n  0.1 < # depth=7 {text}\n"));
        Tournament {
            details: games.iter().map(|game| (game.number, details(game))).collect(),
            analyses: games.iter().map(analysis).collect(),
            logs: HashMap::from([((1, 0), log("secret of Ada")), ((5, 1), log("secret of Dan"))]),
            snapshot: Snapshot {
                name: names[1].into(),
                state: State::Finished,
                settings: Settings {
                    game: "english".into(),
                    schedule: Schedule::RoundRobin,
                    games: 1,
                    points: Points::default(),
                    tie_breaks: TieBreak::ALL.to_vec(),
                    concurrency: 1,
                    planned: Some(GAMES.len() as u64),
                },
                result_settings: HashMap::from([("time".into(), move_time.to_string())]),
                players: names.iter().enumerate().map(player).collect(),
                rounds: vec!["round 1".into(), "round 2".into(), "round 3".into()],
                byes: Vec::new(),
                isolation: Vec::new(),
                games,
            },
        }
    }

    fn report(&self) -> Report {
        let Tournament { snapshot, details, analyses, logs } = self;
        Report::new(&ReportInput { snapshot, details, analyses, logs }).unwrap()
    }
}

#[test]
fn report_escapes_names_and_faults() {
    let hostile = report_page(&Tournament::new(PLAYERS).report(), None);
    let harmless = report_page(&Tournament::new(["Ada", "Bob", "Carol", "Dan"]).report(), None);
    assert_same_elements(&hostile, &harmless);
    assert_eq!(embedded(&hostile)["names"][1], HOSTILE);
}

#[test]
fn report_has_every_figure_as_json() {
    let tournament = Tournament::new(PLAYERS);
    let json = serde_json::to_value(tournament.report()).unwrap();
    let points: Vec<_> = json["standings"].as_array().unwrap().iter().collect();
    assert_eq!(points[0]["player"], 2, "Carol won three games");
    assert_eq!(points[0]["points"], 6);
    assert_eq!(json["colours"], serde_json::json!({"first": 2, "draws": 1, "second": 2}));
    assert_eq!(json["lengths"][0]["games"], 5);
    assert_eq!(json["progress"]["lines"][0]["points"], serde_json::json!([0, 4, 6]));
    assert_eq!(json["faults"].as_array().unwrap().len(), 2);
    assert_eq!(json["players"][0]["time"]["max"], 1503);
    assert!(json["ratings"]["rows"][0]["error"].as_f64().unwrap() > 0.0);
    // Points of all players: two per game.
    let achieved = json["players"].as_array().unwrap().iter();
    let achieved: f64 = achieved.map(|player| player["achieved"].as_f64().unwrap()).sum();
    let expected = json["players"].as_array().unwrap().iter();
    let expected: f64 = expected.map(|player| player["expected"].as_f64().unwrap()).sum();
    assert!((achieved - 5.0).abs() < 1e-9 && (expected - 5.0).abs() < 0.01, "{expected}");
    assert!(!json.to_string().contains("secret of"), "log lines are private");
}

/// A knockout of six players: byes for the first two, one game of the others' pairings played.
fn knockout() -> Tournament {
    let mut tournament = Tournament::new(PLAYERS);
    let Tournament { snapshot, details, analyses, logs } = &mut tournament;
    details.clear();
    analyses.clear();
    logs.clear();
    snapshot.settings.schedule = Schedule::Knockout { tie_replays: 0 };
    snapshot.settings.games = 2;
    for (place, name) in [(4, "Eve"), (5, "Fay")] {
        let player =
            Player { name: name.into(), place: Some(place), ..snapshot.players[0].clone() };
        snapshot.players.push(player);
    }
    snapshot.rounds = vec!["quarter-finals".into()];
    snapshot.byes = vec![(1, 0), (1, 1)];
    snapshot.games.truncate(4);
    for (game, players) in snapshot.games.iter_mut().zip([[4, 3], [3, 4], [5, 2], [2, 5]]) {
        (game.round, game.players) = (1, players);
        // The first mover wins the first game of each pair.
        match &mut game.summary {
            Some(summary) if game.number % 2 == 1 => summary.winner = Some(0),
            summary => *summary = None,
        }
    }
    tournament
}

#[test]
fn bracket_is_listed_from_top_to_bottom_and_open_pairings_have_no_winner() {
    let mut tournament = knockout();
    let report = tournament.report();
    let round = &report.bracket.as_ref().unwrap()[0];
    let players: Vec<_> = round.pairings.iter().map(|pairing| pairing.players).collect();
    let bye = |player| [Some(player), None];
    assert_eq!(players, [bye(0), [Some(3), Some(4)], bye(1), [Some(2), Some(5)]]);
    let winners: Vec<_> = round.pairings.iter().map(|pairing| pairing.winner).collect();
    assert_eq!(winners, [Some(0), None, Some(0), None]);
    assert_eq!(round.pairings[1].points, [0.0, 1.0], "Eve leads against Dan");
    let page = report_page(&report, None);
    assert!(page.contains("<a href=\"#pair-3-4\">2 games</a>"));

    tournament.snapshot.games.retain(|game| game.summary.is_some());
    let report = tournament.report();
    let round = &report.bracket.as_ref().unwrap()[0];
    assert_eq!((round.pairings[1].winner, round.pairings[3].winner), (Some(1), Some(1)));
}

#[test]
fn report_before_the_first_game_has_no_empty_charts() {
    let mut tournament = Tournament::new(PLAYERS);
    tournament.snapshot.games.iter_mut().for_each(|game| game.summary = None);
    let report = tournament.report();
    assert!(report.ratings.is_none() && report.players.iter().flatten().count() == 4);
    let page = report_page(&report, None);
    assert!(page.contains("No game is finished.") && !page.contains("<figure"));
}

#[test]
fn crosstable_has_single_results_and_explains_sums() {
    let page = |games: &str, score| {
        let mut report = Tournament::new(PLAYERS).report();
        report.crosstable[0][1] = Some(CrosstableCell { games: games.into(), score });
        report_page(&report, None)
    };
    let forfeits = page("+*+*+*-*", 0.75);
    assert!(forfeits.contains(">+*+*+*−*</a>") && !forfeits.contains("a score of"));
    let many = page("++++++-", 6.0 / 7.0);
    assert!(many.contains(">6/7</a>") && many.contains("; 5/8: a score of 5 in 8 games."));
}

#[test]
fn openings_with_the_same_moves_from_other_positions_are_counted_apart() {
    let mut tournament = Tournament::new(PLAYERS);
    tournament.analyses.clear();
    for (number, details) in &mut tournament.details {
        let start = if *number == 1 { "B:W13:B5,6,7" } else { START };
        details.opening = Opening { start: Some(start.into()), moves: vec!["6-9".into()] };
        details.moves = vec!["13x6".into()];
    }
    let counts: Vec<_> =
        tournament.report().openings.iter().map(|opening| opening.results.games()).collect();
    assert_eq!(counts, [4, 1]);
}

#[test]
fn depths_come_from_the_moves_and_only_else_from_the_log() {
    let mut tournament = Tournament::new(PLAYERS);
    // Ada moves first in games 1 and 3; her log of game 1 has depth 7.
    for (number, depths) in [(1, [Some(4), Some(20)]), (3, [Some(5), None])] {
        let reports = &mut tournament.details.get_mut(&number).unwrap().reports;
        for (report, depth) in reports.iter_mut().zip(depths) {
            report.depth = depth;
        }
    }
    let report = tournament.report();
    let depth = |player: usize| report.player(player).unwrap().depth.map(|[own, _]| own);
    assert_eq!((depth(0), depth(1), depth(2)), (Some(4.5), Some(20.0), None));
    assert_eq!(depth(3), Some(7.0), "from the log");
}

#[test]
fn player_learns_what_was_better_and_gets_three_suggestions() {
    let report = Tournament::new(PLAYERS).report();
    for player in 0..4 {
        assert_eq!(report.player(player).unwrap().suggestions.len(), 3);
    }
    let ada = report.player(0).unwrap();
    let drop = &ada.drops[0];
    assert_eq!((drop.game, drop.ply, drop.better.as_deref()), (3, 0, Some("5-9")));
    assert!(
        drop.sentence.starts_with("You had a win in 1, played 6-9 and fell to")
            && drop.sentence.ends_with("; 5-9 wins."),
        "{}",
        drop.sentence
    );
    assert!(ada.suggestions[0].contains("illegal-move"), "{:?}", ada.suggestions);
    assert_eq!(ada.slowest[0].milliseconds, 1503);
    assert_eq!(ada.depth, Some([7.0, 7.0]));
}

#[test]
fn repeated_blunder_is_listed_once_with_its_games() {
    let report = Tournament::new(PLAYERS).report();
    // Player 1 loses a man with the same first move in games 2 and 4.
    let drops = &report.player(1).unwrap().drops;
    let games: Vec<_> = drops.iter().map(|drop| (drop.game, drop.also_in.clone())).collect();
    // Game 2 was drawn and game 4 lost.
    assert_eq!(games, [(2, vec![(4, 0)])]);
    let page = player_page(&report, 1).unwrap();
    assert!(page.contains("as Black against Ada"));
    assert!(page.contains(" The same in game <a href=\"#game-4.1\">4</a>."));
}

#[test]
fn missed_win_is_shown_in_a_game_that_was_not_won() {
    let mut tournament = Tournament::new(PLAYERS);
    // Ada blunders in game 1, which she wins all the same, and in game 3, which she loses after
    // she was winning once more.
    tournament.details.get_mut(&1).unwrap().faults.clear();
    let moves = &mut tournament.analyses.get_mut(&3).unwrap().moves;
    moves[1].after = Eval::Win { winner: Side::First, plies: 1 };
    let report = tournament.report();
    let suggestions = &report.player(0).unwrap().suggestions;
    let missed = suggestions.iter().find(|text| text.starts_with("Convert your wins")).unwrap();
    assert!(missed.contains("in 1 game ") && missed.contains("Start with game 3,"), "{missed}");
}

#[test]
fn advice_about_time_is_about_moves_that_the_bot_played() {
    let mut tournament = Tournament::new(PLAYERS);
    // In game 1 Ada used all of her two seconds and had to be replaced; her other move took 1.5 s.
    tournament.details.get_mut(&1).unwrap().reports[0].milliseconds = 2005;
    let suggestions = |report: &Report| report.player(0).unwrap().suggestions.join("\n");
    let text = suggestions(&tournament.report());
    assert!(!text.contains("Leave a margin"), "{text}");
    tournament.details.get_mut(&3).unwrap().reports[0].milliseconds = 1950;
    let text = suggestions(&tournament.report());
    assert!(text.contains("your slowest move took 1.95 s of 2.00 s (game 3)"), "{text}");
}

#[test]
fn turns_after_the_last_fault_on_record_are_not_attributed_to_the_bot() {
    let mut tournament = Tournament::new(PLAYERS);
    // Ada had five faults in game 3; the journal has the first one.
    tournament.snapshot.games[2].summary.as_mut().unwrap().faults = [5, 0];
    let fault = tournament.details[&1].faults[0].clone();
    let details = tournament.details.get_mut(&3).unwrap();
    details.faults = vec![fault];
    details.moves = ["6-9", "13x6", "5-9"].map(String::from).to_vec();
    details.reports = [2005, 10, 2006]
        .map(|milliseconds| MoveReport { milliseconds, ..MoveReport::default() })
        .to_vec();
    let report = tournament.report();
    let ada = report.player(0).unwrap();
    assert!(ada.slowest.iter().all(|slow| slow.game != 3), "{:?}", ada.slowest);
    assert!(ada.suggestions[0].contains("(6 faults)"), "{:?}", ada.suggestions);
    let page = player_page(&report, 0).unwrap();
    assert!(page.contains("6 faults in all; the journal has the first ones of each game."));
}

#[test]
fn turns_after_a_crash_are_not_time_that_the_bot_used() {
    let mut tournament = Tournament::new(PLAYERS);
    let details = tournament.details.get_mut(&3).unwrap();
    details.faults = vec![FaultRow {
        side: 0,
        ply: 0,
        code: "crash".into(),
        description: "crash, Black, ply 0".into(),
    }];
    details.moves = ["6-9", "13x6", "5-9"].map(String::from).to_vec();
    details.reports = [700, 10, 0]
        .map(|milliseconds| MoveReport { milliseconds, ..MoveReport::default() })
        .to_vec();
    let time = tournament.report().player(0).unwrap().time.unwrap();
    // Games 1 and 3 as Black, game 2 as White.
    assert_eq!((time.moves, time.max), (3, 1501));
}

#[test]
fn player_page_has_own_log_and_nothing_private_of_others() {
    let report = Tournament::new(PLAYERS).report();
    let page = player_page(&report, 0).unwrap();
    assert!(page.contains("secret of Ada"));
    for private in ["secret of Dan", "fault of Dan", "Dan"] {
        assert!(!page.contains(private), "{private}");
    }
    let numbers: Vec<_> = embedded(&page)["games"]
        .as_array()
        .unwrap()
        .iter()
        .map(|game| game["number"].clone())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    let public = report_page(&report, None);
    assert!(!public.contains("secret of") && !public.contains("fault of"));
    assert!(public.contains("illegal-move, Black, ply 0"));
    assert!(player_page(&report, 4).is_none());
}

#[test]
fn moves_that_the_referee_made_after_a_crash_are_not_the_players() {
    let mut tournament = Tournament::new(PLAYERS);
    let ada = |report: &Report| {
        let ada = report.player(0).unwrap();
        let drops: Vec<i64> = ada.drops.iter().map(|drop| drop.game).collect();
        let slowest: Vec<i64> = ada.slowest.iter().map(|slow| slow.game).collect();
        (drops, slowest)
    };
    // Ada moved first in games 1 and 3. In game 1 her first move was illegal.
    assert_eq!(ada(&tournament.report()), (vec![3], vec![3, 2]));
    let fault = tournament.details[&1].faults[0].clone();
    let crash = FaultRow { code: "crash".into(), ..fault };
    tournament.details.get_mut(&3).unwrap().faults = vec![crash];
    assert_eq!(ada(&tournament.report()), (vec![], vec![2]));
}

#[test]
fn ending_of_a_forfeited_game_quotes_the_bot_for_its_author_only() {
    let mut tournament = Tournament::new(PLAYERS);
    let summary = tournament.snapshot.games[0].summary.as_mut().unwrap();
    // The second player of game 1 crashed.
    (summary.forfeit, summary.reason) = (Some(1), "crash".into());
    let details = tournament.details.get_mut(&1).unwrap();
    details.description = Some("crash, White, ply 2: KeyError".into());
    let report = tournament.report();
    let ending = |page: &str| embedded(page)["games"][0]["ending"].clone();
    assert_eq!(ending(&player_page(&report, 1).unwrap()), "crash, White, ply 2: KeyError");
    for page in [player_page(&report, 0).unwrap(), report_page(&report, None)] {
        assert_eq!(ending(&page), "crash, White, ply 2: the game is lost");
        assert!(!page.contains("KeyError"));
    }
}

#[test]
fn replays_reach_every_position_of_every_game() {
    let games = [
        ("english", "11-15 23-18 8-11 27-23 11-16 18x11 16-20 32-27 7x16"),
        ("contest", "11-15 22-18 15x22"),
    ];
    for (game, moves) in games {
        let moves: Vec<_> = moves.split(' ').collect();
        let (replay, positions) = Replay::new(&game.parse().unwrap(), None, &moves).unwrap();
        assert_eq!(replay.paths.split(' ').count(), moves.len());
        assert_eq!(positions.len(), moves.len() + 1);
    }
    assert!(Replay::new(&"english".parse().unwrap(), None, &["11-11"]).is_err());
}
