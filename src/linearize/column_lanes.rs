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
use crate::ad::{Dual, Node, Real};
use crate::contact::{ContactProblem, Contacts, Island};
use crate::simulation::{KnownStep, StepReport, Workspace};

/// Derivatives in a pass. More lanes save solves of the contact problem, fewer save registers.
pub(super) const LANES: usize = 8;
pub(super) type Lanes = Dual<f64, LANES>;

/// An island with guests, and its solution.
pub(super) type Hosted<'a> = (&'a Island<'a>, &'a ContactProblem<f64>);

/// Takes what a pass of columns poses in such an island; false if that is not to be had.
pub(super) type TakeHosted<'a> = dyn FnMut(&Range<usize>, &Workspace<Lanes>, Hosted) -> bool + 'a;

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
    /// Writes all columns of `[A B C]` by the whole step, what solves its contact problems too: the oracle, and all there is where
    /// the passes of a solver are to be differentiated. Returns how many steps that took and the report of the
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

    /// Writes the columns `range` of `[A B C]` of the step that is `known`, by its `conditions`. How an island with guests responds is
    /// for who knows these: `hosted` is told what a pass poses there, and says whether that is to be had. False if the
    /// duals pose other problems; what is written then is of no use.
    #[must_use]
    pub fn posed(
        &mut self,
        at: &Point,
        range: Range<usize>,
        (known, conditions): (KnownStep, &mut Conditions),
        mut matrices: Matrices,
        hosted: &mut TakeHosted,
    ) -> bool {
        let model = at.system.model;
        let contacts = known.contacts;
        for pass in passes(range) {
            self.vary(at, &pass);
            if !self.displaced.pose(at, &self.displacement, known) {
                return false;
            }
            for (k, (island, problem)) in contacts.solved().enumerate() {
                if island.has_guests {
                    let found = hosted(&pass, &self.displaced.workspace, (&island, problem));
                    if !found {
                        return false;
                    }
                    self.hold(at, &island, contacts);
                    continue;
                }
                let (_, displaced) = self.displaced.workspace.parts();
                let (_, moved, ..) = displaced.problem(&island).solved();
                let (node, inputs, outputs, solution) = problem.solved();
                let velocities = node.rows.velocities();
                let mut rest = match conditions.of(k) {
                    Condition::Coupled(factor) => {
                        self.posed.respond(node, solution, factor, (inputs, outputs), moved)
                    }
                    Condition::Smoothed(factor) => {
                        let (node, solution, outputs) = problem.smoothed();
                        self.posed.respond(node, solution, factor, (inputs, outputs), moved)
                    }
                };
                rest = &rest[..velocities];
                for &tree in island.trees {
                    let velocities = model.trees[tree].v.clone();
                    let (own, others) = rest.split_at(velocities.len());
                    self.displaced.workspace.velocities_mut()[velocities].copy_from_slice(own);
                    rest = others;
                }
            }
            let Some(end) = self.displaced.end(at, known) else { return false };
            write(&pass, end, &mut matrices);
        }
        true
    }

    /// Writes what the end of the step that is `known` is by some of the velocities there, a column each. False as by
    /// [`posed`](Self::posed).
    #[must_use]
    pub fn ends(
        &mut self,
        at: &Point,
        known: KnownStep,
        velocities: impl Iterator<Item = usize> + Clone,
        ends: &mut DMatrix<f64>,
    ) -> bool {
        self.vary(at, &(0..0));
        if !self.displaced.pose(at, &self.displacement, known) {
            return false;
        }
        for pass in passes(0..velocities.clone().count()) {
            for (island, _) in known.contacts.solved() {
                self.hold(at, &island, known.contacts);
            }
            let own = velocities.clone().skip(pass.start).take(pass.len()).enumerate();
            for (lane, k) in own {
                let v = known.contacts.velocities[k];
                self.displaced.workspace.velocities_mut()[k] = Lanes::variable(v, lane);
            }
            let Some(end) = self.displaced.end(at, known) else { return false };
            for (lane, column) in pass.enumerate() {
                for (i, end) in end.iter().enumerate() {
                    ends[(i, column)] = end.tangent[lane];
                }
            }
        }
        true
    }

    /// Leaves the velocities of an island as they were found.
    fn hold(&mut self, at: &Point, island: &Island, contacts: &Contacts<f64>) {
        for &tree in island.trees {
            for k in at.system.model.trees[tree].v.clone() {
                let held = Lanes::constant(contacts.velocities[k]);
                self.displaced.workspace.velocities_mut()[k] = held;
            }
        }
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
    input_tangents: Vec<f64>,
    output_tangents: Vec<f64>,
    outputs: Vec<Lanes>,
}

impl PosedLanes {
    /// The `outputs` of a node, solved at `inputs`, where these are the duals `moved`.
    fn respond<K: Node>(
        &mut self,
        node: &K,
        solution: &K::Solution,
        factor: &mut K::Factor<f64>,
        (inputs, outputs): (&[f64], &[f64]),
        moved: &[Lanes],
    ) -> &[Lanes] {
        self.input_tangents.clear();
        for lane in 0..LANES {
            self.input_tangents.extend(moved.iter().map(|x| x.tangent[lane]));
        }
        self.output_tangents.resize(LANES * outputs.len(), 0.0);
        let (tangents, changes) = (&self.input_tangents, &mut self.output_tangents);
        node.jvp_many(solution, factor, inputs, outputs, LANES, tangents, changes);
        self.outputs.clear();
        self.outputs.extend(outputs.iter().enumerate().map(|(i, &y)| {
            Lanes::new(y, std::array::from_fn(|lane| changes[lane * outputs.len() + i]))
        }));
        &self.outputs
    }
}
