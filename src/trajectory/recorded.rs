//! Which numbers of a trajectory are recorded, and at which frames.

use std::collections::BTreeMap;

use crate::model::{Joint, Model};
use crate::packed::packed;

/// Which numbers of the states of a [`Trajectory`](super::Trajectory) are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Those of the configuration.
    pub q: Vec<bool>,
    /// The velocities. One that is not recorded is a difference of configurations, where these are.
    pub v: Vec<bool>,
    /// What is missing all the same, by frame.
    gaps: BTreeMap<usize, Gap>,
}

/// The numbers that are missing at a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gap {
    q: Vec<bool>,
    v: Vec<bool>,
}

impl Recorded {
    /// These numbers of configurations and velocities, at all frames.
    pub fn new(q: Vec<bool>, v: Vec<bool>) -> Recorded {
        Recorded { q, v, gaps: BTreeMap::new() }
    }

    /// Everything.
    pub fn all(model: &Model) -> Recorded {
        Recorded::new(vec![true; model.nq()], vec![true; model.nv()])
    }

    /// The configurations, but no velocity.
    pub fn configurations(model: &Model) -> Recorded {
        Recorded::new(vec![true; model.nq()], vec![false; model.nv()])
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

    /// Says that the number `k` of the configurations is missing at a frame; all four of a quaternion have to
    /// be.
    pub fn lose_configuration(&mut self, frame: usize, k: usize) {
        self.gap(frame).q[k] = true;
    }

    /// Says that velocity `k` is missing at a frame.
    pub fn lose_velocity(&mut self, frame: usize, k: usize) {
        self.gap(frame).v[k] = true;
    }

    fn gap(&mut self, frame: usize) -> &mut Gap {
        let none = || Gap { q: vec![false; self.q.len()], v: vec![false; self.v.len()] };
        self.gaps.entry(frame).or_insert_with(none)
    }

    /// Forgets what is missing of what is not recorded at all.
    pub(super) fn drop_unrecorded_gaps(&mut self) {
        let Recorded { q, v, gaps } = self;
        gaps.retain(|_, gap| {
            gap.q.iter_mut().zip(&*q).for_each(|(missing, recorded)| *missing &= recorded);
            gap.v.iter_mut().zip(&*v).for_each(|(missing, recorded)| *missing &= recorded);
            gap.q.contains(&true) || gap.v.contains(&true)
        });
    }

    /// Whether anything is missing at any frame.
    pub fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// What is known at a frame.
    pub fn at(&self, frame: usize) -> Known<'_> {
        let before = frame.checked_sub(1).and_then(|before| self.gaps.get(&before));
        Known { recorded: self, gap: self.gaps.get(&frame), before }
    }
}

/// Which numbers are known at a frame.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    recorded: &'a Recorded,
    gap: Option<&'a Gap>,
    before: Option<&'a Gap>,
}

impl Known<'_> {
    /// Whether the number `k` of the configuration is measured.
    pub fn q(&self, k: usize) -> bool {
        self.recorded.q[k] && !self.misses_configuration(k)
    }

    /// Whether velocity `k` is measured.
    pub fn v(&self, k: usize) -> bool {
        self.recorded.v[k] && !self.misses_velocity(k)
    }

    /// Whether the number `k` of the configuration is missing though it is recorded elsewhere.
    pub fn misses_configuration(&self, k: usize) -> bool {
        self.gap.is_some_and(|gap| gap.q.get(k) == Some(&true))
    }

    /// Whether velocity `k` is missing though it is recorded elsewhere.
    pub fn misses_velocity(&self, k: usize) -> bool {
        self.gap.is_some_and(|gap| gap.v.get(k) == Some(&true))
    }

    /// Whether the number of the configuration that velocity `k` of a joint moves is measured.
    pub fn configuration(&self, joint: &Joint, k: usize) -> bool {
        let moved = joint.kind.coordinates().map(|coordinates| coordinates.moved_by(k));
        moved.is_some_and(|moved| self.q(joint.q + moved))
    }

    /// Whether velocity `k` of a joint is measured, or a difference from the frame before.
    pub fn velocity(&self, joint: &Joint, k: usize) -> bool {
        if self.recorded.v[joint.v + k] {
            return self.v(joint.v + k);
        }
        let moved = joint.kind.coordinates().map(|coordinates| joint.q + coordinates.moved_by(k));
        moved.is_some_and(|moved| self.q(moved) && !self.before.is_some_and(|gap| gap.q[moved]))
    }

    /// Whether all that is recorded is known here.
    pub fn is_complete(&self) -> bool {
        self.gap.is_none()
    }
}

packed!(Recorded { q, v, gaps });
packed!(Gap { q, v });
