//! Terms of a scene that are not known but learned: small networks of its state.

use crate::network::Network;
use crate::state::State;

/// What a learned term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnedKind {
    /// An energy V(q), J: acts on all coordinates that it is a function of by -dV/dq.
    Potential,
    /// Viscous friction of its velocities, N m s/rad or N s/m: the square of what the network says, so that it takes energy
    /// whatever the weights are. The step is implicit in it.
    Dissipation,
    /// Generalised forces on its velocities, N m or N.
    Force,
    /// A factor of the coefficients of friction of a contact pair, over its surface: e to the power of what the network says.
    Friction,
}

impl LearnedKind {
    /// All there are.
    pub const ALL: [LearnedKind; 4] = [
        LearnedKind::Potential,
        LearnedKind::Dissipation,
        LearnedKind::Force,
        LearnedKind::Friction,
    ];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            LearnedKind::Potential => "potential",
            LearnedKind::Dissipation => "dissipation",
            LearnedKind::Force => "force",
            LearnedKind::Friction => "friction",
        }
    }
}

/// One input of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// A coordinate that moves as fast as one velocity: m, of joints that turn rad.
    Coordinate {
        /// Its place in [`State::q`](crate::state::State::q).
        q: usize,
        /// The place of its velocity.
        v: usize,
    },
    /// The sine of an angle.
    Sine {
        /// As of a coordinate.
        q: usize,
        /// As of a coordinate.
        v: usize,
    },
    /// The cosine of an angle.
    Cosine {
        /// As of a coordinate.
        q: usize,
        /// As of a coordinate.
        v: usize,
    },
    /// A component of a quaternion.
    Quaternion {
        /// The place of its w.
        q: usize,
        /// The place of the three velocities that turn it.
        v: usize,
        /// Which: 0 to 3.
        component: usize,
    },
    /// A velocity, m/s or rad/s.
    Velocity {
        /// Its place in [`State::v`](crate::state::State::v).
        v: usize,
    },
    /// A coordinate of a point of contact, m: in the frame of this body, or in the world.
    Place {
        /// The body.
        body: Option<usize>,
        /// x, y or z.
        axis: usize,
        /// In the world, the place of this coordinate of a free body that touches it in
        /// [`State::q`](crate::state::State::q).
        near: Option<usize>,
    },
}

impl Feature {
    /// Whether it is bounded by itself: a sine, a cosine, a component of a unit quaternion.
    pub fn is_bounded(self) -> bool {
        matches!(self, Feature::Sine { .. } | Feature::Cosine { .. } | Feature::Quaternion { .. })
    }
}

/// The widest range, and the narrowest as a share of where it is.
const LARGEST: f64 = 1e100;
const RELATIVE: f64 = 1e-9;

/// A term of a scene that is learned: a network of some of its numbers, whose weights are [parameters](super::Parameters).
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedTerm {
    /// Its name: the parameters are `name/weights/0`, ..
    pub name: String,
    /// What it is.
    pub kind: LearnedKind,
    /// What it is a function of, as scene files say it: `link/q`.
    pub of: Vec<String>,
    /// The inputs of the network.
    pub features: Vec<Feature>,
    /// The least and largest value of each of `of` where it was learned, if that is known.
    pub range: Vec<[f64; 2]>,
    /// The velocities it acts on; of a potential and of friction none.
    pub velocities: Vec<usize>,
    /// The contact pair, of friction.
    pub pair: Option<usize>,
    /// What an output of 1 stands for: J, N or N m; of viscous friction, that of an output of 1.
    pub amplitude: f64,
    /// The network.
    pub network: Network,
}

impl LearnedTerm {
    /// Whether these are a least and a largest value that can be told apart.
    pub(crate) fn is_range([least, most]: [f64; 2]) -> bool {
        let (middle, half) = (0.5 * least + 0.5 * most, 0.5 * most - 0.5 * least);
        half.is_normal() && half > 0.0 && half < LARGEST && half > RELATIVE * middle.abs()
    }

    /// The middle and half the width of the range of an input, of one without a range 0 and 1.
    pub(crate) fn span(&self, input: usize) -> [f64; 2] {
        let known = self.range.get(self.quantity(input));
        let known = known.filter(|_| !self.features[input].is_bounded());
        known.map_or([0.0, 1.0], |[least, most]| {
            [0.5 * least + 0.5 * most, 0.5 * most - 0.5 * least]
        })
    }

    /// What a quantity that it is a function of is in a state; of a place in the world that of the body that touches it there.
    pub fn quantity_in(&self, place: usize, state: &State<f64>) -> Option<f64> {
        let input = (0..self.features.len()).find(|&input| self.quantity(input) == place)?;
        match self.features[input] {
            Feature::Coordinate { q, .. } | Feature::Sine { q, .. } | Feature::Cosine { q, .. } => {
                Some(state.q[q])
            }
            Feature::Quaternion { q, component, .. } => Some(state.q[q + component]),
            Feature::Velocity { v } => Some(state.v[v]),
            Feature::Place { near, .. } => near.map(|q| state.q[q]),
        }
    }

    /// Whether a state is beyond what it was learned from; angles count but for whole turns.
    pub fn is_beyond(&self, state: &State<f64>) -> bool {
        let mut quantities = self.range.iter().enumerate();
        quantities.any(|(place, [least, most])| {
            let Some(x) = self.quantity_in(place, state) else { return false };
            let (middle, half) = (0.5 * least + 0.5 * most, 0.5 * most - 0.5 * least);
            let is_angle = (0..self.features.len()).any(|input| {
                self.quantity(input) == place
                    && matches!(self.features[input], Feature::Sine { .. })
            });
            let mut away = x - middle;
            if is_angle {
                away -= std::f64::consts::TAU * (away / std::f64::consts::TAU).round();
            }
            away.abs() > half * (1.0 + 1e-9)
        })
    }

    /// What to know of states of which some are beyond what it was learned from, in a sentence; nothing if none is.
    pub fn beyond<'a>(&self, states: impl Iterator<Item = &'a State<f64>>) -> Option<String> {
        let (mut beyond, mut all) = (0, 0);
        for state in states {
            all += 1;
            beyond += usize::from(self.is_beyond(state));
        }
        let (name, of) = (&self.name, self.of.join(", "));
        (beyond > 0).then(|| {
            format!(
                "{name}: in {beyond} of {all} states {of} lies beyond what it was learned from; there it is what the \
                 network makes of it"
            )
        })
    }

    /// The quantity of `of` that an input is of.
    pub fn quantity(&self, input: usize) -> usize {
        // Only the two of an angle stand for one.
        let angles = self.features[..=input].iter();
        input - angles.filter(|feature| matches!(feature, Feature::Cosine { .. })).count()
    }
}
