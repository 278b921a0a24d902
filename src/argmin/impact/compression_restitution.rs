//! An impact in two phases [Zhong21]: compression (5), then restitution by Poisson's hypothesis (7).

use super::cone_program::ConeProgram;
use super::solution::ConeSolution;
use crate::ad::Real;
use crate::linalg::wide_dot;

/// After compression a velocity below this part of those before is what rounding left of zero. As a
/// problem of its own it would have modes at random.
const ROUNDING: f64 = 1e-12;

/// What an impact is about, in contact space: vectors of each contact are [normal, tangent] or
/// [normal, tangent 1, tangent 2].
#[derive(Clone, Copy, Debug)]
pub struct Impact<'a, T> {
    /// A, m x n row-major, A'A the inverse inertia in contact space (1/kg).
    pub factor: &'a [T],
    /// v, the velocity before (m/s), n.
    pub velocity: &'a [T],
    /// v*, the least velocity after that penetration asks for (m/s), n.
    pub target: &'a [T],
    /// mu, one a contact.
    pub friction: &'a [T],
    /// e_P, one a contact.
    pub restitution: &'a [T],
    /// epsilon (1/kg): both problems have A'A + epsilon I, the velocity between them is of A'A alone (CMr of `Zhong21`). 0 for none.
    pub regularization: f64,
}

/// The law of impacts of \[Zhong21\], with its memory. Compression stops the bodies,
///
/// ```text
/// f_c = argmin 1/2 |A f|^2 + f'v,   f in the friction cones   (5)
/// ```
///
/// and restitution gives at least the part e_P of its normal impulses back,
///
/// ```text
/// f_r = argmin 1/2 |A f|^2 + f'(v + A'A f_c - v*),   the same and f_n >= e_P f_c,n   (7)
/// ```
///
/// Which f_c is taken where several stop the bodies alike: see [`ConeProgram`]. Reused for impacts of
/// the same size, it allocates nothing.
#[derive(Debug)]
pub struct CompressionRestitution<T: Real> {
    node: ConeProgram,
    inputs: Vec<T>,
    compression: Vec<T>,
    restitution: Vec<T>,
    velocity: Vec<T>,
    workspace: T::Workspace<ConeProgram>,
    /// How the first problem was solved.
    pub compression_solution: ConeSolution,
    /// How the second was.
    pub restitution_solution: ConeSolution,
}

impl<T: Real> CompressionRestitution<T> {
    /// For impacts of `contacts` contacts in `dimension` dimensions (2 or 3), solved to the relative
    /// natural residual `tolerance`.
    pub fn new(contacts: usize, dimension: usize, tolerance: f64) -> Self {
        CompressionRestitution {
            node: ConeProgram { contacts, dimension, rows: 0, tolerance },
            inputs: Vec::new(),
            compression: Vec::new(),
            restitution: Vec::new(),
            velocity: Vec::new(),
            workspace: Default::default(),
            compression_solution: ConeSolution::default(),
            restitution_solution: ConeSolution::default(),
        }
    }

    /// The impulses of compression and restitution (N s), n each. Sizes that do not fit are told by the
    /// solutions' reports; the impulses are zero then.
    pub fn solve(&mut self, impact: &Impact<T>) -> (&[T], &[T]) {
        let n = self.node.contacts * self.node.dimension;
        self.node.rows = impact.factor.len() / n.max(1);
        if impact.regularization > 0.0 {
            self.node.rows += n;
        }
        self.velocity.clear();
        self.velocity.extend_from_slice(impact.velocity);
        self.compression.clear();
        self.compression.resize(n, T::zero());
        self.restitution.clear();
        self.restitution.resize(n, T::zero());
        fill(&mut self.inputs, impact, &self.velocity, std::iter::empty(), &self.node);
        let workspace = &mut self.workspace;
        let solution = &mut self.compression_solution;
        T::call(&self.node, &self.inputs, &mut self.compression, solution, workspace);

        // v + A'A f_c - v*
        for row in impact.factor.chunks_exact(n.max(1)) {
            let along = wide_dot(row, &self.compression);
            self.velocity.iter_mut().zip(row).for_each(|(v, &a)| *v += a * along);
        }
        let size = |x: &[T]| x.iter().map(|x| x.value().abs()).fold(0.0, f64::max);
        let rounding = ROUNDING * size(impact.velocity);
        for (v, &target) in self.velocity.iter_mut().zip(impact.target) {
            *v -= target;
            if v.value().abs() <= rounding {
                *v -= T::constant(v.value());
            }
        }
        let normals = self.compression.iter().step_by(self.node.dimension.max(1));
        let bounds = normals.zip(impact.restitution).map(|(&f, &e)| e * f);
        fill(&mut self.inputs, impact, &self.velocity, bounds, &self.node);
        let solution = &mut self.restitution_solution;
        T::call(&self.node, &self.inputs, &mut self.restitution, solution, workspace);
        (&self.compression, &self.restitution)
    }
}

/// The inputs of a cone program; bounds that are not given are zero.
fn fill<T: Real>(
    inputs: &mut Vec<T>,
    impact: &Impact<T>,
    velocity: &[T],
    bounds: impl Iterator<Item = T>,
    node: &ConeProgram,
) {
    inputs.clear();
    let n = node.contacts * node.dimension;
    if impact.target.len() != n || impact.restitution.len() != node.contacts {
        // Without inputs the node says that they are invalid.
        return;
    }
    inputs.extend_from_slice(impact.factor);
    if impact.regularization > 0.0 {
        let root = impact.regularization.sqrt();
        let entry = |k: usize| T::constant(if k / n == k % n { root } else { 0.0 });
        inputs.extend((0..n * n).map(entry));
    }
    inputs.extend_from_slice(velocity);
    inputs.extend_from_slice(impact.friction);
    inputs.extend(bounds.chain(std::iter::repeat(T::zero())).take(node.contacts));
}
