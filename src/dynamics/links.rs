//! Which velocity moves which body: the parent array of Featherstone, for bodies and for velocities.

use std::ops::Range;

use crate::model::Model;

/// Stands for "none" among parents.
pub(super) const NONE: usize = usize::MAX;

/// A body in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The body it hangs on, if that moves, else [`NONE`].
    pub parent: usize,
    /// First velocity of its joint.
    pub v: usize,
    /// How many velocities its joint has.
    pub nv: usize,
    /// The last velocity on the path from the root to the body, or [`NONE`].
    pub last: usize,
    /// Whether it moves.
    pub moves: bool,
    /// Whether it does and has a mass: what is prescribed has none.
    pub weighs: bool,
    /// How many of the first velocities of its joint are along axes fixed in the world (free joints: 3).
    /// The axes of all others move with the body.
    pub fixed_axes: usize,
}

impl Link {
    pub(super) fn range(&self) -> Range<usize> {
        self.v..self.v + self.nv
    }

    /// The velocities of its joint that are along axes fixed in the world.
    pub(super) fn fixed(&self) -> Range<usize> {
        self.v..self.v + self.fixed_axes
    }
}

/// The paths from the roots of all trees to the bodies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    pub bodies: Vec<Link>,
    /// The velocity before each on its path, or [`NONE`] (`Featherstone08`, section 6.4: the expanded
    /// parent array).
    pub parent: Vec<usize>,
    /// For each velocity where its path starts in `path`; one more at the end.
    pub start: Vec<usize>,
    /// For each velocity the path to the root: itself, its parent, the parent's parent and so on.
    pub path: Vec<usize>,
}

impl Links {
    /// Makes these the links of `model`; cheap if they are already.
    pub(super) fn fit(&mut self, model: &Model) {
        let mut changed = self.bodies.len() != model.bodies.len() || self.start.is_empty();
        if changed {
            self.bodies.clear();
        }
        for (i, body) in model.bodies.iter().enumerate() {
            let moving = |p: &usize| model.bodies[*p].tree.is_some();
            let parent = body.parent.filter(moving).unwrap_or(NONE);
            let (v, nv) = (body.joint.v, body.joint.kind.nv());
            let above = if parent == NONE { NONE } else { self.bodies[parent].last };
            let last = if nv > 0 { v + nv - 1 } else { above };
            let fixed_axes = if nv == 6 { 3 } else { 0 };
            let moves = body.tree.is_some();
            let weighs = moves && !body.joint.prescribed;
            let link = Link { parent, v, nv, last, moves, weighs, fixed_axes };
            match self.bodies.get_mut(i) {
                Some(known) => {
                    changed |= *known != link;
                    *known = link;
                }
                None => self.bodies.push(link),
            }
        }
        if changed {
            self.find_paths();
        }
    }

    fn find_paths(&mut self) {
        self.parent.clear();
        for link in &self.bodies {
            let above = if link.parent == NONE { NONE } else { self.bodies[link.parent].last };
            for k in link.range() {
                self.parent.push(if k == link.v { above } else { k - 1 });
            }
        }
        self.start.clear();
        self.path.clear();
        for k in 0..self.parent.len() {
            self.start.push(self.path.len());
            let mut j = k;
            while j != NONE {
                self.path.push(j);
                j = self.parent[j];
            }
        }
        self.start.push(self.path.len());
    }

    /// The velocity `k` and those before it, towards the root.
    #[inline]
    pub(super) fn path(&self, k: usize) -> &[usize] {
        &self.path[self.start[k]..self.start[k + 1]]
    }
}
