//! Whether a pattern has all there is: one product with a vector tells.

use super::Pattern;

/// A component of a direction that is related to no pattern and no function: scrambled from its
/// number (the finaliser of splitmix64), 0.5 to 1.5 in size. The same every time.
pub(super) fn direction(k: usize) -> f64 {
    let mut z = (k as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let size = 0.5 + (z >> 12) as f64 / (1_u64 << 52) as f64;
    if z & 1 == 0 { size } else { -size }
}

/// The first row in which the product of the matrix with the direction is not `products`: relative
/// to the row, and to the largest entry of all, for the rounding errors of rows that cancel. What is
/// not a number proves nothing.
pub(super) fn wrong_row(pattern: &Pattern, values: &[f64], products: &[f64]) -> Option<usize> {
    wrong(pattern.rows(), products, values, pattern.iter())
}

/// The same with the direction from the left.
pub(super) fn wrong_column(pattern: &Pattern, values: &[f64], products: &[f64]) -> Option<usize> {
    wrong(pattern.columns(), products, values, pattern.iter().map(|(i, j)| (j, i)))
}

fn wrong(
    len: usize,
    products: &[f64],
    values: &[f64],
    places: impl Iterator<Item = (usize, usize)>,
) -> Option<usize> {
    let (mut sums, mut sizes) = (vec![0.0; len], vec![0.0; len]);
    let mut largest = 0.0_f64;
    for ((to, from), &value) in places.zip(values) {
        let term = value * direction(from);
        sums[to] += term;
        sizes[to] += term.abs();
        largest = largest.max(value.abs());
    }
    (0..len).find(|&k| {
        let size = sizes[k] + products[k].abs();
        (products[k] - sums[k]).abs() > 1e-8 * size + 1e-13 * largest
    })
}
