//! How far predicted motion is off: the metric of (`Zhong21` Fig. 3).

use super::chunks::Chunks;

/// `predicted` has the shape of `recorded`. For each piece the sum over its first `times` points in time, the first one included, of |dz| / |z|, z positions and
/// velocities: relative, and growing with the length of the piece. NaN where a prediction is.
pub fn relative_errors(predicted: &[f64], recorded: &Chunks, times: usize) -> Vec<f64> {
    let size = 2 * recorded.coordinates();
    let error = |k: usize| {
        let piece = &predicted[k * size * recorded.times()..];
        let both = piece.chunks_exact(size).zip(recorded.chunk(k).chunks_exact(size));
        both.take(times)
            .map(|(found, true_state)| {
                let squares = found.iter().zip(true_state).map(|(a, b)| (a - b) * (a - b));
                let size: f64 = true_state.iter().map(|b| b * b).sum();
                // At rest at the origin there is nothing to be relative to.
                (squares.sum::<f64>() / if size == 0.0 { 1.0 } else { size }).sqrt()
            })
            .sum()
    };
    (0..recorded.count()).map(error).collect()
}

/// What errors come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorSummary {
    /// Their mean.
    pub mean: f64,
    /// Half the width of its 95 % interval, by Student's t.
    pub half_width: f64,
    /// Their median.
    pub median: f64,
    /// How many there are.
    pub count: usize,
}

impl ErrorSummary {
    /// Of errors, without those that are not finite.
    pub fn of(errors: &[f64]) -> ErrorSummary {
        let mut errors: Vec<f64> = errors.iter().copied().filter(|e| e.is_finite()).collect();
        errors.sort_by(f64::total_cmp);
        let count = errors.len();
        if count == 0 {
            return ErrorSummary { mean: f64::NAN, half_width: f64::NAN, median: f64::NAN, count };
        }
        let mean = errors.iter().sum::<f64>() / count as f64;
        let freedom = count as f64 - 1.0;
        let variance = errors.iter().map(|e| (e - mean) * (e - mean)).sum::<f64>() / freedom;
        let half_width = student_quantile(freedom) * (variance / count as f64).sqrt();
        let median = 0.5 * (errors[(count - 1) / 2] + errors[count / 2]);
        ErrorSummary { mean, half_width, median, count }
    }
}

/// What Student's t is below with probability 0.975: by `Abramowitz64` 26.7.5, to 1e-4, and of few degrees of freedom by their table 26.10.
fn student_quantile(freedom: f64) -> f64 {
    const FEW: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    if let Some(&known) = (freedom >= 1.0).then(|| FEW.get(freedom as usize - 1)).flatten() {
        return known;
    }
    let z = 1.959_963_984_540_054_f64;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + z
}
