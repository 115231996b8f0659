//! The shortest paths of a move, where several lead to the same end.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns the paths from `start` to `goal` with the fewest steps, at most `limit` of them, in the
/// order in which `next` lists the steps. No step may lead from a node to itself.
pub(crate) fn shortest_paths<S: Copy + Eq + Hash>(
    start: S,
    goal: S,
    limit: usize,
    next: impl Fn(S) -> Vec<S>,
) -> Vec<Vec<S>> {
    // Breadth-first search: the distance of each node, and its predecessors at that distance.
    let mut nodes: HashMap<S, (usize, Vec<S>)> = HashMap::from([(start, (0, Vec::new()))]);
    let mut level = vec![start];
    for distance in 1.. {
        let mut reached = Vec::new();
        for from in level {
            for to in next(from) {
                match nodes.get_mut(&to) {
                    Some((steps, predecessors)) if *steps == distance => predecessors.push(from),
                    Some(_) => {}
                    None => {
                        nodes.insert(to, (distance, vec![from]));
                        reached.push(to);
                    }
                }
            }
        }
        if reached.is_empty() || nodes.contains_key(&goal) {
            break;
        }
        level = reached;
    }
    // Walk back from the goal.
    let mut paths = Vec::new();
    let mut open = vec![vec![goal]];
    while let Some(path) = open.pop() {
        let Some((_, predecessors)) = path.last().and_then(|node| nodes.get(node)) else {
            continue;
        };
        if predecessors.is_empty() {
            paths.push(path.into_iter().rev().collect());
            if paths.len() == limit {
                break;
            }
        } else {
            open.extend(predecessors.iter().rev().map(|node| [&path[..], &[*node]].concat()));
        }
    }
    paths
}
