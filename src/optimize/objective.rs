//! What a task wants: residuals of the points of a body, which objectives are sums of squares of.

use crate::ad::Real;

/// An objective: half the sum of squares of residuals.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// What is wanted.
    pub goal: Goal,
    /// When.
    pub period: Period,
    /// What a residual of 1 (m, rad or the unit of an input) counts.
    pub weight: f64,
}

/// What is wanted.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// A point of a body is at a target (m).
    Place {
        /// The body, by its number in the scene.
        body: usize,
        /// Its point.
        place: BodyPoint,
        /// Where it is wanted (m); what is not wanted is not asked for.
        target: [Option<f64>; 3],
    },
    /// One point of a body is seen from another one in a direction.
    Direction {
        /// The body.
        body: usize,
        /// Of the direction.
        from: BodyPoint,
        /// Of the direction.
        to: BodyPoint,
        /// A unit vector.
        target: [f64; 3],
    },
    /// An input is small: residuals are its values.
    Effort {
        /// The input, by its number in the scene.
        input: usize,
    },
}

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyPoint {
    /// The centre of mass.
    Centre,
    /// The mean of the surface of a soft body.
    Surface,
    /// A node of a soft body.
    Node(usize),
    /// A point of a rigid body, in its frame (m).
    Local([f64; 3]),
}

/// When an objective counts, by numbers of steps; over several steps it is their mean square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

impl Period {
    /// Whether a step is in it.
    pub fn contains(&self, step: usize) -> bool {
        (self.first..=self.last).contains(&step)
    }

    /// 1 over the root of how many steps there are.
    pub fn share(&self) -> f64 {
        ((self.last - self.first + 1) as f64).sqrt().recip()
    }
}

impl Objective {
    /// The residuals of a step in which the points of the goal are at `points` (m).
    pub fn residuals<T: Real>(&self, points: &[[T; 3]], residuals: &mut Vec<T>) {
        let weight = self.weight * self.period.share();
        match (&self.goal, points) {
            (Goal::Place { target, .. }, [point]) => {
                let wanted = point.iter().zip(target);
                residuals.extend(
                    wanted.filter_map(|(x, target)| target.map(|target| (*x - target) * weight)),
                );
            }
            (Goal::Direction { target, .. }, [from, to]) => {
                let arm = [0, 1, 2].map(|k| to[k] - from[k]);
                let length = (arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2]).sqrt();
                residuals.extend((0..3).map(|k| (arm[k] / length - target[k]) * weight));
            }
            _ => {}
        }
    }

    /// The points of the goal, and of which body.
    pub fn points(&self) -> Option<(usize, Vec<BodyPoint>)> {
        match &self.goal {
            Goal::Place { body, place, .. } => Some((*body, vec![*place])),
            Goal::Direction { body, from, to, .. } => Some((*body, vec![*from, *to])),
            Goal::Effort { .. } => None,
        }
    }
}
