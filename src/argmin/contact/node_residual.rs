//! The conditions of the coupled contact problem at the modes of a solution, as a residual: what defines its derivative,
//! and the oracle that [`response`](super::response) is checked against.

use super::law::{Face, Tangents};
use super::problem::ContactData;
use super::problem::CoupledContact;
use super::solution::ContactSolution;
use crate::ad::Real;
use crate::argmin::block_rows::BlockRows;
use crate::linalg::{Range, dot};

/// Writes the conditions that hold at a solution: the balance of momentum, then three numbers or one a block.
pub(super) fn conditions<T: Real>(
    node: &CoupledContact,
    solution: &ContactSolution,
    inputs: &[T],
    outputs: &[T],
    residual: &mut [T],
) {
    let data = node.data(inputs);
    let nv = node.rows.velocities();
    let (velocity, lambda) = outputs.split_at(nv);
    let (momentum, conditions) = residual.split_at_mut(nv);
    momentum_residual(&data, velocity, lambda, momentum);
    add_rest((&node.rows, &node.rest), velocity, momentum);
    let mut u = vec![T::zero(); lambda.len()];
    node.rows.times(data.jacobian, velocity, &mut u);
    for (i, block) in data.blocks().iter().enumerate() {
        let (u, x) = (&u[block.range()], &lambda[block.range()]);
        let h = &mut conditions[block.range()];
        let (law, d) = (data.laws[i], solution.directions[i]);
        h[0] = u[0] - data.target[i] + data.compliance[i] * x[0];
        let radius = data.limit[i] * x[0];
        match law.face(solution.modes[i], d, data.limit[i].value()) {
            Face::Apart => h.copy_from_slice(x),
            Face::AtLimit => h[0] = x[0] - data.limit[i] * d[0],
            Face::Closed(Tangents::None) => {}
            Face::Closed(Tangents::Axes(held)) => {
                if law.is_associated() {
                    h[0] += data.limit[i] * (u[1] * d[0] + u[2] * d[1]);
                }
                for k in 0..2 {
                    h[1 + k] = if held[k] { u[1 + k] } else { x[1 + k] - radius * d[k] };
                }
            }
            Face::Closed(Tangents::Arc) => {
                let speed = (u[1] * u[1] + u[2] * u[2]).sqrt();
                if law.is_associated() {
                    h[0] -= data.limit[i] * speed;
                }
                for r in 1..3 {
                    h[r] = x[r] + radius * u[r] / speed;
                }
            }
            Face::Closed(Tangents::Across) => {
                h[1] = x[1] * d[0] + x[2] * d[1] - radius;
                h[2] = u[2] * d[0] - u[1] * d[1];
            }
        }
        if law.borrows() {
            h[0] = x[0] - lambda[data.blocks()[block.normal].first];
        } else if law.is_given() {
            h[0] = x[0] - T::one();
        }
    }
    share(solution, &data, (&u, lambda), conditions);
}

/// J' lambda less M (v+ - v_p), which is 0: [LeLidec21] (2).
pub(super) fn momentum_residual<T: Real>(
    data: &ContactData<T>,
    velocity: &[T],
    lambda: &[T],
    momentum: &mut [T],
) {
    data.rows.transpose_times(data.jacobian, lambda, momentum);
    momentum.iter_mut().for_each(|r| *r = -*r);
    for tree in 0..data.rows.trees() {
        let (range, l) = (data.rows.tree(tree), data.factor(tree));
        let n = range.len();
        let moved = |i: usize| velocity[range.start + i] - data.free[range.start + i];
        let momentum = &mut momentum[range.clone()];
        for k in 0..n {
            let half = (k..n).fold(T::zero(), |sum, i| sum + l[i * n + k] * moved(i));
            for (i, r) in momentum.iter_mut().enumerate().skip(k) {
                *r += l[i * n + k] * half;
            }
        }
    }
}

/// Adds what momenta answer to changes of the velocities, which is nothing where these do not change.
pub(super) fn add_rest<T: Real>(
    (rows, rest): (&BlockRows, &[f64]),
    velocity: &[T],
    momentum: &mut [T],
) {
    for tree in (0..rows.trees()).filter(|_| !rest.is_empty()) {
        let range = rows.tree(tree);
        let rest = rest[rows.square(tree)].chunks_exact(range.len().max(1));
        let moved = |v: &T| *v - T::constant(v.value());
        for (r, row) in momentum[range.clone()].iter_mut().zip(rest) {
            let velocity = velocity[range.clone()].iter().map(moved);
            *r = velocity.zip(row).fold(*r, |sum, (v, &s)| sum + v * s);
        }
    }
}

/// Of the conditions h that share the least-norm rule those along the range Q of their rows stay; along its complement N
/// the impulses vanish, or are what they are held at: Q'h = 0 and a N'(lambda - held) = 0 in their place. Not their sum,
/// Q Q'h + a N N'(lambda - held): impulses that cancel are large where rows are nearly dependent, and rounding hands
/// them to h.
fn share<T: Real>(
    solution: &ContactSolution,
    data: &ContactData<T>,
    (u, lambda): (&[T], &[T]),
    conditions: &mut [T],
) {
    // Condition, block, and the row as a combination of three of the block.
    let mut shared: Vec<(usize, usize, [f64; 3])> = Vec::new();
    for (i, block) in data.blocks().iter().enumerate() {
        let d = solution.directions[i];
        let face = data.laws[i].face(solution.modes[i], d, data.limit[i].value());
        let Face::Closed(tangents) = face else { continue };
        if data.is_rigid(i) && !data.laws[i].has_only_friction() {
            shared.push((block.first, i, [1.0, 0.0, 0.0]));
        }
        if tangents.hold(0) {
            shared.push((block.first + 1, i, [0.0, 1.0, 0.0]));
        }
        if tangents.hold(1) {
            shared.push((block.first + 2, i, [0.0, 0.0, 1.0]));
        }
        if tangents == Tangents::Across {
            shared.push((block.first + 2, i, [0.0, -d[1], d[0]]));
        }
    }
    let nv = data.rows.velocities();
    let mut rows = Vec::new();
    for &(_, i, b) in &shared {
        let (block, mut row) = (&data.blocks()[i], vec![T::zero(); nv]);
        for (r, b) in b.into_iter().enumerate().take(block.rows) {
            block.add_times(data.row(i, r), T::constant(b), &mut row);
        }
        if data.laws[i].is_associated() && b[0] != 0.0 {
            // The condition along the first row has the slip in it.
            let (u, d) = (&u[block.range()], solution.directions[i]);
            let slope = match data.laws[i].face(solution.modes[i], d, data.limit[i].value()) {
                Face::Closed(Tangents::Arc) => {
                    let weight = -data.limit[i] / (u[1] * u[1] + u[2] * u[2]).sqrt();
                    [weight * u[1], weight * u[2]]
                }
                _ => d.map(|d| data.limit[i] * d),
            };
            for (k, slope) in slope.into_iter().enumerate() {
                block.add_times(data.row(i, 1 + k), slope, &mut row);
            }
        }
        data.solve_factor(&mut row);
        rows.extend(row);
    }
    let trace = rows.iter().map(|x| x.value() * x.value()).sum::<f64>();
    let scale = trace / shared.len().max(1) as f64;
    let mut range = Range::default();
    range.factor_within(&rows, shared.len(), nv, solution.dependent);
    let part = |&(_, i, b): &(usize, usize, [f64; 3])| {
        let rows = data.blocks()[i].range();
        let left = lambda[rows.clone()].iter().zip(&solution.held[rows]);
        left.zip(b).fold(T::zero(), |sum, ((&x, &held), b)| sum + (x - held) * b)
    };
    let impulses: Vec<T> = shared.iter().map(part).collect();
    let complement = complement(&range, shared.len());
    // What a solution leaves of the conditions is no reason for them to turn with the rows, which nearly dependent rows do
    // a million times as fast as what moves them.
    let h: Vec<T> = shared.iter().map(|&(r, ..)| conditions[r]).collect();
    let left: Vec<T> = h.iter().map(|h| T::constant(h.value())).collect();
    let moved: Vec<T> = h.iter().zip(&left).map(|(&h, &left)| h - left).collect();
    let asked = (0..range.rank()).map(|k| {
        let q = range.basis(k);
        dot(q, &moved) + T::constant(dot(q, &left).value())
    });
    let shares = (0..complement.rank()).map(|k| dot(complement.basis(k), &impulses) * scale);
    debug_assert_eq!(range.rank() + complement.rank(), shared.len());
    for (&(r, ..), x) in shared.iter().zip(asked.chain(shares)) {
        conditions[r] = x;
    }
}

/// What is outside the range of `rows` rows.
fn complement<T: Real>(range: &Range<T>, rows: usize) -> Range<T> {
    let mut projector = vec![T::zero(); rows * rows];
    let mut column = Vec::new();
    for j in 0..rows {
        range.reject_unit(j, &mut column);
        for (i, &x) in (j..).zip(&column) {
            projector[i * rows + j] = x;
            projector[j * rows + i] = x;
        }
    }
    let mut complement = Range::default();
    complement.factor_within(&projector, rows, rows, 1e-6);
    complement
}
