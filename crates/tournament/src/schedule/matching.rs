//! Perfect matchings in any graph: Edmonds' blossom algorithm, begun from a matching that is there.

use std::collections::VecDeque;

/// Nobody.
const NONE: usize = usize::MAX;

/// Completes a matching of the `vertices` by the edges that are allowed, changing as few of the pairs
/// at the start as the paths happen to need; none if no perfect matching exists.
pub(super) fn complete(
    vertices: &[usize],
    start: Vec<[usize; 2]>,
    allows: impl Fn(usize, usize) -> bool,
) -> Option<Vec<[usize; 2]>> {
    let size = vertices.iter().max().map_or(0, |most| most + 1);
    let mut search = Search {
        vertices,
        allows,
        mate: vec![NONE; size],
        parent: vec![NONE; size],
        base: vec![NONE; size],
        is_even: vec![false; size],
        queue: VecDeque::new(),
    };
    for [one, other] in start {
        (search.mate[one], search.mate[other]) = (other, one);
    }
    // Those at the end of the order are moved rather than those at its beginning.
    for &root in vertices.iter().rev() {
        if search.mate[root] == NONE && !search.augment(root) {
            return None;
        }
    }
    let mate = search.mate;
    let mut is_taken = vec![false; size];
    let mut pairs = Vec::new();
    for &one in vertices {
        let other = mate[one];
        if !is_taken[one] {
            (is_taken[one], is_taken[other]) = (true, true);
            pairs.push([one, other]);
        }
    }
    Some(pairs)
}

struct Search<'a, F> {
    vertices: &'a [usize],
    allows: F,
    mate: Vec<usize>,
    /// The way back to the root, for odd vertices and those inside blossoms.
    parent: Vec<usize>,
    /// The base of the blossom that a vertex is in.
    base: Vec<usize>,
    is_even: Vec<bool>,
    queue: VecDeque<usize>,
}

impl<F: Fn(usize, usize) -> bool> Search<'_, F> {
    /// Finds a path from an unmatched vertex to another and matches along it.
    fn augment(&mut self, root: usize) -> bool {
        self.parent.fill(NONE);
        self.is_even.fill(false);
        for vertex in 0..self.base.len() {
            self.base[vertex] = vertex;
        }
        self.is_even[root] = true;
        self.queue.clear();
        self.queue.push_back(root);
        while let Some(one) = self.queue.pop_front() {
            for &other in self.vertices {
                let is_new = self.base[one] != self.base[other] && self.mate[one] != other;
                if other == one || !is_new || !(self.allows)(one, other) {
                    continue;
                }
                let mate = self.mate[other];
                if other == root || mate != NONE && self.parent[mate] != NONE {
                    self.contract(one, other);
                } else if self.parent[other] == NONE {
                    self.parent[other] = one;
                    if mate == NONE {
                        self.flip(other);
                        return true;
                    }
                    self.is_even[mate] = true;
                    self.queue.push_back(mate);
                }
            }
        }
        false
    }

    /// Matches along the path that ends at a vertex.
    fn flip(&mut self, mut vertex: usize) {
        while vertex != NONE {
            let before = self.parent[vertex];
            let next = self.mate[before];
            (self.mate[vertex], self.mate[before]) = (before, vertex);
            vertex = next;
        }
    }

    /// Makes one vertex of the odd circle that an edge closes.
    fn contract(&mut self, one: usize, other: usize) {
        let base = self.common_base(one, other);
        let mut is_inside = vec![false; self.base.len()];
        self.mark(one, base, other, &mut is_inside);
        self.mark(other, base, one, &mut is_inside);
        for &vertex in self.vertices {
            if is_inside[self.base[vertex]] {
                self.base[vertex] = base;
                if !self.is_even[vertex] {
                    self.is_even[vertex] = true;
                    self.queue.push_back(vertex);
                }
            }
        }
    }

    fn common_base(&self, one: usize, other: usize) -> usize {
        let mut is_above = vec![false; self.base.len()];
        let mut at = one;
        loop {
            at = self.base[at];
            is_above[at] = true;
            if self.mate[at] == NONE {
                break;
            }
            at = self.parent[self.mate[at]];
        }
        at = other;
        loop {
            at = self.base[at];
            if is_above[at] {
                return at;
            }
            at = self.parent[self.mate[at]];
        }
    }

    fn mark(&mut self, mut vertex: usize, base: usize, mut child: usize, is_inside: &mut [bool]) {
        while self.base[vertex] != base {
            let mate = self.mate[vertex];
            is_inside[self.base[vertex]] = true;
            is_inside[self.base[mate]] = true;
            self.parent[vertex] = child;
            child = mate;
            vertex = self.parent[mate];
        }
    }
}
