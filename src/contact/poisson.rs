//! Restitution by Poisson's hypothesis: what compression has stored comes back `Glocker95`.
//!
//! The problem of a step is that of compression, at the end of which what rebounds has stopped along the normal. Then
//! each such contact gives its part e of the normal impulse p that it had, at once, and everything else obeys its law
//! again, from there:
//!
//! ```text
//! M (v+ - v) = J_n' e p + J' lambda + J_t' f        v at the end of compression
//! 0 <= lambda_n perpendicular to u_n - target >= 0  lambda in the cone of mu, against the slip
//! |f| <= mu e p                                     f against the slip
//! ```
//!
//! Friction of what is given is a [disk](crate::argmin::Law::Disk) of that radius; together with that of lambda it is the cone of all that
//! the contact has in this phase, as disks add up. Impulses and friction of compression stay as they are. What needs time
//! to act (motors, dry friction of joints) has done so in compression.
//!
//! Of a step with forces p has what these need to be stopped, which is no impact: of an approach a that the free motion makes
//! w, the part a / w counts, of which w is at least a / 2. So one contact without friction rebounds as by Newton's law, exactly.
//! One beside its centre of mass with friction does not: where friction stops the slip or turns it round in the impact,
//! Newton's law can gain energy, Poisson's does not.

use super::island_report::IslandReport;
use crate::ad::Real;
use crate::argmin::{ContactMethod, ContactSolution, CoupledContact, Mode, Report};

/// Memory of the second phase.
pub(super) struct Restitution<T: Real> {
    /// The blocks that rebound, each with the part of its normal impulse that comes back.
    parts: Vec<(usize, T)>,
    /// Friction of what comes back: its block, and how much that is.
    disks: Vec<(usize, T)>,
    node: CoupledContact,
    inputs: Vec<T>,
    outputs: Vec<T>,
    free: Vec<T>,
    solution: ContactSolution,
    workspace: T::Workspace<CoupledContact>,
}

impl<T: Real> Default for Restitution<T> {
    fn default() -> Self {
        Restitution {
            parts: Vec::new(),
            disks: Vec::new(),
            node: CoupledContact::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            free: Vec::new(),
            solution: ContactSolution::default(),
            workspace: Default::default(),
        }
    }
}

impl<T: Real> Restitution<T> {
    /// Forgets what rebounds.
    pub fn clear(&mut self) {
        self.parts.clear();
    }

    /// Notes that the contact which is block `block` gives back `part` of its normal impulse.
    pub fn add(&mut self, block: usize, part: T) {
        self.parts.push((block, part));
    }

    /// Takes over what rebounds in another, as numbers.
    pub fn keep(&mut self, other: &Restitution<T>) {
        self.parts.clone_from(&other.parts);
    }

    /// Whether nothing rebounds.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Goes on from the end of compression, which is `outputs` of the problem `node`, to the end of restitution, with all
    /// impulses there then are; `modes` become what contacts do then.
    pub fn go_on(
        &mut self,
        (node, inputs): (&CoupledContact, &[T]),
        outputs: &mut [T],
        modes: &mut [Mode],
        report: &mut IslandReport,
    ) {
        self.pose(node, inputs, outputs);
        self.outputs.clear();
        self.outputs.resize(self.node.output_len(), T::zero());
        self.solution.impulses.clear();
        self.solution.impulses.resize(self.node.rows.rows(), 0.0);
        self.solution.sharing.clear();
        T::call(
            &self.node,
            &self.inputs,
            &mut self.outputs,
            &mut self.solution,
            &mut self.workspace,
        );
        let (velocities, impulses) = outputs.split_at_mut(node.rows.velocities());
        let (after, more) = self.outputs.split_at(velocities.len());
        velocities.copy_from_slice(after);
        for (impulse, &more) in impulses.iter_mut().zip(more) {
            *impulse += more;
        }
        for (mode, &now) in modes.iter_mut().zip(&self.solution.modes) {
            // What is apart at the end had its impulse in compression.
            if now != Mode::Break {
                *mode = now;
            }
        }
        let disks = &self.node.rows.blocks()[node.laws.len()..];
        for (k, (&(of, given), disk)) in self.disks.iter().zip(disks).enumerate() {
            let first = node.rows.blocks()[of].first;
            for r in 1..3 {
                impulses[first + r] += more[disk.first + r];
            }
            if !node.laws[of].borrows() {
                impulses[first] += given;
            }
            if given.value() > 0.0 {
                modes[of] = self.solution.modes[node.laws.len() + k];
            }
        }
        node.data(inputs).lend(impulses);
        let ContactSolution { report: second, residuals, .. } = self.solution;
        report.report = both(report.report, second);
        report.residuals = report.residuals.max(residuals);
    }

    /// The problem of restitution, from the end of compression.
    fn pose(&mut self, node: &CoupledContact, inputs: &[T], outputs: &[T]) {
        let data = node.data(inputs);
        let (velocities, impulses) = outputs.split_at(node.rows.velocities());
        let blocks = node.rows.blocks();
        self.free.clear();
        self.free.resize(velocities.len(), T::zero());
        self.disks.clear();
        for &(block, part) in &self.parts {
            let given = part * impulses[blocks[block].first];
            blocks[block].add_times(data.row(block, 0), given, &mut self.free);
            let borrowers = data.couples().filter(|(_, of)| *of == block);
            self.disks.push((block, given));
            self.disks.extend(borrowers.map(|(couple, _)| (couple, given)));
        }
        data.solve_mass(&mut self.free);
        for (free, &v) in self.free.iter_mut().zip(velocities) {
            *free += v;
        }
        self.node.rows.clone_from(&node.rows);
        self.node.laws.clone_from(&node.laws);
        (self.node.tolerance, self.node.method) = (node.tolerance, ContactMethod::Newton);
        self.node.keep = false;
        self.inputs.clear();
        self.inputs.extend_from_slice(data.jacobian);
        for &(of, _) in &self.disks {
            self.node.add_disk(blocks[of].trees);
            let start = self.inputs.len();
            self.inputs.resize(start + blocks[of].width(), T::zero());
            self.inputs.extend_from_slice(data.row(of, 1));
            self.inputs.extend_from_slice(data.row(of, 2));
        }
        self.inputs.extend_from_slice(data.mass_factor);
        self.inputs.extend_from_slice(&self.free);
        // A contact that yields goes on where compression has left it.
        let targets = self.inputs.len();
        for (i, block) in blocks.iter().enumerate() {
            self.inputs.push(data.target[i] - data.compliance[i] * impulses[block.first]);
        }
        for &(of, given) in self.disks.iter().filter(|(of, _)| blocks[*of].normal == *of) {
            self.inputs[targets + of] -= data.compliance[of] * given;
        }
        let nothing = std::iter::repeat_n(T::zero(), self.disks.len());
        self.inputs.extend(nothing.clone());
        for (i, law) in node.laws.iter().enumerate() {
            self.inputs.push(if law.is_limited() { T::zero() } else { data.limit[i] });
        }
        self.inputs.extend(self.disks.iter().map(|&(of, given)| data.limit[of] * given));
        self.inputs.extend_from_slice(data.compliance);
        self.inputs.extend(nothing);
    }
}

/// How a problem was solved that is two, one after the other.
fn both(first: Report, second: Report) -> Report {
    let worse = if first.status.is_solved() { second } else { first };
    Report {
        status: worse.status,
        stage: worse.stage,
        iterations: first.iterations + second.iterations,
        residual: first.residual.max(second.residual),
        margin: first.margin.min(second.margin),
    }
}
