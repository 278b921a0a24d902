//! Changes of what a step is made of.

use super::momentum::SolidParameters;
use crate::fem::SolidMaterial;
use crate::linalg::dot;

/// Changes of what a step is made of; or the adjoints of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepChange {
    /// Of places now (m).
    pub x: Vec<[f64; 3]>,
    /// Of velocities now (m/s).
    pub v: Vec<[f64; 3]>,
    /// Of places a step before (m).
    pub x_old: Vec<[f64; 3]>,
    /// Of velocities a step before (m/s).
    pub v_old: Vec<[f64; 3]>,
    /// Of lambda, mu, viscosity, density and gravity.
    pub parameters: SolidParameters<f64>,
    /// Of the friction of each contact.
    pub friction: Vec<f64>,
    /// Of the stiffness of each contact (N/m).
    pub stiffness: Vec<f64>,
    /// Of the damping of each contact (N s/m).
    pub damping: Vec<f64>,
    /// Of rest length, stiffness and damping of each cable (m, N/m, N s/m), if any change.
    pub cables: Vec<[f64; 3]>,
    /// Of where each held node is led (m), beside what it moves by with where it is now, if any change.
    pub held: Vec<[f64; 3]>,
}

impl StepChange {
    /// No change, for as many nodes and contacts.
    pub fn none(nodes: usize, contacts: usize) -> Self {
        let zero = vec![[0.0; 3]; nodes];
        StepChange {
            x: zero.clone(),
            v: zero.clone(),
            x_old: zero.clone(),
            v_old: zero,
            parameters: SolidParameters::default(),
            friction: vec![0.0; contacts],
            stiffness: vec![0.0; contacts],
            damping: vec![0.0; contacts],
            cables: Vec::new(),
            held: Vec::new(),
        }
    }

    /// The product of a change and adjoints: what the change makes of what they are adjoints of.
    pub fn dot(&self, other: &StepChange) -> f64 {
        let nodes = |x: &[[f64; 3]], y: &[[f64; 3]]| dot(x.as_flattened(), y.as_flattened());
        let (own, others) = (&self.parameters, &other.parameters);
        let material = |p: &SolidMaterial<f64>| [p.lame_lambda, p.lame_mu, p.viscosity];
        nodes(&self.x, &other.x)
            + nodes(&self.v, &other.v)
            + nodes(&self.x_old, &other.x_old)
            + nodes(&self.v_old, &other.v_old)
            + dot(&material(&own.material), &material(&others.material))
            + own.density * others.density
            + dot(&own.gravity, &others.gravity)
            + dot(&self.friction, &other.friction)
            + dot(&self.stiffness, &other.stiffness)
            + dot(&self.damping, &other.damping)
            + self.dot_led(other)
    }

    /// The same of what a step alone has: cables and how nodes are led.
    pub fn dot_led(&self, other: &StepChange) -> f64 {
        let product = |x: &[[f64; 3]], y: &[[f64; 3]]| -> f64 {
            x.as_flattened().iter().zip(y.as_flattened()).map(|(x, y)| x * y).sum()
        };
        product(&self.cables, &other.cables) + product(&self.held, &other.held)
    }

    /// Adds those of what all steps have: parameters and contacts.
    pub fn add_numbers(&mut self, other: &StepChange) {
        let (own, others) = (&mut self.parameters, &other.parameters);
        own.material.lame_lambda += others.material.lame_lambda;
        own.material.lame_mu += others.material.lame_mu;
        own.material.viscosity += others.material.viscosity;
        own.density += others.density;
        (0..3).for_each(|k| own.gravity[k] += others.gravity[k]);
        for (own, other) in [
            (&mut self.friction, &other.friction),
            (&mut self.stiffness, &other.stiffness),
            (&mut self.damping, &other.damping),
        ] {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
    }
}
