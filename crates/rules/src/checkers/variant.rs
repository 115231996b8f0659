//! What tells English checkers, its WCDF form and contest checkers apart: one table of constants
//! each.
//!
//! Everything else (steps, jumps, compulsory capture, crowning ends the turn) is common to all and
//! stands in [`movegen`](super::movegen). The numbers in comments are the rules of the original
//! texts, as `docs/rules.md` reads them.

use super::movegen::Move;
use crate::parse::truncate;
use crate::{OptionInfo, OptionsError, SideInfo};

/// The rules that differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleSet {
    /// Whether a man that reaches the last row becomes a king.
    pub(super) kings: bool,
    /// What restarts the two counts of plies without progress.
    pub(super) progress: ProgressRule,
    /// The game is drawn when either count reaches this.
    pub(super) draw_plies: u16,
    /// Whether that draw comes before a loss for want of a move.
    pub(super) draw_before_loss: bool,
    /// Whether the third occurrence of a position is a draw.
    pub(super) repetition: bool,
}

/// A rule set in one word, so that to copy a position is to copy words and not single bytes.
#[derive(Clone, Copy)]
pub(super) struct PackedRules(u32);

impl PackedRules {
    pub(super) const fn new(rules: RuleSet) -> PackedRules {
        PackedRules(
            rules.kings as u32
                | (rules.draw_before_loss as u32) << 1
                | (rules.repetition as u32) << 2
                | (rules.progress as u32) << 3
                | (rules.draw_plies as u32) << 16,
        )
    }

    #[inline(always)]
    pub(super) const fn kings(self) -> bool {
        self.0 & 1 != 0
    }

    #[inline(always)]
    pub(super) const fn progress(self) -> ProgressRule {
        match self.0 >> 3 & 3 {
            0 => ProgressRule::Separate,
            1 => ProgressRule::AdvanceOrCapture,
            _ => ProgressRule::CaptureOrCrowning,
        }
    }

    /// The counts after one more ply. (They cannot run over: nobody plays four thousand million
    /// plies.)
    #[inline(always)]
    pub(super) fn counters_after(self, idle: DrawCounters, mv: Move) -> DrawCounters {
        DrawCounters(
            idle.0.wrapping_add(1 << 32 | 1) & RESET_MASKS[(self.0 >> 3 & 3) as usize][mv.kind()],
        )
    }

    pub(super) const fn unpack(self) -> RuleSet {
        RuleSet {
            kings: self.kings(),
            progress: self.progress(),
            draw_plies: (self.0 >> 16) as u16,
            draw_before_loss: self.0 & 2 != 0,
            repetition: self.0 & 4 != 0,
        }
    }
}

/// A man moved: men only ever advance.
const ADVANCE: usize = 1;
/// A piece was removed.
const CAPTURE: usize = 2;
/// A man became a king.
const CROWNING: usize = 4;

/// Plies since the last progress of each of two kinds.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DrawCounters(u64);

impl DrawCounters {
    pub(super) const fn counts(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }

    /// The longer of the two counts.
    pub(super) fn max(self) -> u32 {
        let [first, second] = self.counts();
        first.max(second)
    }

    /// The shorter of the two.
    pub(super) fn min(self) -> u32 {
        let [first, second] = self.counts();
        first.min(second)
    }
}

/// What counts as progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProgressRule {
    /// An advance restarts the first count, a capture the second.
    Separate,
    /// An advance or a capture restarts both.
    AdvanceOrCapture,
    /// A capture or a crowning restarts both.
    CaptureOrCrowning,
}

/// For each kind of progress and of move, a mask that keeps the counts which go on.
/// (The fourth row is there so that two bits are always an index.)
static RESET_MASKS: [[u64; 8]; 4] = [
    reset_mask(ADVANCE, CAPTURE),
    reset_mask(ADVANCE | CAPTURE, ADVANCE | CAPTURE),
    reset_mask(CAPTURE | CROWNING, CAPTURE | CROWNING),
    [0; 8],
];

/// The masks where these events restart the first and the second count.
const fn reset_mask(first: usize, second: usize) -> [u64; 8] {
    let mut masks = [0; 8];
    let mut kind = 0;
    while kind < 8 {
        let (was_king, is_king, captures) = (kind & 1 != 0, kind & 2 != 0, kind & 4 != 0);
        let events = if was_king { 0 } else { ADVANCE }
            | if captures { CAPTURE } else { 0 }
            | if is_king && !was_king { CROWNING } else { 0 };
        masks[kind] = if events & first == 0 { 0xffff_ffff } else { 0 }
            | if events & second == 0 { 0xffff_ffff << 32 } else { 0 };
        kind += 1;
    }
    masks
}

impl ProgressRule {
    /// What has not happened for so many plies, for the end of a drawn game.
    pub(super) fn describe(self, idle: DrawCounters, plies: u16, kings: bool) -> String {
        let [advance, capture] = idle.counts().map(|count| count >= u32::from(plies));
        let what = match self {
            ProgressRule::Separate if advance && capture => {
                "no man advanced and no piece was removed"
            }
            ProgressRule::Separate if advance => "no man advanced",
            ProgressRule::Separate => "no piece was removed",
            ProgressRule::AdvanceOrCapture => "neither a man advanced nor a piece was removed",
            ProgressRule::CaptureOrCrowning if kings => "there was no capture and no crowning",
            ProgressRule::CaptureOrCrowning => "there was no capture",
        };
        let time = if plies == 1 { "ply".into() } else { format!("{plies} plies") };
        format!("Draw: {what} during the last {time}")
    }
}

/// English checkers.
const ENGLISH: RuleSet = RuleSet {
    kings: true, // assignment, rule 2: a man on the king-row becomes a king
    progress: ProgressRule::Separate, // assignment, rules 9a and 9b: no man advanced, or no piece removed
    draw_plies: 50,                   // assignment, rule 9: 50 moves, each one turn of either side
    draw_before_loss: false,          // assignment, rule 8: who can make the last move wins
    repetition: false,                // the assignment knows no repetition
};

/// English checkers as the World Checkers/Draughts Federation plays it.
const WCDF: RuleSet = RuleSet {
    progress: ProgressRule::AdvanceOrCapture, // WCDF, draws: neither a man advanced nor a piece removed
    draw_plies: 80,                           // WCDF, draws: 40 moves by each side
    repetition: true,                         // WCDF, draws: the same position for the third time
    ..ENGLISH
};

/// Contest checkers.
const CONTEST: RuleSet = RuleSet {
    kings: false, // contest: the list's three king rules are not there
    progress: ProgressRule::CaptureOrCrowning, // contest, check_draw: turns on which nothing but a place changed
    draw_plies: 10,                            // contest: `if(draw==10)`
    draw_before_loss: true,                    // contest: counted before `game_end` is asked again
    repetition: false,                         // the contest knows no repetition
};

/// A game of this family: its names and its rules.
pub trait Variant: Copy + Eq + std::hash::Hash + std::fmt::Debug + Send + Sync + 'static {
    /// See [`Notation::ID`](crate::Notation::ID).
    const ID: &'static str;
    /// See [`Notation::NAME`](crate::Notation::NAME).
    const NAME: &'static str;
    /// See [`Notation::SIDES`](crate::Notation::SIDES).
    const SIDES: [SideInfo; 2];
    /// See [`Notation::OPTIONS`](crate::Notation::OPTIONS).
    const OPTIONS: &'static [OptionInfo];
    /// The rule sets that `rules=NAME` chooses from; the first is the default.
    const RULE_SETS: &'static [(&'static str, RuleSet)];
}

/// Names the game `english`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EnglishRules;

impl Variant for EnglishRules {
    const ID: &'static str = "english";
    const NAME: &'static str = "English checkers";
    const SIDES: [SideInfo; 2] =
        [SideInfo { letter: 'b', name: "Black" }, SideInfo { letter: 'w', name: "White" }];
    const OPTIONS: &'static [OptionInfo] = &[
        OptionInfo {
            key: "rules",
            values: "assignment or wcdf",
            default: "assignment",
            description: "wcdf draws at the third occurrence of a position, or after 80 plies with neither a man \
                      advanced nor a piece removed",
        },
        OptionInfo {
            key: "draw-plies",
            values: DRAW_PLIES_VALUES,
            default: "50 (80 with rules=wcdf)",
            description: "drawn when no man has advanced, or no piece was removed, for so many plies \
                      (with rules=wcdf: neither)",
        },
        OptionInfo {
            key: "kings",
            values: "true or false",
            default: "true",
            description: "whether a man on the last row becomes a king",
        },
    ];
    const RULE_SETS: &'static [(&'static str, RuleSet)] =
        &[("assignment", ENGLISH), ("wcdf", WCDF)];
}

/// Names the game `contest`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ContestRules;

impl Variant for ContestRules {
    const ID: &'static str = "contest";
    const NAME: &'static str = "Contest checkers";
    const SIDES: [SideInfo; 2] =
        [SideInfo { letter: 'b', name: "Black" }, SideInfo { letter: 'w', name: "Red" }];
    const OPTIONS: &'static [OptionInfo] = &[
        OptionInfo {
            key: "draw-plies",
            values: DRAW_PLIES_VALUES,
            default: "10",
            description: "drawn after so many plies without a capture (nor a crowning, with kings=true)",
        },
        OptionInfo {
            key: "kings",
            values: "true or false",
            default: "false",
            description: "whether a man on the last row becomes a king",
        },
    ];
    const RULE_SETS: &'static [(&'static str, RuleSet)] = &[("assignment", CONTEST)];
}

const MAX_DRAW_PLIES: u16 = 10_000;
const DRAW_PLIES_VALUES: &str = "1 to 10000";

/// The rules chosen for a game: always a rule set of its variant, possibly with other limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options<V: Variant> {
    pub(super) rules: RuleSet,
    variant: std::marker::PhantomData<V>,
}

impl<V: Variant> Default for Options<V> {
    fn default() -> Self {
        Options { rules: V::RULE_SETS[0].1, variant: std::marker::PhantomData }
    }
}

impl<V: Variant> Options<V> {
    /// Reads `key=value,…`. The rule set is taken first, wherever it stands, so that the order does
    /// not matter.
    pub(super) fn parse(text: &str) -> Result<Self, OptionsError> {
        let pairs = crate::parse::parse_key_values(text, V::ID, V::OPTIONS)?;
        let mut options = Options::<V>::default();
        for &(key, value) in pairs.iter().filter(|(key, _)| *key == "rules") {
            let set = V::RULE_SETS.iter().find(|(name, _)| *name == value);
            options.rules = set.ok_or_else(|| invalid_value::<V>(key, value))?.1;
        }
        for &(key, value) in &pairs {
            match key {
                "draw-plies" => {
                    let plies = value.parse().ok().filter(|n| (1..=MAX_DRAW_PLIES).contains(n));
                    options.rules.draw_plies =
                        plies.ok_or_else(|| invalid_value::<V>(key, value))?;
                }
                "kings" => {
                    options.rules.kings =
                        value.parse().map_err(|_| invalid_value::<V>(key, value))?;
                }
                _ => {}
            }
        }
        Ok(options)
    }

    /// The shortest text that reads back as these options.
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
    let values = V::OPTIONS.iter().find(|o| o.key == key).map_or("", |o| o.values);
    let value = truncate(value, 40);
    OptionsError(format!("{}: the option {key} takes {values}, not {value:?}", V::ID))
}
