//! Inner product of constants, or of scalars, with scalars.

use std::ops::Mul;

use crate::ad::Real;

/// c' x in eight independent sums, added in pairs: a chain of additions would wait for each. Below
/// eight entries in their order. The entries of `c` may be numbers while x has derivatives.
pub(super) fn mixed_dot<C: Copy, T: Real + Mul<C, Output = T>>(c: &[C], x: &[T]) -> T {
    const LANES: usize = 8;
    let n = c.len().min(x.len());
    let (c, x) = (&c[..n], &x[..n]);
    let (cs, xs) = (c.chunks_exact(LANES), x.chunks_exact(LANES));
    let rest = cs.remainder().iter().zip(xs.remainder());
    let tail = rest.fold(T::zero(), |sum, (&c, &x)| sum + x * c);
    if n < LANES {
        return tail;
    }
    let mut s = [T::zero(); LANES];
    for (c, x) in cs.zip(xs) {
        for k in 0..LANES {
            s[k] += x[k] * c[k];
        }
    }
    tail + (((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])))
}
