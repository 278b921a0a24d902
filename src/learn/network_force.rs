//! A network for a potential, on any scalar.

use super::unknowns::LearnedSystem;
use crate::ad::Real;
use crate::maximal::{ConservativeForce, PointInertia, PointStep};
use crate::network::Network;

/// The force of the potential V(x) of a network.
#[derive(Clone, Copy, Debug)]
pub struct NetworkForce<'a, T> {
    /// From all coordinates of a system (m) to one number (J).
    pub network: &'a Network,
    /// Its weights.
    pub weights: &'a [T],
}

impl<T: Real> ConservativeForce<T> for NetworkForce<'_, T> {
    fn gradient(&mut self, _: &PointInertia<T>, x: &[T], gradient: &mut Vec<T>) {
        *gradient = self.network.gradient(self.weights, x).1;
    }
}

impl LearnedSystem {
    /// The sum of |z_predicted - z| over a piece of motion (a state a point in time, positions then velocities; m, m/s), by steps on
    /// any scalar: the simple way, which [`Lockstep`](super::Lockstep) is checked and timed against. Not a number where a step is not
    /// solved.
    pub fn piece_loss<T: Real>(&self, unknowns: &[T], chunk: &[f64]) -> T {
        let (weights, numbers) = unknowns.split_at(self.network.weights());
        let parameters = self.parameters(numbers);
        let size = self.system.coordinates();
        let state = |from: usize| chunk[from..from + size].iter().map(|&x| T::constant(x));
        let (mut x, mut v): (Vec<T>, Vec<T>) = (state(0).collect(), state(size).collect());
        let (mut step, mut sum) = (PointStep::default(), T::zero());
        for recorded in chunk.chunks_exact(2 * size).skip(1) {
            let force = &mut NetworkForce { network: &self.network, weights };
            let (formulation, rule) = (self.formulation, self.rule);
            step.step(&self.system, &parameters, formulation, rule, force, &mut x, &mut v);
            if !step.report.is_solved() {
                return T::constant(f64::NAN);
            }
            let pairs = x.iter().chain(&v).zip(recorded);
            sum += pairs.fold(T::zero(), |sum, (&z, &recorded)| sum + (z - recorded).abs());
        }
        sum
    }
}
