//! The tables a search may consult.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crownhead_rules::{Notation, Probe, TableValue};

use crate::Searchable;

/// Tables by game id and table name. Searches and evaluators work without them, but weaker.
///
/// One table may be stored in several forms: as a [`Probe`], which the search consults, and as a
/// trait of its own, which an evaluator asks for.
///
/// ```
/// # use std::sync::Arc;
/// use crownhead_rules::{ChineseCheckers, Notation, Side, SoloDistances};
/// use crownhead_search::Knowledge;
///
/// struct FourTurns;
/// impl SoloDistances for FourTurns {
///     fn turns(&self, _pieces: u64, _side: Side) -> Option<u8> {
///         Some(4)
///     }
/// }
///
/// let mut knowledge = Knowledge::default();
/// let table: Arc<dyn SoloDistances> = Arc::new(FourTurns);
/// knowledge.insert(ChineseCheckers::ID, "solo", table);
/// assert!(knowledge.get::<dyn SoloDistances>(ChineseCheckers::ID, "solo").is_some());
/// assert!(knowledge.get::<dyn SoloDistances>(ChineseCheckers::ID, "other").is_none());
/// ```
#[derive(Clone, Default)]
pub struct Knowledge(Vec<Entry>);

#[derive(Clone)]
struct Entry {
    game: &'static str,
    table: &'static str,
    /// An `Arc<T>`, in practice an `Arc` of a trait object.
    handle: Arc<dyn Any + Send + Sync>,
}

impl Knowledge {
    /// Adds a form of a table.
    pub fn insert<T>(&mut self, game: &'static str, table: &'static str, handle: Arc<T>)
    where
        T: ?Sized + Send + Sync + 'static,
    {
        self.0.push(Entry { game, table, handle: Arc::new(handle) });
    }

    /// Adds a table that the search of `P` probes.
    pub fn insert_probe<P: Notation>(&mut self, table: &'static str, probe: Arc<dyn Probe<P>>) {
        self.insert(P::ID, table, probe);
    }

    /// Returns a table in the form `T`.
    pub fn get<T>(&self, game: &str, table: &str) -> Option<Arc<T>>
    where
        T: ?Sized + Send + Sync + 'static,
    {
        let entries = self.0.iter().filter(|entry| entry.game == game && entry.table == table);
        entries.filter_map(|entry| entry.handle.downcast_ref::<Arc<T>>()).next().cloned()
    }

    /// Returns the tables that the search of `P` probes, in the order of insertion.
    pub(crate) fn probes<P: Notation>(&self) -> Arc<[Arc<dyn Probe<P>>]> {
        let entries = self.0.iter().filter(|entry| entry.game == P::ID);
        entries.filter_map(|entry| entry.handle.downcast_ref().cloned()).collect()
    }

    /// Returns what the first table that contains a position proves about it. The game must not be
    /// over.
    pub fn value<P: Searchable>(&self, position: &P) -> Option<TableValue> {
        let plies_left = position.plies_left();
        self.probes::<P>().iter().find_map(|probe| probe.probe_in_game(position, plies_left))
    }

    /// The same in a game, where a repetition may stand in the way of a win. `history_keys` are the
    /// keys of the earlier positions.
    pub fn value_in_game<P: Searchable>(
        &self,
        position: &P,
        history_keys: &[u64],
    ) -> Option<TableValue> {
        let value = self.value(position)?;
        Some(if has_repetition(position, history_keys) { value.unproved() } else { value })
    }

    /// Whether there are no tables.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a position occurred twice up to this one, since the last move that cannot be taken back,
/// in a game that the third occurrence ends.
pub(crate) fn has_repetition<P: Searchable>(position: &P, history_keys: &[u64]) -> bool {
    let key = position.key();
    if position.outcome(&[key; 2]).is_none() {
        return false;
    }
    let back = (position.reversible_plies() as usize).min(history_keys.len());
    let recent = &history_keys[history_keys.len() - back..];
    let occurs_again =
        |index: usize| recent[index] == key || recent[index + 1..].contains(&recent[index]);
    (0..recent.len()).any(occurs_again)
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|entry| (entry.game, entry.table));
        f.debug_tuple("Knowledge").field(&names.collect::<Vec<_>>()).finish()
    }
}
