//! The contact problem of vertices at one half-space each, in their velocities: semi-smooth Newton (`Alart91`).
//!
//! With S and R condensed on the vertices that are kept, velocities w take the impulses p = R + S (w - u). A contact puts three
//! conditions on the three velocities of its vertex: what sticks has the velocity it is asked for, what is apart no impulse. So
//! only what slides or is apart is solved for, by S itself, symmetric or not, and no impulse is shared. At the end impulses
//! are put where the law has them: what is left is left of the momentum.

use super::condensation::Condensation;
use crate::argmin::law;
use crate::argmin::{Law, Mode, Report, SLIP_TOLERANCE, Stage, Status};
use crate::linalg::{Lu, wide_dot};

/// Iterations before others take over.
const MOST: usize = 20;
/// A step that shrinks the residual to this part leaves a factor that is good for one more.
const FAST: f64 = 1e-2;

/// What a contact asks of its vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Demand {
    /// Which of the kept vertices.
    pub place: usize,
    /// The normal and two tangents.
    pub frame: [[f64; 3]; 3],
    /// The least velocity along the normal (m/s).
    pub target: f64,
    pub friction: f64,
    /// How much more velocity along the normal an impulse takes (1/kg).
    pub compliance: f64,
    /// How fast the surface goes along the frame (m/s): nothing along the normal.
    pub drift: [f64; 3],
}

/// The solver, with its memory.
#[derive(Debug, Default)]
pub(super) struct VertexNewton {
    vertices: Vec<Vertex>,
    /// w - u and p of all kept vertices, along the axes of space.
    change: Vec<f64>,
    force: Vec<f64>,
    unknowns: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
    lu: Lu<f64>,
    /// The modes that is of; none, if it is of no use.
    factored: Vec<Mode>,
}

/// A vertex that is kept. Vectors are along the frame of its contact; of space, if it has none.
#[derive(Clone, Copy, Debug, Default)]
struct Vertex {
    frame: [[f64; 3]; 3],
    demand: Option<Demand>,
    /// u, w (m/s), relative to the surface, and p (N s).
    start: [f64; 3],
    velocity: [f64; 3],
    impulse: [f64; 3],
    /// What S makes of its own velocity along normal and tangents (kg).
    inertia: [f64; 2],
    mode: Mode,
    /// Which velocities are given.
    held: [bool; 3],
    /// The first of its unknowns, which are the others.
    first: usize,
    /// The conditions on the others: their values, and how impulses and velocities change them.
    value: [f64; 3],
    by_impulse: [[f64; 3]; 3],
    by_velocity: [[f64; 3]; 3],
}

impl Vertex {
    /// The argument of the natural map: impulses less velocities.
    fn argument(&self, demand: &Demand) -> [f64; 3] {
        let ([w, a, b], [p, x, y]) = (self.velocity, self.impulse);
        let [normal, tangential] = self.inertia;
        let parting = w + demand.compliance * p - demand.target;
        [p - normal * parting, x - tangential * a, y - tangential * b]
    }

    /// Where the law has the impulse.
    fn lawful(&self) -> [f64; 3] {
        self.demand.map_or([0.0; 3], |demand| {
            law::project(Law::default(), demand.friction, self.argument(&demand))
        })
    }

    /// How far the impulse is from the law, as a velocity.
    fn error(&self) -> f64 {
        let ([p, x, y], [q, s, t]) = (self.impulse, self.lawful());
        let [normal, tangential] = self.inertia;
        let (normal, across) = ((p - q).abs() / normal, law::length([x - s, y - t]) / tangential);
        if normal > across || normal.is_nan() { normal } else { across }
    }

    /// The mode that the natural map suggests.
    fn suggested(&self) -> Mode {
        self.demand.map_or(Mode::Break, |demand| {
            law::mode(Law::default(), demand.friction, self.argument(&demand)).0
        })
    }

    /// Takes up a mode, and the velocities that are given in it.
    fn enter(&mut self, mode: Mode) {
        self.mode = mode;
        self.held = [false; 3];
        let Some(demand) = self.demand.filter(|_| self.mode != Mode::Break) else { return };
        if demand.compliance == 0.0 {
            (self.held[0], self.velocity[0]) = (true, demand.target);
        }
        if self.mode == Mode::Stick {
            for k in 1..3 {
                (self.held[k], self.velocity[k]) = (true, 0.0);
            }
        }
    }

    /// The conditions of the mode, to first order.
    fn linearise(&mut self) {
        self.value = self.impulse;
        self.by_impulse = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        self.by_velocity = [[0.0; 3]; 3];
        let Some(demand) = self.demand.filter(|_| self.mode != Mode::Break) else { return };
        if !self.held[0] {
            let stiffness = demand.compliance.recip();
            self.value[0] += (self.velocity[0] - demand.target) * stiffness;
            self.by_velocity[0][0] = stiffness;
        }
        if self.mode == Mode::Stick || demand.friction == 0.0 {
            return;
        }
        // p_t = mu p_n d along d, that of the argument z, which turns with it.
        let [_, x, y] = self.argument(&demand);
        let size = law::length([x, y]);
        let d = [x / size, y / size];
        let radius = demand.friction * self.impulse[0].max(0.0);
        for r in 0..2 {
            self.value[1 + r] -= radius * d[r];
            self.by_impulse[1 + r][0] = -demand.friction * d[r];
            for c in 0..2 {
                let own = if r == c { 1.0 } else { 0.0 };
                let turned = radius / size * (own - d[r] * d[c]);
                self.by_impulse[1 + r][1 + c] -= turned;
                self.by_velocity[1 + r][1 + c] = turned * self.inertia[1];
            }
        }
    }

    /// Which velocities are solved for.
    fn free(&self) -> impl Iterator<Item = usize> + use<> {
        let held = self.held;
        (0..3).filter(move |&k| !held[k])
    }
}

impl VertexNewton {
    /// Forgets what it knows of S.
    pub fn forget(&mut self) {
        self.factored.clear();
    }

    /// Solves from the velocities `u`, at which `residual` is left of the momentum. What `scale` says are the velocities (m/s)
    /// that count. The velocities and impulses are in [`velocities`](Self::velocities) and [`outcome`](Self::outcome) then.
    pub fn solve(
        &mut self,
        condensation: &Condensation,
        demands: &[Demand],
        (u, residual): (&[f64], &[f64]),
        (scale, tolerance): (f64, f64),
    ) -> Report {
        let s = condensation.condensed();
        self.start(s, demands, u);
        self.follow(s, residual);
        let mut report = Report { stage: Stage::WarmStart, ..Report::default() };
        loop {
            let errors = self.vertices.iter().map(Vertex::error);
            let worst = errors.fold(0.0, |most: f64, e| if e.is_nan() { e } else { most.max(e) });
            let before = std::mem::replace(&mut report.residual, worst / scale);
            // Where it starts the law may hold, but not to rounding.
            let ended = report.residual <= tolerance && report.iterations > 0;
            // A problem without a scale has nothing that moves: that is for others to judge.
            if ended || !report.residual.is_finite() || report.iterations == MOST {
                break;
            }
            if report.iterations > 0 && report.residual > FAST * before {
                self.forget();
            }
            if !self.advance(s, residual) {
                break;
            }
            report.iterations += 1;
        }
        report.status = if report.residual <= tolerance { Status::Solved } else { Status::Stalled };
        self.settle(scale);
        report.margin = self.margin(scale);
        report
    }

    fn start(&mut self, s: &[f64], demands: &[Demand], u: &[f64]) {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        self.vertices.clear();
        self.vertices.resize(u.len() / 3, Vertex { frame: axes, ..Vertex::default() });
        for demand in demands {
            let vertex = &mut self.vertices[demand.place];
            (vertex.demand, vertex.frame) = (Some(*demand), demand.frame);
        }
        let n = u.len();
        for (k, (vertex, u)) in self.vertices.iter_mut().zip(u.as_chunks::<3>().0).enumerate() {
            let drift = vertex.demand.map_or([0.0; 3], |demand| demand.drift);
            vertex.start = [0, 1, 2].map(|k| product(&vertex.frame[k], u) - drift[k]);
            vertex.velocity = vertex.start;
            let own = |row: &[f64; 3]| {
                (0..3).map(|i| row[i] * product(&block(s, n, k, k)[i], row)).sum::<f64>()
            };
            let [a, b, c] = &vertex.frame;
            vertex.inertia = [own(a), 0.5 * (own(b) + own(c))];
        }
    }

    /// p = R + S (w - u)
    fn follow(&mut self, s: &[f64], residual: &[f64]) {
        let n = residual.len();
        self.change.clear();
        for vertex in &self.vertices {
            let moved = [0, 1, 2].map(|k| vertex.velocity[k] - vertex.start[k]);
            self.change.extend(
                [0, 1, 2].map(|k| (0..3).map(|r| vertex.frame[r][k] * moved[r]).sum::<f64>()),
            );
        }
        self.force.clear();
        let rows = s.chunks_exact(n.max(1)).zip(residual);
        self.force.extend(rows.map(|(row, r)| r + wide_dot(row, &self.change)));
        for (vertex, force) in self.vertices.iter_mut().zip(self.force.as_chunks::<3>().0) {
            vertex.impulse = vertex.frame.map(|row| product(&row, force));
        }
    }

    /// A step at the modes that the natural map suggests. False if it is singular.
    fn advance(&mut self, s: &[f64], residual: &[f64]) -> bool {
        let mut unknowns = 0;
        for vertex in &mut self.vertices {
            vertex.enter(vertex.suggested());
            vertex.first = unknowns;
            unknowns += vertex.free().count();
        }
        self.unknowns = unknowns;
        self.follow(s, residual);
        if unknowns == 0 {
            return true;
        }
        self.vertices.iter_mut().for_each(Vertex::linearise);
        let modes = self.vertices.iter().map(|vertex| vertex.mode);
        if !modes.clone().eq(self.factored.iter().copied()) {
            self.factored.clear();
            self.factored.extend(modes);
            self.assemble(s);
            if !self.lu.factor(&self.matrix, unknowns) {
                self.forget();
                return false;
            }
        }
        self.right.clear();
        for vertex in &self.vertices {
            self.right.extend(vertex.free().map(|k| vertex.value[k]));
        }
        self.lu.solve(&mut self.right);
        for vertex in &mut self.vertices {
            for (k, x) in vertex.free().zip(&self.right[vertex.first..]) {
                vertex.velocity[k] -= x;
            }
        }
        self.follow(s, residual);
        true
    }

    /// How the conditions change with the velocities that are solved for.
    fn assemble(&mut self, s: &[f64]) {
        let (n, m) = (3 * self.vertices.len(), self.unknowns);
        self.matrix.clear();
        self.matrix.resize(m * m, 0.0);
        for (i, vertex) in self.vertices.iter().enumerate() {
            // The conditions by impulses along the axes of space.
            let by_force = vertex.by_impulse.map(|row| {
                [0, 1, 2].map(|k| (0..3).map(|r| row[r] * vertex.frame[r][k]).sum::<f64>())
            });
            for (j, other) in self.vertices.iter().enumerate() {
                let s = block(s, n, i, j);
                for (row, r) in (vertex.first..).zip(vertex.free()) {
                    let target = &mut self.matrix[row * m + other.first..];
                    let force = &by_force[r];
                    let moved = [0, 1, 2]
                        .map(|k| force[0] * s[0][k] + force[1] * s[1][k] + force[2] * s[2][k]);
                    for (x, c) in target.iter_mut().zip(other.free()) {
                        *x = product(&moved, &other.frame[c]);
                        if i == j {
                            *x += vertex.by_velocity[r][c];
                        }
                    }
                }
            }
        }
    }

    /// Impulses by the law, and modes. What slips less than rounding is at rest with its friction at the limit.
    fn settle(&mut self, scale: f64) {
        for vertex in &mut self.vertices {
            vertex.mode = vertex.suggested();
            vertex.impulse = vertex.lawful();
            let [_, a, b] = vertex.velocity;
            if vertex.mode == Mode::Slide && law::length([a, b]) <= SLIP_TOLERANCE * scale {
                vertex.mode = Law::default().at_rest(Mode::Slide);
            }
        }
    }

    /// The least distance of a contact to another mode.
    fn margin(&self, scale: f64) -> f64 {
        let mut least = f64::INFINITY;
        for vertex in &self.vertices {
            let Some(demand) = vertex.demand else { continue };
            let (x, mut v) = (vertex.impulse, vertex.velocity);
            v[0] -= demand.target;
            let normal = x[0] / vertex.inertia[0] / scale;
            let limit = demand.friction;
            let own = law::margin(Law::default(), vertex.mode, limit, (&x, &v), (normal, scale));
            least = least.min(own);
        }
        least.max(0.0)
    }

    /// w - u of all kept vertices (m/s), along the axes of space.
    pub fn change(&self) -> &[f64] {
        &self.change
    }

    /// The impulse of the contact at a kept vertex (N s), along its frame, and its mode.
    pub fn outcome(&self, place: usize) -> ([f64; 3], Mode) {
        let vertex = &self.vertices[place];
        (vertex.impulse, vertex.mode)
    }
}

fn product(x: &[f64; 3], y: &[f64; 3]) -> f64 {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

/// What the velocity of vertex `j` does to vertex `i`.
fn block(s: &[f64], n: usize, i: usize, j: usize) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|r| {
        let row = (3 * i + r) * n + 3 * j;
        [s[row], s[row + 1], s[row + 2]]
    })
}
