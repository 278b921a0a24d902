//! Block Gauss-Seidel on the coupled contact problem: each contact in turn is solved exactly, with
//! the impulses of the others held. Robust and slow to converge: the start of
//! [`semismooth_newton`](super::semismooth_newton), and what it falls back on.

use super::contact_data::{ContactData, Delassus};
use crate::ad::Real;

/// One sweep over all contacts, keeping `u = G lambda + b` up to date.
pub(super) fn sweep<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    lambda: &mut [T],
    u: &mut [T],
) {
    let n = 3 * data.contacts;
    for i in 0..data.contacts {
        let mut d: [[T; 3]; 3] = std::array::from_fn(|r| {
            std::array::from_fn(|c| delassus.g[(3 * i + r) * n + 3 * i + c])
        });
        d[0][0] += data.compliance[i];
        let old = [lambda[3 * i], lambda[3 * i + 1], lambda[3 * i + 2]];
        // What the contact would see without its own impulse.
        let b = std::array::from_fn(|r| {
            let own = d[r][0] * old[0] + d[r][1] * old[1] + d[r][2] * old[2];
            let compliant = if r == 0 { data.compliance[i] * old[0] } else { T::zero() };
            u[3 * i + r] + compliant - own
        });
        let new = solve_one(&d, b, data.mu[i]);
        let step: [T; 3] = std::array::from_fn(|r| new[r] - old[r]);
        for r in 0..3 {
            lambda[3 * i + r] = new[r];
        }
        for (row, u) in u.iter_mut().enumerate() {
            let g = &delassus.g[row * n + 3 * i..row * n + 3 * i + 3];
            *u += g[0] * step[0] + g[1] * step[1] + g[2] * step[2];
        }
    }
}

/// Coulomb's law for one contact: the impulse `[normal, tangential]` whose velocity `d lambda + b`
/// separates (lambda = 0), sticks (zero velocity, inside the cone) or slides (on the cone, velocity
/// opposed to the friction).
fn solve_one<T: Real>(d: &[[T; 3]; 3], b: [T; 3], mu: T) -> [T; 3] {
    if b[0].value() >= 0.0 {
        return [T::zero(); 3];
    }
    let frictionless = [-b[0] / d[0][0], T::zero(), T::zero()];
    if mu.value() <= 0.0 {
        return frictionless;
    }
    // The normal eliminated: tangential velocity S lambda_t + s under a closed contact.
    let ratio = [d[1][0] / d[0][0], d[2][0] / d[0][0]];
    let s = [b[1] - ratio[0] * b[0], b[2] - ratio[1] * b[0]];
    let s11 = d[1][1] - ratio[0] * d[0][1];
    let s12 = d[1][2] - ratio[0] * d[0][2];
    let s22 = d[2][2] - ratio[1] * d[0][2];
    // Friction opposes slip: (S + kappa I) lambda_t = -s, kappa >= 0, kappa = 0 where it sticks.
    let friction = |kappa: T| -> [T; 2] {
        let (a, c) = (s11 + kappa, s22 + kappa);
        let determinant = a * c - s12 * s12;
        [(s12 * s[1] - c * s[0]) / determinant, (s12 * s[0] - a * s[1]) / determinant]
    };
    let normal = |t: [T; 2]| -(b[0] + d[0][1] * t[0] + d[0][2] * t[1]) / d[0][0];
    // Excess of the friction over the cone at a given kappa; a continuous function of it.
    let excess = |kappa: T| {
        let t = friction(kappa);
        (t[0] * t[0] + t[1] * t[1]).sqrt() - mu * normal(t)
    };
    let stick = friction(T::zero());
    let scale = (s11 + s22).value();
    if scale <= 0.0 {
        return frictionless;
    }
    if excess(T::zero()).value() <= 0.0 {
        return [normal(stick), stick[0], stick[1]];
    }
    // As kappa grows the friction vanishes and the excess turns negative: bracket, then regula
    // falsi (Illinois) on the values.
    let (mut low, mut high) = (0.0, scale);
    let (mut at_low, mut at_high) = (excess(T::zero()).value(), excess(T::constant(scale)).value());
    let mut tries = 0;
    while at_high > 0.0 && tries < 200 {
        low = high;
        at_low = at_high;
        high *= 4.0;
        at_high = excess(T::constant(high)).value();
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
        let at = excess(T::constant(kappa)).value();
        if at.abs() <= 1e-15 * normal(friction(T::constant(kappa))).value().abs() {
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
    // One Newton step in T carries the derivatives of the root.
    let mut root = T::constant(kappa);
    if T::ORDER > 0 {
        let h = 1e-6 * scale.max(kappa);
        let slope = (excess(T::constant(kappa + h)).value()
            - excess(T::constant((kappa - h).max(0.0))).value())
            / (kappa + h - (kappa - h).max(0.0));
        if slope < 0.0 {
            root -= excess(root) / slope;
        }
    }
    let t = friction(root);
    [normal(t), t[0], t[1]]
}
