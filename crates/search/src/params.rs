//! Parameters of the selective search.
//!
//! [`PARAMS`] lists them with their ranges. [`SearchParams`] holds the values of a game, and
//! [`ParamChanges`] those that a player replaces. `crownhead tune` finds better values.

use std::fmt;

use crownhead_rules::{Game, nearest, truncate};

use crate::{GameVisitor, HasEngine, visit};

/// A parameter, and how it is tuned.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Name: an option of the player `best`.
    pub name: &'static str,
    /// Smallest value.
    pub min: i16,
    /// Largest value.
    pub max: i16,
    /// Change of the value in the tuner's games, at the end of its run.
    pub step: f64,
}

macro_rules! define_params {
    ($(#[doc = $doc:literal] $field:ident: $name:literal = $default:literal,
        $min:literal to $max:literal step $step:literal;)+) => {
        /// Values of the parameters in a game.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct SearchParams {
            $(#[doc = $doc] pub $field: i32,)+
        }

        impl SearchParams {
            /// The most cautious pruning, safe for every game.
            pub const DEFAULT: SearchParams = SearchParams { $($field: $default,)+ };

            /// The values in the order of [`PARAMS`].
            pub fn values(&self) -> [i32; COUNT] {
                [$(self.$field,)+]
            }

            fn values_mut(&mut self) -> [&mut i32; COUNT] {
                [$(&mut self.$field,)+]
            }
        }

        const COUNT: usize = [$($name,)+].len();

        /// All parameters.
        pub static PARAMS: [ParamInfo; COUNT] = [$(ParamInfo {
            name: $name,
            min: $min,
            max: $max,
            step: $step,
        },)+];
    };
}

define_params! {
    /// Reverse futility margin in points per ply of depth.
    rfp_margin: "rfp-margin" = 90, 10 to 300 step 8.0;
    /// Points subtracted from this margin if the position is improving.
    rfp_improving: "rfp-improving" = 0, 0 to 300 step 8.0;
    /// Maximum depth of reverse futility pruning; 0 disables it.
    rfp_depth: "rfp-depth" = 6, 0 to 16 step 1.0;
    /// Reduction of null-move pruning in plies; 0 disables it.
    null_reduction: "null-reduction" = 0, 0 to 8 step 0.7;
    /// Minimum depth of null-move pruning.
    null_depth: "null-depth" = 3, 2 to 10 step 0.7;
    /// Maximum depth of futility pruning; 0 disables it.
    futility_depth: "futility-depth" = 0, 0 to 10 step 0.7;
    /// Futility margin in points: base.
    futility_base: "futility-base" = 0, 0 to 300 step 8.0;
    /// Futility margin in points: per ply of depth.
    futility_margin: "futility-margin" = 0, 0 to 300 step 8.0;
    /// Maximum depth of late move pruning; 0 disables it.
    lmp_depth: "lmp-depth" = 0, 0 to 12 step 0.7;
    /// Hundredths of moves that late move pruning keeps: base.
    lmp_base: "lmp-base" = 100, 100 to 4000 step 50.0;
    /// Hundredths of moves that late move pruning keeps: factor of the squared depth.
    lmp_factor: "lmp-factor" = 0, 0 to 1000 step 20.0;
    /// Percentage of these moves that late move pruning keeps if the position is not improving.
    lmp_worsening: "lmp-worsening" = 100, 20 to 100 step 4.0;
    /// Minimum depth of late move reductions.
    lmr_depth: "lmr-depth" = 3, 2 to 10 step 0.5;
    /// Number of moves that are not reduced.
    lmr_moves: "lmr-moves" = 2, 1 to 10 step 0.5;
    /// Late move reduction in hundredths of a ply: base.
    lmr_base: "lmr-base" = 50, -150 to 300 step 10.0;
    /// Late move reduction: hundredths by which ln(depth)·ln(move number) is divided.
    lmr_divisor: "lmr-divisor" = 220, 80 to 800 step 12.0;
    /// Effect of a full history count on the reduction, in eighths of a ply.
    lmr_history: "lmr-history" = 16, 0 to 80 step 3.0;
    /// Minimum depth of internal iterative reductions.
    iir_depth: "iir-depth" = 5, 2 to 20 step 0.7;
    /// Half the width of the first aspiration window, in points.
    aspiration_window: "aspiration-window" = 18, 4 to 300 step 2.0;
    /// Growth of the aspiration window in per cent.
    aspiration_growth: "aspiration-growth" = 300, 130 to 1000 step 30.0;
    /// History bonus per ply of depth, besides the squared depth.
    history_bonus: "history-bonus" = 8, 0 to 200 step 3.0;
    /// Maximum history bonus.
    history_max: "history-max" = 1024, 32 to 8192 step 100.0;
}

impl SearchParams {
    /// The built-in values of a game.
    pub fn of_game(game: &Game) -> SearchParams {
        struct Values;
        impl GameVisitor for Values {
            type Output = SearchParams;
            fn visit<P: HasEngine>(self, _: &P::Options) -> SearchParams {
                P::PARAMS
            }
        }
        visit(game, Values)
    }

    /// These values with some of them replaced.
    pub fn with(mut self, changes: &ParamChanges) -> SearchParams {
        for (value, change) in self.values_mut().into_iter().zip(changes.0) {
            *value = change.map_or(*value, i32::from);
        }
        self
    }

    /// Margin of reverse futility pruning.
    #[inline(always)]
    pub(crate) fn rfp_margin(&self, depth: i32, is_improving: bool) -> i32 {
        self.rfp_margin * depth - if is_improving { self.rfp_improving } else { 0 }
    }

    /// Whether late move pruning skips the quiet move at `index` and all later ones.
    #[inline(always)]
    pub(crate) fn lmp_skips(&self, depth: i32, index: usize, is_improving: bool) -> bool {
        let percentage = if is_improving { 100 } else { self.lmp_worsening };
        let kept = (self.lmp_base + self.lmp_factor * depth * depth) * percentage / 100;
        depth <= self.lmp_depth && 100 * index as i32 >= kept.max(100)
    }

    /// Whether futility pruning skips quiet moves: even with the margin they stay below `alpha`.
    #[inline(always)]
    pub(crate) fn futility_skips(&self, depth: i32, static_eval: i32, alpha: i32) -> bool {
        depth <= self.futility_depth
            && static_eval + self.futility_base + self.futility_margin * depth <= alpha
    }
}

/// Values that replace those of a game.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ParamChanges([Option<i16>; COUNT]);

/// A parameter that does not exist, or a value out of its range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct ParamError(String);

/// Finds a parameter by its name. Returns its index in [`PARAMS`].
pub fn find_param(name: &str) -> Result<usize, ParamError> {
    let names = || PARAMS.iter().map(|param| param.name);
    names().position(|known| known == name).ok_or_else(|| {
        let hint = match nearest(name, names()) {
            Some(name) => format!(" (did you mean {name}?)"),
            None => format!("; search parameters: {}", names().collect::<Vec<_>>().join(", ")),
        };
        ParamError(format!("unknown search parameter {:?}{hint}", truncate(name, 40)))
    })
}

impl ParamChanges {
    /// The game's own values.
    pub const NONE: ParamChanges = ParamChanges([None; COUNT]);

    /// Replaces the value of the parameter with this index in [`PARAMS`]. Returns the value that
    /// it replaced before.
    pub fn set(&mut self, index: usize, value: i64) -> Result<Option<i16>, ParamError> {
        let ParamInfo { name, min, max, .. } = PARAMS[index];
        let in_range = i16::try_from(value).ok().filter(|value| (min..=max).contains(value));
        let value = in_range.ok_or_else(|| {
            ParamError(format!("{name} takes a whole number from {min} to {max}, not {value}"))
        })?;
        Ok(self.0[index].replace(value))
    }

    /// Reads a parameter file: a line `name = value` for each parameter. `#` starts a comment.
    pub fn parse_file(text: &str) -> Result<ParamChanges, ParamError> {
        let mut changes = ParamChanges::NONE;
        for (line, number) in text.lines().zip(1..) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let fail = |message: String| ParamError(format!("line {number}: {message}"));
            let (name, value) = line
                .split_once('=')
                .and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)))
                .ok_or_else(|| {
                    fail(format!("expected name = value, not {:?}", truncate(line, 40)))
                })?;
            let index = find_param(name).map_err(|error| fail(error.0))?;
            if changes.set(index, value).map_err(|error| fail(error.0))?.is_some() {
                return Err(fail(format!("{name} is given twice")));
            }
        }
        match changes == ParamChanges::NONE {
            true => Err(ParamError("no parameters: expected lines such as rfp-margin = 90".into())),
            false => Ok(changes),
        }
    }
}

/// Formats the changes as options of a player: `rfp-margin=90,lmr-base=40`.
impl fmt::Display for ParamChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (param, value) in PARAMS.iter().zip(self.0) {
            if let Some(value) = value {
                write!(f, "{separator}{}={value}", param.name)?;
                separator = ",";
            }
        }
        Ok(())
    }
}

/// Late move reductions by depth and move index, in plies.
pub(crate) struct Reductions([[u8; 64]; 64]);

impl Reductions {
    /// base + ln(depth)·ln(index + 1)/divisor, rounded down.
    pub(crate) fn new(params: &SearchParams) -> Reductions {
        let mut table = [[0; 64]; 64];
        let divisor = i64::from(params.lmr_divisor);
        let base = i64::from(params.lmr_base) * divisor;
        for (depth, row) in table.iter_mut().enumerate().skip(1) {
            for (index, reduction) in row.iter_mut().enumerate().skip(1) {
                let product = LN_TIMES_100[depth] * LN_TIMES_100[index + 1];
                *reduction = ((base + product) / (divisor * 100)).clamp(0, 100) as u8;
            }
        }
        Reductions(table)
    }

    #[inline(always)]
    pub(crate) fn plies(&self, depth: i32, index: usize) -> i32 {
        i32::from(self.0[depth.min(63) as usize][index.min(63)])
    }
}

/// 100·ln(n), rounded down: the number of times that n can be divided by (almost) 1.01.
const LN_TIMES_100: [i64; 65] = {
    let mut table = [0; 65];
    let (mut count, mut power, mut n) = (0, 1_000_000_000, 1);
    while n < table.len() {
        while power + power / 100 <= n as u64 * 1_000_000_000 {
            power += power / 100;
            count += 1;
        }
        table[n] = count;
        n += 1;
    }
    table
};
