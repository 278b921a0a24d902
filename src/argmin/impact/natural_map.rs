//! The natural map of a cone program: how far impulses are from solving it, which faces of the cones
//! they lie on, and how far that is from another.

use super::faces::ConeInputs;
use super::solution::ConeMode;
use crate::ad::Real;

/// Nearer to the border of a face than this, relative to the problem's velocities, a contact is on it.
const BORDER: f64 = 1e-10;

/// A cone program's scales, in f64.
#[derive(Clone, Debug, Default)]
pub(super) struct ConeScales {
    /// Of each contact, the largest diagonal entry of A'A: turns impulses into velocities.
    diagonal: Vec<f64>,
    /// The largest velocity in the data, v or what t amounts to.
    velocity: f64,
}

fn length(x: [f64; 3]) -> f64 {
    x[1].hypot(x[2])
}

/// The nearest point of the cone |x_t| <= mu x_n with x_n >= t, and the face it is on; what is
/// within `border` of an edge counts as on its inactive side, near the apex as the apex.
pub fn project(p: [f64; 3], mu: f64, least: f64, border: f64) -> ([f64; 3], ConeMode) {
    let tangential = length(p);
    let toward = |radius: f64| {
        let factor = if tangential > radius { radius / tangential } else { 1.0 };
        [p[1] * factor, p[2] * factor]
    };
    let bounded = least > 0.0;
    if !bounded && p[0] + mu * tangential <= border {
        return ([0.0; 3], ConeMode::Apex);
    }
    // Without friction there is no inside.
    let inside = mu > 0.0 && tangential <= mu * p[0] + border;
    let normal = if inside { p[0] } else { (p[0] + mu * tangential) / (1.0 + mu * mu) };
    if !bounded || normal >= least - border {
        let [x, y] = toward(mu * normal.max(0.0));
        let mode = if inside { ConeMode::Inside } else { ConeMode::Surface };
        return ([normal.max(least), x, y], mode);
    }
    let [x, y] = toward(mu * least);
    let inside = mu > 0.0 && tangential <= mu * least + border;
    ([least, x, y], if inside { ConeMode::HeldInside } else { ConeMode::HeldSurface })
}

impl ConeScales {
    pub fn measure<T: Real>(&mut self, inputs: &ConeInputs<T>) {
        let n = inputs.v.len();
        self.diagonal.clear();
        self.velocity = 0.0;
        for i in 0..inputs.mu.len() {
            let square = |k: usize| -> f64 {
                inputs.a.chunks_exact(n).map(|row| row[k].value() * row[k].value()).sum()
            };
            let columns = i * inputs.dimension..(i + 1) * inputs.dimension;
            let diagonal = columns.map(square).fold(0.0, f64::max);
            let least = inputs.bound(i).value();
            self.velocity = self.velocity.max(diagonal * least);
            self.diagonal.push(diagonal);
        }
        let largest = inputs.v.iter().map(|v| v.value().abs()).fold(0.0, f64::max);
        self.velocity = self.velocity.max(largest);
    }

    /// Impulse less velocity, in units of impulse.
    fn argument<T: Real>(
        &self,
        inputs: &ConeInputs<T>,
        f: &[T],
        gradient: &[T],
        i: usize,
    ) -> [f64; 3] {
        let (x, g) = (inputs.at(f, i), inputs.at(gradient, i));
        let inverse = if self.diagonal[i] > 0.0 { self.diagonal[i].recip() } else { 0.0 };
        std::array::from_fn(|k| x[k].value() - inverse * g[k].value())
    }

    /// Largest |f_i - Proj(f_i - g_i / diagonal)| as a velocity, relative to the data's.
    pub fn residual<T: Real>(&self, inputs: &ConeInputs<T>, f: &[T], gradient: &[T]) -> f64 {
        let mut worst = 0.0_f64;
        for (i, &diagonal) in self.diagonal.iter().enumerate() {
            let p = self.argument(inputs, f, gradient, i);
            let (nearest, _) = project(p, inputs.mu[i].value(), inputs.least[i].value(), 0.0);
            let x = inputs.at(f, i);
            for (x, nearest) in x.iter().zip(nearest) {
                let error = (x.value() - nearest).abs() * diagonal;
                let error = if error == 0.0 { 0.0 } else { error / self.velocity };
                // A NaN must not pass for a small residual.
                worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
            }
        }
        worst
    }

    /// The face of each contact, and the direction of friction where its limit is zero: against the
    /// slip, 0 if there is none.
    pub fn classify<T: Real>(
        &self,
        inputs: &ConeInputs<T>,
        f: &[T],
        gradient: &[T],
        modes: &mut Vec<ConeMode>,
        directions: &mut Vec<[f64; 2]>,
    ) {
        modes.clear();
        directions.clear();
        for (i, &diagonal) in self.diagonal.iter().enumerate() {
            let p = self.argument(inputs, f, gradient, i);
            let border = if diagonal > 0.0 { BORDER * self.velocity / diagonal } else { 0.0 };
            let (mu, least) = (inputs.mu[i].value(), inputs.least[i].value());
            let (_, mut mode) = project(p, mu, least, border);
            if diagonal == 0.0 {
                // Moves nothing that moves.
                mode = match (least > 0.0, mu > 0.0) {
                    (true, true) => ConeMode::HeldInside,
                    (true, false) => ConeMode::HeldSurface,
                    (false, _) => ConeMode::Apex,
                };
            }
            let g = inputs.at(gradient, i).map(|g| g.value());
            let slip = length(g);
            let limited = !matches!(mode, ConeMode::Inside | ConeMode::HeldInside);
            let slips = limited && slip > BORDER * self.velocity;
            directions.push(if slips { [-g[1] / slip, -g[2] / slip] } else { [0.0; 2] });
            modes.push(mode);
        }
    }

    /// Least distance of any contact to another face: a velocity, or an impulse as one, relative to
    /// the data's, or the part of friction's limit that is left.
    pub fn margin<T: Real>(
        &self,
        inputs: &ConeInputs<T>,
        modes: &[ConeMode],
        f: &[T],
        gradient: &[T],
    ) -> f64 {
        let mut least = f64::INFINITY;
        for (i, mode) in modes.iter().enumerate() {
            let x = inputs.at(f, i).map(|x| x.value());
            let g = inputs.at(gradient, i).map(|g| g.value());
            let mu = inputs.mu[i].value();
            let slip = length(g) / self.velocity;
            let lift = (g[0] - mu * length(g)) / self.velocity;
            let normal = (x[0] - inputs.bound(i).value()) * self.diagonal[i] / self.velocity;
            let left = 1.0 - length(x) / (mu * x[0]);
            // Without friction nothing depends on whether it slips but d/d mu, which has one side.
            let slip = if mu == 0.0 { f64::INFINITY } else { slip };
            let margin = match mode {
                ConeMode::Apex => lift,
                ConeMode::Inside => normal.min(left),
                ConeMode::Surface => normal.min(slip),
                ConeMode::HeldInside => left.min(g[0] / self.velocity),
                ConeMode::HeldSurface => slip.min(lift),
            };
            // Also where there are no velocities: 0 / 0.
            least = if margin >= least { least } else { margin };
        }
        if least.is_nan() { 0.0 } else { least.max(0.0) }
    }
}
