//! The range of a sparse matrix of rows that touch a node or two, front by front (`Davis06` 5): A = Q R without a
//! square of A ever, so that what is nearly dependent loses no digits.
//!
//! Nodes are eliminated in the order of an [`Elimination`]. The front of a node has the rows that touch it first and
//! what its children, earlier fronts, have left; its columns are those of the node and of its later neighbours. What
//! spans the columns of the node becomes rows of R; what spans the others of the rest goes on to the next of the
//! neighbours; what is left after that is zero and outside the range.

use std::ops::Range as Rows;

use super::elimination::Elimination;
use super::range::Range;
use super::wide_dot::{add_combination, add_scaled, counts, zeros};
use crate::ad::Real;

/// A = Q R, Q by fronts; R has as many rows as A has rank, those of a front on its columns. Reused, it allocates
/// nothing.
#[derive(Clone, Debug, Default)]
pub struct FrontQr<T> {
    fronts: Vec<Front<T>>,
    /// Where the rows of R of each front start, and of what it hands on; and the ends.
    starts: Vec<usize>,
    handed: Vec<usize>,
    rows: usize,
    dropped: f64,
    own: Vec<T>,
    others: Vec<T>,
    /// First column in a front of each node that is in it.
    columns: Vec<usize>,
    squares: Vec<f64>,
    stack: Vec<T>,
    gathered: Vec<T>,
}

#[derive(Clone, Debug, Default)]
struct Front<T> {
    /// The rows of A that are first seen here, and the fronts whose rest is.
    rows: Vec<usize>,
    children: Vec<usize>,
    /// Q of the columns of the node, and of the others.
    own: Range<T>,
    others: Range<T>,
    /// Rows of R, by the columns of the front.
    triangle: Vec<T>,
    /// What is left for others, by their columns.
    rest: Vec<T>,
    width: usize,
}

impl<T: Real> Front<T> {
    /// How many rows of `width` numbers there are, those of A and those of children; each child hands on the part of
    /// `handed`.
    fn height(&self, handed: &[usize]) -> usize {
        self.rows.len() + self.children.iter().map(|&c| handed[c + 1] - handed[c]).sum::<usize>()
    }
}

impl<T: Real> FrontQr<T> {
    /// The range of `rows` rows: `row(j)` are the two nodes, or the same twice, that row `j` touches, and its entries
    /// on the columns of both. What is shorter than `tolerance` of the longest column counts as dependent.
    pub fn factor<'a>(
        &mut self,
        pattern: &Elimination,
        rows: usize,
        row: impl Fn(usize) -> ([usize; 2], &'a [T]),
        tolerance: f64,
    ) where
        T: 'a,
    {
        let nodes = pattern.nodes();
        self.rows = rows;
        self.dropped = 0.0;
        self.fronts.resize_with(nodes.max(self.fronts.len()), Front::default);
        for front in &mut self.fronts {
            front.rows.clear();
            front.children.clear();
        }
        self.squares.clear();
        self.squares.resize(pattern.rows(), 0.0);
        for j in 0..rows {
            let ([a, b], entries) = row(j);
            let places = [a, b].map(|node| pattern.place(node));
            self.fronts[places[0].min(places[1])].rows.push(j);
            let columns = parts(pattern, places).flat_map(|(place, _)| pattern.range(place));
            for (column, x) in columns.zip(entries) {
                self.squares[column] += x.value() * x.value();
            }
        }
        let longest = self.squares.iter().fold(0.0, |most: f64, &x| most.max(x)).sqrt();
        for starts in [&mut self.starts, &mut self.handed] {
            starts.clear();
            starts.push(0);
        }
        self.columns.clear();
        self.columns.resize(nodes, 0);
        for place in 0..nodes {
            self.assemble(pattern, place, &row);
            self.eliminate(pattern.size(place), place, tolerance * longest, longest);
            let front = &self.fronts[place];
            self.starts.push(self.starts[place] + front.own.rank());
            self.handed.push(self.handed[place] + front.others.rank());
            if let Some((parent, _)) = pattern.later(place).next() {
                self.fronts[parent].children.push(place);
            }
        }
    }

    /// The rows of a front: those of its node in `own`, of its neighbours in `others`.
    fn assemble<'a>(
        &mut self,
        pattern: &Elimination,
        place: usize,
        row: &impl Fn(usize) -> ([usize; 2], &'a [T]),
    ) where
        T: 'a,
    {
        let size = pattern.size(place);
        let mut width = 0;
        for (other, _) in pattern.later(place) {
            self.columns[other] = width;
            width += pattern.size(other);
        }
        let height = self.fronts[place].height(&self.handed);
        self.fronts[place].width = size + width;
        zeros(&mut self.own, height * size);
        zeros(&mut self.others, height * width);
        let (own, others, columns) = (&mut self.own, &mut self.others, &self.columns);
        let mut put = |i: usize, node: usize, entries: &[T]| {
            let target = match node == place {
                true => &mut own[i * size..],
                false => &mut others[i * width + columns[node]..],
            };
            target[..entries.len()].copy_from_slice(entries);
        };
        let front = &self.fronts[place];
        for (i, &j) in front.rows.iter().enumerate() {
            let (nodes, entries) = row(j);
            let places = nodes.map(|node| pattern.place(node));
            parts(pattern, places).for_each(|(node, part)| put(i, node, &entries[part]));
        }
        let mut i = front.rows.len();
        for &child in &front.children {
            let rest = &self.fronts[child].rest;
            let length = pattern.later(child).map(|(other, _)| pattern.size(other)).sum::<usize>();
            for row in rest.chunks_exact(length.max(1)) {
                let mut first = 0;
                for (other, _) in pattern.later(child) {
                    let end = first + pattern.size(other);
                    put(i, other, &row[first..end]);
                    first = end;
                }
                i += 1;
            }
        }
    }

    /// The rows of R of a front, and what is left; columns up to `least` count as dependent.
    fn eliminate(&mut self, size: usize, place: usize, least: f64, longest: f64) {
        let front = &mut self.fronts[place];
        let height = front.height(&self.handed);
        let width = front.width - size;
        let mut dropped = range_above(&mut front.own, &self.own, [height, size], least);
        let rank = front.own.rank();
        front.triangle.clear();
        front.triangle.resize(rank * front.width, T::zero());
        for (k, target) in front.triangle.chunks_exact_mut(front.width.max(1)).enumerate() {
            let (own, others) = target.split_at_mut(size);
            let q = front.own.basis(k);
            add_rows(own, q, &self.own);
            add_rows(others, q, &self.others);
        }
        // What the columns of the node do not have of the others; twice is enough.
        self.gathered.clear();
        self.gathered.resize(width, T::zero());
        for _ in 0..2 {
            for k in 0..if width == 0 { 0 } else { rank } {
                let q = front.own.basis(k);
                self.gathered.fill(T::zero());
                add_rows(&mut self.gathered, q, &self.others);
                for (row, &q) in self.others.chunks_exact_mut(width).zip(q) {
                    add_scaled(row, -q, &self.gathered);
                }
            }
        }
        dropped = dropped.max(range_above(&mut front.others, &self.others, [height, width], least));
        zeros(&mut front.rest, front.others.rank() * width);
        for (k, target) in front.rest.chunks_exact_mut(width.max(1)).enumerate() {
            add_rows(target, front.others.basis(k), &self.others);
        }
        if longest > 0.0 {
            self.dropped = self.dropped.max(dropped / longest);
        }
    }

    /// The rank of A.
    pub fn rank(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Whether rows are dependent.
    pub fn is_deficient(&self) -> bool {
        self.rank() < self.rows
    }

    /// How long the longest column that counts as dependent is, less what the others have, relative to the longest.
    pub fn dropped_pivot(&self) -> f64 {
        self.dropped
    }

    /// Which rows of R are those of the front at `place`.
    pub fn rows(&self, place: usize) -> Rows<usize> {
        self.starts[place]..self.starts[place + 1]
    }

    /// The rows of R of the front at `place`, on the columns of its node and then of its later neighbours.
    pub fn triangle(&self, place: usize) -> impl Iterator<Item = &[T]> {
        let front = &self.fronts[place];
        front.triangle.chunks_exact(front.width.max(1))
    }

    /// Row, velocity and value of what may not be zero in R.
    fn entries(&self, pattern: &Elimination) -> impl Iterator<Item = (usize, usize, T)> {
        (0..pattern.nodes()).flat_map(move |place| {
            self.triangle(place).zip(self.rows(place)).flat_map(move |(entries, row)| {
                let columns = pattern.columns(place);
                columns.zip(entries).map(move |((_, velocity), &r)| (row, velocity, r))
            })
        })
    }

    /// w <- Q'z, of `columns` numbers for each row of A.
    pub fn transpose_times(&mut self, z: &[T], columns: usize, w: &mut Vec<T>) {
        let of = |k: usize| k * columns..(k + 1) * columns;
        zeros(w, self.rank() * columns);
        zeros(&mut self.stack, self.handed.last().copied().unwrap_or_default() * columns);
        for place in 0..self.starts.len().saturating_sub(1) {
            let front = &self.fronts[place];
            self.gathered.clear();
            front.rows.iter().for_each(|&j| self.gathered.extend_from_slice(&z[of(j)]));
            for &child in &front.children {
                let part = self.handed[child] * columns..self.handed[child + 1] * columns;
                self.gathered.extend_from_slice(&self.stack[part]);
            }
            for (range, first, target) in [
                (&front.own, self.starts[place], &mut *w),
                (&front.others, self.handed[place], &mut self.stack),
            ] {
                for k in 0..range.rank() {
                    add_rows(&mut target[of(first + k)], range.basis(k), &self.gathered);
                }
            }
        }
    }

    /// z <- Q w, of `columns` numbers for each row of A.
    pub fn times(&mut self, w: &[T], columns: usize, z: &mut Vec<T>) {
        let of = |k: usize| k * columns..(k + 1) * columns;
        zeros(z, self.rows * columns);
        zeros(&mut self.stack, self.handed.last().copied().unwrap_or_default() * columns);
        for place in (0..self.starts.len().saturating_sub(1)).rev() {
            let front = &self.fronts[place];
            zeros(&mut self.gathered, front.height(&self.handed) * columns);
            for (range, first, source) in [
                (&front.own, self.starts[place], w),
                (&front.others, self.handed[place], &self.stack),
            ] {
                for k in 0..range.rank() {
                    let rows = self.gathered.chunks_exact_mut(columns).zip(range.basis(k));
                    rows.for_each(|(row, &q)| add_scaled(row, q, &source[of(first + k)]));
                }
            }
            let (own, handed) = self.gathered.split_at(front.rows.len() * columns);
            for (&j, row) in front.rows.iter().zip(own.chunks_exact(columns)) {
                z[of(j)].copy_from_slice(row);
            }
            let mut rest = handed;
            for &child in &front.children {
                let part = self.handed[child] * columns..self.handed[child + 1] * columns;
                let (own, others) = rest.split_at(part.len());
                self.stack[part].copy_from_slice(own);
                rest = others;
            }
        }
    }

    /// w += sign R x, of `columns` numbers for each column of A.
    pub fn add_triangle_times(
        &self,
        pattern: &Elimination,
        sign: T,
        x: &[T],
        columns: usize,
        w: &mut [T],
    ) {
        for (row, velocity, r) in self.entries(pattern) {
            let own = &mut w[row * columns..(row + 1) * columns];
            add_scaled(own, sign * r, &x[velocity * columns..(velocity + 1) * columns]);
        }
    }

    /// x += sign R'w, of `columns` numbers for each row of R.
    pub fn add_triangle_transpose_times(
        &self,
        pattern: &Elimination,
        sign: T,
        w: &[T],
        columns: usize,
        x: &mut [T],
    ) {
        for (row, velocity, r) in self.entries(pattern) {
            let own = &mut x[velocity * columns..(velocity + 1) * columns];
            add_scaled(own, sign * r, &w[row * columns..(row + 1) * columns]);
        }
    }

    /// An x with R x = w; w is overwritten.
    pub fn solve(&self, pattern: &Elimination, w: &mut [T], x: &mut [T]) {
        x.fill(T::zero());
        for place in (0..pattern.nodes()).rev() {
            let own = &mut w[self.rows(place)];
            if own.is_empty() {
                continue;
            }
            for (row, w) in self.triangle(place).zip(own.iter_mut()) {
                let terms = pattern.columns(place).zip(row).skip(pattern.size(place));
                *w = terms.fold(*w, |sum, ((_, velocity), &r)| sum - r * x[velocity]);
            }
            let range = &self.fronts[place].own;
            range.solve_rows(own, 1);
            let first = pattern.range(place).start;
            range.pivots().iter().zip(own.iter()).for_each(|(&column, &w)| x[first + column] = w);
        }
    }
}

/// Of two places, or the same twice, each with its part of a row.
fn parts(pattern: &Elimination, [a, b]: [usize; 2]) -> impl Iterator<Item = (usize, Rows<usize>)> {
    let m = pattern.size(a);
    let n = if a == b { 0 } else { pattern.size(b) };
    [(a, 0..m), (b, m..m + n)].into_iter().filter(|(_, part)| !part.is_empty())
}

/// The range of what is longer than `least`; returns the length of what is not.
fn range_above<T: Real>(
    range: &mut Range<T>,
    a: &[T],
    [rows, columns]: [usize; 2],
    least: f64,
) -> f64 {
    let mut longest = 0.0_f64;
    for j in 0..columns {
        let column = a.iter().skip(j).step_by(columns);
        longest = longest.max(column.map(|x| x.value() * x.value()).sum::<f64>());
    }
    let longest = longest.sqrt();
    let columns = if longest > 0.0 { columns } else { 0 };
    range.factor_within(a, rows, columns, least / longest.max(f64::MIN_POSITIVE));
    range.dropped_pivot() * longest
}

/// x += q'A
fn add_rows<T: Real>(x: &mut [T], q: &[T], a: &[T]) {
    if !x.is_empty() {
        let width = x.len();
        add_combination(x, q.iter().copied().zip(a.chunks_exact(width)).filter(counts));
    }
}
