//! Inner product and update of long vectors, laid out for the compiler's vector units.

use crate::ad::Real;

/// x' y in eight independent sums: the compiler must not reorder one, so a plain loop waits for
/// each addition.
pub fn wide_dot<T: Real>(x: &[T], y: &[T]) -> T {
    const LANES: usize = 8;
    let n = x.len().min(y.len());
    let (x, y) = (&x[..n], &y[..n]);
    let mut sums = [T::zero(); LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let tail = rest.fold(T::zero(), |sum, (&x, &y)| sum + x * y);
    if n < LANES {
        return tail;
    }
    for (x, y) in xs.zip(ys) {
        for k in 0..LANES {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().fold(tail, |sum, &s| sum + s)
}

/// y <- y + a x
pub fn add_scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Columns that stay in registers.
const CHUNK: usize = 8;

/// y <- y + sum of a x over `terms` (a, x), some numbers at a time.
pub fn add_combination<'x, T: Real>(
    y: &mut [T],
    terms: impl Iterator<Item = (T, &'x [T])> + Clone,
) {
    let (chunks, rest) = y.as_chunks_mut::<CHUNK>();
    for (c, chunk) in chunks.iter_mut().enumerate() {
        let mut sum = *chunk;
        for (a, x) in terms.clone() {
            let (x, _) = x[c * CHUNK..].as_chunks::<CHUNK>();
            for (sum, &x) in sum.iter_mut().zip(&x[0]) {
                *sum += a * x;
            }
        }
        *chunk = sum;
    }
    if rest.is_empty() {
        return;
    }
    let done = chunks.len() * CHUNK;
    for (a, x) in terms {
        add_scaled(rest, a, &x[done..]);
    }
}
