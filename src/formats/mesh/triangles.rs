//! Points and triangles, whatever file they are from.

use std::collections::HashMap;
use std::sync::Arc;

use nalgebra::Vector3;

use crate::Error;
use crate::model::{Color, HullError, Polyhedron, Triangulation};

/// Corners of one mesh, and as many triangles.
pub(super) const MOST_POINTS: usize = 5_000_000;

/// Parts of one mesh that have colours of their own.
const MOST_PARTS: usize = 100;

/// Corners of one face.
pub(super) const MOST_CORNERS: usize = 10_000;

/// Points and the triangles between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// The points, in units of the file.
    pub points: Vec<[f64; 3]>,
    /// Three points each, counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
    /// From which triangle on they have which colour, in their order; those before have none.
    pub colors: Vec<(usize, Option<Color>)>,
}

impl Mesh {
    /// The convex hull of its points.
    pub(in crate::formats) fn hull(&self) -> Result<Polyhedron, HullError> {
        let points: Vec<Vector3<f64>> = self.points.iter().copied().map(Vector3::from).collect();
        Polyhedron::hull(&points)
    }

    /// The colour of the triangles that are added from now on.
    pub(super) fn paint(&mut self, color: Option<Color>) {
        self.colors.push((self.triangles.len(), color));
    }

    /// Its surface, scaled along the axes; one that is mirrored keeps its outside.
    pub(in crate::formats) fn surface(&self, scale: [f64; 3]) -> Triangulation {
        let mirrored = scale.iter().product::<f64>() < 0.0;
        let scale = Vector3::from(scale);
        let vertices = self.points.iter().map(|&point| Vector3::from(point).component_mul(&scale));
        let turned = |&[a, b, c]: &[usize; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        let triangles = self.triangles.iter().map(turned).collect();
        Triangulation { vertices: vertices.collect(), triangles }
    }

    /// Its surface, part by part of one colour.
    pub fn parts(&self, scale: [f64; 3]) -> Vec<(Triangulation, Option<Color>)> {
        let whole = self.surface(scale);
        let ends = self.colors.iter().map(|&(from, _)| from).chain([whole.triangles.len()]);
        let before = self.colors.first().map_or(whole.triangles.len(), |&(from, _)| from);
        let colors = self.colors.iter().map(|&(from, color)| (from, color));
        let mut parts: Vec<(Option<Color>, Vec<[usize; 3]>)> =
            vec![(None, whole.triangles[..before].to_vec())];
        let mut places = HashMap::from([(None, 0)]);
        for ((from, color), end) in colors.zip(ends.skip(1)) {
            // What has one colour is one part; of very many the last have none.
            let key =
                color.filter(|_| parts.len() < MOST_PARTS).map(|color| color.map(f64::to_bits));
            let place = *places.entry(key).or_insert_with(|| {
                parts.push((color, Vec::new()));
                parts.len() - 1
            });
            parts[place].1.extend_from_slice(&whole.triangles[from..end.max(from)]);
        }
        parts.retain(|(_, triangles)| !triangles.is_empty());
        let made = parts.into_iter().map(|(color, triangles)| {
            let mut places = HashMap::new();
            let mut vertices = Vec::new();
            let mut place = |corner: usize| {
                *places.entry(corner).or_insert_with(|| {
                    vertices.push(whole.vertices[corner]);
                    vertices.len() - 1
                })
            };
            let triangles = triangles.into_iter().map(|t| t.map(&mut place)).collect();
            (Triangulation { vertices, triangles }, color)
        });
        made.collect()
    }

    /// Adds a convex face as a fan; without triangles that have a corner twice.
    pub(super) fn add_face(&mut self, face: &[usize]) -> Result<(), String> {
        match face {
            [first, others @ ..] if others.len() > 1 => {
                let fan = others.windows(2).map(|pair| [*first, pair[0], pair[1]]);
                self.triangles.extend(fan.filter(|[a, b, c]| a != b && b != c && a != c));
                Ok(())
            }
            _ => Err("a face must have three corners or more".into()),
        }
    }

    /// With each point once, where corners were listed triangle by triangle.
    pub(super) fn welded(corners: &[[f64; 3]]) -> Mesh {
        let mut places = HashMap::with_capacity(corners.len() / 4);
        let mut points = Vec::new();
        let mut place = |point: &[f64; 3]| {
            // + 0 makes -0 the same as 0.
            let key = point.map(|x| (x + 0.0).to_bits());
            *places.entry(key).or_insert_with(|| {
                points.push(*point);
                points.len() - 1
            })
        };
        let triangles = corners.chunks_exact(3).map(|c| [place(&c[0]), place(&c[1]), place(&c[2])]);
        let triangles = triangles.filter(|[a, b, c]| a != b && b != c && a != c).collect();
        Mesh { points, triangles, ..Mesh::default() }
    }
}

impl From<&Polyhedron> for Mesh {
    fn from(polyhedron: &Polyhedron) -> Mesh {
        let mut triangles = Vec::new();
        for face in 0..polyhedron.faces().len() {
            if let [first, others @ ..] = polyhedron.corners(face) {
                triangles.extend(others.windows(2).map(|side| [*first, side[0], side[1]]));
            }
        }
        let points = polyhedron.vertices().iter().map(|&vertex| vertex.into()).collect();
        Mesh { points, triangles, ..Mesh::default() }
    }
}

/// A hull, its scale along the axes, and whether it was mirrored: scales of shapes are positive, so that one
/// that is mirrored has a hull of its own.
pub(in crate::formats) fn scaled(
    hull: Arc<Polyhedron>,
    scale: [f64; 3],
) -> Result<(Arc<Polyhedron>, [f64; 3], bool), HullError> {
    if scale.iter().all(|&x| x > 0.0) {
        return Ok((hull, scale, false));
    }
    let factors = Vector3::from(scale);
    let points: Vec<_> = hull.vertices().iter().map(|v| v.component_mul(&factors)).collect();
    Ok((Arc::new(Polyhedron::hull(&points)?), [1.0; 3], true))
}

/// An error unless there are few enough.
pub(super) fn check_count(count: usize, name: &str, line: Option<usize>) -> Result<(), Error> {
    match count > MOST_POINTS {
        true => {
            let message = format!("has more than {MOST_POINTS} points or triangles");
            Err(Error::input(name, line, "", message))
        }
        false => Ok(()),
    }
}
