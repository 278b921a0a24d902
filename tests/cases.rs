//! How many random cases a test draws.

/// `full` cases times the factor in `$STICTION_CASES`: a number, or `full` for 1. Without it, times
/// `by_default`. At least one.
///
/// # Panics
/// If the variable is neither.
pub fn count(full: usize, by_default: f64) -> usize {
    let factor = match std::env::var("STICTION_CASES") {
        Ok(value) if value == "full" => 1.0,
        Ok(value) => value.parse().expect("STICTION_CASES is `full` or a number"),
        Err(_) => by_default,
    };
    ((full as f64 * factor) as usize).max(1)
}
