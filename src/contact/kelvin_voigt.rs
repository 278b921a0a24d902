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
pub(crate) enum KelvinVoigt<T> {
    /// Softness (m/N) and damping time (s).
    Soft { softness: T, damping_time: T },
    /// Stiffness (N/m) and damping (N s/m).
    Stiff { stiffness: T, damping: T },
}

/// Less softness (m/N), and less of what pushes (N s/m), is as much.
const LEAST: f64 = 1e-15;

fn at_least<T: Real>(x: T) -> T {
    if x.value() > LEAST { x } else { T::constant(LEAST) }
}

impl<T: Real> KelvinVoigt<T> {
    /// Of a pair, if it has such a term.
    pub fn new(system: &System<T>, pair: usize) -> Option<KelvinVoigt<T>> {
        let System { model, parameters, .. } = *system;
        let number = |term: SurfaceTerm| parameters.surface_term(model, pair, term);
        if let Some(stiffness) = number(SurfaceTerm::Stiffness) {
            let damping = number(SurfaceTerm::Damping).unwrap_or(T::zero());
            return Some(KelvinVoigt::Stiff { stiffness, damping });
        }
        let softness = number(SurfaceTerm::Softness)?;
        let damping_time = number(SurfaceTerm::DampingTime).unwrap_or(T::zero());
        Some(KelvinVoigt::Soft { softness, damping_time })
    }

    /// Whether it yields at all: what does not is pushed out as others are.
    pub fn yields(&self) -> bool {
        match self {
            KelvinVoigt::Soft { softness, .. } => softness.value() > 0.0,
            KelvinVoigt::Stiff { .. } => true,
        }
    }

    /// The normal velocity that it is to have at least, from a penetration with `dt` left of the step.
    pub fn target(&self, gap: T, dt: T) -> T {
        match *self {
            KelvinVoigt::Soft { damping_time, .. } => -gap / (dt + damping_time),
            KelvinVoigt::Stiff { stiffness, damping } => {
                -gap * stiffness / at_least(stiffness * dt + damping)
            }
        }
    }

    /// What friction by penalty has for each unit of slip in a step, kg: kt dt with kt = kn dt. `Geilinger20` 4.2
    pub fn creep(&self, dt: T) -> T {
        match *self {
            KelvinVoigt::Soft { softness, .. } => dt * dt / at_least(softness),
            KelvinVoigt::Stiff { stiffness, .. } => dt * dt * stiffness,
        }
    }

    /// What it adds to the compliance, 1/kg.
    pub fn compliance(&self, dt: T) -> T {
        match *self {
            KelvinVoigt::Soft { softness, damping_time } => softness / (dt * (dt + damping_time)),
            KelvinVoigt::Stiff { stiffness, damping } => {
                T::one() / (dt * at_least(stiffness * dt + damping))
            }
        }
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
        let gap = if decides { gap } else { 0.0 };
        let own = |in_gap: f64, terms: [(SurfaceTerm, f64); 2], creep: f64| YieldSlopes {
            gap: if decides { in_gap } else { 0.0 },
            terms,
            creep,
        };
        Some(match KelvinVoigt::new(system, pair)? {
            KelvinVoigt::Soft { softness, damping_time } => {
                let time = dt + damping_time;
                let pressed = impulse / (dt * time);
                let in_time = -softness * pressed / time - gap / (time * time);
                let creep = if softness > LEAST { -(dt / softness).powi(2) } else { 0.0 };
                let terms = [(SurfaceTerm::Softness, pressed), (SurfaceTerm::DampingTime, in_time)];
                own(1.0 / time, terms, creep)
            }
            KelvinVoigt::Stiff { stiffness, damping } => {
                let sum = stiffness * dt + damping;
                let terms = |in_stiffness: f64, in_damping: f64| {
                    [(SurfaceTerm::Stiffness, in_stiffness), (SurfaceTerm::Damping, in_damping)]
                };
                if sum <= LEAST {
                    return Some(own(stiffness / LEAST, terms(gap / LEAST, 0.0), dt * dt));
                }
                let square = sum * sum;
                let in_stiffness = (gap * damping - impulse) / square;
                let in_damping = -(impulse / dt + gap * stiffness) / square;
                own(stiffness / sum, terms(in_stiffness, in_damping), dt * dt)
            }
        })
    }
}
