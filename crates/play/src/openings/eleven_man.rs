//! The 11-man ballots of English checkers: one man of each side is removed from the start position,
//! then each side plays a move. There are far more of them than three-move ballots.
//!
//! Each line of the list has the square of the black and of the white man removed, Black's move and
//! White's possible answers: `1 21 9-13: 22-17 22-18`.

use std::collections::HashSet;
use std::fmt::Write;

use crownhead_rules::{Game, MoveList, Side};
use crownhead_search::{
    EngineConfig, GameVisitor, HasEngine, Knowledge, Score, SearchLimits, SearchRequest, StopFlag,
    visit,
};

use super::{Opening, check_has_ballots};
use crate::OpeningsError;

const LIST: &str = include_str!("../../data/eleven_man_ballots.txt");

/// How [`generate_eleven_man`] chooses positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElevenManOptions {
    /// Nodes searched to judge a position.
    pub nodes: u64,
    /// Minimum score, for either side, in hundredths of a man: 0 keeps level positions.
    pub min_score: Score,
    /// Maximum score, for either side, in hundredths of a man.
    pub max_score: Score,
}

/// The generated list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElevenManBallots {
    /// The lines, without comments.
    pub lines: String,
    /// Number of positions in it.
    pub kept: usize,
    /// Number of positions judged.
    pub judged: usize,
}

/// Returns the shipped ballots.
pub(super) fn eleven_man_ballots() -> Vec<Opening> {
    LIST.lines().filter_map(parse_line).flatten().collect()
}

/// Parses a line of the list; `None` for any other line.
pub(super) fn parse_line(line: &str) -> Option<Vec<Opening>> {
    let (start, answers) = line.split_once(':')?;
    let words: Vec<&str> = start.split_whitespace().collect();
    let [black, white, first] = words[..] else { return None };
    let square = |text: &str, side: Side| {
        text.parse().ok().filter(|square| SQUARES[side.index()].contains(square))
    };
    let removed = [square(black, Side::First)?, square(white, Side::Second)?];
    let start = start_position(removed);
    let opening = |second: &str| {
        let moves = vec![first.into(), second.into()];
        Opening { start: Some(start.clone()), moves }
    };
    Some(answers.split_whitespace().map(opening).collect())
}

/// Squares of the men at the start, Black's first.
const SQUARES: [std::ops::RangeInclusive<u8>; 2] = [1..=12, 21..=32];

/// Returns the start position without a man of each side.
fn start_position([black, white]: [u8; 2]) -> String {
    let list = |side: Side, removed: u8| {
        let squares = SQUARES[side.index()].clone().filter(|square| *square != removed);
        squares.map(|square| square.to_string()).collect::<Vec<_>>().join(",")
    };
    format!("B:W{}:B{}", list(Side::Second, white), list(Side::First, black))
}

/// Generates the list; `None` if it was stopped. `on_progress` is called with the number of
/// positions judged and their total number.
pub fn generate_eleven_man(
    game: &Game,
    options: ElevenManOptions,
    stop: &StopFlag,
    on_progress: &mut dyn FnMut(usize, usize),
) -> Result<Option<ElevenManBallots>, OpeningsError> {
    check_has_ballots(game)?;
    visit(game, Generate { options, stop, on_progress })
}

struct Generate<'a> {
    options: ElevenManOptions,
    stop: &'a StopFlag,
    on_progress: &'a mut dyn FnMut(usize, usize),
}

/// A position to judge.
struct Candidate<P> {
    position: P,
    /// Line of the list up to the colon.
    start: String,
    answer: String,
}

impl GameVisitor for Generate<'_> {
    type Output = Result<Option<ElevenManBallots>, OpeningsError>;

    fn visit<P: HasEngine>(self, options: &P::Options) -> Self::Output {
        let error = |error: &dyn std::fmt::Display| OpeningsError::Text(error.to_string());
        let candidates = candidates::<P>(options)?;
        let config = EngineConfig::default();
        let engine = P::new_engine(config, &Knowledge::default());
        let mut engine = engine.map_err(|e| error(&e))?;
        let limits = SearchLimits { nodes: Some(self.options.nodes), ..SearchLimits::default() };
        let (mut lines, mut last_start, mut kept) = (String::new(), "", 0);
        for (Candidate { position, start, answer }, number) in candidates.iter().zip(1..) {
            engine.clear();
            let request = SearchRequest::new(position, limits);
            let score = engine.search(request, self.stop, &mut |_| {}).score();
            if self.stop.is_set() {
                return Ok(None);
            }
            let ElevenManOptions { min_score, max_score, .. } = self.options;
            if (min_score..=max_score).contains(&score.abs()) {
                if start != last_start {
                    // Writing to a string cannot fail.
                    let _ = write!(lines, "{}{start}:", if kept > 0 { "\n" } else { "" });
                    last_start = start;
                }
                let _ = write!(lines, " {answer}");
                kept += 1;
            }
            (self.on_progress)(number, candidates.len());
        }
        lines.push('\n');
        Ok(Some(ElevenManBallots { lines, kept, judged: candidates.len() }))
    }
}

/// Returns all positions after a move of each side, each once.
fn candidates<P: HasEngine>(options: &P::Options) -> Result<Vec<Candidate<P>>, OpeningsError> {
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    let legal = |position: &P| {
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        moves
    };
    let [black, white] = SQUARES;
    let pairs = black.flat_map(|black| white.clone().map(move |white| [black, white]));
    for removed in pairs {
        let start = P::parse_position(&start_position(removed), options)
            .map_err(|error| OpeningsError::Text(error.to_string()))?;
        for &first in legal(&start).iter() {
            let after_first = start.after(first);
            for &second in legal(&after_first).iter() {
                let position = after_first.after(second);
                if position.outcome(&[]).is_none() && seen.insert(position.key()) {
                    let [black, white] = removed;
                    let start = format!("{black} {white} {}", start.format_move(first));
                    let answer = after_first.format_move(second);
                    candidates.push(Candidate { position, start, answer });
                }
            }
        }
    }
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_judged_once() {
        let game: Game = "english".parse().unwrap();
        struct Count;
        impl GameVisitor for Count {
            type Output = (usize, usize);
            fn visit<P: HasEngine>(self, options: &P::Options) -> (usize, usize) {
                let candidates = candidates::<P>(options).unwrap();
                let keys: HashSet<_> = candidates.iter().map(|c| c.position.key()).collect();
                (candidates.len(), keys.len())
            }
        }
        // Counted by a separate program.
        assert_eq!(visit(&game, Count), (6724, 6724));
    }
}
