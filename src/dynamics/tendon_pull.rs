//! How long tendons are, how that changes with the velocities, and how they pull.

use nalgebra::Vector3;

use super::applied_forces::motor_force;
use super::{BlockDiagonal, Crba, Kinematics, MassMatrix, mass_matrix};
use crate::ad::Real;
use crate::linalg::{cholesky, dot, norm, solve_lower};
use crate::model::{Joint, Model, Parameters, TendonPath, Transmission, Tree};
use crate::state::State;

/// The length of the line through the points of a tendon, each of which is where `place` has a point (m) of a body. Calls `each` with
/// the place of the first point of each part and its direction; of a part without length that is none.
pub(crate) fn tendon_line<T: Real>(
    bodies: &[Option<usize>],
    point: impl Fn(usize) -> Vector3<T>,
    place: impl Fn(usize, &Vector3<T>) -> Vector3<T>,
    mut each: impl FnMut(usize, Vector3<T>),
) -> T {
    let at = |k: usize| bodies[k].map_or_else(|| point(k), |body| place(body, &point(k)));
    let mut length = T::zero();
    for k in 1..bodies.len() {
        let apart = at(k) - at(k - 1);
        let way = norm(apart.as_slice());
        // Two points at one place have no direction between them.
        if way.value() > 0.0 {
            length += way;
            each(k - 1, apart / way);
        }
    }
    length
}

/// The sum of coordinates of joints that the length of a tendon is. Calls `each` with every joint and its coefficient.
pub(crate) fn tendon_sum<T: Real>(
    (model, parameters): (&Model, &Parameters<T>),
    state: &State<T>,
    (tendon, bodies): (usize, &[usize]),
    mut each: impl FnMut(&Joint, T),
) -> T {
    let mut length = T::zero();
    for (place, &body) in bodies.iter().enumerate() {
        let joint = &model.bodies[body].joint;
        let coefficient = parameters.tendon_coefficient(model, tendon, place);
        length += coefficient * state.q[joint.q];
        each(joint, coefficient);
    }
    length
}

/// The length of a tendon, m or rad, and how it changes with each velocity: pairs of these and of slopes, some of them twice.
pub(crate) fn tendon_length<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    (kinematics, state): (&Kinematics<T>, &State<T>),
    tendon: usize,
    slopes: &mut Vec<(usize, T)>,
) -> T {
    slopes.clear();
    match &model.tendons[tendon].path {
        TendonPath::Joints(bodies) => {
            tendon_sum((model, parameters), state, (tendon, bodies), |joint, coefficient| {
                slopes.push((joint.v, coefficient));
            })
        }
        TendonPath::Points(bodies) => {
            let point = |k: usize| parameters.tendon_point(model, tendon, k);
            let place = |body: usize, local: &Vector3<T>| kinematics.point(body, local);
            tendon_line(bodies, point, place, |first, direction| {
                for (end, sign) in [(first, -1.0), (first + 1, 1.0)] {
                    let Some(body) = bodies[end] else { continue };
                    let at = place(body, &point(end));
                    for &k in kinematics.path(body) {
                        let along = kinematics.column(body, k, &at).linear.dot(&direction);
                        slopes.push((k, along * T::constant(sign)));
                    }
                }
            })
        }
    }
}

/// Adds the forces of all tendons and of the motors that pull them. `slopes` is scratch.
pub(super) fn pull_tendons<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    (kinematics, state): (&Kinematics<T>, &State<T>),
    inputs: &[T],
    slopes: &mut Vec<(usize, T)>,
    forces: &mut [T],
) {
    for (index, tendon) in model.tendons.iter().enumerate() {
        let length = tendon_length(model, parameters, (kinematics, state), index, slopes);
        let rate = slopes.iter().fold(T::zero(), |sum, &(k, slope)| sum + slope * state.v[k]);
        let [shortest, longest] = parameters.tendon_rest(model, index);
        let (short, long) = (length - shortest, length - longest);
        // At the ends of the slack the side that pulls; without slack there is but one.
        let stretch = if long.value() >= 0.0 {
            long
        } else if short.value() <= 0.0 {
            short
        } else {
            T::zero()
        };
        let stiffness = parameters.tendon_stiffness(model, index);
        let mut pull = stiffness * stretch + parameters.tendon_damping(model, index) * rate;
        if tendon.pulls_only && (long.value() < 0.0 || pull.value() < 0.0) {
            pull = T::zero();
        }
        for (motor, actuator) in model.actuators.iter().enumerate() {
            if actuator.drives == Transmission::Tendon(index) {
                let control = inputs[model.nv() + motor];
                let force = motor_force(model, parameters, motor, control, length, rate);
                pull -= parameters.gear(model, motor) * force;
            }
        }
        for &(k, slope) in slopes.iter() {
            forces[k] -= slope * pull;
        }
    }
}

/// J M^-1 J' of tendons: the rate that an impulse of 1 along one makes in how its length changes, 1/kg or 1/(kg m²).
pub(crate) struct TendonMobility {
    /// L of the mass matrix of each tree; nothing where it has none.
    factors: Vec<Option<Vec<f64>>>,
}

impl TendonMobility {
    pub fn new(
        model: &Model,
        parameters: &Parameters<f64>,
        kinematics: &Kinematics<f64>,
    ) -> TendonMobility {
        let (mut crba, mut mass) = (Crba::default(), MassMatrix::default());
        let mut blocks = BlockDiagonal::default();
        mass_matrix(model, parameters, kinematics, &mut crba, &mut mass);
        mass.blocks(model, &mut blocks);
        let factor = |(tree, entry): (usize, &Tree)| {
            let mut factor = blocks.block(tree).1.to_vec();
            cholesky(&mut factor, entry.v.len()).then_some(factor)
        };
        TendonMobility { factors: model.trees.iter().enumerate().map(factor).collect() }
    }

    /// Of a tendon with these slopes.
    pub fn along(&self, model: &Model, slopes: &[(usize, f64)]) -> f64 {
        let tree_of = |v: usize| model.trees.partition_point(|tree| tree.v.end <= v);
        let mut trees: Vec<usize> = slopes.iter().map(|&(v, _)| tree_of(v)).collect();
        trees.sort_unstable();
        trees.dedup();
        let of = |tree: usize| {
            let (own, n) = (&model.trees[tree].v, model.trees[tree].v.len());
            let Some(factor) = &self.factors[tree] else { return 0.0 };
            let mut row = vec![0.0; n];
            for &(k, slope) in slopes.iter().filter(|(k, _)| own.contains(k)) {
                row[k - own.start] += slope;
            }
            solve_lower(factor, n, &mut row);
            dot(&row, &row)
        };
        trees.into_iter().map(of).sum()
    }
}
