//! The contact problem of one island: posed, and handed to the solver of the settings.

use super::constraint::{self, Regime, Target};
use super::contacts::IslandReport;
use super::impulses::Impulses;
use super::islands::Island;
use super::staggered_projections::StaggeredProjections;
use crate::ad::Real;
use crate::argmin::{ContactMethod, ContactSolution, CoupledContact, Law, Mode};
use crate::collision::ContactPoint;
use crate::dynamics::FreeBody;
use crate::model::{ContactSolver, Solid, StaggeredDerivative, System};
use crate::state::NV;

/// What a problem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A time step.
    Step,
    /// An instant, in which bodies strike each other.
    Impact,
}

/// Memory of one problem at a time.
pub(super) struct ContactProblem<T: Real> {
    node: CoupledContact,
    decisions: Vec<(Target, Regime)>,
    mu: Vec<T>,
    compliance: Vec<T>,
    inputs: Vec<T>,
    outputs: Vec<T>,
    solution: ContactSolution,
    workspace: T::Workspace<CoupledContact>,
    /// The passes, and on values where only their result counts.
    staggered: StaggeredProjections<T>,
    values: Values,
    row: Vec<T>,
}

/// Memory of passes on values.
#[derive(Default)]
struct Values {
    staggered: StaggeredProjections<f64>,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl<T: Real> Default for ContactProblem<T> {
    fn default() -> Self {
        ContactProblem {
            node: CoupledContact::default(),
            decisions: Vec::new(),
            mu: Vec::new(),
            compliance: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            solution: ContactSolution::default(),
            workspace: Default::default(),
            staggered: StaggeredProjections::default(),
            values: Values::default(),
            row: Vec::new(),
        }
    }
}

impl<T: Real> ContactProblem<T> {
    /// Solves the problem of an island; `point` gives its points, in the order of the island.
    pub fn solve<'p>(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        island: &Island,
        point: impl Fn(usize) -> &'p ContactPoint<T>,
        memory: &[Impulses<T>],
        event: Event,
    ) -> IslandReport
    where
        T: 'p,
    {
        self.pose(system, free, island, &point, event);
        self.outputs.clear();
        self.outputs.resize(self.node.output_len(), T::zero());
        let remembered = |k: usize| match event {
            Event::Step => memory[point(k).second].of(point(k)),
            Event::Impact => [T::zero(); 3],
        };
        let contacts = island.points.len();
        self.solution.impulses.clear();
        if let ContactSolver::Staggered { n_step, derivative } = system.settings.solver {
            if derivative == StaggeredDerivative::Unrolled {
                let (inputs, outputs) = (&self.inputs, &mut self.outputs);
                let report = self.staggered.solve(&self.node, inputs, n_step, remembered, outputs);
                self.solution.modes.clear();
                self.solution.modes.extend_from_slice(self.staggered.modes());
                return report;
            }
            let Values { staggered, inputs, outputs } = &mut self.values;
            inputs.clear();
            inputs.extend(self.inputs.iter().map(|x| x.value()));
            outputs.clear();
            outputs.resize(self.outputs.len(), 0.0);
            let remembered = |k: usize| remembered(k).map(|x| x.value());
            let report = staggered.solve(&self.node, inputs, n_step, remembered, outputs);
            // The contact law at the impulses of the passes.
            self.solution.impulses.extend_from_slice(&outputs[NV * island.bodies.len()..]);
            self.node.method = ContactMethod::Given;
            self.call();
            return report;
        }
        for k in 0..contacts {
            self.solution.impulses.extend(remembered(k).map(|x| x.value()));
        }
        self.call();
        IslandReport { report: self.solution.report, residuals: self.solution.residuals }
    }

    fn call(&mut self) {
        let ContactProblem { node, inputs, outputs, solution, workspace, .. } = self;
        T::call(node, inputs, outputs, solution, workspace);
    }

    /// Velocities of the bodies of the island, and impulses of its points.
    pub fn outputs(&self, bodies: usize) -> (&[T], &[T]) {
        self.outputs.split_at(NV * bodies)
    }

    /// What was decided about a point.
    pub fn decisions(&self, k: usize) -> (Mode, Target, Regime) {
        let (target, regime) = self.decisions[k];
        (self.solution.modes[k], target, regime)
    }

    /// Fills `node` and `inputs`.
    fn pose<'p>(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        island: &Island,
        point: impl Fn(usize) -> &'p ContactPoint<T>,
        event: Event,
    ) where
        T: 'p,
    {
        let node = &mut self.node;
        node.clear();
        node.tolerance = system.settings.tolerance;
        node.method = match system.settings.solver {
            ContactSolver::GaussSeidel => ContactMethod::GaussSeidel,
            _ => ContactMethod::Newton,
        };
        let law = match system.settings.solver {
            ContactSolver::ConvexRelaxation => Law::Relaxed,
            ContactSolver::Pyramid => Law::Pyramid,
            _ => Law::Coulomb,
        };
        for _ in island.bodies {
            node.rows.add_tree(NV);
        }
        self.inputs.clear();
        self.mu.clear();
        self.compliance.clear();
        self.decisions.clear();
        let mut frames = constraint::Frames::default();
        for k in 0..island.points.len() {
            let point = point(k);
            let second = island.place(point.second);
            let first = match point.first {
                Solid::Body(body) => island.place(body),
                Solid::HalfSpace(_) => second,
            };
            node.add(law, [first, second]);
            constraint::rows(free, point, &mut frames, &mut self.inputs);
        }
        for &body in island.bodies {
            self.inputs.extend(free[body].mass_factor);
        }
        for &body in island.bodies {
            self.inputs.extend(free[body].free_velocity);
        }
        for (k, block) in node.rows.blocks().iter().enumerate() {
            let point = point(k);
            self.row.clear();
            self.row.extend_from_slice(block.row(&self.inputs, 0));
            let (target, kind) = match event {
                Event::Step => constraint::target(system, free, point, &self.row),
                Event::Impact => constraint::rebound(system, free, point, &self.row),
            };
            let tangents = [1, 2].map(|r| block.row(&self.inputs, r));
            let (mu, regime) = constraint::friction(system, free, point, tangents);
            self.inputs.push(target);
            self.mu.push(mu);
            self.compliance.push(constraint::compliance(
                system.settings,
                free,
                point,
                &mut self.row,
            ));
            self.decisions.push((kind, regime));
        }
        self.inputs.extend_from_slice(&self.mu);
        self.inputs.extend_from_slice(&self.compliance);
    }
}
