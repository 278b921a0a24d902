//! The natural map of the coupled contact problem: how far impulses are from solving it, and from
//! another mode. All on values.

use super::law::{self, Law, Mode, length, project};
use super::problem::{ContactData, Delassus};
use crate::argmin::block_rows::RowBlock;
use crate::packed::packed;

/// Slip below this fraction of the velocity scale counts as none. Rounding leaves 1e-15.
pub(crate) const SLIP_TOLERANCE: f64 = 1e-11;

/// The natural map's argument at block `i` with impulses `x` and velocities `v`: impulse less velocity,
/// in units of impulse. Zeros beyond the rows of the block.
pub(super) fn natural_argument(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    i: usize,
    x: &[f64],
    v: &[f64],
) -> [f64; 3] {
    let inverse = |d: f64| if d > 0.0 { 1.0 / d } else { 0.0 };
    let normal_velocity = v[0] + data.compliance[i] * x[0];
    let mut rn = inverse(delassus.normal_scale(i));
    let (&[_, x1, x2, ..], &[_, v1, v2, ..]) = (x, v) else {
        return [x[0] - rn * normal_velocity, 0.0, 0.0];
    };
    let mut rt = inverse(delassus.tangential_scale(i));
    if data.laws[i].is_associated() {
        // The cone is not a product: one scale for both, or the projection is not Euclidean.
        rn = rn.min(rt);
        rt = rn;
    }
    [x[0] - rn * normal_velocity, x1 - rt * v1, x2 - rt * v2]
}

/// Velocities that impulses make are known up to rounding of what each contributes: residuals are
/// relative to no less than this fraction of the largest contribution. It matters where a light body
/// carries ten thousand times its own weight.
const ROUNDED: f64 = 1e-4;

/// Residuals are relative to no more than this many times the scale, however large contributions are: at a tolerance
/// of 1e-10 what is solved obeys the law to 1e-4 of the velocities that are there.
const MOST_ROUNDED: f64 = 1e6;

/// Impulses beyond this many times one that could stop all there is are nobody's.
const IMPOSSIBLE: f64 = 1e12;

/// Largest violation over the blocks of lambda = Proj(lambda - D^-1 u), as a velocity, relative
/// to `scale`; the projection is that of the law.
pub(super) fn natural_residual(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    lambda: &[f64],
    u: &[f64],
    scale: f64,
) -> f64 {
    if scale == 0.0 {
        return lambda.iter().map(|x| x.abs()).fold(0.0, f64::max);
    }
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for (i, block) in data.blocks().iter().enumerate() {
        let at = &lambda[block.range()];
        largest = largest.max(at[0].abs() * delassus.normal_scale(i));
        let p = natural_argument(data, delassus, i, at, &u[block.range()]);
        let z = project(data.laws[i], data.limit[i], p);
        let mut error = (at[0] - z[0]).abs() * delassus.normal_scale(i);
        if let [_, x, y] = *at {
            let across = length([x - z[1], y - z[2]]) * delassus.tangential_scale(i);
            // A NaN must not get lost in the maximum.
            error = if across > error || across.is_nan() { across } else { error };
        }
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    worst / scale.max((ROUNDED * largest).min(MOST_ROUNDED * scale))
}

/// Whether impulses are finite, and not far beyond what would stop the heaviest body from the greatest velocity there
/// is or is asked for. Where a contact hardly moves anything the conditions may ask for any impulse.
fn are_possible(data: &ContactData<f64>, lambda: &[f64], scale: f64) -> bool {
    let fastest = data.free.iter().fold(scale, |most, v| most.max(v.abs()));
    let inertia = |tree: usize| {
        let n = data.rows.tree(tree).len();
        let rows = data.factor(tree).chunks_exact(n.max(1));
        rows.map(|row| row.iter().map(|l| l * l).sum()).fold(0.0, f64::max)
    };
    let heaviest = (0..data.rows.trees()).map(inertia).fold(0.0, f64::max);
    let most = IMPOSSIBLE * heaviest * fastest;
    let is_possible = |(block, law): (&RowBlock, &Law)| {
        let given = usize::from(law.is_given());
        let decided = &lambda[block.range()];
        decided.iter().all(|x| x.is_finite()) && decided[given..].iter().all(|x| x.abs() <= most)
    };
    data.blocks().iter().zip(data.laws).all(is_possible)
}

/// The [`natural_residual`] of a result; infinite where the impulses are such as nothing could have, which no small
/// residual makes a solution.
pub(super) fn final_residual(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    lambda: &[f64],
    u: &[f64],
    scale: f64,
) -> f64 {
    if scale > 0.0 && !are_possible(data, lambda, scale) {
        return f64::INFINITY;
    }
    natural_residual(data, delassus, lambda, u, scale)
}

/// Least distance of any block to another mode: velocity or impulse (as a velocity) relative to
/// the velocity scale, or the fraction of the friction disk that a sticking contact leaves unused.
pub(super) fn margin(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    modes: &[Mode],
    lambda: &[f64],
    u: &[f64],
) -> f64 {
    let scale = delassus.velocity_scale();
    if scale == 0.0 && !modes.is_empty() {
        // Nothing moves, nothing presses: all are at the border.
        return 0.0;
    }
    let mut least = f64::INFINITY;
    for (i, (block, &mode)) in data.blocks().iter().zip(modes).enumerate() {
        let (x, v) = (&lambda[block.range()], &u[block.range()]);
        let normal = x[0] * delassus.normal_scale(i) / scale;
        let slack = law::margin(data.laws[i], mode, data.limit[i], (x, v), (normal, scale));
        least = least.min(slack);
    }
    least.max(0.0)
}

/// The fastest slip of contacts that hold with their friction at its limit.
pub(super) fn held_slip(data: &ContactData<f64>, modes: &[Mode], u: &[f64]) -> f64 {
    let blocks = data.blocks().iter().zip(modes).zip(data.limit);
    let held = blocks.filter(|((_, mode), limit)| **mode == Mode::Clamp && **limit > 0.0);
    let slips = held.map(|((block, _), _)| match u[block.range()] {
        [_, x, y] => length([x, y]),
        _ => 0.0,
    });
    slips.fold(0.0, f64::max)
}

/// How far impulses are from each part of Coulomb's law by itself, whatever law they were solved for.
/// All three are velocities relative to the largest contact velocity without impulses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactResiduals {
    /// Largest |min(g lambda_n, u_n - target + c lambda_n)|: penetrating, pulling, or pushing from
    /// apart. g is the contact's own diagonal of J M^-1 J'.
    pub complementarity: f64,
    /// Largest g (|lambda_t| - mu lambda_n): friction beyond the cone.
    pub cone: f64,
    /// Largest |u_t| + u_t . lambda_t / (mu lambda_n), weighed by g mu lambda_n and at most 1: power that
    /// friction fails to dissipate where a contact slips.
    pub dissipation: f64,
}

impl ContactResiduals {
    /// The larger of each; what is not a number counts as infinite.
    pub fn max(self, other: ContactResiduals) -> ContactResiduals {
        let larger = |a: f64, b: f64| {
            if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
        };
        ContactResiduals {
            complementarity: larger(self.complementarity, other.complementarity),
            cone: larger(self.cone, other.cone),
            dissipation: larger(self.dissipation, other.dissipation),
        }
    }
}

/// The residuals of the blocks of three rows by Coulomb's law, and of those of one row by their own.
pub(super) fn contact_residuals(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    lambda: &[f64],
    u: &[f64],
    scale: f64,
) -> ContactResiduals {
    let mut worst = ContactResiduals::default();
    if scale == 0.0 {
        return worst;
    }
    for (i, block) in data.blocks().iter().enumerate() {
        let (x, v) = (&lambda[block.range()], &u[block.range()]);
        if x.iter().chain(v).any(|x| x.is_nan()) {
            let all = f64::INFINITY;
            return ContactResiduals { complementarity: all, cone: all, dissipation: all };
        }
        let pressed = v[0] + data.compliance[i] * x[0];
        let g = delassus.normal_scale(i);
        let complementarity = if data.laws[i].is_one_sided() {
            (g * x[0]).min(pressed).abs() / scale
        } else {
            let p = natural_argument(data, delassus, i, x, v);
            (x[0] - project(data.laws[i], data.limit[i], p)[0]).abs() * g / scale
        };
        let mut own = ContactResiduals { complementarity, ..ContactResiduals::default() };
        if let [_, a, b] = *x {
            let g = delassus.tangential_scale(i);
            let radius = data.limit[i] * x[0].max(0.0);
            let (slip, friction) = (length([v[1], v[2]]), length([a, b]));
            own.cone = (g * (friction - radius)).max(0.0) / scale;
            let lost = radius * slip + v[1] * a + v[2] * b;
            let size = radius.max(friction);
            if size > 0.0 {
                own.dissipation = lost.max(0.0) / size * (g * size / scale).min(1.0) / scale;
            }
        }
        worst = worst.max(own);
    }
    worst
}

packed!(ContactResiduals { complementarity, cone, dissipation });
