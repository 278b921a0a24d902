//! Rows of a Jacobian each of which moves a few points.

use crate::ad::Real;

/// Rows over the velocities of points, each with entries at a few of them. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct PointRows<T> {
    dimension: usize,
    /// Where the entries of each row end.
    ends: Vec<usize>,
    points: Vec<usize>,
    entries: Vec<[T; 3]>,
}

impl<T: Real> PointRows<T> {
    /// No rows, over points in `dimension` dimensions.
    pub fn clear(&mut self, dimension: usize) {
        self.dimension = dimension;
        self.ends.clear();
        self.points.clear();
        self.entries.clear();
    }

    /// An entry at a point, of the row that is being written.
    pub fn push(&mut self, point: usize, entry: [T; 3]) {
        self.points.push(point);
        self.entries.push(entry);
    }

    /// Ends the row.
    pub fn end_row(&mut self) {
        self.ends.push(self.points.len());
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The points and entries of row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, &[T; 3])> + Clone {
        let first = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = first..self.ends[i];
        self.points[range.clone()].iter().copied().zip(&self.entries[range])
    }

    /// Row `i` times `v`.
    pub fn dot(&self, i: usize, v: &[T]) -> T {
        let mut sum = T::zero();
        for (point, entry) in self.row(i) {
            for (k, &entry) in entry.iter().take(self.dimension).enumerate() {
                sum += entry * v[point * self.dimension + k];
            }
        }
        sum
    }

    /// v += a times row `i`.
    pub fn add_row(&self, i: usize, a: T, v: &mut [T]) {
        for (point, entry) in self.row(i) {
            for (k, &entry) in entry.iter().take(self.dimension).enumerate() {
                v[point * self.dimension + k] += a * entry;
            }
        }
    }

    /// All rows times `v`.
    pub fn times(&self, v: &[T], products: &mut Vec<T>) {
        products.clear();
        products.extend((0..self.len()).map(|i| self.dot(i, v)));
    }

    /// v += the transpose of all rows times `a`.
    pub fn add_transpose_times(&self, a: &[T], v: &mut [T]) {
        for (i, &a) in a.iter().enumerate() {
            self.add_row(i, a, v);
        }
    }
}

/// The product of two vectors.
pub(super) fn dot<T: Real>(x: &[T; 3], y: &[T; 3], dimension: usize) -> T {
    x.iter().zip(y).take(dimension).fold(T::zero(), |sum, (&x, &y)| sum + x * y)
}
