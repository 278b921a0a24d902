//! Motions of soft bodies to be played: their surfaces over time, with the forces of their contacts.

use super::drawing::{Drawing, DrawnGround, DrawnSoftBody, rounded};
use super::pace::{MOST_FRAMES, Pace};
use super::playback::{Role, Track, arrow};
use crate::soft::{SoftBody, SoftScene, SoftState};

/// Coordinates of vertices in a track at most, about 16 MB: of large meshes fewer frames are kept,
const MOST_NUMBERS: f64 = 2e6;
/// but at least so many.
const FEWEST_FRAMES: f64 = 30.0;

impl Drawing {
    /// The drawing of a scene of soft bodies.
    pub fn of_soft_bodies(scene: &SoftScene) -> Drawing {
        let grounds = scene.grounds.iter().map(|ground| DrawnGround {
            name: ground.name.clone(),
            normal: ground.normal,
            offset: ground.offset,
        });
        let reach = |body: &SoftBody| {
            let centre = body.mean(&body.position);
            let from_centre = |x: &[f64; 3]| distance(*x, centre);
            body.position.iter().map(from_centre).fold(0.0, f64::max)
        };
        Drawing {
            soft: scene.bodies.iter().map(surface).collect(),
            grounds: grounds.collect(),
            size: scene.bodies.iter().map(reach).fold(0.0, f64::max),
            ..Drawing::default()
        }
    }
}

fn distance(x: [f64; 3], y: [f64; 3]) -> f64 {
    [0, 1, 2].map(|k| (x[k] - y[k]).powi(2)).iter().sum::<f64>().sqrt()
}

/// The triangles of the surface of a body, by the place of their nodes among those of the surface.
fn surface(body: &SoftBody) -> DrawnSoftBody {
    let place = |node: usize| body.surface.partition_point(|&other| other < node);
    let triangles = body.mesh.surface().into_iter().flatten().map(place).collect();
    DrawnSoftBody { name: body.name.clone(), triangles }
}

/// Makes a [`Track`] of a motion of soft bodies as it is simulated; of many frames it keeps as many as playing takes.
pub struct SoftTrackRecorder {
    /// The nodes of the surface of each body.
    surfaces: Vec<Vec<usize>>,
    decimals: i32,
    pace: Pace,
    track: Track,
    /// The last frame, if it was not kept.
    pending: Option<(f64, Vec<SoftState>)>,
    /// Of each body the impulses at all nodes since the last frame kept (N s).
    impulses: Vec<Vec<[f64; 3]>>,
}

impl SoftTrackRecorder {
    /// Starts a track of a motion from `begin` to `end` (s).
    pub fn new(
        scene: &SoftScene,
        drawing: &Drawing,
        (name, role): (&str, Role),
        span: [f64; 2],
    ) -> SoftTrackRecorder {
        let vertices: usize = scene.bodies.iter().map(|body| body.surface.len()).sum();
        let affordable = MOST_NUMBERS / (3 * vertices.max(1)) as f64;
        SoftTrackRecorder {
            surfaces: scene.bodies.iter().map(|body| body.surface.clone()).collect(),
            decimals: drawing.decimals(),
            pace: Pace::new(span, affordable.clamp(FEWEST_FRAMES, MOST_FRAMES)),
            track: Track::new(name, role),
            pending: None,
            impulses: scene.bodies.iter().map(|body| vec![[0.0; 3]; body.position.len()]).collect(),
        }
    }

    /// Adds a frame: where the bodies are after a step, and the impulses of its contacts.
    pub fn frame(&mut self, time: f64, states: &[SoftState]) {
        let numbers = |state: &SoftState| state.position.iter().flatten().all(|x| x.is_finite());
        if !(time.is_finite() && states.iter().all(numbers)) {
            return;
        }
        for (sums, state) in self.impulses.iter_mut().zip(states) {
            for (sum, impulse) in sums.iter_mut().zip(&state.impulse) {
                (0..3).for_each(|k| sum[k] += impulse[k]);
            }
        }
        if self.pace.is_due(time) {
            self.keep(time, states);
        } else if let Some((at, pending)) = &mut self.pending {
            *at = time;
            pending.clone_from_slice(states);
        } else {
            self.pending = Some((time, states.to_vec()));
        }
    }

    /// The track, with the last frame.
    pub fn finish(mut self) -> Track {
        if let Some((time, states)) = self.pending.take() {
            self.keep(time, &states);
        }
        self.track
    }

    fn keep(&mut self, time: f64, states: &[SoftState]) {
        self.pending = None;
        let elapsed = self.pace.elapsed(time);
        let decimals = self.decimals;
        let written = |nodes: &Vec<usize>, state: &SoftState| -> Vec<f64> {
            let places = nodes.iter().flat_map(|&node| state.position[node]);
            places.map(|x| rounded(x, decimals)).collect()
        };
        let all = self.surfaces.iter().zip(states);
        self.track.surfaces.push(all.map(|(nodes, state)| written(nodes, state)).collect());
        let mut forces = Vec::new();
        for (sums, state) in self.impulses.iter_mut().zip(states) {
            for (sum, &point) in sums.iter_mut().zip(&state.position) {
                // What acts before the first frame has no duration.
                let force = sum.map(|p| p / elapsed);
                if force.iter().all(|x| x.is_finite()) && force != [0.0; 3] {
                    forces.push(arrow((point, decimals), force));
                }
                *sum = [0.0; 3];
            }
        }
        let time = self.pace.keep(time);
        self.track.times.push(rounded(time, self.pace.decimals));
        self.track.poses.push(Vec::new());
        self.track.forces.push(forces);
    }
}
