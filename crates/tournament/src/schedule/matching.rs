//! Perfect matching in a general graph: Edmonds' blossom algorithm, starting from a given matching.

use std::collections::VecDeque;

/// No vertex.
const NONE: usize = usize::MAX;

/// Completes a matching of `vertices` using the edges that `allows` accepts, and keeps the initial
/// pairs unless an augmenting path changes them; `None` if there is no perfect matching.
pub(super) fn complete_matching(
    vertices: &[usize],
    initial: Vec<[usize; 2]>,
    allows: impl Fn(usize, usize) -> bool,
) -> Option<Vec<[usize; 2]>> {
    let size = vertices.iter().max().map_or(0, |max| max + 1);
    let mut search = BlossomSearch {
        vertices,
        allows,
        mate: vec![NONE; size],
        parent: vec![NONE; size],
        base: vec![NONE; size],
        is_even: vec![false; size],
        queue: VecDeque::new(),
    };
    for [a, b] in initial {
        (search.mate[a], search.mate[b]) = (b, a);
    }
    // From the end, so that the pairs of the first vertices change least.
    for &root in vertices.iter().rev() {
        if search.mate[root] == NONE && !search.augment(root) {
            return None;
        }
    }
    let mate = search.mate;
    let mut is_paired = vec![false; size];
    let mut pairs = Vec::new();
    for &vertex in vertices {
        if !is_paired[vertex] {
            let partner = mate[vertex];
            (is_paired[vertex], is_paired[partner]) = (true, true);
            pairs.push([vertex, partner]);
        }
    }
    Some(pairs)
}

struct BlossomSearch<'a, F> {
    vertices: &'a [usize],
    allows: F,
    mate: Vec<usize>,
    /// Predecessor on the path to the root, for odd vertices and those inside blossoms.
    parent: Vec<usize>,
    /// Base of the blossom that contains a vertex.
    base: Vec<usize>,
    is_even: Vec<bool>,
    queue: VecDeque<usize>,
}

impl<F: Fn(usize, usize) -> bool> BlossomSearch<'_, F> {
    /// Finds an augmenting path from an unmatched vertex and applies it.
    fn augment(&mut self, root: usize) -> bool {
        self.parent.fill(NONE);
        self.is_even.fill(false);
        for vertex in 0..self.base.len() {
            self.base[vertex] = vertex;
        }
        self.is_even[root] = true;
        self.queue.clear();
        self.queue.push_back(root);
        while let Some(a) = self.queue.pop_front() {
            for &b in self.vertices {
                let is_new = self.base[a] != self.base[b] && self.mate[a] != b;
                if b == a || !is_new || !(self.allows)(a, b) {
                    continue;
                }
                let mate = self.mate[b];
                if b == root || mate != NONE && self.parent[mate] != NONE {
                    self.contract(a, b);
                } else if self.parent[b] == NONE {
                    self.parent[b] = a;
                    if mate == NONE {
                        self.flip(b);
                        return true;
                    }
                    self.is_even[mate] = true;
                    self.queue.push_back(mate);
                }
            }
        }
        false
    }

    /// Flips the matching along the path that ends at a vertex.
    fn flip(&mut self, mut vertex: usize) {
        while vertex != NONE {
            let previous = self.parent[vertex];
            let next = self.mate[previous];
            (self.mate[vertex], self.mate[previous]) = (previous, vertex);
            vertex = next;
        }
    }

    /// Contracts the blossom (odd cycle) that the edge between `a` and `b` closes.
    fn contract(&mut self, a: usize, b: usize) {
        let base = self.common_base(a, b);
        let mut is_inside = vec![false; self.base.len()];
        self.mark_path(a, base, b, &mut is_inside);
        self.mark_path(b, base, a, &mut is_inside);
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

    /// Returns the lowest common ancestor of the bases of two vertices.
    fn common_base(&self, a: usize, b: usize) -> usize {
        let mut is_ancestor = vec![false; self.base.len()];
        let mut vertex = a;
        loop {
            vertex = self.base[vertex];
            is_ancestor[vertex] = true;
            if self.mate[vertex] == NONE {
                break;
            }
            vertex = self.parent[self.mate[vertex]];
        }
        vertex = b;
        loop {
            vertex = self.base[vertex];
            if is_ancestor[vertex] {
                return vertex;
            }
            vertex = self.parent[self.mate[vertex]];
        }
    }

    /// Marks the blossoms on the path from a vertex to the base, and links the path in reverse.
    fn mark_path(
        &mut self,
        mut vertex: usize,
        base: usize,
        mut child: usize,
        is_inside: &mut [bool],
    ) {
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
