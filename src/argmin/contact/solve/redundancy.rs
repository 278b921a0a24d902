//! The least-norm rule for friction that contacts share in more than one way.

use super::super::law::{Mode, length};
use super::super::problem::{ContactData, Delassus};
use super::super::solution::ContactSolution;
use crate::linalg::{BlockLu, cholesky, solve_lower, solve_lower_transpose};

/// Memory of [`least_norm`].
#[derive(Clone, Debug, Default)]
pub(in crate::argmin::contact) struct LeastNormWorkspace {
    members: Vec<usize>,
    /// The velocities that they act on, ascending, and of each velocity its place among these.
    columns: Vec<usize>,
    places: Vec<usize>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    blocks: BlockLu<f64>,
    /// Rows of a contact, weighted.
    sloped: Vec<f64>,
    y: Vec<f64>,
    /// y before a step, and the step.
    before: Vec<f64>,
    step: Vec<f64>,
    moved: Vec<f64>,
    /// Of many trees, how friction was shared before, as of [`Sharing`](crate::argmin::Sharing): where y starts.
    pub start: Vec<f64>,
}

/// Steps without progress after which what is nearly solved counts as solved.
const STAGNANT: usize = 4;

/// Newton iterations, the part of the descent that a step must keep, and how short it may get.
const NEWTON_ITERATIONS: usize = 50;
const DESCENT: f64 = 1e-4;
const SHORTEST: f64 = 1e-3;

/// The dual objective at some y: its value, the norm of its gradient, and whether all disks have J y inside.
#[derive(Clone, Copy, Debug)]
struct HuberSum {
    value: f64,
    norm: f64,
    inside: bool,
}

impl LeastNormWorkspace {
    /// The objective at `y`, its gradient in `gradient`: the sum of J_i' (Proj(J_i y) - lambda_i).
    fn evaluate(
        &mut self,
        data: &ContactData<f64>,
        delassus: &Delassus<f64>,
        lambda: &[f64],
    ) -> HuberSum {
        self.gradient.clear();
        self.gradient.resize(self.y.len(), 0.0);
        let mut dual = HuberSum { value: 0.0, norm: 0.0, inside: true };
        for &i in &self.members {
            let block = &data.blocks()[i];
            let (x, radius) = (asked(data, delassus, i, &self.y), radius(data, i, lambda));
            let length = length(x);
            let part = if length > radius { radius / length } else { 1.0 };
            dual.inside &= part == 1.0;
            dual.value += length * length * part * (1.0 - 0.5 * part);
            for t in 0..2 {
                let held = lambda[block.first + 1 + t];
                dual.value -= held * x[t];
                let row = block.row(&delassus.w, 1 + t);
                block.add_times(row, part * x[t] - held, &mut self.gradient);
            }
        }
        dual.norm = self.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        dual
    }

    /// Factorises the Hessian at `y`, the sum of J_i' dProj J_i, plus `regular`; by blocks divided by it. False if it is singular.
    fn factor(
        &mut self,
        data: &ContactData<f64>,
        delassus: &Delassus<f64>,
        lambda: &[f64],
        regular: f64,
    ) -> bool {
        let (n, large) = (self.columns.len(), data.rows.is_large());
        if large {
            self.blocks.start(&delassus.pattern, true);
        } else {
            self.hessian.clear();
            self.hessian.resize(n * n, 0.0);
        }
        for &i in &self.members {
            let block = &data.blocks()[i];
            let (x, radius) = (asked(data, delassus, i, &self.y), radius(data, i, lambda));
            let length = length(x);
            let mut slope = [[1.0, 0.0], [0.0, 1.0]];
            if length > radius {
                let d = [x[0] / length, x[1] / length];
                let f = radius / length;
                slope = [[f * d[1] * d[1], -f * d[0] * d[1]], [-f * d[0] * d[1], f * d[0] * d[0]]];
            }
            let row = |t: usize| block.row(&delassus.w, 1 + t);
            if large {
                let rows = &block.all_rows(&delassus.w)[block.width()..];
                self.sloped.clear();
                for slope in slope {
                    let weights = slope.map(|slope| slope / regular);
                    let pair = row(0).iter().zip(row(1));
                    self.sloped.extend(pair.map(|(x, y)| weights[0] * x + weights[1] * y));
                }
                self.blocks.add(&delassus.pattern, block.trees, 2, rows, &self.sloped);
                continue;
            }
            for (t, slope) in slope.iter().enumerate() {
                let pair = row(0).iter().zip(row(1));
                let along = pair.map(|(x, y)| slope[0] * x + slope[1] * y).enumerate();
                // A body of a tree moves with those before it only: the rest of its rows is zeros.
                for (b, along) in along.filter(|&(_, along)| along != 0.0) {
                    let b = self.places[block.column(b)];
                    for (columns, part) in block.segments() {
                        let columns = &self.places[columns];
                        for (&a, &w) in columns.iter().zip(&row(t)[part]) {
                            self.hessian[b * n + a] += w * along;
                        }
                    }
                }
            }
        }
        if large {
            return self.blocks.factor(&delassus.pattern);
        }
        for a in 0..n {
            self.hessian[a * n + a] += regular;
        }
        cholesky(&mut self.hessian, n)
    }

    /// The step of Newton, to be subtracted from `y`.
    fn take_step(&mut self, delassus: &Delassus<f64>, large: bool, regular: f64) {
        if large {
            self.step.clone_from(&self.gradient);
            self.blocks.solve(&delassus.pattern, &mut self.step);
            self.step.iter_mut().for_each(|x| *x /= regular);
        } else {
            let n = self.columns.len();
            self.moved.clear();
            self.moved.extend(self.columns.iter().map(|&column| self.gradient[column]));
            solve_lower(&self.hessian, n, &mut self.moved);
            solve_lower_transpose(&self.hessian, n, &mut self.moved);
            self.step.clear();
            self.step.resize(self.y.len(), 0.0);
            self.columns.iter().zip(&self.moved).for_each(|(&column, x)| self.step[column] = *x);
        }
    }

    /// Finds the velocities that the members act on.
    fn find_columns(&mut self, data: &ContactData<f64>) {
        self.columns.clear();
        let trees = self.members.iter().flat_map(|&i| data.blocks()[i].trees);
        self.columns.extend(trees.flat_map(|tree| data.rows.tree(tree)));
        self.columns.sort_unstable();
        self.columns.dedup();
        self.places.clear();
        self.places.resize(data.rows.velocities(), 0);
        self.columns.iter().enumerate().for_each(|(place, &column)| self.places[column] = place);
    }
}

/// J y along the tangents of contact `i`.
fn asked(data: &ContactData<f64>, delassus: &Delassus<f64>, i: usize, y: &[f64]) -> [f64; 2] {
    let block = &data.blocks()[i];
    [1, 2].map(|t| block.times(block.row(&delassus.w, t), y))
}

/// How much friction contact `i` can have.
fn radius(data: &ContactData<f64>, i: usize, lambda: &[f64]) -> f64 {
    data.limit[i] * lambda[data.blocks()[i].first].max(0.0)
}

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
    solution.sharing.clear();
    s.members.clear();
    for (i, &law) in data.laws.iter().enumerate() {
        // What is alone has one way to hold.
        let friction = law.clamps() && data.limit[i] > 0.0 && !data.blocks()[i].alone;
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
    let large = data.rows.is_large();
    if !large {
        s.find_columns(data);
    }
    s.y.clear();
    s.y.resize(nv, 0.0);
    if large && s.start.len() == nv && s.start.iter().all(|y| y.is_finite()) {
        data.times_factor_transpose(&s.start, &mut s.y);
    }
    let held = |i: usize| [1, 2].map(|t| lambda[blocks[i].first + t]);
    let size = s.members.iter().flat_map(|&i| held(i)).fold(0.0, |most: f64, x| most.max(x.abs()));
    let mut converged = false;
    let regular = 1e-12 * trace;
    let mut stagnant = 0;
    let mut linear = false;
    let mut now = s.evaluate(data, delassus, lambda);
    for _ in 0..NEWTON_ITERATIONS {
        let norm = now.norm;
        // Of many trees as far as it gets: what is left here is left of the conditions.
        if norm <= 1e-13 * trace.sqrt() * size && (!large || stagnant > 0 || norm == 0.0) {
            converged = true;
            break;
        }
        // Disks that are just reached may go in and out without an end.
        if large && stagnant >= STAGNANT && norm <= 1e-11 * trace.sqrt() * size {
            converged = true;
            break;
        }
        // Where all are inside their disks, and were, the Hessian is what it was.
        let known = large && linear && now.inside;
        linear = now.inside;
        if !(known || s.factor(data, delassus, lambda, regular)) {
            break;
        }
        s.take_step(delassus, large, regular);
        s.before.clone_from(&s.y);
        let along: f64 = s.gradient.iter().zip(&s.step).map(|(g, step)| g * step).sum();
        let mut length = 1.0;
        let next = loop {
            let moved = s.before.iter().zip(&s.step).map(|(y, step)| y - length * step);
            s.y.clear();
            s.y.extend(moved);
            let next = s.evaluate(data, delassus, lambda);
            let descends = next.value <= now.value - DESCENT * length * along;
            if next.norm <= 0.5 * norm || descends || length < SHORTEST {
                break next;
            }
            length *= 0.5;
        };
        stagnant = if next.norm > 0.5 * norm { stagnant + 1 } else { 0 };
        now = next;
    }
    if !converged {
        return;
    }
    let sharing = &mut solution.sharing;
    sharing.clear();
    (sharing.contacts, sharing.dependent) = (s.members.len(), solution.dependent);
    sharing.y.extend_from_slice(&s.y);
    data.solve_factor_transpose(&mut sharing.y);
    if large {
        s.start.clone_from(&sharing.y);
    }
    for &i in &s.members {
        let x = asked(data, delassus, i, &s.y);
        let (r, length) = (radius(data, i, lambda), length(x));
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
