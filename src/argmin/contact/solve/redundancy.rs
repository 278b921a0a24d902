//! The least-norm rule for friction that contacts share in more than one way.

use super::super::law::{Mode, length};
use super::super::problem::{ContactData, Delassus};
use super::super::solution::ContactSolution;
use crate::linalg::{BlockLu, cholesky, solve_lower, solve_lower_transpose};

/// Memory of [`least_norm`].
#[derive(Clone, Debug, Default)]
pub(in crate::argmin::contact) struct LeastNormWorkspace {
    members: Vec<usize>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    blocks: BlockLu<f64>,
    /// Rows of a contact, weighted.
    sloped: Vec<f64>,
    y: Vec<f64>,
    /// Of many trees, how friction was shared before, as of [`Sharing`](crate::argmin::Sharing): where y starts.
    pub start: Vec<f64>,
}

/// Steps without progress after which what is nearly solved counts as solved.
const STAGNANT: usize = 4;

/// Where contacts that do not slip share the friction in more than one way, takes the way of least
/// norm: min |lambda_t|^2 with the same J_t' lambda_t, inside the disks. Its dual is smooth and has
/// as many unknowns as there are velocities: lambda_t = Proj(J_t y), minimise the sum of Huber
/// functions of J_t y less y' (J_t' lambda_t). Contacts that reach their disk become clamps.
pub(in crate::argmin::contact) fn least_norm(
    data: &ContactData<f64>,
    delassus: &Delassus<f64>,
    lambda: &mut [f64],
    solution: &mut ContactSolution,
    s: &mut LeastNormWorkspace,
) {
    let nv = data.rows.velocities();
    s.members.clear();
    for (i, &law) in data.laws.iter().enumerate() {
        let friction = law.clamps() && data.limit[i] > 0.0;
        if friction && matches!(solution.modes[i], Mode::Stick | Mode::Clamp) {
            s.members.push(i);
        }
    }
    // A single contact has two rows, independent unless the body cannot move.
    if s.members.len() < 2 {
        return;
    }
    let trace: f64 = s.members.iter().map(|&i| 2.0 * delassus.tangential_scale(i)).sum();
    if trace <= 0.0 {
        return;
    }
    let blocks = data.blocks();
    let row = |i: usize, t: usize| blocks[i].row(&delassus.w, 1 + t);
    let radius = |i: usize, lambda: &[f64]| data.limit[i] * lambda[blocks[i].first];
    let large = data.rows.is_large();
    s.y.clear();
    s.y.resize(nv, 0.0);
    if large && s.start.len() == nv && s.start.iter().all(|y| y.is_finite()) {
        data.times_factor_transpose(&s.start, &mut s.y);
    }
    let mut size = 0.0_f64;
    let mut converged = false;
    let regular = 1e-12 * trace;
    let (mut before, mut stagnant) = (f64::INFINITY, 0);
    let mut linear = false;
    for _ in 0..50 {
        // gradient = sum J_i' (Proj(J_i y) - lambda_i), hessian = sum J_i' dProj J_i
        s.gradient.clear();
        s.gradient.resize(nv, 0.0);
        // Where all are inside their disks, and were, the Hessian is what it was.
        let outside = s.members.iter().any(|&i| {
            let x = [0, 1].map(|t| blocks[i].times(row(i, t), &s.y));
            length(x) > radius(i, lambda)
        });
        let known = large && linear && !outside;
        linear = !outside;
        if large && !known {
            s.blocks.start(&delassus.pattern, true);
        } else if !large {
            s.hessian.clear();
            s.hessian.resize(nv * nv, 0.0);
        }
        for &i in &s.members {
            let block = &blocks[i];
            let x = [0, 1].map(|t| block.times(row(i, t), &s.y));
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
                let held = lambda[block.first + 1 + t];
                size = size.max(held.abs());
                block.add_times(row(i, t), projected[t] - held, &mut s.gradient);
                if large {
                    continue;
                }
                let pair = row(i, 0).iter().zip(row(i, 1));
                let along = pair.map(|(x, y)| slope[t][0] * x + slope[t][1] * y).enumerate();
                // A body of a tree moves with those before it only: the rest of its rows is zeros.
                for (b, along) in along.filter(|&(_, along)| along != 0.0) {
                    let b = block.column(b);
                    for (columns, part) in block.segments() {
                        for (a, &w) in columns.zip(&row(i, t)[part]) {
                            s.hessian[b * nv + a] += w * along;
                        }
                    }
                }
            }
            if large && !known {
                let rows = &block.all_rows(&delassus.w)[block.width()..];
                s.sloped.clear();
                for slope in slope {
                    let weights = slope.map(|slope| slope / regular);
                    let pair = row(i, 0).iter().zip(row(i, 1));
                    s.sloped.extend(pair.map(|(x, y)| weights[0] * x + weights[1] * y));
                }
                s.blocks.add(&delassus.pattern, block.trees, 2, rows, &s.sloped);
            }
        }
        let norm = s.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        // Of many trees as far as it gets: what is left here is left of the conditions.
        if norm <= 1e-13 * trace.sqrt() * size && (!large || norm > 0.5 * before || norm == 0.0) {
            converged = true;
            break;
        }
        // Disks that are just reached may go in and out without an end.
        stagnant = if norm > 0.5 * before { stagnant + 1 } else { 0 };
        if large && stagnant >= STAGNANT && norm <= 1e-11 * trace.sqrt() * size {
            converged = true;
            break;
        }
        before = norm.min(before);
        if large {
            if !(known || s.blocks.factor(&delassus.pattern)) {
                break;
            }
            s.blocks.solve(&delassus.pattern, &mut s.gradient);
            s.gradient.iter_mut().for_each(|x| *x /= regular);
        } else {
            for a in 0..nv {
                s.hessian[a * nv + a] += regular;
            }
            if !cholesky(&mut s.hessian, nv) {
                break;
            }
            solve_lower(&s.hessian, nv, &mut s.gradient);
            solve_lower_transpose(&s.hessian, nv, &mut s.gradient);
        }
        for (y, step) in s.y.iter_mut().zip(&s.gradient) {
            *y -= step;
        }
    }
    if !converged {
        return;
    }
    if large {
        let sharing = &mut solution.sharing;
        sharing.clear();
        (sharing.contacts, sharing.dependent) = (s.members.len(), solution.dependent);
        sharing.y.extend_from_slice(&s.y);
        data.solve_factor_transpose(&mut sharing.y);
        s.start.clone_from(&sharing.y);
    }
    for &i in &s.members {
        let x = [0, 1].map(|t| blocks[i].times(row(i, t), &s.y));
        let (r, length) = (radius(i, lambda), length(x));
        let inside = length <= r;
        solution.modes[i] = if inside { Mode::Stick } else { Mode::Clamp };
        solution.directions[i] = if inside { [0.0; 2] } else { [x[0] / length, x[1] / length] };
        for (t, x) in x.into_iter().enumerate() {
            let chosen = if inside { x } else { r * x / length };
            let at = &mut lambda[blocks[i].first + 1 + t];
            // Where nothing was selected the iterate stays as it is.
            if (chosen - *at).abs() > 1e-12 * size {
                *at = chosen;
            }
        }
    }
}
