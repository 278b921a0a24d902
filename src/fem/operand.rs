//! What the closed forms of elements are made of: numbers, and small matrices of them.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Three numbers.
pub type Vector3<T> = [T; 3];
/// Three rows of three numbers.
pub type Matrix3<T> = [[T; 3]; 3];

/// A number `T` in formulas whose constants, those of the shape at rest, are of type `S`: any
/// [`Real`](crate::ad::Real) with `f64`.
pub trait Operand<S>:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Mul<S, Output = Self>
{
}

impl<S, T> Operand<S> for T where
    T: Copy
        + Neg<Output = T>
        + Add<Output = T>
        + Sub<Output = T>
        + Mul<Output = T>
        + Div<Output = T>
        + Mul<S, Output = T>
{
}

/// A number of the shape at rest.
pub trait Constant: Operand<Self> + From<f64> {}

impl<S: Operand<S> + From<f64>> Constant for S {}

/// x . y, where y may be constant.
#[inline(always)]
pub(super) fn dot<S: Copy, T: Operand<S>>(x: &Vector3<T>, y: &Vector3<S>) -> T {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// A y, where y may be constant.
#[inline(always)]
pub(super) fn apply<S: Copy, T: Operand<S>>(a: &Matrix3<T>, y: &Vector3<S>) -> Vector3<T> {
    [dot(&a[0], y), dot(&a[1], y), dot(&a[2], y)]
}

/// The matrix of which `entry` gives row i, column j.
#[inline(always)]
pub(super) fn matrix<T>(entry: impl Fn(usize, usize) -> T) -> Matrix3<T> {
    // Not by `from_fn`, which leaves large entries in memory.
    [
        [entry(0, 0), entry(0, 1), entry(0, 2)],
        [entry(1, 0), entry(1, 1), entry(1, 2)],
        [entry(2, 0), entry(2, 1), entry(2, 2)],
    ]
}

/// A'
#[inline(always)]
pub(super) fn transpose<T: Copy>(a: &Matrix3<T>) -> Matrix3<T> {
    matrix(|i, j| a[j][i])
}

/// A B
#[inline(always)]
pub(super) fn product<T: Operand<T>>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    matrix(|i, j| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j])
}

/// A'B
#[inline(always)]
pub(super) fn transpose_product<T: Operand<T>>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    matrix(|i, j| a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j])
}

/// A B'
#[inline(always)]
pub(super) fn product_transpose<T: Operand<T>>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    matrix(|i, j| dot(&a[i], &b[j]))
}

/// A + B
#[inline(always)]
pub(super) fn sum<T: Copy + Add<Output = T>>(a: &Matrix3<T>, b: &Matrix3<T>) -> Matrix3<T> {
    matrix(|i, j| a[i][j] + b[i][j])
}

/// The matrix of cofactors, det(A) A^-T.
#[inline(always)]
pub(super) fn cofactor<T: Operand<T>>(a: &Matrix3<T>) -> Matrix3<T> {
    matrix(|i, j| {
        let (i1, i2, j1, j2) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1]
    })
}
