//! Plies without progress, and the rules that count them.

use super::movegen::Move;
use super::variant::RuleSet;

/// A man moved: men only ever advance.
const ADVANCE: usize = 1;
/// A piece was captured.
const CAPTURE: usize = 2;
/// A man became a king.
const CROWNING: usize = 4;

/// What counts as progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProgressRule {
    /// An advance resets the first counter, a capture the second.
    Separate,
    /// An advance or a capture resets both.
    AdvanceOrCapture,
    /// A capture or a crowning resets both.
    CaptureOrCrowning,
}

impl ProgressRule {
    /// Describes a draw after `plies` plies without progress.
    pub(super) fn describe(self, counters: DrawCounters, plies: u16, kings: bool) -> String {
        let [advance, capture] = counters.counts().map(|count| count >= u32::from(plies));
        let missing = match self {
            ProgressRule::Separate if advance && capture => {
                "no man advanced and no piece was removed"
            }
            ProgressRule::Separate if advance => "no man advanced",
            ProgressRule::Separate => "no piece was removed",
            ProgressRule::AdvanceOrCapture => "neither a man advanced nor a piece was removed",
            ProgressRule::CaptureOrCrowning if kings => "there was no capture and no crowning",
            ProgressRule::CaptureOrCrowning => "there was no capture",
        };
        let period = if plies == 1 { "ply".into() } else { format!("{plies} plies") };
        format!("Draw: {missing} during the last {period}")
    }
}

/// Plies since the last progress of each of two kinds, packed into one word.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct DrawCounters(u64);

impl DrawCounters {
    pub(super) const fn counts(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }

    /// Returns the larger counter.
    pub(super) fn max(self) -> u32 {
        let [first, second] = self.counts();
        first.max(second)
    }

    /// Returns the smaller counter.
    pub(super) fn min(self) -> u32 {
        let [first, second] = self.counts();
        first.min(second)
    }
}

/// A rule set packed into one word, so that copying a position copies words, not bytes.
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

    /// Returns the counters after a move. They cannot overflow: no game has 2^32 plies.
    #[inline(always)]
    pub(super) fn counters_after(self, counters: DrawCounters, mv: Move) -> DrawCounters {
        DrawCounters(
            counters.0.wrapping_add(1 << 32 | 1)
                & RESET_MASKS[(self.0 >> 3 & 3) as usize][mv.kind()],
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

/// For each progress rule and kind of move, the mask that clears the counters to reset.
/// The fourth row makes every two-bit index valid.
static RESET_MASKS: [[u64; 8]; 4] = [
    reset_mask(ADVANCE, CAPTURE),
    reset_mask(ADVANCE | CAPTURE, ADVANCE | CAPTURE),
    reset_mask(CAPTURE | CROWNING, CAPTURE | CROWNING),
    [0; 8],
];

/// Masks by kind of move, given the events that reset the first and the second counter.
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
