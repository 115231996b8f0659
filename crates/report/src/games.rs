//! Games of a tournament as rows, JSON and text.

use std::time::Duration;

use crownhead_tournament::IsolationRecord;
use crownhead_tournament::job::AbsenceRecord;
use crownhead_tournament::journal::{FaultRow, Game, GameDetails, Snapshot};
use serde_json::{Value, json};

/// Returns the games with one value per cell, the header first.
pub fn rows(games: &[&Game], names: &[String]) -> Vec<Vec<String>> {
    let header = [
        "game",
        "round",
        "first",
        "second",
        "state",
        "result",
        "reason",
        "forfeit",
        "first_score",
        "second_score",
        "first_faults",
        "second_faults",
        "plies",
        "opening",
        "started",
        "finished",
    ];
    fn cell<T: ToString>(value: Option<T>) -> String {
        value.map_or(String::new(), |value| value.to_string())
    }
    let row = |game: &&Game| {
        let [first, second] = game.players.map(|player| names[player].clone());
        let summary = game.summary.as_ref();
        let score = summary.and_then(|summary| summary.score);
        let forfeit = summary.and_then(|summary| summary.forfeit);
        vec![
            game.number.to_string(),
            game.round.to_string(),
            first,
            second,
            state(game).into(),
            cell(summary.map(|summary| summary.result())),
            cell(summary.map(|summary| &summary.reason)),
            cell(forfeit.map(|side| &names[game.players[side]])),
            cell(score.map(|score| score[0])),
            cell(score.map(|score| score[1])),
            cell(summary.map(|summary| summary.faults[0])),
            cell(summary.map(|summary| summary.faults[1])),
            cell(summary.map(|summary| summary.plies)),
            game.opening.to_string(),
            cell(game.started),
            cell(summary.map(|summary| summary.finished)),
        ]
    };
    let header = header.map(String::from).to_vec();
    [header].into_iter().chain(games.iter().map(row)).collect()
}

/// Returns the state of a game: `scheduled`, `started` or `finished`.
pub fn state(game: &Game) -> &'static str {
    match (&game.summary, game.started) {
        (Some(_), _) => "finished",
        (None, Some(_)) => "started",
        (None, None) => "scheduled",
    }
}

/// Returns the isolation that the bots of a game had; `None` without bots.
pub fn isolation_of<'a>(game: &Game, snapshot: &'a Snapshot) -> Option<&'a IsolationRecord> {
    let index = usize::try_from(game.isolation?.checked_sub(1)?).ok()?;
    snapshot.isolation.get(index)
}

/// Returns a game as a JSON object, with its moves if `details` are given.
pub fn json(game: &Game, names: &[String], details: Option<&GameDetails>) -> Value {
    let [first, second] = game.players.map(|player| &names[player]);
    let summary = game.summary.as_ref();
    let forfeit = summary.and_then(|summary| summary.forfeit);
    let mut object = json!({
        "game": game.number,
        "round": game.round,
        "first": first,
        "second": second,
        "state": state(game),
        "result": summary.map(|summary| summary.result()),
        "reason": summary.map(|summary| &summary.reason),
        "forfeit": forfeit.map(|side| &names[game.players[side]]),
        "score": summary.and_then(|summary| summary.score),
        "faults": summary.map(|summary| summary.faults),
        "plies": summary.map(|summary| summary.plies),
        "isolation": game.isolation,
        "opening": game.opening,
        "started": game.started,
        "finished": summary.map(|summary| summary.finished),
    });
    if let Some(details) = details {
        let incident = |fault: &FaultRow| {
            json!({
                "player": names[game.players[fault.side]],
                "ply": fault.ply,
                "code": fault.code,
                "description": fault.description,
            })
        };
        object["start"] = json!(details.opening.start);
        object["opening_moves"] = json!(details.opening.moves);
        object["moves"] = json!(details.moves);
        let reports = || details.reports.iter();
        object["milliseconds"] = reports().map(|report| report.milliseconds).collect();
        object["clocks"] = reports().map(|report| report.clock).collect();
        object["scores"] = reports().map(|report| report.score).collect();
        object["depths"] = reports().map(|report| report.depth).collect();
        object["ending"] = json!(details.description);
        object["incidents"] = details.faults.iter().map(incident).collect();
        let absence = |absence: &AbsenceRecord| {
            json!({
                "player": names[game.players[absence.side]],
                "ply": absence.ply,
                "milliseconds": absence.milliseconds,
            })
        };
        object["absences"] = details.absences.iter().map(absence).collect();
    }
    object
}

/// Formats a game with its moves, one fact per line.
pub fn text(game: &Game, snapshot: &Snapshot, details: &GameDetails) -> String {
    let (mut out, names) = (String::new(), snapshot.names());
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    let [first, second] = game.players.map(|player| &names[player]);
    line(format!("game {}, round {}: {first} - {second}", game.number, game.round));
    match &game.summary {
        Some(summary) => line(format!("result    {}, {}", summary.result(), summary.reason)),
        None => line("result    none yet".into()),
    }
    if let Some(description) = &details.description {
        line(format!("ending    {description}"));
    }
    if let Some(start) = &details.opening.start {
        line(format!("start     {start}"));
    }
    if !details.opening.moves.is_empty() {
        line(format!("opening   {}", details.opening.moves.join(" ")));
    }
    line(format!("moves     {}", details.moves.join(" ")));
    let times = || details.reports.iter().map(|report| report.milliseconds);
    if let Some(slowest) = times().max() {
        let [total, slowest] =
            [times().sum(), slowest].map(|time| Duration::from_millis(time).as_secs_f64());
        line(format!("times     {total:.3} s in total, {slowest:.3} s for the slowest move"));
    }
    if let Some(isolation) = isolation_of(game, snapshot) {
        line(format!("isolation {isolation}"));
    }
    for fault in &details.faults {
        line(format!("fault     {}", fault.description));
    }
    for absence in &details.absences {
        let (name, ply) = (&names[game.players[absence.side]], absence.ply);
        let time = absence.milliseconds;
        line(format!("absence   {name}, ply {ply}: crownhead was away; {time} ms not charged"));
    }
    out
}
