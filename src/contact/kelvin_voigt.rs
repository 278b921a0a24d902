//! Contacts that yield: a spring with a damper beside it, in series with the rigid law.
//!
//! What is pressed in by delta pushes back with (delta + tau delta') / c, where c is the softness and tau the damping time
//! of the pair: 1/c is its stiffness, tau/c its damping, which a pair may have in their place. At the end of a step of dt, from a gap phi that is then
//! phi + dt u+ = -delta, that is (with a penetration, phi <= 0)
//!
//! ```text
//! 0 <= lambda_n  perpendicular to  u+ + phi / (dt + tau) + c lambda_n / (dt (dt + tau)) >= 0
//! ```
//!
//! the contact law of `constraint` with another target and more compliance. A gap closes as ever: the
//! damper acts on what touches. As c goes to 0 so does what is pressed in, and the rigid law is left.
use crate::ad::Real;
use crate::model::{SurfaceTerm, System};

/// What a pair that yields has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KelvinVoigt<T> {
    /// m/N
    softness: T,
    /// s
    damping_time: T,
    /// N/m, where that is what the pair has.
    stiffness: Option<T>,
}

impl<T: Real> KelvinVoigt<T> {
    /// Of a pair, if it has such a term.
    pub fn new(system: &System<T>, pair: usize) -> Option<KelvinVoigt<T>> {
        let System { model, parameters, .. } = *system;
        let number = |term: SurfaceTerm| parameters.surface_term(model, pair, term);
        let stiffness = number(SurfaceTerm::Stiffness);
        if let Some(stiffness) = stiffness.filter(|k| k.value() > 0.0) {
            let damping = number(SurfaceTerm::Damping).unwrap_or(T::zero());
            let (softness, damping_time) = (T::one() / stiffness, damping / stiffness);
            return Some(KelvinVoigt { softness, damping_time, stiffness: Some(stiffness) });
        }
        let softness = number(SurfaceTerm::Softness)?;
        let damping_time = number(SurfaceTerm::DampingTime).unwrap_or(T::zero());
        Some(KelvinVoigt { softness, damping_time, stiffness: None })
    }

    /// Whether it yields at all: what does not is pushed out as others are.
    pub fn yields(&self) -> bool {
        self.softness.value() > 0.0
    }

    /// The normal velocity that it is to have at least, from a penetration with `dt` left of the step.
    pub fn target(&self, gap: T, dt: T) -> T {
        -gap / (dt + self.damping_time)
    }

    /// What friction by penalty has for each unit of slip in a step, kg: kt dt with kt = kn dt. `Geilinger20` 4.2
    pub fn creep(&self, dt: T) -> T {
        dt * dt / self.softness
    }

    /// What it adds to the compliance, 1/kg.
    pub fn compliance(&self, dt: T) -> T {
        self.softness / (dt * (dt + self.damping_time))
    }
}

/// The derivatives of the condition of a contact that yields, of a normal impulse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct YieldSlopes {
    /// In the gap, where that decides.
    pub gap: f64,
    /// In the numbers of the pair.
    pub terms: [(SurfaceTerm, f64); 2],
    /// How [`creep`](KelvinVoigt::creep) changes with the first of these.
    pub creep: f64,
}

impl YieldSlopes {
    /// Of a pair from a gap, if it has such a term; whether that `decides` its target, and its impulse along the normal.
    pub fn new(
        system: &System<f64>,
        (pair, gap): (usize, f64),
        dt: f64,
        (decides, impulse): (bool, f64),
    ) -> Option<YieldSlopes> {
        let law = KelvinVoigt::new(system, pair)?;
        let KelvinVoigt { softness, damping_time, .. } = law;
        let time = dt + damping_time;
        let pressed = impulse / (dt * time);
        let (mut in_gap, mut in_time) = (0.0, -softness * pressed / time);
        if decides {
            in_gap = 1.0 / time;
            in_time -= gap / (time * time);
        }
        let (terms, creep) = match law.stiffness {
            // c = 1/kn, tau = kd/kn
            Some(_) => {
                let in_stiffness = -(pressed * softness + in_time * damping_time) * softness;
                let damping = (SurfaceTerm::Damping, in_time * softness);
                ([(SurfaceTerm::Stiffness, in_stiffness), damping], dt * dt)
            }
            None => (
                [(SurfaceTerm::Softness, pressed), (SurfaceTerm::DampingTime, in_time)],
                -(dt / softness).powi(2),
            ),
        };
        Some(YieldSlopes { gap: in_gap, terms, creep })
    }
}
