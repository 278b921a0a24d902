//! The least-norm rule for friction that contacts share in more than one way.

use super::contact_data::{ContactData, Delassus};
use super::contact_modes::Mode;
use super::natural_map::length;
use super::semismooth_newton::ContactSolution;
use crate::ad::Real;
use crate::linalg::{cholesky, solve_lower, solve_lower_transpose};

/// f64 memory of [`least_norm`].
#[derive(Clone, Debug, Default)]
pub(super) struct LeastNormWorkspace {
    members: Vec<usize>,
    rows: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    y: Vec<f64>,
    trial: Vec<f64>,
}

/// Where contacts that do not slip share the friction in more than one way, takes the way of least
/// norm: min |lambda_t|^2 with the same J_t' lambda_t, inside the disks. Its dual is smooth and has
/// as many unknowns as there are velocities: lambda_t = Proj(J_t y), minimise the sum of Huber
/// functions of J_t y less y' (J_t' lambda_t). Contacts that reach their disk become clamps.
pub(super) fn least_norm<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    lambda: &mut [T],
    solution: &mut ContactSolution,
    s: &mut LeastNormWorkspace,
) {
    let nv = data.velocities;
    s.members.clear();
    for i in 0..data.contacts {
        let friction = data.mu[i].value() > 0.0;
        if friction && matches!(solution.modes[i], Mode::Stick | Mode::Clamp) {
            s.members.push(i);
        }
    }
    // A single contact has two rows, independent unless the body cannot move.
    if s.members.len() < 2 {
        return;
    }
    s.rows.clear();
    for &i in &s.members {
        for t in 1..3 {
            let row = 3 * i + t;
            s.rows.extend(delassus.w[row * nv..(row + 1) * nv].iter().map(|x| x.value()));
        }
    }
    let count = s.members.len();
    let trace: f64 = s.rows.iter().map(|x| x * x).sum();
    if trace <= 0.0 {
        return;
    }
    let radius = |i: usize, lambda: &[T]| data.mu[i].value() * lambda[3 * i].value();
    // wanted = J_t' lambda_t
    s.y.clear();
    s.y.resize(nv, 0.0);
    let mut size = 0.0_f64;
    let mut converged = false;
    for _ in 0..50 {
        // gradient = sum J_i' (Proj(J_i y) - lambda_i), hessian = sum J_i' dProj J_i
        s.gradient.clear();
        s.gradient.resize(nv, 0.0);
        s.hessian.clear();
        s.hessian.resize(nv * nv, 0.0);
        for (m, &i) in s.members.iter().enumerate() {
            let rows = &s.rows[2 * m * nv..(2 * m + 2) * nv];
            let at = |t: usize| -> f64 {
                rows[t * nv..(t + 1) * nv].iter().zip(&s.y).map(|(a, b)| a * b).sum()
            };
            let x = [at(0), at(1)];
            let r = radius(i, lambda);
            let length = length(x);
            let (mut projected, mut slope) = (x, [[1.0, 0.0], [0.0, 1.0]]);
            if length > r {
                let d = [x[0] / length, x[1] / length];
                projected = [r * d[0], r * d[1]];
                let f = r / length;
                slope = [[f * d[1] * d[1], -f * d[0] * d[1]], [-f * d[0] * d[1], f * d[0] * d[0]]];
            }
            for t in 0..2 {
                let excess = projected[t] - lambda[3 * i + 1 + t].value();
                size = size.max(lambda[3 * i + 1 + t].value().abs());
                for a in 0..nv {
                    s.gradient[a] += rows[t * nv + a] * excess;
                    let along: f64 = (0..2).map(|q| slope[t][q] * rows[q * nv + a]).sum();
                    for b in 0..nv {
                        s.hessian[b * nv + a] += rows[t * nv + b] * along;
                    }
                }
            }
        }
        let norm = s.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if norm <= 1e-13 * trace.sqrt() * size {
            converged = true;
            break;
        }
        for a in 0..nv {
            s.hessian[a * nv + a] += 1e-12 * trace;
        }
        if !cholesky(&mut s.hessian, nv) {
            break;
        }
        s.trial.clear();
        s.trial.extend_from_slice(&s.gradient);
        solve_lower(&s.hessian, nv, &mut s.trial);
        solve_lower_transpose(&s.hessian, nv, &mut s.trial);
        for (y, step) in s.y.iter_mut().zip(&s.trial) {
            *y -= step;
        }
    }
    if !converged {
        return;
    }
    for m in 0..count {
        let i = s.members[m];
        let rows = &s.rows[2 * m * nv..(2 * m + 2) * nv];
        let x: [f64; 2] = std::array::from_fn(|t| {
            rows[t * nv..(t + 1) * nv].iter().zip(&s.y).map(|(a, b)| a * b).sum()
        });
        let (r, length) = (radius(i, lambda), length(x));
        let inside = length <= r;
        solution.modes[i] = if inside { Mode::Stick } else { Mode::Clamp };
        solution.clamp[i] = if inside { [0.0; 2] } else { [x[0] / length, x[1] / length] };
        for (t, x) in x.into_iter().enumerate() {
            // Where nothing was selected the iterate and its derivatives stay as they are.
            let chosen = if inside { x } else { r * x / length };
            if (chosen - lambda[3 * i + 1 + t].value()).abs() > 1e-12 * size {
                lambda[3 * i + 1 + t] = T::constant(chosen);
            }
        }
    }
}
