//! Equalities between bodies that nothing can move: they hold from the start, or never.

use nalgebra::{Rotation3, Vector3};

use super::Description;
use super::fault::Owner;
use crate::Error;
use crate::dynamics::Kinematics;
use crate::model::{EqualityKind, Scene};
use crate::spatial::rotation_matrix;

/// What is this far open, m or rad, may come from the digits of the file.
const ROUNDED: f64 = 1e-6;

impl Description {
    /// Warns of equalities that are not met at the start and that nothing can meet.
    pub(super) fn check_immovable(&self, scene: &mut Scene) {
        let Scene { model, parameters, state, .. } = &*scene;
        let moves = |body: &Option<usize>| model.gives_way(*body);
        // What yields is not to be met.
        let stuck = |index: &usize| {
            let equality = &model.equalities[*index];
            !equality.yields && !equality.bodies.iter().any(moves)
        };
        let stuck: Vec<usize> = (0..model.equalities.len()).filter(stuck).collect();
        if stuck.is_empty() {
            return;
        }
        let kinematics = Kinematics::new(model, parameters, state);
        let open = stuck.into_iter().filter_map(|index| {
            let equality = &model.equalities[index];
            let anchors = parameters.anchors(model, index);
            let [first, second] = [0, 1].map(|k| match equality.bodies[k] {
                None => (anchors[k], Rotation3::identity()),
                Some(body) => {
                    let body = &kinematics.bodies[body];
                    let rotation = Rotation3::from_matrix_unchecked(body.rotation);
                    (body.position + rotation * anchors[k], rotation)
                }
            });
            let apart = (second.0 - first.0).norm();
            let wanted = Rotation3::from_matrix_unchecked(rotation_matrix(equality.orientation));
            let turned = match equality.kind {
                EqualityKind::Hinge => {
                    let axis = Vector3::from(equality.axis);
                    (first.1 * axis).angle(&(second.1 * (wanted.inverse() * axis)))
                }
                _ => (first.1 * wanted).angle_to(&second.1),
            };
            let (open, unit) = match equality.kind {
                EqualityKind::Joint => return None,
                EqualityKind::Distance => ((apart - parameters.offset(model, index)).abs(), "m"),
                EqualityKind::Weld | EqualityKind::Hinge if turned > apart => (turned, "rad"),
                _ => (apart, "m"),
            };
            (open > ROUNDED).then_some((index, open, unit))
        });
        let warn = |(index, open, unit): (usize, f64, &str)| {
            let equality = &model.equalities[index];
            let name =
                |body: Option<usize>| body.map_or("the world", |body| &model.bodies[body].name);
            let [first, second] = equality.bodies.map(name);
            let message = format!(
                "ties {first} and {second}, neither of which anything moves, and is open by {open:.3e} {unit}: it is \
                 never met"
            );
            let (line, path) = Owner::Equality(index).place(self);
            Error::input(&self.name, line, format!("{path}.bodies"), message)
        };
        let warnings: Vec<Error> = open.map(warn).collect();
        scene.warnings.extend(warnings);
    }
}
