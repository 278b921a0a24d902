//! The derivative of a step with exact contact, forward and adjoint, by the theorem of implicit functions on momentum and
//! contact conditions together.
//!
//! A change of what the step is made of leaves b = -dR at fixed velocities. With A = dR/du condensed on the vertices that touch
//! to S = S_s + S_k (symmetric and skew parts, S_s = L L'; where a body that is pressed would topple but for what it touches, S_s
//! is of the matrix projected to be positive definite, and S_k the rest), and x = L'du there,
//!
//! ```text
//! S du = b + J'dp  and the conditions of the modes:   x = H (L^-1 b - L^-1 S_k L^-T x) + what changes in the conditions
//! ```
//!
//! where H is the response of contact on the mass S_s (`argmin::contact::response`). So S_k, of viscosity or of that, takes one
//! dense system of the vertices that touch. The others follow.

use super::bdf::Bdf;
use super::cable::Cable;
use super::condensation::Condensation;
use super::condensed_contact::Posed;
use super::contact_step::ContactStep;
use super::held_node::HeldNode;
use super::momentum::{Momentum, SolidParameters};
use super::penalty::{Penalty, Slopes};
use super::step_change::StepChange;
use super::vertex_contact::VertexContact;
use crate::ad::Node;
use crate::argmin::{ContactFactor, Perturbation};
use crate::fem::SolidMaterial;
use crate::linalg::{BlockMatrix, Lu, dot, solve_lower, solve_lower_transpose};

/// A step at its solution, factorised.
pub struct StepDerivative<'a> {
    momentum: Momentum<'a, f64>,
    bdf: Bdf,
    contacts: &'a [VertexContact],
    step: &'a ContactStep,
    memory: DerivativeMemory,
}

/// What a derivative is made in. Handed on from step to step, it decides no order twice.
#[derive(Default)]
pub struct DerivativeMemory {
    condensation: Condensation,
    posed: Posed,
    factor: ContactFactor<f64>,
    /// 1 + H L^-1 S_k L^-T, if S_k is not zero.
    rest: Option<Lu<f64>>,
    /// a K
    stiffness: BlockMatrix<f64>,
    /// dR/du as if no node were held, if one is.
    free: BlockMatrix<f64>,
    perturbation: Perturbation<f64>,
}

/// A change on its way through a step.
pub(crate) struct BegunTangent {
    /// What it leaves of the momentum (N s); of the vertices that may touch their velocities (m/s), as they are found.
    pub b: Vec<[f64; 3]>,
    /// Of x̄ (m).
    x: Vec<[f64; 3]>,
    led: Vec<[f64; 3]>,
}

/// Adjoints on their way back through a step.
pub(crate) struct BegunAdjoint {
    /// Of what is left of the momentum; of the vertices that may touch first of their velocities.
    pub w: Vec<[f64; 3]>,
    /// Of what the step is made of, so far.
    pub adjoint: StepChange,
    /// Of the normals of contacts in the contact problem; of those that turn there must be one, for what their impulses turn.
    pub normals: Vec<(usize, [f64; 3])>,
    /// Of x̄, which moves x+ as it is.
    pub places: Vec<[f64; 3]>,
}

impl<'a> StepDerivative<'a> {
    /// Factorises at a solution by the law of the step. None where the conditions determine no derivative, as where a vertex touches
    /// surfaces that move differently, or surfaces move and contacts do not stand in the order of their nodes.
    pub fn new(
        momentum: Momentum<'a, f64>,
        bdf: Bdf,
        contacts: &'a [VertexContact],
        step: &'a ContactStep,
    ) -> Option<Self> {
        Self::with(DerivativeMemory::default(), momentum, bdf, contacts, step)
    }

    /// The same in the memory of [another one](Self::into_memory).
    pub fn with(
        memory: DerivativeMemory,
        momentum: Momentum<'a, f64>,
        bdf: Bdf,
        contacts: &'a [VertexContact],
        step: &'a ContactStep,
    ) -> Option<Self> {
        let nodes = momentum.elements.node_count();
        let penalty = Penalty { law: step.law, contacts };
        let momentum = Momentum { penalty: step.is_forced().then_some(penalty), ..momentum };
        let sized = step.position.len() == nodes && step.impulses.len() == contacts.len();
        if !sized || !step.law.has_derivatives() {
            return None;
        }
        let mut derivative = StepDerivative { momentum, bdf, contacts, step, memory };
        derivative.memory.rest = None;
        // Penalties are forces, and no vertex is kept for them.
        let active = if step.is_forced() { &[][..] } else { &step.active[..] };
        let mut needed: Vec<usize> = active.iter().map(|&k| contacts[k].node).collect();
        needed.sort_unstable();
        needed.dedup();
        let is_guest = step.is_guest();
        match is_guest {
            true => derivative.memory.condensation.keep_just(&momentum, &step.kept),
            false => derivative.memory.condensation.keep(&momentum, &needed),
        }
        let (u, x) = (&step.velocity, &step.position);
        if !derivative.memory.condensation.factor_any(&momentum, u, x) {
            return None;
        }
        let stiffness = &mut derivative.memory.stiffness;
        stiffness.start(momentum.elements.pattern());
        let weights = [momentum.rate(), 0.0];
        let material = &momentum.parameters.material;
        momentum.elements.add_stiffness(material, weights, x, u, stiffness);
        momentum.add_penalty_stiffness(weights, u, false, stiffness);
        momentum.add_cable_stiffness(weights, (u, x), false, stiffness);
        if !momentum.held.is_empty() {
            let free = Momentum { fixed: &[], ..momentum };
            if !free.tangent(u, x, false, &mut derivative.memory.free) {
                return None;
            }
        }
        // The contact problem of a guest is another's.
        (is_guest || needed.is_empty() || derivative.factor_contact()).then_some(derivative)
    }

    /// L of the mass of the vertices that may touch, by rows.
    pub(crate) fn mass_factor(&self) -> &[f64] {
        &self.memory.condensation.mass_factor
    }

    /// L^-1 S_k L^-T, by rows, of what the matrix condensed on them is more than L L', if it is.
    pub(crate) fn rest(&self) -> Option<Vec<f64>> {
        let condensation = &self.memory.condensation;
        condensation.has_rest(&self.momentum).then(|| condensation.rest())
    }

    /// What stands at the vertices that may touch.
    pub(crate) fn gather(&self, x: &[[f64; 3]], kept: &mut Vec<f64>) {
        self.memory.condensation.gather(x, kept);
    }

    /// Puts numbers at the vertices that may touch.
    pub(crate) fn scatter(&self, kept: &[f64], x: &mut [[f64; 3]]) {
        self.memory.condensation.scatter(kept, x);
    }

    /// The memory, for the derivative of another step.
    pub fn into_memory(self) -> DerivativeMemory {
        self.memory
    }

    /// The contact problem of which the step is the solution, and its conditions there.
    fn factor_contact(&mut self) -> bool {
        let Self { momentum, contacts, step, memory, .. } = self;
        let DerivativeMemory { condensation, posed, factor, .. } = memory;
        let mut velocity = Vec::new();
        condensation.gather(&step.velocity, &mut velocity);
        let n = velocity.len();
        posed.ask(momentum, contacts, step, condensation.kept());
        if !posed.follow_surfaces((contacts, &step.active), &mut velocity) {
            return false;
        }
        posed.pose(condensation, &velocity);
        let impulses: Vec<f64> = step.active.iter().flat_map(|&k| step.impulses[k]).collect();
        // v_p = v+ - S^-1 J'p
        let mut free = vec![0.0; n];
        let data = posed.node.data(&posed.inputs);
        posed.node.rows.transpose_times(data.jacobian, &impulses, &mut free);
        data.solve_mass(&mut free);
        free.iter_mut().zip(&velocity).for_each(|(free, v)| *free = v - *free);
        posed.pose(condensation, &free);
        posed.outputs.clear();
        posed.outputs.extend(velocity.iter().chain(&impulses));
        posed.node.factor(&step.solution, &posed.inputs, &posed.outputs, factor);
        factor.is_determined() && (!condensation.has_rest(momentum) || self.factor_rest(n))
    }

    /// 1 + H L^-1 S_k L^-T
    fn factor_rest(&mut self, n: usize) -> bool {
        let node = &self.memory.posed.node;
        self.memory.perturbation.fit(node, n, 0);
        self.memory.perturbation.x = self.memory.condensation.rest();
        self.memory.factor.response.respond(node, &mut self.memory.perturbation);
        (0..n).for_each(|k| self.memory.perturbation.x[k * (n + 1)] += 1.0);
        let mut lu = Lu::default();
        let regular = lu.factor(&self.memory.perturbation.x, n);
        self.memory.rest = Some(lu);
        regular
    }

    /// The changes of v+ and x+.
    pub fn tangent(&mut self, change: &StepChange) -> [Vec<[f64; 3]>; 2] {
        let mut begun = self.begin_tangent(change);
        if !self.memory.condensation.kept().is_empty() {
            self.respond(change, &mut begun);
        }
        self.end_tangent(begun)
    }

    /// What a change leaves of the momentum at the vertices that may touch.
    pub(crate) fn begin_tangent(&mut self, change: &StepChange) -> BegunTangent {
        let [now, before] = self.bdf.weights();
        let combine = |x: &[[f64; 3]], old: &[[f64; 3]]| -> Vec<[f64; 3]> {
            let sum =
                |(x, old): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| now * x[k] + before * old[k]);
            x.iter().zip(old).map(sum).collect()
        };
        let (x, v) = (combine(&change.x, &change.x_old), combine(&change.v, &change.v_old));
        let mut b = self.imbalance(&x, &v, change);
        let led = self.led(&x, change);
        if !led.is_empty() {
            let pattern = self.momentum.elements.pattern();
            let negative: Vec<[f64; 3]> = led.iter().map(|v| v.map(|v| -v)).collect();
            self.memory.free.add_product(pattern, &negative, &mut b);
            self.hold_fixed(&mut b);
        }
        self.memory.condensation.forward(false, &mut b);
        BegunTangent { b, x, led }
    }

    /// The velocities of the vertices that may touch, by the own contact problem.
    fn respond(&mut self, change: &StepChange, begun: &mut BegunTangent) {
        let BegunTangent { b, x, .. } = begun;
        let (node, rate) = (&self.memory.posed.node, self.momentum.rate());
        let turns = self.step.active.iter().any(|&k| !self.contacts[k].turning.is_none());
        self.memory.perturbation.fit(node, 1, usize::from(turns));
        self.memory.condensation.gather(b, &mut self.memory.perturbation.x);
        let n = self.memory.perturbation.x.len();
        let l = &self.memory.condensation.mass_factor;
        solve_lower(l, n, &mut self.memory.perturbation.x);
        self.memory
            .perturbation
            .limits
            .extend(self.step.active.iter().map(|&k| change.friction[k]));
        for (offset, &k) in self.memory.perturbation.offsets.iter_mut().zip(&self.step.active) {
            let contact = &self.contacts[k];
            *offset = dot(&contact.normal, &x[contact.node]) / rate
                + self.step.compliance_slope(k, contact, rate) * change.stiffness[k];
        }
        if turns {
            self.turn_rows(change);
        }
        let (node, l) = (&self.memory.posed.node, &self.memory.condensation.mass_factor);
        self.memory.factor.response.respond(node, &mut self.memory.perturbation);
        let own = &mut self.memory.perturbation.x;
        if let Some(rest) = &mut self.memory.rest {
            rest.solve_rows(1, own);
        }
        solve_lower_transpose(l, n, own);
        self.memory.condensation.scatter(own, b);
    }

    /// The changes of v+ and x+ of all nodes, from those of the vertices that may touch.
    pub(crate) fn end_tangent(
        &mut self,
        BegunTangent { mut b, x, led }: BegunTangent,
    ) -> [Vec<[f64; 3]>; 2] {
        self.memory.condensation.backward(false, &mut b);
        let held = self.momentum.held.iter().filter(|_| !led.is_empty());
        held.for_each(|HeldNode { node, .. }| b[*node] = led[*node]);
        let rate = self.momentum.rate();
        let moved = |(x, v): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| x[k] + rate * v[k]);
        let position = x.iter().zip(&b).map(moved).collect();
        [b, position]
    }

    /// The changes of the velocities of held nodes, with `x` of x̄; nothing where none is held.
    fn led(&self, x: &[[f64; 3]], change: &StepChange) -> Vec<[f64; 3]> {
        let (held, rate) = (self.momentum.held, self.momentum.rate());
        let mut led = if held.is_empty() { Vec::new() } else { vec![[0.0; 3]; x.len()] };
        for (k, own) in held.iter().enumerate() {
            let turned = own.turned(&change.x[own.node]);
            let moved = change.held.get(k).copied().unwrap_or_default();
            led[own.node] = [0, 1, 2].map(|i| (turned[i] + moved[i] - x[own.node][i]) / rate);
        }
        led
    }

    /// -dR at fixed velocities, for changes of x̄, v̄ and parameters.
    fn imbalance(&self, x: &[[f64; 3]], v: &[[f64; 3]], whole: &StepChange) -> Vec<[f64; 3]> {
        let Momentum { elements, parameters, .. } = self.momentum;
        let rate = self.momentum.rate();
        let ContactStep { velocity, position, .. } = self.step;
        let mut b = vec![[0.0; 3]; velocity.len()];
        let change = &whole.parameters;
        // Forces are linear in the material.
        elements.add_forces(&change.material, position, velocity, &mut b);
        for (cable, change) in self.momentum.cables.iter().zip(&whole.cables) {
            cable.add_number_forces(change, (position, velocity), &mut b);
        }
        for (k, node, slopes) in self.penalty_slopes() {
            let changes = [whole.friction[k], whole.stiffness[k], whole.damping[k]];
            for (slope, change) in slopes.numbers.iter().zip(changes) {
                (0..3).for_each(|i| b[node][i] += slope[i] * change);
            }
            let contact = &self.contacts[k];
            if !contact.turning.is_none() {
                let turned = contact.turning.turned(&whole.x[node]);
                let nearer = dot(&turned, &contact.turning.way(&position[node]));
                (0..3).for_each(|i| {
                    b[node][i] += slopes.gap[i] * nearer + dot(&slopes.normal[i], &turned);
                });
            }
        }
        let accelerations = self.accelerations();
        for (node, (b, &volume)) in b.iter_mut().zip(elements.unit_weight()).enumerate() {
            for k in 0..3 {
                let (g, dg) = (parameters.gravity[k], change.gravity[k]);
                let weight = volume * (change.density * g + parameters.density * dg);
                b[k] = rate * (b[k] + weight) - change.density * accelerations[node][k];
            }
        }
        elements.add_mass_product(parameters.density, v, &mut b);
        if !self.momentum.law().is_penalty() {
            for (contact, turned) in self.turned_contacts(whole) {
                let impulse = &self.step.impulses[contact];
                let contact = &self.contacts[contact];
                let frame = turned_frame(contact, &turned);
                for (row, p) in frame.iter().zip(impulse) {
                    (0..3).for_each(|i| b[contact.node][i] += row[i] * p);
                }
            }
        }
        let negative: Vec<[f64; 3]> = x.iter().map(|x| x.map(|x| -x)).collect();
        self.memory.stiffness.add_product(elements.pattern(), &negative, &mut b);
        self.hold_fixed(&mut b);
        b
    }

    /// Of the contacts in the contact problem whose planes turn with a change, which they are and how their normals change.
    fn turned_contacts(&self, change: &StepChange) -> impl Iterator<Item = (usize, [f64; 3])> {
        let active = self.step.active.iter().filter(|&&k| !self.contacts[k].turning.is_none());
        active.map(|&k| {
            let VertexContact { node, turning, .. } = &self.contacts[k];
            (k, turning.turned(&change.x[*node]))
        })
    }

    /// What planes that turn with a change do to the rows of the contact problem.
    fn turn_rows(&mut self, change: &StepChange) {
        let Self { memory, contacts, step, momentum, .. } = self;
        let DerivativeMemory { posed, factor, perturbation, .. } = memory;
        let Some(predicted) = momentum.step else { return };
        let preimage = factor.response.preimage();
        if !preimage.is_empty() {
            perturbation.rotations.resize(perturbation.rows.len(), 0.0);
        }
        for (j, (&k, demand)) in step.active.iter().zip(&posed.demands).enumerate() {
            let contact = &contacts[k];
            let node = contact.node;
            let turned = contact.turning.turned(&change.x[node]);
            let frame = turned_frame(contact, &turned);
            let v = &step.velocity[node];
            let relative = contact.relative(v);
            for (i, row) in frame.iter().enumerate() {
                perturbation.rows[3 * j + i] = dot(row, if i == 0 { v } else { &relative });
                if let Some(own) = preimage.as_chunks::<3>().0.get(demand.place) {
                    perturbation.rotations[3 * j + i] = dot(row, own);
                }
            }
            let way = contact.turning.way(&predicted.x[node]);
            perturbation.offsets[j] += dot(&turned, &way) / predicted.rate;
        }
    }

    /// Which contacts press by penalty, on which nodes, and how their forces change.
    fn penalty_slopes(&self) -> impl Iterator<Item = (usize, usize, Slopes)> {
        let (law, rate) = (self.momentum.law(), self.momentum.rate());
        let velocity = &self.step.velocity;
        self.momentum.penalties().iter().enumerate().filter_map(move |(k, contact)| {
            let at = contact.node;
            let slopes = contact.penalty_slopes(
                law,
                rate,
                self.momentum.gap(contact, velocity),
                &velocity[at],
            )?;
            Some((k, at, slopes))
        })
    }

    /// M (u - v̄) for density 1.
    fn accelerations(&self) -> Vec<[f64; 3]> {
        let (momentum, u) = (&self.momentum, &self.step.velocity);
        let row = |row| momentum.elements.mass_row(row, |node| momentum.speed_change(u, node));
        (0..u.len()).map(row).collect()
    }

    fn hold_fixed(&self, b: &mut [[f64; 3]]) {
        for (node, b) in b.iter_mut().enumerate() {
            if self.momentum.is_fixed(node) {
                *b = [0.0; 3];
            }
        }
    }

    /// The adjoints of what the step is made of, from those of v+ and x+.
    pub fn adjoint(&mut self, v: &[[f64; 3]], x: &[[f64; 3]]) -> StepChange {
        let mut begun = self.begin_adjoint(v, x);
        if !self.memory.condensation.kept().is_empty() {
            self.respond_transpose(&mut begun);
        }
        self.end_adjoint((v, x), begun)
    }

    /// What adjoints of v+ and x+ are at the vertices that may touch.
    pub(crate) fn begin_adjoint(&mut self, v: &[[f64; 3]], x: &[[f64; 3]]) -> BegunAdjoint {
        let rate = self.momentum.rate();
        let mut w: Vec<[f64; 3]> =
            v.iter().zip(x).map(|(v, x)| [0, 1, 2].map(|k| v[k] + rate * x[k])).collect();
        let adjoint = StepChange::none(w.len(), self.contacts.len());
        self.memory.condensation.forward(true, &mut w);
        BegunAdjoint { w, adjoint, normals: Vec::new(), places: x.to_vec() }
    }

    /// Those of the vertices that may touch, by the own contact problem.
    fn respond_transpose(&mut self, begun: &mut BegunAdjoint) {
        let BegunAdjoint { w, adjoint, normals, places } = begun;
        let rate = self.momentum.rate();
        let node = &self.memory.posed.node;
        self.memory.perturbation.fit_whole(node, 1);
        self.memory.condensation.gather(w, &mut self.memory.perturbation.x);
        let (l, n) = (&self.memory.condensation.mass_factor, self.memory.perturbation.x.len());
        solve_lower(l, n, &mut self.memory.perturbation.x);
        if let Some(rest) = &mut self.memory.rest {
            rest.solve_transpose_rows(1, &mut self.memory.perturbation.x);
        }
        let none = vec![0.0; node.rows.rows()];
        self.memory.factor.response.respond_transpose(node, &none, &mut self.memory.perturbation);
        let preimage = self.memory.factor.response.preimage();
        let Perturbation { x: own, rows, rotations, offsets, limits, .. } =
            &mut self.memory.perturbation;
        for (j, &k) in self.step.active.iter().enumerate() {
            let contact = &self.contacts[k];
            let (Some(predicted), false) = (self.momentum.step, contact.turning.is_none()) else {
                continue;
            };
            let at = contact.node;
            let weights = |all: &[f64]| [0, 1, 2].map(|i| all[3 * j + i]);
            let (v, [along, first, second]) = (&self.step.velocity[at], weights(rows));
            let mut normal = turned_adjoint(contact, &[0.0, first, second], &contact.relative(v));
            (0..3).for_each(|k| normal[k] += along * v[k]);
            let own = preimage.as_chunks::<3>().0.get(self.memory.posed.demands[j].place);
            if let Some(own) = own {
                let other = turned_adjoint(contact, &weights(rotations), own);
                (0..3).for_each(|i| normal[i] += other[i]);
            }
            let way = contact.turning.way(&predicted.x[at]);
            (0..3).for_each(|i| normal[i] += offsets[j] * way[i] / rate);
            normals.push((k, normal));
        }
        solve_lower_transpose(l, n, own);
        self.memory.condensation.scatter(own, w);
        for (&k, (offset, limit)) in self.step.active.iter().zip(offsets.iter().zip(limits.iter()))
        {
            let contact = &self.contacts[k];
            (0..3).for_each(|i| places[contact.node][i] += contact.normal[i] * offset / rate);
            adjoint.friction[k] = *limit;
            adjoint.stiffness[k] = self.step.compliance_slope(k, contact, rate) * offset;
        }
    }

    /// The adjoints of what the step is made of, from those of v+ and x+, and of the vertices that may touch.
    pub(crate) fn end_adjoint(
        &mut self,
        (v, x): (&[[f64; 3]], &[[f64; 3]]),
        BegunAdjoint { mut w, mut adjoint, mut normals, mut places }: BegunAdjoint,
    ) -> StepChange {
        let Momentum { elements, parameters, .. } = self.momentum;
        let rate = self.momentum.rate();
        self.memory.condensation.backward(true, &mut w);
        self.hold_fixed(&mut w);
        let negative: Vec<[f64; 3]> = w.iter().map(|w| w.map(|w| -w)).collect();
        self.lead_adjoint((v, x), &negative, &mut adjoint, &mut places);
        self.memory.stiffness.add_transpose_product(elements.pattern(), &negative, &mut places);
        let mut velocities = vec![[0.0; 3]; w.len()];
        elements.add_mass_product(parameters.density, &w, &mut velocities);
        let [now, before] = self.bdf.weights();
        let scaled = |x: &[[f64; 3]], weight: f64| -> Vec<[f64; 3]> {
            x.iter().map(|x| x.map(|x| weight * x)).collect()
        };
        (adjoint.x_old, places) = (scaled(&places, before), scaled(&places, now));
        adjoint.x.iter_mut().zip(&places).for_each(|(sum, x)| (0..3).for_each(|k| sum[k] += x[k]));
        (adjoint.v, adjoint.v_old) = (scaled(&velocities, now), scaled(&velocities, before));
        self.parameter_adjoints(&w, &mut adjoint.parameters);
        let motion = (&self.step.position[..], &self.step.velocity[..]);
        let of = |cable: &Cable| cable.number_adjoints(motion, &w).map(|x| rate * x);
        adjoint.cables = self.momentum.cables.iter().map(of).collect();
        for (k, node, slopes) in self.penalty_slopes() {
            let [friction, stiffness, damping] = slopes.numbers.map(|s| rate * dot(&s, &w[node]));
            adjoint.friction[k] += friction;
            adjoint.stiffness[k] += stiffness;
            adjoint.damping[k] += damping;
            let contact = &self.contacts[k];
            if !contact.turning.is_none() {
                let nearer = rate * dot(&slopes.gap, &w[node]);
                let way = contact.turning.way(&self.step.position[node]);
                let own = |i: usize| (0..3).map(|r| slopes.normal[r][i] * w[node][r]).sum::<f64>();
                normals.push((k, [0, 1, 2].map(|i| nearer * way[i] + rate * own(i))));
            }
        }
        let is_exact = !self.momentum.law().is_penalty();
        for (k, mut normal) in normals {
            let contact = &self.contacts[k];
            if is_exact {
                let other = turned_adjoint(contact, &self.step.impulses[k], &w[contact.node]);
                (0..3).for_each(|i| normal[i] += other[i]);
            }
            let moved = contact.turning.turned_transpose(&normal);
            (0..3).for_each(|i| adjoint.x[contact.node][i] += moved[i]);
        }
        adjoint
    }

    /// Those of how nodes are led, and of where they are now and of x̄, from those of v+ and x+ and of -b.
    fn lead_adjoint(
        &self,
        (v, x): (&[[f64; 3]], &[[f64; 3]]),
        negative: &[[f64; 3]],
        adjoint: &mut StepChange,
        places: &mut [[f64; 3]],
    ) {
        let (held, rate) = (self.momentum.held, self.momentum.rate());
        if held.is_empty() {
            return;
        }
        let mut speeds = vec![[0.0; 3]; v.len()];
        let pattern = self.momentum.elements.pattern();
        self.memory.free.add_transpose_product(pattern, negative, &mut speeds);
        for own in held {
            let at = own.node;
            let led = [0, 1, 2].map(|k| (v[at][k] + rate * x[at][k] + speeds[at][k]) / rate);
            (0..3).for_each(|k| places[at][k] -= led[k]);
            let moved = own.turned_back(&led);
            (0..3).for_each(|k| adjoint.x[at][k] += moved[k]);
            adjoint.held.push(led);
        }
    }

    /// Those of parameters, from those of b.
    fn parameter_adjoints(&self, w: &[[f64; 3]], adjoint: &mut SolidParameters<f64>) {
        let Momentum { elements, parameters, .. } = self.momentum;
        let rate = self.momentum.rate();
        let along = |material: SolidMaterial<f64>| {
            let mut forces = vec![[0.0; 3]; w.len()];
            let ContactStep { velocity, position, .. } = self.step;
            elements.add_forces(&material, position, velocity, &mut forces);
            rate * dot(forces.as_flattened(), w.as_flattened())
        };
        let none = SolidMaterial::default();
        adjoint.material = SolidMaterial {
            lame_lambda: along(SolidMaterial { lame_lambda: 1.0, ..none }),
            lame_mu: along(SolidMaterial { lame_mu: 1.0, ..none }),
            viscosity: along(SolidMaterial { viscosity: 1.0, ..none }),
        };
        adjoint.density = -dot(self.accelerations().as_flattened(), w.as_flattened());
        for (w, &volume) in w.iter().zip(elements.unit_weight()) {
            let weight = rate * volume;
            adjoint.density += weight * dot(&parameters.gravity, w);
            (0..3).for_each(|k| adjoint.gravity[k] += weight * parameters.density * w[k]);
        }
    }
}

/// How the frame of a contact changes with its normal, without turning about it: the tangents t by -(t . dn) n.
pub(crate) fn turned_frame(contact: &VertexContact, normal: &[f64; 3]) -> [[f64; 3]; 3] {
    let [_, first, second] = contact.frame();
    let leaned = |t: [f64; 3]| contact.normal.map(|n| -dot(&t, normal) * n);
    [*normal, leaned(first), leaned(second)]
}

/// The adjoint of the normal, from what the rows of the frame are multiplied by on both sides: weights times rows times `x`.
fn turned_adjoint(contact: &VertexContact, weights: &[f64; 3], x: &[f64; 3]) -> [f64; 3] {
    let [_, first, second] = contact.frame();
    let along = dot(&contact.normal, x);
    [0, 1, 2].map(|i| weights[0] * x[i] - along * (weights[1] * first[i] + weights[2] * second[i]))
}
