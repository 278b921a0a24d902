//! Noise on recordings of a chain [Zhong21, S.6]: normal, on the angles of its links (rad) and on their rates (rad/s).

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use stiction::learn::Chunks;
use stiction::maximal::{PointConstraint, PointSystem};

use crate::Failure;

/// The place a chain hangs from, and the lengths of its links.
fn chain(system: &PointSystem) -> Option<([f64; 2], Vec<f64>)> {
    let mut anchor = None;
    let mut lengths = vec![None; system.points()];
    for constraint in system.constraints() {
        match constraint {
            PointConstraint::Tether { point: 0, anchor: [x, y, _], length } => {
                anchor = Some([*x, *y]);
                lengths[0] = Some(*length);
            }
            PointConstraint::Rod { points: [i, j], length } if *j == i + 1 => {
                lengths[*j] = Some(*length);
            }
            _ => return None,
        }
    }
    let lengths: Option<Vec<f64>> = lengths.into_iter().collect();
    anchor.zip(lengths).filter(|_| system.dimension() == 2)
}

/// Pieces with noise of this size.
pub fn add(system: &PointSystem, chunks: &Chunks, size: f64, seed: u64) -> Result<Chunks, Failure> {
    let (anchor, lengths) =
        chain(system).ok_or("--noise: is of the angles of a chain, CP3 or CP3-e")?;
    let noise = Normal::new(0.0, size).ok().filter(|_| size >= 0.0);
    let noise =
        noise.ok_or_else(|| format!("--noise: must not be negative, found {size} (rad)"))?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(200);
    let half = chunks.coordinates();
    let mut values = Vec::with_capacity(chunks.values().len());
    for state in chunks.values().chunks_exact(2 * half) {
        let (x, v) = state.split_at(half);
        let noisy = state_with(anchor, &lengths, x, v, &mut || noise.sample(&mut random));
        values.extend(noisy);
    }
    Ok(Chunks::new(chunks.times(), half, values)?)
}

/// A state whose links are turned, and turn, by so much more.
fn state_with(
    anchor: [f64; 2],
    lengths: &[f64],
    x: &[f64],
    v: &[f64],
    noise: &mut dyn FnMut() -> f64,
) -> Vec<f64> {
    let (mut from, mut moving) = (anchor, [0.0; 2]);
    let (mut place, mut velocity) = (anchor, [0.0; 2]);
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    for ((&length, x), v) in lengths.iter().zip(x.chunks_exact(2)).zip(v.chunks_exact(2)) {
        // From straight down.
        let angle = (x[0] - from[0]).atan2(from[1] - x[1]);
        let rate = ((v[0] - moving[0]) * angle.cos() + (v[1] - moving[1]) * angle.sin()) / length;
        (from, moving) = ([x[0], x[1]], [v[0], v[1]]);
        let (angle, rate) = (angle + noise(), rate + noise());
        let (sin, cos) = angle.sin_cos();
        place = [place[0] + length * sin, place[1] - length * cos];
        velocity = [velocity[0] + rate * length * cos, velocity[1] + rate * length * sin];
        positions.extend(place);
        velocities.extend(velocity);
    }
    [positions, velocities].concat()
}
