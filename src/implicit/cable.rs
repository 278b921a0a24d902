//! Cables and springs through nodes and points of the world (`Geilinger20` (23)).

use crate::ad::Real;
use crate::fem::Matrix3;
use crate::linalg::{BlockMatrix, BlockPattern};

/// What a cable goes through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CablePoint {
    /// A node.
    Node(usize),
    /// A point of the world (m).
    World([f64; 3]),
}

/// What a cable does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CableKind {
    /// It pulls, or is slack.
    #[default]
    Cable,
    /// It pushes as well.
    Spring,
    /// It holds its first point to its last: k times their distance and c times its rate, in all directions.
    Joint,
}

/// A cable that slides freely through its points. Of length l it pulls all of them together with the tension
/// T = k (l - `l_0`) + c l' (N), never less than nothing if it only pulls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cable<T = f64> {
    /// What it goes through, in that order.
    pub points: Vec<CablePoint>,
    /// `l_0`, m; of no meaning for a joint
    pub rest_length: T,
    /// k, N/m
    pub stiffness: T,
    /// c, N s/m
    pub damping: T,
    /// What it does.
    pub kind: CableKind,
}

/// What stands at nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    /// Places: points of the world have theirs.
    Places,
    /// Velocities, or other changes: points of the world have none.
    Rates,
}

/// A straight part of a cable: the points it is between, how long it is, and its direction; none where both are in one place.
struct Segment<T> {
    ends: [CablePoint; 2],
    length: T,
    along: [T; 3],
}

impl<T: Real> Cable<T> {
    /// Whether it holds one point to another.
    fn is_joint(&self) -> bool {
        self.kind == CableKind::Joint
    }

    /// Its straight parts: of a joint one from its first point to its last.
    fn segments<'a>(&'a self, x: &'a [[T; 3]]) -> impl Iterator<Item = Segment<T>> + 'a {
        let stride = if self.is_joint() { self.points.len().saturating_sub(1).max(1) } else { 1 };
        let pairs = self.points.iter().zip(self.points.iter().skip(stride));
        pairs.map(|(&a, &b)| {
            let ends = [a, b];
            let away = across(ends, x, Field::Places);
            let square = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
            if square.value() == 0.0 {
                return Segment { ends, length: T::zero(), along: [T::zero(); 3] };
            }
            let length = square.sqrt();
            Segment { ends, length, along: away.map(|x| x / length) }
        })
    }

    /// Its length (m), and how that changes as its nodes, at `x`, move with `v`; or with what else stands at them.
    fn length_and_rate(&self, x: &[[T; 3]], v: Option<&[[T; 3]]>) -> [T; 2] {
        let mut sums = [T::zero(); 2];
        for segment in self.segments(x) {
            sums[0] += segment.length;
            let rate = v.map(|v| across(segment.ends, v, Field::Rates));
            if let Some(rate) = rate {
                (0..3).for_each(|k| sums[1] += segment.along[k] * rate[k]);
            }
        }
        sums
    }

    /// Its length (m) and tension (N) with its nodes at `x`, and moving with `v` (m/s). Of what holds one point to another the
    /// tension is the size of its force without damping.
    pub fn length_and_tension(&self, x: &[[T; 3]], v: Option<&[[T; 3]]>) -> [T; 2] {
        let [length, rate] = self.length_and_rate(x, v);
        if self.is_joint() {
            return [length, self.stiffness * length];
        }
        let tension = self.stiffness * (length - self.rest_length) + self.damping * rate;
        let is_slack = self.kind == CableKind::Cable && tension.value() <= 0.0;
        [length, if is_slack { T::zero() } else { tension }]
    }

    /// f += its forces on nodes (N).
    pub fn add_forces(&self, x: &[[T; 3]], v: Option<&[[T; 3]]>, f: &mut [[T; 3]]) {
        if self.is_joint() {
            for segment in self.segments(x) {
                let away = across(segment.ends, x, Field::Places);
                let rate = v.map_or([T::zero(); 3], |v| across(segment.ends, v, Field::Rates));
                let pull = [0, 1, 2].map(|k| self.stiffness * away[k] + self.damping * rate[k]);
                add_pull(segment.ends, pull, f);
            }
            return;
        }
        let [_, tension] = self.length_and_tension(x, v);
        for segment in self.segments(x) {
            add_pull(segment.ends, segment.along.map(|t| t * tension), f);
        }
    }

    /// Its energy without damping (J).
    pub fn energy(&self, x: &[[T; 3]]) -> T {
        if self.is_joint() {
            let square = self.segments(x).map(|own| {
                let away = across(own.ends, x, Field::Places);
                away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
            });
            return square.fold(T::zero(), |sum, x| sum + x) * self.stiffness * 0.5;
        }
        let [length, _] = self.length_and_rate(x, None);
        let stretch = length - self.rest_length;
        let is_slack = self.kind == CableKind::Cable && stretch.value() <= 0.0;
        if is_slack { T::zero() } else { self.stiffness * stretch * stretch * 0.5 }
    }
}

impl Cable {
    /// matrix += `weights[0]` times -df/dx and `weights[1]` times -df/dv; `projected` on what is positive definite.
    pub(super) fn add_stiffness(
        &self,
        weights: [f64; 2],
        projected: bool,
        (x, v): (&[[f64; 3]], Option<&[[f64; 3]]>),
        (pattern, matrix): (&BlockPattern, &mut BlockMatrix<f64>),
    ) {
        let mut add = |row: CablePoint, column: CablePoint, block: &Matrix3<f64>| {
            let (CablePoint::Node(row), CablePoint::Node(column)) = (row, column) else { return };
            let Some(place) = pattern.find(row, column) else { return };
            let target = matrix.blocks[place].iter_mut().flatten();
            target.zip(block.as_flattened()).for_each(|(target, x)| *target += x);
        };
        let mut add_between = |[a, b]: [CablePoint; 2], block: Matrix3<f64>| {
            let negative = block.map(|row| row.map(|x| -x));
            add(a, a, &block);
            add(b, b, &block);
            add(a, b, &negative);
            add(b, a, &negative);
        };
        let Cable { stiffness, damping, .. } = *self;
        if self.is_joint() {
            let size = weights[0] * stiffness + weights[1] * damping;
            let block = [[size, 0.0, 0.0], [0.0, size, 0.0], [0.0, 0.0, size]];
            self.segments(x).for_each(|segment| add_between(segment.ends, block));
            return;
        }
        let [_, tension] = self.length_and_tension(x, v);
        if self.kind == CableKind::Cable && tension == 0.0 {
            return;
        }
        // T times what turns the directions.
        for segment in
            self.segments(x).filter(|own| own.length > 0.0 && !(projected && tension < 0.0))
        {
            let size = weights[0] * tension / segment.length;
            let turns = across_direction(&segment.along);
            add_between(segment.ends, turns.map(|row| row.map(|x| size * x)));
        }
        // How T changes, along how the length does.
        let size = weights[0] * stiffness + weights[1] * damping;
        for segment in self.segments(x) {
            let mut changes = segment.along.map(|t| size * t);
            if let Some(v) = v.filter(|_| !projected && segment.length > 0.0) {
                let rate = across(segment.ends, v, Field::Rates);
                let turns = across_direction(&segment.along);
                let share = weights[0] * damping / segment.length;
                (0..9).for_each(|k| changes[k / 3] += share * turns[k / 3][k % 3] * rate[k % 3]);
            }
            for (row, along) in self.ends_of_segments(x) {
                let outer = along.map(|a| changes.map(|b| a * b));
                add(row, segment.ends[1], &outer);
                add(row, segment.ends[0], &outer.map(|row| row.map(|x| -x)));
            }
        }
    }

    /// The ends of all segments, and how its length changes with them.
    fn ends_of_segments<'a>(
        &'a self,
        x: &'a [[f64; 3]],
    ) -> impl Iterator<Item = (CablePoint, [f64; 3])> + 'a {
        self.segments(x)
            .flat_map(|Segment { ends: [a, b], along, .. }| [(a, along.map(|t| -t)), (b, along)])
    }

    /// f += how its forces (N) change with its rest length, stiffness and damping.
    pub(super) fn add_number_forces(
        &self,
        changes: &[f64; 3],
        (x, v): (&[[f64; 3]], &[[f64; 3]]),
        f: &mut [[f64; 3]],
    ) {
        let [_, stiffness, damping] = *changes;
        if self.is_joint() {
            for segment in self.segments(x) {
                let rate = across(segment.ends, v, Field::Rates);
                let away = across(segment.ends, x, Field::Places);
                let pull = [0, 1, 2].map(|k| stiffness * away[k] + damping * rate[k]);
                add_pull(segment.ends, pull, f);
            }
            return;
        }
        let slopes = self.tension_slopes(x, v);
        let tension: f64 = slopes.iter().zip(changes).map(|(slope, change)| slope * change).sum();
        for segment in self.segments(x) {
            add_pull(segment.ends, segment.along.map(|t| t * tension), f);
        }
    }

    /// The adjoints of rest length, stiffness and damping, from those `w` of its forces.
    pub(super) fn number_adjoints(
        &self,
        (x, v): (&[[f64; 3]], &[[f64; 3]]),
        w: &[[f64; 3]],
    ) -> [f64; 3] {
        if self.is_joint() {
            let mut sums = [0.0; 3];
            for segment in self.segments(x) {
                let parted = across(segment.ends, w, Field::Rates);
                let rate = across(segment.ends, v, Field::Rates);
                let product = |x: &[f64; 3]| (0..3).map(|k| parted[k] * x[k]).sum::<f64>();
                sums[1] -= product(&across(segment.ends, x, Field::Places));
                sums[2] -= product(&rate);
            }
            return sums;
        }
        let [_, along] = self.length_and_rate(x, Some(w));
        self.tension_slopes(x, v).map(|slope| -along * slope)
    }

    /// How the tension changes with rest length, stiffness and damping.
    fn tension_slopes(&self, x: &[[f64; 3]], v: &[[f64; 3]]) -> [f64; 3] {
        let [_, tension] = self.length_and_tension(x, Some(v));
        if self.kind == CableKind::Cable && tension == 0.0 {
            return [0.0; 3];
        }
        let [length, rate] = self.length_and_rate(x, Some(v));
        [-self.stiffness, length - self.rest_length, rate]
    }

    /// The nodes it goes through.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.points.iter().filter_map(|point| match point {
            CablePoint::Node(node) => Some(*node),
            CablePoint::World(_) => None,
        })
    }

    /// Its points, with its nodes at `x` (m).
    pub fn places<'a>(&'a self, x: &'a [[f64; 3]]) -> impl Iterator<Item = [f64; 3]> + 'a {
        self.points.iter().map(|&point| at(point, x, Field::Places))
    }
}

/// What stands at a point.
fn at<T: Real>(point: CablePoint, x: &[[T; 3]], field: Field) -> [T; 3] {
    match point {
        CablePoint::Node(node) => x[node],
        CablePoint::World(place) if field == Field::Places => place.map(T::constant),
        CablePoint::World(_) => [T::zero(); 3],
    }
}

/// The second end less the first.
fn across<T: Real>(ends: [CablePoint; 2], x: &[[T; 3]], field: Field) -> [T; 3] {
    let [a, b] = ends.map(|end| at(end, x, field));
    [0, 1, 2].map(|k| b[k] - a[k])
}

/// The first end is pulled, the second back.
fn add_pull<T: Real>(ends: [CablePoint; 2], pull: [T; 3], f: &mut [[T; 3]]) {
    for (end, sign) in ends.into_iter().zip([1.0, -1.0]) {
        if let CablePoint::Node(node) = end {
            (0..3).for_each(|k| f[node][k] += pull[k] * sign);
        }
    }
}

/// 1 - t t'
fn across_direction(t: &[f64; 3]) -> Matrix3<f64> {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| f64::from(u8::from(i == j)) - t[i] * t[j]))
}
