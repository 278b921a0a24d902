//! Block Gauss-Seidel on the coupled contact problem [Jean99]: each block in turn is solved exactly, with
//! the impulses of the others held. Robust and slow to converge: the start of
//! [`semismooth_newton`](super::cascade), and what it falls back on.

use super::super::law::project;
use super::super::natural_residual::natural_argument;
use super::super::problem::{ContactData, Delassus};

/// One sweep over all blocks, from `y = W' lambda`, which it keeps up to date: the cost of a block does
/// not depend on how many others there are.
pub(in crate::argmin::contact) fn sweep(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    lambda: &mut [f64],
    y: &mut [f64],
) {
    for (i, block) in data.blocks().iter().enumerate() {
        let row = |r: usize| block.row(&delassus.w, r);
        let mut u = [0.0; 3];
        let mut old = [0.0; 3];
        for r in 0..block.rows {
            u[r] = block.times(row(r), y) + delassus.b[block.first + r];
            old[r] = lambda[block.first + r];
        }
        let law = data.laws[i];
        let new = if law.has_only_friction() {
            let normal =
                if law.is_given() { 1.0 } else { lambda[data.blocks()[block.normal].first] };
            // Nothing asks for another normal impulse.
            u[0] = -data.compliance[i] * normal;
            by_projection(data, delassus, i, u, [normal, old[1], old[2]])
        } else if law.clamps() {
            let g = &delassus.diagonal[i];
            let mut d = [[g[0], g[1], g[2]], [g[3], g[4], g[5]], [g[6], g[7], g[8]]];
            d[0][0] += data.compliance[i];
            // What the contact would see without its own impulse.
            let b = std::array::from_fn(|r| {
                let own = d[r][0] * old[0] + d[r][1] * old[1] + d[r][2] * old[2];
                let compliant = if r == 0 { data.compliance[i] * old[0] } else { 0.0 };
                u[r] + compliant - own
            });
            coulomb(&d, b, data.limit[i])
        } else if law.rows() == 1 {
            let stiffness = delassus.normal_scale(i) + data.compliance[i];
            let free = old[0] - (u[0] + data.compliance[i] * old[0]) / stiffness;
            if stiffness > 0.0 { project(law, data.limit[i], [free, 0.0, 0.0]) } else { old }
        } else {
            by_projection(data, delassus, i, u, old)
        };
        for r in 0..block.rows {
            lambda[block.first + r] = new[r];
            block.add_times(row(r), new[r] - old[r], y);
        }
    }
}

/// Projected fixed-point steps on one block; they contract, since the scales are those of the block.
fn by_projection(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    i: usize,
    u: [f64; 3],
    old: [f64; 3],
) -> [f64; 3] {
    const STEPS: usize = 20;
    let g = &delassus.diagonal[i];
    let projected = |x: [f64; 3]| {
        let v: [f64; 3] = std::array::from_fn(|r| {
            u[r] + (0..3).map(|c| g[3 * r + c] * (x[c] - old[c])).sum::<f64>()
        });
        project(data.laws[i], data.limit[i], natural_argument(data, delassus, i, &x, &v))
    };
    let mut x = old;
    for _ in 0..STEPS {
        let next = projected(x);
        let moved = (0..3).map(|r| (next[r] - x[r]).abs()).fold(0.0, f64::max);
        // Half steps: with the couplings of the block full ones can overshoot.
        x = std::array::from_fn(|r| 0.5 * (x[r] + next[r]));
        let strength = if data.laws[i].is_given() { data.limit[i] } else { x[0].abs() };
        if moved <= 1e-3 * strength {
            break;
        }
    }
    project(data.laws[i], data.limit[i], x)
}

/// Coulomb's law for one contact: the impulse `[normal, tangential]` whose velocity `d lambda + b`
/// separates (lambda = 0), sticks (zero velocity, inside the cone) or slides (on the cone, velocity
/// opposed to the friction).
fn coulomb(d: &[[f64; 3]; 3], b: [f64; 3], mu: f64) -> [f64; 3] {
    if b[0] >= 0.0 {
        return [0.0; 3];
    }
    let frictionless = [-b[0] / d[0][0], 0.0, 0.0];
    if mu <= 0.0 {
        return frictionless;
    }
    // The normal eliminated: tangential velocity S lambda_t + s under a closed contact.
    let ratio = [d[1][0] / d[0][0], d[2][0] / d[0][0]];
    let s = [b[1] - ratio[0] * b[0], b[2] - ratio[1] * b[0]];
    let s11 = d[1][1] - ratio[0] * d[0][1];
    let s12 = d[1][2] - ratio[0] * d[0][2];
    let s22 = d[2][2] - ratio[1] * d[0][2];
    // Friction opposes slip: (S + kappa I) lambda_t = -s, kappa >= 0, kappa = 0 where it sticks.
    let friction = |kappa: f64| -> [f64; 2] {
        let (a, c) = (s11 + kappa, s22 + kappa);
        let determinant = a * c - s12 * s12;
        [(s12 * s[1] - c * s[0]) / determinant, (s12 * s[0] - a * s[1]) / determinant]
    };
    let normal = |t: [f64; 2]| -(b[0] + d[0][1] * t[0] + d[0][2] * t[1]) / d[0][0];
    // Excess of the friction over the cone at a given kappa; a continuous function of it.
    let excess = |kappa: f64| {
        let t = friction(kappa);
        (t[0] * t[0] + t[1] * t[1]).sqrt() - mu * normal(t)
    };
    let stick = friction(0.0);
    let scale = s11 + s22;
    if scale <= 0.0 {
        return frictionless;
    }
    if excess(0.0) <= 0.0 {
        return [normal(stick), stick[0], stick[1]];
    }
    // As kappa grows the friction vanishes and the excess turns negative: bracket, then regula
    // falsi (Illinois) on the values.
    let (mut low, mut high) = (0.0, scale);
    let (mut at_low, mut at_high) = (excess(0.0), excess(scale));
    let mut tries = 0;
    while at_high > 0.0 && tries < 200 {
        low = high;
        at_low = at_high;
        high *= 4.0;
        at_high = excess(high);
        tries += 1;
    }
    let mut kappa = high;
    for _ in 0..60 {
        if high - low <= 1e-15 * high || at_high == 0.0 {
            break;
        }
        kappa = (low * at_high - high * at_low) / (at_high - at_low);
        if !(kappa > low && kappa < high) {
            kappa = 0.5 * (low + high);
        }
        let at = excess(kappa);
        if at.abs() <= 1e-15 * normal(friction(kappa)).abs() {
            break;
        }
        if at > 0.0 {
            low = kappa;
            at_low = at;
            at_high *= 0.5;
        } else {
            high = kappa;
            at_high = at;
            at_low *= 0.5;
        }
    }
    let t = friction(kappa);
    [normal(t), t[0], t[1]]
}
