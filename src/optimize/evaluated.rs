//! What a task comes to.

/// A task at some variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Half the sum of squares.
    pub cost: f64,
    /// All residuals.
    pub residuals: Vec<f64>,
    /// Steps that were not solved.
    pub unsolved: usize,
}

impl Evaluated {
    /// Of these residuals.
    pub fn new(residuals: Vec<f64>, unsolved: usize) -> Self {
        let cost = 0.5 * residuals.iter().map(|r| r * r).sum::<f64>();
        let cost = if unsolved == 0 && !cost.is_nan() { cost } else { f64::INFINITY };
        Evaluated { cost, residuals, unsolved }
    }
}
