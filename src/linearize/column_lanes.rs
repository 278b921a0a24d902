//! Columns of the Jacobians of a step by duals: through the whole step, or through all of it but the solution
//! of its contact problems.
//!
//! In the latter, v+ and lambda stay what they are while everything that poses the problems runs on duals; what that does to
//!
//! ```text
//! L^-1 J' lambda - L' (v+ - v_p),   J v+,   c lambda_n - target,   the limits
//! ```
//!
//! is what the conditions respond to, all lanes at once, from the factorisation that A and B come from.

use std::ops::Range;

use nalgebra::DMatrix;

use super::conditions::{Condition, Conditions};
use super::displacement::{Displaced, Point};
use crate::ad::{Dual, Linearization, Node, Real};
use crate::argmin::{ContactPerturbations, ContactResponse};
use crate::contact::ContactProblem;
use crate::linalg::solve_lower_transpose_rows;
use crate::simulation::{StepReport, Workspace};

/// Derivatives in a pass. More lanes save solves of the contact problem, fewer save registers.
const LANES: usize = 8;
type Lanes = Dual<f64, LANES>;

/// Columns by duals.
#[derive(Default)]
pub(super) struct ColumnLanes {
    pub displaced: Displaced<Lanes>,
    displacement: Vec<Lanes>,
    posed: PosedLanes,
}

/// A to C.
pub(super) type Matrices<'a> = [&'a mut DMatrix<f64>; 3];

impl ColumnLanes {
    /// Writes all columns of `[A B C]` by the whole step; returns how many steps that took and the report of the
    /// last, nothing if there are no columns.
    pub fn whole(&mut self, at: &Point, mut matrices: Matrices) -> Option<(usize, StepReport)> {
        let mut last = None;
        for (k, pass) in passes(0..at.dimension()).enumerate() {
            self.vary(at, &pass);
            let (difference, report) = self.displaced.step(at, &self.displacement);
            last = Some((k + 1, report));
            write(&pass, difference, &mut matrices);
        }
        last
    }

    /// Writes the columns `range` of `[A B C]` of the step that `solved` holds, by its `conditions`. False if the
    /// duals pose other problems; what is written then is of no use.
    #[must_use]
    pub fn posed(
        &mut self,
        at: &Point,
        range: Range<usize>,
        (solved, conditions): (&Workspace<f64>, &mut Conditions),
        mut matrices: Matrices,
    ) -> bool {
        let model = at.system.model;
        let (_, contacts) = solved.parts();
        for pass in passes(range) {
            self.vary(at, &pass);
            if !self.displaced.pose(at, &self.displacement, solved) {
                return false;
            }
            for (k, (island, problem)) in contacts.solved().enumerate() {
                let (_, displaced) = self.displaced.workspace.parts();
                let (_, inputs, ..) = displaced.problem(&island).solved();
                let mut rest = match conditions.of(k) {
                    Condition::Coupled(response) => self.posed.respond(problem, inputs, response),
                    Condition::Smoothed(factor) => self.posed.follow(problem, inputs, factor),
                };
                for &tree in island.trees {
                    let velocities = model.trees[tree].v.clone();
                    let (own, others) = rest.split_at(velocities.len());
                    self.displaced.workspace.velocities_mut()[velocities].copy_from_slice(own);
                    rest = others;
                }
            }
            write(&pass, self.displaced.end(at, solved), &mut matrices);
        }
        true
    }

    /// Varies the displacements of a pass, a lane each.
    fn vary(&mut self, at: &Point, pass: &Range<usize>) {
        self.displacement.clear();
        self.displacement.resize(at.dimension(), Lanes::constant(0.0));
        for (lane, k) in pass.clone().enumerate() {
            self.displacement[k] = Lanes::variable(0.0, lane);
        }
    }
}

/// A range of columns, as many at a time as there are lanes.
fn passes(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(LANES).map(move |first| first..range.end.min(first + LANES))
}

/// Writes the columns of a pass.
fn write(pass: &Range<usize>, difference: &[Lanes], [a, b, c]: &mut Matrices) {
    for (lane, k) in pass.clone().enumerate() {
        let (matrix, column) = match k.checked_sub(a.ncols()) {
            None => (&mut **a, k),
            Some(k) => match k.checked_sub(b.ncols()) {
                None => (&mut **b, k),
                Some(k) => (&mut **c, k),
            },
        };
        for (i, difference) in difference.iter().enumerate() {
            matrix[(i, column)] = difference.tangent[lane];
        }
    }
}

/// Scratch memory of the response of an island.
#[derive(Default)]
struct PosedLanes {
    /// v+ and lambda, held.
    velocity: Vec<Lanes>,
    impulses: Vec<Lanes>,
    momentum: Vec<Lanes>,
    change: Vec<Lanes>,
    along: Vec<Lanes>,
    perturbations: ContactPerturbations<f64>,
    limits: Vec<f64>,
    tangents: Vec<f64>,
    x: Vec<f64>,
}

impl PosedLanes {
    /// The velocities v+ of a problem where its inputs are the dual `inputs`.
    fn respond(
        &mut self,
        problem: &ContactProblem<f64>,
        inputs: &[Lanes],
        response: &mut ContactResponse<f64>,
    ) -> &[Lanes] {
        let (node, values, outputs, _) = problem.solved();
        let posed = node.data(inputs);
        let (velocity, impulses) = outputs.split_at(node.rows.velocities());
        hold(&mut self.velocity, velocity);
        hold(&mut self.impulses, impulses);
        self.momentum.resize(velocity.len(), Lanes::constant(0.0));
        self.change.resize(velocity.len(), Lanes::constant(0.0));
        self.along.resize(impulses.len(), Lanes::constant(0.0));

        posed.rows.transpose_times(posed.jacobian, &self.impulses, &mut self.momentum);
        posed.solve_factor(&mut self.momentum);
        for (v, &free) in self.velocity.iter_mut().zip(posed.free) {
            *v -= free;
        }
        posed.times_factor_transpose(&self.velocity, &mut self.change);
        self.x.clear();
        for (&momentum, &change) in self.momentum.iter().zip(&self.change) {
            self.x.extend((momentum - change).tangent);
        }

        let perturbations = &mut self.perturbations;
        perturbations.fit(node, LANES, LANES);
        hold(&mut self.velocity, velocity);
        posed.rows.times(posed.jacobian, &self.velocity, &mut self.along);
        for (row, along) in perturbations.rows.chunks_exact_mut(LANES).zip(&self.along) {
            row.copy_from_slice(&along.tangent);
        }
        self.limits.clear();
        for (i, block) in posed.blocks().iter().enumerate() {
            let offset = posed.compliance[i] * self.impulses[block.first] - posed.target[i];
            perturbations.offsets[i * LANES..(i + 1) * LANES].copy_from_slice(&offset.tangent);
            self.limits.extend(posed.limit[i].tangent);
        }
        response.add_limits(node, &self.limits, perturbations, &mut self.x);
        response.respond(perturbations, &mut self.x);
        for tree in 0..node.rows.trees() {
            let (range, l) = (node.rows.tree(tree), node.mass_factor(values, tree));
            let n = range.len();
            let x = &mut self.x[range.start * LANES..range.end * LANES];
            solve_lower_transpose_rows(l, n, LANES, x);
        }
        for (v, change) in self.velocity.iter_mut().zip(self.x.chunks_exact(LANES)) {
            v.tangent.copy_from_slice(change);
        }
        &self.velocity
    }

    /// The same of a smoothed problem, lane by lane.
    fn follow(
        &mut self,
        problem: &ContactProblem<f64>,
        inputs: &[Lanes],
        factor: &mut Linearization<f64>,
    ) -> &[Lanes] {
        let (node, solution, outputs) = problem.smoothed();
        let (_, values, ..) = problem.solved();
        hold(&mut self.velocity, &outputs[..node.rows.velocities()]);
        self.x.resize(outputs.len(), 0.0);
        for lane in 0..LANES {
            self.tangents.clear();
            self.tangents.extend(inputs.iter().map(|x| x.tangent[lane]));
            if self.tangents.iter().all(|&x| x == 0.0) {
                continue;
            }
            let (tangents, changes) = (&self.tangents, &mut self.x);
            node.jvp(solution, factor, values, outputs, tangents, changes);
            for (v, &change) in self.velocity.iter_mut().zip(&*changes) {
                v.tangent[lane] = change;
            }
        }
        &self.velocity
    }
}

/// Constants.
fn hold(held: &mut Vec<Lanes>, values: &[f64]) {
    held.clear();
    held.extend(values.iter().map(|&x| Lanes::constant(x)));
}
