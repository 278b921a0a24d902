//! Restitution by Poisson's hypothesis: what compression has stored comes back `Glocker95`.
//!
//! What rebounds does so in an instant, before the forces of the step act. First all that touches is stopped (**compression**),
//! from the velocities v- at the start of the step. Then each contact that rebounds gives its part e of the normal impulse p
//! that this took, at once, and everything else obeys its law again (**restitution**):
//!
//! ```text
//! M (v - v-) = J' l                                 u_n = 0 where it rebounds, else as in a step; l in the cone of mu
//! M (w - v)  = J_n' e p + J' l' + J_t' f            0 <= l'_n perpendicular to u_n >= 0, l' in the cone of mu
//!                                                   |f| <= mu e p against the slip
//! ```
//!
//! Friction of what is given is a [disk](crate::argmin::Law::Disk) of that radius; together with that of l' it is the cone of
//! all that the contact has in this phase, as disks add up. Motors, damping and dry friction of joints take time to act: they
//! have no part in this. Nor has the speed at which a penetration is pushed out.
//!
//! Then the step goes on as any other, with these impulses beside its forces. What has rebounded ends it no slower than it was
//! thrown back, w, without further friction: forces of the step change its normal impulse, as by Newton's law, and not its
//! rebound. So one contact without friction rebounds as by Newton's law. One with friction does not where that stops the slip or
//! turns it round in the impact: Newton's law can gain energy there, Poisson's does not.
//!
//! As by Newton's law, what does not approach rebounds nothing: what is struck while it touches something else keeps what that
//! contact had to bear. Friction is that of the impact: where forces of the step lift what rebounds, its normal impulse over the
//! whole step is less than what friction had in the impact.

use super::constraint::Target;
use super::island_report::IslandReport;
use crate::ad::Real;
use crate::argmin::{ContactMethod, ContactSolution, CoupledContact, Mode, Report};

/// A problem with its solution.
struct Phase<T: Real> {
    node: CoupledContact,
    inputs: Vec<T>,
    outputs: Vec<T>,
    solution: ContactSolution,
    workspace: T::Workspace<CoupledContact>,
}

impl<T: Real> Default for Phase<T> {
    fn default() -> Self {
        Phase {
            node: CoupledContact::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            solution: ContactSolution::default(),
            workspace: Default::default(),
        }
    }
}

impl<T: Real> Phase<T> {
    /// Becomes a problem like `node`, without inputs.
    fn start_like(&mut self, node: &CoupledContact) {
        self.node.rows.clone_from(&node.rows);
        self.node.laws.clone_from(&node.laws);
        (self.node.tolerance, self.node.method) = (node.tolerance, ContactMethod::Newton);
        self.node.keep = false;
        self.inputs.clear();
    }

    fn solve(&mut self) {
        self.outputs.clear();
        self.outputs.resize(self.node.output_len(), T::zero());
        self.solution.impulses.clear();
        self.solution.impulses.resize(self.node.rows.rows(), 0.0);
        self.solution.sharing.clear();
        let Phase { node, inputs, outputs, solution, workspace } = self;
        T::call(node, inputs, outputs, solution, workspace);
    }
}

/// Memory of both phases.
pub(super) struct Restitution<T: Real> {
    /// The blocks that rebound, each with the part of its normal impulse that comes back.
    parts: Vec<(usize, T)>,
    /// Friction of what comes back: its block, and how much that is.
    disks: Vec<(usize, T)>,
    /// The velocities at the start of the step, and L with M = L L' of each tree.
    velocity: Vec<T>,
    mass_factor: Vec<T>,
    first: Phase<T>,
    second: Phase<T>,
    /// The impulses of both phases, and what contacts do in them.
    impulses: Vec<T>,
    modes: Vec<Mode>,
    change: Vec<T>,
}

impl<T: Real> Default for Restitution<T> {
    fn default() -> Self {
        Restitution {
            parts: Vec::new(),
            disks: Vec::new(),
            velocity: Vec::new(),
            mass_factor: Vec::new(),
            first: Phase::default(),
            second: Phase::default(),
            impulses: Vec::new(),
            modes: Vec::new(),
            change: Vec::new(),
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

    /// Forgets the trees.
    pub fn clear_trees(&mut self) {
        self.velocity.clear();
        self.mass_factor.clear();
    }

    /// Adds a tree, with its velocities at the start of the step; what is returned is for L with M = L L', row by row.
    pub fn add_tree(&mut self, velocity: &[T]) -> &mut Vec<T> {
        self.velocity.extend_from_slice(velocity);
        &mut self.mass_factor
    }

    /// Solves both phases, and changes the `inputs` of the problem of the step, `node`, to what comes after them. `decided`:
    /// what decided about the target of a block, if it has one.
    pub fn strike(
        &mut self,
        node: &CoupledContact,
        inputs: &mut [T],
        decided: impl Fn(usize) -> Option<Target>,
    ) {
        self.compress(node, inputs, decided);
        self.first.solve();
        self.expand();
        self.second.solve();
        self.gather();
        let velocities = &self.second.outputs[..node.rows.velocities()];
        let target = node.rows.entries() + node.rows.squares() + node.rows.velocities();
        for &(block, _) in &self.parts {
            let rows = &node.rows.blocks()[block];
            // Its compliance is that of all impulses, those of the phases among them.
            let compliance = inputs[target + 2 * node.laws.len() + block];
            let given_way = compliance * self.impulses[rows.first];
            let rebound = rows.times(rows.row(inputs, 0), velocities) + given_way;
            let target = &mut inputs[target + block];
            if rebound.value() > target.value() {
                *target = rebound;
            }
        }
        // What has rebounded has its normal impulse from the step, and its friction from here.
        for &(block, _) in &self.disks {
            self.impulses[node.rows.blocks()[block].first] = T::zero();
        }
        // What the impulses do in the step, where damping acts on it.
        self.change.clear();
        self.change.resize(node.rows.velocities(), T::zero());
        let data = node.data(inputs);
        node.rows.transpose_times(data.jacobian, &self.impulses, &mut self.change);
        data.solve_mass(&mut self.change);
        let free = target - node.rows.velocities();
        for (v, &change) in inputs[free..target].iter_mut().zip(&self.change) {
            *v += change;
        }
        for &(block, _) in &self.disks {
            inputs[target + node.laws.len() + block] = T::zero();
        }
    }

    /// The problem of compression.
    fn compress(
        &mut self,
        node: &CoupledContact,
        inputs: &[T],
        decided: impl Fn(usize) -> Option<Target>,
    ) {
        let data = node.data(inputs);
        self.first.start_like(node);
        let posed = &mut self.first.inputs;
        posed.extend_from_slice(data.jacobian);
        posed.extend_from_slice(&self.mass_factor);
        posed.extend_from_slice(&self.velocity);
        for (i, &target) in data.target.iter().enumerate() {
            // A gap may close; what sets bodies in motion is for the step.
            posed.push(if decided(i) == Some(Target::Gap) { target } else { T::zero() });
        }
        for (law, &limit) in node.laws.iter().zip(data.limit) {
            posed.push(if law.is_limited() { T::zero() } else { limit });
        }
        posed.extend_from_slice(data.compliance);
    }

    /// The problem of restitution, from the end of compression.
    fn expand(&mut self) {
        let Phase { node, inputs, outputs, .. } = &self.first;
        let data = node.data(inputs);
        let (velocities, impulses) = outputs.split_at(node.rows.velocities());
        let blocks = node.rows.blocks();
        self.change.clear();
        self.change.resize(velocities.len(), T::zero());
        self.disks.clear();
        for &(block, part) in &self.parts {
            let stopped = impulses[blocks[block].first];
            // Rounding may leave less than nothing.
            let given = if stopped.value() > 0.0 { part * stopped } else { T::zero() };
            blocks[block].add_times(data.row(block, 0), given, &mut self.change);
            let borrowers = data.couples().filter(|(_, of)| *of == block);
            self.disks.push((block, given));
            self.disks.extend(borrowers.map(|(couple, _)| (couple, given)));
        }
        data.solve_mass(&mut self.change);
        self.second.start_like(node);
        let Phase { node: next, inputs: posed, .. } = &mut self.second;
        posed.extend_from_slice(data.jacobian);
        for &(of, _) in &self.disks {
            next.add_disk(blocks[of].trees);
            posed.resize(posed.len() + blocks[of].width(), T::zero());
            posed.extend_from_slice(data.row(of, 1));
            posed.extend_from_slice(data.row(of, 2));
        }
        posed.extend_from_slice(data.mass_factor);
        posed.extend(velocities.iter().zip(&self.change).map(|(&v, &change)| v + change));
        // A contact that gives way goes on where compression has left it.
        let targets = posed.len();
        for (i, block) in blocks.iter().enumerate() {
            posed.push(data.target[i] - data.compliance[i] * impulses[block.first]);
        }
        for &(of, given) in self.disks.iter().filter(|(of, _)| blocks[*of].normal == *of) {
            posed[targets + of] -= data.compliance[of] * given;
        }
        let nothing = std::iter::repeat_n(T::zero(), self.disks.len());
        posed.extend(nothing.clone());
        posed.extend_from_slice(data.limit);
        posed.extend(self.disks.iter().map(|&(of, given)| data.limit[of] * given));
        posed.extend_from_slice(data.compliance);
        posed.extend(nothing);
    }

    /// The impulses of both phases, and what contacts did with them.
    fn gather(&mut self) {
        let Restitution { first, second, disks, impulses, modes, .. } = self;
        let velocities = first.node.rows.velocities();
        let more = &second.outputs[velocities..];
        impulses.clear();
        impulses.extend_from_slice(&first.outputs[velocities..]);
        for (impulse, &more) in impulses.iter_mut().zip(more) {
            *impulse += more;
        }
        modes.clone_from(&first.solution.modes);
        for (mode, &now) in modes.iter_mut().zip(&second.solution.modes) {
            // What is apart at the end had its impulse in compression.
            if now != Mode::Break {
                *mode = now;
            }
        }
        let own = first.node.laws.len();
        let blocks = first.node.rows.blocks();
        for (k, &(of, given)) in disks.iter().enumerate() {
            let (at, disk) = (blocks[of].first, second.node.rows.blocks()[own + k].first);
            for r in 1..3 {
                impulses[at + r] += more[disk + r];
            }
            if blocks[of].normal == of {
                impulses[at] += given;
            }
            if given.value() > 0.0 {
                modes[of] = second.solution.modes[own + k];
            }
        }
        first.node.data(&first.inputs).lend(impulses);
    }

    /// Adds the impulses of both phases to those of the step, and says what contacts did and how all was solved.
    pub fn add_to(&self, impulses: &mut [T], modes: &mut [Mode], report: &mut IslandReport) {
        for (impulse, &more) in impulses.iter_mut().zip(&self.impulses) {
            *impulse += more;
        }
        let rebounds = |block: usize| self.disks.iter().any(|(of, _)| *of == block);
        for (block, (mode, &before)) in modes.iter_mut().zip(&self.modes).enumerate() {
            // What has rebounded had its friction before; what is apart at the end, its impulse.
            if (*mode == Mode::Break) != rebounds(block) {
                *mode = before;
            }
        }
        for Phase { solution, .. } in [&self.first, &self.second] {
            report.report = both(report.report, solution.report);
            report.residuals = report.residuals.max(solution.residuals);
        }
    }
}

/// How a problem was solved that is two.
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
