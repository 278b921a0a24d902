//! By which law vertices meet half-spaces and other shapes.

/// The law by which vertices meet half-spaces and other shapes. With kn the stiffness of a contact, a the [rate](super::Predicted::rate) of the
/// step and kt = kn a (`Geilinger20` 4.2):
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VertexLaw {
    /// No vertex is behind a plane of its contacts after a step, and friction is Coulomb's with the exact cone.
    #[default]
    Coupled,
    /// A force kn by depth, and the exact cone on it: what sticks does not creep. `Geilinger20` 4.3
    Hybrid,
    /// The same force, and friction kt |u| against the slip u up to Coulomb's limit. `Geilinger20` (16), (17)
    PenaltyLinear,
    /// The same, with a smooth way to the limit. `Geilinger20` (16), (18)
    PenaltyTanh,
    /// As `Coupled`, by sequential quadratic programs that keep the direction of friction from where contacts stuck: to compare with,
    /// without derivatives. `Geilinger20` 4.1
    Sqp,
}

impl VertexLaw {
    /// All of them.
    pub const ALL: [VertexLaw; 5] = [
        VertexLaw::Coupled,
        VertexLaw::Hybrid,
        VertexLaw::PenaltyLinear,
        VertexLaw::PenaltyTanh,
        VertexLaw::Sqp,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            VertexLaw::Coupled => "coupled",
            VertexLaw::Hybrid => "hybrid",
            VertexLaw::PenaltyLinear => "penalty_linear",
            VertexLaw::PenaltyTanh => "penalty_tanh",
            VertexLaw::Sqp => "sqp",
        }
    }

    /// Whether contacts yield, and have a stiffness.
    pub fn yields(self) -> bool {
        self == VertexLaw::Hybrid || self.is_penalty()
    }

    /// Whether steps have derivatives.
    pub fn has_derivatives(self) -> bool {
        self != VertexLaw::Sqp
    }

    /// Whether it is a force of where a vertex is and how it moves, and of nothing else.
    pub fn is_penalty(self) -> bool {
        matches!(self, VertexLaw::PenaltyLinear | VertexLaw::PenaltyTanh)
    }
}
