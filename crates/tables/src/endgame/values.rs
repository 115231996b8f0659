//! Values of slices in memory.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crownhead_rules::checkers::MoverBoard;

use super::value::{NO_MOVE, outcome};
use super::{KEYS, Slice, key};
use crate::TableError;

/// Values of all positions of a slice by index, also of those with a capture. See
/// [`value`](super::value).
pub(super) enum Values {
    /// With distances.
    Bytes(Vec<AtomicU8>),
    /// Only outcomes, two bits each.
    Outcomes(Vec<AtomicU64>),
}

/// Outcomes per word.
const PER_WORD: u64 = 32;

/// Bytes of the values of a slice in memory.
pub(super) const fn memory(size: u64, distances: bool) -> u64 {
    if distances { size } else { size.div_ceil(PER_WORD) * 8 }
}

/// Allocates a list of zeros.
pub(crate) fn zeros<T: Default>(count: u64) -> Result<Vec<T>, TableError> {
    let mut zeros = Vec::new();
    let bytes = count as usize * size_of::<T>();
    let reserved = zeros.try_reserve_exact(count as usize);
    reserved.map_err(|_| TableError::OutOfMemory { megabytes: bytes / 1_000_000 })?;
    zeros.resize_with(count as usize, T::default);
    Ok(zeros)
}

impl Values {
    pub(super) fn new(size: u64, distances: bool) -> Result<Values, TableError> {
        Ok(match distances {
            true => Values::Bytes(zeros(size)?),
            false => Values::Outcomes(zeros(size.div_ceil(PER_WORD))?),
        })
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u64) -> u8 {
        match self {
            Values::Bytes(bytes) => bytes[index as usize].load(Relaxed),
            Values::Outcomes(words) => {
                let word = words[(index / PER_WORD) as usize].load(Relaxed);
                (word >> (index % PER_WORD * 2)) as u8 & 3
            }
        }
    }

    /// Sets the values from an index on, once. Other threads may set other indices.
    pub(super) fn set(&self, first: u64, values: impl Iterator<Item = u8>) {
        match self {
            Values::Bytes(bytes) => {
                for (entry, value) in bytes[first as usize..].iter().zip(values) {
                    entry.store(value, Relaxed);
                }
            }
            Values::Outcomes(words) => {
                let (mut index, mut word) = (first, 0);
                for value in values {
                    word |= u64::from(value) << (index % PER_WORD * 2);
                    index += 1;
                    if index % PER_WORD == 0 {
                        words[(index / PER_WORD - 1) as usize].fetch_or(word, Relaxed);
                        word = 0;
                    }
                }
                if word != 0 {
                    words[(index / PER_WORD) as usize].fetch_or(word, Relaxed);
                }
            }
        }
    }

    pub(super) fn has_distances(&self) -> bool {
        matches!(self, Values::Bytes(_))
    }

    fn bytes(&self) -> u64 {
        match self {
            Values::Bytes(bytes) => bytes.len() as u64,
            Values::Outcomes(words) => words.len() as u64 * 8,
        }
    }

    /// The same values without distances.
    fn outcomes(&self, size: u64) -> Result<Values, TableError> {
        let outcomes = Values::new(size, false)?;
        outcomes.set(0, (0..size).map(|index| outcome(self.get(index))));
        Ok(outcomes)
    }
}

/// The slices whose values are in memory.
pub(super) struct Known {
    slices: Vec<Option<Values>>,
}

impl Known {
    pub(super) fn new() -> Known {
        Known { slices: (0..KEYS).map(|_| None).collect() }
    }

    /// Value of a position.
    #[inline(always)]
    pub(super) fn value(&self, board: MoverBoard) -> Option<u8> {
        if board.own == 0 {
            return Some(NO_MOVE);
        }
        let slice = Slice::of(board);
        Some(self.slices[key(slice)].as_ref()?.get(slice.index(board)))
    }

    pub(super) fn contains(&self, slice: Slice) -> bool {
        self.slices[key(slice)].is_some()
    }

    pub(super) fn insert(&mut self, slice: Slice, values: Values) {
        self.slices[key(slice)] = Some(values);
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> u64 {
        self.slices.iter().flatten().map(Values::bytes).sum()
    }

    /// Drops the slices that are not in the list.
    pub(super) fn keep(&mut self, slices: &[Slice]) {
        let keys: Vec<usize> = slices.iter().map(|&slice| key(slice)).collect();
        for (key, values) in self.slices.iter_mut().enumerate() {
            if !keys.contains(&key) {
                *values = None;
            }
        }
    }

    /// Drops the distances of these slices.
    pub(super) fn forget_distances(&mut self, slices: &[Slice]) -> Result<(), TableError> {
        for &slice in slices {
            let entry = &mut self.slices[key(slice)];
            if let Some(values) = entry.as_ref().filter(|values| values.has_distances()) {
                *entry = Some(values.outcomes(slice.size())?);
            }
        }
        Ok(())
    }
}
