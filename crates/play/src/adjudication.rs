//! Adjudication: the referee ends a game whose result is clear. Off by default.
//!
//! Players report scores with their moves. A move without a score, such as the only legal one,
//! counts neither for nor against a rule.

use std::fmt;
use std::str::FromStr;

use crownhead_rules::{Side, TableValue};
use crownhead_search::{Knowledge, Score};

use crate::sentence::truncate;
use crate::{End, Session};

/// When the referee ends a game before its rules do. Written `draw-score=10,max-moves=150`, or as a
/// table `[adjudication]` in a file. Scores are in hundredths of a man, moves are those of one
/// side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adjudication {
    /// Draw if both players report scores within this distance of zero; `None` is off.
    pub draw_score: Option<u32>,
    /// Number of consecutive moves for which each player must report such a score.
    pub draw_moves: u32,
    /// Number of moves before the rule applies.
    pub draw_after: u32,
    /// Loss of a player who reports a score this far below zero; `None` is off.
    pub resign_score: Option<u32>,
    /// Number of consecutive moves for which it must report such a score.
    pub resign_moves: u32,
    /// Draw after this number of moves; `None` is off.
    pub max_moves: Option<u32>,
    /// Result from an endgame table as soon as one contains the position.
    pub tables: bool,
}

impl Default for Adjudication {
    fn default() -> Adjudication {
        Adjudication {
            draw_score: None,
            draw_moves: 8,
            draw_after: 20,
            resign_score: None,
            resign_moves: 4,
            max_moves: None,
            tables: false,
        }
    }
}

const MAX_SCORE: u32 = 30_000;
const MAX_MOVES: u32 = 100_000;

impl Adjudication {
    /// Names of the settings.
    pub const KEYS: [&str; 7] = [
        "draw-score",
        "draw-moves",
        "draw-after",
        "resign-score",
        "resign-moves",
        "max-moves",
        "tables",
    ];

    /// Changes one setting.
    ///
    /// # Errors
    /// Says what is wrong with the key or the value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |min: u32, max: u32| {
            let number = value.parse().ok().filter(|number| (min..=max).contains(number));
            number.ok_or_else(|| {
                let value = truncate(value);
                format!("{key} takes a whole number from {min} to {max}, not {value:?}")
            })
        };
        match key {
            "draw-score" => self.draw_score = Some(number(0, MAX_SCORE)?),
            "draw-moves" => self.draw_moves = number(1, MAX_MOVES)?,
            "draw-after" => self.draw_after = number(0, MAX_MOVES)?,
            "resign-score" => self.resign_score = Some(number(1, MAX_SCORE)?),
            "resign-moves" => self.resign_moves = number(1, MAX_MOVES)?,
            "max-moves" => self.max_moves = Some(number(1, MAX_MOVES)?),
            "tables" => {
                let value = value.parse().map_err(|_| {
                    format!("tables takes true or false, not {:?}", truncate(value))
                })?;
                self.tables = value;
            }
            _ => {
                let (keys, key) = (Adjudication::KEYS.join(", "), truncate(key));
                return Err(format!("unknown adjudication setting {key:?}; settings: {keys}"));
            }
        }
        Ok(())
    }

    /// Checks that a rule is on.
    ///
    /// # Errors
    /// Says which settings turn one on.
    pub fn check(self) -> Result<Adjudication, String> {
        match self.is_off() {
            true => Err("no adjudication rule is on: set draw-score, resign-score, max-moves or \
                         tables"
                .into()),
            false => Ok(self),
        }
    }

    /// Whether no rule is on.
    pub fn is_off(&self) -> bool {
        let Adjudication { draw_score, resign_score, max_moves, tables, .. } = *self;
        draw_score.is_none() && resign_score.is_none() && max_moves.is_none() && !tables
    }
}

impl FromStr for Adjudication {
    type Err = String;

    /// Parses `draw-score=10,draw-moves=8`, or `off`. Settings that are not named keep their
    /// default.
    fn from_str(text: &str) -> Result<Adjudication, String> {
        let mut adjudication = Adjudication::default();
        if text.trim() == "off" {
            return Ok(adjudication);
        }
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                let part = truncate(part);
                return Err(format!(
                    "invalid adjudication {part:?}: write it as draw-score=10,max-moves=150"
                ));
            };
            adjudication.set(key.trim(), value.trim())?;
        }
        adjudication.check()
    }
}

impl fmt::Display for Adjudication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(score) = self.draw_score {
            let Adjudication { draw_moves, draw_after, .. } = self;
            parts.push(format!(
                "draw-score={score},draw-moves={draw_moves},draw-after={draw_after}"
            ));
        }
        if let Some(score) = self.resign_score {
            parts.push(format!("resign-score={score},resign-moves={}", self.resign_moves));
        }
        parts.extend(self.max_moves.map(|moves| format!("max-moves={moves}")));
        parts.extend(self.tables.then(|| "tables=true".into()));
        f.write_str(if parts.is_empty() { "off" } else { "" })?;
        f.write_str(&parts.join(","))
    }
}

/// The rule by which a game was adjudicated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdjudicationRule {
    /// Both players reported scores close to zero.
    Draw,
    /// The loser reported a lost position.
    Resign,
    /// The game reached its maximum length.
    Length,
    /// An endgame table contains the position.
    Table,
}

impl AdjudicationRule {
    /// All rules.
    pub const ALL: [AdjudicationRule; 4] = [
        AdjudicationRule::Draw,
        AdjudicationRule::Resign,
        AdjudicationRule::Length,
        AdjudicationRule::Table,
    ];

    /// The stable external word for the rule. All of them start with `adjudicated`.
    pub const fn code(self) -> &'static str {
        match self {
            AdjudicationRule::Draw => "adjudicated-draw",
            AdjudicationRule::Resign => "adjudicated-resign",
            AdjudicationRule::Length => "adjudicated-length",
            AdjudicationRule::Table => "adjudicated-table",
        }
    }
}

/// Applies the rules to one game.
pub(crate) struct Adjudicator<'a> {
    rules: Adjudication,
    knowledge: &'a Knowledge,
    /// Number of consecutive reports that fulfil the rule for draws, by side.
    level: [u32; 2],
    /// The same for lost positions.
    lost: [u32; 2],
}

impl<'a> Adjudicator<'a> {
    pub(crate) fn new(rules: Adjudication, knowledge: &'a Knowledge) -> Adjudicator<'a> {
        Adjudicator { rules, knowledge, level: [0; 2], lost: [0; 2] }
    }

    /// Returns the end of a game that is not over by its rules, after a move of `side` with the
    /// score that its player reported.
    pub(crate) fn after_move(
        &mut self,
        session: &dyn Session,
        side: Side,
        score: Option<Score>,
    ) -> Option<End> {
        if self.rules.is_off() {
            return None;
        }
        let Adjudication { draw_moves, draw_after, resign_moves, max_moves, .. } = self.rules;
        if let Some(score) = score {
            let count =
                |counter: &mut u32, holds: bool| *counter = if holds { *counter + 1 } else { 0 };
            let (level, lost) = (&mut self.level[side.index()], &mut self.lost[side.index()]);
            count(level, self.rules.draw_score.is_some_and(|limit| score.unsigned_abs() <= limit));
            count(lost, self.rules.resign_score.is_some_and(|limit| score <= -(limit as Score)));
        }
        let end = |rule, winner| Some(End::Adjudicated { rule, winner });
        if self.rules.tables
            && let Some(winner) = table_winner(session, self.knowledge)
        {
            return end(AdjudicationRule::Table, winner);
        }
        if self.lost[side.index()] >= resign_moves {
            return end(AdjudicationRule::Resign, Some(side.other()));
        }
        // Two plies are a move.
        let moves = session.plies() / 2;
        if self.level.iter().all(|count| *count >= draw_moves) && moves >= draw_after as usize {
            return end(AdjudicationRule::Draw, None);
        }
        match max_moves {
            Some(max) if moves >= max as usize => end(AdjudicationRule::Length, None),
            _ => None,
        }
    }
}

/// Returns the winner, or `None` in a draw, if a table proves the result.
fn table_winner(session: &dyn Session, knowledge: &Knowledge) -> Option<Option<Side>> {
    match session.table_value(knowledge)? {
        TableValue::Win { .. } => Some(Some(session.side())),
        TableValue::Draw => Some(None),
        TableValue::Loss { .. } => Some(Some(session.side().other())),
        TableValue::AtLeastDraw { .. } | TableValue::AtMostDraw { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crownhead_rules::{English, Probe};
    use crownhead_search::StopFlag;

    use super::*;
    use crate::{
        Choice, Clock, GameSettings, GameStart, PlayedGame, Player, PlayerError, new_session,
        referee,
    };

    /// Plays the first legal move and reports scores in turn, the last one again and again.
    struct Reports(Vec<Option<Score>>);

    impl Player for Reports {
        fn start_game(&mut self, _: &GameStart<'_>, _: &StopFlag) {}

        fn choose(
            &mut self,
            game: &dyn Session,
            _: &Clock,
            _: &StopFlag,
            _: &mut dyn FnMut(Choice),
        ) -> Result<Choice, PlayerError> {
            let score = if self.0.len() > 1 { self.0.remove(0) } else { self.0[0] };
            Ok(Choice { score, ..Choice::from_text(game.legal_moves()[0].text.clone()) })
        }
    }

    fn play(
        rules: &str,
        start: Option<&str>,
        knowledge: &Knowledge,
        scores: [&[Option<Score>]; 2],
    ) -> PlayedGame {
        let game = "english".parse().unwrap();
        let settings = GameSettings {
            adjudication: rules.parse().unwrap(),
            ..GameSettings::default_for(&game)
        };
        let session = new_session(&game, start).unwrap();
        let [mut first, mut second] = scores.map(|scores| Reports(scores.to_vec()));
        let (players, stop): ([&mut dyn Player; 2], _) =
            ([&mut first, &mut second], StopFlag::new());
        let played = referee::play(session, players, &settings, knowledge, 1, &stop, &mut |_| {});
        played.unwrap().unwrap()
    }

    /// End code, winner and number of plies of a game with these reports.
    fn end(rules: &str, scores: [&[Option<Score>]; 2]) -> (&'static str, Option<Side>, usize) {
        let played = play(rules, None, &Knowledge::default(), scores);
        (played.end.code(), played.end.winner(), played.moves.len())
    }

    #[test]
    fn level_scores_of_both_players_are_a_draw_after_enough_moves() {
        let rules = "draw-score=10,draw-moves=3,draw-after=5";
        let draw = |plies| ("adjudicated-draw", None, plies);
        assert_eq!(end(rules, [&[Some(10)], &[Some(-10)]]), draw(10));
        // The second player's fifth report is the first that counts.
        let late: Vec<_> = [500, 500, 500, 500, 0].map(Some).into();
        assert_eq!(end(rules, [&[Some(0)], &late]), draw(14));
        // Moves without a report do not count, and do not interrupt either.
        let gaps = [Some(0), None, Some(0), None, None, None, Some(0)];
        assert_eq!(end(rules, [&[Some(0)], &gaps]), draw(14));
        for one_sided in [[Some(0), Some(11)], [Some(0), None]] {
            let (code, _, _) = end(rules, [&one_sided[..1], &one_sided[1..]]);
            assert!(!code.starts_with("adjudicated"), "{code}");
        }
    }

    #[test]
    fn player_that_reports_a_lost_position_loses() {
        let rules = "resign-score=300,resign-moves=2";
        let lost = [Some(-299), Some(-300), Some(-400)];
        let won = [Some(500)];
        assert_eq!(end(rules, [&lost, &won]), ("adjudicated-resign", Some(Side::Second), 5));
        assert_eq!(end(rules, [&won, &lost]), ("adjudicated-resign", Some(Side::First), 6));
    }

    #[test]
    fn game_of_maximum_length_is_a_draw() {
        assert_eq!(end("max-moves=4", [&[None], &[None]]), ("adjudicated-length", None, 8));
    }

    /// Claims that the side to move wins as soon as White has a king.
    struct WonWithKing;

    impl Probe<English> for WonWithKing {
        fn probe(&self, position: &English) -> Option<TableValue> {
            use crownhead_rules::Notation;
            position.board().contains(&'W').then_some(TableValue::Win { plies: 5 })
        }
    }

    #[test]
    fn table_decides_a_game_as_soon_as_it_contains_the_position() {
        let mut knowledge = Knowledge::default();
        knowledge.insert_probe("test", Arc::new(WonWithKing));
        let start = Some("W:W5,32:B4,12");
        let scores: [&[Option<Score>]; 2] = [&[None], &[None]];
        let played = play("tables=true", start, &knowledge, scores);
        assert_eq!(played.moves, ["5-1"]);
        assert_eq!(
            (played.end.code(), played.end.winner()),
            ("adjudicated-table", Some(Side::First))
        );
        assert_eq!(
            played.description,
            "Adjudicated: Black wins, because an endgame table has the result."
        );
        let other = play("max-moves=2", start, &knowledge, scores);
        assert_eq!(other.end.code(), "adjudicated-length");
    }

    #[test]
    fn adjudication_parses_what_it_displays() {
        for text in [
            "off",
            "draw-score=0,draw-moves=8,draw-after=20",
            "resign-score=400,resign-moves=3,max-moves=150,tables=true",
        ] {
            let adjudication: Adjudication = text.parse().unwrap();
            assert_eq!(adjudication.to_string(), text);
            assert_eq!(adjudication.is_off(), text == "off");
        }
    }

    #[test]
    fn invalid_adjudication_says_what_is_allowed() {
        for (text, message) in [
            ("draw", "write it as draw-score=10"),
            ("draw-score=-1", "draw-score takes a whole number from 0 to 30000"),
            ("resign-score=0", "from 1 to 30000"),
            ("tables=yes", "tables takes true or false"),
            ("draw-moves=5", "set draw-score"),
            ("draws=1", "unknown adjudication setting \"draws\"; settings: draw-score"),
        ] {
            let error = text.parse::<Adjudication>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
