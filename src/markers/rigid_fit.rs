//! How a body starts, from the first frames of its markers or of points of its surface: as a rigid one, in free fall or held up.

use nalgebra::{DMatrix, Matrix3, UnitQuaternion, Vector3};

use super::closest_point::Surface;
use super::marker_recording::MarkerRecording;
use super::surface_tracker::SurfaceTracker;
use crate::soft::{SoftBody, SoftStart};

/// Frames that tell of velocities.
const FRAMES: usize = 12;

/// The start that the first frames tell of; none where no frame shows three markers apart, or enough of the surface, or fewer than
/// two do.
pub(super) fn rigid_start(
    body: &SoftBody,
    recording: &MarkerRecording,
    time_step: f64,
) -> Option<SoftStart> {
    // The centre of mass is what flies along a parabola.
    let centre = Vector3::from(body.mean(&body.mesh.nodes));
    let at_rest = |node: usize| Vector3::from(body.mesh.nodes[node]) - centre;
    let rest: Vec<Vector3<f64>> = body.markers.iter().map(|own| at_rest(own.node)).collect();
    let vertices: Vec<[f64; 3]> = body.surface.iter().map(|&node| at_rest(node).into()).collect();
    let surface = Surface::of(body);
    let mut tracker = SurfaceTracker::new((body, centre), surface.at(&vertices)?, time_step);
    let poses: Vec<(f64, UnitQuaternion<f64>, Vector3<f64>)> = (recording.times.iter().enumerate())
        .filter_map(|(frame, time)| {
            let time = time - recording.times[0];
            let cloud = recording.clouds.get(frame).map_or(&[][..], Vec::as_slice);
            let markers = recording.places.get(frame).map_or(&[][..], Vec::as_slice);
            let (turn, place) = match cloud {
                [] => pose(&rest, markers)?,
                _ => tracker.pose(time, cloud)?,
            };
            Some((time, turn, place))
        })
        .take(FRAMES)
        .collect();
    let (first, turn, _) = *poses.first()?;
    let last = poses.last()?;
    if last.0 <= first {
        return None;
    }
    let gravity = Vector3::from(body.parameters.gravity);
    // x + v t + g t²/2 through the places, and theta + omega t through the turns since the first.
    let line = |values: &dyn Fn(usize) -> Vector3<f64>| -> Option<[Vector3<f64>; 2]> {
        let basis = DMatrix::from_fn(poses.len(), 2, |i, j| poses[i].0.powi(j as i32));
        let svd = basis.svd(true, true);
        let b = DMatrix::from_fn(poses.len(), 3, |i, axis| values(i)[axis]);
        let x = svd.solve(&b, 1e-12).ok()?;
        Some([0, 1].map(|row| Vector3::from_fn(|axis, _| x[(row, axis)])))
    };
    // It falls, or, if that is clearly nearer, is held up.
    let mut best: Option<(f64, [Vector3<f64>; 2])> = None;
    for pull in [gravity, Vector3::zeros()] {
        let fallen = |i: usize| pull * (0.5 * poses[i].0 * poses[i].0);
        let found @ [place, velocity] = line(&|i| poses[i].2 - fallen(i))?;
        let off =
            |i: usize| (place + velocity * poses[i].0 + fallen(i) - poses[i].2).norm_squared();
        let left = (0..poses.len()).map(off).sum::<f64>();
        if best.is_none_or(|(least, _)| poses.len() > 2 && left < 0.5 * least) {
            best = Some((left, found));
        }
    }
    let (_, [place, velocity]) = best?;
    // Turns since the first, added up from frame to frame, so that fast spin is not taken for slow spin the other way.
    let mut turns = vec![Vector3::zeros()];
    for pair in poses.windows(2) {
        let between = (pair[1].1 * pair[0].1.inverse()).scaled_axis();
        turns.push(turns[turns.len() - 1] + between);
    }
    let [offset, spin] = line(&|i| turns[i])?;
    let turn = UnitQuaternion::from_scaled_axis(offset) * turn;
    let spin = turn.inverse() * spin;
    // Of the origin of the mesh.
    let (place, velocity) = (place - turn * centre, velocity - turn * spin.cross(&centre));
    let numbers = place.iter().chain(&velocity).chain(&spin).all(|x| x.is_finite());
    numbers.then(|| SoftStart {
        position: place.into(),
        orientation: [turn.w, turn.i, turn.j, turn.k],
        velocity: velocity.into(),
        angular_velocity: spin.into(),
    })
}

/// A point at rest, and where it was seen.
type Seen = (Vector3<f64>, Vector3<f64>);

/// The turn and place that bring points at rest nearest to where they were seen (`Kabsch76`).
fn pose(
    rest: &[Vector3<f64>],
    frame: &[Option<[f64; 3]>],
) -> Option<(UnitQuaternion<f64>, Vector3<f64>)> {
    let seen: Vec<Seen> = (rest.iter().zip(frame))
        .filter_map(|(rest, place)| place.map(|place| (*rest, Vector3::from(place))))
        .collect();
    let count = seen.len() as f64;
    let mean = |of: fn(&Seen) -> Vector3<f64>| {
        seen.iter().fold(Vector3::zeros(), |sum, pair| sum + of(pair)) / count
    };
    if seen.len() < 3 {
        return None;
    }
    let (rest, place) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let covariance = seen
        .iter()
        .fold(Matrix3::zeros(), |sum, (a, b)| sum + (b - place) * (a - rest).transpose());
    let svd = covariance.svd(true, true);
    let (u, v) = (svd.u?, svd.v_t?);
    // Markers on a line leave a turn open.
    if svd.singular_values[1] <= 1e-9 * svd.singular_values[0] {
        return None;
    }
    let mirror = if (u * v).determinant() < 0.0 { -1.0 } else { 1.0 };
    let matrix = u * Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, mirror)) * v;
    let turn = UnitQuaternion::from_matrix(&matrix);
    Some((turn, place - turn * rest))
}
