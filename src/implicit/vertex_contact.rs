//! Vertices of soft bodies at half-spaces and other shapes.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::argmin::Law;
use crate::contact::contact_frame;
use crate::fem::Matrix3;

/// A vertex, as a sphere about it or a point, at a half-space, or at the plane that touches a shape where the vertex is nearest
/// to it as a step begins; or a node that is tied to a plane through a point of a body, and stays on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexContact<T = f64> {
    /// The node.
    pub node: usize,
    /// The unit normal of the plane, out of what is behind it.
    pub normal: [T; 3],
    /// Where the vertex touches: the place of the plane along its normal, and the radius of the vertex (m).
    pub offset: T,
    /// How fast what it touches moves (m/s): friction is against that, and along the normal the damping of penalties. The plane is where
    /// it is as the step ends.
    pub surface: [f64; 3],
    /// How the plane follows the vertex.
    pub turning: Turning,
    /// What moves it, if that is a body that the vertex moves too.
    pub carrier: Option<Carrier>,
    /// Whether the node is tied to the plane: held from both sides, without friction. The plane does not turn. Ties are of scenes with
    /// rigid bodies; a body that is solved by itself has none, and such a step is invalid.
    pub is_tie: bool,
    /// The coefficient of friction.
    pub friction: T,
    /// kn, the force by depth (N/m) of [penalties](super::VertexLaw); exact contact has none.
    pub stiffness: T,
    /// kd, the force by approach (N s/m) of [penalties](super::VertexLaw); exact contact has none.
    pub damping: T,
}

/// How the plane of a contact turns with the vertex: not at all at a half-space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turning {
    /// Where the vertex was when the plane was found (m).
    pub at: [f64; 3],
    /// How the normal changes with that place (1/m): row i is that of its component i.
    pub slope: Matrix3<f64>,
}

/// A body that what a vertex touches is of. `surface` is how fast that moves where it is touched then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carrier {
    /// Which body.
    pub body: usize,
    /// Where it is touched, from its centre of mass, in it (m).
    pub arm: [f64; 3],
    /// How far that takes the plane along its normal in the step (m): the offset is beyond that.
    pub rise: f64,
}

impl Turning {
    /// The change of the normal as the vertex is moved by `x` (m) where its step begins.
    pub fn turned(&self, x: &[f64; 3]) -> [f64; 3] {
        self.slope.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2])
    }

    /// The adjoint of where its step begins, from that of the normal.
    pub fn turned_transpose(&self, normal: &[f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|k| (0..3).map(|i| self.slope[i][k] * normal[i]).sum())
    }

    /// From where the plane was found to `x` (m).
    pub fn way(&self, x: &[f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|k| x[k] - self.at[k])
    }

    /// Whether the plane stays as it is.
    pub fn is_none(&self) -> bool {
        self.slope == [[0.0; 3]; 3]
    }
}

impl<T: Real> VertexContact<T> {
    /// How far the vertex is from the plane where its node is at `x` (m).
    pub fn gap(&self, x: &[T; 3]) -> T {
        let [a, b, c] = self.normal;
        x[0] * a + x[1] * b + x[2] * c - self.offset
    }
}

/// How far a vertex is said to be (m) from what is beyond reach.
const BEYOND: f64 = 1e9;

impl VertexContact {
    /// Lets it stand for what is beyond reach: a plane that nothing comes to.
    pub fn put_beyond(&mut self) {
        (self.normal, self.offset, self.surface) = ([0.0, 0.0, 1.0], -BEYOND, [0.0; 3]);
        (self.turning, self.carrier) = (Turning::default(), None);
    }

    /// Lets what carries it move at a velocity (m/s) for a time (s).
    pub fn carry(&mut self, velocity: [f64; 3], time: f64) {
        let Some(carrier) = &mut self.carrier else { return };
        let rise = time * (0..3).map(|k| self.normal[k] * velocity[k]).sum::<f64>();
        self.offset += rise - std::mem::replace(&mut carrier.rise, rise);
        self.surface = velocity;
    }

    /// Whether it stands for what is beyond reach.
    pub fn is_beyond(&self) -> bool {
        self.offset == -BEYOND
    }

    /// How fast the surface goes along itself (m/s).
    pub fn drift(&self) -> [f64; 3] {
        let rising = (0..3).map(|k| self.normal[k] * self.surface[k]).sum::<f64>();
        let drift = [0, 1, 2].map(|k| self.surface[k] - rising * self.normal[k]);
        // What goes straight along its normal leaves rounding.
        let is_rounding = drift.iter().all(|x| x.abs() <= 1e-14 * rising.abs());
        if is_rounding { [0.0; 3] } else { drift }
    }

    /// A velocity of the vertex (m/s) less that of the surface.
    pub fn relative(&self, v: &[f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|k| v[k] - self.surface[k])
    }

    /// What its rows demand.
    pub(crate) fn law(&self) -> Law {
        if self.is_tie { Law::of_tie() } else { Law::default() }
    }

    /// The rows of its contact problem: the normal and two tangents.
    pub fn frame(&self) -> [[f64; 3]; 3] {
        let [first, second] = contact_frame(Vector3::from(self.normal));
        [self.normal, first.into(), second.into()]
    }

    /// Whether its numbers are those of a contact.
    pub fn is_admissible(&self, nodes: usize) -> bool {
        let length = self.normal.iter().map(|n| n * n).sum::<f64>().sqrt();
        let numbers = [self.friction, self.stiffness, self.damping];
        self.node < nodes
            && (length - 1.0).abs() < 1e-9
            && self.offset.is_finite()
            && self.surface.iter().all(|x| x.is_finite())
            && numbers.iter().all(|x| *x >= 0.0 && x.is_finite())
    }
}
