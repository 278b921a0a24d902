//! How nodes of a soft body are moved to check derivatives, and what is looked at of them.

pub(super) type Nodes = Vec<[f64; 3]>;

/// How many sums of velocities there are, and of places.
const SUMS: usize = 3;
/// A smaller effect, of as much as a parameter is or of a length, is none.
const LEAST_EFFECT: f64 = 1e-8;

/// By how much the unit of a variable is to be divided whose largest derivative this is, so that it is 1.
pub(super) fn unit_share(effect: f64) -> f64 {
    if effect > LEAST_EFFECT { effect } else { 1.0 }
}

/// Fields of displacements: those of a rigid body, and bent ones.
pub(super) struct Fields {
    /// From the middle (m), and the largest coordinate of these.
    arms: Nodes,
    size: f64,
}

impl Fields {
    /// Of nodes at `places` about their `middle`.
    pub fn about(places: &[[f64; 3]], middle: [f64; 3]) -> Self {
        let arms: Nodes = places.iter().map(|x| [0, 1, 2].map(|k| x[k] - middle[k])).collect();
        let size = arms.as_flattened().iter().fold(0.0_f64, |most, arm| most.max(arm.abs()));
        Fields { arms, size }
    }

    fn along(&self, axis: usize) -> Nodes {
        vec![[0, 1, 2].map(|k| f64::from(u8::from(k == axis))); self.arms.len()]
    }

    fn turned(&self, axis: usize) -> Nodes {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let turned = |arm: &[f64; 3]| {
            let mut x = [0.0; 3];
            (x[next], x[last]) = (-arm[last], arm[next]);
            x
        };
        self.arms.iter().map(turned).collect()
    }

    /// A smooth one that bends.
    pub fn bent(&self, phase: f64) -> Nodes {
        let size = self.size;
        let wave = |arm: &[f64; 3], k: usize| {
            let angle = 1.3 * arm[k] + 1.9 * arm[(k + 1) % 3] - 0.7 * arm[(k + 2) % 3];
            size * (angle / size + phase + k as f64).sin()
        };
        self.arms.iter().map(|arm| [0, 1, 2].map(|k| wave(arm, k))).collect()
    }

    /// Of places and of velocities, which each says, `px` to `shape_rate`.
    pub fn all(&self) -> Vec<(String, bool, Nodes)> {
        let mut all = Vec::new();
        for (rates, [moves, turns, shape]) in
            [(false, ["p", "r", "shape"]), (true, ["v", "w", "shape_rate"])]
        {
            let axes = ["x", "y", "z"].into_iter().enumerate();
            all.extend(
                axes.clone().map(|(k, axis)| (format!("{moves}{axis}"), rates, self.along(k))),
            );
            all.extend(axes.map(|(k, axis)| (format!("{turns}{axis}"), rates, self.turned(k))));
            all.push((shape.to_string(), rates, self.bent(if rates { 0.4 } else { 0.0 })));
        }
        all
    }
}

/// Weights of velocities and places of nodes for each output: mean velocity, sums that leave none out.
pub(super) fn outputs(nodes: usize) -> Vec<[Nodes; 2]> {
    let zero = vec![[0.0; 3]; nodes];
    let share = 1.0 / nodes.max(1) as f64;
    // Multiples of an irrational number, whose fractions fill an interval evenly.
    let weights = |seed: f64| -> Nodes {
        let weight = |k: usize| (((k as f64 + 1.0) * seed).fract() - 0.5) * 2.0 * share.sqrt();
        (0..nodes).map(|node| [0, 1, 2].map(|k| weight(3 * node + k))).collect()
    };
    let mean = |axis: usize| vec![[0, 1, 2].map(|k| if k == axis { share } else { 0.0 }); nodes];
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let seeds = |first: usize| (first..first + SUMS).map(move |k| golden * (k as f64 + 1.0).sqrt());
    let means = (0..3).map(|axis| [mean(axis), zero.clone()]);
    let velocities = seeds(0).map(|seed| [weights(seed), zero.clone()]);
    let places = seeds(SUMS).map(|seed| [zero.clone(), weights(seed)]);
    means.chain(velocities).chain(places).collect()
}
