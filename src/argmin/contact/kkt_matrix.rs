//! The matrix of the linearised conditions of contact and its inverse, in the smaller of two spaces.
//!
//! K = (B W) (C W)' + D + a (I - P), with a row of B W and of C W for each unknown, D diagonal and
//! I - P, on the unknowns that share the least-norm rule, what is outside the range of Q: P = Q Q'. With many
//! contacts on few bodies K has many more rows than there are velocities. Then with
//!
//! ```text
//! E = D + a on the unknowns that share the rule,   U = [B W, -a Q],   V = [C W, Q],   K = E + U V'
//! K^-1 = E^-1 (1 - U H^-1 V' E^-1),   H = 1 + V' E^-1 U                     (Woodbury)
//! ```
//!
//! and H has as many rows as there are velocities, twice. E is small where only a compliance is, so the
//! solution is refined.

use crate::ad::Real;
use crate::argmin::block_rows::RowBlock;
use crate::linalg::{BlockLu, Elimination, Lu, Range, dot, inner};

/// First column and length of both parts of a row; the second may be empty.
type Spans = [(usize, usize); 2];

/// Entries of a projector below this are zeros.
const ROUNDING: f64 = 1e-14;

/// The rows that share the least-norm rule.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a, T> {
    /// Their unknowns.
    pub unknowns: &'a [usize],
    /// Q
    pub range: &'a Range<T>,
    /// a
    pub scale: f64,
}

/// How K is factorised.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Space {
    /// As it is.
    #[default]
    Contacts,
    /// Through H.
    Bodies,
    /// Through H by blocks, without the least-norm rule.
    Trees,
}

/// K, factorised. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactMatrix<T> {
    /// Rows of B W and C W, one an unknown.
    tests: Vec<T>,
    motions: Vec<T>,
    /// Where the rows of an unknown start, and the end.
    starts: Vec<usize>,
    spans: Vec<Spans>,
    trees: Vec<[usize; 2]>,
    /// D
    pub diagonal: Vec<T>,
    /// E
    pivots: Vec<T>,
    /// Of each unknown, its place in Q.
    places: Vec<Option<usize>>,
    /// Q by rows: `rank` numbers for each of those that share the rule.
    basis: Vec<T>,
    rank: usize,
    scale: f64,
    velocities: usize,
    space: Space,
    /// Whether solutions are refined. Of dense matrices without the rule the caller iterates anyhow.
    refined: bool,
    matrix: Vec<T>,
    lu: Lu<T>,
    blocks: BlockLu<T>,
    body: Vec<T>,
    right: Vec<T>,
    column: Vec<T>,
}

impl<T: Real> ContactMatrix<T> {
    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.tests.clear();
        self.motions.clear();
        self.spans.clear();
        self.trees.clear();
        self.diagonal.clear();
        self.starts.clear();
        self.starts.push(0);
    }

    /// Adds an unknown; returns its rows of B W and C W, zeros to be filled.
    pub fn add(&mut self, block: &RowBlock) -> [&mut [T]; 2] {
        let spans = block.column_spans();
        self.trees.push(block.trees);
        let start = self.tests.len();
        let end = start + spans[0].1 + spans[1].1;
        self.tests.resize(end, T::zero());
        self.motions.resize(end, T::zero());
        self.starts.push(end);
        self.spans.push(spans);
        [&mut self.tests[start..], &mut self.motions[start..]]
    }

    /// Factorises K without the least-norm rule; D must be positive. False if singular.
    pub fn factor(&mut self, velocities: usize) -> bool {
        self.velocities = velocities;
        self.rank = 0;
        self.refined = false;
        self.places.clear();
        self.places.resize(self.spans.len(), None);
        self.factor_in(if self.spans.len() > velocities { Space::Bodies } else { Space::Contacts })
    }

    /// The same through H by blocks, in the `pattern` of the problem. False if singular.
    pub fn factor_by_blocks(&mut self, pattern: &Elimination) -> bool {
        self.velocities = pattern.rows();
        self.rank = 0;
        self.refined = true;
        self.places.clear();
        self.space = Space::Trees;
        self.pivots.clone_from(&self.diagonal);
        self.blocks.start(pattern, T::ORDER == 0 && self.is_symmetric());
        let mut end = 0;
        while end < self.spans.len() {
            let start = end;
            let trees = self.trees[start];
            end += self.trees[start..].iter().take_while(|&one| *one == trees).count();
            self.column.clear();
            for k in start..end {
                let inverse = self.pivots[k].recip();
                if !inverse.value().is_finite() {
                    return false;
                }
                let motions = &self.motions[self.starts[k]..self.starts[k + 1]];
                self.column.extend(motions.iter().map(|&c| c * inverse));
            }
            let tests = &self.tests[self.starts[start]..self.starts[end]];
            self.blocks.add(pattern, trees, end - start, &self.column, tests);
        }
        self.blocks.factor(pattern)
    }

    /// Factorises K with the rule. False if singular.
    pub fn factor_with(&mut self, velocities: usize, shared: Shared<T>) -> bool {
        let size = self.spans.len();
        self.velocities = velocities;
        self.rank = shared.range.rank();
        self.scale = shared.scale;
        self.refined = true;
        self.places.clear();
        self.places.resize(size, None);
        for (place, &unknown) in shared.unknowns.iter().enumerate() {
            self.places[unknown] = Some(place);
        }
        // H costs as much as K does where they have as many rows, and its solution is refined.
        if 2 * size > 3 * (velocities + self.rank) {
            shared.range.rows_of_basis(&mut self.basis);
            return self.factor_in(Space::Bodies);
        }
        self.rank = 0;
        self.space = Space::Contacts;
        self.assemble();
        if shared.range.is_deficient() {
            for (place, &unknown) in shared.unknowns.iter().enumerate() {
                shared.range.reject_unit(place, &mut self.column);
                for (&row, &x) in shared.unknowns[place..].iter().zip(&self.column) {
                    // Far contacts share nothing: the rounding of zeros would fill the matrix.
                    if x.value().abs() <= ROUNDING && T::ORDER == 0 {
                        continue;
                    }
                    self.matrix[row * size + unknown] += x * shared.scale;
                    if row != unknown {
                        self.matrix[unknown * size + row] += x * shared.scale;
                    }
                }
            }
        }
        self.lu.factor(&self.matrix, size)
    }

    fn factor_in(&mut self, space: Space) -> bool {
        self.space = space;
        match space {
            Space::Contacts => {
                self.assemble();
                self.lu.factor(&self.matrix, self.spans.len())
            }
            _ => {
                self.assemble_in_body_space();
                self.lu.factor(&self.matrix, self.velocities + self.rank)
            }
        }
    }

    /// (B W) (C W)' + D
    fn assemble(&mut self) {
        let size = self.spans.len();
        self.matrix.clear();
        self.matrix.resize(size * size, T::zero());
        for k in 0..size {
            for l in 0..size {
                self.matrix[k * size + l] = self.overlap(k, l);
            }
            self.matrix[k * size + k] += self.diagonal[k];
        }
    }

    /// E and H.
    fn assemble_in_body_space(&mut self) {
        let side = self.velocities + self.rank;
        self.pivots.clear();
        self.matrix.clear();
        self.matrix.resize(side * side, T::zero());
        for k in 0..side {
            self.matrix[k * (side + 1)] = T::one();
        }
        for k in 0..self.spans.len() {
            let shared = self.place(k);
            let own = if shared.is_some() { T::constant(self.scale) } else { T::zero() };
            let pivot = self.diagonal[k] + own;
            self.pivots.push(pivot);
            let inverse = pivot.recip();
            let range = self.starts[k]..self.starts[k + 1];
            let (test, motion) = (&self.tests[range.clone()], &self.motions[range]);
            let q = match shared {
                Some(place) => &self.basis[place * self.rank..(place + 1) * self.rank],
                None => &[],
            };
            let [(a, m), (b, n)] = self.spans[k];
            let mut add_row = |row: usize, weight: T| {
                let row = &mut self.matrix[row * side..(row + 1) * side];
                for (x, &test) in row[a..a + m].iter_mut().zip(&test[..m]) {
                    *x += weight * test;
                }
                for (x, &test) in row[b..b + n].iter_mut().zip(&test[m..]) {
                    *x += weight * test;
                }
                let felt = weight * -self.scale;
                for (x, &q) in row[self.velocities..].iter_mut().zip(q) {
                    *x += felt * q;
                }
            };
            for (column, part) in [(a, 0..m), (b, m..m + n)] {
                for (r, &moved) in motion[part].iter().enumerate() {
                    add_row(column + r, moved * inverse);
                }
            }
            for (r, &q) in q.iter().enumerate() {
                add_row(self.velocities + r, q * inverse);
            }
        }
    }

    /// z <- K^-1 z, K factorised by blocks in that pattern or otherwise.
    pub fn solve(&mut self, pattern: &Elimination, z: &mut [T]) {
        if self.space == Space::Contacts {
            return self.lu.solve(z);
        }
        let mut right = std::mem::take(&mut self.right);
        right.clear();
        right.extend_from_slice(z);
        self.solve_once(pattern, z);
        if self.refined {
            let mut column = std::mem::take(&mut self.column);
            self.times(z, &mut column);
            for (x, &right) in column.iter_mut().zip(&right) {
                *x = right - *x;
            }
            self.solve_once(pattern, &mut column);
            for (z, &x) in z.iter_mut().zip(&column) {
                *z += x;
            }
            self.column = column;
        }
        self.right = right;
    }

    /// x <- -H^-1 V' E^-1 h, factorised by blocks.
    pub fn advance(&mut self, pattern: &Elimination, h: &[T], x: &mut Vec<T>) {
        self.column.clear();
        self.column.extend(h.iter().zip(&self.pivots).map(|(&h, &pivot)| -h / pivot));
        self.gather(&self.column, x);
        self.blocks.solve(pattern, x);
    }

    /// x <- H^-1 (x + V' E^-1 asked), factorised by blocks.
    pub fn damp(&mut self, pattern: &Elimination, asked: &[T], x: &mut [T]) {
        self.column.clear();
        self.column.extend(asked.iter().zip(&self.pivots).map(|(&asked, &pivot)| asked / pivot));
        let mut body = std::mem::take(&mut self.body);
        self.gather(&self.column, &mut body);
        x.iter_mut().zip(&body).for_each(|(x, &moved)| *x += moved);
        self.body = body;
        self.blocks.solve(pattern, x);
    }

    /// E^-1 (h + U x) of unknown `k`.
    pub fn change(&self, k: usize, h: T, x: &[T]) -> T {
        (h + self.entry(k, x)) / self.pivots[k]
    }

    /// Whether B = C.
    pub fn is_symmetric(&self) -> bool {
        self.tests == self.motions
    }

    /// The trees of unknown `k`, and its row of B W on their velocities.
    pub fn test_row(&self, k: usize) -> ([usize; 2], &[T]) {
        (self.trees[k], &self.tests[self.starts[k]..self.starts[k + 1]])
    }

    /// The same of C W.
    pub fn motion_row(&self, k: usize) -> ([usize; 2], &[T]) {
        (self.trees[k], &self.motions[self.starts[k]..self.starts[k + 1]])
    }

    /// Row `k` of C W, or of B W.
    pub fn side(&self, k: usize, motion: bool) -> impl Iterator<Item = (usize, T)> + Clone + '_ {
        self.row(if motion { &self.motions } else { &self.tests }, k)
    }

    /// Row `k` of B W, the entries that are not zero with their velocities.
    pub fn test(&self, k: usize) -> impl Iterator<Item = (usize, T)> + Clone + '_ {
        self.row(&self.tests, k)
    }

    /// Row `k` of C W.
    pub fn motion(&self, k: usize) -> impl Iterator<Item = (usize, T)> + Clone + '_ {
        self.row(&self.motions, k)
    }

    fn row<'a>(&'a self, rows: &'a [T], k: usize) -> impl Iterator<Item = (usize, T)> + Clone + 'a {
        let [(a, m), (b, n)] = self.spans[k];
        let velocities = (a..a + m).chain(b..b + n);
        let entries = &rows[self.starts[k]..self.starts[k + 1]];
        velocities.zip(entries.iter().copied()).filter(|(_, x)| !(x.is_zero() && T::ORDER == 0))
    }

    /// (B W) (C W)' of unknowns `k` and `l`, without D.
    pub fn overlap(&self, k: usize, l: usize) -> T {
        let test = &self.tests[self.starts[k]..self.starts[k + 1]];
        let motion = &self.motions[self.starts[l]..self.starts[l + 1]];
        overlap(test, self.spans[k], motion, self.spans[l])
    }

    /// z <- E^-1 (z - U H^-1 V' E^-1 z).
    fn solve_once(&mut self, pattern: &Elimination, z: &mut [T]) {
        for (z, &pivot) in z.iter_mut().zip(&self.pivots) {
            *z /= pivot;
        }
        let mut body = std::mem::take(&mut self.body);
        self.gather(z, &mut body);
        match self.space {
            Space::Trees => self.blocks.solve(pattern, &mut body),
            _ => self.lu.solve(&mut body),
        }
        for (k, z) in z.iter_mut().enumerate() {
            *z -= self.entry(k, &body) / self.pivots[k];
        }
        self.body = body;
    }

    /// x <- K z
    fn times(&mut self, z: &[T], x: &mut Vec<T>) {
        let mut body = std::mem::take(&mut self.body);
        self.gather(z, &mut body);
        x.clear();
        x.extend(z.iter().zip(&self.pivots).map(|(&z, &pivot)| z * pivot));
        for (k, x) in x.iter_mut().enumerate() {
            *x += self.entry(k, &body);
        }
        self.body = body;
    }

    /// body <- V'z
    fn gather(&self, z: &[T], body: &mut Vec<T>) {
        body.clear();
        body.resize(self.velocities + self.rank, T::zero());
        for (k, &z) in z.iter().enumerate() {
            let row = &self.motions[self.starts[k]..self.starts[k + 1]];
            let [(a, m), (b, n)] = self.spans[k];
            for (body, &c) in body[a..a + m].iter_mut().zip(&row[..m]) {
                *body += z * c;
            }
            for (body, &c) in body[b..b + n].iter_mut().zip(&row[m..]) {
                *body += z * c;
            }
            if let Some(place) = self.place(k) {
                let q = &self.basis[place * self.rank..(place + 1) * self.rank];
                for (body, &q) in body[self.velocities..].iter_mut().zip(q) {
                    *body += z * q;
                }
            }
        }
    }

    /// The place of unknown `k` in Q.
    fn place(&self, k: usize) -> Option<usize> {
        if self.rank > 0 { self.places[k] } else { None }
    }

    /// Row `k` of U times `body`.
    fn entry(&self, k: usize, body: &[T]) -> T {
        let row = &self.tests[self.starts[k]..self.starts[k + 1]];
        let [(a, m), (b, n)] = self.spans[k];
        let mut sum = dot(&row[..m], &body[a..a + m]) + dot(&row[m..], &body[b..b + n]);
        if let Some(place) = self.place(k) {
            let q = &self.basis[place * self.rank..(place + 1) * self.rank];
            let outside = dot(q, &body[self.velocities..]);
            sum += outside * -self.scale;
        }
        sum
    }
}

/// The scalar product of two rows, of which parts that start alike are those of one tree.
fn overlap<T: Real>(x: &[T], [(a, m), (b, n)]: Spans, y: &[T], [(c, p), (d, q)]: Spans) -> T {
    let mut sum = T::zero();
    if a == c {
        sum += inner(&x[..m], &y[..p]);
    } else if q > 0 && a == d {
        sum += inner(&x[..m], &y[p..]);
    }
    if n > 0 && b == c {
        sum += inner(&x[m..], &y[..p]);
    } else if n > 0 && q > 0 && b == d {
        sum += inner(&x[m..], &y[p..]);
    }
    sum
}
