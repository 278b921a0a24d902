//! What is learned, as numbers without bounds: weights of the network, then p, a and b with
//!
//! ```text
//! m = exp(p_0), s_k = exp(p_k) a body;   mu = max(a, 0);   e = min(max(b/6 + 1/2, 0), 1) a surface
//! ```
//!
//! as in `Zhong21` (s_k are second moments over the mass). Where a or b has left its range nothing moves it back.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use crate::ad::Real;
use crate::maximal::{Formulation, ImpactRule, PointParameters, PointSystem};
use crate::network::{Network, NetworkError};

/// A system whose potential is a network, and how it is simulated.
#[derive(Clone, Debug)]
pub struct LearnedSystem {
    /// What is known.
    pub system: PointSystem,
    /// V(x), a number of all coordinates.
    pub network: Network,
    /// Lagrangian or Hamiltonian motion (CLNN or CHNN).
    pub formulation: Formulation,
    /// How impacts are solved (CM or CMr).
    pub rule: ImpactRule,
}

/// Where each unknown stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknowns {
    /// How many weights there are, which come first.
    pub weights: usize,
    /// How many log masses and log moments.
    pub inertias: usize,
    /// How many frictions, and as many restitutions.
    pub surfaces: usize,
}

impl Unknowns {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.weights + self.inertias + 2 * self.surfaces
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl LearnedSystem {
    /// A system with a network for its potential.
    ///
    /// # Errors
    /// If the network does not take the system's coordinates to one number.
    pub fn new(
        system: PointSystem,
        network: Network,
        formulation: Formulation,
        rule: ImpactRule,
    ) -> Result<LearnedSystem, NetworkError> {
        let (inputs, outputs) = (system.coordinates(), 1);
        if (network.inputs(), network.outputs()) != (inputs, outputs) {
            let message = format!(
                "a potential of this system is a network from {inputs} numbers to 1, found {} to {}",
                network.inputs(),
                network.outputs()
            );
            return Err(NetworkError(message));
        }
        Ok(LearnedSystem { system, network, formulation, rule })
    }

    /// What is unknown of it.
    pub fn unknowns(&self) -> Unknowns {
        Unknowns {
            weights: self.network.weights(),
            inertias: self.system.bodies().len() + self.system.layout().moments(),
            surfaces: self.system.surfaces(),
        }
    }

    /// Where a search begins: weights of [`Network::random`], p of 0.1 times normal numbers, a uniform from 0 to 1, b normal.
    pub fn random(&self, random: &mut impl Rng) -> Vec<f64> {
        let count = self.unknowns();
        let mut all = self.network.random(random);
        let normal = |random: &mut _| -> f64 { StandardNormal.sample(random) };
        all.extend((0..count.inertias).map(|_| 0.1 * normal(random)));
        all.extend((0..count.surfaces).map(|_| random.random::<f64>()));
        all.extend((0..count.surfaces).map(|_| normal(random)));
        all
    }

    /// The parameters that the unknowns behind the weights stand for, of which there are those that [`unknowns`](Self::unknowns) says.
    pub fn parameters<T: Real>(&self, numbers: &[T]) -> PointParameters<T> {
        let count = self.unknowns();
        let (p, rest) = numbers.split_at(count.inertias);
        let (a, b) = rest.split_at(count.surfaces);
        let mut parameters = PointParameters::default();
        let mut p = p.iter().map(|&p| p.exp());
        for body in self.system.bodies() {
            parameters.masses.extend(p.by_ref().take(1));
            parameters.moments.extend(p.by_ref().take(body.axes));
        }
        parameters.friction.extend(a.iter().map(|&a| a.max(T::zero())));
        let (zero, one) = (T::zero(), T::constant(1.0));
        parameters.restitution.extend(b.iter().map(|&b| (b / 6.0 + 0.5).clamp(zero, one)));
        parameters
    }
}
