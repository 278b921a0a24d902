//! How fast the two sides of a contact move against each other, and how long they do.

use crate::ad::Real;
use crate::collision::ContactPoint;
use crate::dynamics::{FreeMotion, TreeMotion};
use crate::linalg::dot;

/// row . (the velocities of the trees of a point)
pub(super) fn along<'m, T: Real>(
    motion: &'m FreeMotion<T>,
    point: &ContactPoint<T>,
    row: &[T],
    velocity: impl Fn(TreeMotion<'m, T>) -> &'m [T],
) -> T {
    let mut sum = T::zero();
    let mut rest = row;
    for tree in distinct(point.trees(motion)) {
        let velocity = velocity(motion.tree(tree));
        let (own, others) = rest.split_at(velocity.len());
        sum += dot(own, velocity);
        rest = others;
    }
    sum
}

/// Both trees, or the one there is.
pub(super) fn distinct([first, second]: [Option<usize>; 2]) -> impl Iterator<Item = usize> {
    first.into_iter().chain(second.filter(|_| first != second))
}

/// The time that is left for a contact, s: the shorter of its trees' steps.
pub(super) fn duration<T: Real>(motion: &FreeMotion<T>, point: &ContactPoint<T>) -> T {
    let durations = distinct(point.trees(motion)).map(|tree| motion.duration(tree));
    durations.reduce(|a, b| if a.value() < b.value() { a } else { b }).unwrap_or(T::zero())
}
