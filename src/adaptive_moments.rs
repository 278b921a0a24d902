//! Adam's moments: what every search by Adam shares (`Kingma15`, Algorithm 1).

/// Rates at which Adam's moments forget the past.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// beta_1, of the mean.
    pub mean: f64,
    /// beta_2, of the mean square.
    pub square: f64,
    /// What keeps the direction finite where gradients have been zero.
    pub epsilon: f64,
}

impl Default for Moments {
    /// Those of `Kingma15`.
    fn default() -> Self {
        Moments { mean: 0.9, square: 0.999, epsilon: 1e-8 }
    }
}

impl Moments {
    /// Takes the gradient of iteration `t`, from 1, into its mean and mean square; the direction of Adam's step, up.
    pub fn direction(&self, t: i32, gradient: f64, mean: &mut f64, square: &mut f64) -> f64 {
        *mean = self.mean * *mean + (1.0 - self.mean) * gradient;
        *square = self.square * *square + (1.0 - self.square) * gradient * gradient;
        let m = *mean / (1.0 - self.mean.powi(t));
        let v = *square / (1.0 - self.square.powi(t));
        m / (v.sqrt() + self.epsilon)
    }
}
