//! Newton's method on a [cone program](super::ConeProgram): an interior point finds the faces of the
//! cones, and on them the program is a smooth one.

use super::faces::{ConeFaces, ConeInputs};
use super::natural_map::ConeScales;
use super::solution::{ConeMode, ConeSolution};
use crate::ad::Real;
use crate::argmin::block_rows::BlockRows;
use crate::argmin::interior_point::{ConeInteriorPoint, ConeProgramData};
use crate::argmin::status::{Report, Status};

/// Tolerance of the interior point, whose end Newton starts from.
const START: f64 = 1e-10;
/// How often the faces are looked at anew.
const ROUNDS: usize = 12;
/// Newton steps on given faces.
const STEPS: usize = 12;

/// The solver's memory.
#[derive(Clone, Debug, Default)]
pub struct ConeWorkspace<T> {
    interior_point: ConeInteriorPoint,
    rows: BlockRows,
    /// A', v, mu, t, no compliance, and f, in f64.
    values: [Vec<f64>; 6],
    scales: ConeScales,
    faces: ConeFaces<T>,
    best: Vec<T>,
    z: Vec<T>,
    unfelt: Vec<T>,
    modes: Vec<ConeMode>,
    directions: Vec<[f64; 2]>,
}

impl<T: Real> ConeWorkspace<T> {
    /// Solves for the impulses `f`.
    pub(super) fn solve(
        &mut self,
        inputs: &ConeInputs<T>,
        tolerance: f64,
        solution: &mut ConeSolution,
        f: &mut [T],
    ) {
        let iterations = self.start(inputs, f);
        solution.report = Report { iterations, ..Report::default() };
        self.scales.measure(inputs);
        let found = self.find_faces(inputs, solution, f);
        self.select(inputs, solution, found.max(0.1 * tolerance), f);
        if T::ORDER > 0 {
            // What is left carries derivatives, an order a step.
            let held = std::mem::take(&mut solution.held);
            for _ in 0..1 + T::ORDER {
                self.newton(inputs, solution, Some(&held), f);
            }
            solution.held = held;
        }
        let residual = self.residual(inputs, solution, f);
        let margin = self.scales.margin(inputs, &solution.modes, f, &self.faces.gradient);
        let status = if residual <= tolerance { Status::Solved } else { Status::Stalled };
        solution.report = Report { status, residual, margin, ..solution.report };
    }

    /// f <- the interior point's; returns its iterations.
    fn start(&mut self, inputs: &ConeInputs<T>, f: &mut [T]) -> usize {
        let (n, m) = (f.len(), inputs.a.len() / f.len().max(1));
        self.rows.clear();
        let tree = self.rows.add_tree(m);
        for _ in inputs.mu {
            self.rows.add_block(inputs.dimension, [tree, tree]);
        }
        let [w, v, mu, least, compliance, start] = &mut self.values;
        w.clear();
        w.extend((0..n * m).map(|k| inputs.a[k % m * n + k / m].value()));
        for (to, from) in [(&mut *v, inputs.v), (&mut *mu, inputs.mu), (&mut *least, inputs.least)]
        {
            to.clear();
            to.extend(from.iter().map(|x| x.value()));
        }
        compliance.clear();
        compliance.resize(mu.len(), 0.0);
        start.clear();
        start.resize(n, 0.0);
        let data = ConeProgramData { rows: &self.rows, w, b: v, mu, compliance, least };
        let report = self.interior_point.solve(&data, false, START, start);
        for (f, &start) in f.iter_mut().zip(start.iter()) {
            *f = T::constant(start);
        }
        report.iterations
    }

    /// A step of Newton's on the faces, less what is not felt if `held` is given; returns its length
    /// relative to `f`.
    fn newton(
        &mut self,
        inputs: &ConeInputs<T>,
        solution: &ConeSolution,
        held: Option<&[f64]>,
        f: &mut [T],
    ) -> f64 {
        let ConeSolution { modes, directions, .. } = solution;
        self.faces.linearise(inputs, modes, directions, f);
        self.faces.retract(inputs, &[], f);
        self.faces.linearise(inputs, modes, directions, f);
        self.faces.factor(inputs);
        self.faces.reduce(inputs, &self.faces.gradient, &mut self.z);
        self.faces.solve(&mut self.z);
        self.z.iter_mut().for_each(|z| *z = -*z);
        if let Some(held) = held.filter(|_| self.faces.is_deficient()) {
            self.faces.unknowns_of(inputs, f, held, &mut self.unfelt);
            self.faces.reject(&mut self.unfelt);
            for (z, &unfelt) in self.z.iter_mut().zip(&self.unfelt) {
                *z -= unfelt;
            }
        }
        self.faces.retract(inputs, &self.z, f);
        let size = |x: &[T]| x.iter().map(|x| x.value().abs()).fold(0.0, f64::max);
        size(&self.z) / size(f)
    }

    /// The natural residual; leaves the gradient in `faces`.
    fn residual(&mut self, inputs: &ConeInputs<T>, solution: &ConeSolution, f: &[T]) -> f64 {
        self.faces.linearise(inputs, &solution.modes, &solution.directions, f);
        self.scales.residual(inputs, f, &self.faces.gradient)
    }

    /// Classifies and solves in turn until the faces stay; leaves the best f and its faces, and returns
    /// its residual.
    fn find_faces(
        &mut self,
        inputs: &ConeInputs<T>,
        solution: &mut ConeSolution,
        f: &mut [T],
    ) -> f64 {
        self.best.clear();
        self.best.extend_from_slice(f);
        let mut best = self.residual(inputs, solution, f);
        for _ in 0..ROUNDS {
            self.classify(inputs, f);
            if self.modes == solution.modes {
                break;
            }
            std::mem::swap(&mut solution.modes, &mut self.modes);
            std::mem::swap(&mut solution.directions, &mut self.directions);
            for _ in 0..STEPS {
                solution.report.iterations += 1;
                let length = self.newton(inputs, solution, None, f);
                // Quadratic: the next step would be rounding.
                if length.is_nan() || length <= 1e-9 {
                    break;
                }
            }
            let residual = self.residual(inputs, solution, f);
            if residual < best {
                best = residual;
                self.best.clear();
                self.best.extend_from_slice(f);
            }
            if f.iter().any(|f| !f.value().is_finite()) {
                break;
            }
        }
        f.copy_from_slice(&self.best);
        self.classify(inputs, f);
        std::mem::swap(&mut solution.modes, &mut self.modes);
        std::mem::swap(&mut solution.directions, &mut self.directions);
        best
    }

    /// The faces at `f`, left in `modes` and `directions`.
    fn classify(&mut self, inputs: &ConeInputs<T>, f: &[T]) {
        self.faces.linearise(inputs, &[], &[], f);
        let (modes, directions) = (&mut self.modes, &mut self.directions);
        self.scales.classify(inputs, f, &self.faces.gradient, modes, directions);
    }

    /// Makes the part of `f` that is not felt the least, or holds it.
    fn select(
        &mut self,
        inputs: &ConeInputs<T>,
        solution: &mut ConeSolution,
        enough: f64,
        f: &mut [T],
    ) {
        solution.held.clear();
        solution.held.resize(f.len(), 0.0);
        self.faces.linearise(inputs, &solution.modes, &solution.directions, f);
        self.faces.factor(inputs);
        if !self.faces.is_deficient() {
            return;
        }
        self.best.clear();
        self.best.extend_from_slice(f);
        self.faces.unknowns_of(inputs, f, &solution.held, &mut self.unfelt);
        self.faces.reject(&mut self.unfelt);
        self.faces.hold(inputs.dimension, &self.unfelt, &mut solution.held);
        self.unfelt.iter_mut().for_each(|z| *z = -*z);
        self.faces.retract(inputs, &self.unfelt, f);
        if self.residual(inputs, solution, f) <= enough {
            solution.held.fill(0.0);
        } else {
            f.copy_from_slice(&self.best);
        }
    }
}
