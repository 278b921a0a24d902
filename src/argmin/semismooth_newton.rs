//! Semi-smooth Newton on the coupled contact problem: the natural map decides the mode of each
//! contact, the conditions at those modes are solved to first order, and again, with steps shortened
//! until the residual falls. It converges in two
//! to seven iterations from a few [block Gauss-Seidel](super::block_gauss_seidel) sweeps, and goes
//! back to sweeping when the residual no longer falls.

use super::contact_data::{ContactData, Delassus};
use super::contact_modes::{ContactModes, Iterate, Mode, Selection};
use super::least_norm::{LeastNormWorkspace, least_norm};
use super::natural_map::{length, margin, natural_argument, natural_residual};
use super::{Report, Status, block_gauss_seidel};
use crate::ad::Real;

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
    kept: Vec<T>,
    pub(super) u: Vec<T>,
    step: Vec<T>,
    start: Vec<T>,
    end: Vec<T>,
    directions: Vec<[T; 2]>,
    guess: Vec<Mode>,
    least_norm: LeastNormWorkspace,
    compliance: Vec<T>,
}

/// What a solve decided, in f64.
#[derive(Debug, Default)]
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

// By hand: the tape copies solutions into memory it has, which the derived `clone_from` drops.
impl Clone for ContactSolution {
    fn clone(&self) -> Self {
        ContactSolution {
            report: self.report,
            modes: self.modes.clone(),
            impulses: self.impulses.clone(),
            clamp: self.clamp.clone(),
            held: self.held.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.report = other.report;
        self.modes.clone_from(&other.modes);
        self.impulses.clone_from(&other.impulses);
        self.clamp.clone_from(&other.clamp);
        self.held.clone_from(&other.held);
    }
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
    w.kept.clear();
    w.kept.extend_from_slice(&w.best);
    if best > tolerance && warm {
        // A guess can lead astray.
        w.lambda.fill(T::zero());
        let found = search(data, w, scale, enough, false, &mut iterations);
        keep_better(w, found, &mut best);
    }
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
        let found = search(data, w, scale, enough, true, &mut iterations);
        keep_better(w, found, &mut best);
    }
    w.best.copy_from_slice(&w.kept);
    w.lambda.copy_from_slice(&w.best);
    w.delassus.velocity(&w.lambda, &mut w.u);
    classify(data, w, scale, solution);
    least_norm(data, &w.delassus, &mut w.lambda, solution, &mut w.least_norm);
    iterations += polish(data, w, solution, scale, best.max(enough));
    w.delassus.velocity(&w.lambda, &mut w.u);
    lambda.copy_from_slice(&w.lambda);

    let residual = natural_residual(data, &w.delassus, &w.lambda, &w.u, scale);
    let status = if residual <= tolerance { Status::Solved } else { Status::IterationLimit };
    let margin = margin(data, &w.delassus, &solution.modes, &w.lambda, &w.u);
    solution.report = Report { status, iterations, residual, margin };
    solution.impulses.clear();
    solution.impulses.extend(lambda.iter().map(|x| x.value()));
}

/// Keeps what a search has found if it is better than what was kept before.
fn keep_better<T: Real>(w: &mut ContactWorkspace<T>, found: f64, best: &mut f64) {
    if found < *best {
        *best = found;
        w.kept.copy_from_slice(&w.best);
    }
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
