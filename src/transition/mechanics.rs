//! What else there is to know of a scene in a state: places of bodies, inertia, forces, contacts.

use nalgebra::{Rotation3, UnitQuaternion, Vector3};

use super::Transition;
use crate::Error;
use crate::contact::ContactRecord;
use crate::dynamics::{Crba, Kinematics, MassMatrix, Rnea, bias, inverse_dynamics, mass_matrix};
use crate::model::Parameters;
use crate::state::State;

impl Transition {
    /// The index of a body by its name.
    ///
    /// # Errors
    /// If there is none; the message names those there are.
    pub fn body(&self, name: &str) -> Result<usize, Error> {
        let bodies = &self.scene.model.bodies;
        bodies.iter().position(|body| body.name == name).ok_or_else(|| {
            let known: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
            Error::unknown_name(&self.name, name, "is the name of no body", (name, &known))
        })
    }

    /// Position of the origin of a body in the world (m), and the quaternion w, x, y, z from body to world.
    ///
    /// # Errors
    /// If the length of x is wrong, a number is not finite, a quaternion is zero, or there is no such body.
    pub fn pose(&mut self, x: &[f64], body: usize) -> Result<[f64; 7], Error> {
        self.check_body(body)?;
        let kinematics = self.kinematics(x)?;
        let place = &kinematics.bodies[body];
        let rotation = Rotation3::from_matrix_unchecked(place.rotation);
        let (p, q) = (place.position, UnitQuaternion::from_rotation_matrix(&rotation).into_inner());
        Ok([p.x, p.y, p.z, q.w, q.i, q.j, q.k])
    }

    /// The Jacobian of a point of a body (m, in its frame) in the velocities, 6 x nv, row by row: the velocity of the point,
    /// then the angular velocity of the body, both in the world.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn frame_jacobian(
        &mut self,
        x: &[f64],
        body: usize,
        point: [f64; 3],
    ) -> Result<Vec<f64>, Error> {
        self.check_body(body)?;
        self.check_numbers("point", &point, 3)?;
        let kinematics = self.kinematics(x)?;
        let at = kinematics.point(body, &Vector3::from(point));
        let mut jacobian = vec![0.0; 6 * self.nv()];
        kinematics.jacobian(body, &at, &mut jacobian);
        Ok(jacobian)
    }

    /// The mass matrix M, nv x nv, with the armature of joints. Of a velocity that is prescribed it is 1 on the diagonal, so that M has
    /// an inverse.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn mass_matrix(&mut self, x: &[f64]) -> Result<Vec<f64>, Error> {
        let kinematics = self.kinematics(x)?;
        let mut matrix = MassMatrix::default();
        let model = &self.scene.model;
        mass_matrix(model, &self.values, &kinematics, &mut Crba::default(), &mut matrix);
        let n = matrix.len();
        let mut unit = vec![0.0; n];
        let mut dense = vec![0.0; n * n];
        // It is symmetric: columns are rows.
        for (k, row) in dense.chunks_exact_mut(n.max(1)).enumerate() {
            unit[k] = 1.0;
            matrix.multiply(&unit, row);
            unit[k] = 0.0;
        }
        Ok(dense)
    }

    /// The generalised forces at which nothing accelerates, nv numbers: gravity, centrifugal and Coriolis forces; 0 along velocities that
    /// are prescribed.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn bias(&mut self, x: &[f64]) -> Result<Vec<f64>, Error> {
        let kinematics = self.kinematics(x)?;
        let mut forces = vec![0.0; self.nv()];
        bias(&self.values, &kinematics, &mut Rnea::default(), &mut forces);
        self.clear_prescribed(&mut forces);
        Ok(forces)
    }

    /// The generalised forces that give these accelerations, nv numbers: M a + bias. Contacts, motors, springs and damping are
    /// not among them; 0 along velocities that are prescribed.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn inverse_dynamics(&mut self, x: &[f64], acceleration: &[f64]) -> Result<Vec<f64>, Error> {
        self.check_numbers("acceleration", acceleration, self.nv())?;
        let kinematics = self.kinematics(x)?;
        let mut forces = vec![0.0; self.nv()];
        let (model, scratch) = (&self.scene.model, &mut Rnea::default());
        inverse_dynamics(model, &self.values, &kinematics, acceleration, scratch, &mut forces);
        self.clear_prescribed(&mut forces);
        Ok(forces)
    }

    /// No force is along a velocity that is prescribed.
    fn clear_prescribed(&self, forces: &mut [f64]) {
        let model = &self.scene.model;
        for tree in (0..model.trees.len()).filter(|&tree| model.is_prescribed_tree(tree)) {
            forces[model.trees[tree].v.clone()].fill(0.0);
        }
    }

    /// The energy of motion, and that in gravity (zero at the origin of the world), J.
    ///
    /// # Errors
    /// As [`pose`](Self::pose).
    pub fn energy(&mut self, x: &[f64]) -> Result<[f64; 2], Error> {
        let kinematics = self.kinematics(x)?;
        Ok([kinematics.kinetic_energy(), kinematics.potential_energy(&self.values)])
    }

    /// The contacts of a step from x under u, which touch in it, how far apart they were, and with what impulse; and where each is
    /// in the world at its start, m.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn contacts(
        &mut self,
        x: &[f64],
        u: &[f64],
    ) -> Result<Vec<(ContactRecord, [f64; 3])>, Error> {
        self.take_step(x, u)?;
        let (model, values) = (&self.scene.model, &self.values);
        let kinematics = Kinematics::new(model, values, &self.state);
        let place = |contact: &ContactRecord| {
            let side = [1, 0].into_iter().find_map(|side| Some((contact.bodies[side]?, side)));
            let point = side.map_or(Vector3::zeros(), |(body, side)| {
                kinematics.point(body, &(values.center_of_mass(model, body) + contact.arms[side]))
            });
            (*contact, point.into())
        };
        Ok(self.workspace.contacts().map(place).collect())
    }

    /// The index of a camera by its name.
    ///
    /// # Errors
    /// If there is none; the message names those there are.
    pub fn camera(&self, name: &str) -> Result<usize, Error> {
        let cameras = &self.scene.model.cameras;
        cameras.iter().position(|camera| camera.name == name).ok_or_else(|| {
            let known: Vec<&str> = cameras.iter().map(|camera| camera.name.as_str()).collect();
            Error::unknown_name(&self.name, name, "is the name of no camera", (name, &known))
        })
    }

    /// The state of these numbers, with quaternions of unit norm, and the parameters of steps.
    ///
    /// # Errors
    /// If they are not as many as a state has, or are none.
    pub fn state_of(&mut self, x: &[f64]) -> Result<(State<f64>, Parameters<f64>), Error> {
        self.take_state(x)?;
        Ok((self.state.clone(), self.values.clone()))
    }

    fn check_body(&self, body: usize) -> Result<(), Error> {
        let count = self.scene.model.bodies.len();
        if body < count {
            return Ok(());
        }
        Err(self.error("", format!("has {count} bodies, found the index {body}")))
    }

    fn kinematics(&mut self, x: &[f64]) -> Result<Kinematics<f64>, Error> {
        self.take_state(x)?;
        Ok(Kinematics::new(&self.scene.model, &self.values, &self.state))
    }
}
