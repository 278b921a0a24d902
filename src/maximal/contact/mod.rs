//! What may touch what: gaps, and the rows of J_C, whose products with velocities are those along the normal (the rate of the
//! gap) and along tangents (`Zhong21` (S.8)). A file a kind of contact.

mod bend;
mod disks;
mod rim_wall;
mod stretch;
mod tangents;
mod wall;

use super::point_layout::PointLayout;
use super::point_rows::PointRows;
use crate::ad::Real;

pub use wall::Wall;

/// A contact that there may be.
#[derive(Clone, Debug, PartialEq)]
pub struct PointContact {
    /// Between what.
    pub geometry: Geometry,
    /// Whose friction and restitution it has: an index of those in [`PointParameters`](super::PointParameters).
    pub surface: usize,
}

/// Between what a contact is. It is active where its gap is negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// The disks or balls of two bodies.
    Disks([usize; 2]),
    /// The disk or ball of a body, and a wall.
    DiskWall {
        /// The body.
        body: usize,
        /// The wall.
        wall: Wall,
    },
    /// The point of a rim deepest in a wall.
    RimWall {
        /// The body, which has axes.
        body: usize,
        /// Points of its rim in the frame of its first two axes (m).
        rim: Vec<[f64; 2]>,
        /// The wall.
        wall: Wall,
    },
    /// A bend between two segments that must not exceed `limit` (rad) to either side: planar. Its tangents are its rows turned by a
    /// right angle, as in `Zhong21`.
    Bend {
        /// Ends of the two segments, one after the other; the first is a place in the world where it is none.
        points: [Option<usize>; 3],
        /// The world's place, for a first point that is none (m).
        anchor: [f64; 3],
        /// The largest bend (rad).
        limit: f64,
    },
    /// A length that must stay within limits: planar. Tangents as of a bend.
    Stretch {
        /// From and to; from a place in the world where it is none.
        points: [Option<usize>; 2],
        /// The world's place (m).
        anchor: [f64; 3],
        /// Least and largest length (m).
        range: [f64; 2],
    },
}

impl Geometry {
    /// The gap at `x`, and its rows appended to `rows`: the normal, then tangents.
    pub(super) fn rows<T: Real>(
        &self,
        layout: &PointLayout,
        x: &[T],
        rows: &mut PointRows<T>,
    ) -> T {
        match self {
            Geometry::Disks(bodies) => disks::rows(layout, *bodies, x, rows),
            Geometry::DiskWall { body, wall } => wall::rows(layout, *body, wall, x, rows),
            Geometry::RimWall { body, rim, wall } => {
                rim_wall::rows(layout, *body, rim, wall, x, rows)
            }
            Geometry::Bend { points, anchor, limit } => {
                bend::rows(*points, *anchor, *limit, x, rows)
            }
            Geometry::Stretch { points, anchor, range } => {
                stretch::rows(*points, *anchor, *range, x, rows)
            }
        }
    }

    /// The gap alone.
    pub(super) fn gap(&self, layout: &PointLayout, x: &[f64]) -> f64 {
        match self {
            Geometry::Disks(bodies) => disks::gap(layout, *bodies, x),
            Geometry::DiskWall { body, wall } => wall::gap(layout, *body, wall, x),
            Geometry::RimWall { body, rim, wall } => {
                rim_wall::deepest(layout, *body, rim, wall, x).1
            }
            Geometry::Bend { points, anchor, limit } => {
                limit - bend::angle(*points, *anchor, x).abs()
            }
            Geometry::Stretch { points, anchor, range: [least, most] } => {
                let length = stretch::length(*points, *anchor, x);
                (most - length).min(length - least)
            }
        }
    }

    pub(super) fn check(&self, layout: &PointLayout) -> Result<(), String> {
        let (dimension, points, bodies) = (layout.dimension(), layout.points(), layout.bodies());
        let body = |k: usize| bodies.get(k).ok_or(format!("there is no body {k}"));
        let disk = |k: usize| match body(k)?.radius {
            0.0 => Err(format!("body {k} has no radius")),
            _ => Ok(()),
        };
        let held = |named: &[Option<usize>]| match named.iter().flatten().find(|&&p| p >= points) {
            Some(p) => Err(format!("there is no point {p}")),
            None if dimension != 2 => Err("limits of bends and lengths are planar".into()),
            None => Ok(()),
        };
        match self {
            Geometry::Disks([i, j]) if i == j => Err(format!("of body {i} with itself")),
            Geometry::Disks([i, j]) => disk(*i).and_then(|()| disk(*j)),
            Geometry::DiskWall { body, wall } => disk(*body).and_then(|()| wall.check(dimension)),
            Geometry::RimWall { body: k, rim, wall } => {
                if body(*k)?.axes < 2 {
                    return Err(format!("body {k} has no axes, in whose plane its rim would be"));
                }
                if rim.is_empty() || rim.iter().flatten().any(|x| !x.is_finite()) {
                    return Err("a rim needs points, and they must be finite".into());
                }
                wall.check(dimension)
            }
            Geometry::Bend { points, limit, .. } => {
                if *limit <= 0.0 || limit.is_nan() {
                    return Err(format!(
                        "the limit of a bend must be positive, found {limit} (rad)"
                    ));
                }
                held(points)
            }
            Geometry::Stretch { points, range: [least, most], .. } => {
                if !(0.0 <= *least && least < most) {
                    return Err(format!(
                        "lengths must be from less to more, found {least} to {most} (m)"
                    ));
                }
                held(points)
            }
        }
    }
}
