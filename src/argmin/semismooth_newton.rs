//! Semi-smooth Newton on the coupled contact problem: the natural map decides the mode of each
//! contact, the conditions at those modes are solved to first order, and again, with steps shortened
//! until the residual falls. It converges in two
//! to seven iterations from a few [block Gauss-Seidel](super::block_gauss_seidel) sweeps, and goes
//! back to sweeping when the residual no longer falls.

use super::contact_data::{ContactData, Delassus};
use super::contact_modes::{ContactModes, Iterate, Mode, Selection};
use super::{Report, Status, block_gauss_seidel};
use crate::ad::Real;
use crate::linalg::{cholesky, solve_lower, solve_lower_transpose};

/// Newton iterations before the next round of sweeps.
const NEWTON_ITERATIONS: usize = 12;
/// How often a Newton step is halved before it is given up.
const HALVINGS: i32 = 10;
/// Rounds of sweeps and Newton; sweeps grow fourfold from one to the next.
const ROUNDS: usize = 4;
/// Steps of a damped descent. Most problems that need one take fewer than 30.
const DAMPED_ITERATIONS: usize = 60;
/// Damping that a descent starts with, and its least and largest; relative to the diagonal.
const DAMPING: (f64, f64, f64) = (1e-3, 1e-9, 1e3);
/// Steps of the continuation in the compliance, a factor of ten each.
const CONTINUATION_STEPS: usize = 9;
/// Sweeps of the first round.
const FIRST_SWEEPS: usize = 3;
/// Newton iterations at the final modes. Without compliance the least-norm rule can move impulses
/// that a spinning slide depends on by a finite amount.
const POLISH_ITERATIONS: usize = 12;
/// Slip below this fraction of the velocity scale counts as none. Rounding leaves 1e-15.
const SLIP_TOLERANCE: f64 = 1e-11;

/// The solver's memory.
#[derive(Clone, Debug, Default)]
pub struct ContactWorkspace<T> {
    pub(super) delassus: Delassus<T>,
    modes: ContactModes<T>,
    lambda: Vec<T>,
    best: Vec<T>,
    pub(super) u: Vec<T>,
    step: Vec<T>,
    start: Vec<T>,
    end: Vec<T>,
    directions: Vec<[T; 2]>,
    guess: Vec<Mode>,
    selection: SelectionWorkspace,
    compliance: Vec<T>,
}

/// What a solve decided, in f64.
#[derive(Clone, Debug, Default)]
pub struct ContactSolution {
    /// Status, iterations, relative natural residual, margin.
    pub report: Report,
    /// The mode of each contact.
    pub modes: Vec<Mode>,
    /// The impulses, 3 a contact: the starting guess of the next solve.
    pub impulses: Vec<f64>,
    /// Direction of the friction of clamped contacts (zero of others): across it they do not slip by
    /// themselves, along it they are held by others.
    pub(super) clamp: Vec<[f64; 2]>,
    /// The part of the impulses that no velocity feels, where the least-norm rule has no admissible
    /// solution: it is held. Zero otherwise.
    pub(super) held: Vec<f64>,
}

/// Solves for the impulses `lambda` (3 a contact).
pub(super) fn solve<T: Real>(
    data: &ContactData<T>,
    tolerance: f64,
    lambda: &mut [T],
    solution: &mut ContactSolution,
    w: &mut ContactWorkspace<T>,
) {
    let n = 3 * data.contacts;
    w.delassus.assemble(data);
    let scale = w.delassus.velocity_scale();
    w.u.clear();
    w.u.resize(n, T::zero());
    w.lambda.clear();
    let warm = solution.impulses.len() == n && solution.impulses.iter().any(|&x| x != 0.0);
    if warm && solution.impulses.iter().all(|x| x.is_finite()) {
        w.lambda.extend(solution.impulses.iter().map(|&x| T::constant(x)));
    } else {
        w.lambda.resize(n, T::zero());
    }
    let enough = 1e-2 * tolerance;
    let mut iterations = 0;
    let mut best = search(data, w, scale, enough, warm, &mut iterations);
    if best > tolerance {
        // Impulses that only a small compliance decides can be far from where sweeping ends. Follow
        // them from a large compliance to the one asked for.
        let mut compliance = std::mem::take(&mut w.compliance);
        let mut extra = w.delassus.mean_normal_scale();
        for _ in 0..CONTINUATION_STEPS {
            compliance.clear();
            compliance.extend(data.compliance.iter().map(|&c| c + extra));
            let softer = ContactData { compliance: &compliance, ..*data };
            search(&softer, w, scale, enough, true, &mut iterations);
            extra *= 0.1;
        }
        w.compliance = compliance;
        best = search(data, w, scale, enough, true, &mut iterations);
    }
    w.lambda.copy_from_slice(&w.best);
    w.delassus.velocity(&w.lambda, &mut w.u);
    classify(data, w, scale, solution);
    least_norm(data, w, solution);
    iterations += polish(data, w, solution, scale, best.max(enough));
    w.delassus.velocity(&w.lambda, &mut w.u);
    lambda.copy_from_slice(&w.lambda);

    let residual = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
    let status = if residual <= tolerance { Status::Solved } else { Status::IterationLimit };
    let margin = margin(data, w, scale, solution);
    solution.report = Report { status, iterations, residual, margin };
    solution.impulses.clear();
    solution.impulses.extend(lambda.iter().map(|x| x.value()));
}

/// Sweeps and Newton steps from `w.lambda` until the residual is `enough`; leaves the best iterate
/// in `w.lambda` and `w.best`, and returns its residual.
fn search<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    scale: f64,
    enough: f64,
    warm: bool,
    iterations: &mut usize,
) -> f64 {
    w.delassus.velocity(&w.lambda, &mut w.u);
    w.best.clear();
    w.best.extend_from_slice(&w.lambda);
    let mut best = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
    let mut sweeps = FIRST_SWEEPS;
    for round in 0..ROUNDS {
        if best <= enough {
            break;
        }
        if !(warm && round == 0) {
            for _ in 0..sweeps {
                block_gauss_seidel::sweep(data, &w.delassus, &mut w.lambda, &mut w.u);
            }
            *iterations += sweeps;
            sweeps *= 4;
            w.delassus.velocity(&w.lambda, &mut w.u);
            keep_best(data, w, scale, &mut best);
        }
        for _ in 0..NEWTON_ITERATIONS {
            if best <= enough {
                break;
            }
            *iterations += 1;
            if !shortened_step(data, w, scale) {
                break;
            }
            keep_best(data, w, scale, &mut best);
        }
        w.lambda.copy_from_slice(&w.best);
        w.delassus.velocity(&w.lambda, &mut w.u);
        if best > enough {
            descend(data, w, scale, enough, &mut best, iterations);
        }
    }
    best
}

/// Newton with damping (Levenberg, Marquardt), that only takes steps that lower the residual. With
/// nearly redundant contacts (a box that lands almost flat) the solution at guessed modes is far
/// off, and full steps go round in a circle. Starts and ends at the best iterate.
fn descend<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    scale: f64,
    enough: f64,
    best: &mut f64,
    iterations: &mut usize,
) {
    let (mut damping, least, most) = DAMPING;
    for _ in 0..DAMPED_ITERATIONS {
        if *best <= enough || damping > most {
            break;
        }
        *iterations += 1;
        guess_modes(data, w);
        let before = *best;
        let taken = newton_step(data, w, Selection::Damped(damping), &[]).is_some();
        if taken {
            keep_best(data, w, scale, best);
        }
        if *best < before {
            damping = (0.1 * damping).max(least);
        } else {
            damping *= 4.0;
            w.lambda.copy_from_slice(&w.best);
            w.delassus.velocity(&w.lambda, &mut w.u);
        }
    }
}

/// A Newton step at the modes that the natural map suggests, shortened until the residual falls; the
/// full one if it falls nowhere, since there modes have to change first. False if it is singular.
fn shortened_step<T: Real>(data: &ContactData<T>, w: &mut ContactWorkspace<T>, scale: f64) -> bool {
    guess_modes(data, w);
    w.start.clear();
    w.start.extend_from_slice(&w.lambda);
    let before = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
    if newton_step(data, w, Selection::Proximal, &[]).is_none() {
        return false;
    }
    let mut least = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
    if least < before {
        return true;
    }
    w.end.clear();
    w.end.extend_from_slice(&w.lambda);
    let mut length = 1.0;
    for halvings in 1..=HALVINGS {
        let shorter = 0.5_f64.powi(halvings);
        go_part_way(w, shorter);
        let residual = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
        if residual < before.min(least) {
            (least, length) = (residual, shorter);
        } else if least < before {
            break;
        }
    }
    go_part_way(w, length);
    true
}

/// lambda <- start + length (end - start)
fn go_part_way<T: Real>(w: &mut ContactWorkspace<T>, length: f64) {
    for (lambda, (&start, &end)) in w.lambda.iter_mut().zip(w.start.iter().zip(&w.end)) {
        *lambda = start + (end - start) * length;
    }
    w.delassus.velocity(&w.lambda, &mut w.u);
}

fn keep_best<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    scale: f64,
    best: &mut f64,
) {
    let residual = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
    if residual < *best {
        *best = residual;
        w.best.copy_from_slice(&w.lambda);
    }
}

/// |x|. `hypot`, which guards against overflow, takes a tenth of a solve.
fn length(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// The natural map's argument at contact `i`: impulse less velocity, in units of impulse.
fn natural_argument<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    lambda: &[T],
    u: &[T],
    i: usize,
) -> [f64; 3] {
    let at = |x: &[T], r: usize| x[3 * i + r].value();
    let normal_velocity = at(u, 0) + data.compliance[i].value() * at(lambda, 0);
    let (dn, dt) = (delassus.normal_scale(i), delassus.tangential_scale(i));
    let inverse = |d: f64| if d > 0.0 { 1.0 / d } else { 0.0 };
    [
        at(lambda, 0) - inverse(dn) * normal_velocity,
        at(lambda, 1) - inverse(dt) * at(u, 1),
        at(lambda, 2) - inverse(dt) * at(u, 2),
    ]
}

/// Largest violation over the contacts of lambda = Proj(lambda - D^-1 u), as a velocity, relative
/// to `scale`; the projection is on the half-line and on the disk of radius mu times its result.
pub(super) fn natural_residual<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    lambda: &[T],
    u: &[T],
    scale: f64,
) -> f64 {
    if scale == 0.0 {
        return lambda.iter().map(|x| x.value().abs()).fold(0.0, f64::max);
    }
    let mut worst = 0.0_f64;
    for i in 0..data.contacts {
        let p = natural_argument(data, delassus, lambda, u, i);
        let normal = p[0].max(0.0);
        let radius = data.mu[i].value() * normal;
        let size = length([p[1], p[2]]);
        let shrink = if size > radius { radius / size } else { 1.0 };
        let at = |r: usize| lambda[3 * i + r].value();
        let normal_error = (at(0) - normal).abs() * delassus.normal_scale(i);
        let tangential_error =
            length([at(1) - shrink * p[1], at(2) - shrink * p[2]]) * delassus.tangential_scale(i);
        let error = normal_error.max(tangential_error) / scale;
        // A NaN must not pass for a small residual.
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    worst
}

/// The modes and friction directions that the natural map suggests.
fn guess_modes<T: Real>(data: &ContactData<T>, w: &mut ContactWorkspace<T>) {
    w.guess.clear();
    w.directions.clear();
    for i in 0..data.contacts {
        let p = natural_argument(data, &w.delassus, &w.lambda, &w.u, i);
        let size = length([p[1], p[2]]);
        let mut direction = [T::zero(); 2];
        let mode = if p[0] <= 0.0 {
            Mode::Break
        } else if size > data.mu[i].value() * p[0] {
            let rt = 1.0 / delassus_scale(&w.delassus, i);
            let p: [T; 2] =
                std::array::from_fn(|k| w.lambda[3 * i + 1 + k] - w.u[3 * i + 1 + k] * rt);
            let size = (p[0] * p[0] + p[1] * p[1]).sqrt();
            direction = [p[0] / size, p[1] / size];
            Mode::Slide
        } else if data.mu[i].value() == 0.0 {
            Mode::Clamp
        } else {
            Mode::Stick
        };
        w.guess.push(mode);
        w.directions.push(direction);
    }
}

fn delassus_scale<T: Real>(delassus: &Delassus<T>, i: usize) -> f64 {
    delassus.tangential_scale(i).max(f64::MIN_POSITIVE)
}

/// Puts `lambda` on the cone as the modes say, and takes a Newton step on their conditions. Returns
/// the length of the step relative to `lambda`, or nothing if the conditions are singular.
fn newton_step<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    selection: Selection,
    held: &[f64],
) -> Option<f64> {
    for i in 0..data.contacts {
        let zero = T::zero();
        match w.guess[i] {
            Mode::Break => w.lambda[3 * i..3 * i + 3].fill(zero),
            Mode::Stick => {}
            Mode::Slide | Mode::Clamp => {
                let normal = w.lambda[3 * i];
                let radius = if normal.value() > 0.0 { data.mu[i] * normal } else { T::zero() };
                for k in 0..2 {
                    w.lambda[3 * i + 1 + k] = radius * w.directions[i][k];
                }
            }
        }
    }
    w.delassus.velocity(&w.lambda, &mut w.u);
    let ContactWorkspace { delassus, modes, lambda, u, step, directions, guess, .. } = w;
    let at = Iterate { modes: guess, directions, lambda, u, held };
    if !modes.factor(data, delassus, &at, selection) {
        return None;
    }
    // h, with the compliance in the normal rows
    modes.reduce_rows(u, step);
    modes.for_each_normal(|k, i| step[k] += data.compliance[i] * lambda[3 * i]);
    if selection == Selection::LeastNorm {
        modes.add_rejected(lambda, held, step);
    }
    modes.solve(step);
    for s in step.iter_mut() {
        *s = -*s;
    }
    // Sliding contacts turn along the circle, so that they stay on it.
    u.fill(T::zero());
    modes.expand_columns(step, u);
    let largest = |x: &[T]| x.iter().map(|x| x.value().abs()).fold(0.0, f64::max);
    let length = largest(u) / largest(lambda).max(f64::MIN_POSITIVE);
    for i in 0..data.contacts {
        if !modes.follows(i) {
            for r in 0..3 {
                let moved = u[3 * i + r];
                lambda[3 * i + r] += moved;
            }
            continue;
        }
        let d = directions[i];
        let radius = data.mu[i] * lambda[3 * i];
        // The part of the motion across d is the arc.
        let arc = d[0] * u[3 * i + 2] - d[1] * u[3 * i + 1];
        let normal = lambda[3 * i] + u[3 * i];
        let mut turned = d;
        if radius.value() > 0.0 {
            let angle = arc / radius;
            let t = [d[0] - d[1] * angle, d[1] + d[0] * angle];
            let size = (t[0] * t[0] + t[1] * t[1]).sqrt();
            turned = [t[0] / size, t[1] / size];
        }
        directions[i] = turned;
        lambda[3 * i] = normal;
        for k in 0..2 {
            lambda[3 * i + 1 + k] = data.mu[i] * normal * turned[k];
        }
    }
    delassus.velocity(lambda, u);
    Some(length)
}

/// Decides the mode of each contact at the solution.
fn classify<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    scale: f64,
    solution: &mut ContactSolution,
) {
    guess_modes(data, w);
    solution.modes.clear();
    solution.clamp.clear();
    for i in 0..data.contacts {
        let mut mode = w.guess[i];
        let slip = length([w.u[3 * i + 1].value(), w.u[3 * i + 2].value()]);
        if mode == Mode::Slide && slip <= SLIP_TOLERANCE * scale {
            mode = Mode::Clamp;
        }
        // Without friction a contact that slips needs no direction but for d/d mu: one-sided,
        // against the slip.
        let clamp = if mode == Mode::Clamp { w.directions[i].map(|d| d.value()) } else { [0.0; 2] };
        solution.modes.push(mode);
        solution.clamp.push(clamp);
    }
}

/// f64 memory of [`least_norm`].
#[derive(Clone, Debug, Default)]
struct SelectionWorkspace {
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
fn least_norm<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    solution: &mut ContactSolution,
) {
    let nv = data.velocities;
    let s = &mut w.selection;
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
            s.rows.extend(w.delassus.w[row * nv..(row + 1) * nv].iter().map(|x| x.value()));
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
            let r = radius(i, &w.lambda);
            let length = length(x);
            let (mut projected, mut slope) = (x, [[1.0, 0.0], [0.0, 1.0]]);
            if length > r {
                let d = [x[0] / length, x[1] / length];
                projected = [r * d[0], r * d[1]];
                let f = r / length;
                slope = [[f * d[1] * d[1], -f * d[0] * d[1]], [-f * d[0] * d[1], f * d[0] * d[0]]];
            }
            for t in 0..2 {
                let excess = projected[t] - w.lambda[3 * i + 1 + t].value();
                size = size.max(w.lambda[3 * i + 1 + t].value().abs());
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
        let (r, length) = (radius(i, &w.lambda), length(x));
        let inside = length <= r;
        solution.modes[i] = if inside { Mode::Stick } else { Mode::Clamp };
        solution.clamp[i] = if inside { [0.0; 2] } else { [x[0] / length, x[1] / length] };
        for (t, x) in x.into_iter().enumerate() {
            // Where nothing was selected the iterate and its derivatives stay as they are.
            let chosen = if inside { x } else { r * x / length };
            if (chosen - w.lambda[3 * i + 1 + t].value()).abs() > 1e-12 * size {
                w.lambda[3 * i + 1 + t] = T::constant(chosen);
            }
        }
    }
}

/// Newton on the conditions at the final modes, by the least-norm rule; returns the iterations. In
/// f64 it removes what the proximal term left; on AD scalars its last step carries the tangents.
fn polish<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    solution: &mut ContactSolution,
    scale: f64,
    reached: f64,
) -> usize {
    let mut iterations = 0;
    solution.held.clear();
    solution.held.resize(3 * data.contacts, 0.0);
    w.best.copy_from_slice(&w.lambda);
    for attempt in 0..2 {
        final_directions(data, w, solution);
        let mut left = 1 + T::ORDER;
        for _ in 0..POLISH_ITERATIONS {
            if left == 0 {
                break;
            }
            let step = newton_step(data, w, Selection::LeastNorm, &solution.held);
            let Some(length) = step else { break };
            iterations += 1;
            // Quadratic convergence: after a step this short the next one is rounding.
            if length <= 1e-7 || left <= T::ORDER {
                left -= 1;
            }
        }
        let residual = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
        if residual <= reached {
            // Clamps have turned.
            for (i, clamp) in solution.clamp.iter_mut().enumerate() {
                if solution.modes[i] == Mode::Clamp {
                    *clamp = w.directions[i].map(|d| d.value());
                }
            }
            break;
        }
        w.lambda.copy_from_slice(&w.best);
        w.delassus.velocity(&w.lambda, &mut w.u);
        if attempt == 0 {
            final_directions(data, w, solution);
            let ContactWorkspace { delassus, modes, lambda, u, directions, guess, .. } = w;
            let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
            if !modes.factor(data, delassus, &at, Selection::LeastNorm) {
                break;
            }
            modes.hold(lambda, &mut solution.held);
        }
    }
    iterations
}

/// Sets the modes to those of `solution`, and the directions of friction.
fn final_directions<T: Real>(
    data: &ContactData<T>,
    w: &mut ContactWorkspace<T>,
    solution: &ContactSolution,
) {
    w.guess.clear();
    w.guess.extend_from_slice(&solution.modes);
    w.directions.clear();
    for i in 0..data.contacts {
        w.directions.push(match solution.modes[i] {
            Mode::Slide => {
                let u: [T; 2] = std::array::from_fn(|k| w.u[3 * i + 1 + k]);
                let size = (u[0] * u[0] + u[1] * u[1]).sqrt();
                [-u[0] / size, -u[1] / size]
            }
            Mode::Clamp => solution.clamp[i].map(T::constant),
            _ => [T::zero(); 2],
        });
    }
}

/// Least distance of any contact to another mode: velocity or impulse (as a velocity) relative to
/// `scale`, or the fraction of the friction disk that a sticking contact leaves unused.
fn margin<T: Real>(
    data: &ContactData<T>,
    w: &ContactWorkspace<T>,
    scale: f64,
    solution: &ContactSolution,
) -> f64 {
    let mut least = f64::INFINITY;
    for (i, mode) in solution.modes.iter().enumerate() {
        let at = |x: &[T], r: usize| x[3 * i + r].value();
        let normal = at(&w.lambda, 0) * w.delassus.normal_scale(i) / scale;
        let slack = match mode {
            Mode::Break => at(&w.u, 0) / scale,
            Mode::Stick => {
                let radius = data.mu[i].value() * at(&w.lambda, 0);
                normal.min(1.0 - length([at(&w.lambda, 1), at(&w.lambda, 2)]) / radius)
            }
            Mode::Slide => normal.min(length([at(&w.u, 1), at(&w.u, 2)]) / scale),
            Mode::Clamp if data.mu[i].value() == 0.0 => normal,
            Mode::Clamp => 0.0,
        };
        least = least.min(slack);
    }
    least.max(0.0)
}
