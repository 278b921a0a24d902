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

/// From this length on, that of what soft bodies and long chains have, a sum in parts is worth it everywhere.
pub(crate) const LONG: usize = 64;

/// x' y: term by term, and in parts where it is long.
pub(crate) fn inner<T: Real>(x: &[T], y: &[T]) -> T {
    if x.len() < LONG { super::dot(x, y) } else { wide_dot(x, y) }
}

/// y <- y + a x
pub fn add_scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Vectors shorter than this are not worth the bother of taking several at a time.
const SHORT: usize = 24;

/// y <- y + sum of a x over `terms` (a, x) with x as long as y, four at a time: y is read and written once for them.
/// (In registers, some columns at a time, it was slower for 50 to 120 columns.)
pub fn add_combination<'x, T: Real>(y: &mut [T], mut terms: impl Iterator<Item = (T, &'x [T])>) {
    let n = y.len();
    if n < SHORT {
        return terms.for_each(|(a, x)| add_scaled(y, a, x));
    }
    while let Some((a, p)) = terms.next() {
        let (second, third, fourth) = (terms.next(), terms.next(), terms.next());
        let (Some((b, q)), Some((c, r)), Some((d, s))) = (second, third, fourth) else {
            add_scaled(y, a, p);
            for (a, x) in second.into_iter().chain(third) {
                add_scaled(y, a, x);
            }
            return;
        };
        let (p, q, r, s) = (&p[..n], &q[..n], &r[..n], &s[..n]);
        for (k, y) in y.iter_mut().enumerate() {
            *y = *y + a * p[k] + b * q[k] + c * r[k] + d * s[k];
        }
    }
}

/// y <- y + x_0 a_0 + x_1 a_1 + ..., the vectors a behind one another in `a`. Four at a time, so that
/// y is read and written less often than they are.
pub(crate) fn add_product<T: Real>(a: &[T], x: &[T], y: &mut [T]) {
    let n = y.len();
    if n == 0 {
        return;
    }
    let (fours, ones) = (x.chunks_exact(4), a.chunks_exact(4 * n).remainder());
    let rest = fours.remainder();
    for (x, a) in fours.zip(a.chunks_exact(4 * n)) {
        let (a, b) = a.split_at(2 * n);
        let ((a0, a1), (a2, a3)) = (a.split_at(n), b.split_at(n));
        for (k, y) in y.iter_mut().enumerate() {
            *y += (x[0] * a0[k] + x[1] * a1[k]) + (x[2] * a2[k] + x[3] * a3[k]);
        }
    }
    for (&x, a) in rest.iter().zip(ones.chunks_exact(n)) {
        add_scaled(y, x, a);
    }
}

/// Whether a term of a sum of vectors adds anything.
pub(crate) fn counts<T: Real>((factor, _): &(T, &[T])) -> bool {
    !(factor.is_zero() && T::ORDER == 0)
}

/// Makes `numbers` `size` zeros.
pub(crate) fn zeros<T: Real>(numbers: &mut Vec<T>, size: usize) {
    numbers.clear();
    numbers.resize(size, T::zero());
}
