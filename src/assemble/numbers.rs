//! The numbers of a scene: parameters, start, inputs and keyframes.

use super::fault::{Fault, Owner, unit};
use super::{ColliderDescription, Description, JointDescription, Material, TendonPathDescription};
use crate::model::{EqualityKind, JointKind, Keyframe, Model, Parameters, Scene};
use crate::state::{Coordinates, State, unit_quaternion};

impl Description {
    /// The numbers, in the order of their slots.
    pub(super) fn parameters(
        &self,
        model: &Model,
        order: &[usize],
        described: &[&ColliderDescription],
        materials: &[Material],
    ) -> Parameters<f64> {
        let mut values = self.gravity.to_vec();
        let shape = |values: &mut Vec<f64>, collider: usize| {
            values.extend(described[collider].size);
            if model.colliders[collider].placed {
                values.extend(described[collider].position);
            }
        };
        for (place, &index) in order.iter().enumerate() {
            let body = &self.bodies[index];
            if body.joint.prescribed {
                // What moves it knows no mass.
                values.extend([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
            } else {
                values.push(body.mass);
                values.extend(body.center_of_mass);
                values.extend(body.inertia);
            }
            if model.joint_slots(place).is_some() {
                let JointDescription { position, anchor, kind, .. } = &body.joint;
                let free = *kind == JointKind::Free;
                values.extend(if free { [0.0; 3] } else { *position });
                values.extend(if free { [0.0; 3] } else { *anchor });
                let joint = &body.joint;
                values.extend([joint.armature, joint.damping, joint.friction]);
                values.extend([joint.stiffness, joint.rest]);
                values.extend(joint.limits.unwrap_or_default());
            }
            model.colliders_of(Some(place)).for_each(|collider| shape(&mut values, collider));
        }
        model.colliders_of(None).for_each(|collider| shape(&mut values, collider));
        for Material { mu, mu_static, restitution, .. } in materials {
            values.extend([*mu, *restitution, mu_static.unwrap_or(0.0)]);
        }
        for actuator in &self.actuators {
            values.extend([actuator.gear, actuator.kp, actuator.kd]);
            values.extend(actuator.control_range.unwrap_or_default());
            values.extend(actuator.force_range.unwrap_or_default());
            values.extend([actuator.gain, actuator.bias]);
            values.extend(actuator.gain_by);
        }
        for equality in &self.equalities {
            values.extend(equality.anchors.as_flattened());
            values.push(match equality.kind {
                EqualityKind::Joint => equality.offset,
                _ => equality.distance,
            });
            values.push(equality.ratio);
            values.extend([equality.stiffness.unwrap_or(0.0), equality.damping]);
        }
        for half_space in &self.half_spaces {
            values.extend([half_space.offset, 0.0, 0.0]);
        }
        values.push(1.0);
        for push in &self.pushes {
            values.extend(push.point);
            values.extend(push.force);
        }
        for tendon in &self.tendons {
            values.extend([tendon.stiffness, tendon.damping]);
            // What is as long as at the start is known later.
            values.extend([tendon.rest.unwrap_or(0.0), tendon.slack]);
            values.extend(tendon.range.unwrap_or_default());
            values.push(tendon.friction);
            match &tendon.path {
                TendonPathDescription::Joints(joints) => {
                    values.extend(joints.iter().map(|(_, coefficient)| coefficient));
                }
                TendonPathDescription::Points(points) => {
                    values.extend(points.iter().flat_map(|(_, point)| point));
                }
            }
        }
        values.extend(self.cameras.iter().flat_map(|camera| camera.numbers.flat()));
        for (term, described) in model.learned.iter().zip(&self.learned) {
            match &described.weights {
                Some(weights) => values.extend(weights),
                None => values.resize(values.len() + term.network.weights(), 0.0),
            }
        }
        values.extend(materials.iter().flat_map(|material| material.terms.given()));
        let drags = order.iter().filter_map(|&index| self.bodies[index].drag);
        values.extend(drags.flatten());
        values.extend(described.iter().filter_map(|shape| shape.radius));
        Parameters { values }
    }

    /// Where everything starts.
    pub(super) fn state(&self, order: &[usize]) -> Result<State<f64>, Fault> {
        let mut state = State { q: Vec::new(), v: Vec::new() };
        for &index in order {
            let (owner, joint) = (Owner::Body(index), &self.bodies[index].joint);
            let counted = |numbers: &[f64], count: usize, field: &'static str| {
                if numbers.is_empty() || numbers.len() == count {
                    return Ok(());
                }
                let message = format!("must be {count} numbers, found {}", numbers.len());
                Err(Fault::new(owner, field, message))
            };
            let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
            counted(&joint.v, nv, "joint.v")?;
            match joint.kind.coordinates() {
                Some(Coordinates::Pose) => {
                    counted(&joint.q, nq, "joint.q")?;
                    let (position, turn) = match joint.q[..] {
                        [x, y, z, qw, qx, qy, qz] => ([x, y, z], [qw, qx, qy, qz]),
                        _ => (joint.position, joint.orientation),
                    };
                    state.q.extend(position);
                    state.q.extend(unit(turn, owner, "orientation")?);
                }
                Some(Coordinates::Rotation) => {
                    counted(&joint.q, nq, "joint.q")?;
                    let given = <[f64; 4]>::try_from(joint.q.as_slice());
                    let turn = given.unwrap_or([1.0, 0.0, 0.0, 0.0]);
                    state.q.extend(unit(turn, owner, "joint.q")?);
                }
                Some(Coordinates::Number) | None => {
                    counted(&joint.q, nq, "joint.q")?;
                    state.q.extend((0..nq).map(|k| joint.q.get(k).copied().unwrap_or(0.0)));
                }
            }
            state.v.extend((0..nv).map(|k| joint.v.get(k).copied().unwrap_or(0.0)));
        }
        Ok(state)
    }

    /// The constant forces among the inputs of a step: of a free body force and torque, of one whose velocity is prescribed that,
    /// zeros of others.
    pub(super) fn forces(&self, order: &[usize]) -> Result<Vec<f64>, Fault> {
        let mut forces = Vec::new();
        for &index in order {
            let body = &self.bodies[index];
            if body.joint.prescribed {
                let v = body.joint.v.iter().copied().chain(std::iter::repeat(0.0));
                forces.extend(v.take(body.joint.kind.nv()));
            } else if body.joint.kind == JointKind::Free {
                forces.extend(body.force.iter().chain(&body.torque));
            } else {
                for (field, given) in [("force", body.force), ("torque", body.torque)] {
                    if given != [0.0; 3] {
                        let message =
                            "only free bodies have a constant force or torque; give joints a motor";
                        return Err(Fault::new(Owner::Body(index), field, message));
                    }
                }
                forces.resize(forces.len() + body.joint.kind.nv(), 0.0);
            }
        }
        Ok(forces)
    }

    /// The keyframes, in the order of the model.
    pub(super) fn keyframes(&self, scene: &Scene, order: &[usize]) -> Result<Vec<Keyframe>, Fault> {
        let starts = |count: fn(JointKind) -> usize| {
            let mut next = 0;
            let first = self.bodies.iter().map(|body| {
                next += count(body.joint.kind);
                next - count(body.joint.kind)
            });
            first.collect::<Vec<_>>()
        };
        let reordered =
            |numbers: &Option<Vec<f64>>, count: fn(JointKind) -> usize, total: usize| {
                let Some(numbers) = numbers else { return Ok(None) };
                if numbers.len() != total || numbers.iter().any(|x| !x.is_finite()) {
                    let found = numbers.len();
                    let message = format!("must be {total} finite numbers, found {found}");
                    return Err(Fault::new(Owner::Keyframe, "", message));
                }
                let starts = starts(count);
                let pieces = order.iter().flat_map(|&index| {
                    let length = count(self.bodies[index].joint.kind);
                    &numbers[starts[index]..starts[index] + length]
                });
                Ok(Some(pieces.copied().collect::<Vec<f64>>()))
            };
        let made = self.keyframes.iter().map(|keyframe| {
            let mut q = reordered(&keyframe.q, JointKind::nq, scene.model.nq())?;
            for body in scene.model.bodies.iter() {
                let (Some(q), Some(coordinates)) = (&mut q, body.joint.kind.coordinates()) else {
                    continue;
                };
                let Some((first, _)) = coordinates.quaternion() else { continue };
                let place = body.joint.q + first;
                let found = [q[place], q[place + 1], q[place + 2], q[place + 3]];
                // Files are free to give quaternions of any length.
                let most = found.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
                let size = found.iter().map(|x| (x / most) * (x / most)).sum::<f64>().sqrt();
                let norm = most * size;
                if norm < 1e-9 {
                    let message = format!("has a quaternion of norm {norm}");
                    return Err(Fault::new(Owner::Keyframe, "q", message));
                }
                let turn = unit_quaternion(found).unwrap_or(found.map(|x| x / most / size));
                q[place..place + 4].copy_from_slice(&turn);
            }
            let v = reordered(&keyframe.v, JointKind::nv, scene.model.nv())?;
            let controls = keyframe.controls.clone();
            if controls
                .as_ref()
                .is_some_and(|controls| controls.len() != scene.model.actuators.len())
            {
                let message = format!("must have {} controls", scene.model.actuators.len());
                return Err(Fault::new(Owner::Keyframe, "controls", message));
            }
            Ok(Keyframe { name: keyframe.name.clone(), q, v, controls })
        });
        made.collect()
    }
}
