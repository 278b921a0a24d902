//! Normal and friction impulses in turn [Kaufman08]: the extended staggered projections of [LeLidec21],
//! Algorithm 1, for comparison with the paper.
//!
//! Each pass minimises over the normal impulses with the friction of the pass before, then over the
//! friction with these normal impulses. Lines 1 (v_p) and 11 (what is remembered) are the step's.
//! Two changes: the least normal velocity of a contact is the target of
//! [`constraint`](super::constraint), which replaces the paper's restitution term eps J_n v of line
//! 6; and the compliance c is added to the diagonal of Gn, which makes line 7 have one minimiser.
//!
//! # What the derivative is
//! Unrolled, that of this program: `n_step` passes from the friction of the last step, whose derivative
//! it carries on. It is *not* that of the contact law, not even where the impulses are those of the
//! coupled problem, because a pass from the right impulses returns them without learning how they
//! move. `cargo run --example staggered` shows by how much. The alternative, the derivative of the
//! contact law at the impulses that the passes end with, is taken by
//! [`contact_problem`](super::contact_problem); the passes then run on values.
//!
//! # Where impulses are not unique
//! Contacts that stick can share friction in more than one way. The nodes then return one that
//! depends on where they start, and its derivative of least norm. The velocities of the step do not
//! depend on it; those of the next do, to the extent that the contact points move in between.

use super::delassus::Delassus;
use super::island_report::IslandReport;
use crate::ad::Real;
use crate::argmin::{
    BoundSolution, ContactData, ContactWorkspace, CoupledContact, DiskMode, DiskQcqp, DiskSolution,
    Mode, NonnegativeQp, ProjectionSettings, Report, Status,
};
use crate::linalg::dot;

/// Tolerance of the nodes, relative to that at which they count as solved: derivatives and
/// differences are of what they return, and the digits cost a step of Newton.
const NODE_TOLERANCE: f64 = 1e-2;

/// Memory of the staggered solve.
pub(super) struct StaggeredProjections<T: Real> {
    delassus: Delassus<T>,
    /// Gn + diag(c), g_n
    normal_inputs: Vec<T>,
    normal: Vec<T>,
    normal_solution: BoundSolution,
    normal_workspace: T::Workspace<NonnegativeQp>,
    /// Gt, g_t, mu lambda_n
    friction_inputs: Vec<T>,
    friction: Vec<T>,
    friction_solution: DiskSolution,
    friction_workspace: T::Workspace<DiskQcqp>,
    modes: Vec<Mode>,
    values: Vec<f64>,
    impulses: Vec<f64>,
    residual: ContactWorkspace<f64>,
}

impl<T: Real> Default for StaggeredProjections<T> {
    fn default() -> Self {
        StaggeredProjections {
            delassus: Delassus::default(),
            normal_inputs: Vec::new(),
            normal: Vec::new(),
            normal_solution: BoundSolution::default(),
            normal_workspace: Default::default(),
            friction_inputs: Vec::new(),
            friction: Vec::new(),
            friction_solution: DiskSolution::default(),
            friction_workspace: Default::default(),
            modes: Vec::new(),
            values: Vec::new(),
            impulses: Vec::new(),
            residual: ContactWorkspace::default(),
        }
    }
}

impl<T: Real> StaggeredProjections<T> {
    /// `n_step` passes (at least one) over the problem `inputs` of `problem` from the impulses that
    /// `remembered` gives of each contact, into `outputs`.
    ///
    /// The status is that of the nodes: that the passes are cut short is by design. How far off
    /// they leave the contact law is the residual, that of the coupled problem.
    pub fn solve(
        &mut self,
        problem: &CoupledContact,
        inputs: &[T],
        n_step: usize,
        remembered: impl Fn(usize) -> [T; 3],
        outputs: &mut [T],
    ) -> IslandReport {
        let data = problem.data(inputs);
        let contacts = data.blocks().len();
        let (velocity, lambda) = outputs.split_at_mut(data.rows.velocities());
        if !data.is_admissible() {
            outputs.fill(T::zero());
            self.modes.clear();
            self.modes.resize(contacts, Mode::Break);
            let (status, residual) = (Status::InvalidInput, f64::INFINITY);
            let report = Report { status, residual, ..Report::default() };
            return IslandReport { report, ..IslandReport::default() };
        }
        self.start(&data, remembered);
        let tolerance = problem.tolerance;
        let settings =
            ProjectionSettings { tolerance: NODE_TOLERANCE * tolerance, ..Default::default() };
        let mut report = Report { margin: f64::INFINITY, ..Report::default() };
        for _ in 0..n_step.max(1) {
            add(&mut report, self.project_normal(&data, settings), tolerance);
            add(&mut report, self.project_friction(&data, settings), tolerance);
        }
        self.read_modes();
        for (i, x) in lambda.chunks_exact_mut(3).enumerate() {
            x.copy_from_slice(&[self.normal[i], self.friction[2 * i], self.friction[2 * i + 1]]);
        }
        // Line 12: v+ = v_p + M^-1 J' lambda
        data.rows.transpose_times(data.jacobian, lambda, velocity);
        data.solve_mass(velocity);
        for (v, &free) in velocity.iter_mut().zip(data.free) {
            *v += free;
        }
        self.values.clear();
        self.values.extend(inputs.iter().map(|x| x.value()));
        self.impulses.clear();
        self.impulses.extend(lambda.iter().map(|x| x.value()));
        let (residual, residuals) =
            problem.residuals_of(&self.values, &self.impulses, &mut self.residual);
        report.residual = residual;
        IslandReport { report, residuals, conflict: None }
    }

    /// What each contact did in the last solve.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// Lines 2 to 4, and where the nodes start: at the impulses of the last step, so that the
    /// result does not depend on what this memory held.
    fn start(&mut self, data: &ContactData<T>, remembered: impl Fn(usize) -> [T; 3]) {
        let contacts = data.blocks().len();
        self.normal.clear();
        self.friction.clear();
        for i in 0..contacts {
            let [normal, first, second] = remembered(i);
            self.normal.push(normal);
            self.friction.extend([first, second]);
        }
        let starts = [
            (&mut self.normal_solution.warm_start, &self.normal),
            (&mut self.friction_solution.warm_start, &self.friction),
        ];
        for (start, impulses) in starts {
            start.clear();
            start.extend(impulses.iter().map(|x| x.value()));
        }
        self.delassus.assemble(data);
        self.normal_inputs.clear();
        self.normal_inputs.extend_from_slice(&self.delassus.normal);
        for (i, &c) in data.compliance.iter().enumerate() {
            self.normal_inputs[i * contacts + i] += c;
        }
        self.friction_inputs.clear();
        self.friction_inputs.extend_from_slice(&self.delassus.tangential);
    }

    /// Lines 6 and 7.
    fn project_normal(&mut self, data: &ContactData<T>, settings: ProjectionSettings) -> Report {
        let n = data.blocks().len();
        self.normal_inputs.truncate(n * n);
        // g_n = J_n v_p - target + Gnt lambda_t
        let rows = self.delassus.coupling.chunks_exact(2 * n).zip(&self.delassus.normal_free);
        self.normal_inputs.extend(rows.map(|(row, &free)| free + dot(row, &self.friction)));
        let node = NonnegativeQp { n, settings };
        T::call(
            &node,
            &self.normal_inputs,
            &mut self.normal,
            &mut self.normal_solution,
            &mut self.normal_workspace,
        );
        self.normal_solution.report
    }

    /// Lines 8 and 9.
    fn project_friction(&mut self, data: &ContactData<T>, settings: ProjectionSettings) -> Report {
        let contacts = data.blocks().len();
        let n = 2 * contacts;
        self.friction_inputs.truncate(n * n);
        // g_t = J_t v_p + Gnt' lambda_n
        for (k, &free) in self.delassus.tangential_free.iter().enumerate() {
            let column = self.normal.iter().enumerate();
            let coupled =
                column.fold(free, |sum, (i, &x)| sum + self.delassus.coupling[i * n + k] * x);
            self.friction_inputs.push(coupled);
        }
        let radii = data.limit.iter().zip(&self.normal);
        self.friction_inputs.extend(radii.map(|(&mu, &x)| mu * x));
        let node = DiskQcqp { contacts, settings };
        T::call(
            &node,
            &self.friction_inputs,
            &mut self.friction,
            &mut self.friction_solution,
            &mut self.friction_workspace,
        );
        self.friction_solution.report
    }

    /// What the last pass decided. A friction impulse counts as sliding if its disk holds it back.
    fn read_modes(&mut self) {
        self.modes.clear();
        let friction = self.friction_solution.modes.iter().zip(&self.friction_solution.directions);
        self.modes.extend(self.normal.iter().zip(friction).map(|(normal, (mode, &d))| {
            let slides = match mode {
                DiskMode::Slide => true,
                DiskMode::Stick => false,
                // Without friction there is nothing that holds a contact but its own rest.
                DiskMode::None => d != [0.0; 2],
            };
            match normal.value() {
                0.0 => Mode::Break,
                _ if slides => Mode::Slide,
                _ => Mode::Stick,
            }
        }));
    }
}

/// Adds a node's report to that of all passes.
fn add(report: &mut Report, node: Report, tolerance: f64) {
    let solved = node.residual <= tolerance;
    if !solved && report.status != Status::InvalidInput {
        report.status = node.status;
    }
    report.iterations += node.iterations;
    report.margin = report.margin.min(node.margin);
}
