//! The momentum of all nodes in a step, or their balance at rest, and the matrix of its changes.

use super::bdf::Predicted;
use super::cable::Cable;
use super::held_node::HeldNode;
use super::penalty::Penalty;
use super::vertex_contact::VertexContact;
use super::vertex_law::VertexLaw;
use crate::ad::Real;
use crate::fem::{Elements, SolidMaterial};
use crate::linalg::{BlockMatrix, dot};

/// What a soft body is made of, and the field it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolidParameters<T> {
    /// Stiffness and viscosity.
    pub material: SolidMaterial<T>,
    /// kg/m³
    pub density: T,
    /// m/s²
    pub gravity: [T; 3],
}

/// The balance of a step in its velocities u = v+ (N s), R = M (u - v̄) - a (f(x̄ + a u, u) + M g), where f are the forces of
/// elements and of contacts by penalty; or at rest in places u = x (N), R = -f(x) - M g.
#[derive(Clone, Copy, Debug)]
pub struct Momentum<'a, T> {
    /// The elements.
    pub elements: &'a Elements,
    /// Their material.
    pub parameters: SolidParameters<T>,
    /// The step; at rest none.
    pub step: Option<&'a Predicted<T>>,
    /// Nodes that no force moves: none, or one flag a node. In a step they have the velocities that they are given.
    pub fixed: &'a [bool],
    /// How those of them are led that are not always at one velocity: what the velocities they are given follow from.
    pub held: &'a [HeldNode],
    /// Cables and springs. The pattern of the elements couples the nodes of each.
    pub cables: &'a [Cable<T>],
    /// Contacts by penalty, in steps.
    pub penalty: Option<Penalty<'a, T>>,
}

impl<'a, T: Real> Momentum<'a, T> {
    /// Of a step in which all nodes are free and nothing is touched by penalty.
    pub fn of_step(
        elements: &'a Elements,
        parameters: SolidParameters<T>,
        step: &'a Predicted<T>,
    ) -> Self {
        Momentum { step: Some(step), ..Momentum::at_rest(elements, parameters) }
    }

    /// At rest, where all nodes are free.
    pub fn at_rest(elements: &'a Elements, parameters: SolidParameters<T>) -> Self {
        let (fixed, held, cables) = (&[], &[], &[]);
        Momentum { elements, parameters, step: None, fixed, held, cables, penalty: None }
    }
}

impl<T: Real> Momentum<'_, T> {
    /// a, or 1 at rest.
    pub fn rate(&self) -> f64 {
        self.step.map_or(1.0, |step| step.rate)
    }

    /// Whether no force moves a node.
    pub fn is_fixed(&self, node: usize) -> bool {
        self.fixed.get(node).copied().unwrap_or_default()
    }

    /// x+ at u.
    pub fn positions(&self, u: &[[T; 3]], x: &mut Vec<[T; 3]>) {
        x.clear();
        match self.step {
            Some(step) => x.extend(step.positions(u)),
            None => x.extend_from_slice(u),
        }
    }

    /// The material; at rest without viscosity.
    fn material(&self) -> SolidMaterial<T> {
        match self.step {
            Some(_) => self.parameters.material,
            None => SolidMaterial { viscosity: T::zero(), ..self.parameters.material },
        }
    }

    /// The contacts that are penalties.
    pub(super) fn penalties(&self) -> &[VertexContact<T>] {
        let own = self.penalty.filter(|penalty| penalty.law.is_penalty() && self.step.is_some());
        own.map_or(&[], |penalty| penalty.contacts)
    }

    /// By which law vertices touch.
    pub(super) fn law(&self) -> VertexLaw {
        self.penalty.map_or(VertexLaw::Coupled, |penalty| penalty.law)
    }

    /// How far a vertex is from its plane at u (m): from x̄ on, which loses fewer digits than from x+.
    pub(super) fn gap(&self, contact: &VertexContact<T>, u: &[[T; 3]]) -> T {
        let at = contact.node;
        let start = self.step.map_or(T::zero(), |step| contact.gap(&step.x[at]));
        let [a, b, c] = contact.normal;
        start + (u[at][0] * a + u[at][1] * b + u[at][2] * c) * self.rate()
    }

    /// R at u, where nodes are at x. Zero at those that no force moves.
    pub fn residual(&self, u: &[[T; 3]], x: &[[T; 3]], residual: &mut Vec<[T; 3]>) {
        self.residual_of(u, x, residual, |elements, material, forces| {
            elements.add_forces(material, x, u, forces);
        });
    }

    /// The same, with who adds the forces of elements.
    fn residual_of(
        &self,
        u: &[[T; 3]],
        x: &[[T; 3]],
        residual: &mut Vec<[T; 3]>,
        add: impl FnOnce(&Elements, &SolidMaterial<T>, &mut [[T; 3]]),
    ) {
        let (n, a) = (self.elements.node_count(), self.rate());
        residual.clear();
        residual.resize(n, [T::zero(); 3]);
        add(self.elements, &self.material(), residual);
        for contact in self.penalties() {
            let (law, at) = (self.law(), contact.node);
            if let Some(force) = contact.penalty_force(law, a, self.gap(contact, u), &u[at]) {
                (0..3).for_each(|k| residual[at][k] += force[k]);
            }
        }
        let v = self.step.map(|_| u);
        self.cables.iter().for_each(|cable| cable.add_forces(x, v, residual));
        let SolidParameters { density, gravity, .. } = self.parameters;
        for (sum, &volume) in residual.iter_mut().zip(self.elements.unit_weight()) {
            (0..3).for_each(|k| sum[k] = -(sum[k] + density * gravity[k] * volume) * a);
        }
        for (node, sum) in residual.iter_mut().enumerate() {
            if self.is_fixed(node) {
                *sum = [T::zero(); 3];
                continue;
            }
            let carried = self.elements.mass_row(node, |node| self.speed_change(u, node));
            (0..3).for_each(|k| sum[k] += density * carried[k]);
        }
    }

    /// The potential whose gradient R is, without viscosity and damped cables: (u - v̄)'M (u - v̄)/2 + E(x) - a u'M g, in J; at rest E - x'M g.
    pub fn potential(&self, u: &[[T; 3]], x: &[[T; 3]]) -> T {
        let SolidParameters { density, gravity, .. } = self.parameters;
        let mut sum = self.elements.energy(&self.material(), x);
        self.cables.iter().for_each(|cable| sum += cable.energy(x));
        let a = self.rate();
        for (u, &volume) in u.iter().zip(self.elements.unit_weight()) {
            let along = u[0] * gravity[0] + u[1] * gravity[1] + u[2] * gravity[2];
            sum -= density * along * (a * volume);
        }
        for node in 0..u.len() {
            let change = self.speed_change(u, node);
            let carried = self.elements.mass_row(node, |node| self.speed_change(u, node));
            (0..3).for_each(|k| sum += change[k] * (density * carried[k]) * 0.5);
        }
        sum
    }

    /// u - v̄ of a node (m/s), zero at rest.
    pub(super) fn speed_change(&self, u: &[[T; 3]], node: usize) -> [T; 3] {
        self.step.map_or([T::zero(); 3], |step| [0, 1, 2].map(|k| u[node][k] - step.v[node][k]))
    }
}

impl Momentum<'_, f64> {
    /// Whether the matrix is symmetric: without viscosity, damped cables and friction of penalties.
    pub fn is_symmetric(&self) -> bool {
        let is_damped = self.step.is_some() && self.cables.iter().any(|cable| cable.damping != 0.0);
        self.material().viscosity == 0.0 && self.penalties().is_empty() && !is_damped
    }

    /// Whether what nodes are held and pulled by is of its nodes, and the pattern couples those of each cable.
    pub(super) fn is_consistent(&self) -> bool {
        let nodes = self.elements.node_count();
        let pattern = self.elements.pattern();
        let coupled = |a: usize, b: usize| a < nodes && b < nodes && pattern.find(a, b).is_some();
        (self.fixed.is_empty() || self.fixed.len() == nodes)
            && self.held.iter().all(|held| self.is_fixed(held.node))
            && self.cables.iter().all(|own| {
                let later = |k: usize| own.nodes().skip(k);
                own.nodes().enumerate().all(|(k, a)| later(k).all(|b| coupled(a, b)))
            })
    }

    /// A guess with which little is strained: the velocities that nodes are given, and of the others their mean.
    pub(super) fn let_rest(&self, u: &mut [[f64; 3]]) {
        let fixed = || u.iter().enumerate().filter(|(node, _)| self.is_fixed(*node));
        let count = fixed().count().max(1) as f64;
        let add =
            |sum: [f64; 3], (_, u): (usize, &[f64; 3])| [0, 1, 2].map(|k| sum[k] + u[k] / count);
        let mean = fixed().fold([0.0; 3], add);
        let free = u.iter_mut().enumerate().filter(|(node, _)| !self.is_fixed(*node));
        free.for_each(|(_, u)| *u = mean);
    }

    /// dR/du = M + a D + a² K (kg), or K (N/m) at rest; `projected` to be positive definite. False if it is not finite.
    #[must_use]
    pub fn tangent(
        &self,
        u: &[[f64; 3]],
        x: &[[f64; 3]],
        projected: bool,
        matrix: &mut BlockMatrix<f64>,
    ) -> bool {
        let (elements, a) = (self.elements, self.rate());
        matrix.start(elements.pattern());
        let weights = [a * a, a];
        let finite = match projected {
            true => elements.add_projected_stiffness(&self.material(), weights, x, matrix),
            false => {
                elements.add_stiffness(&self.material(), weights, x, u, matrix);
                true
            }
        };
        if self.step.is_some() {
            let density = self.parameters.density;
            for (block, &volume) in matrix.blocks.iter_mut().zip(elements.unit_mass()) {
                (0..3).for_each(|k| block[k][k] += density * volume);
            }
        }
        self.add_penalty_stiffness(weights, u, projected, matrix);
        self.add_cable_stiffness(weights, (u, x), projected, matrix);
        self.hold_fixed(matrix);
        finite && matrix.blocks.iter().flatten().flatten().all(|x| x.is_finite())
    }

    /// matrix += `weights[0]` times -df/dx and `weights[1]` times -df/dv of the cables.
    pub(super) fn add_cable_stiffness(
        &self,
        weights: [f64; 2],
        (u, x): (&[[f64; 3]], &[[f64; 3]]),
        projected: bool,
        matrix: &mut BlockMatrix<f64>,
    ) {
        let v = self.step.map(|_| u);
        for cable in self.cables {
            let to = (self.elements.pattern(), &mut *matrix);
            cable.add_stiffness(weights, projected, (x, v), to);
        }
    }

    /// matrix += `weights[0]` times -df/dx and `weights[1]` times -df/dv of the contacts by penalty; `projected` on what is
    /// positive along normals and tangents.
    pub(super) fn add_penalty_stiffness(
        &self,
        weights: [f64; 2],
        u: &[[f64; 3]],
        projected: bool,
        matrix: &mut BlockMatrix<f64>,
    ) {
        let pattern = self.elements.pattern();
        for contact in self.penalties() {
            let (law, at) = (self.law(), contact.node);
            let slopes = contact.penalty_slopes(law, self.rate(), self.gap(contact, u), &u[at]);
            let (Some(slopes), Some(place)) = (slopes, pattern.find(at, at)) else { continue };
            let own = [0, 1, 2].map(|i| {
                [0, 1, 2].map(|j| {
                    -(weights[0] * slopes.place[i][j] + weights[1] * slopes.velocity[i][j])
                })
            });
            let target = &mut matrix.blocks[place];
            if !projected {
                (0..9).for_each(|k| target[k / 3][k % 3] += own[k / 3][k % 3]);
                continue;
            }
            for axis in contact.frame() {
                let along = dot(&own.map(|row| dot(&row, &axis)), &axis).max(0.0);
                (0..9).for_each(|k| target[k / 3][k % 3] += along * axis[k / 3] * axis[k % 3]);
            }
        }
    }

    /// Rows and columns of nodes that no force moves are those of the unit matrix.
    fn hold_fixed(&self, matrix: &mut BlockMatrix<f64>) {
        if self.fixed.is_empty() {
            return;
        }
        let pattern = self.elements.pattern();
        for row in 0..pattern.nodes() {
            for (column, at) in pattern.row(row) {
                if self.is_fixed(row) || self.is_fixed(column) {
                    let unit = f64::from(u8::from(row == column));
                    matrix.blocks[at] = [[unit, 0.0, 0.0], [0.0, unit, 0.0], [0.0, 0.0, unit]];
                }
            }
        }
    }

    /// R, and what it is compared to (N s, at rest N): the largest force of an element at a node, times a, gravity and
    /// momentum, tension; and how much of it rounding may be.
    pub fn measured_residual(
        &self,
        u: &[[f64; 3]],
        x: &[[f64; 3]],
        residual: &mut Vec<[f64; 3]>,
    ) -> f64 {
        let mut largest = 0.0;
        self.residual_of(u, x, residual, |elements, material, forces| {
            largest = elements.add_forces_measured(material, x, u, forces);
        });
        let a = self.rate();
        let SolidParameters { density, gravity, .. } = self.parameters;
        let largest = largest * a;
        let pull = gravity.iter().fold(0.0, |most: f64, g| most.max(g.abs())) * a;
        let mut scale = largest;
        for (node, &volume) in self.elements.unit_weight().iter().enumerate() {
            let speed = self.step.map_or(0.0, |step| {
                (0..3).fold(0.0, |most: f64, k| most.max((u[node][k] - step.v[node][k]).abs()))
            });
            scale = scale.max(density * volume * pull.max(speed));
        }
        let v = self.step.map(|_| u);
        for cable in self.cables {
            let [_, tension] = cable.length_and_tension(x, v);
            scale = scale.max(a * tension.abs());
        }
        for contact in self.penalties() {
            let at = contact.node;
            if let Some(force) = contact.penalty_force(self.law(), a, self.gap(contact, u), &u[at])
            {
                scale = force.iter().fold(scale, |most, f| most.max(a * f.abs()));
            }
        }
        scale
    }
}
