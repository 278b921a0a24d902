//! The signed distance from a surface, against that of boxes.

use stiction::internals::signed_distance;

use crate::random::Random;

/// An L of two boxes side by side, 1 high: its plan, and its surface as triangles.
fn corner() -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let plan = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let at = |z: f64| plan.iter().map(move |[x, y]| [*x, *y, z]);
    let vertices: Vec<[f64; 3]> = at(0.0).chain(at(1.0)).collect();
    let mut triangles = Vec::new();
    // The plan is seen whole from its inner corner.
    for k in [4, 5, 0, 1] {
        let (a, b) = (k, (k + 1) % 6);
        triangles.extend([[3, b, a], [9, a + 6, b + 6]]);
    }
    for a in 0..6 {
        let b = (a + 1) % 6;
        triangles.extend([[a, b, b + 6], [a, b + 6, a + 6]]);
    }
    (vertices, triangles)
}

/// The corners of a box with sides along the axes.
type Corners = [[f64; 3]; 2];

/// The rectangles of that surface, which are boxes of no thickness, and its two boxes.
fn boxes() -> (Vec<Corners>, [Corners; 2]) {
    let mut faces = Vec::new();
    for z in [0.0, 1.0] {
        faces.extend([[[0.0, 0.0, z], [2.0, 1.0, z]], [[0.0, 1.0, z], [1.0, 2.0, z]]]);
    }
    for ([x, y], [u, v]) in [
        ([0.0, 0.0], [2.0, 0.0]),
        ([2.0, 0.0], [2.0, 1.0]),
        ([1.0, 1.0], [2.0, 1.0]),
        ([1.0, 1.0], [1.0, 2.0]),
        ([0.0, 2.0], [1.0, 2.0]),
        ([0.0, 0.0], [0.0, 2.0]),
    ] {
        faces.push([[x, y, 0.0], [u, v, 1.0]]);
    }
    (faces, [[[0.0, 0.0, 0.0], [2.0, 1.0, 1.0]], [[0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]])
}

#[test]
fn it_is_that_of_rectangles_inside_and_outside() {
    let (vertices, triangles) = corner();
    let (faces, solids) = boxes();
    let mut random = Random(1);
    let (mut inside, mut at_edges) = (0, 0);
    for _ in 0..3000 {
        let point =
            [random.uniform(-1.0, 3.0), random.uniform(-1.0, 3.0), random.uniform(-1.0, 2.0)];
        let away =
            |[low, high]: &Corners| [0, 1, 2].map(|k| point[k] - point[k].clamp(low[k], high[k]));
        let size = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let nearest = faces.iter().map(away).min_by(|a, b| size(*a).total_cmp(&size(*b))).unwrap();
        let is_inside = solids.iter().any(|solid| size(away(solid)) == 0.0);
        inside += usize::from(is_inside);
        at_edges += usize::from(nearest.iter().filter(|x| **x != 0.0).count() > 1);
        let sign = if is_inside { -1.0 } else { 1.0 };
        let (distance, outward) = signed_distance(&vertices, &triangles, point).unwrap();
        assert!((distance - sign * size(nearest)).abs() < 1e-12, "{point:?}: {distance}");
        for k in 0..3 {
            assert!(
                (outward[k] - sign * nearest[k] / size(nearest)).abs() < 1e-9,
                "{point:?}: {outward:?}"
            );
        }
    }
    assert!(inside > 100 && at_edges > 500, "{inside} {at_edges}");
    // On the surface, and at edges and corners of it, the direction is still outward.
    for (point, towards) in [
        ([0.5, 0.5, 1.0], [0.0, 0.0, 1.0]),
        ([2.0, 0.5, 1.0], [1.0, 0.0, 1.0]),
        ([0.0, 0.0, 0.0], [-1.0, -1.0, -1.0]),
        // Along the edge that goes in.
        ([1.0, 1.0, 0.5], [1.0, 1.0, 0.0]),
    ] {
        let (distance, outward) = signed_distance(&vertices, &triangles, point).unwrap();
        let length = towards.iter().map(|x: &f64| x * x).sum::<f64>().sqrt();
        assert!(distance.abs() < 1e-15, "{point:?}: {distance}");
        assert!(
            (0..3).all(|k| (outward[k] - towards[k] / length).abs() < 1e-9),
            "{point:?}: {outward:?}"
        );
    }
}

/// A corner with many thin triangles on one side of it: outside is told by their angles, not by how many they are.
#[test]
fn sharp_corners_have_an_outside() {
    // A pyramid, one of whose sides is cut into slivers from its tip, which is flat: a tip of obtuse and acute sides.
    let slivers = 30;
    let base = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let mut vertices: Vec<[f64; 3]> = base.to_vec();
    vertices.push([3.0, 0.0, 0.4]);
    let first = vertices.len();
    for k in 1..slivers {
        let part = f64::from(k) / f64::from(slivers);
        vertices.push([1.0, -1.0 + 2.0 * part, 0.0]);
    }
    let ring: Vec<usize> =
        std::iter::once(1).chain(first..vertices.len()).chain(std::iter::once(2)).collect();
    let mut triangles = vec![[0, 1, 4], [2, 3, 4], [3, 0, 4]];
    for pair in ring.windows(2) {
        triangles.push([pair[0], pair[1], 4]);
    }
    // The base, fanned from a far corner.
    let bottom: Vec<usize> = [1].into_iter().chain(first..vertices.len()).chain([2, 3]).collect();
    for pair in bottom.windows(2) {
        triangles.push([0, pair[1], pair[0]]);
    }
    let mut random = Random(2);
    for _ in 0..500 {
        let away = random.vector::<3>(0.5);
        let point = [3.0 + away[0].abs(), away[1], 0.4 + away[2]];
        let (distance, _) = signed_distance(&vertices, &triangles, point).unwrap();
        // All is at x up to 3.
        assert!(distance > 0.0, "{point:?}: {distance}");
    }
    assert!(signed_distance(&vertices, &triangles, [0.0, 0.0, 0.05]).unwrap().0 < 0.0);
    assert!(signed_distance(&vertices, &[], [0.0, 0.0, 0.0]).is_none());
    vertices[0][0] = f64::NAN;
    assert!(signed_distance(&vertices, &triangles, [0.0, 0.0, 0.0]).is_none());
}
