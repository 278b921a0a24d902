//! The numbers of a system that may be unknown.

/// Parameters of a [`PointSystem`](super::PointSystem).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointParameters<T> {
    /// Mass of each body (kg), above zero.
    pub masses: Vec<T>,
    /// Second moment of mass along each axis of each body that has axes, over its mass (m^2), above zero.
    pub moments: Vec<T>,
    /// mu of each surface.
    pub friction: Vec<T>,
    /// e_P of each surface, Poisson's coefficient of restitution, 0 to 1.
    pub restitution: Vec<T>,
}
