//! A plain solver: naive rules on rows and columns, all positions in a map, and rounds over all
//! positions until nothing changes. It shares no code with the table.

use std::cmp::Ordering;
use std::collections::HashMap;

use crownhead_rules::checkers::MoverBoard;
use crownhead_rules::checkers::squares::{SQUARES, cell, number};

/// Man and king of the side to move, and of the opponent.
const MAN: i8 = 1;
const KING: i8 = 2;

/// Squares 1 to 32. Men of the side to move go to higher rows.
pub(crate) type Board = [i8; 32];

/// Row and column of a square, from 0, and back.
fn place(square: usize) -> (i32, i32) {
    let cell = cell(square as u32 + 1);
    (i32::from(cell.row()), i32::from(cell.column()))
}

fn at((row, column): (i32, i32)) -> Option<usize> {
    (0..32).find(|&square| place(square) == (row, column))
}

/// Tables of the neighbour in each of four directions; the first two are forward.
struct Geometry([[Option<usize>; 4]; 32]);

impl Geometry {
    fn new() -> Geometry {
        let steps = [(1, -1), (1, 1), (-1, -1), (-1, 1)];
        Geometry(std::array::from_fn(|square| {
            let (row, column) = place(square);
            steps.map(|(down, right)| at((row + down, column + right)))
        }))
    }

    /// Positions after each move, seen from the opponent, and whether the move makes progress.
    fn children(&self, board: &Board) -> Vec<(Board, bool)> {
        let own = || (0..32).filter(|&square| board[square] > 0);
        let mut found = Vec::new();
        for from in own() {
            let mut lifted = *board;
            lifted[from] = 0;
            self.captures(&lifted, from, board[from], false, &mut found);
        }
        if found.is_empty() {
            for from in own() {
                let directions = if board[from] == KING { 4 } else { 2 };
                for to in self.0[from][..directions].iter().flatten().copied() {
                    if board[to] == 0 {
                        let mut after = *board;
                        after[from] = 0;
                        after[to] = promoted(board[from], to);
                        found.push((turn(&after), board[from] == MAN));
                    }
                }
            }
        }
        found
    }

    /// Continues a capture with a piece that was lifted from the board and stands on `from`.
    fn captures(
        &self,
        board: &Board,
        from: usize,
        piece: i8,
        has_captured: bool,
        found: &mut Vec<(Board, bool)>,
    ) {
        let directions = if piece == KING { 4 } else { 2 };
        let mut is_complete = true;
        for direction in 0..directions {
            let Some(over) = self.0[from][direction] else { continue };
            let Some(to) = self.0[over][direction] else { continue };
            if board[over] < 0 && board[to] == 0 {
                is_complete = false;
                let mut after = *board;
                after[over] = 0;
                if promoted(piece, to) == piece {
                    self.captures(&after, to, piece, true, found);
                } else {
                    after[to] = KING;
                    found.push((turn(&after), true));
                }
            }
        }
        if is_complete && has_captured {
            let mut after = *board;
            after[from] = piece;
            found.push((turn(&after), true));
        }
    }
}

fn promoted(piece: i8, square: usize) -> i8 {
    if square >= 28 { KING } else { piece }
}

fn turn(board: &Board) -> Board {
    std::array::from_fn(|square| -board[31 - square])
}

/// All positions with the same number of pieces.
pub(crate) struct Solved {
    values: HashMap<Board, Value>,
}

/// Outcome for the side to move, plies to the end and to the next progress.
type Value = (Ordering, Option<u32>, Option<u32>);

/// Value of a position without own pieces, and so without a move.
const NO_PIECES: Value = (Ordering::Less, Some(0), Some(0));

impl Solved {
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Value of a position, if it is one of those that were solved.
    pub(crate) fn value(&self, board: MoverBoard) -> Option<Value> {
        let mut plain = [0; 32];
        for bit in (0..35).map(|index| 1 << index).filter(|bit| SQUARES & bit != 0) {
            let piece = if board.kings & bit != 0 { KING } else { MAN };
            let square = number(bit) as usize - 1;
            plain[square] += if board.own & bit != 0 { piece } else { 0 };
            plain[square] -= if board.opponent & bit != 0 { piece } else { 0 };
        }
        self.values.get(&plain).copied()
    }
}

/// Adds all boards with `pieces` more pieces on squares from `first` on.
fn boards(board: &mut Board, first: usize, pieces: usize, found: &mut Vec<Board>) {
    if pieces == 0 {
        if board.iter().any(|&piece| piece > 0) && board.iter().any(|&piece| piece < 0) {
            found.push(*board);
        }
        return;
    }
    for square in first..32 {
        for piece in [MAN, KING, -MAN, -KING] {
            let is_crowned = piece == MAN && square >= 28 || piece == -MAN && square < 4;
            if !is_crowned {
                board[square] = piece;
                boards(board, square + 1, pieces - 1, found);
            }
        }
        board[square] = 0;
    }
}

/// A move to a position with as many pieces (its number) or fewer (its value).
enum After {
    Same(usize),
    Fewer(Value),
}

/// Rounds without a decision after which all are made.
const IDLE_ROUNDS: u32 = 20;

/// One piece against the others, and fewer men the more pieces there are: small slices.
pub(crate) fn is_small(board: &Board) -> bool {
    let count = |is_counted: fn(i8) -> bool| board.iter().filter(|&&p| is_counted(p)).count();
    let men = count(|piece| piece.abs() == MAN);
    let (own, opponent) = (count(|piece| piece > 0), count(|piece| piece < 0));
    own.min(opponent) == 1 && own + opponent + men <= 5
}

/// Solves the wanted positions with 2, 3, … pieces. Moves lead from wanted ones to wanted ones.
pub(crate) fn solve(max_pieces: usize, is_wanted: fn(&Board) -> bool) -> Vec<Solved> {
    let geometry = Geometry::new();
    let mut all: Vec<Solved> = Vec::new();
    for pieces in 2..=max_pieces {
        let mut found = Vec::new();
        boards(&mut [0; 32], 0, pieces, &mut found);
        found.retain(is_wanted);
        let numbers: HashMap<_, _> = found.iter().zip(0..).map(|(board, n)| (*board, n)).collect();
        let count = |board: &Board| board.iter().filter(|&&piece| piece != 0).count();
        let after = |(board, makes_progress): (Board, bool)| {
            let after = if board.iter().all(|&piece| piece <= 0) {
                After::Fewer(NO_PIECES)
            } else if count(&board) < pieces {
                After::Fewer(all[count(&board) - 2].values[&board])
            } else {
                After::Same(numbers[&board])
            };
            (after, makes_progress)
        };
        let children: Vec<Vec<_>> = found
            .iter()
            .map(|board| geometry.children(board).into_iter().map(after).collect())
            .collect();
        let mut values = vec![(Ordering::Equal, None, None); found.len()];
        let of = |values: &[Value], after: &After| match after {
            After::Same(number) => values[*number],
            After::Fewer(value) => *value,
        };
        // Distance to the end: round n finds the positions that end after n plies.
        repeat(&mut values, &children, |values, number, round| {
            let children = &children[number];
            if values[number].1.is_some() {
                return None;
            }
            let within = |after: &After, outcome| match of(values, after) {
                (found, Some(plies), _) => found == outcome && plies < round,
                _ => false,
            };
            if children.iter().any(|(after, _)| within(after, Ordering::Less)) {
                Some((Ordering::Greater, Some(round), None))
            } else if children.iter().all(|(after, _)| within(after, Ordering::Greater)) {
                Some((Ordering::Less, Some(round), None))
            } else {
                None
            }
        });
        // Distance to the next progress, in the same way.
        repeat(&mut values, &children, |values, number, round| {
            let (outcome, plies, progress) = values[number];
            if outcome == Ordering::Equal || progress.is_some() {
                return None;
            }
            let within = |(after, makes_progress): &(After, bool)| {
                let (found, _, progress) = of(values, after);
                let progress = if *makes_progress { Some(0) } else { progress };
                found == outcome.reverse() && progress.is_some_and(|plies| plies < round)
            };
            let mut children = children[number].iter();
            let is_decided = match outcome {
                Ordering::Greater => children.any(within),
                _ => children.all(within),
            };
            is_decided.then_some((outcome, plies, Some(round)))
        });
        all.push(Solved { values: found.into_iter().zip(values).collect() });
    }
    all
}

/// Applies `decide` to all positions in rounds, until nothing changes any more.
fn repeat<T>(
    values: &mut [Value],
    children: &[T],
    decide: impl Fn(&[Value], usize, u32) -> Option<Value>,
) {
    let mut idle = 0;
    for round in 0.. {
        let decisions = (0..children.len()).map(|number| (number, decide(values, number, round)));
        let decided: Vec<_> =
            decisions.filter_map(|(number, value)| Some((number, value?))).collect();
        idle = if decided.is_empty() { idle + 1 } else { 0 };
        if idle > IDLE_ROUNDS {
            return;
        }
        for (number, value) in decided {
            values[number] = value;
        }
    }
}
