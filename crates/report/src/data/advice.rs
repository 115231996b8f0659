//! Advice about faults, and suggestions for the next version of a bot.

use crownhead_bots::Protocol;
use crownhead_bots::check::advice;
use crownhead_play::{Fault, FaultKind, counted};

use super::player::WINNING;
use super::{GameEntry, PlayerReport, Report};

/// Number of suggestions for a player.
const SUGGESTIONS: usize = 3;

/// Returns what to do about a fault of a player that the tournament file describes by `player`.
pub(super) fn for_fault(code: &str, player: &str) -> &'static str {
    let Some(kind) = FaultKind::ALL.into_iter().find(|kind| kind.code() == code) else {
        return "";
    };
    let has_prefix = |protocol: &Protocol| {
        player.strip_prefix(protocol.prefix()).is_some_and(|rest| rest.starts_with(':'))
    };
    let protocol = Protocol::ALL.into_iter().find(has_prefix).unwrap_or(Protocol::V1);
    advice::for_fault(protocol, &Fault::new(kind, ""))
}

/// Returns three concrete things to try, the most urgent first.
pub(super) fn suggestions(
    player: &PlayerReport,
    report: &Report,
    games: &[&GameEntry],
) -> Vec<String> {
    let mut suggestions: Vec<String> = Vec::new();
    suggestions.extend(fault_suggestion(player, report, games));
    suggestions.extend(missed_wins_suggestion(player));
    suggestions.extend(time_suggestion(player, report));
    suggestions.extend(phase_suggestion(player));
    suggestions.extend(colour_suggestion(player, report));
    suggestions.extend(opponent_suggestion(player, report));
    suggestions.extend(general_suggestions(player, report));
    suggestions.truncate(SUGGESTIONS);
    suggestions
}

fn fault_suggestion(
    player: &PlayerReport,
    report: &Report,
    games: &[&GameEntry],
) -> Option<String> {
    let worst = player.faults.first()?;
    let lost = games.iter().filter(|game| {
        let side = game.side_of(player.player);
        game.forfeit.is_some() && game.forfeit == side
    });
    let lost = lost.count() as u64;
    let row = report.standings.iter().find(|row| row.player == player.player);
    let total = row.map_or(worst.count as u32, |row| row.faults);
    let mut cost = counted(total.into(), "fault");
    if lost > 0 {
        cost = format!("{cost}, {} lost by them", counted(lost, "game"));
    }
    let (kind, advice) = (&worst.code, &worst.advice);
    Some(format!(
        "Fix “{kind}” first ({cost}). {advice} Then run `crownhead bot check` on your bot."
    ))
}

fn missed_wins_suggestion(player: &PlayerReport) -> Option<String> {
    let missed = player.quality?.missed_wins;
    let drop = player.drops.iter().find(|drop| drop.before >= WINNING && !drop.is_won)?;
    (missed > 0).then(|| {
        format!(
            "Convert your wins: you had a winning position in {} that you did not win. Start with \
             game {}, where {} gave it away.",
            counted(missed as u64, "game"),
            drop.game,
            drop.played
        )
    })
}

fn time_suggestion(player: &PlayerReport, report: &Report) -> Option<String> {
    let time = player.time?;
    let limit = report.tournament.move_time()?;
    let share = time.mean / limit as f64;
    let limit_text = seconds(limit as f64);
    let slow = player.slowest.first()?;
    if slow.milliseconds as f64 >= 0.95 * limit as f64 {
        return Some(format!(
            "Leave a margin on the clock: your slowest move took {} of {limit_text} (game {}). \
             Stop the search earlier, for example at 80 % of the time.",
            seconds(slow.milliseconds as f64),
            slow.game
        ));
    }
    (share < 0.2).then(|| {
        format!(
            "Use your time: you take {} per move on average; the limit is {limit_text}. Deepen the \
             search step by step until the time is used up (iterative deepening).",
            seconds(time.mean)
        )
    })
}

fn phase_suggestion(player: &PlayerReport) -> Option<String> {
    let drops = &player.drops;
    if drops.len() < 3 {
        return None;
    }
    let early = drops.iter().filter(|drop| drop.ply < 20).count();
    let late = drops.iter().filter(|drop| drop.ply >= 50).count();
    let advice = if early * 2 > drops.len() {
        "happen in the first ten moves. Test openings: let your bot play both sides of a few \
         start positions and compare its moves with `crownhead analyse`."
    } else if late * 2 > drops.len() {
        "happen after move 25. Test endings: start games from late positions, and search deeper \
         when there are few moves to choose from."
    } else {
        "happen in the middle game. Replay them and find out what your search missed: do not stop \
         it right before or after a capture or a long jump (quiescence search)."
    };
    Some(format!("Most of your costliest moves {advice}"))
}

fn colour_suggestion(player: &PlayerReport, report: &Report) -> Option<String> {
    let score = |[wins, draws, losses]: [u32; 3]| {
        let games = wins + draws + losses;
        (games >= 3).then(|| (f64::from(wins) + f64::from(draws) / 2.0) / f64::from(games))
    };
    let [first, second] = player.by_colour.map(score);
    let (first, second) = (first?, second?);
    let (better, worse) = (first.max(second), first.min(second));
    let difference = first - second;
    (difference.abs() >= 0.25).then(|| {
        let weak = usize::from(difference > 0.0);
        let [weak, strong] = [weak, 1 - weak].map(|side| report.tournament.sides[side].as_str());
        format!(
            "Improve your play as {weak}: you score {:.0} % as {strong} but {:.0} % as {weak}. \
             Check that your evaluation treats both sides alike: mirror a position and compare the \
             scores.",
            100.0 * better,
            100.0 * worse,
        )
    })
}

fn opponent_suggestion(player: &PlayerReport, report: &Report) -> Option<String> {
    let shortfall = |score: &&super::OpponentScore| score.expected.unwrap_or(0.0) - score.achieved;
    let worst = player
        .opponents
        .iter()
        .filter(|score| shortfall(score) >= 0.4)
        .max_by(|a, b| shortfall(a).total_cmp(&shortfall(b)))?;
    let (game, _) = worst.games.iter().find(|(_, letter)| *letter != '+')?;
    Some(format!(
        "Study your games against {}: you scored {} where {:.1} were expected. Start with game \
         {game}.",
        report.name(worst.opponent),
        worst.achieved,
        worst.expected.unwrap_or(0.0)
    ))
}

/// Suggestions that fit every player.
fn general_suggestions(player: &PlayerReport, report: &Report) -> Vec<String> {
    let mut suggestions = Vec::new();
    let game = &report.tournament.game;
    let above = report.standings.iter().rev().find(|row| row.rank < player.rank);
    if let Some(above) = above {
        suggestions.push(format!(
            "Aim for the rank of {}: keep a change only if the new version of your bot beats the \
             old one (`crownhead match NEW OLD --game {game} -n 100`).",
            report.name(above.player)
        ));
    }
    if player.drops.is_empty() {
        suggestions.push(
            "Analyse your lost games: `crownhead analyse` shows the costliest moves and better \
             ones."
                .into(),
        );
    }
    suggestions.push(format!(
        "Measure your bot against the built-in levels: `crownhead match YOUR-BOT level:5 \
         --game {game} -n 100`. Go up a level when you score more than half."
    ));
    suggestions.push(
        "Profile your move generator: twice the speed gains about one ply in the same time.".into(),
    );
    suggestions.push(
        "Play from random openings (`--openings random:4`): otherwise your bot is tested in very \
         few of them."
            .into(),
    );
    suggestions
}

/// Formats a time in milliseconds.
pub(crate) fn seconds(milliseconds: f64) -> String {
    match milliseconds {
        ..1.0 => "< 1 ms".into(),
        1.0..1000.0 => format!("{milliseconds:.0} ms"),
        1000.0..10_000.0 => format!("{:.2} s", milliseconds / 1000.0),
        _ => format!("{:.1} s", milliseconds / 1000.0),
    }
}
