//! Numbers that are told at some times, on straight lines between these.

/// Which of the numbers told at these ascending times (s) count at time `t`, and how much: the two around it, on the line between
/// them; before the first and after the last that one; none of none.
pub(super) fn weights(times: &[f64], t: f64) -> impl Iterator<Item = (usize, f64)> + Clone {
    let count = times.len();
    let after = times.partition_point(|&time| time <= t);
    let before = after.saturating_sub(1);
    let share = match times.get(after) {
        Some(next) if after > 0 => (t - times[before]) / (next - times[before]),
        _ => 0.0,
    };
    let both = [(before, 1.0 - share), (after, share)];
    both.into_iter().filter(move |&(k, weight)| k < count && weight != 0.0)
}

/// How much the number told as the `k`-th counts at time `t`.
pub(super) fn weight(times: &[f64], t: f64, k: usize) -> f64 {
    weights(times, t).filter(|(other, _)| *other == k).map(|(_, weight)| weight).sum()
}

/// How far something is moved at time `t` from where it starts, of displacements told at some times (m).
pub(super) fn moved(times: &[f64], displacement: &[[f64; 3]], t: f64) -> [f64; 3] {
    let at = |t: f64| {
        let add = |sum: [f64; 3], (k, weight): (usize, f64)| {
            let told = displacement.get(k).copied().unwrap_or_default();
            [0, 1, 2].map(|axis| sum[axis] + weight * told[axis])
        };
        weights(times, t).fold([0.0; 3], add)
    };
    let (now, start) = (at(t), at(0.0));
    [0, 1, 2].map(|k| now[k] - start[k])
}
