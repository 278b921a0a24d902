//! Which numbers of a trajectory are recorded.

use crate::model::{Joint, Model};

/// Which numbers of the states of a [`Trajectory`](super::Trajectory) are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Those of the configuration.
    pub q: Vec<bool>,
    /// The velocities. One that is not recorded is a difference of configurations, where these are.
    pub v: Vec<bool>,
}

impl Recorded {
    /// Everything.
    pub fn all(model: &Model) -> Recorded {
        Recorded { q: vec![true; model.nq()], v: vec![true; model.nv()] }
    }

    /// The configurations, but no velocity.
    pub fn configurations(model: &Model) -> Recorded {
        Recorded { q: vec![true; model.nq()], v: vec![false; model.nv()] }
    }

    /// Whether the numbers of the configuration that velocity `k` of a joint moves are recorded.
    pub fn knows_configuration(&self, joint: &Joint, k: usize) -> bool {
        let moved = joint.kind.coordinates().map(|coordinates| coordinates.moved_by(k));
        moved.is_some_and(|moved| self.q[joint.q + moved])
    }

    /// Whether velocity `k` of a joint is recorded, or a difference of what is.
    pub fn knows_velocity(&self, joint: &Joint, k: usize) -> bool {
        self.v[joint.v + k] || self.knows_configuration(joint, k)
    }
}
