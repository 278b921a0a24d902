//! The faces of friction cones, and a [cone program](super::ConeProgram) reduced to those its solution
//! lies on.

use super::solution::ConeMode;
use crate::ad::Real;
use crate::linalg::{PivotedCholesky, wide_dot};

/// A view of the inputs of a cone program.
#[derive(Clone, Copy)]
pub(super) struct ConeInputs<'a, T> {
    /// d, rows of an impulse.
    pub dimension: usize,
    /// m x n
    pub a: &'a [T],
    pub v: &'a [T],
    pub mu: &'a [T],
    pub least: &'a [T],
}

impl<'a, T: Real> ConeInputs<'a, T> {
    /// y <- A f
    pub fn times(&self, f: &[T], y: &mut Vec<T>) {
        y.clear();
        y.extend(self.a.chunks_exact(f.len().max(1)).map(|row| wide_dot(row, f)));
    }

    /// g <- A'y
    pub fn transpose_times(&self, y: &[T], g: &mut Vec<T>) {
        let n = self.v.len();
        g.clear();
        g.resize(n, T::zero());
        for (row, &y) in self.a.chunks_exact(n.max(1)).zip(y) {
            for (g, &a) in g.iter_mut().zip(row) {
                *g += a * y;
            }
        }
    }

    /// The vector of contact `i`, the last entries zero if it is in the plane.
    pub fn at<S: Real>(&self, x: &[S], i: usize) -> [S; 3] {
        let zero = S::zero();
        std::array::from_fn(|k| if k < self.dimension { x[i * self.dimension + k] } else { zero })
    }

    /// Writes the vector of contact `i`.
    pub fn set(&self, x: &mut [T], i: usize, value: [T; 3]) {
        x[i * self.dimension..][..self.dimension].copy_from_slice(&value[..self.dimension]);
    }

    /// t where it bounds, else 0.
    pub fn bound(&self, i: usize) -> T {
        if self.least[i].value() > 0.0 { self.least[i] } else { T::zero() }
    }
}

fn length<T: Real>(t: [T; 2]) -> T {
    (t[0] * t[0] + t[1] * t[1]).sqrt()
}

/// What of a contact's impulse is free.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// f_n; on the surface friction follows.
    Normal,
    Tangent(usize),
    /// Along the circle of friction's limit, by its length.
    Arc,
}

#[derive(Clone, Copy, Debug)]
struct Unknown {
    contact: usize,
    kind: Kind,
}

/// Where a contact is on its face.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<T> {
    pub mode: ConeMode,
    pub mu: T,
    /// Of friction, where it is at its limit.
    pub direction: [T; 2],
    /// Friction's limit.
    pub radius: T,
    /// -g_t . direction: the speed that the limit costs.
    pub slip: T,
}

impl<T: Real> Frame<T> {
    /// The derivative of the impulse by mu, and by t, at fixed unknowns.
    pub fn moved_by(&self, f: [T; 3], least: T) -> ([T; 3], [T; 3]) {
        let (zero, one, d) = (T::zero(), T::one(), self.direction);
        let opens = [zero, f[0] * d[0], f[0] * d[1]];
        let follows = [one, self.mu * d[0], self.mu * d[1]];
        match self.mode {
            ConeMode::Inside => ([zero; 3], [zero; 3]),
            ConeMode::Surface => (opens, [zero; 3]),
            ConeMode::HeldInside => ([zero; 3], [one, zero, zero]),
            ConeMode::HeldSurface => (opens, follows),
            // One-sided: a bound that rises from zero lifts the impulse.
            ConeMode::Apex if least.value() == 0.0 => (opens, follows),
            ConeMode::Apex => ([zero; 3], [zero; 3]),
        }
    }
}

/// The program on the faces: unknowns y, their columns C = A B with B = df/dy, and the Hessian H = C'C
/// plus the curvature of the cones.
#[derive(Clone, Debug, Default)]
pub(super) struct ConeFaces<T> {
    unknowns: Vec<Unknown>,
    pub frames: Vec<Frame<T>>,
    /// A f, and g = A'A f + v.
    pub image: Vec<T>,
    pub gradient: Vec<T>,
    /// C', a row an unknown.
    columns: Vec<T>,
    hessian: Vec<T>,
    cholesky: PivotedCholesky<T>,
}

impl<T: Real> ConeFaces<T> {
    /// Places `f` on the faces, and linearises there.
    pub fn linearise(
        &mut self,
        inputs: &ConeInputs<T>,
        modes: &[ConeMode],
        directions: &[[f64; 2]],
        f: &[T],
    ) {
        inputs.times(f, &mut self.image);
        inputs.transpose_times(&self.image, &mut self.gradient);
        for (g, &v) in self.gradient.iter_mut().zip(inputs.v) {
            *g += v;
        }
        self.unknowns.clear();
        self.frames.clear();
        for (contact, &mode) in modes.iter().enumerate() {
            let (x, g) = (inputs.at(f, contact), inputs.at(&self.gradient, contact));
            let mu = inputs.mu[contact];
            let radius = mu * x[0];
            let on_surface = matches!(mode, ConeMode::Surface | ConeMode::HeldSurface);
            let some = x[1].value() != 0.0 || x[2].value() != 0.0;
            let turns = on_surface && radius.value() > 0.0 && some;
            let direction = if turns {
                let size = length([x[1], x[2]]);
                [x[1] / size, x[2] / size]
            } else {
                directions[contact].map(T::constant)
            };
            let slip = -(g[1] * direction[0] + g[2] * direction[1]);
            self.frames.push(Frame { mode, mu, direction, radius, slip });
            let mut push = |kind| self.unknowns.push(Unknown { contact, kind });
            if matches!(mode, ConeMode::Inside | ConeMode::Surface) {
                push(Kind::Normal);
            }
            if matches!(mode, ConeMode::Inside | ConeMode::HeldInside) {
                (1..inputs.dimension).for_each(|k| push(Kind::Tangent(k - 1)));
            }
            if turns && inputs.dimension == 3 {
                push(Kind::Arc);
            }
        }
    }

    /// Forms and factorises the Hessian. NaN anywhere is found by rank and results.
    pub fn factor(&mut self, inputs: &ConeInputs<T>) {
        let (k, n) = (self.unknowns.len(), inputs.v.len());
        let m = self.image.len();
        self.columns.clear();
        self.columns.resize(k * m, T::zero());
        for (column, &unknown) in self.columns.chunks_exact_mut(m.max(1)).zip(&self.unknowns) {
            let motion = motion(&self.frames, unknown);
            for (c, row) in column.iter_mut().zip(inputs.a.chunks_exact(n.max(1))) {
                let x = inputs.at(row, unknown.contact);
                *c = x[0] * motion[0] + x[1] * motion[1] + x[2] * motion[2];
            }
        }
        self.hessian.clear();
        self.hessian.resize(k * k, T::zero());
        let column = |i: usize| &self.columns[i * m..(i + 1) * m];
        for i in 0..k {
            for j in 0..=i {
                let product = wide_dot(column(i), column(j));
                self.hessian[i * k + j] = product;
                self.hessian[j * k + i] = product;
            }
            if self.unknowns[i].kind == Kind::Arc {
                let Frame { slip, radius, .. } = self.frames[self.unknowns[i].contact];
                // A solution slides against its slip; before it is one, the sign may be wrong.
                if slip.value() > 0.0 {
                    self.hessian[i * k + i] += slip / radius;
                }
            }
        }
        self.cholesky.factor(&self.hessian, k);
    }

    /// Whether something of the unknowns is not felt.
    pub fn is_deficient(&self) -> bool {
        self.cholesky.rank() < self.unknowns.len()
    }

    /// z <- B'x
    pub fn reduce(&self, inputs: &ConeInputs<T>, x: &[T], z: &mut Vec<T>) {
        z.clear();
        z.extend(self.unknowns.iter().map(|&unknown| {
            let (motion, x) = (motion(&self.frames, unknown), inputs.at(x, unknown.contact));
            motion[0] * x[0] + motion[1] * x[1] + motion[2] * x[2]
        }));
    }

    /// x += B z
    pub fn expand(&self, inputs: &ConeInputs<T>, z: &[T], x: &mut [T]) {
        for (&unknown, &z) in self.unknowns.iter().zip(z) {
            let motion = motion(&self.frames, unknown);
            let at = unknown.contact * inputs.dimension;
            for (x, &m) in x[at..at + inputs.dimension].iter_mut().zip(&motion) {
                *x += m * z;
            }
        }
    }

    /// z <- H+ z, the least of the solutions.
    pub fn solve(&mut self, z: &mut [T]) {
        self.cholesky.solve(z);
    }

    /// z <- N z, the part that is not felt.
    pub fn reject(&mut self, z: &mut [T]) {
        self.cholesky.reject(z);
    }

    /// z <- the unknowns of `f`, less those of `held`.
    pub fn unknowns_of(&self, inputs: &ConeInputs<T>, f: &[T], held: &[f64], z: &mut Vec<T>) {
        z.clear();
        z.extend(self.unknowns.iter().map(|unknown| {
            let at = unknown.contact * inputs.dimension;
            match unknown.kind {
                Kind::Normal => f[at] - held[at],
                Kind::Tangent(k) => f[at + 1 + k] - held[at + 1 + k],
                Kind::Arc => T::zero(),
            }
        }));
    }

    /// The inverse of [`Self::unknowns_of`], on values.
    pub fn hold(&self, dimension: usize, z: &[T], held: &mut [f64]) {
        held.fill(0.0);
        for (unknown, z) in self.unknowns.iter().zip(z) {
            let at = unknown.contact * dimension;
            match unknown.kind {
                Kind::Normal => held[at] = z.value(),
                Kind::Tangent(k) => held[at + 1 + k] = z.value(),
                Kind::Arc => {}
            }
        }
    }

    /// w with C'w the felt part of the unknowns `z`; `z` is overwritten.
    pub fn preimage(&mut self, z: &mut [T], w: &mut Vec<T>) {
        self.cholesky.solve(z);
        let m = self.image.len();
        w.clear();
        w.resize(m, T::zero());
        for (column, &z) in self.columns.chunks_exact(m.max(1)).zip(z.iter()) {
            for (w, &c) in w.iter_mut().zip(column) {
                *w += c * z;
            }
        }
    }

    /// Moves `f` by the step `z` along the faces, and onto them.
    pub fn retract(&self, inputs: &ConeInputs<T>, z: &[T], f: &mut [T]) {
        let mut unknowns = self.unknowns.iter().zip(z).peekable();
        for (i, frame) in self.frames.iter().enumerate() {
            let mut x = inputs.at(f, i);
            let mut arc = T::zero();
            while let Some((unknown, &z)) = unknowns.next_if(|(u, _)| u.contact == i) {
                match unknown.kind {
                    Kind::Normal => x[0] += z,
                    Kind::Tangent(k) => x[1 + k] += z,
                    Kind::Arc => arc = z,
                }
            }
            match frame.mode {
                ConeMode::Inside | ConeMode::Surface => {}
                ConeMode::HeldInside | ConeMode::HeldSurface | ConeMode::Apex => {
                    x[0] = inputs.bound(i);
                    if inputs.least[i].value() == 0.0 {
                        x[0] = inputs.least[i];
                    }
                }
            }
            if !matches!(frame.mode, ConeMode::Inside | ConeMode::HeldInside) {
                let d = frame.direction;
                let (mut turned, mut size) = (d, T::one());
                if frame.radius.value() > 0.0 && inputs.dimension == 3 {
                    let angle = arc / frame.radius;
                    turned = [d[0] - d[1] * angle, d[1] + d[0] * angle];
                    size = length(turned);
                }
                let radius = frame.mu * x[0] / size;
                x = [x[0], radius * turned[0], radius * turned[1]];
            }
            inputs.set(f, i, x);
        }
    }

    /// The mean diagonal entry of H.
    pub fn mean_diagonal(&self) -> T {
        let k = self.unknowns.len();
        let trace = (0..k).fold(T::zero(), |sum, i| sum + self.hessian[i * k + i]);
        trace / k.max(1) as f64
    }

    /// For contact `i` on the surface, what its row of C'w, with A'w `pulled`, gains by mu and by the
    /// arc.
    pub fn turned(&self, inputs: &ConeInputs<T>, pulled: &[T], i: usize) -> (T, T) {
        let Frame { mu, direction: d, radius, .. } = self.frames[i];
        let p = inputs.at(pulled, i);
        (p[1] * d[0] + p[2] * d[1], mu * (p[2] * d[0] - p[1] * d[1]) / radius)
    }

    /// All conditions, n: those of the unknowns are given, the others keep `f` on its faces.
    pub fn conditions(&self, inputs: &ConeInputs<T>, z: &[T], f: &[T], conditions: &mut [T]) {
        let mut unknowns = self.unknowns.iter().zip(z).peekable();
        for (i, frame) in self.frames.iter().enumerate() {
            let (x, d) = (inputs.at(f, i), frame.direction);
            let least = inputs.least[i];
            let normal = match frame.mode {
                ConeMode::HeldInside | ConeMode::HeldSurface => x[0] - least,
                ConeMode::Apex if least.value() == 0.0 => x[0] - least,
                _ => x[0],
            };
            let mut c = [normal, x[1] - frame.radius * d[0], x[2] - frame.radius * d[1]];
            while let Some((unknown, &z)) = unknowns.next_if(|(u, _)| u.contact == i) {
                match unknown.kind {
                    Kind::Normal => c[0] = z,
                    Kind::Tangent(k) => c[1 + k] = z,
                    // Along the circle, and its radius.
                    Kind::Arc => {
                        c[1] = length([x[1], x[2]]) - frame.radius;
                        c[2] = z;
                    }
                }
            }
            inputs.set(conditions, i, c);
        }
    }

    /// Calls `f(k, s, i)` for each contact `i` on the surface with a free normal unknown `k`, `s` that
    /// of its arc.
    pub fn for_each_surface(&self, mut f: impl FnMut(usize, Option<usize>, usize)) {
        for (k, unknown) in self.unknowns.iter().enumerate() {
            let i = unknown.contact;
            if unknown.kind == Kind::Normal && self.frames[i].mode == ConeMode::Surface {
                let arc = self.unknowns.get(k + 1).filter(|u| u.contact == i);
                f(k, arc.map(|_| k + 1), i);
            }
        }
    }
}

/// How an unknown moves its contact's impulse.
fn motion<T: Real>(frames: &[Frame<T>], unknown: Unknown) -> [T; 3] {
    let (zero, one) = (T::zero(), T::one());
    let Frame { mode, mu, direction: d, .. } = frames[unknown.contact];
    match unknown.kind {
        Kind::Normal if mode == ConeMode::Surface => [one, mu * d[0], mu * d[1]],
        Kind::Normal => [one, zero, zero],
        Kind::Tangent(0) => [zero, one, zero],
        Kind::Tangent(_) => [zero, zero, one],
        Kind::Arc => [zero, -d[1], d[0]],
    }
}
