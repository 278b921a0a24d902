//! The response where there are many trees: by sparse blocks.
//!
//! The rows that share the least-norm rule are W_m = Q R by [fronts](FrontQr), R in the pattern of the trees. With
//! w = Q'z_m, and z eliminated from the conditions that have a D of their own,
//!
//! ```text
//! H x + R'w = x0 - (C W)' D^-1 h,   R x = -Q'h_m,   H = 1 + (C W)' D^-1 B W
//! ```
//!
//! whose matrix has blocks of the velocities of a tree and of what its front holds of them. A front holds what it has
//! rank for, so that each pivot is regular once those before it are eliminated. What rounding leaves of the
//! conditions themselves is solved for again.

use super::kkt::{ContactModes, Iterate, NEGLIGIBLE};
use super::kkt_matrix::ContactMatrix;
use super::problem::ContactData;
use super::rule::Selection;
use super::solution::ContactSolution;
use super::solve::newton::NewtonState;
use crate::ad::Real;
use crate::linalg::{BlockLu, Elimination, FrontQr, add_scaled, zeros};

/// How many times longer a row of R may be on later neighbours than on its own tree. Its tree moves by as much for
/// them, and the square of that is in the blocks of theirs.
const GROWTH: f64 = 1e4;

/// Solves at most: one, and for what it leaves until a correction is below this part of each column, whose own error is
/// then rounding.
const SOLVES: usize = 5;
const CORRECTED: f64 = 1e-8;

/// The conditions of many trees, factorised. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockResponse<T> {
    /// The unknowns that share the rule.
    members: Vec<usize>,
    shares: Vec<bool>,
    /// Q and R.
    held: FrontQr<T>,
    /// The matrix of x and w, and its pattern.
    pattern: Elimination,
    saddle: BlockLu<T>,
    /// What rows of R are multiplied by there: those that are nearly dependent are small.
    scales: Vec<T>,
    /// y with J y = lambda - held on them.
    preimage: Vec<T>,
    /// x or its adjoint, z by unknown, and w; what the shared conditions ask of w; what is left.
    x: Vec<T>,
    pub z: Vec<T>,
    w: Vec<T>,
    asked: Vec<T>,
    body: Vec<T>,
    left: Vec<T>,
    left_of_shared: Vec<T>,
    right: Vec<T>,
    /// Numbers for each that shares the rule: of the last solve, and what is outside the range.
    shared: Vec<T>,
    outside: Vec<T>,
    probe_h: Vec<T>,
    probe_x: Vec<T>,
    /// The last correction of the last solve, relative to its solution.
    unsettled: f64,
    scratch: Vec<T>,
}

impl<T: Real> BlockResponse<T> {
    /// Sets up the conditions where `state` is, contacts that slip by less than a part of their scale `coarse`
    /// clamped, rows that are shorter than `dependent` of the longest dropped, and factorises them. False if they are
    /// singular, or a tree nearly follows others without touching them: a tilt of 1e-6 in a tower of 200 does that.
    pub fn factor(
        &mut self,
        state: &mut NewtonState<T>,
        data: &ContactData<T>,
        solution: &ContactSolution,
        (coarse, dependent): (Option<f64>, f64),
    ) -> bool {
        let NewtonState { delassus, modes, lambda, u, directions, guess, .. } = state;
        let at = Iterate { modes: guess, directions, lambda, u, held: &solution.held };
        modes.set_up(data, delassus, &at, Selection::Exact(coarse));
        self.shares.clear();
        self.shares.extend((0..modes.unknowns()).map(|k| modes.is_held_friction(k)));
        self.members.clear();
        self.members.extend((0..self.shares.len()).filter(|&k| self.shares[k]));
        let (matrix, trees, members) = (modes.matrix(), &delassus.pattern, &self.members);
        self.held.factor(trees, members.len(), |j| matrix.test_row(members[j]), dependent);
        if !self.factor_saddle(matrix, trees) {
            return false;
        }
        if !self.settles(matrix, trees) {
            return false;
        }
        let modes = &state.modes;
        self.preimage.clear();
        if !self.held.is_deficient() {
            return true;
        }
        self.shared.clear();
        for &k in &self.members {
            let (first, row, _) = modes.unknown(k);
            let own = row.iter().zip(lambda[first..].iter().zip(&solution.held[first..]));
            let terms = own.map(|(&b, (&x, &held))| b * (x - T::constant(held)));
            self.shared.push(terms.fold(T::zero(), |sum, x| sum + x));
        }
        self.held.transpose_times(&self.shared, 1, &mut self.w);
        zeros(&mut self.preimage, trees.rows());
        self.held.solve(trees, &mut self.w, &mut self.preimage);
        data.solve_factor_transpose(&mut self.preimage);
        true
    }

    /// H, and R beside it.
    fn factor_saddle(&mut self, matrix: &ContactMatrix<T>, trees: &Elimination) -> bool {
        let (held, pattern, saddle) = (&self.held, &mut self.pattern, &mut self.saddle);
        pattern.enlarge(trees, |place| held.rows(place).len());
        saddle.start(pattern, T::ORDER == 0 && matrix.is_symmetric());
        for k in (0..self.shares.len()).filter(|&k| !self.shares[k]) {
            let inverse = matrix.diagonal[k].recip();
            if !inverse.value().is_finite() {
                return false;
            }
            let (nodes, test) = matrix.test_row(k);
            let (_, motion) = matrix.motion_row(k);
            // On the columns that a node has here.
            let [tests, motions] = [&mut self.body, &mut self.left];
            tests.clear();
            motions.clear();
            let mut first = 0;
            for (at, &node) in
                nodes.iter().enumerate().filter(|&(at, _)| at == 0 || nodes[0] != nodes[1])
            {
                let place = trees.place(node);
                let part = first..first + trees.size(place);
                first = part.end;
                tests.extend_from_slice(&test[part.clone()]);
                motions.extend(motion[part].iter().map(|&c| c * inverse));
                let end = if at == 0 { 0 } else { pattern.size(trees.place(nodes[0])) }
                    + pattern.size(place);
                tests.resize(end, T::zero());
                motions.resize(end, T::zero());
            }
            saddle.add(pattern, nodes, 1, motions, tests);
        }
        self.scales.clear();
        for place in 0..trees.nodes() {
            let size = trees.size(place);
            let stiffness = saddle.largest(pattern, place);
            for (row, own) in held.triangle(place).zip(size..) {
                saddle.put(pattern, (place, own), (place, own), T::zero());
                let longest =
                    row[..size].iter().fold(0.0, |most: f64, r| most.max(r.value().abs()));
                let grown = row[size..].iter().any(|r| r.value().abs() > GROWTH * longest);
                if grown {
                    return false;
                }
                // So that what is left of the stiffest when it is eliminated is no smaller than the others.
                let scale = T::constant(stiffness.sqrt() / longest);
                self.scales.push(scale);
                for ((other, velocity), &r) in trees.columns(place).zip(row) {
                    let column = velocity - trees.range(other).start;
                    saddle.put(pattern, (place, own), (other, column), scale * r);
                }
            }
        }
        saddle.factor(pattern)
    }

    /// Whether solves come to an end, seen at one: what blocks lose that each by itself does not show.
    fn settles(&mut self, matrix: &ContactMatrix<T>, trees: &Elimination) -> bool {
        let [mut h, mut x] = [&mut self.probe_h, &mut self.probe_x].map(std::mem::take);
        for (numbers, count) in [(&mut h, self.shares.len()), (&mut x, trees.rows())] {
            numbers.clear();
            numbers.resize(count, T::one());
        }
        self.solve(matrix, trees, (false, 1), &h, &mut x);
        (self.probe_h, self.probe_x) = (h, x);
        self.unsettled <= CORRECTED
    }

    /// Whether velocities depend on how impulses are shared, as rows that count as dependent are not quite.
    pub fn sharing_matters(&self) -> bool {
        self.held.is_deficient() && self.held.dropped_pivot() > NEGLIGIBLE
    }

    /// y with J y = lambda - held on the conditions that share the rule, where these have something to choose;
    /// nothing elsewhere.
    pub fn preimage(&self) -> &[T] {
        &self.preimage
    }

    /// Solves for x, in the place of x0, and z, where the conditions ask for `h`, or the transpose of that: x in the
    /// place of its adjoint where `h` holds the adjoint of z.
    pub fn solve(
        &mut self,
        matrix: &ContactMatrix<T>,
        trees: &Elimination,
        (transposed, columns): (bool, usize),
        h: &[T],
        x: &mut [T],
    ) {
        let of = |k: usize| k * columns..(k + 1) * columns;
        let sign = if transposed { T::one() } else { -T::one() };
        zeros(&mut self.x, x.len());
        zeros(&mut self.z, h.len());
        self.shared.clear();
        self.members.iter().for_each(|&k| self.shared.extend(h[of(k)].iter().map(|&h| sign * h)));
        self.held.transpose_times(&self.shared, columns, &mut self.asked);
        zeros(&mut self.w, self.asked.len());
        let own = || (0..self.shares.len()).filter(|&k| !self.shares[k]);
        for count in 0..SOLVES {
            // What is left of all lines.
            self.body.clear();
            self.body.extend(x.iter().zip(&self.x).map(|(&x0, &x)| x0 - x));
            self.held.add_triangle_transpose_times(
                trees,
                -T::one(),
                &self.w,
                columns,
                &mut self.body,
            );
            self.left_of_shared.clone_from(&self.asked);
            self.held.add_triangle_times(
                trees,
                -T::one(),
                &self.x,
                columns,
                &mut self.left_of_shared,
            );
            self.left.clear();
            self.left.extend(h.iter().map(|&h| sign * h));
            for k in own() {
                let (left, z) = (&mut self.left[of(k)], &self.z[of(k)]);
                add_scaled(left, matrix.diagonal[k], z);
                matrix.side(k, transposed).for_each(|(v, b)| add_scaled(left, -b, &self.x[of(v)]));
                let inverse = matrix.diagonal[k].recip();
                self.scratch.clear();
                self.scratch.extend(left.iter().zip(z).map(|(&left, &z)| left * inverse - z));
                let moves = matrix.side(k, !transposed);
                moves.for_each(|(v, c)| add_scaled(&mut self.body[of(v)], c, &self.scratch));
            }
            let rows = self.left_of_shared.chunks_exact_mut(columns).zip(&self.scales);
            rows.for_each(|(row, &scale)| row.iter_mut().for_each(|left| *left *= scale));
            zeros(&mut self.right, self.pattern.rows() * columns);
            for place in 0..trees.nodes() {
                let first = self.pattern.range(place).start;
                let parts = [
                    (trees.range(place), &self.body),
                    (self.held.rows(place), &self.left_of_shared),
                ];
                let parts = parts.into_iter().flat_map(|(rows, of)| rows.map(move |k| (k, of)));
                for (row, (k, from)) in (first..).zip(parts) {
                    self.right[of(row)].copy_from_slice(&from[of(k)]);
                }
            }
            match transposed {
                false => self.saddle.solve_rows(&self.pattern, columns, &mut self.right),
                true => self.saddle.solve_transpose_rows(&self.pattern, columns, &mut self.right),
            }
            for place in 0..trees.nodes() {
                let rows = self.pattern.range(place);
                let (first, size) = (rows.start, trees.size(place));
                for (row, k) in (first..).zip(trees.range(place)) {
                    self.body[of(k)].copy_from_slice(&self.right[of(row)]);
                }
                for (row, k) in (first + size..).zip(self.held.rows(place)) {
                    add_scaled(&mut self.w[of(k)], self.scales[k], &self.right[of(row)]);
                }
            }
            for k in own() {
                let left = &mut self.left[of(k)];
                left.iter_mut().for_each(|x| *x = -*x);
                matrix
                    .side(k, transposed)
                    .for_each(|(v, b)| add_scaled(left, b, &self.body[of(v)]));
                add_scaled(&mut self.z[of(k)], matrix.diagonal[k].recip(), left);
            }
            add_scaled(&mut self.x, T::one(), &self.body);
            self.unsettled = unsettled(&self.body, [&self.x, x], columns);
            if count > T::ORDER && self.unsettled <= CORRECTED {
                break;
            }
        }
        x.copy_from_slice(&self.x);
        self.held.times(&self.w, columns, &mut self.shared);
        for (&k, shared) in self.members.iter().zip(self.shared.chunks_exact(columns)) {
            self.z[of(k)].copy_from_slice(shared);
        }
    }

    /// The null-space part of the impulses by the rule, which is turned with the rows: -(1 - QQ') dJ y, `rotations`.
    /// Of `columns` columns the first `moving` turn rows.
    pub fn share(
        &mut self,
        modes: &ContactModes<T>,
        (columns, moving): (usize, usize),
        rotations: &[T],
    ) {
        zeros(&mut self.outside, self.members.len() * columns);
        if rotations.is_empty() || !self.held.is_deficient() {
            return;
        }
        for (&k, turned) in self.members.iter().zip(self.outside.chunks_exact_mut(columns)) {
            let (first, row, _) = modes.unknown(k);
            let rows = rotations[first * moving..].chunks_exact(moving.max(1));
            let turned = &mut turned[..moving];
            row.into_iter().zip(rows).for_each(|(b, rows)| add_scaled(turned, -b, rows));
        }
        self.reject(columns);
    }

    /// x <- x - W_m' z_m of the null-space part.
    pub fn move_by_shared(&self, matrix: &ContactMatrix<T>, columns: usize, x: &mut [T]) {
        for (&k, outside) in self.members.iter().zip(self.outside.chunks_exact(columns)) {
            let moves = matrix.motion(k);
            moves
                .for_each(|(v, c)| add_scaled(&mut x[v * columns..(v + 1) * columns], -c, outside));
        }
    }

    /// Adds the null-space part to z.
    pub fn add_shared(&mut self, columns: usize) {
        for (&k, outside) in self.members.iter().zip(self.outside.chunks_exact(columns)) {
            add_scaled(&mut self.z[k * columns..(k + 1) * columns], T::one(), outside);
        }
    }

    /// The transpose of [`Self::share`]: from the adjoints of z by the rule, `h`, and those of x0, where these
    /// matter, to those of the rotations.
    pub fn share_transpose(
        &mut self,
        modes: &ContactModes<T>,
        (h, x): (&[T], &[T]),
        columns: usize,
        rotations: &mut [T],
    ) {
        if rotations.is_empty() || !self.held.is_deficient() {
            return;
        }
        let of = |k: usize| k * columns..(k + 1) * columns;
        self.outside.clear();
        for &k in &self.members {
            let start = self.outside.len();
            self.outside.extend_from_slice(&h[of(k)]);
            if self.sharing_matters() {
                let adjoint = &mut self.outside[start..];
                modes.matrix().motion(k).for_each(|(v, c)| add_scaled(adjoint, -c, &x[of(v)]));
            }
        }
        self.reject(columns);
        for (&k, outside) in self.members.iter().zip(self.outside.chunks_exact(columns)) {
            let (first, row, _) = modes.unknown(k);
            let rows = rotations[first * columns..].chunks_exact_mut(columns);
            row.into_iter().zip(rows).for_each(|(b, rows)| add_scaled(rows, -b, outside));
        }
    }

    /// `outside` <- (1 - QQ') `outside`
    fn reject(&mut self, columns: usize) {
        self.held.transpose_times(&self.outside, columns, &mut self.asked);
        self.held.times(&self.asked, columns, &mut self.scratch);
        add_scaled(&mut self.outside, -T::one(), &self.scratch);
    }
}

/// The largest of `change` relative to the largest of `sizes`, of the worst of all columns; infinite if it is not a number.
fn unsettled<T: Real>(change: &[T], sizes: [&[T]; 2], columns: usize) -> f64 {
    let largest = |x: &[T], column: usize| {
        let entries = x.iter().skip(column).step_by(columns).map(|x| x.value().abs());
        entries.fold(0.0, |most, x| if x <= most { most } else { x })
    };
    let of_column = |column: usize| {
        let change = largest(change, column);
        let size = sizes.map(|x| largest(x, column)).into_iter().fold(0.0, f64::max);
        if change == 0.0 { 0.0 } else { change / size }
    };
    let worst = |most: f64, x: f64| if x <= most { most } else { x };
    let found = (0..columns).map(of_column).fold(0.0, worst);
    if found.is_nan() { f64::INFINITY } else { found }
}
