//! How recordings write orientations.

use nalgebra::{Matrix3, Rotation3, Unit, UnitQuaternion, Vector3};

use crate::state::unit_quaternion;

/// How a recording writes a rotation from the frame of a body to that which it is recorded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationForm {
    /// A quaternion w, x, y, z.
    Wxyz,
    /// A quaternion x, y, z, w.
    Xyzw,
    /// Along the axis, as long as the angle.
    RotationVector,
    /// Three angles, turns about these axes (0, 1, 2 are x, y, z) one after the other: of the body as it is turned already, or those of the
    /// frame that it is recorded in.
    Euler {
        /// About which axis each turn is.
        axes: [usize; 3],
        /// Whether the axes move with the body.
        moving: bool,
    },
    /// The nine numbers of a matrix, row by row.
    Matrix,
}

/// How far the columns of a matrix may be from right-angled and of length 1: files are rounded.
const SKEW: f64 = 1e-2;

impl RotationForm {
    /// How many numbers it has.
    pub fn numbers(self) -> usize {
        match self {
            RotationForm::Wxyz | RotationForm::Xyzw => 4,
            RotationForm::RotationVector | RotationForm::Euler { .. } => 3,
            RotationForm::Matrix => 9,
        }
    }

    /// Whether its numbers are angles.
    pub fn is_of_angles(self) -> bool {
        self.numbers() == 3
    }

    /// The unit quaternion w, x, y, z of as many numbers as it has.
    ///
    /// # Errors
    /// In words, if they are none of a rotation.
    pub fn quaternion(self, x: &[f64]) -> Result<[f64; 4], String> {
        let unit = |q: [f64; 4]| {
            unit_quaternion(q)
                .map_err(|norm| format!("starts a quaternion of norm {norm}, which must be 1"))
        };
        let turn = match self {
            RotationForm::Wxyz => return unit([x[0], x[1], x[2], x[3]]),
            RotationForm::Xyzw => return unit([x[3], x[0], x[1], x[2]]),
            RotationForm::RotationVector => {
                UnitQuaternion::from_scaled_axis(Vector3::new(x[0], x[1], x[2]))
            }
            RotationForm::Euler { axes, moving } => {
                let about = |k: usize| {
                    let axis = Unit::new_unchecked(Vector3::ith(axes[k], 1.0));
                    UnitQuaternion::from_axis_angle(&axis, x[k])
                };
                let turns = [about(0), about(1), about(2)];
                match moving {
                    true => turns[0] * turns[1] * turns[2],
                    false => turns[2] * turns[1] * turns[0],
                }
            }
            RotationForm::Matrix => {
                let matrix = Matrix3::from_row_slice(x);
                let skew = (matrix.tr_mul(&matrix) - Matrix3::identity()).amax();
                if !(skew <= SKEW && matrix.determinant() > 0.0) {
                    return Err("starts nine numbers that are not those of a rotation, row by row"
                        .to_string());
                }
                // The nearest one.
                let svd = matrix.svd(true, true);
                let nearest = svd.u.zip(svd.v_t).map_or(matrix, |(u, v)| u * v);
                UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(nearest))
            }
        };
        let q = turn.into_inner();
        unit([q.w, q.i, q.j, q.k])
    }
}
