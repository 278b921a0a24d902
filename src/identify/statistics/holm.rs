//! Many tests at once.

/// P values of tests of which none is to claim anything by chance (`Holm79`): of m tests the k-th least p value counts m + 1 - k
/// times, and no less than those before it.
pub(crate) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut adjusted, mut least) = (vec![1.0; p_values.len()], 0.0_f64);
    for (k, &at) in order.iter().enumerate() {
        least = least.max(((p_values.len() - k) as f64 * p_values[at]).min(1.0));
        adjusted[at] = least;
    }
    adjusted
}
