//! The second-order cone K = {(x_0, x_1) : |x_1| <= x_0} in space: its Jordan algebra `Alizadeh03`,
//! Nesterov-Todd scaling `Nesterov97` and projection. In a plane or on a line the last entries are zero and stay so.

/// A point of the space of one cone.
pub type Point = [f64; 3];

/// A matrix on it, by rows.
pub type Matrix = [[f64; 3]; 3];

/// x'y
pub fn inner(x: Point, y: Point) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// |x_1|
pub fn tangent_norm(x: Point) -> f64 {
    (x[1] * x[1] + x[2] * x[2]).sqrt()
}

/// The smaller eigenvalue, x_0 - |x_1|: how far inside x is.
pub fn depth(x: Point) -> f64 {
    x[0] - tangent_norm(x)
}

/// x_0^2 - |x_1|^2 as a product: near the boundary the difference of squares has no digits.
fn determinant(x: Point) -> f64 {
    let t = tangent_norm(x);
    (x[0] - t) * (x[0] + t)
}

/// The Jordan product x o y.
pub fn product(x: Point, y: Point) -> Point {
    [inner(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2]]
}

/// y with x o y = d, x inside.
pub fn divide(x: Point, d: Point) -> Point {
    let y = (x[0] * d[0] - x[1] * d[1] - x[2] * d[2]) / determinant(x);
    [y, (d[1] - y * x[1]) / x[0], (d[2] - y * x[2]) / x[0]]
}

/// The longest step from x, inside, along `d` that stays in K; infinite if there is no end.
pub fn longest_step(x: Point, d: Point) -> f64 {
    let a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    let b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    let c = determinant(x);
    if a >= 0.0 && b >= 0.0 {
        return f64::INFINITY;
    }
    // The smaller positive root of a s^2 + 2 b s + c, without cancellation. Only rounding makes the
    // discriminant negative.
    let denominator = (b * b - a * c).max(0.0).sqrt() - b;
    if denominator > 0.0 { c / denominator } else { f64::INFINITY }
}

/// The nearest point of K.
pub fn project(x: Point) -> Point {
    let t = tangent_norm(x);
    if t <= x[0] {
        x
    } else if t <= -x[0] {
        [0.0; 3]
    } else {
        let half = 0.5 * (x[0] + t);
        [half, half * x[1] / t, half * x[2] / t]
    }
}

/// The nearest point of K with x_0 >= `least`.
pub fn project_above(x: Point, least: f64) -> Point {
    let p = project(x);
    if p[0] >= least {
        return p;
    }
    // It lies on the plane, hence in a disk.
    let t = tangent_norm(x);
    let shrink = if t > least { least / t } else { 1.0 };
    [least, shrink * x[1], shrink * x[2]]
}

/// The Nesterov-Todd scaling V of a pair inside: V = V', V z = V^-1 x.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scaling {
    /// V = size (2 v v' - J) with J = diag(1, -1, -1) and v'Jv = 1.
    size: f64,
    v: Point,
    /// V z
    pub scaled: Point,
}

impl Scaling {
    /// The scaling of x and z, both inside the cone.
    pub fn new(x: Point, z: Point) -> Self {
        let (dx, dz) = (determinant(x).sqrt(), determinant(z).sqrt());
        let (x, z) = (x.map(|x| x / dx), z.map(|z| z / dz));
        let gamma = (0.5 * (1.0 + inner(x, z))).sqrt();
        let half = 0.5 / gamma;
        let w = [(x[0] + z[0]) * half, (x[1] - z[1]) * half, (x[2] - z[2]) * half];
        let root = (2.0 * (w[0] + 1.0)).sqrt().recip();
        let v = [(w[0] + 1.0) * root, w[1] * root, w[2] * root];
        let mut scaling = Scaling { size: (dx / dz).sqrt(), v, scaled: [0.0; 3] };
        scaling.scaled = scaling.times(z.map(|z| z * dz));
        scaling
    }

    /// V y
    pub fn times(&self, y: Point) -> Point {
        let v = self.v;
        let along = 2.0 * inner(v, y);
        [
            self.size * (along * v[0] - y[0]),
            self.size * (along * v[1] + y[1]),
            self.size * (along * v[2] + y[2]),
        ]
    }

    /// V^-1 y
    pub fn divide(&self, y: Point) -> Point {
        let v = [self.v[0], -self.v[1], -self.v[2]];
        let along = 2.0 * inner(v, y);
        [
            (along * v[0] - y[0]) / self.size,
            (along * v[1] + y[1]) / self.size,
            (along * v[2] + y[2]) / self.size,
        ]
    }

    /// R with R^-2 = I + extra p p', p = V e and e the axis.
    pub fn root(&self, extra: f64) -> Matrix {
        let p = self.axis();
        let grown = (1.0 + extra * inner(p, p)).sqrt();
        // 1 - 1 / grown over |p|^2
        let less = extra / (grown * (grown + 1.0));
        std::array::from_fn(|r| {
            std::array::from_fn(|c| f64::from(u8::from(r == c)) - less * p[r] * p[c])
        })
    }

    /// V e, e the axis.
    pub fn axis(&self) -> Point {
        self.times([1.0, 0.0, 0.0])
    }
}
