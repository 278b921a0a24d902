//! Recorded pieces of motion, all of the same number of points in time.

use std::fmt;

use crate::maximal::{PointImpact, PointSystem};

/// What is wrong with recorded pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkError(pub String);

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChunkError {}

/// Pieces of motion: `count` x `times` x 2 (positions, velocities) x `coordinates`, the last index running fastest (m, m/s).
#[derive(Clone, Debug, PartialEq)]
pub struct Chunks {
    count: usize,
    times: usize,
    coordinates: usize,
    values: Vec<f64>,
}

impl Chunks {
    /// Pieces of `times` points in time of a system with so many coordinates.
    ///
    /// # Errors
    /// If there are none, they are of other sizes, or hold what is not finite: says where.
    pub fn new(times: usize, coordinates: usize, values: Vec<f64>) -> Result<Chunks, ChunkError> {
        let size = times * 2 * coordinates;
        if times < 2 {
            return Err(ChunkError(format!("a piece needs two points in time, found {times}")));
        }
        if size == 0 || values.is_empty() || !values.len().is_multiple_of(size) {
            let message = format!(
                "{} numbers are no pieces of {times} points in time, positions and velocities of {coordinates} coordinates",
                values.len()
            );
            return Err(ChunkError(message));
        }
        if let Some(k) = values.iter().position(|x| !x.is_finite()) {
            let (chunk, time) = (k / size, k % size / (2 * coordinates));
            return Err(ChunkError(format!("piece {chunk}, point in time {time}: {}", values[k])));
        }
        Ok(Chunks { count: values.len() / size, times, coordinates, values })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Points in time of each.
    pub fn times(&self) -> usize {
        self.times
    }

    /// Numbers of a position.
    pub fn coordinates(&self) -> usize {
        self.coordinates
    }

    /// Piece `k`: a state a point in time, positions then velocities.
    pub fn chunk(&self, k: usize) -> &[f64] {
        let size = self.times * 2 * self.coordinates;
        &self.values[k * size..][..size]
    }

    /// Whether these are pieces of a system's motion: of its coordinates, on its constraints to `tolerance` (relative, see
    /// [`PointSystem::violation`]); and in how many something touches after the first point in time.
    ///
    /// # Errors
    /// Says which piece is off, and by how much.
    pub fn check(&self, system: &PointSystem, tolerance: f64) -> Result<usize, ChunkError> {
        if self.coordinates != system.coordinates() {
            let message = format!(
                "pieces have {} coordinates, the system {}",
                self.coordinates,
                system.coordinates()
            );
            return Err(ChunkError(message));
        }
        let mut touching = 0;
        let mut impact = PointImpact::<f64>::default();
        for k in 0..self.count {
            let mut touches = false;
            for (time, state) in self.chunk(k).chunks_exact(2 * self.coordinates).enumerate() {
                let (x, v) = state.split_at(self.coordinates);
                let (phi, rate) = system.violation(x, v);
                if !(phi <= tolerance && rate <= tolerance) {
                    let message = format!(
                        "piece {k}, point in time {time} is not on the constraints: positions are off by {phi:.1e} of the lengths, velocities by {rate:.1e} of theirs"
                    );
                    return Err(ChunkError(message));
                }
                touches |= time > 0 && impact.detect(system, x);
            }
            touching += usize::from(touches);
        }
        Ok(touching)
    }

    /// For each surface of the system in how many pieces it touches after the first point in time: friction and restitution are seen in
    /// no others.
    pub fn touching(&self, system: &PointSystem) -> Vec<usize> {
        let mut counts = vec![0; system.surfaces()];
        let mut impact = PointImpact::<f64>::default();
        for k in 0..self.count {
            let mut touched = vec![false; system.surfaces()];
            for state in self.chunk(k).chunks_exact(2 * self.coordinates).skip(1) {
                impact.detect(system, &state[..self.coordinates]);
                for &contact in &impact.active {
                    touched[system.contacts()[contact].surface] = true;
                }
            }
            counts
                .iter_mut()
                .zip(touched)
                .for_each(|(count, touched)| *count += usize::from(touched));
        }
        counts
    }

    /// All numbers.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}
