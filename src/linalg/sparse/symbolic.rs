//! The fronts of a sparse factorisation: which nodes are eliminated together, and what they are coupled to then
//! (`Davis06` 4, `Duff83`).

use super::block_matrix::BlockPattern;
use super::ordering::fill_reducing;

/// How a pattern of blocks is factorised, decided once.
#[derive(Clone, Debug, Default)]
pub struct Symbolic {
    /// The node at each place, and the place of each node.
    pub(super) order: Vec<usize>,
    pub(super) places: Vec<usize>,
    /// In the order of their elimination; then that of the nodes which are not eliminated.
    pub(super) fronts: Vec<Front>,
    /// How many nodes, the last, are not eliminated.
    pub(super) kept: usize,
}

/// Nodes that are eliminated together.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    /// The first place, and how many.
    pub first: usize,
    pub columns: usize,
    /// The later places that are coupled to them, ascending.
    pub rows: Vec<usize>,
    /// How many fronts before it hand over to it.
    pub children: usize,
    /// Where each of `rows` is among the columns and rows of the front that this one hands over to.
    pub targets: Vec<usize>,
    /// The blocks of the matrix that start here: row and column in the front, row not less than column; which block it is,
    /// and which is transposed to it.
    pub entries: Vec<[usize; 4]>,
}

impl Front {
    /// Columns and rows, in nodes.
    pub fn size(&self) -> usize {
        self.columns + self.rows.len()
    }

    /// Where a place is among its columns and rows.
    fn position(&self, place: usize) -> usize {
        match place < self.first + self.columns {
            true => place - self.first,
            false => self.columns + self.rows.binary_search(&place).unwrap_or_default(),
        }
    }
}

impl Symbolic {
    /// Of a pattern, of which the nodes in `last` are not eliminated.
    pub fn new(pattern: &BlockPattern, last: &[usize]) -> Self {
        let mut order = fill_reducing(pattern, last);
        let kept = last.len();
        let eliminated = order.len() - kept;
        let parents = elimination_tree(pattern, &order, eliminated);
        let post = postorder(&parents);
        let first: Vec<usize> = post.iter().map(|&place| order[place]).collect();
        order[..eliminated].copy_from_slice(&first);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &node)| places[node] = place);
        let mut symbolic = Symbolic { order, places, fronts: Vec::new(), kept };
        symbolic.find_fronts(pattern, eliminated);
        symbolic.connect(pattern);
        symbolic
    }

    /// The nodes that are not eliminated, in their order.
    pub fn kept_nodes(&self) -> &[usize] {
        &self.order[self.order.len() - self.kept..]
    }

    /// How many blocks the lower half of the factor has.
    pub fn fill(&self) -> usize {
        let of = |front: &Front| {
            front.columns * (front.columns + 1) / 2 + front.columns * front.rows.len()
        };
        self.fronts.iter().map(of).sum()
    }

    /// The columns of the factor, those with nearly the same rows put together.
    fn find_fronts(&mut self, pattern: &BlockPattern, eliminated: usize) {
        // Fronts found, each with how many of its blocks are not zero; of each place those that are handed to it.
        let mut found: Vec<(Front, usize)> = Vec::new();
        let mut handed: Vec<Vec<usize>> = vec![Vec::new(); self.order.len()];
        for place in 0..eliminated {
            let neighbours = pattern.row(self.order[place]).map(|(node, _)| self.places[node]);
            let mut rows: Vec<usize> = neighbours.filter(|&other| other > place).collect();
            for given in std::mem::take(&mut handed[place]) {
                // The rows of the column that handed over, wherever it was put.
                let at = found.partition_point(|(front, _)| front.first + front.columns <= given);
                let (front, _) = &found[at];
                rows.extend((given + 1..front.first + front.columns).filter(|&row| row > place));
                rows.extend(front.rows.iter().copied().filter(|&row| row > place));
            }
            rows.sort_unstable();
            rows.dedup();
            if let Some(&parent) = rows.first() {
                handed[parent].push(place);
            }
            let nonzero = 1 + rows.len();
            found.push((Front { first: place, columns: 1, rows, ..Front::default() }, nonzero));
            while merge_last(&mut found) {}
        }
        self.fronts = found.into_iter().map(|(front, _)| front).collect();
        self.fronts.push(Front { first: eliminated, columns: self.kept, ..Front::default() });
    }

    /// Which front hands over to which, and where the matrix is read.
    fn connect(&mut self, pattern: &BlockPattern) {
        for k in 0..self.fronts.len() {
            if let Some(&place) = self.fronts[k].rows.first() {
                let to = self.front_of(place);
                self.fronts[to].children += 1;
                let target = &self.fronts[to];
                let targets = self.fronts[k].rows.iter().map(|&row| target.position(row)).collect();
                self.fronts[k].targets = targets;
            }
            let front = &self.fronts[k];
            let mut entries = Vec::new();
            for place in front.first..front.first + front.columns {
                let node = self.order[place];
                for (other, block) in pattern.row(node) {
                    let later = self.places[other];
                    if later >= place {
                        let mirror = pattern.find(other, node).unwrap_or(block);
                        let (row, column) = (front.position(later), place - front.first);
                        entries.push([row, column, block, mirror]);
                    }
                }
            }
            self.fronts[k].entries = entries;
        }
    }

    fn front_of(&self, place: usize) -> usize {
        self.fronts.partition_point(|front| front.first + front.columns <= place)
    }
}

/// Puts the last two fronts into one, if the first hands over to the second and few zeros are then taken for numbers.
fn merge_last(found: &mut Vec<(Front, usize)>) -> bool {
    let [.., (before, nonzero), (last, more)] = found.as_slice() else { return false };
    if before.rows.first().is_none_or(|&to| to >= last.first + last.columns) {
        return false;
    }
    let (columns, nonzero) = (before.columns + last.columns, nonzero + more);
    let blocks = columns * (columns + 1) / 2 + columns * last.rows.len();
    // Few columns are soon done with zeros and all.
    let share = match columns {
        0..=4 => 0.5,
        5..=16 => 0.2,
        _ => 0.05,
    };
    if (blocks - nonzero) as f64 > share * blocks as f64 {
        return false;
    }
    if let (Some((last, more)), Some((before, before_nonzero))) = (found.pop(), found.last_mut()) {
        *before_nonzero += more;
        before.columns = columns;
        before.rows = last.rows;
    }
    true
}

/// The least later place that each of the eliminated is coupled to when it is eliminated (`Davis06` 4.1).
fn elimination_tree(
    pattern: &BlockPattern,
    order: &[usize],
    eliminated: usize,
) -> Vec<Option<usize>> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &node)| places[node] = place);
    let mut parents = vec![None; eliminated];
    let mut ancestors: Vec<Option<usize>> = vec![None; eliminated];
    for (place, &own) in order[..eliminated].iter().enumerate() {
        for (node, _) in pattern.row(own) {
            let mut next = Some(places[node]);
            while let Some(at) = next.filter(|&at| at < place) {
                next = ancestors[at].replace(place);
                if next.is_none() {
                    parents[at] = Some(place);
                }
            }
        }
    }
    parents
}

/// All children before their parent, those of one parent one after the other.
fn postorder(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    let mut stack = Vec::new();
    for (place, parent) in parents.iter().enumerate().rev() {
        match parent {
            Some(parent) => children[*parent].push(place),
            None => stack.push(place),
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    // A place is on the stack again, behind its children.
    let mut open = vec![false; parents.len()];
    while let Some(place) = stack.pop() {
        if open[place] || children[place].is_empty() {
            order.push(place);
            continue;
        }
        open[place] = true;
        stack.push(place);
        stack.append(&mut children[place]);
    }
    order
}
