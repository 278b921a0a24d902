//! What a surface may do beyond rubbing and rebounding with constant numbers. Each term is off unless it is given, and then
//! takes a place among the parameters.

/// A term of a surface, with one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SurfaceTerm {
    /// How fast what slips forgets the friction of rest, m/s: mu + (mu_static - mu) exp(-(slip / speed)²), in place of a switch
    /// between the two. `Armstrong94`
    StribeckSpeed,
    /// How fast restitution falls with the approach, s/m: e / (1 + falloff * approach)^(1/4). That is constant for what is
    /// slow, and the law of bodies that yield for what is fast. `Johnson85` 11.5
    RestitutionFalloff,
    /// Coefficient of friction across the [grain](super::Grain) of a pair, of which `mu` is then that along it: friction is in
    /// an ellipse. `Goyal91`
    MuAcross,
    /// The radius of the patch in which surfaces touch, m: what turns about the normal meets a couple of up to mu times this times
    /// the normal force.
    TorsionRadius,
    /// How far what rolls pushes the normal force ahead of itself, m: it meets a couple of up to this times the normal force.
    RollingResistance,
    /// How far a point of contact is pressed in for each unit of force, m/N: one over its stiffness. `Gilardi02`
    Softness,
    /// How long it takes to come back, s: damping over stiffness, of a surface that has a softness.
    DampingTime,
    /// What pushes a point of contact back for each unit that it is pressed in, N/m, in the place of a softness.
    Stiffness,
    /// What slows that, N s/m, of a surface that has a stiffness. `Geilinger20` (21)
    Damping,
}

impl SurfaceTerm {
    /// All of them, in the order of their places.
    pub const ALL: [SurfaceTerm; 9] = [
        SurfaceTerm::StribeckSpeed,
        SurfaceTerm::RestitutionFalloff,
        SurfaceTerm::MuAcross,
        SurfaceTerm::TorsionRadius,
        SurfaceTerm::RollingResistance,
        SurfaceTerm::Softness,
        SurfaceTerm::DampingTime,
        SurfaceTerm::Stiffness,
        SurfaceTerm::Damping,
    ];

    /// Its name in files, and of its parameter behind that of the pair.
    pub fn name(self) -> &'static str {
        match self {
            SurfaceTerm::StribeckSpeed => "stribeck_speed",
            SurfaceTerm::RestitutionFalloff => "restitution_falloff",
            SurfaceTerm::MuAcross => "mu_across",
            SurfaceTerm::TorsionRadius => "torsion_radius",
            SurfaceTerm::RollingResistance => "rolling_resistance",
            SurfaceTerm::Softness => "softness",
            SurfaceTerm::DampingTime => "damping_time",
            SurfaceTerm::Stiffness => "stiffness",
            SurfaceTerm::Damping => "damping",
        }
    }

    /// Whether its number must be more than 0, not only no less.
    pub fn is_positive(self) -> bool {
        matches!(self, SurfaceTerm::StribeckSpeed | SurfaceTerm::MuAcross | SurfaceTerm::Stiffness)
    }
}

/// The numbers of the terms that a surface has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceNumbers([Option<f64>; SurfaceTerm::ALL.len()]);

impl SurfaceNumbers {
    /// The number of a term, if the surface has it.
    pub fn get(&self, term: SurfaceTerm) -> Option<f64> {
        self.0[term as usize]
    }

    /// Sets the number of a term.
    pub fn set(&mut self, term: SurfaceTerm, number: Option<f64>) {
        self.0[term as usize] = number;
    }

    /// Of two surfaces that touch: the larger numbers.
    pub(crate) fn with(mut self, other: SurfaceNumbers) -> SurfaceNumbers {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = match (*own, other) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (one, None) | (None, one) => one,
            };
        }
        self
    }

    /// Those there are, in the order of their places.
    pub(crate) fn given(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().flatten().copied()
    }

    /// Which there are.
    pub(crate) fn terms(&self) -> SurfaceTerms {
        SurfaceTerms(self.0.map(|number| number.is_some()))
    }
}

/// Which terms a pair has, or a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SurfaceTerms([bool; SurfaceTerm::ALL.len()]);

impl SurfaceTerms {
    /// Whether it has a term.
    pub fn has(self, term: SurfaceTerm) -> bool {
        self.0[term as usize]
    }

    /// Those it has, in the order of their places.
    pub fn iter(self) -> impl Iterator<Item = SurfaceTerm> {
        SurfaceTerm::ALL.into_iter().filter(move |&term| self.has(term))
    }

    /// Those of both.
    pub(super) fn or(self, other: SurfaceTerms) -> SurfaceTerms {
        SurfaceTerms(std::array::from_fn(|k| self.0[k] || other.0[k]))
    }

    /// Adds one.
    pub(super) fn insert(&mut self, term: SurfaceTerm) {
        self.0[term as usize] = true;
    }

    /// How many numbers they take.
    pub(super) fn count(self) -> usize {
        self.iter().count()
    }

    /// Whether points of contact are pressed in.
    pub(crate) fn yield_to_forces(self) -> bool {
        self.has(SurfaceTerm::Softness) || self.has(SurfaceTerm::Stiffness)
    }

    /// The place of the number of a term among them, if it is one.
    pub(super) fn place(self, term: SurfaceTerm) -> Option<usize> {
        self.iter().position(|own| own == term)
    }
}
