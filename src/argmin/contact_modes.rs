//! The optimality conditions of the coupled contact problem at given modes, linearised.
//!
//! In each mode a contact has its own unknowns: none where it breaks; the normal impulse and two
//! tangential ones where it sticks; the normal impulse and the arc along the edge of the friction
//! disk where it slides or is clamped. With e the direction of the arc, d that of the friction (e at
//! right angles), s the slip speed and R = mu lambda_n:
//!
//! | unknown | condition h = 0 | moves lambda by |
//! |---|---|---|
//! | normal | u_n - target + c lambda_n | (1, mu d) sliding or clamped, (1, 0) sticking |
//! | stick  | u_t + a (I - P) lambda_t | each tangent |
//! | slide  | R e.u_t, scaled by 1 / (s + R g) | (0, e) |
//! | clamp  | e.u_t + a (I - P) e.lambda_t | (0, e) |
//!
//! A clamp is the slide of s = 0: along d others keep it from slipping, across d it does so itself.
//!
//! P projects on the range of the tangential rows of all sticking contacts, and of those of the
//! clamps across d: it adds the condition that impulses between contacts that cancel be zero, which
//! is the minimum-norm rule, and leaves the velocities alone, since J v+ lies in that range. Without
//! compliance the normal rows join them. `a` only scales.

use super::contact_data::{ContactData, Delassus};
use crate::ad::Real;
use crate::linalg::{Lu, Range, dot, solve_lower_transpose};

/// What a contact does in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Apart: no impulse.
    #[default]
    Break,
    /// Touches, does not slip; the impulse is inside the friction cone.
    Stick,
    /// Touches and slips; the impulse is on the cone, opposed to the slip.
    Slide,
    /// Touches and does not slip, because others hold it; the impulse is on the cone.
    Clamp,
}

impl Mode {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Break => "break",
            Mode::Stick => "stick",
            Mode::Slide => "slide",
            Mode::Clamp => "clamp",
        }
    }
}

/// An unknown of the reduced system: its contact and what it is.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    contact: usize,
    kind: Kind,
}

/// A condition that shares the least-norm rule: its unknown, and its row in contact space, three
/// numbers from `first` on.
#[derive(Clone, Copy, Debug)]
struct Member<T> {
    unknown: usize,
    first: usize,
    row: [T; 3],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Normal,
    /// The tangent 0 or 1.
    Stick(usize),
    Slide,
    Clamp,
}

/// How the conditions are kept nonsingular where impulses are not unique.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Selection {
    /// By the rule: least norm. Fails where a sliding contact does not slip.
    LeastNorm,
    /// Proximal: stay near the iterate. Always solvable; any of the solutions.
    Proximal,
    /// The same, and steps are kept short by this weight relative to the diagonal.
    Damped(f64),
}

/// Weight of the proximal term relative to the diagonal. Small enough to converge in a step or
/// two, large enough that rounding of the dependent rows (1e-16) stays below 1e-6 of the impulses.
const PROXIMAL: f64 = 1e-9;

/// Where the conditions are linearised.
#[derive(Clone, Copy)]
pub(super) struct Iterate<'a, T> {
    pub modes: &'a [Mode],
    /// Direction of the friction of contacts that slide or clamp.
    pub directions: &'a [[T; 2]],
    pub lambda: &'a [T],
    /// Contact velocities.
    pub u: &'a [T],
    /// See [`ContactSolution`](super::ContactSolution).
    pub held: &'a [f64],
}

/// The linearised conditions, factorised.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactModes<T> {
    unknowns: Vec<Unknown>,
    /// Direction of the friction of each contact.
    pub direction: Vec<[T; 2]>,
    /// For slides, R / (s + R g): the scaled weight of e.u_t.
    weight: Vec<T>,
    mu: Vec<T>,
    modes: Vec<Mode>,
    matrix: Vec<T>,
    lu: Lu<T>,
    /// The conditions that share the least-norm rule.
    members: Vec<Member<T>>,
    range: Range<T>,
    /// a: the mean diagonal of G over the members.
    range_scale: f64,
    /// y with J y = lambda - held on the members.
    preimage: Vec<T>,
    rows: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> ContactModes<T> {
    /// Sets up and factorises the conditions. False if singular.
    #[must_use]
    pub fn factor(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        at: &Iterate<T>,
        selection: Selection,
    ) -> bool {
        let Iterate { modes, directions, lambda, u, held } = *at;
        let n = 3 * data.contacts;
        self.modes.clear();
        self.modes.extend_from_slice(modes);
        self.direction.clear();
        self.direction.extend_from_slice(directions);
        self.mu.clear();
        self.mu.extend_from_slice(data.mu);
        self.unknowns.clear();
        self.weight.clear();
        for (i, &mode) in modes.iter().enumerate() {
            let mut weight = T::zero();
            let mut push = |kind| self.unknowns.push(Unknown { contact: i, kind });
            if mode != Mode::Break {
                push(Kind::Normal);
            }
            if mode == Mode::Stick {
                push(Kind::Stick(0));
                push(Kind::Stick(1));
            }
            // Without friction there is nothing to turn.
            if mode == Mode::Clamp && data.mu[i].value() > 0.0 {
                push(Kind::Clamp);
            }
            if mode == Mode::Slide {
                push(Kind::Slide);
                let d = directions[i];
                let slip = -(d[0] * u[3 * i + 1] + d[1] * u[3 * i + 2]);
                let radius = data.mu[i] * lambda[3 * i];
                let total = slip + radius * delassus.tangential_scale(i);
                if total.value() > 0.0 {
                    weight = radius / total;
                }
            }
            self.weight.push(weight);
        }
        self.range.clear();
        if selection == Selection::LeastNorm {
            self.project(data, delassus, lambda, held);
        }

        let size = self.unknowns.len();
        self.matrix.clear();
        self.matrix.resize(size * size, T::zero());
        for (k, &row) in self.unknowns.iter().enumerate() {
            let b = self.test(row);
            for (l, &column) in self.unknowns.iter().enumerate() {
                let c = self.motion(column);
                let mut sum = T::zero();
                for (r, &b) in b.iter().enumerate() {
                    if b.value() == 0.0 {
                        continue;
                    }
                    let at = (3 * row.contact + r) * n + 3 * column.contact;
                    let g = &delassus.g[at..at + 3];
                    sum += b * (g[0] * c[0] + g[1] * c[1] + g[2] * c[2]);
                }
                self.matrix[k * size + l] = sum;
            }
            self.matrix[k * size + k] += match row.kind {
                Kind::Normal => data.compliance[row.contact],
                Kind::Stick(..) | Kind::Clamp => T::zero(),
                Kind::Slide => {
                    // s / (s + R g) = 1 - g R / (s + R g)
                    T::one() - self.weight[row.contact] * delassus.tangential_scale(row.contact)
                }
            };
        }
        // The compliance of normals, where there is one, is proximal term enough.
        let (weight, normals) = match selection {
            Selection::LeastNorm => (0.0, false),
            Selection::Proximal => (PROXIMAL, data.is_rigid()),
            Selection::Damped(weight) => (weight, true),
        };
        for (k, row) in self.unknowns.iter().enumerate() {
            let scale = match row.kind {
                Kind::Normal if normals => delassus.normal_scale(row.contact),
                Kind::Normal => 0.0,
                Kind::Stick(..) | Kind::Clamp => delassus.tangential_scale(row.contact),
                Kind::Slide => 1.0,
            };
            self.matrix[k * size + k] += T::constant(weight * scale);
        }
        if selection == Selection::LeastNorm {
            self.add_projector();
        }
        self.lu.factor(&self.matrix, size)
    }

    /// The range of the rows that share the least-norm rule: the tangential ones of sticking
    /// contacts, those across d of clamps and, without compliance, the normal ones of all.
    fn project(
        &mut self,
        data: &ContactData<T>,
        delassus: &Delassus<T>,
        lambda: &[T],
        held: &[f64],
    ) {
        let nv = data.velocities;
        let rigid = data.is_rigid();
        self.members.clear();
        self.rows.clear();
        for (k, &unknown) in self.unknowns.iter().enumerate() {
            match unknown.kind {
                Kind::Slide => continue,
                Kind::Normal if !rigid => continue,
                Kind::Normal | Kind::Stick(..) | Kind::Clamp => {}
            }
            let (first, row) = (3 * unknown.contact, self.test(unknown));
            let start = self.rows.len();
            self.rows.resize(start + nv, T::zero());
            for (r, &b) in row.iter().enumerate() {
                let w = &delassus.w[(first + r) * nv..(first + r + 1) * nv];
                for (row, &w) in self.rows[start..].iter_mut().zip(w) {
                    *row += b * w;
                }
            }
            self.members.push(Member { unknown: k, first, row });
        }
        self.gather(|r| lambda[r] - held[r]);
        let trace: f64 = self.rows.iter().map(|x| x.value() * x.value()).sum();
        self.range_scale = trace / self.members.len().max(1) as f64;
        self.range.factor(&self.rows, self.members.len(), nv);
        self.preimage.clear();
        self.preimage.resize(nv, T::zero());
        if self.range.is_deficient() {
            self.range.solve(&self.scratch, &mut self.preimage);
            // From W = J L^-T back to J.
            solve_lower_transpose(data.mass_factor, nv, &mut self.preimage);
        }
    }

    /// Adds a (I - P) to the rows that share the least-norm rule.
    fn add_projector(&mut self) {
        if !self.range.is_deficient() {
            return;
        }
        let size = self.unknowns.len();
        for m in 0..self.members.len() {
            self.scratch.clear();
            self.scratch.resize(self.members.len(), T::zero());
            self.scratch[m] = T::one();
            self.range.reject(&mut self.scratch);
            let column = self.members[m].unknown;
            for (row, &x) in self.members.iter().zip(&self.scratch) {
                self.matrix[row.unknown * size + column] += x * self.range_scale;
            }
        }
    }

    /// The row of a condition in contact space: what it asks of the contact's velocity.
    fn test(&self, unknown: Unknown) -> [T; 3] {
        let (zero, one) = (T::zero(), T::one());
        match unknown.kind {
            Kind::Normal => [one, zero, zero],
            Kind::Stick(0) => [zero, one, zero],
            Kind::Stick(..) => [zero, zero, one],
            Kind::Slide => {
                let (d, w) = (self.direction[unknown.contact], self.weight[unknown.contact]);
                [zero, -d[1] * w, d[0] * w]
            }
            Kind::Clamp => self.motion(unknown),
        }
    }

    /// The column of an unknown in contact space: how it moves the contact's impulse.
    fn motion(&self, unknown: Unknown) -> [T; 3] {
        let (zero, one) = (T::zero(), T::one());
        let d = self.direction[unknown.contact];
        match unknown.kind {
            Kind::Normal => match self.modes[unknown.contact] {
                Mode::Slide | Mode::Clamp => {
                    let mu = self.mu[unknown.contact];
                    [one, mu * d[0], mu * d[1]]
                }
                _ => [one, zero, zero],
            },
            Kind::Stick(0) => [zero, one, zero],
            Kind::Stick(..) => [zero, zero, one],
            Kind::Slide | Kind::Clamp => [zero, -d[1], d[0]],
        }
    }

    /// Whether the friction of contact `i` follows its normal impulse along a direction.
    pub fn follows(&self, i: usize) -> bool {
        matches!(self.modes[i], Mode::Slide | Mode::Clamp)
    }

    /// z <- B' x for a contact-space vector `x`, by unknown.
    pub fn reduce_rows(&self, x: &[T], z: &mut Vec<T>) {
        z.clear();
        z.extend(self.unknowns.iter().map(|&unknown| {
            let b = self.test(unknown);
            let i = 3 * unknown.contact;
            b[0] * x[i] + b[1] * x[i + 1] + b[2] * x[i + 2]
        }));
    }

    /// z <- C' x for a contact-space vector `x`, by unknown.
    pub fn reduce_columns(&self, x: &[T], z: &mut Vec<T>) {
        z.clear();
        z.extend(self.unknowns.iter().map(|&unknown| {
            let c = self.motion(unknown);
            let i = 3 * unknown.contact;
            c[0] * x[i] + c[1] * x[i + 1] + c[2] * x[i + 2]
        }));
    }

    /// x += C z
    pub fn expand_columns(&self, z: &[T], x: &mut [T]) {
        for (&unknown, &z) in self.unknowns.iter().zip(z) {
            let c = self.motion(unknown);
            for r in 0..3 {
                x[3 * unknown.contact + r] += c[r] * z;
            }
        }
    }

    /// x += B z
    pub fn expand_rows(&self, z: &[T], x: &mut [T]) {
        for (&unknown, &z) in self.unknowns.iter().zip(z) {
            let b = self.test(unknown);
            for r in 0..3 {
                x[3 * unknown.contact + r] += b[r] * z;
            }
        }
    }

    /// Calls `f(k, i)` for the normal unknown `k` of each contact `i`.
    pub fn for_each_normal(&self, mut f: impl FnMut(usize, usize)) {
        for (k, unknown) in self.unknowns.iter().enumerate() {
            if unknown.kind == Kind::Normal {
                f(k, unknown.contact);
            }
        }
    }

    /// z <- K^-1 z
    pub fn solve(&mut self, z: &mut [T]) {
        self.lu.solve(z);
    }

    /// z <- K^-T z
    pub fn solve_transpose(&mut self, z: &mut [T]) {
        self.lu.solve_transpose(z);
    }

    /// Sets `held` to (I - P) lambda, so that `lambda` meets the conditions as it is.
    pub fn hold(&mut self, lambda: &[T], held: &mut [f64]) {
        held.fill(0.0);
        if !self.range.is_deficient() {
            return;
        }
        self.gather(|r| lambda[r]);
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            for (r, &b) in member.row.iter().enumerate() {
                held[member.first + r] += (b * x).value();
            }
        }
    }

    /// Adds a (I - P) (lambda - held) to the conditions `h`.
    pub fn add_rejected(&mut self, lambda: &[T], held: &[f64], h: &mut [T]) {
        if !self.range.is_deficient() {
            return;
        }
        self.gather(|r| lambda[r] - held[r]);
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            h[member.unknown] += x * self.range_scale;
        }
    }

    /// Adds the change of P with the rows J, -a (I - P) dJ y, to the conditions `h`.
    pub fn add_rotated(&mut self, row_tangents: &[T], velocities: usize, h: &mut [T]) {
        if !self.range.is_deficient() {
            return;
        }
        let preimage = std::mem::take(&mut self.preimage);
        self.gather(|r| dot(&row_tangents[r * velocities..(r + 1) * velocities], &preimage));
        self.preimage = preimage;
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            h[member.unknown] -= x * self.range_scale;
        }
    }

    /// The transpose of [`Self::add_rotated`]: adjoints of the rows J from those `eta` of `h`.
    pub fn add_rotated_adjoint(&mut self, eta: &[T], velocities: usize, row_adjoints: &mut [T]) {
        if !self.range.is_deficient() {
            return;
        }
        self.scratch.clear();
        self.scratch.extend(self.members.iter().map(|member| eta[member.unknown]));
        self.range.reject(&mut self.scratch);
        for (member, &x) in self.members.iter().zip(&self.scratch) {
            for (r, &b) in member.row.iter().enumerate() {
                let at = (member.first + r) * velocities;
                let felt = b * x * self.range_scale;
                for (a, &y) in row_adjoints[at..at + velocities].iter_mut().zip(&self.preimage) {
                    *a -= felt * y;
                }
            }
        }
    }

    /// Fills `scratch` with what each member's row makes of the contact-space vector `x`.
    fn gather(&mut self, x: impl Fn(usize) -> T) {
        self.scratch.clear();
        self.scratch.extend(self.members.iter().map(|&Member { first, row, .. }| {
            row.iter().enumerate().fold(T::zero(), |sum, (r, &b)| sum + b * x(first + r))
        }));
    }
}
