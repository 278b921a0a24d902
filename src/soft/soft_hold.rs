//! What holds nodes of soft bodies, and leads them or ties them to rigid bodies.

use nalgebra::{Matrix3, Vector3};

use super::schedule;
use crate::ad::{Dual, Real};
use crate::implicit::HeldNode;
use crate::spatial::{exp, rotation_matrix};

/// Holds nodes of a body as one rigid piece: where they start, or along poses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoftHold {
    /// Its name.
    pub name: String,
    /// The nodes, ascending.
    pub nodes: Vec<usize>,
    /// The rigid body that carries them from where they start, and feels what that takes; they are told nothing then.
    pub carrier: Option<usize>,
    /// When it is told where it is (s), ascending.
    pub times: Vec<f64>,
    /// How far it is moved then (m): one of each time, or none. What is told of time 0 is where it starts.
    pub displacement: Vec<[f64; 3]>,
    /// How it is turned then, a rotation vector about where the middle of its nodes has got to (rad): one of each time, or none.
    pub rotation: Vec<[f64; 3]>,
}

/// Of how a hold is told where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldNumber {
    /// How far it is moved, of this time along this axis.
    Displacement(usize, usize),
    /// How it is turned, of this time about this axis.
    Rotation(usize, usize),
}

impl HoldNumber {
    /// What it is.
    pub(super) fn of(self, hold: &SoftHold) -> f64 {
        match self {
            HoldNumber::Displacement(k, axis) => hold.displacement[k][axis],
            HoldNumber::Rotation(k, axis) => hold.rotation[k][axis],
        }
    }

    /// Where it stands.
    pub(super) fn of_mut(self, hold: &mut SoftHold) -> &mut f64 {
        match self {
            HoldNumber::Displacement(k, axis) => &mut hold.displacement[k][axis],
            HoldNumber::Rotation(k, axis) => &mut hold.rotation[k][axis],
        }
    }
}

/// How a hold moves in a step: what was at x is at turn x + shift.
struct Carried<T> {
    turn: Matrix3<T>,
    shift: Vector3<T>,
}

impl SoftHold {
    /// Its nodes that are led, of a body that has so many: none if a body carries them.
    pub(super) fn led(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        self.known(count).filter(|_| self.carrier.is_none())
    }

    /// Its nodes, of a body that has so many.
    fn known(&self, count: usize) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().copied().filter(move |&node| node < count)
    }

    /// The middle of its nodes where all nodes are at `x` (m).
    fn middle(&self, x: &[[f64; 3]]) -> Vector3<f64> {
        let sum: Vector3<f64> = self.known(x.len()).map(|node| Vector3::from(x[node])).sum();
        sum / self.nodes.len().max(1) as f64
    }

    /// How it moves over a `span` (s), with the middle of its nodes at `middle` at first, where the number that `changed` says, if
    /// any, is a variable.
    fn carried<T: Real>(
        &self,
        middle: Vector3<T>,
        span: [f64; 2],
        changed: Option<(HoldNumber, T)>,
    ) -> Carried<T> {
        let told = |values: &[[f64; 3]], own: fn(HoldNumber) -> Option<(usize, usize)>, t: f64| {
            let mut sum = Vector3::zeros();
            for (k, weight) in schedule::weights(&self.times, t) {
                let Some(value) = values.get(k) else { continue };
                sum += Vector3::from(value.map(|x| T::constant(x * weight)));
                let changed = changed.and_then(|(number, change)| Some((own(number)?, change)));
                if let Some(((_, axis), change)) = changed.filter(|((own, _), _)| *own == k) {
                    sum[axis] += change * weight;
                }
            }
            sum
        };
        let moved = |number| match number {
            HoldNumber::Displacement(k, axis) => Some((k, axis)),
            HoldNumber::Rotation(..) => None,
        };
        let turned = |number| match number {
            HoldNumber::Rotation(k, axis) => Some((k, axis)),
            HoldNumber::Displacement(..) => None,
        };
        let [start, before, after] =
            [0.0, span[0], span[1]].map(|t| told(&self.displacement, moved, t));
        let turn = match self.rotation.is_empty() {
            true => Matrix3::identity(),
            false => {
                let [old, new] =
                    span.map(|t| rotation_matrix(exp(told(&self.rotation, turned, t))));
                new * old.transpose()
            }
        };
        let shift = match self.rotation.is_empty() {
            // What turns nothing needs no middle.
            true => after - before,
            false => middle + (after - start) - turn * (middle + (before - start)),
        };
        Carried { turn, shift }
    }

    /// How its nodes are led over a `span` (s), where all started at `start` (m).
    pub fn lead(&self, start: &[[f64; 3]], span: [f64; 2]) -> impl Iterator<Item = HeldNode> + '_ {
        let Carried { turn, shift } = self.carried::<f64>(self.middle(start), span, None);
        let turn = [0, 1, 2].map(|i| [0, 1, 2].map(|j| turn[(i, j)]));
        let known = self.led(start.len());
        known.map(move |node| HeldNode { node, turn, shift: shift.into() })
    }

    /// How where its nodes at `x` (m) are led changes with a number of it: of each node, m by m or rad.
    pub fn slopes(
        &self,
        number: HoldNumber,
        start: &[[f64; 3]],
        span: [f64; 2],
        x: &[[f64; 3]],
    ) -> Vec<[f64; 3]> {
        type Scalar = Dual<f64, 1>;
        let middle = self.middle(start).map(Scalar::constant);
        let changed = Some((number, Scalar::variable(0.0, 0)));
        self.tangents(&self.carried(middle, span, changed), x)
    }

    /// The same with where all nodes started, which change by `moved` (m).
    pub fn start_slopes(
        &self,
        moved: &[[f64; 3]],
        start: &[[f64; 3]],
        span: [f64; 2],
        x: &[[f64; 3]],
    ) -> Vec<[f64; 3]> {
        type Scalar = Dual<f64, 1>;
        let (middle, change) = (self.middle(start), self.middle(moved));
        let middle = Vector3::from_fn(|k, _| Scalar::new(middle[k], [change[k]]));
        self.tangents(&self.carried(middle, span, None), x)
    }

    fn tangents(&self, carried: &Carried<Dual<f64, 1>>, x: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let Carried { turn, shift } = carried;
        let end = |node: usize| {
            let moved = turn * Vector3::from(x[node]).map(Dual::constant) + shift;
            [0, 1, 2].map(|k| moved[k].tangent[0])
        };
        self.led(x.len()).map(end).collect()
    }
}
