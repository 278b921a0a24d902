//! How a soft body starts: undeformed, moving as a rigid one.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// How a soft body starts: the frame of its mesh, and how that moves. Twelve numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftStart {
    /// Of the origin of the mesh (m).
    pub position: [f64; 3],
    /// Unit quaternion w, x, y, z from the frame of the mesh to the world.
    pub orientation: [f64; 4],
    /// Of the origin of the mesh (m/s).
    pub velocity: [f64; 3],
    /// Along the axes of the mesh (rad/s).
    pub angular_velocity: [f64; 3],
}

impl Default for SoftStart {
    fn default() -> Self {
        SoftStart {
            position: [0.0; 3],
            orientation: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
        }
    }
}

impl SoftStart {
    /// How many numbers it has: place, rotation vector, velocity, angular velocity.
    pub const NUMBERS: usize = 12;

    fn turn(&self) -> UnitQuaternion<f64> {
        let [w, x, y, z] = self.orientation;
        UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))
    }

    /// Places (m) and velocities (m/s) of nodes that are at `mesh` in the frame of the mesh.
    pub fn place(&self, mesh: &[[f64; 3]]) -> [Vec<[f64; 3]>; 2] {
        let turn = self.turn();
        let (place, speed) = (Vector3::from(self.position), Vector3::from(self.velocity));
        let spin = turn * Vector3::from(self.angular_velocity);
        let arms = || mesh.iter().map(|&x| turn * Vector3::from(x));
        [
            arms().map(|arm| (place + arm).into()).collect(),
            arms().map(|arm| (speed + spin.cross(&arm)).into()).collect(),
        ]
    }

    /// The start a small `change` away: of the place (m), turned by a rotation vector along the axes of the world (rad), of the
    /// velocity (m/s) and of the angular velocity (rad/s).
    pub fn moved(&self, change: &[f64; Self::NUMBERS]) -> SoftStart {
        let [x, y, z] = [3, 4, 5].map(|k| change[k]);
        let turned = UnitQuaternion::from_scaled_axis(Vector3::new(x, y, z)) * self.turn();
        let turned = UnitQuaternion::new_normalize(turned.into_inner());
        SoftStart {
            position: [0, 1, 2].map(|k| self.position[k] + change[k]),
            orientation: [turned.w, turned.i, turned.j, turned.k],
            velocity: [0, 1, 2].map(|k| self.velocity[k] + change[6 + k]),
            angular_velocity: [0, 1, 2].map(|k| self.angular_velocity[k] + change[9 + k]),
        }
    }

    /// How places (m) and velocities (m/s) of the nodes change with the number `k` of [`moved`](Self::moved).
    pub fn slope(&self, mesh: &[[f64; 3]], k: usize) -> [Vec<[f64; 3]>; 2] {
        let turn = self.turn();
        let spin = turn * Vector3::from(self.angular_velocity);
        let axis = Vector3::ith(k % 3, 1.0);
        let zero = Vector3::zeros();
        let of = |arm: Vector3<f64>| match k / 3 {
            0 => [axis, zero],
            1 => [axis.cross(&arm), axis.cross(&spin.cross(&arm))],
            2 => [zero, axis],
            _ => [zero, (turn * axis).cross(&arm)],
        };
        let both: Vec<_> = mesh.iter().map(|&x| of(turn * Vector3::from(x))).collect();
        [0, 1].map(|part| both.iter().map(|both| both[part].into()).collect())
    }

    /// The name of a number of [`moved`](Self::moved).
    pub fn number_name(k: usize) -> String {
        let group = ["position", "rotation", "velocity", "angular_velocity"][k / 3 % 4];
        format!("{group}_{}", ["x", "y", "z"][k % 3])
    }
}
