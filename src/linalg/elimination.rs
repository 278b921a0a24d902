//! In which order to eliminate the blocks of a sparse symmetric pattern, and where that fills in: minimum degree
//! (`George81` 5, `Davis06` 7.1).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The pattern of a block matrix and of its factors, decided once for a graph: rows and columns come in nodes (trees of
/// bodies) of some velocities each, and what couples two of them (contacts) is an edge. Reused, it allocates nothing.
#[derive(Debug, Default)]
pub struct Elimination {
    /// How many rows each node has, and the first of them.
    sizes: Vec<usize>,
    firsts: Vec<usize>,
    rows: usize,
    /// What it was made for.
    edges: Vec<[usize; 2]>,
    /// The nodes in the order in which they are eliminated, and the place of each in it.
    order: Vec<usize>,
    places: Vec<usize>,
    /// Of each place where its later neighbours start, and those, ascending, as places.
    starts: Vec<usize>,
    later: Vec<usize>,
    /// Of each place, and of each of its later neighbours, where the entries of the block start.
    diagonals: Vec<usize>,
    blocks: Vec<usize>,
    diagonal_entries: usize,
    block_entries: usize,
    memory: Memory,
}

/// Scratch memory.
#[derive(Debug, Default)]
struct Memory {
    neighbours: Vec<Vec<usize>>,
    merged: Vec<usize>,
    queue: BinaryHeap<Reverse<(usize, usize)>>,
}

// By hand: the derived `clone_from` drops the memory it has.
impl Clone for Elimination {
    fn clone(&self) -> Self {
        let mut clone = Elimination::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        for (own, other) in [
            (&mut self.sizes, &other.sizes),
            (&mut self.firsts, &other.firsts),
            (&mut self.order, &other.order),
            (&mut self.places, &other.places),
            (&mut self.starts, &other.starts),
            (&mut self.later, &other.later),
            (&mut self.diagonals, &other.diagonals),
            (&mut self.blocks, &other.blocks),
        ] {
            own.clone_from(other);
        }
        self.edges.clone_from(&other.edges);
        self.rows = other.rows;
        (self.diagonal_entries, self.block_entries) = (other.diagonal_entries, other.block_entries);
    }
}

impl Elimination {
    /// Decides the pattern of a matrix whose nodes have `sizes` rows and are coupled by `edges`, unless that is what was
    /// decided last. An edge may come more than once, and from a node to itself.
    pub fn decide(
        &mut self,
        sizes: impl Iterator<Item = usize> + Clone,
        edges: impl Iterator<Item = [usize; 2]> + Clone,
    ) {
        if sizes.clone().eq(self.sizes.iter().copied())
            && edges.clone().eq(self.edges.iter().copied())
        {
            return;
        }
        self.sizes.clear();
        self.sizes.extend(sizes);
        self.edges.clear();
        self.edges.extend(edges);
        self.eliminate();
        for place in 0..self.order.len() {
            let range = self.starts[place]..self.starts[place + 1];
            for other in &mut self.later[range.clone()] {
                *other = self.places[*other];
            }
            self.later[range].sort_unstable();
        }
        self.lay_out();
    }

    /// The same order and pattern as `other`, where the node at each place has `extra` rows more.
    pub fn enlarge(&mut self, other: &Elimination, extra: impl Fn(usize) -> usize) {
        self.clone_from(other);
        // It is that of no list of edges.
        self.edges.clear();
        for (&node, place) in self.order.iter().zip(0..) {
            self.sizes[node] += extra(place);
        }
        self.lay_out();
    }

    /// The order, by least degree, and the neighbours that are left at each elimination.
    fn eliminate(&mut self) {
        let nodes = self.sizes.len();
        let Memory { neighbours, merged, queue } = &mut self.memory;
        // Never fewer, so that the lists keep their memory.
        neighbours.resize_with(nodes.max(neighbours.len()), Vec::new);
        neighbours.iter_mut().for_each(Vec::clear);
        for &[a, b] in self.edges.iter().filter(|[a, b]| a != b) {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        queue.clear();
        for (node, list) in neighbours.iter_mut().enumerate().take(nodes) {
            list.sort_unstable();
            list.dedup();
            queue.push(Reverse((degree(list, &self.sizes), node)));
        }
        self.order.clear();
        self.places.clear();
        self.places.resize(nodes, usize::MAX);
        self.starts.clear();
        self.later.clear();
        while let Some(Reverse((seen, node))) = queue.pop() {
            // Degrees change; what was queued with an older one comes again.
            if self.places[node] != usize::MAX || seen != degree(&neighbours[node], &self.sizes) {
                continue;
            }
            self.places[node] = self.order.len();
            self.order.push(node);
            self.starts.push(self.later.len());
            let clique = std::mem::take(&mut neighbours[node]);
            for &other in &clique {
                merge(&neighbours[other], &clique, [node, other], merged);
                // Copied, so that each list keeps its own memory.
                neighbours[other].clone_from(merged);
                queue.push(Reverse((degree(&neighbours[other], &self.sizes), other)));
            }
            self.later.extend_from_slice(&clique);
            neighbours[node] = clique;
        }
        self.starts.push(self.later.len());
    }

    /// Where rows and entries stand.
    fn lay_out(&mut self) {
        self.firsts.clear();
        self.rows = 0;
        for &size in &self.sizes {
            self.firsts.push(self.rows);
            self.rows += size;
        }
        self.diagonals.clear();
        self.blocks.clear();
        (self.diagonal_entries, self.block_entries) = (0, 0);
        for place in 0..self.order.len() {
            let size = self.size(place);
            self.diagonals.push(self.diagonal_entries);
            self.diagonal_entries += size * size;
            for k in self.starts[place]..self.starts[place + 1] {
                self.blocks.push(self.block_entries);
                self.block_entries += size * self.size(self.later[k]);
            }
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many nodes.
    pub fn nodes(&self) -> usize {
        self.order.len()
    }

    /// How many rows the node at `place` has.
    pub fn size(&self, place: usize) -> usize {
        self.sizes[self.order[place]]
    }

    /// Its rows in vectors.
    pub fn range(&self, place: usize) -> std::ops::Range<usize> {
        let first = self.firsts[self.order[place]];
        first..first + self.size(place)
    }

    /// The place of a node in the order.
    pub fn place(&self, node: usize) -> usize {
        self.places[node]
    }

    /// The places that are coupled to `place` when it is eliminated, ascending, each with where the entries of the block
    /// of both start.
    pub fn later(&self, place: usize) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        let range = self.starts[place]..self.starts[place + 1];
        self.later[range.clone()].iter().copied().zip(self.blocks[range].iter().copied())
    }

    /// The rows of `place` and of the places that are coupled to it when it is eliminated: each its place, and which
    /// it is in vectors.
    pub fn columns(&self, place: usize) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        let later = self.later[self.starts[place]..self.starts[place + 1]].iter().copied();
        std::iter::once(place)
            .chain(later)
            .flat_map(|place| self.range(place).map(move |row| (place, row)))
    }

    /// Where the entries of the diagonal block of `place` start.
    pub fn diagonal(&self, place: usize) -> usize {
        self.diagonals[place]
    }

    /// Where the entries of the block of two places start, the earlier first.
    pub fn block(&self, earlier: usize, later: usize) -> Option<usize> {
        let range = self.starts[earlier]..self.starts[earlier + 1];
        let at = self.later[range.clone()].binary_search(&later).ok()?;
        Some(self.blocks[range.start + at])
    }

    /// How many entries all diagonal blocks and all others (on one side) have.
    pub fn entries(&self) -> (usize, usize) {
        (self.diagonal_entries, self.block_entries)
    }
}

/// How many rows the neighbours have.
fn degree(neighbours: &[usize], sizes: &[usize]) -> usize {
    neighbours.iter().map(|&node| sizes[node]).sum()
}

/// The union of two ascending lists without two nodes.
fn merge(a: &[usize], b: &[usize], without: [usize; 2], merged: &mut Vec<usize>) {
    merged.clear();
    let (mut i, mut k) = (0, 0);
    while i < a.len() || k < b.len() {
        let (x, y) = (a.get(i).copied(), b.get(k).copied());
        let next = match (x, y) {
            (Some(x), Some(y)) => x.min(y),
            (x, y) => x.or(y).unwrap_or_default(),
        };
        i += usize::from(x == Some(next));
        k += usize::from(y == Some(next));
        if !without.contains(&next) {
            merged.push(next);
        }
    }
}
