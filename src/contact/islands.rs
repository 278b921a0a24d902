//! Groups of bodies that touch: only inside one do contacts act on each other.

use crate::ad::Real;
use crate::collision::ContactPoint;

/// The bodies of each group and the contact points among them, both ascending; groups in the order of
/// their first bodies. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Of each body another of its group, or itself if it is the first.
    parents: Vec<usize>,
    /// Bodies, group by group, and where each group starts.
    bodies: Vec<usize>,
    body_starts: Vec<usize>,
    points: Vec<usize>,
    point_starts: Vec<usize>,
    /// The group of each body.
    groups: Vec<usize>,
    /// The place of each body within its group.
    places: Vec<usize>,
}

/// A group of bodies that has contacts.
pub struct Island<'a> {
    /// The bodies, ascending.
    pub bodies: &'a [usize],
    /// Indices of contact points.
    pub points: &'a [usize],
    places: &'a [usize],
}

impl Island<'_> {
    /// The place of a body among [`bodies`](Self::bodies).
    pub(super) fn place(&self, body: usize) -> usize {
        self.places[body]
    }
}

impl Islands {
    /// Groups `bodies` bodies by their near points.
    pub fn group<T: Real>(&mut self, bodies: usize, points: &[ContactPoint<T>]) {
        self.parents.clear();
        self.parents.extend(0..bodies);
        for point in points.iter().filter(|point| point.near) {
            let mut roots = point.bodies().map(|body| find(&mut self.parents, body));
            if let (Some(a), Some(b)) = (roots.next(), roots.next()) {
                drop(roots);
                self.parents[a.max(b)] = a.min(b);
            }
        }
        self.groups.clear();
        let mut count = 0;
        for body in 0..bodies {
            let root = find(&mut self.parents, body);
            let group = if root == body {
                count += 1;
                count - 1
            } else {
                self.groups[root]
            };
            self.groups.push(group);
        }
        let of_body = |body: usize| self.groups[body];
        sort_by_group(
            count,
            (0..bodies).map(|b| (b, of_body(b))),
            &mut self.bodies,
            &mut self.body_starts,
        );
        let near = points.iter().enumerate().filter(|(_, point)| point.near);
        let of_point = near.map(|(k, point)| (k, of_body(point.second)));
        sort_by_group(count, of_point, &mut self.points, &mut self.point_starts);
        self.places.clear();
        self.places.resize(bodies, 0);
        for group in 0..count {
            let range = self.body_starts[group]..self.body_starts[group + 1];
            for (place, &body) in self.bodies[range].iter().enumerate() {
                self.places[body] = place;
            }
        }
    }

    /// The groups that have contacts.
    pub fn iter(&self) -> impl Iterator<Item = Island<'_>> {
        let ranges = self.body_starts.windows(2).zip(self.point_starts.windows(2));
        ranges.filter(|(_, points)| points[0] < points[1]).map(|(bodies, points)| Island {
            bodies: &self.bodies[bodies[0]..bodies[1]],
            points: &self.points[points[0]..points[1]],
            places: &self.places,
        })
    }
}

/// The first body of a group; halves the way there for the next time.
fn find(parents: &mut [usize], mut body: usize) -> usize {
    while parents[body] != body {
        parents[body] = parents[parents[body]];
        body = parents[body];
    }
    body
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
