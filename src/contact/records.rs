//! What contacts and conditions of joints did in a step.

use nalgebra::Vector3;

use super::constraint::{Regime, Target, contact_frame};
use super::contact_problem::ContactProblem;
use super::couple::{CoupleKind, CoupleRecord};
use super::island_report::IslandReport;
use super::islands::Island;
use crate::ad::Real;
use crate::argmin::Mode;
use crate::model::Model;

/// A contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// The contact pair, see [`Model::pair`](crate::model::Model::pair).
    pub pair: usize,
    /// The point, see [`ContactPoint::feature`](crate::collision::ContactPoint::feature).
    pub feature: usize,
    /// Gap at the start of the step, m.
    pub gap: f64,
    /// Impulse in the contact frame [normal, tangent 1, tangent 2], N s, on the second body.
    pub impulse: [f64; 3],
    /// What the contact did.
    pub mode: Mode,
    /// What decided its normal velocity.
    pub target: Target,
    /// Which coefficient of friction it had.
    pub regime: Regime,
    /// The bodies, as in [`ContactPoint::bodies`](crate::collision::ContactPoint::bodies).
    pub bodies: [Option<usize>; 2],
    /// Where it is on each, as in [`ContactPoint::arms`](crate::collision::ContactPoint::arms), m.
    pub arms: [Vector3<f64>; 2],
    /// Unit normal in the world, out of the first solid, at the start of the step.
    pub normal: Vector3<f64>,
    /// What torsional and rolling friction did, where there are any.
    pub couples: [Option<CoupleRecord>; 2],
}

impl ContactRecord {
    /// The impulse on the second body, in the world, N s.
    pub fn world_impulse(&self) -> Vector3<f64> {
        let [first, second] = contact_frame(self.normal);
        let [n, t1, t2] = self.impulse;
        self.normal * n + first * t1 + second * t2
    }

    /// The impulse of couples on the second body, about [normal, tangent 1, tangent 2], N m s.
    pub fn frame_couple(&self) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for CoupleRecord { kind, impulse, .. } in self.couples.iter().flatten() {
            match kind {
                CoupleKind::Torsion => sum[0] = impulse[0],
                CoupleKind::Rolling => sum[1..].copy_from_slice(impulse),
            }
        }
        sum
    }

    /// The same in the world.
    pub fn world_couple(&self) -> Vector3<f64> {
        let [first, second] = contact_frame(self.normal);
        let [n, t1, t2] = self.frame_couple();
        self.normal * n + first * t1 + second * t2
    }
}

/// What a limit, a dry friction or a closed loop did in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointRecord {
    /// Which condition: lower and upper limits of all velocities in turn, then dry frictions, then six
    /// rows an equality.
    pub id: usize,
    /// Impulse along its row, N s or N m s.
    pub impulse: f64,
    /// What it did.
    pub mode: Mode,
    /// What decided its least velocity.
    pub target: Target,
}

/// What the solution of an island says of one of its points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome<T> {
    pub impulse: [T; 3],
    pub mode: Mode,
    pub target: Target,
    pub regime: Regime,
    pub couples: [Option<CoupleRecord>; 2],
}

/// Takes over the solution of an island: velocities, outcomes of its constraints, and how it was solved.
pub(super) fn take_over<T: Real>(
    model: &Model,
    island: &Island,
    problem: &ContactProblem<T>,
    velocities: &mut [T],
    outcomes: &mut [Option<Outcome<T>>],
    reports: &mut [Option<IslandReport>],
) {
    let mut report = problem.report();
    let (mut rest, _) = problem.outputs();
    for &tree in island.trees {
        let range = model.trees[tree].v.clone();
        let (velocity, others) = rest.split_at(range.len());
        velocities[range].copy_from_slice(velocity);
        rest = others;
    }
    for (k, &constraint) in island.constraints.iter().enumerate() {
        let (mode, target, regime) = problem.decisions(k);
        let (impulse, couples) = (problem.impulse(k), [None; 2]);
        outcomes[constraint] = Some(Outcome { impulse, mode, target, regime, couples });
    }
    for (couple, mode, [_, first, second]) in problem.couples() {
        let outcome = outcomes[island.constraints[couple.of]].as_mut();
        let impulse = [first, second].map(|x| x.value() * couple.arm);
        if let Some(outcome) = outcome {
            let kind = couple.kind;
            outcome.couples[kind as usize] = Some(CoupleRecord { kind, impulse, mode });
        }
    }
    // Iterations of what was solved before with fewer points count.
    let earlier = island.trees.iter().filter_map(|&tree| reports[tree].take());
    let before: usize = earlier.map(|earlier| earlier.report.iterations).sum();
    report.report.iterations += before;
    reports[island.trees[0]] = Some(report);
}
