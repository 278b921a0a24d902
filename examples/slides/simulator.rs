//! A second, independent rigid-body simulator: one box on the plane z = 0.
//!
//! It makes the slide data of this example and serves tests as a reference. It shares no code
//! with the crate and solves every step to rounding error. It is meant for a box that rests or
//! slides on a face: the sweeps can converge too slowly for a tumbling box, which is an error.
//!
//! One step (semi-implicit Euler, contacts linearised at the start of the step):
//!
//! 1. free velocity: `v + dt (g + f / m)`, `w - dt I^-1 (w x I w)`;
//! 2. contact impulses `l_i` at the corners whose gap is below [`REACH`], with `u` the corner
//!    velocity after the impulses:
//!    - normal: `u_n + c l_n >= -max(gap, 0) / dt`, complementary to `l_n >= 0`
//!      (no restitution; penetration is stopped, not pushed out),
//!    - friction: `|l_t| <= mu l_n`, and where the corner slides `l_t` lies on that bound,
//!      antiparallel to `u_t` (Coulomb's law with maximum dissipation);
//! 3. `p += dt v+`, `R = R exp(dt w+)`.
//!
//! The compliance `c = compliance * mean(diag(J_n M^-1 J_n'))` decides how corners that carry
//! more than the equations of motion can tell apart (four corners of a face) share the load.
//!
//! Conventions: SI units; quaternions (w, x, y, z) rotate body to world; `v` in the world
//! frame, `w` in the body frame.
pub type Vec3 = [f64; 3];
pub type Quat = [f64; 4];

/// Corners with a smaller gap than this are contacts of the step (m).
pub const REACH: f64 = 1e-3;
/// The compliance used for the slides.
pub const COMPLIANCE: f64 = 1e-6;
/// The solver stops when a sweep changes no impulse by more than this, relative to the largest.
pub const TOLERANCE: f64 = 1e-15;
pub const MAX_SWEEPS: usize = 200_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxModel {
    pub mass: f64,
    pub half_extents: Vec3,
    /// Principal moments of inertia about the centre.
    pub inertia: Vec3,
    pub mu: f64,
    /// Magnitude; gravity points along -z.
    pub gravity: f64,
    /// A constant force on the centre (N).
    pub force: Vec3,
}

/// How a slide starts: flat on the plane, centre above the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slide {
    pub velocity: Vec3,
    /// Angular velocity about z (rad/s).
    pub spin: f64,
    /// Angle of the body x axis to the world x axis (rad).
    pub heading: f64,
    /// Frames to record, the first one included.
    pub frames: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    pub t: f64,
    pub p: Vec3,
    pub q: Quat,
    pub v: Vec3,
    pub w: Vec3,
}

/// A corner in contact during a step, all in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// From the centre of the box to the corner, at the start of the step.
    pub arm: Vec3,
    /// `-max(gap, 0) / dt`, the normal velocity that closes the gap.
    pub target: f64,
    /// Impulse on the box (x and y: friction, z: normal).
    pub impulse: Vec3,
}

/// The outcome of one time step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub frame: Frame,
    pub contacts: Vec<Contact>,
    /// The compliance `c` of the contacts, in 1/kg.
    pub c: f64,
    pub sweeps: usize,
}

impl BoxModel {
    /// A solid box of uniform density.
    pub fn solid(mass: f64, half_extents: Vec3, mu: f64, gravity: f64) -> Self {
        let [a, b, c] = half_extents.map(|h| h * h);
        let inertia = [b + c, a + c, a + b].map(|s| mass * s / 3.0);
        Self { mass, half_extents, inertia, mu, gravity, force: [0.0; 3] }
    }
}

/// The state a slide starts from.
pub fn first_frame(model: &BoxModel, slide: &Slide) -> Frame {
    Frame {
        t: 0.0,
        p: [0.0, 0.0, model.half_extents[2]],
        q: exp([0.0, 0.0, slide.heading]),
        v: slide.velocity,
        w: [0.0, 0.0, slide.spin],
    }
}

/// The exact states of a slide: `steps + 1` frames, `dt` apart.
pub fn simulate(
    model: &BoxModel,
    slide: &Slide,
    dt: f64,
    steps: usize,
    compliance: f64,
) -> Result<Vec<Frame>, String> {
    let mut frames = vec![first_frame(model, slide)];
    for k in 0..steps {
        let mut next = step(model, &frames[k], dt, compliance)?.frame;
        next.t = (k + 1) as f64 * dt;
        frames.push(next);
    }
    Ok(frames)
}

/// One time step from any state of the box.
pub fn step(model: &BoxModel, from: &Frame, dt: f64, compliance: f64) -> Result<Step, String> {
    if !(compliance > 0.0 && dt > 0.0) {
        return Err("the time step and the compliance must be positive".into());
    }
    let momentum: Vec3 = std::array::from_fn(|i| model.inertia[i] * from.w[i]);
    let torque = cross(momentum, from.w);
    let w: Vec3 = std::array::from_fn(|i| from.w[i] + dt * torque[i] / model.inertia[i]);
    let weight = [0.0, 0.0, -model.mass * model.gravity];
    let mut contacts = contacts_within_reach(model, from, dt);
    let mut system = System {
        mobility: Mobility::new(model, from.q),
        mu: model.mu,
        c: 0.0,
        v: add(from.v, scale(add(weight, model.force), dt / model.mass)),
        w: rotate(from.q, w),
    };
    let normal = [0.0, 0.0, 1.0];
    for contact in &contacts {
        let response = system.mobility.at(contact.arm, contact.arm, normal)[2];
        system.c += compliance * response / contacts.len() as f64;
    }
    let sweeps = system.solve(&mut contacts).map_err(|e| format!("at t = {:.6} s: {e}", from.t))?;

    let (v, w) = system.velocity(&contacts, true);
    let w = rotate(conjugate(from.q), w);
    if !v.iter().chain(&w).all(|x| x.is_finite()) {
        return Err(format!("the velocity after t = {:.6} s is not finite", from.t));
    }
    let q = product(from.q, exp(scale(w, dt)));
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let frame =
        Frame { t: from.t + dt, p: add(from.p, scale(v, dt)), q: q.map(|x| x / length), v, w };
    Ok(Step { frame, contacts, c: system.c, sweeps })
}

fn contacts_within_reach(model: &BoxModel, at: &Frame, dt: f64) -> Vec<Contact> {
    let corner = |index: usize| -> Vec3 {
        let sign = |axis: usize| if index >> axis & 1 == 1 { 1.0 } else { -1.0 };
        std::array::from_fn(|axis| sign(axis) * model.half_extents[axis])
    };
    let arms = (0..8).map(|index| rotate(at.q, corner(index)));
    arms.filter(|arm| at.p[2] + arm[2] < REACH)
        .map(|arm| Contact { arm, target: -(at.p[2] + arm[2]).max(0.0) / dt, impulse: [0.0; 3] })
        .collect()
}

/// The inverse mass matrix of the box, in the world frame.
struct Mobility {
    linear: f64,
    angular: [Vec3; 3],
}

impl Mobility {
    fn new(model: &BoxModel, q: Quat) -> Self {
        let axes: [Vec3; 3] =
            std::array::from_fn(|k| rotate(q, std::array::from_fn(|i| f64::from(i == k))));
        let entry = |i: usize, j: usize| -> f64 {
            (0..3).map(|k| axes[k][i] * axes[k][j] / model.inertia[k]).sum()
        };
        Self {
            linear: 1.0 / model.mass,
            angular: std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))),
        }
    }

    /// Change of angular velocity by an impulse at `arm`.
    fn turn(&self, arm: Vec3, impulse: Vec3) -> Vec3 {
        let moment = cross(arm, impulse);
        self.angular.map(|row| dot(row, moment))
    }

    /// Change of the velocity of the point at `of` by an impulse at `arm`.
    fn at(&self, of: Vec3, arm: Vec3, impulse: Vec3) -> Vec3 {
        let turning = cross(self.turn(arm, impulse), of);
        add(scale(impulse, self.linear), turning)
    }
}

/// The contact problem of one step: free velocity `v`, `w` (world frame), mobility and laws.
struct System {
    mobility: Mobility,
    mu: f64,
    c: f64,
    v: Vec3,
    w: Vec3,
}

impl System {
    /// Velocity of the box after the friction impulses, and the normal ones if asked for.
    fn velocity(&self, contacts: &[Contact], with_normal: bool) -> (Vec3, Vec3) {
        let (mut v, mut w) = (self.v, self.w);
        for contact in contacts {
            let [x, y, z] = contact.impulse;
            let impulse = [x, y, if with_normal { z } else { 0.0 }];
            v = add(v, scale(impulse, self.mobility.linear));
            w = add(w, self.mobility.turn(contact.arm, impulse));
        }
        (v, w)
    }

    /// Block Gauss-Seidel: all normal impulses exactly, then each friction impulse by a
    /// projected step, until nothing changes. Returns the number of sweeps.
    fn solve(&self, contacts: &mut [Contact]) -> Result<usize, String> {
        let mut loaded = (1 << contacts.len()) - 1;
        for sweep in 1..=MAX_SWEEPS {
            let before: Vec<Vec3> = contacts.iter().map(|c| c.impulse).collect();
            loaded = self.solve_normals(contacts, loaded);
            self.sweep_friction(contacts);
            let (mut change, mut largest) = (0.0_f64, 0.0_f64);
            for (contact, before) in contacts.iter().zip(before) {
                for (now, before) in contact.impulse.into_iter().zip(before) {
                    change = change.max((now - before).abs());
                    largest = largest.max(now.abs());
                }
            }
            if change <= TOLERANCE * largest {
                return Ok(sweep);
            }
        }
        Err(format!("no convergence in {MAX_SWEEPS} contact sweeps"))
    }

    /// One projected Gauss-Seidel sweep over the friction impulses. A fixed point of
    /// `l_t <- project(l_t - u_t / L)` on the disk of radius `mu l_n` is Coulomb's law.
    fn sweep_friction(&self, contacts: &mut [Contact]) {
        let (mut v, mut w) = self.velocity(contacts, true);
        for contact in contacts {
            let arm = contact.arm;
            let [a, b, _] = self.mobility.at(arm, arm, [1.0, 0.0, 0.0]);
            let [_, d, _] = self.mobility.at(arm, arm, [0.0, 1.0, 0.0]);
            let largest_eigenvalue = 0.5 * (a + d) + (0.5 * (a - d)).hypot(b);
            let u = add(v, cross(w, arm));
            let [x0, y0, normal] = contact.impulse;
            let radius = self.mu * normal;
            let rounding = 32.0 * f64::EPSILON * (norm(self.v) + norm(self.w) * norm(arm));
            if u[0].hypot(u[1]) <= rounding && x0.hypot(y0) <= radius * (1.0 + TOLERANCE) {
                continue; // sticks: rounding errors must not shift friction between corners
            }
            let (mut x, mut y) = (x0 - u[0] / largest_eigenvalue, y0 - u[1] / largest_eigenvalue);
            let length = x.hypot(y);
            if length > radius {
                (x, y) = (x * radius / length, y * radius / length);
            }
            contact.impulse = [x, y, normal];
            let change = [x - x0, y - y0, 0.0];
            v = add(v, scale(change, self.mobility.linear));
            w = add(w, self.mobility.turn(arm, change));
        }
    }

    /// The normal impulses for given friction impulses, exactly: of all choices of loaded
    /// corners (a bit each) the one that satisfies the complementarity conditions. Tries the
    /// choice `guess` first and returns the one taken.
    fn solve_normals(&self, contacts: &mut [Contact], guess: usize) -> usize {
        let (v, w) = self.velocity(contacts, false);
        // The normal velocity of a corner is row . (v_z, w_x, w_y).
        let rows: Vec<Vec3> = contacts.iter().map(|c| [1.0, c.arm[1], -c.arm[0]]).collect();
        let free = [v[2], w[0], w[1]];
        let mut best = (f64::INFINITY, guess, vec![0.0; contacts.len()]);
        for choice in std::iter::once(guess).chain(0..1 << contacts.len()) {
            let impulses = self.loaded_impulses(contacts, &rows, free, choice);
            let change = self.response(&rows, &impulses);
            let mut violation = 0.0_f64;
            for (i, &impulse) in impulses.iter().enumerate() {
                let excess = dot(rows[i], add(free, change)) - contacts[i].target;
                let wrong =
                    if choice >> i & 1 == 1 { impulse * self.mobility.linear } else { excess };
                violation = violation.max(-wrong);
            }
            if violation < best.0 {
                best = (violation, choice, impulses);
            }
            if violation == 0.0 {
                break;
            }
        }
        for (contact, impulse) in contacts.iter_mut().zip(best.2) {
            contact.impulse[2] = impulse.max(0.0);
        }
        best.1
    }

    /// Change of (v_z, w_x, w_y) by normal impulses.
    fn response(&self, rows: &[Vec3], impulses: &[f64]) -> Vec3 {
        let mut sum = [0.0; 3];
        for (row, impulse) in rows.iter().zip(impulses) {
            sum = add(sum, scale(*row, *impulse));
        }
        self.mass_matrix_inverse().map(|row| dot(row, sum))
    }

    /// The inverse mass matrix of (v_z, w_x, w_y).
    fn mass_matrix_inverse(&self) -> [Vec3; 3] {
        let [x, y, _] = self.mobility.angular;
        [[self.mobility.linear, 0.0, 0.0], [0.0, x[0], x[1]], [0.0, y[0], y[1]]]
    }

    /// Impulses `l` with `(J P J' + c) l = target - J free` over the loaded corners, where `J`
    /// holds their rows and `P` is the inverse mass matrix.
    ///
    /// From three corners on `J P J'` is singular or nearly so and a direct solution would
    /// lose `1/c` in accuracy. The same impulses are (matrix inversion lemma)
    /// `l = -J K^-1 P^-1 free + (target - J K^-1 J' target) / c` with `K = J'J + c P^-1`:
    /// for corners that touch (target 0) a pressure that varies linearly over the face.
    fn loaded_impulses(
        &self,
        contacts: &[Contact],
        rows: &[Vec3],
        free: Vec3,
        choice: usize,
    ) -> Vec<f64> {
        let loaded: Vec<usize> = (0..rows.len()).filter(|i| choice >> i & 1 == 1).collect();
        let inverse_mass = self.mass_matrix_inverse();
        let mut impulses = vec![0.0; rows.len()];
        let mut matrix: [Vec3; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
        if loaded.len() < 3 {
            let mut right = [0.0; 3];
            for (a, &i) in loaded.iter().enumerate() {
                right[a] = contacts[i].target - dot(rows[i], free);
                for (b, &j) in loaded.iter().enumerate() {
                    let product = dot(rows[i], inverse_mass.map(|row| dot(row, rows[j])));
                    matrix[a][b] = product + if a == b { self.c } else { 0.0 };
                }
            }
            let solution = solve(matrix, right);
            for (a, &i) in loaded.iter().enumerate() {
                impulses[i] = solution[a];
            }
            return impulses;
        }
        let columns: [Vec3; 3] = std::array::from_fn(|j| solve(inverse_mass, matrix[j]));
        let mut right = [0.0; 3];
        for a in 0..3 {
            for b in 0..3 {
                let sum: f64 = loaded.iter().map(|&i| rows[i][a] * rows[i][b]).sum();
                matrix[a][b] = sum + self.c * columns[b][a];
            }
            right[a] = loaded.iter().map(|&i| rows[i][a] * contacts[i].target).sum();
        }
        let from_free = solve(matrix, solve(inverse_mass, free));
        let from_target = solve(matrix, right);
        for &i in &loaded {
            let gap_part = contacts[i].target - dot(rows[i], from_target);
            impulses[i] = gap_part / self.c - dot(rows[i], from_free);
        }
        impulses
    }
}

/// Solves a symmetric positive definite 3x3 system (Gaussian elimination).
fn solve(mut a: [Vec3; 3], mut b: Vec3) -> Vec3 {
    for k in 0..3 {
        for i in k + 1..3 {
            let factor = a[i][k] / a[k][k];
            a[i] = add(a[i], scale(a[k], -factor));
            b[i] -= factor * b[k];
        }
    }
    for k in (0..3).rev() {
        for i in k + 1..3 {
            b[k] -= a[k][i] * b[i];
        }
        b[k] /= a[k][k];
    }
    b
}

pub fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn norm(a: Vec3) -> f64 {
    dot(a, a).sqrt()
}

pub fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn add(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[i] + b[i])
}

pub fn scale(a: Vec3, factor: f64) -> Vec3 {
    a.map(|x| x * factor)
}

/// Hamilton product.
pub fn product(a: Quat, b: Quat) -> Quat {
    let (u, v) = ([a[1], a[2], a[3]], [b[1], b[2], b[3]]);
    let vector = add(add(scale(v, a[0]), scale(u, b[0])), cross(u, v));
    [a[0] * b[0] - dot(u, v), vector[0], vector[1], vector[2]]
}

pub fn conjugate(q: Quat) -> Quat {
    [q[0], -q[1], -q[2], -q[3]]
}

/// Rotates a vector by a unit quaternion.
pub fn rotate(q: Quat, x: Vec3) -> Vec3 {
    let u = [q[1], q[2], q[3]];
    let t = scale(cross(u, x), 2.0);
    add(add(x, scale(t, q[0])), cross(u, t))
}

/// The unit quaternion of a rotation vector.
pub fn exp(rotation: Vec3) -> Quat {
    let angle = norm(rotation);
    // sin(angle / 2) / angle; below 1e-9 its limit is exact to rounding.
    let ratio = if angle < 1e-9 { 0.5 } else { (0.5 * angle).sin() / angle };
    let [x, y, z] = scale(rotation, ratio);
    [(0.5 * angle).cos(), x, y, z]
}
