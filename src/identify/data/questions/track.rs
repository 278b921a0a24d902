//! What recordings say of one free body, and what that can rest on.

use nalgebra::Vector3;

use crate::model::{JointKind, Plane, Scene, Shape, Solid};
use crate::spatial::Quaternion;
use crate::trajectory::Trajectory;

/// Frames of a recording that are looked at, so that all takes less than a second.
const FRAMES: usize = 2000;

/// A shape of the body.
pub(super) struct Part {
    pub shape: Shape,
    /// m, of its core where edges are round, by this radius.
    pub size: Vector3<f64>,
    pub radius: f64,
    /// How far from that it touches, m.
    pub margin: f64,
    /// Of its centre in the body, m.
    pub position: Vector3<f64>,
    pub orientation: Quaternion<f64>,
    /// The half-spaces that it can touch.
    pub planes: Vec<Plane<f64>>,
}

/// A free body that nothing but gravity, ground and other bodies act on.
pub(super) struct Subject {
    pub body: usize,
    pub parts: Vec<Part>,
    /// Centre of mass in the body, m.
    pub center: Vector3<f64>,
    /// Of a ball about the origin of the body that holds it, m.
    pub radius: f64,
    /// Half of its least thickness, m.
    pub thickness: f64,
    /// Other bodies that it can touch: where their positions stand, and how far both reach, m.
    pub others: Vec<(usize, f64)>,
}

/// The recorded motion of a body.
pub(super) struct Track {
    pub times: Vec<f64>,
    pub positions: Vec<Vector3<f64>>,
    /// As the columns qw, qx, qy, qz have them.
    pub quaternions: Vec<Quaternion<f64>>,
    pub velocities: Option<Vec<Vector3<f64>>>,
    pub spins: Option<Vec<Vector3<f64>>>,
    /// Distance to the nearest other body less how far both reach; in recorded units and in m.
    pub others: Vec<Vec<(f64, f64)>>,
    /// Standard deviation of the noise of positions.
    pub noise: f64,
}

impl Subject {
    /// The bodies of a scene that can be judged alone.
    pub fn all(scene: &Scene, driven: &[usize]) -> Vec<Subject> {
        (0..scene.model.bodies.len()).filter_map(|body| Subject::new(scene, body, driven)).collect()
    }

    fn new(scene: &Scene, body: usize, driven: &[usize]) -> Option<Subject> {
        let (model, parameters) = (&scene.model, &scene.parameters);
        let tree = model.bodies[body].tree.map(|tree| &model.trees[tree])?;
        let lone = tree.bodies.len() == 1 && model.bodies[body].joint.kind == JointKind::Free;
        let pushed = scene.inputs.get(tree.v.clone()).is_none_or(|f| f.iter().any(|&f| f != 0.0));
        if !lone
            || pushed
            || driven.iter().any(|input| tree.v.contains(input))
            || model.pushes.iter().any(|push| tree.bodies.contains(&push.body))
            || model.drags.iter().any(|drag| drag.body == body)
            || !model.equalities.is_empty()
            || !model.tendons.is_empty()
            || !model.actuators.is_empty()
        {
            return None;
        }
        let mut subject = Subject {
            body,
            parts: Vec::new(),
            center: parameters.center_of_mass(model, body),
            radius: 0.0,
            thickness: f64::INFINITY,
            others: Vec::new(),
        };
        let radius_of = |k: usize| {
            let (size, radius) = parameters.core(model, k);
            let around = model.colliders[k].shape.bounding_radius(size.into()) + radius;
            around + parameters.collider_position(model, k).norm()
        };
        for (k, collider) in model.colliders.iter().enumerate() {
            if collider.body != Some(body) {
                continue;
            }
            let (size, radius) = parameters.core(model, k);
            let own = (0..model.half_spaces.len())
                .filter(|&plane| model.pair(Solid::HalfSpace(plane), k).is_some());
            subject.parts.push(Part {
                shape: collider.shape.clone(),
                size,
                radius: radius - collider.margin,
                margin: collider.margin,
                position: parameters.collider_position(model, k),
                orientation: collider.orientation,
                planes: own.map(|plane| parameters.plane(model, plane)).collect(),
            });
            subject.radius = subject.radius.max(radius_of(k));
            subject.thickness =
                subject.thickness.min(collider.shape.thickness(size.into()) + radius);
        }
        for (k, collider) in model.colliders.iter().enumerate() {
            let touches = |mine: usize| {
                let (first, second) = (mine.min(k), mine.max(k));
                model.colliders[mine].body == Some(body)
                    && model.pair(Solid::Collider(first), second).is_some()
            };
            if collider.body == Some(body) || !(0..model.colliders.len()).any(touches) {
                continue;
            }
            // Where what it can touch is not another free body, nobody knows what it lies on.
            let joint = collider.body.map(|other| &model.bodies[other].joint)?;
            if joint.kind != JointKind::Free {
                return None;
            }
            subject.others.push((joint.q, subject.radius + radius_of(k)));
        }
        (subject.radius > 0.0).then_some(subject)
    }

    /// The motion of the body in a recording, if its poses are recorded.
    pub fn track(&self, scene: &Scene, recording: &Trajectory) -> Option<Track> {
        let joint = &scene.model.bodies[self.body].joint;
        let Trajectory { times, states, recorded, .. } = recording;
        // Nobody knows where what was not recorded is, and whether it pushes.
        let unseen = |&(q, _): &(usize, f64)| recorded.q[q..q + 3].contains(&false);
        if self.others.iter().any(unseen) {
            return None;
        }
        let round = |part: &Part| part.shape == Shape::Sphere && part.position == Vector3::zeros();
        let turns = recorded.q.get(joint.q + 3..joint.q + 7)?.iter().all(|&known| known);
        let placed = recorded.q.get(joint.q..joint.q + 3)?.iter().all(|&known| known);
        if !placed || !(turns || self.parts.iter().all(round)) {
            return None;
        }
        let complete = (0..times.len()).filter(|&k| recorded.at(k).is_complete());
        let frames: Vec<usize> = complete.take(FRAMES).collect();
        let three = |x: &[f64], at: usize| Vector3::new(x[at], x[at + 1], x[at + 2]);
        let position = |k: usize| three(&states[k].q, joint.q);
        let quaternion = |k: usize| std::array::from_fn(|i| states[k].q[joint.q + 3 + i]);
        let rates = |at: usize| {
            let known = turns && recorded.v[at..at + 3].iter().all(|&known| known);
            known.then(|| frames.iter().map(|&k| three(&states[k].v, at)).collect())
        };
        let positions: Vec<Vector3<f64>> = frames.iter().map(|&k| position(k)).collect();
        let near = |&k: &usize| {
            let others = self.others.iter();
            others
                .map(|&(q, reach)| ((three(&states[k].q, q) - position(k)).norm(), reach))
                .collect()
        };
        let finite = positions.iter().all(|p| p.iter().all(|x| x.is_finite()));
        finite.then(|| Track {
            times: frames.iter().map(|&k| times[k]).collect(),
            noise: noise(&positions),
            quaternions: frames.iter().map(|&k| quaternion(k)).collect(),
            velocities: rates(joint.v),
            spins: rates(joint.v + 3),
            others: frames.iter().map(near).collect(),
            positions,
        })
    }
}

/// Standard deviation of what is not smooth over five frames, by the median of fourth differences.
fn noise(positions: &[Vector3<f64>]) -> f64 {
    // Of the sum of squares of 1 4 6 4 1, and of the median of what is normal.
    let scale = 0.6745 * 70f64.sqrt();
    let fourth = |p: &[Vector3<f64>]| p[0] - p[1] * 4.0 + p[2] * 6.0 - p[3] * 4.0 + p[4];
    let all: Vec<Vector3<f64>> = positions.windows(5).map(fourth).collect();
    let axes = (0..3).map(|i| median(all.iter().map(|d| d[i].abs()).collect()) / scale);
    axes.fold(0.0, f64::max)
}

/// Whether frames are close enough to see how something moves: it goes on, in most of them, the way it went. Where
/// noise is more than it moves between two frames, frames further apart show it.
pub(super) fn are_followed<'a>(paths: impl Iterator<Item = &'a [Vector3<f64>]> + Clone) -> bool {
    const LAGS: [usize; 6] = [1, 2, 4, 8, 16, 32];
    const LEAST: usize = 20;
    LAGS.iter().any(|&lag| {
        let (mut back, mut all) = (0, 0);
        for path in paths.clone() {
            for k in (2 * lag..path.len()).step_by(lag) {
                let (before, after) = (path[k - lag] - path[k - 2 * lag], path[k] - path[k - lag]);
                let most = before.norm().max(after.norm());
                back += usize::from((after - before).norm() > most);
                all += usize::from(most > 0.0);
            }
        }
        all >= LEAST && 3 * back <= all
    })
}

/// The median; 0 of nothing.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
