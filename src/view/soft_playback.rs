//! Motions of soft bodies to be played: their surfaces and markers over time, with the forces of their contacts.

use nalgebra::Vector3;

use super::appearance::Appearance;
use super::contact_forces::{ContactForces, arrow};
use super::drawing::{
    Drawing, DrawnGround, DrawnShape, DrawnSoftBody, Surface, moving_bodies, rounded,
};
use super::pace::{MOST_FRAMES, Pace};
use super::playback::{Role, Track, poses};
use crate::contact::ContactRecord;
use crate::dynamics::Kinematics;
use crate::markers::MarkerRecording;
use crate::model::{Scene, Triangulation};
use crate::soft::{SoftBody, SoftCable, SoftObstacle, SoftScene, SoftState};
use crate::state::State;

/// Numbers in a page at most, about 16 MB: of large meshes fewer frames are kept,
const MOST_NUMBERS: f64 = 2e6;
/// of which a vertex of a surface has three for its place, and one that is pushed six more; not all are at once.
const NUMBERS: usize = 6;
/// but at least so many.
const FEWEST_FRAMES: f64 = 30.0;

/// Points of a frame that are drawn at most.
const MOST_POINTS: usize = 400;

/// How far what stands for a marker reaches, relative to the size of what is drawn.
const MARKER: f64 = 0.06;

impl Drawing {
    /// The drawing of a scene of soft bodies. Their markers, which stand in the place of rigid bodies, behind those there are, are small
    /// octahedra.
    pub fn of_soft_bodies(scene: &SoftScene) -> Drawing {
        // What soft bodies touch is drawn once.
        let (mut drawing, obstacles): (Drawing, &[SoftObstacle]) = match &scene.rigid {
            Some(own) => {
                let looks = Appearance::read(&own.model);
                (Drawing::new(&own.model, &own.parameters, &looks), &[])
            }
            None => {
                let grounds = scene.grounds.iter().map(|ground| DrawnGround {
                    name: ground.name.clone(),
                    normal: ground.normal,
                    offset: ground.offset,
                });
                let grounds = grounds.collect();
                (Drawing { grounds, ..Drawing::default() }, &scene.obstacles)
            }
        };
        let reach = |body: &SoftBody| {
            let centre = body.mean(&body.position);
            let from_centre = |x: &[f64; 3]| distance(*x, centre);
            body.position.iter().map(from_centre).fold(0.0, f64::max)
        };
        let size = scene.bodies.iter().map(reach).fold(0.0, f64::max);
        let marker = Surface::of(octahedron(MARKER * size));
        let named = |body: &SoftBody| -> Vec<String> {
            body.markers.iter().map(|marker| format!("{}/{}", body.name, marker.name)).collect()
        };
        let first = drawing.bodies.len();
        let mut bodies: Vec<String> = scene.bodies.iter().flat_map(named).collect();
        let markers = bodies.len();
        bodies.extend(obstacles.iter().filter(|own| own.is_led()).map(|own| own.name.clone()));
        let shape = |(k, name): (usize, &String)| DrawnShape {
            name: name.clone(),
            body: Some(first + k),
            surface: marker.rounded(),
            round: false,
            color: None,
            covered: false,
        };
        // Shapes that move stand after the markers.
        let mut next = first + markers;
        let fixed = |obstacle: &SoftObstacle| {
            let SoftObstacle { name, shape, size, pose, .. } = obstacle;
            let place = if obstacle.is_led() { Vector3::zeros() } else { pose.position };
            let surface = Surface::of(shape.surface(*size)).placed(&pose.rotation, &place);
            let (name, surface) = (name.clone(), surface.rounded());
            let round = shape.is_round();
            let body = obstacle.is_led().then(|| {
                next += 1;
                next - 1
            });
            DrawnShape { name, body, surface, round, color: None, covered: false }
        };
        let shapes = bodies[..markers].iter().enumerate().map(shape);
        drawing.shapes.extend(shapes.chain(obstacles.iter().map(fixed)));
        drawing.bodies.append(&mut bodies);
        drawing.soft = scene.bodies.iter().map(surface).collect();
        drawing.size = drawing.size.max(size);
        drawing
    }
}

fn octahedron(reach: f64) -> Triangulation {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
    let vertices = axes.into_iter().chain([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]);
    let around = (0..4).map(|k| (k, (k + 1) % 4));
    Triangulation {
        vertices: vertices.map(|v| Vector3::from(v) * reach).collect(),
        triangles: around.flat_map(|(a, b)| [[a, b, 4], [b, a, 5]]).collect(),
    }
}

/// The pose of a marker, as a body that does not turn.
fn marker_pose(place: [f64; 3], decimals: i32) -> [f64; 7] {
    let [x, y, z] = place.map(|x| rounded(x, decimals));
    [x, y, z, 1.0, 0.0, 0.0, 0.0]
}

/// Where markers or points of a surface were seen, to be played beside a motion; of many frames as many as playing takes. A marker
/// that was not seen in a frame is on the line between where it was before and after, or where it was last or first; one that never
/// was is left at the origin. Of large clouds of points evenly chosen ones are kept.
pub fn recorded_markers(
    scene: &SoftScene,
    drawing: &Drawing,
    recording: &MarkerRecording,
) -> Track {
    let MarkerRecording { name, times, places, clouds, .. } = recording;
    let seen_points = clouds.iter().any(|cloud| !cloud.is_empty());
    let mut track = Track::new(name, Role::Recording);
    let ends = [times.first(), times.last()].map(|time| time.copied().unwrap_or(0.0));
    let mut pace = Pace::new(ends, MOST_FRAMES);
    let seen = |marker: usize| -> Vec<(f64, [f64; 3])> {
        let frames = times.iter().zip(places);
        frames.filter_map(|(&time, places)| Some((time, (*places.get(marker)?)?))).collect()
    };
    let moving: Vec<&SoftObstacle> = scene.obstacles.iter().filter(|own| own.is_led()).collect();
    // Where rigid bodies went is not drawn again: they are seen where they start.
    let start = scene.rigid.as_deref().map(|own| RigidFrames::new(own, drawing.decimals()));
    let start = start.map_or_else(Vec::new, |mut own| own.poses());
    let markers = drawing.bodies.len().saturating_sub(moving.len() + start.len() / 7);
    let seen: Vec<_> = (0..markers).map(seen).collect();
    for (frame, &time) in times.iter().enumerate() {
        if !pace.is_due(time) && frame + 1 < times.len() {
            continue;
        }
        let markers = seen.iter().map(|seen| place_at(time, seen).unwrap_or_default());
        let poses = markers.chain(moving.iter().map(|own| own.place_at(time - ends[0])));
        let poses = poses.flat_map(|place| marker_pose(place, drawing.decimals()));
        track.poses.push(start.iter().copied().chain(poses).collect());
        let time = pace.keep(time);
        track.times.push(rounded(time, pace.decimals));
        track.forces.push(Vec::new());
        if !seen_points {
            continue;
        }
        let cloud = clouds.get(frame).map_or(&[][..], Vec::as_slice);
        let kept = cloud.iter().step_by(cloud.len().div_ceil(MOST_POINTS).max(1)).flatten();
        track.points.push(kept.map(|&x| rounded(x, drawing.decimals())).collect());
    }
    track
}

/// Where a marker is at a time, by where it was seen.
fn place_at(time: f64, seen: &[(f64, [f64; 3])]) -> Option<[f64; 3]> {
    let next = seen.partition_point(|(other, _)| *other < time);
    let before = next.checked_sub(1).and_then(|before| seen.get(before));
    match (before, seen.get(next)) {
        (Some((t0, x0)), Some((t1, x1))) => {
            let part = (time - t0) / (t1 - t0);
            Some([0, 1, 2].map(|k| x0[k] + part * (x1[k] - x0[k])))
        }
        (before, after) => after.or(before).map(|(_, place)| *place),
    }
}

fn distance(x: [f64; 3], y: [f64; 3]) -> f64 {
    [0, 1, 2].map(|k| (x[k] - y[k]).powi(2)).iter().sum::<f64>().sqrt()
}

/// The triangles of the surface of a body, by the place of their nodes among those of the surface.
fn surface(body: &SoftBody) -> DrawnSoftBody {
    let triangles = body.surface_triangles().into_iter().flatten().collect();
    DrawnSoftBody { name: body.name.clone(), triangles }
}

/// Makes a [`Track`] of a motion of soft bodies as it is simulated; of many frames it keeps as many as playing takes.
pub struct SoftTrackRecorder {
    /// The nodes of the surface of each body, and of its markers.
    surfaces: Vec<Vec<usize>>,
    markers: Vec<Vec<usize>>,
    cables: Vec<Vec<SoftCable>>,
    /// The shapes that move.
    moving: Vec<SoftObstacle>,
    rigid: Option<RigidFrames>,
    decimals: i32,
    pace: Pace,
    track: Track,
    /// The last frame, if it was not kept.
    pending: Option<(f64, Vec<SoftState>, Option<State<f64>>)>,
    /// Of each body the impulses at all nodes since the last frame kept (N s).
    impulses: Vec<Vec<[f64; 3]>>,
}

impl SoftTrackRecorder {
    /// Starts a track of a simulation from `begin` to `end` (s), one of so many in a page.
    pub fn new(
        scene: &SoftScene,
        drawing: &Drawing,
        span: [f64; 2],
        tracks: usize,
    ) -> SoftTrackRecorder {
        let vertices: usize = scene.bodies.iter().map(|body| body.surface.len()).sum();
        let lines = scene.bodies.iter().flat_map(|body| &body.cables);
        let points: usize = lines.map(|own| own.cable.points.len()).sum();
        let numbers = NUMBERS * vertices.max(1) + 3 * points;
        let affordable = MOST_NUMBERS / (numbers * tracks.max(1)) as f64;
        let markers = |body: &SoftBody| body.markers.iter().map(|marker| marker.node).collect();
        SoftTrackRecorder {
            surfaces: scene.bodies.iter().map(|body| body.surface.clone()).collect(),
            markers: scene.bodies.iter().map(markers).collect(),
            cables: scene.bodies.iter().map(|body| body.cables.clone()).collect(),
            moving: scene.obstacles.iter().filter(|own| own.is_led()).cloned().collect(),
            rigid: scene.rigid.as_deref().map(|own| RigidFrames::new(own, drawing.decimals())),
            decimals: drawing.decimals(),
            pace: Pace::new(span, affordable.clamp(FEWEST_FRAMES, MOST_FRAMES)),
            track: Track::new("simulation", Role::Simulation),
            pending: None,
            impulses: scene.bodies.iter().map(|body| vec![[0.0; 3]; body.position.len()]).collect(),
        }
    }

    /// Says where the rigid bodies are in the next frame, and what their contacts did in the step that led there.
    pub fn beside<'a>(
        &mut self,
        state: &State<f64>,
        contacts: impl Iterator<Item = &'a ContactRecord>,
    ) {
        if let Some(rigid) = &mut self.rigid {
            rigid.state.clone_from(state);
            rigid.forces.add(&rigid.scene.model, &rigid.scene.parameters, contacts);
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
            return;
        }
        let rigid = self.rigid.as_ref().map(|rigid| &rigid.state);
        if let Some((at, pending, beside)) = &mut self.pending {
            *at = time;
            pending.clone_from_slice(states);
            *beside = rigid.cloned();
        } else {
            self.pending = Some((time, states.to_vec(), rigid.cloned()));
        }
    }

    /// The track, with the last frame.
    pub fn finish(mut self) -> Track {
        if let Some((time, states, beside)) = self.pending.take() {
            if let (Some(rigid), Some(state)) = (&mut self.rigid, beside) {
                rigid.state = state;
            }
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
        if self.cables.iter().any(|own| !own.is_empty()) {
            let all = self.cables.iter().zip(states);
            let line = |own: &SoftCable, state: &SoftState| -> Vec<f64> {
                own.cable.places(&state.position).flatten().map(|x| rounded(x, decimals)).collect()
            };
            let lines =
                all.flat_map(|(own, state)| own.iter().map(move |cable| line(cable, state)));
            self.track.cables.push(lines.collect());
        }
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
        let markers = self.markers.iter().zip(states);
        let places = markers.flat_map(|(nodes, state)| nodes.iter().map(|&k| state.position[k]));
        let moved = self.moving.iter().map(|own| own.place_at(time));
        let mut poses = self.rigid.as_mut().map_or_else(Vec::new, RigidFrames::poses);
        poses.extend(places.chain(moved).flat_map(|place| marker_pose(place, decimals)));
        self.track.poses.push(poses);
        if let Some(rigid) = &mut self.rigid {
            forces.extend(rigid.forces.take(&rigid.kinematics, elapsed, decimals));
        }
        let time = self.pace.keep(time);
        self.track.times.push(rounded(time, self.pace.decimals));
        self.track.forces.push(forces);
    }
}

/// The rigid bodies beside soft ones.
struct RigidFrames {
    scene: Scene,
    bodies: Vec<usize>,
    decimals: i32,
    state: State<f64>,
    kinematics: Kinematics<f64>,
    forces: ContactForces,
}

impl RigidFrames {
    fn new(scene: &Scene, decimals: i32) -> Self {
        RigidFrames {
            bodies: moving_bodies(&scene.model),
            decimals,
            state: scene.state.clone(),
            kinematics: Kinematics::default(),
            forces: ContactForces::default(),
            scene: scene.clone(),
        }
    }

    /// Where they are.
    fn poses(&mut self) -> Vec<f64> {
        self.kinematics.update(&self.scene.model, &self.scene.parameters, &self.state);
        poses(&self.kinematics, &self.bodies, self.decimals)
    }
}
