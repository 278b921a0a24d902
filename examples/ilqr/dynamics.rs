//! The simulated step, its derivatives in several ways, and what they cost.

use std::time::{Duration, Instant};

use nalgebra::{DMatrix, DVector};
use stiction::Error;
use stiction::transition::Transition;

/// Displacement of differences: of powers of ten the one with which they take the fewest iterations (README.md).
const DISPLACEMENT: f64 = 1e-8;

/// Where the Jacobians come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jacobians {
    /// The conditions of the contacts, by duals.
    Exact,
    /// Two steps for each number of x and u.
    CentralDifferences,
    /// One step for each number of x and u, and one more.
    ForwardDifferences,
}

impl Jacobians {
    pub const ALL: [Jacobians; 3] =
        [Jacobians::Exact, Jacobians::CentralDifferences, Jacobians::ForwardDifferences];

    pub fn name(self) -> &'static str {
        match self {
            Jacobians::Exact => "exact",
            Jacobians::CentralDifferences => "central differences",
            Jacobians::ForwardDifferences => "forward differences",
        }
    }
}

/// What has been computed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Steps of rollouts.
    pub steps: usize,
    pub jacobians: usize,
    /// Steps taken for differences.
    pub difference_steps: usize,
    pub step_time: Duration,
    pub jacobian_time: Duration,
}

/// x+ = f(x, u) with A and B.
pub struct Dynamics {
    pub transition: Transition,
    pub jacobians: Jacobians,
    pub effort: Effort,
}

impl Dynamics {
    pub fn new(transition: Transition, jacobians: Jacobians) -> Dynamics {
        Dynamics { transition, jacobians, effort: Effort::default() }
    }

    /// Numbers of a tangent vector.
    pub fn nx(&self) -> usize {
        2 * self.transition.nv()
    }

    pub fn nu(&self) -> usize {
        self.transition.nu()
    }

    /// f(x, u).
    pub fn step(&mut self, x: &[f64], u: &DVector<f64>) -> Result<Vec<f64>, Error> {
        let begin = Instant::now();
        let next = self.take(x, u.as_slice());
        self.effort.steps += 1;
        self.effort.step_time += begin.elapsed();
        next
    }

    /// A and B at (x, u).
    pub fn linearize(
        &mut self,
        x: &[f64],
        u: &DVector<f64>,
    ) -> Result<(DMatrix<f64>, DMatrix<f64>), Error> {
        let begin = Instant::now();
        let result = match self.jacobians {
            Jacobians::Exact => {
                let jacobian = self.transition.linearize(x, u.as_slice())?;
                (jacobian.a.clone(), jacobian.b.clone())
            }
            Jacobians::CentralDifferences => self.differences(x, u, &[-0.5, 0.5])?,
            Jacobians::ForwardDifferences => self.differences(x, u, &[0.0, 1.0])?,
        };
        self.effort.jacobians += 1;
        self.effort.jacobian_time += begin.elapsed();
        Ok(result)
    }

    /// The differences between steps displaced by the two `sides`, in units of [`DISPLACEMENT`].
    fn differences(
        &mut self,
        x: &[f64],
        u: &DVector<f64>,
        sides: &[f64; 2],
    ) -> Result<(DMatrix<f64>, DMatrix<f64>), Error> {
        let (nx, nu) = (self.nx(), self.nu());
        let mut jacobian = DMatrix::zeros(nx, nx + nu);
        let nominal = if sides[0] == 0.0 { Some(self.difference_step(x, u)?) } else { None };
        let mut d = vec![0.0; nx + nu];
        for k in 0..nx + nu {
            let mut displaced = |side: f64| -> Result<Vec<f64>, Error> {
                d[k] = side * DISPLACEMENT;
                let x = self.transition.integrate(x, &d[..nx])?;
                let u = u + DVector::from_column_slice(&d[nx..]);
                self.difference_step(&x, &u)
            };
            let from = match &nominal {
                Some(nominal) => nominal.clone(),
                None => displaced(sides[0])?,
            };
            let to = displaced(sides[1])?;
            d[k] = 0.0;
            let change = self.transition.difference(&from, &to)?;
            let column = DVector::from_vec(change) / ((sides[1] - sides[0]) * DISPLACEMENT);
            jacobian.set_column(k, &column);
        }
        Ok((jacobian.columns(0, nx).into_owned(), jacobian.columns(nx, nu).into_owned()))
    }

    fn difference_step(&mut self, x: &[f64], u: &DVector<f64>) -> Result<Vec<f64>, Error> {
        self.effort.difference_steps += 1;
        self.take(x, u.as_slice())
    }

    fn take(&mut self, x: &[f64], u: &[f64]) -> Result<Vec<f64>, Error> {
        let mut next = vec![0.0; self.transition.nq() + self.transition.nv()];
        self.transition.step(x, u, &mut next)?;
        Ok(next)
    }

    /// The second derivatives of weights' x+, in `[dx; du]`.
    pub fn curvature(
        &mut self,
        x: &[f64],
        u: &DVector<f64>,
        weights: &DVector<f64>,
    ) -> Result<DMatrix<f64>, Error> {
        let n = self.nx() + self.nu();
        let entries = self.transition.hessian(x, u.as_slice(), weights.as_slice())?;
        Ok(DMatrix::from_column_slice(n, n, &entries))
    }

    /// The tangent vector from one state to another.
    pub fn difference(&mut self, from: &[f64], to: &[f64]) -> Result<DVector<f64>, Error> {
        Ok(DVector::from_vec(self.transition.difference(from, to)?))
    }
}
