//! Which conditions of a problem that was not solved contradict each other, so that no velocities meet them all.
//!
//! Of all velocities those that miss the conditions least, in the sum of squares: with w_i the rows in the metric of
//! mass, made unit vectors, and r_i what is missing of each (of one-sided conditions no less than 0), the sum is least
//! where sum_i r_i w_i = 0. If some r_i is not 0 there, the r_i prove that nothing meets the conditions whose r_i they
//! are (the lemma of Farkas); all others take no part in it. Friction sets no condition on velocities.

use super::problem::{ContactData, Delassus};
use crate::linalg::{cholesky, dot, norm, solve_lower, solve_lower_transpose};

/// Weight of a step's own length against what it misses.
const PROXIMAL: f64 = 1e-10;
const ITERATIONS: usize = 100;
const HALVINGS: usize = 30;
/// What counts as nothing missing, relative to what is missing without any impulses.
const MET: f64 = 1e-9;
/// The proof is good if only velocities this many times beyond those asked for could meet the conditions.
const BEYOND: f64 = 1e6;
/// Conditions with less than this part of the largest r_i are not named.
const PART: f64 = 1e-3;
/// Larger problems take too long.
const MOST_VELOCITIES: usize = 1000;

/// The first row of a block, in the metric of mass.
struct Condition {
    block: usize,
    row: Vec<f64>,
    /// The velocity along it without impulses, less what is asked for.
    excess: f64,
    one_sided: bool,
}

impl Condition {
    /// What is missing of it after a change `y` of the velocities.
    fn missing(&self, y: &[f64]) -> f64 {
        let missing = -self.excess - dot(&self.row, y);
        if self.one_sided { missing.max(0.0) } else { missing }
    }
}

/// Blocks whose conditions no velocities meet together, the most involved first. None if they can be met, or nothing
/// is sure. Compliance, which lets conditions be met in part, is left aside.
pub(crate) fn contradiction(data: &ContactData<f64>) -> Vec<usize> {
    let (mut immovable, conditions) = conditions(data, |_| true);
    immovable.extend(least_missing(&conditions));
    immovable
}

/// Whether the conditions without compliance contradict each other, so that the problem has no solution.
pub(super) fn contradicts_itself(data: &ContactData<f64>) -> bool {
    let (_, conditions) = conditions(data, |block| data.compliance[block] == 0.0);
    !least_missing(&conditions).is_empty()
}

/// Of some blocks those that nothing moves and are not met, and the conditions of the others.
fn conditions(
    data: &ContactData<f64>,
    counts: impl Fn(usize) -> bool,
) -> (Vec<usize>, Vec<Condition>) {
    let (mut immovable, mut conditions) = (Vec::new(), Vec::new());
    if data.rows.velocities() > MOST_VELOCITIES || !data.is_admissible() {
        return (immovable, conditions);
    }
    let mut delassus = Delassus::default();
    delassus.assemble(data);
    let scale = delassus.velocity_scale();
    for (i, (block, &law)) in data.blocks().iter().zip(data.laws).enumerate() {
        if law.is_limited() || law.has_only_friction() || !counts(i) {
            continue;
        }
        let mut row = vec![0.0; data.rows.velocities()];
        block.add_times(block.row(&delassus.w, 0), 1.0, &mut row);
        let (size, excess) = (norm(&row), delassus.b[block.first]);
        let one_sided = law.is_one_sided();
        if size > 0.0 {
            row.iter_mut().for_each(|w| *w /= size);
            conditions.push(Condition { block: i, row, excess: excess / size, one_sided });
        } else if (if one_sided { -excess } else { excess.abs() }) > MET * scale {
            immovable.push(i);
        }
    }
    (immovable, conditions)
}

/// The conditions that the velocities which miss them least miss.
fn least_missing(conditions: &[Condition]) -> Vec<usize> {
    let Some(n) = conditions.first().map(|condition| condition.row.len()) else {
        return Vec::new();
    };
    let all = |y: &[f64]| conditions.iter().map(|of| of.missing(y)).collect::<Vec<_>>();
    let mut y = vec![0.0; n];
    let mut missing = all(&y);
    let enough = MET * norm(&missing);
    let (mut gradient, mut square, mut next) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n]);
    let add = |gradient: &mut [f64], missing: &[f64]| {
        gradient.fill(0.0);
        for (of, &missing) in conditions.iter().zip(missing) {
            gradient.iter_mut().zip(&of.row).for_each(|(g, w)| *g += missing * w);
        }
    };
    for _ in 0..ITERATIONS {
        let size = norm(&missing);
        add(&mut gradient, &missing);
        if size <= enough || norm(&gradient) <= MET * size {
            break;
        }
        square.fill(0.0);
        let acting = conditions.iter().zip(&missing).filter(|(_, missing)| **missing != 0.0);
        for (of, _) in acting {
            for (i, &w) in of.row.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                let row = &mut square[i * n..][..=i];
                row.iter_mut().zip(&of.row).for_each(|(a, &other)| *a += w * other);
            }
        }
        (0..n).for_each(|i| square[i * (n + 1)] += PROXIMAL);
        if !cholesky(&mut square, n) {
            return Vec::new();
        }
        solve_lower(&square, n, &mut gradient);
        solve_lower_transpose(&square, n, &mut gradient);
        // What starts to be missing on the way may be more.
        let mut length = 1.0;
        let found = (0..HALVINGS).find_map(|_| {
            next.clear();
            next.extend(y.iter().zip(&gradient).map(|(y, d)| y + length * d));
            length *= 0.5;
            let there = all(&next);
            (norm(&there) < size).then_some(there)
        });
        let Some(there) = found else { break };
        missing = there;
        std::mem::swap(&mut y, &mut next);
    }
    add(&mut gradient, &missing);
    let asked: f64 = conditions.iter().zip(&missing).map(|(of, r)| -of.excess * r).sum();
    let size = norm(&missing);
    let fastest = conditions.iter().map(|of| of.excess.abs()).fold(0.0, f64::max);
    // Whatever meets them has a velocity of at least asked / |sum r w|.
    if size <= enough || asked <= norm(&gradient) * BEYOND * fastest {
        return Vec::new();
    }
    let largest = missing.iter().map(|r| r.abs()).fold(0.0, f64::max);
    let involved =
        |(of, r): (&Condition, &f64)| (r.abs() > PART * largest).then_some((r.abs(), of.block));
    let mut named: Vec<_> = conditions.iter().zip(&missing).filter_map(involved).collect();
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    named.into_iter().map(|(_, block)| block).collect()
}
