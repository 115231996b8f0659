//! The ways of a piece that hops, where several lead to the same end.

use std::collections::HashMap;
use std::hash::Hash;

/// At most so many ways of one move are named: its path and eight others.
pub(crate) const MAX_PATHS: usize = 9;

/// The ways from `start` to `goal` with the fewest steps, at most `most` of them, in the order in which
/// `next` names the steps. None leads from a place to itself.
pub(crate) fn shortest_paths<S: Copy + Eq + Hash>(
    start: S,
    goal: S,
    most: usize,
    next: impl Fn(S) -> Vec<S>,
) -> Vec<Vec<S>> {
    // Breadth first: how far each place is, and from where it is first reached.
    let mut known: HashMap<S, (usize, Vec<S>)> = HashMap::from([(start, (0, Vec::new()))]);
    let mut level = vec![start];
    for far in 1.. {
        let mut reached = Vec::new();
        for place in level {
            for to in next(place) {
                match known.get_mut(&to) {
                    Some((steps, before)) if *steps == far => before.push(place),
                    Some(_) => {}
                    None => {
                        known.insert(to, (far, vec![place]));
                        reached.push(to);
                    }
                }
            }
        }
        if reached.is_empty() || known.contains_key(&goal) {
            break;
        }
        level = reached;
    }
    // Back from the goal.
    let mut ways = Vec::new();
    let mut open = vec![vec![goal]];
    while let Some(way) = open.pop() {
        let Some((_, before)) = way.last().and_then(|place| known.get(place)) else { continue };
        if before.is_empty() {
            ways.push(way.into_iter().rev().collect());
            if ways.len() == most {
                break;
            }
        } else {
            open.extend(before.iter().rev().map(|place| [&way[..], &[*place]].concat()));
        }
    }
    ways
}
