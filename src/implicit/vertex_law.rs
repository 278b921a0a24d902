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
}

impl VertexLaw {
    /// All of them.
    pub const ALL: [VertexLaw; 4] =
        [VertexLaw::Coupled, VertexLaw::Hybrid, VertexLaw::PenaltyLinear, VertexLaw::PenaltyTanh];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            VertexLaw::Coupled => "coupled",
            VertexLaw::Hybrid => "hybrid",
            VertexLaw::PenaltyLinear => "penalty_linear",
            VertexLaw::PenaltyTanh => "penalty_tanh",
        }
    }

    /// Whether it is a force of where a vertex is and how it moves, and of nothing else.
    pub fn is_penalty(self) -> bool {
        matches!(self, VertexLaw::PenaltyLinear | VertexLaw::PenaltyTanh)
    }
}
