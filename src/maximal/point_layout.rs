//! Which points there are, and of which bodies.

/// A body of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExtendedBody {
    /// How many of its axes are tracked by a point each: 0 for a point mass, else the dimension.
    pub axes: usize,
    /// Radius of the disk or ball around its centre that touches others (m); 0 if none.
    pub radius: f64,
}

impl ExtendedBody {
    /// Its centre and the ends of its axes.
    pub fn points(&self) -> usize {
        1 + self.axes
    }
}

/// The points of bodies, one body after the other: its centre, then the ends of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLayout {
    dimension: usize,
    bodies: Vec<ExtendedBody>,
    /// First point of each body, and the body of each point.
    first: Vec<usize>,
    body_of: Vec<usize>,
}

impl PointLayout {
    /// Of bodies in `dimension` dimensions.
    pub(super) fn new(dimension: usize, bodies: Vec<ExtendedBody>) -> PointLayout {
        let (mut first, mut body_of) = (Vec::new(), Vec::new());
        for (k, body) in bodies.iter().enumerate() {
            first.push(body_of.len());
            body_of.resize(body_of.len() + body.points(), k);
        }
        PointLayout { dimension, bodies, first, body_of }
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.body_of.len()
    }

    /// How many numbers positions are, and velocities.
    pub fn coordinates(&self) -> usize {
        self.points() * self.dimension
    }

    /// The bodies.
    pub fn bodies(&self) -> &[ExtendedBody] {
        &self.bodies
    }

    /// The first point of body `k`, its centre.
    pub fn centre(&self, k: usize) -> usize {
        self.first[k]
    }

    /// The body that a point is of.
    pub fn body_of(&self, point: usize) -> usize {
        self.body_of[point]
    }

    /// How many axes of bodies have a moment.
    pub fn moments(&self) -> usize {
        self.bodies.iter().map(|body| body.axes).sum()
    }
}
