//! Couples by which contacts resist turns: friction about the normal, of what touches in a patch, and resistance to rolling.
//! Each is a block of rows of its own that borrows the normal impulse of its contact.
//!
//! Rows are angular velocities times an arm, so that they are velocities like all others, and impulses are forces at that
//! arm; what the arm is changes nothing but how couples are shared where that is not unique.

use nalgebra::Vector3;

use super::constraint::contact_frame;
use crate::ad::Real;
use crate::argmin::Mode;
use crate::collision::ContactPoint;
use crate::dynamics::FreeMotion;
use crate::model::{Model, Solid, SurfaceTerm, System};

/// What a couple resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoupleKind {
    /// Turns about the normal: a couple of at most mu times the torsion radius times the normal impulse.
    Torsion,
    /// Turns about the tangents: a couple of at most the rolling resistance times the normal impulse.
    Rolling,
}

impl CoupleKind {
    /// Both.
    pub const ALL: [CoupleKind; 2] = [CoupleKind::Torsion, CoupleKind::Rolling];

    /// The term of a surface that it is.
    fn term(self) -> SurfaceTerm {
        match self {
            CoupleKind::Torsion => SurfaceTerm::TorsionRadius,
            CoupleKind::Rolling => SurfaceTerm::RollingResistance,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            CoupleKind::Torsion => "torsion",
            CoupleKind::Rolling => "rolling",
        }
    }

    /// What a feature is of: that of a contact, and the couple there if it is one.
    pub(crate) fn of_feature(feature: usize) -> (usize, Option<CoupleKind>) {
        let kind = (feature / OTHERS).checked_sub(1);
        (feature % OTHERS, kind.and_then(|kind| CoupleKind::ALL.get(kind)).copied())
    }

    /// A feature of a contact, as that of the couple there.
    pub(crate) fn feature(self, feature: usize) -> usize {
        feature + (1 + self as usize) * OTHERS
    }
}

/// Features of contacts are below, but on 32 bits those of hulls of thousands of vertices: what one is remembered by there may be
/// what another one is, and solvers start worse.
const OTHERS: usize = 1 << (usize::BITS / 2 + 8);

/// What a couple did in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupleRecord {
    /// What it was about.
    pub kind: CoupleKind,
    /// The impulse on the second body, N m s: about the normal, or about both tangents of the contact.
    pub impulse: [f64; 2],
    /// What it did: `Slide` where the bodies turn against each other, `Stick` where they do not.
    pub mode: Mode,
}

/// A couple of a problem.
#[derive(Clone, Copy, Debug)]
pub(super) struct Couple {
    /// The block of its contact, which is also its place among the constraints of the island.
    pub of: usize,
    pub kind: CoupleKind,
    /// What its rows are multiplied with, m.
    pub arm: f64,
}

impl Couple {
    /// Whether any contact of a model has one.
    pub fn are_in(model: &Model) -> bool {
        CoupleKind::ALL.into_iter().any(|kind| model.any_has_term(kind.term()))
    }

    /// Those of a contact, whose block is `of`.
    pub fn all<T: Real>(
        system: &System<T>,
        point: &ContactPoint<T>,
        of: usize,
    ) -> impl Iterator<Item = Couple> {
        let model = system.model;
        let has = CoupleKind::ALL.map(|kind| model.has_term(point.pair, kind.term()));
        let arm = if has == [false; 2] { 0.0 } else { arm(system, point) };
        let own = CoupleKind::ALL.into_iter().zip(has).filter(|(_, has)| *has);
        own.map(move |(kind, _)| Couple { of, kind, arm })
    }

    /// Pushes its three rows, each as wide as those of its contact.
    pub fn rows<T: Real>(
        &self,
        motion: &FreeMotion<T>,
        point: &ContactPoint<T>,
        rows: &mut Vec<T>,
    ) {
        let [first, second] = point.trees(motion);
        let size = |tree: Option<usize>| tree.map_or(0, |tree| motion.tree(tree).velocity.len());
        let before = if first == second { 0 } else { size(first) };
        let columns = before + size(second.or(first.filter(|_| before == 0)));
        rows.resize(rows.len() + columns, T::zero());
        let axes: [Option<Vector3<T>>; 2] = match self.kind {
            CoupleKind::Torsion => [Some(point.normal), None],
            CoupleKind::Rolling => contact_frame(point.normal).map(Some),
        };
        for axis in axes {
            let start = rows.len();
            rows.resize(start + columns, T::zero());
            let Some(axis) = axis else { continue };
            let axis = axis * T::constant(self.arm);
            for (side, from, sign) in [(0, 0, -1.0), (1, before, 1.0)] {
                if let Some(body) = point.bodies[side] {
                    motion.add_turn(body, axis, sign, &mut rows[start + from..]);
                }
            }
        }
    }

    /// What its impulse is at most, of each of the normal impulse, where the coefficient of friction is `mu`.
    pub fn limit<T: Real>(&self, system: &System<T>, pair: usize, mu: T) -> T {
        let number = system.parameters.surface_term(system.model, pair, self.kind.term());
        let number = number.unwrap_or(T::zero());
        let limit = match self.kind {
            CoupleKind::Torsion => mu * number,
            CoupleKind::Rolling => number,
        };
        limit / self.arm
    }
}

/// How far the smaller of the bodies that move reaches, m. On values.
fn arm<T: Real>(system: &System<T>, point: &ContactPoint<T>) -> f64 {
    let System { model, parameters, .. } = *system;
    let (first, second) = model.solids(point.pair);
    let reach = |side: usize, collider: usize| {
        point.bodies[side]?;
        let (size, radius) = parameters.core(model, collider);
        let size = size.map(|x| x.value()).into();
        Some(model.colliders[collider].shape.bounding_radius(size) + radius.value())
    };
    let first = match first {
        Solid::Collider(first) => reach(0, first),
        Solid::HalfSpace(_) => None,
    };
    let least = [first, reach(1, second)].into_iter().flatten().fold(f64::INFINITY, f64::min);
    if least.is_finite() && least > 0.0 { least } else { 1.0 }
}
