//! Groups of trees that touch: only inside one do constraints act on each other.

/// The trees of each group and the constraints among them, both ascending; groups in the order of
/// their first trees. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Of each tree another of its group, or itself if it is the first.
    parents: Vec<usize>,
    /// Trees, group by group, and where each group starts.
    trees: Vec<usize>,
    tree_starts: Vec<usize>,
    constraints: Vec<usize>,
    starts: Vec<usize>,
    /// The group of each tree.
    groups: Vec<usize>,
    /// The place of each tree within its group.
    places: Vec<usize>,
    /// What stands for all guests, as a tree after all others, and for what ties them to trees, as constraints from there on.
    guests: Option<[usize; 2]>,
}

/// A group of trees that has constraints.
pub struct Island<'a> {
    /// The trees, ascending.
    pub trees: &'a [usize],
    /// Indices of constraints.
    pub constraints: &'a [usize],
    /// Whether guests are of it, which stand in neither list.
    pub has_guests: bool,
    places: &'a [usize],
}

impl Island<'_> {
    /// The place of a tree among [`trees`](Self::trees).
    pub(super) fn place(&self, tree: usize) -> usize {
        self.places[tree]
    }
}

impl Islands {
    /// Groups `trees` trees by their constraints: the index of each that is in force and its trees.
    pub fn group(
        &mut self,
        trees: usize,
        constraints: impl Iterator<Item = (usize, [Option<usize>; 2])> + Clone,
    ) {
        self.guests = None;
        self.divide(trees, constraints);
    }

    /// The same where guests touch the trees `links`. Indices of constraints are below `end`.
    pub fn group_with_guests(
        &mut self,
        trees: usize,
        constraints: impl Iterator<Item = (usize, [Option<usize>; 2])> + Clone,
        (links, end): (&[usize], usize),
    ) {
        self.guests = Some([trees, end]);
        let ties = links.iter().enumerate();
        let ties = ties.map(|(k, &tree)| (end + 1 + k, [Some(tree), Some(trees)]));
        let all = constraints.chain([(end, [None, Some(trees)])]).chain(ties);
        self.divide(trees + 1, all);
    }

    fn divide(
        &mut self,
        trees: usize,
        constraints: impl Iterator<Item = (usize, [Option<usize>; 2])> + Clone,
    ) {
        self.parents.clear();
        self.parents.extend(0..trees);
        for (_, sides) in constraints.clone() {
            if let [Some(a), Some(b)] = sides {
                let [a, b] = [a, b].map(|tree| find(&mut self.parents, tree));
                self.parents[a.max(b)] = a.min(b);
            }
        }
        self.groups.clear();
        let mut count = 0;
        for tree in 0..trees {
            let root = find(&mut self.parents, tree);
            let group = if root == tree {
                count += 1;
                count - 1
            } else {
                self.groups[root]
            };
            self.groups.push(group);
        }
        let of_tree = |tree: usize| self.groups[tree];
        let all = (0..trees).map(|tree| (tree, of_tree(tree)));
        sort_by_group(count, all, &mut self.trees, &mut self.tree_starts);
        let of_constraint = constraints.filter_map(|(k, [first, second])| {
            let tree = first.or(second)?;
            Some((k, of_tree(tree)))
        });
        sort_by_group(count, of_constraint, &mut self.constraints, &mut self.starts);
        self.places.clear();
        self.places.resize(trees, 0);
        for group in 0..count {
            let range = self.tree_starts[group]..self.tree_starts[group + 1];
            for (place, &tree) in self.trees[range].iter().enumerate() {
                self.places[tree] = place;
            }
        }
    }

    /// Copies those of another step.
    pub fn keep(&mut self, other: &Islands) {
        self.trees.clone_from(&other.trees);
        self.tree_starts.clone_from(&other.tree_starts);
        self.constraints.clone_from(&other.constraints);
        self.starts.clone_from(&other.starts);
        self.places.clone_from(&other.places);
        self.guests = other.guests;
    }

    /// The groups that have constraints.
    pub fn iter(&self) -> impl Iterator<Item = Island<'_>> + Clone {
        let ranges = self.tree_starts.windows(2).zip(self.starts.windows(2));
        ranges.filter(|(_, own)| own[0] < own[1]).map(|(trees, own)| {
            let (mut trees, mut constraints) =
                (&self.trees[trees[0]..trees[1]], &self.constraints[own[0]..own[1]]);
            let mut has_guests = false;
            // Both are ascending: what stands for guests comes last.
            if let Some([guests, end]) = self.guests
                && trees.last() == Some(&guests)
            {
                has_guests = true;
                trees = &trees[..trees.len() - 1];
                constraints = &constraints[..constraints.partition_point(|&k| k < end)];
            }
            Island { trees, constraints, has_guests, places: &self.places }
        })
    }
}

/// The first tree of a group; halves the way there for the next time.
fn find(parents: &mut [usize], mut tree: usize) -> usize {
    while parents[tree] != tree {
        parents[tree] = parents[parents[tree]];
        tree = parents[tree];
    }
    tree
}

/// Sorts items by group, in the order they come, by counting.
fn sort_by_group(
    groups: usize,
    items: impl Iterator<Item = (usize, usize)> + Clone,
    sorted: &mut Vec<usize>,
    starts: &mut Vec<usize>,
) {
    starts.clear();
    starts.resize(groups + 1, 0);
    for (_, group) in items.clone() {
        starts[group + 1] += 1;
    }
    for group in 0..groups {
        starts[group + 1] += starts[group];
    }
    sorted.clear();
    sorted.resize(starts[groups], 0);
    // Moves each start to the end of its group, which is the start of the next.
    for (item, group) in items {
        sorted[starts[group]] = item;
        starts[group] += 1;
    }
    starts.rotate_right(1);
    starts[0] = 0;
}
