//! Recorded games to look at: those of a file, one after the other, and the way through one with its
//! variations. Moves are replayed as they were recorded, beyond the end of a game too if it was
//! played on.

use std::io::{self, Read, Write};

use crownhead_records::{GameRecord, Line, Ply, Reader, RecordError, RecordErrorKind, player_tag};
use crownhead_rules::{Cell, Game, Outcome, Side};
use crownhead_search::{GameVisitor, Searchable, visit};

/// The games of a file, read as they are asked for.
pub struct GameFile<R> {
    reader: Reader<R>,
    /// Those that could be read so far, with their numbers in the file.
    read: Vec<(u64, GameRecord)>,
    count: u64,
    /// Why games could not be read, since this was last looked at.
    pub faults: Vec<RecordError>,
    ended: bool,
}

/// A file of nothing but faults must not fill the memory.
const MAX_ERRORS: usize = 100;

impl<R: Read> GameFile<R> {
    /// The games of an input.
    pub fn new(input: R) -> GameFile<R> {
        GameFile {
            reader: Reader::new(input),
            read: Vec::new(),
            count: 0,
            faults: Vec::new(),
            ended: false,
        }
    }

    /// A game by its place, from 0, among those that can be read; with its number in the file.
    pub fn get(&mut self, place: usize) -> Option<(u64, &GameRecord)> {
        while self.read.len() <= place && !self.ended {
            let next = self.reader.next();
            self.count += 1;
            match next {
                None => self.ended = true,
                Some(Ok(record)) => self.read.push((self.count, record)),
                Some(Err(fault)) => {
                    self.ended = fault.kind == RecordErrorKind::Io;
                    if self.faults.len() < MAX_ERRORS {
                        self.faults.push(fault);
                    }
                }
            }
        }
        self.read.get(place).map(|(number, record)| (*number, record))
    }
}

/// A position of a recorded game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplayedPosition {
    /// The letters of the 64 cells.
    pub board: [char; 64],
    /// Who is to move.
    pub side: Side,
    /// The text of the position.
    pub position: String,
    /// The way of the move that led here.
    pub path: Vec<Cell>,
    /// What it took.
    pub captures: Vec<Cell>,
    /// How the game ended here, if it did.
    pub ending: Option<String>,
}

/// The positions that moves lead through, the first one included.
pub fn replay(
    game: &Game,
    start: Option<&str>,
    moves: &[&str],
) -> Result<Vec<ReplayedPosition>, String> {
    struct Replay<'a>(Option<&'a str>, &'a [&'a str]);
    impl GameVisitor for Replay<'_> {
        type Output = Result<Vec<ReplayedPosition>, String>;
        fn visit<P: Searchable>(self, options: &P::Options) -> Self::Output {
            let mut position = match self.0 {
                Some(text) => {
                    P::parse_position(text, options).map_err(|error| error.to_string())?
                }
                None => P::start(options),
            };
            let mut past = Vec::new();
            let place = |position: &P, past: &[u64], path, captures| ReplayedPosition {
                board: position.board(),
                side: position.side(),
                position: position.format_position(),
                path,
                captures,
                ending: position.outcome(past).map(|end: Outcome| position.describe(end)),
            };
            let mut places = vec![place(&position, &past, Vec::new(), Vec::new())];
            for text in self.1 {
                let mv = position.parse_recorded_move(text).map_err(|error| error.to_string())?;
                let (path, captures) = (position.path(mv), position.captures(mv));
                past.push(position.key());
                position.play(mv);
                places.push(place(&position, &past, path, captures));
            }
            Ok(places)
        }
    }
    visit(game, Replay(start, moves))
}

/// A way through a recorded game.
pub struct RecordCursor {
    record: GameRecord,
    /// The variations gone into: the ply of the line before that each is an alternative to, and
    /// which of them it is.
    branches: Vec<(usize, usize)>,
    ply: usize,
    places: Vec<ReplayedPosition>,
}

impl RecordCursor {
    /// At the start of a game.
    pub fn new(record: GameRecord) -> Result<RecordCursor, String> {
        let mut walk = RecordCursor { record, branches: Vec::new(), ply: 0, places: Vec::new() };
        walk.places = walk.replayed()?;
        Ok(walk)
    }

    fn replayed(&self) -> Result<Vec<ReplayedPosition>, String> {
        let plies = self.plies();
        let moves: Vec<_> = plies.iter().map(|ply| ply.text.as_str()).collect();
        replay(&self.record.game, self.record.start.as_deref(), &moves)
    }

    /// The game.
    pub fn record(&self) -> &GameRecord {
        &self.record
    }

    /// The position now.
    pub fn position(&self) -> &ReplayedPosition {
        &self.places[self.ply]
    }

    /// The position at the start.
    pub fn first(&self) -> &ReplayedPosition {
        &self.places[0]
    }

    /// The moves of the line that is followed, from the start of the game.
    pub fn plies(&self) -> Vec<&Ply> {
        let (mut plies, mut line) = (Vec::new(), &self.record.line);
        for &(at, variation) in &self.branches {
            plies.extend(&line.plies[..at]);
            line = &line.plies[at].variations[variation];
        }
        plies.extend(&line.plies);
        plies
    }

    fn line(&self, branches: &[(usize, usize)]) -> &Line {
        let mut line = &self.record.line;
        for &(at, variation) in branches {
            line = &line.plies[at].variations[variation];
        }
        line
    }

    /// How many moves of the line were made in lines before it.
    fn before(&self) -> usize {
        self.branches.iter().map(|(at, _)| at).sum()
    }

    /// The number of moves made.
    pub fn ply(&self) -> usize {
        self.ply
    }

    /// How many variations deep this is.
    pub fn depth(&self) -> usize {
        self.branches.len()
    }

    /// Whether there is a move to come.
    pub fn has_more(&self) -> bool {
        self.ply + 1 < self.places.len()
    }

    /// Goes to a ply of this line; before its first move the line it branches off goes on.
    pub fn go_to(&mut self, ply: usize) {
        self.ply = ply.min(self.places.len() - 1);
        let deep = self.branches.len();
        while !self.branches.is_empty() && self.ply <= self.before() {
            self.branches.pop();
        }
        if self.branches.len() < deep
            && let Ok(places) = self.replayed()
        {
            self.places = places;
        }
    }

    /// Goes a move on.
    pub fn forward(&mut self) {
        self.go_to(self.ply + 1);
    }

    /// Goes a move back.
    pub fn back(&mut self) {
        self.go_to(self.ply.saturating_sub(1));
    }

    /// What was or could have been played instead of the last move, itself included: the line of
    /// each, the one they are alternatives in first.
    fn alternatives(&self) -> Vec<Vec<(usize, usize)>> {
        let mut base = self.branches.clone();
        let mut all = Vec::new();
        if self.ply == 0 {
            return all;
        }
        // The first move of a variation is an alternative to a move of the line before.
        let mut index = self.ply - 1 - self.before();
        while index == 0
            && let Some((at, _)) = base.pop()
        {
            index = at;
        }
        self.collect(base, index, &mut all);
        all
    }

    fn collect(
        &self,
        branches: Vec<(usize, usize)>,
        index: usize,
        all: &mut Vec<Vec<(usize, usize)>>,
    ) {
        let line = self.line(&branches);
        let count = line.plies.get(index).map_or(0, |ply| ply.variations.len());
        all.push(branches.clone());
        for variation in 0..count {
            let mut further = branches.clone();
            further.push((index, variation));
            self.collect(further, 0, all);
        }
    }

    /// The first moves of the other lines that begin here, in the order in which
    /// `turn` goes through them.
    pub fn sibling_moves(&self) -> Vec<String> {
        let all = self.alternatives();
        let here = all.iter().position(|branches| *branches == self.branches).unwrap_or(0);
        let others = all.iter().cycle().skip(here + 1).take(all.len().saturating_sub(1));
        let index = |branches: &[(usize, usize)]| {
            self.ply - 1 - branches.iter().map(|(at, _)| at).sum::<usize>()
        };
        let ply =
            |branches: &Vec<_>| self.line(branches).plies.get(index(branches)).map(annotated_move);
        others.filter_map(ply).collect()
    }

    /// Takes the next of the other lines that begin here; false if there is none.
    pub fn next_sibling(&mut self) -> bool {
        let all = self.alternatives();
        if all.len() < 2 {
            return false;
        }
        let here = all.iter().position(|branches| *branches == self.branches).unwrap_or(0);
        let before = std::mem::replace(&mut self.branches, all[(here + 1) % all.len()].clone());
        match self.replayed() {
            // A variation without a move leads nowhere.
            Ok(places) if places.len() > self.ply => self.places = places,
            _ => {
                self.branches = before;
                return false;
            }
        }
        true
    }

    /// Goes back to where the variation branched off.
    pub fn leave_variation(&mut self) {
        if !self.branches.is_empty() {
            self.go_to(self.before());
        }
    }

    /// What is said about the last move, or before the first.
    pub fn comment(&self) -> String {
        let line = self.line(&self.branches);
        let first = self.ply == self.before() + usize::from(!self.branches.is_empty());
        let before = line.comment.as_ref().filter(|_| first);
        let plies = self.plies();
        let about = self.ply.checked_sub(1).and_then(|last| plies[last].comment.as_ref());
        let said: Vec<_> =
            before.into_iter().chain(about).map(|text| strip_control_chars(text)).collect();
        said.join(" ")
    }
}

/// A move with its annotations.
pub fn annotated_move(ply: &Ply) -> String {
    let mut text = ply.text.clone();
    for &nag in &ply.nags {
        match nag {
            1 => text.push('!'),
            2 => text.push('?'),
            3 => text.push_str("!!"),
            4 => text.push_str("??"),
            5 => text.push_str("!?"),
            6 => text.push_str("?!"),
            7 => text.push('□'),
            0 => {}
            nag => text.push_str(&format!("${nag}")),
        }
    }
    text
}

/// A text from a file without what a terminal would obey: control characters, and those that turn the
/// direction of what follows.
pub fn strip_control_chars(text: &str) -> String {
    let obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if obeyed(c) { ' ' } else { c }).collect()
}

/// `A - B, 1-0`.
pub fn title(record: &GameRecord) -> String {
    let sides = record.game.info().sides;
    let name = |side: Side| match record.player(side) {
        Some(name) => strip_control_chars(name),
        None => sides[side.index()].name.to_string(),
    };
    format!("{} - {}, {}", name(Side::First), name(Side::Second), record.result)
}

/// Prints a game: who played, the moves, what is said about them and what could have been played.
pub fn print(record: &GameRecord, number: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "Game {number}: {}", title(record))?;
    writeln!(out, "{}", record.game.info().name)?;
    for (name, value) in &record.tags {
        if ![player_tag(Side::First), player_tag(Side::Second)].contains(&name.as_str()) {
            writeln!(out, "{name}: {}", strip_control_chars(value))?;
        }
    }
    if let Some(start) = &record.start {
        writeln!(out, "From {start}")?;
    }
    let first = match replay(&record.game, record.start.as_deref(), &[]) {
        Ok(places) => places[0].side.index(),
        Err(_) => 0,
    };
    writeln!(out)?;
    print_line(&record.line, first, 0, out)?;
    writeln!(out, "{}\n", record.result)
}

/// A line of moves, a move with something to say about it in a line of its own.
fn print_line(line: &Line, first: usize, depth: usize, out: &mut impl Write) -> io::Result<()> {
    let space = "  ".repeat(depth);
    if let Some(comment) = &line.comment {
        writeln!(out, "{space}{}", strip_control_chars(comment))?;
    }
    let mut text = String::new();
    let told = |text: &mut String, out: &mut dyn Write| -> io::Result<()> {
        if !text.is_empty() {
            writeln!(out, "{space}{text}")?;
            text.clear();
        }
        Ok(())
    };
    for (index, ply) in line.plies.iter().enumerate() {
        let slot = first + index;
        if slot.is_multiple_of(2) || text.is_empty() {
            let dots = if slot.is_multiple_of(2) { "." } else { "..." };
            let blank = if text.is_empty() { "" } else { " " };
            text.push_str(&format!("{blank}{}{dots}", slot / 2 + 1));
        }
        text.push(' ');
        text.push_str(&annotated_move(ply));
        if text.len() > 70 || ply.comment.is_some() || !ply.variations.is_empty() {
            told(&mut text, out)?;
        }
        if let Some(comment) = &ply.comment {
            writeln!(out, "{space}  {}", strip_control_chars(comment))?;
        }
        for variation in &ply.variations {
            writeln!(out, "{space}  instead of {}:", ply.text)?;
            print_line(variation, slot, depth + 2, out)?;
        }
    }
    told(&mut text, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "{Begin} 1. 11-15! {good} (1. 9-14 {first} 22-18 (1... 22-17 2. 14-18) \
                        2. 5-9) (1. 10-14) 23-19 2. 8-11 *";

    fn walk() -> RecordCursor {
        RecordCursor::new(GameFile::new(GAME.as_bytes()).get(0).unwrap().1.clone()).unwrap()
    }

    fn texts(walk: &RecordCursor) -> String {
        walk.plies().iter().map(|ply| ply.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_walk_goes_through_every_variation_and_back() {
        let mut walk = walk();
        assert_eq!(walk.comment(), "Begin");
        assert!(walk.sibling_moves().is_empty() && !walk.next_sibling());
        walk.forward();
        assert_eq!(
            (walk.comment().as_str(), walk.sibling_moves().join(" ")),
            ("good", "9-14 10-14".into())
        );
        assert!(walk.next_sibling());
        assert_eq!((texts(&walk).as_str(), walk.depth()), ("9-14 22-18 5-9", 1));
        assert_eq!(walk.comment(), "first");
        walk.forward();
        assert_eq!(walk.sibling_moves(), ["22-17"]);
        assert!(walk.next_sibling());
        assert_eq!((texts(&walk).as_str(), walk.depth()), ("9-14 22-17 14-18", 2));
        assert!(walk.next_sibling());
        assert_eq!((texts(&walk).as_str(), walk.depth()), ("9-14 22-18 5-9", 1));
        walk.back();
        assert!(walk.next_sibling());
        assert_eq!(texts(&walk), "10-14");
        assert!(walk.next_sibling());
        assert_eq!((texts(&walk).as_str(), walk.depth()), ("11-15 23-19 8-11", 0));
    }

    #[test]
    fn before_its_first_move_a_variation_is_left() {
        let mut walk = walk();
        walk.forward();
        walk.next_sibling();
        walk.forward();
        walk.next_sibling();
        walk.go_to(usize::MAX);
        assert_eq!((walk.ply(), walk.has_more()), (3, false));
        walk.go_to(1);
        assert_eq!((texts(&walk).as_str(), walk.depth()), ("9-14 22-18 5-9", 1));
        walk.leave_variation();
        assert_eq!((walk.ply(), walk.depth()), (0, 0));
    }

    #[test]
    fn a_game_that_was_played_on_after_its_end_is_shown_to_its_last_move() {
        // Contest checkers is drawn after ten plies without a capture.
        let moves = "1-5 32-28 5-9 28-24 9-14 24-20 2-6 31-27 6-9 27-23 9-13 23-19";
        let start = Some("B:W31,32:B1,2");
        let moves: Vec<_> = moves.split(' ').collect();
        let places = replay(&"contest".parse().unwrap(), start, &moves).unwrap();
        assert_eq!(places.len(), 13);
        assert!(places[9].ending.is_none() && places[10].ending.is_some());
    }

    #[test]
    fn games_that_cannot_be_read_are_passed_over_and_told_of() {
        let text = "1. 11-15 *\n\n1. 11-99 *\n\n1. 11-16 *";
        let mut games = GameFile::new(text.as_bytes());
        assert!(games.get(0).is_some() && games.faults.is_empty());
        assert_eq!(games.get(1).unwrap().0, 3);
        assert_eq!((games.faults.len(), games.faults[0].game), (1, 2));
        assert!(games.get(2).is_none());
        assert_eq!(games.get(0).unwrap().0, 1);
    }

    #[test]
    fn a_printed_game_has_its_comments_and_variations_and_nothing_a_terminal_obeys() {
        let mut games = GameFile::new(GAME.as_bytes());
        let mut record = games.get(0).unwrap().1.clone();
        record.set_tag("Event", "A \u{1b}[2J\u{202e}b");
        let mut out = Vec::new();
        print(&record, 1, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }
}
