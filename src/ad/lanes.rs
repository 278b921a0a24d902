//! Arithmetic on the tangents of a dual, in vectors as wide as the compiler may use.
//!
//! Tangents are plain arrays, so that a dual has any number of lanes; over `f64` they are computed
//! with in chunks of four and two by explicit vector types, whose width follows the target's
//! features at compile time. Left to itself, the compiler vectorises some of these loops only.

use wide::{f64x2, f64x4};

/// The number of lanes that all of the crate runs physics with. Each count compiles a program anew;
/// users' physics costs nothing more to compile with this one. Derivatives in more directions take several
/// passes, in fewer leave lanes idle.
pub const LANES: usize = 8;

/// Runs `$four`, `$two` and `$one` over all lanes of the arrays `$x`, with `$k` the first lane.
macro_rules! chunked {
    ($n:ident, |$($x:ident),*| $four:expr, $two:expr, $one:expr) => {{
        let mut out = [0.0; $n];
        let mut k = 0;
        while k + 4 <= $n {
            $(let $x = f64x4::new([$x[k], $x[k + 1], $x[k + 2], $x[k + 3]]);)*
            set(&mut out[k..], $four.to_array());
            k += 4;
        }
        if k + 2 <= $n {
            $(let $x = f64x2::new([$x[k], $x[k + 1]]);)*
            set(&mut out[k..], $two.to_array());
            k += 2;
        }
        if k < $n {
            $(let $x = $x[k];)*
            out[k] = $one;
        }
        out
    }};
}

/// Sets the first of `out`. In optimised builds the same as copying a slice; in those of tests that is a call for each,
/// which took a third of the time of all tests.
#[inline(always)]
fn set<const M: usize>(out: &mut [f64], values: [f64; M]) {
    if let Some(first) = out.first_chunk_mut() {
        *first = values;
    }
}

/// a x + b y
#[inline(always)]
pub(super) fn axpby<const N: usize>(a: f64, x: &[f64; N], b: f64, y: &[f64; N]) -> [f64; N] {
    let (a4, b4) = (f64x4::splat(a), f64x4::splat(b));
    let (a2, b2) = (f64x2::splat(a), f64x2::splat(b));
    chunked!(N, |x, y| x.mul_add(a4, y * b4), x.mul_add(a2, y * b2), fused(x, a, y * b))
}

/// a x + y
#[inline(always)]
pub(super) fn axpy<const N: usize>(a: f64, x: &[f64; N], y: &[f64; N]) -> [f64; N] {
    let (a4, a2) = (f64x4::splat(a), f64x2::splat(a));
    chunked!(N, |x, y| x.mul_add(a4, y), x.mul_add(a2, y), fused(x, a, y))
}

/// a x
#[inline(always)]
pub(super) fn scale<const N: usize>(a: f64, x: &[f64; N]) -> [f64; N] {
    let (a4, a2) = (f64x4::splat(a), f64x2::splat(a));
    chunked!(N, |x| x * a4, x * a2, x * a)
}

/// x + y
#[inline(always)]
pub(super) fn add<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
    chunked!(N, |x, y| x + y, x + y, x + y)
}

/// x - y
#[inline(always)]
pub(super) fn sub<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
    chunked!(N, |x, y| x - y, x - y, x - y)
}

/// x a + c, rounded as the vectors above round it: a lane's value must not depend on its place.
#[inline(always)]
fn fused(x: f64, a: f64, c: f64) -> f64 {
    let vectors_fuse =
        cfg!(target_feature = "fma") || cfg!(all(target_arch = "aarch64", target_feature = "neon"));
    if vectors_fuse { x.mul_add(a, c) } else { x * a + c }
}
