//! Residuals of markers and points of the surface, and their Jacobian.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

use super::closest_point::Surface;
use super::marker_experiment::MarkerExperiment;
use super::marker_recording::MarkerRecording;
use crate::identify::{LeastSquares, Trial};
use crate::parallel::parallel;
use crate::soft::{SoftNumber, SoftParameter, SoftScene, SoftStart, SoftTangents};

/// Numbers of a start.
const NUMBERS: usize = SoftStart::NUMBERS;
/// A step that begins this much before a frame (in steps) is at it.
const SAME: f64 = 1e-6;

/// The places of markers, or the distances of points from the surface, in some recordings as a sum of squares. Variables are the parameters, or their logarithms, and
/// after them of each recording how its start is moved.
pub(super) struct MarkerProblem<'a> {
    experiment: &'a MarkerExperiment,
    recordings: &'a [MarkerRecording],
    starts: Vec<SoftStart>,
    /// Of the body, its vertices in the order of its nodes.
    surface: Surface,
    threads: usize,
    /// Simulations with derivatives.
    pub simulations: usize,
    at: Linearized,
    tried: Option<Linearized>,
}

/// A point with what came of it.
#[derive(Clone, Default)]
struct Linearized {
    x: Vec<f64>,
    cost: f64,
    /// Of each recording: residuals, and by rows their derivatives in the parameters and its own start.
    parts: Vec<Part>,
}

/// A recording.
#[derive(Clone, Default)]
struct Part {
    residuals: Vec<f64>,
    rows: Vec<f64>,
    /// Steps that were not solved, or had no derivative.
    failed: usize,
}

impl<'a> MarkerProblem<'a> {
    pub fn new(
        experiment: &'a MarkerExperiment,
        recordings: &'a [MarkerRecording],
        starts: &[SoftStart],
        threads: usize,
    ) -> Self {
        MarkerProblem {
            experiment,
            recordings,
            starts: starts.to_vec(),
            surface: Surface::of(&experiment.scene.bodies[0]),
            threads,
            simulations: 0,
            at: Linearized::default(),
            tried: None,
        }
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.experiment.parameters.len() + NUMBERS * self.recordings.len()
    }

    /// The parameters at `x`.
    pub fn values(&self, x: &[f64]) -> Vec<f64> {
        let own = self.experiment.parameters.iter().zip(x);
        own.map(|(parameter, &x)| if parameter.log { x.exp() } else { x }).collect()
    }

    /// The start of a recording at `x`.
    pub fn start(&self, x: &[f64], recording: usize) -> SoftStart {
        self.starts[recording].moved(&self.change(x, recording))
    }

    fn change(&self, x: &[f64], recording: usize) -> [f64; NUMBERS] {
        let first = self.experiment.parameters.len() + NUMBERS * recording;
        std::array::from_fn(|k| x[first + k])
    }

    /// The scene of a recording at `x`.
    fn scene(&self, x: &[f64], recording: usize) -> SoftScene {
        let mut scene = self.experiment.scene.clone();
        for (parameter, value) in self.experiment.parameters.iter().zip(self.values(x)) {
            scene.set(parameter.parameter, value);
        }
        self.recordings[recording].place(&mut scene, self.start(x, recording));
        scene
    }

    fn linearized(&mut self, x: &[f64]) -> Linearized {
        self.simulations += self.recordings.len();
        let this = &*self;
        let parts =
            parallel(this.threads, this.recordings.len(), |recording| this.part(x, recording));
        let square = |part: &Part| part.residuals.iter().map(|r| r * r).sum::<f64>();
        let solved = parts.iter().all(|part| part.failed == 0);
        let cost = 0.5 * parts.iter().map(square).sum::<f64>();
        let cost = if solved && !cost.is_nan() { cost } else { f64::INFINITY };
        Linearized { x: x.to_vec(), cost, parts }
    }

    /// Residuals and rows of a recording.
    fn part(&self, x: &[f64], number: usize) -> Part {
        let failed = Part { failed: 1, ..Part::default() };
        let scene = self.scene(x, number);
        if scene.check().is_err() {
            return failed;
        }
        let recording = &self.recordings[number];
        let mut parameters: Vec<SoftParameter> =
            self.experiment.parameters.iter().map(|own| own.parameter).collect();
        let shared = parameters.len();
        let start = |k| SoftParameter { body: 0, number: SoftNumber::Start(k) };
        parameters.extend((0..NUMBERS).map(start));
        let scales: Vec<f64> = (self.experiment.parameters.iter().zip(self.values(x)))
            .map(|(parameter, value)| if parameter.log { value } else { 1.0 })
            .collect();
        let turned = left_jacobian(&self.change(x, number));
        let body = &scene.bodies[0];
        let nodes: Vec<usize> = body.markers.iter().map(|marker| marker.node).collect();
        let markers = nodes.len();
        let sees_points = recording.clouds.iter().any(|cloud| !cloud.is_empty());
        let surface: &[usize] = if sees_points { &body.surface } else { &[] };
        let nodes = [&nodes, surface].concat();
        let mut tangents = SoftTangents::new(&scene, &parameters);
        let (mut part, dt) = (Part::default(), scene.time_step);
        let (mut step, mut before) = (0, Snapshot::default());
        let mut after = Snapshot::of(&tangents, &nodes);
        let mut slopes = Vec::with_capacity(parameters.len());
        let noise = self.experiment.noise;
        // A residual, and how it changes with each number.
        let mut add = |residual: f64, slopes: &[f64]| {
            part.residuals.push(residual / noise);
            let (own, start) = slopes.split_at(shared);
            part.rows.extend(own.iter().zip(&scales).map(|(s, scale)| s * scale / noise));
            let rotation = turned.tr_mul(&Vector3::from_column_slice(&start[3..6]));
            let start =
                (0..NUMBERS).map(|k| if (3..6).contains(&k) { rotation[k - 3] } else { start[k] });
            part.rows.extend(start.map(|s| s / noise));
        };
        for (frame, time) in recording.times.iter().enumerate() {
            let at = (time - recording.times[0]) / dt;
            let behind = step;
            while (step as f64) < at - SAME {
                if step as f64 + 1.0 >= at - SAME {
                    before = Snapshot::of(&tangents, &nodes);
                }
                recording.drive(&mut tangents.rollout);
                if tangents.step().is_err() {
                    return failed;
                }
                step += 1;
            }
            if step > behind {
                after = Snapshot::of(&tangents, &nodes);
            }
            let share = (at - (step as f64 - 1.0)).clamp(0.0, 1.0);
            let columns = match share < 1.0 - SAME && step > 0 {
                true => before.towards(&after, dt, share),
                false => after.places(),
            };
            let changes = || columns.iter().skip(1);
            for (marker, place) in recording.places.get(frame).into_iter().flatten().enumerate() {
                let Some(place) = place.filter(|_| marker < markers) else { continue };
                for axis in 0..3 {
                    slopes.clear();
                    slopes.extend(changes().map(|column| column[marker][axis]));
                    add(columns[0][marker][axis] - place[axis], &slopes);
                }
            }
            let cloud = recording.clouds.get(frame).map_or(&[][..], Vec::as_slice);
            if cloud.is_empty() {
                continue;
            }
            let Some(surface) = self.surface.at(&columns[0][markers..]) else { return failed };
            for point in cloud {
                let Some(found) = surface.closest(&Vector3::from(*point)) else { return failed };
                // The closest point moves along the surface too, which changes no distance.
                slopes.clear();
                slopes.extend(changes().map(|column| {
                    let along =
                        |vertex: usize| found.outward.dot(&Vector3::from(column[markers + vertex]));
                    let corners = found.vertices.iter().zip(found.weights);
                    -corners.map(|(&vertex, weight)| weight * along(vertex)).sum::<f64>()
                }));
                add(found.distance, &slopes);
            }
        }
        part
    }

    /// Of each recording the root of the mean square distance of markers from where they were seen, of the surface from points
    /// of it (m).
    pub fn distances(&self) -> Vec<f64> {
        let of = |(part, recording): (&Part, &MarkerRecording)| {
            let square: f64 = part.residuals.iter().map(|r| r * r).sum();
            let points: usize = recording.clouds.iter().map(Vec::len).sum();
            // Of a marker are three residuals.
            let seen = points + part.residuals.len().saturating_sub(points) / 3;
            self.experiment.noise * (square / seen.max(1) as f64).sqrt()
        };
        self.at.parts.iter().zip(self.recordings).map(of).collect()
    }

    /// How many residuals there are.
    pub fn residuals(&self) -> usize {
        self.at.parts.iter().map(|part| part.residuals.len()).sum()
    }
}

/// Nodes after a step: of each column, the motion and then its changes, place and velocity of each node.
#[derive(Default)]
struct Snapshot {
    columns: Vec<Vec<[[f64; 3]; 2]>>,
}

impl Snapshot {
    fn of(tangents: &SoftTangents, nodes: &[usize]) -> Self {
        let state = &tangents.rollout.states()[0];
        let pick = |x: &[[f64; 3]], v: &[[f64; 3]]| {
            nodes.iter().map(|&node| [x[node], v[node]]).collect::<Vec<_>>()
        };
        let motion = pick(&state.position, &state.velocity);
        let changes = tangents.columns(0).map(|column| {
            column.map_or_else(|| vec![[[0.0; 3]; 2]; nodes.len()], |(x, v)| pick(x, v))
        });
        Snapshot { columns: std::iter::once(motion).chain(changes).collect() }
    }

    /// Of each column the places.
    fn places(&self) -> Vec<Vec<[f64; 3]>> {
        self.columns.iter().map(|column| column.iter().map(|[x, _]| *x).collect()).collect()
    }

    /// Of each column the places after a `share` of the step of `dt` (s) to `next`.
    fn towards(&self, next: &Snapshot, dt: f64, share: f64) -> Vec<Vec<[f64; 3]>> {
        let between = |(start, end): (&[[f64; 3]; 2], &[[f64; 3]; 2])| {
            let along = |axis: usize| [start, end].map(|own| own.map(|x| x[axis]));
            [0, 1, 2].map(|axis| {
                let [start, end] = along(axis);
                hermite(start, end, dt, share)
            })
        };
        let columns = self.columns.iter().zip(&next.columns);
        columns.map(|(start, end)| start.iter().zip(end).map(between).collect()).collect()
    }
}

/// Between two steps, the cubic of places and velocities at both.
fn hermite([x, v]: [f64; 2], [x1, v1]: [f64; 2], dt: f64, s: f64) -> f64 {
    let (square, cube) = (s * s, s * s * s);
    x * (2.0 * cube - 3.0 * square + 1.0)
        + dt * v * (cube - 2.0 * square + s)
        + x1 * (3.0 * square - 2.0 * cube)
        + dt * v1 * (cube - square)
}

/// How a turn by exp(w) turns on, in the world, where the rotation vector w of a change moves.
fn left_jacobian(change: &[f64; NUMBERS]) -> Matrix3<f64> {
    let w = Vector3::new(change[3], change[4], change[5]);
    let angle = w.norm();
    let cross = w.cross_matrix();
    let (first, second) = if angle < 1e-4 {
        (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0)
    } else {
        let square = angle * angle;
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    Matrix3::identity() + cross * first + cross * cross * second
}

impl LeastSquares for MarkerProblem<'_> {
    fn linearize(&mut self, x: &[f64]) -> f64 {
        let known = self.tried.take().filter(|tried| tried.x == x);
        self.at = known.unwrap_or_else(|| self.linearized(x));
        self.at.cost
    }

    fn normal_equations(&self) -> (DMatrix<f64>, DVector<f64>) {
        let (n, shared) = (self.len(), self.experiment.parameters.len());
        let (mut h, mut g) = (DMatrix::zeros(n, n), DVector::zeros(n));
        let width = shared + NUMBERS;
        for (recording, part) in self.at.parts.iter().enumerate() {
            let place = |k: usize| if k < shared { k } else { k + NUMBERS * recording };
            for (residual, row) in part.residuals.iter().zip(part.rows.chunks_exact(width)) {
                for (i, a) in row.iter().enumerate() {
                    g[place(i)] += a * residual;
                    for (j, b) in row.iter().enumerate() {
                        h[(place(i), place(j))] += a * b;
                    }
                }
            }
        }
        (h, g)
    }

    fn trial(&mut self, x: &[f64], step: &[f64]) -> Trial {
        let there: Vec<f64> = x.iter().zip(step).map(|(x, step)| x + step).collect();
        let (h, g) = self.normal_equations();
        let step = DVector::from_column_slice(step);
        let predicted = -(g.dot(&step) + 0.5 * step.dot(&(&h * &step)));
        let tried = self.linearized(&there);
        let cost = tried.cost;
        self.tried = Some(tried);
        Trial { cost, predicted, eliminated_step: 0.0 }
    }

    fn accept(&mut self) {}

    /// Starts are many variables, and what is soft bends where what is rigid has a kink.
    fn has_kinks(&self) -> bool {
        false
    }
}
