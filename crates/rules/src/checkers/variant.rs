//! The games of the checkers family: English checkers, its WCDF rules, and contest checkers.
//!
//! Steps, jumps, mandatory capture and crowning are common to all and live in
//! [`movegen`](super::movegen). Comments on constants cite the original rules; `docs/rules.md` says
//! how they are read.

use std::marker::PhantomData;

use super::draw_counters::ProgressRule;
use super::squares;
use crate::parse::{parse_key_values, truncate};
use crate::{Colour, ExamplePosition, GameInfo, OptionInfo, OptionsError, PieceInfo, SideInfo};

/// The rules that differ between variants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleSet {
    /// Whether a man that reaches the last row becomes a king.
    pub(super) kings: bool,
    /// What resets the two counters of plies without progress.
    pub(super) progress: ProgressRule,
    /// The game is drawn when either counter reaches this.
    pub(super) draw_plies: u16,
    /// Whether that draw takes precedence over the loss of a side without a legal move.
    pub(super) draw_before_loss: bool,
    /// Whether the third occurrence of a position is a draw.
    pub(super) repetition: bool,
}

/// English checkers.
const ENGLISH: RuleSet = RuleSet {
    kings: true, // assignment, rule 2: a man on the king-row becomes a king
    progress: ProgressRule::Separate, // assignment, rules 9a, 9b: no man advanced, no piece removed
    draw_plies: 50, // assignment, rule 9: 50 moves, each one turn of either side
    draw_before_loss: false, // assignment, rule 8: who can make the last move wins
    repetition: false, // not in the assignment
};

/// English checkers as played by the World Checkers/Draughts Federation.
const WCDF: RuleSet = RuleSet {
    progress: ProgressRule::AdvanceOrCapture, // draws: neither a man advanced nor a piece removed
    draw_plies: 80,                           // draws: 40 moves by each side
    repetition: true,                         // draws: the same position for the third time
    ..ENGLISH
};

/// Contest checkers.
const CONTEST: RuleSet = RuleSet {
    kings: false, // the contest's list lacks the three rules on kings
    progress: ProgressRule::CaptureOrCrowning, // check_draw: nothing but a place changed
    draw_plies: 10, // `if(draw==10)`
    draw_before_loss: true, // counted before `game_end` is called again
    repetition: false, // not in the contest
};

/// A game of this family: its descriptor and its rules.
pub trait Variant: Copy + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static {
    /// Descriptor of the game.
    const INFO: GameInfo;
    /// The rule sets that `rules=NAME` chooses from; the first is the default.
    const RULE_SETS: &'static [(&'static str, RuleSet)];

    /// See [`GameInfo::id`].
    const ID: &'static str = Self::INFO.id;
}

/// English checkers, `english`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EnglishRules;

impl Variant for EnglishRules {
    const INFO: GameInfo = GameInfo {
        options: &[
            OptionInfo {
                key: "rules",
                values: "assignment or wcdf",
                default: "assignment",
                description: "wcdf draws at the third occurrence of a position, or after 80 plies \
                              with neither a man advanced nor a piece removed",
            },
            OptionInfo {
                key: "draw-plies",
                values: DRAW_PLIES_VALUES,
                default: "50 (80 with rules=wcdf)",
                description: "draw after this many plies in which no man advanced, or no piece was \
                              removed (with rules=wcdf: neither)",
            },
            KINGS_OPTION,
        ],
        bot_protocols: &["checkerboard"],
        examples: &[
            ExamplePosition {
                name: "many moves",
                position: "B:W:BK6,K7,K8,K9,K17,K18,K19,K20,K25,K26,K27,K28",
                one_turn: true,
            },
            ExamplePosition {
                name: "few pieces",
                position: "B:WK1,K5,K32:BK28,K4,K29",
                one_turn: false,
            },
        ],
        ..family(
            "english",
            "English checkers",
            SideInfo { letter: 'w', name: "White", colour: Colour::White },
        )
    };
    const RULE_SETS: &'static [(&'static str, RuleSet)] =
        &[("assignment", ENGLISH), ("wcdf", WCDF)];
}

/// Contest checkers, `contest`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContestRules;

impl Variant for ContestRules {
    const INFO: GameInfo = GameInfo {
        options: &[
            OptionInfo {
                key: "draw-plies",
                values: DRAW_PLIES_VALUES,
                default: "10",
                description: "draw after this many plies without a capture (or a crowning, with \
                              kings=true)",
            },
            OptionInfo { default: "false", ..KINGS_OPTION },
        ],
        drawish: true,
        bot_protocols: &["cpp-function"],
        examples: &[
            ExamplePosition {
                name: "many moves",
                position: "B:W9,12,13,18,23,30:B1,3,4,10,11,17,20,25,26,27,28",
                one_turn: true,
            },
            ExamplePosition {
                name: "few pieces",
                position: "B:W29,30,31,32:B1,2,3,4",
                one_turn: false,
            },
        ],
        ..family(
            "contest",
            "Contest checkers",
            SideInfo { letter: 'w', name: "Red", colour: Colour::Red },
        )
    };
    const RULE_SETS: &'static [(&'static str, RuleSet)] = &[("assignment", CONTEST)];
}

/// Returns the facts that the games of the family have in common. Black moves first.
const fn family(id: &'static str, name: &'static str, second: SideInfo) -> GameInfo {
    let black = SideInfo { letter: 'b', name: "Black", colour: Colour::Black };
    let pieces = &[
        PieceInfo { name: "man", plural: "men", letters: ['b', 'w'] },
        PieceInfo { name: "king", plural: "kings", letters: ['B', 'W'] },
    ];
    GameInfo {
        cells: squares::DARK_CELLS,
        numbered_squares: true,
        forced_capture: true,
        pdn_game_type: Some(21),
        has_ballots: true,
        ..GameInfo::new(id, name, [black, second], pieces)
    }
}

const KINGS_OPTION: OptionInfo = OptionInfo {
    key: "kings",
    values: "true or false",
    default: "true",
    description: "whether a man on the last row becomes a king",
};

const MAX_DRAW_PLIES: u16 = 10_000;
const DRAW_PLIES_VALUES: &str = "1 to 10000";

/// Rule options of a game: a rule set of its variant, possibly with other limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options<V: Variant> {
    pub(super) rules: RuleSet,
    variant: PhantomData<V>,
}

impl<V: Variant> Default for Options<V> {
    fn default() -> Self {
        Options { rules: V::RULE_SETS[0].1, variant: PhantomData }
    }
}

impl<V: Variant> Options<V> {
    /// Parses `key=value,…`. The rule set is applied first, so the order does not matter.
    pub(super) fn parse(text: &str) -> Result<Self, OptionsError> {
        let pairs = parse_key_values(text, V::ID, V::INFO.options)?;
        let mut options = Options::<V>::default();
        for &(key, value) in pairs.iter().filter(|(key, _)| *key == "rules") {
            let set = V::RULE_SETS.iter().find(|(name, _)| *name == value);
            options.rules = set.ok_or_else(|| invalid_value::<V>(key, value))?.1;
        }
        for &(key, value) in &pairs {
            let invalid = || invalid_value::<V>(key, value);
            match key {
                "draw-plies" => {
                    let plies = value.parse().ok().filter(|n| (1..=MAX_DRAW_PLIES).contains(n));
                    options.rules.draw_plies = plies.ok_or_else(invalid)?;
                }
                "kings" => options.rules.kings = value.parse().map_err(|_| invalid())?,
                _ => {}
            }
        }
        Ok(options)
    }

    /// Formats the options as the shortest text that parses back to them.
    pub(super) fn format(&self) -> String {
        let same_set = |set: &&(&str, RuleSet)| {
            set.1.progress == self.rules.progress && set.1.repetition == self.rules.repetition
        };
        let (name, set) = V::RULE_SETS.iter().find(same_set).unwrap_or(&V::RULE_SETS[0]);
        let mut parts = Vec::new();
        if *name != V::RULE_SETS[0].0 {
            parts.push(format!("rules={name}"));
        }
        if self.rules.draw_plies != set.draw_plies {
            parts.push(format!("draw-plies={}", self.rules.draw_plies));
        }
        if self.rules.kings != set.kings {
            parts.push(format!("kings={}", self.rules.kings));
        }
        parts.join(",")
    }
}

fn invalid_value<V: Variant>(key: &str, value: &str) -> OptionsError {
    let values = V::INFO.options.iter().find(|o| o.key == key).map_or("", |o| o.values);
    let value = truncate(value, 40);
    OptionsError(format!("{}: invalid value {value:?} for {key}; expected {values}", V::ID))
}
