//! Quadratic programs with bounds: min 1/2 x'Hx + g'x, lower <= x <= upper, by projected Newton steps (Tassa,
//! Mansard and Todorov, "Control-limited differential dynamic programming", 2014, Sec. III B).

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

const ITERATIONS: usize = 100;
/// Least decrease of a step, as a share of what its slope promises.
const ARMIJO: f64 = 0.1;
/// The gradient is solved for to this, relative to g.
const TOLERANCE: f64 = 1e-10;

/// A solution.
pub struct BoxQp {
    pub x: DVector<f64>,
    /// The components within their bounds.
    pub free: Vec<usize>,
    /// Of H among the free ones.
    pub factor: Cholesky<f64, Dyn>,
}

/// Solves it from `start`; nothing if H is not positive definite among components that are free on the way.
pub fn solve(
    h: &DMatrix<f64>,
    g: &DVector<f64>,
    bounds: &[[f64; 2]],
    start: &DVector<f64>,
) -> Option<BoxQp> {
    let clamp = |x: DVector<f64>| {
        DVector::from_iterator(x.len(), x.iter().zip(bounds).map(|(x, [l, u])| x.clamp(*l, *u)))
    };
    let value = |x: &DVector<f64>| 0.5 * x.dot(&(h * x)) + g.dot(x);
    let mut x = clamp(start.clone());
    for iteration in 0.. {
        let gradient = h * &x + g;
        let free: Vec<usize> = (0..x.len())
            .filter(|&k| {
                let [lower, upper] = bounds[k];
                !(x[k] <= lower && gradient[k] > 0.0 || x[k] >= upper && gradient[k] < 0.0)
            })
            .collect();
        let among = gradient.select_rows(&free);
        let factor = Cholesky::new(h.select_rows(&free).select_columns(&free))?;
        let solved = among.amax() <= TOLERANCE * g.amax().max(1e-300);
        if free.is_empty() || solved || iteration == ITERATIONS {
            return Some(BoxQp { x, free, factor });
        }
        let newton = -factor.solve(&among);
        let mut direction = DVector::zeros(x.len());
        free.iter().zip(newton.iter()).for_each(|(&k, &step)| direction[k] = step);
        // Along the projection of the step; H is convex among the free, so a short one goes down.
        let (slope, from) = (gradient.dot(&direction), value(&x));
        let steps = std::iter::successors(Some(1.0), |step| Some(0.5 * step)).take(50);
        let next = steps
            .map(|step| (step, clamp(&x + &direction * step)))
            .find(|(step, next)| value(next) - from <= ARMIJO * step * slope);
        let Some((_, next)) = next else { return Some(BoxQp { x, free, factor }) };
        x = next;
    }
    None
}
