//! The reason for a suggested move, in words.

use crownhead_play::{Choice, Session, counted};
use crownhead_search::{Score, plies_to_end};

/// The player that gives hints.
pub const HINT_PLAYER: &str = "best:movetime=1s";

/// Says why a move is good, for the player whose turn it is: `it captures a piece and keeps the
/// game level`. `None` if the move is not legal.
pub fn hint_reason(session: &dyn Session, choice: &Choice) -> Option<String> {
    let legal = session.legal_moves();
    let mv = legal.iter().find(|mv| mv.text == choice.text)?;
    if legal.len() == 1 {
        return Some("it is the only legal move".into());
    }
    if legal.iter().all(|mv| !mv.captures.is_empty()) {
        return Some(format!("the best of {} mandatory captures", legal.len()));
    }
    let score = choice.score.unwrap_or(0);
    Some(match (plies_to_end(score), mv.captures.len()) {
        (Some(plies), _) if plies > 0 => {
            let moves = plies.unsigned_abs().div_ceil(2).into();
            format!("it wins by force in {}", counted(moves, "move"))
        }
        (Some(_), _) => "every move loses; this one holds out longest".into(),
        (None, 0) => format!("it {}", score_phrase(score)),
        (None, 1) => format!("it captures a piece and {}", score_phrase(score)),
        (None, count) => format!("it captures {count} pieces and {}", score_phrase(score)),
    })
}

/// Describes a score to the side to move.
fn score_phrase(score: Score) -> &'static str {
    match score {
        150.. => "leaves you well ahead",
        40..150 => "leaves you slightly ahead",
        -39..40 => "keeps the game level",
        -149..-39 => "keeps the disadvantage small",
        _ => "is the best defence",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failing test may panic
mod tests {
    use super::*;
    use crownhead_play::new_session;

    #[test]
    fn reason_names_captures_forced_results_and_the_balance() {
        let reason = |game: &str, position: Option<&str>, text: &str, score| {
            let session = new_session(&game.parse().unwrap(), position).unwrap();
            let choice = Choice { score: Some(score), ..Choice::from_text(text.into()) };
            hint_reason(session.as_ref(), &choice)
        };
        let win_in_three_plies = crownhead_search::WIN - 3;
        let halma = Some("8/8/2bw4/1b6/8/8/7w/8 b 0");
        for (game, position, text, score, expected) in [
            ("english", None, "11-15", 0, "it keeps the game level"),
            ("english", None, "11-15", 200, "it leaves you well ahead"),
            ("english", None, "11-15", win_in_three_plies, "it wins by force in 2 moves"),
            (
                "english",
                None,
                "11-15",
                -win_in_three_plies,
                "every move loses; this one holds out longest",
            ),
            ("english", Some("B:W15,32:B1,11"), "11x18", 0, "it is the only legal move"),
            (
                "capture-halma",
                halma,
                "33-35",
                50,
                "it captures a piece and leaves you slightly ahead",
            ),
        ] {
            assert_eq!(reason(game, position, text, score).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(reason("english", None, "11-22", 0), None);
    }
}
