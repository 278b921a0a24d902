//! Bodies at rest against `statics.json`, closed forms and the patch test.

use serde_json::Value;
use stiction::argmin::Status;
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{Momentum, Newton, SolidParameters};
use stiction::linalg::BlockMatrix;
use stiction::model::{CellSplit, TetrahedralMesh};

use super::numbers::{error, flat, json, number};
use crate::shared::shared;

fn bar() -> Option<(TetrahedralMesh, Elements)> {
    let mesh = TetrahedralMesh::load(shared("reference/add/meshes/bar_16x2x2.msh")?).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    Some((mesh, elements))
}

fn parameters(case: &Value) -> SolidParameters<f64> {
    SolidParameters {
        material: SolidMaterial {
            lame_lambda: number(&case["lame_lambda"]),
            lame_mu: number(&case["lame_mu"]),
            viscosity: 0.0,
        },
        density: number(&case["density"]),
        gravity: match &case["gravity"] {
            Value::Null => [0.0; 3],
            gravity => flat(gravity).try_into().unwrap(),
        },
    }
}

/// The nodes of the face x = 0.
fn wall(mesh: &TetrahedralMesh) -> Vec<bool> {
    mesh.nodes.iter().map(|x| x[0].abs() < 1e-12).collect()
}

#[track_caller]
fn rest(momentum: &Momentum<f64>, x: &mut Vec<[f64; 3]>) -> f64 {
    let report = Newton::default().solve(momentum, x);
    assert_eq!(report.status, Status::Solved, "{report:?}");
    report.residual
}

#[test]
fn shapes_of_hanging_and_bending_bars_are_those_of_another_program() {
    let Some(file) = json("statics.json") else { return };
    let Some((mesh, elements)) = bar() else { return };
    for group in ["static_hanging", "static_bending"] {
        for case in file[group]["cases"].as_array().unwrap() {
            let parameters = parameters(case);
            let fixed = wall(&mesh);
            let momentum = Momentum { fixed: &fixed, ..Momentum::at_rest(&elements, parameters) };
            let mut x = mesh.nodes.clone();
            let residual = rest(&momentum, &mut x);
            assert!(residual < 1e-12, "{residual:e}");
            // One case of the file is not at rest: its own residual says so.
            if number(&case["residual"]) > 1e-9 {
                continue;
            }
            let e = error(x.as_flattened(), &flat(&case["x"]), 0.0);
            assert!(e < 1e-9, "{group} {:?}: {e:e}", parameters.material);
        }
    }
}

/// The extension of a bar of unit length ratio that hangs under its weight, lambda = 0.
fn extension(length: f64, load: f64) -> f64 {
    // mu (s - 1/s) = rho g (L - X): the mean of s over the bar less 1, by the closed form of the integral.
    let root = (load * load + 4.0).sqrt();
    let integral = load * load / 4.0 + load * root / 4.0 + (load / 2.0).asinh();
    length * integral / load - length
}

#[test]
fn a_bar_hangs_as_its_closed_form_says_with_errors_of_second_order() {
    let Some(file) = json("statics.json") else { return };
    let rows = file["hanging_bar_lambda_0"]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| number(&row["lame_mu"]) == 2000.0).unwrap();
    let [length, density, mu] = ["length", "density", "lame_mu"].map(|name| number(&row[name]));
    let gravity = number(&row["gravity"]);
    let exact = number(&row["extension"]);
    assert!((extension(length, density * gravity * length / mu) / exact - 1.0).abs() < 1e-14);
    assert!(exact / length > 0.63);
    let mut errors = Vec::new();
    for cells in [4, 8, 16, 32] {
        let size = [length, 0.05, 0.05];
        let mesh = TetrahedralMesh::box_grid(size, [cells, 1, 1], CellSplit::Six).unwrap();
        let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
        let fixed: Vec<bool> = mesh.nodes.iter().map(|x| x[0] < -0.499 * length).collect();
        let material = SolidMaterial { lame_lambda: 0.0, lame_mu: mu, viscosity: 0.0 };
        let parameters = SolidParameters { material, density, gravity: [gravity, 0.0, 0.0] };
        let momentum = Momentum { fixed: &fixed, ..Momentum::at_rest(&elements, parameters) };
        let mut x = mesh.nodes.clone();
        rest(&momentum, &mut x);
        let ends = mesh.nodes.iter().zip(&x).filter(|(node, _)| node[0] > 0.499 * length);
        let moves: Vec<f64> = ends.map(|(node, x)| x[0] - node[0]).collect();
        let mean = moves.iter().sum::<f64>() / moves.len() as f64;
        errors.push((mean - exact).abs() / exact);
    }
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 2.0).abs() < 0.2, "{order} {errors:?}");
    }
    assert!(errors[3] < 3e-4, "{errors:?}");
}

#[test]
fn what_is_stretched_alike_at_its_surface_is_so_inside() {
    let Some(path) = shared("reference/add/meshes/sphere_r25mm_coarse.msh") else { return };
    let mesh = TetrahedralMesh::load(path).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let f = [[1.3, 0.2, -0.1], [0.05, 0.8, 0.15], [-0.2, 0.1, 1.1]];
    let moved = |x: &[f64; 3]| f.map(|row| (0..3).map(|k| row[k] * x[k]).sum::<f64>());
    let material = SolidMaterial { lame_lambda: 3e4, lame_mu: 1e4, viscosity: 0.0 };
    let parameters = SolidParameters { material, density: 1000.0, gravity: [0.0; 3] };
    let mut fixed = vec![false; mesh.nodes.len()];
    mesh.surface_nodes().into_iter().for_each(|node| fixed[node] = true);
    assert!(fixed.iter().filter(|&&fixed| !fixed).count() > 20);
    let momentum = Momentum { fixed: &fixed, ..Momentum::at_rest(&elements, parameters) };
    let expected: Vec<[f64; 3]> = mesh.nodes.iter().map(moved).collect();
    // From places that are moved a little inside.
    let mut random = crate::random::Random(5);
    let mut x = expected.clone();
    for (x, fixed) in x.iter_mut().zip(&fixed) {
        let by = random.vector::<3>(2e-4);
        (0..3).for_each(|k| x[k] += if *fixed { 0.0 } else { by[k] });
    }
    assert!(elements.least_determinant(&x) > 0.0);
    rest(&momentum, &mut x);
    let e = error(x.as_flattened(), expected.as_flattened(), 0.0);
    assert!(e < 1e-12, "{e:e}");
}

#[test]
fn frequencies_are_those_of_another_program() {
    use nalgebra::DMatrix;
    let Some(file) = json("statics.json") else { return };
    let Some((mesh, elements)) = bar() else { return };
    for case in file["modes"]["cases"].as_array().unwrap() {
        let parameters = parameters(case);
        let mut stiffness = BlockMatrix::default();
        let momentum = Momentum::at_rest(&elements, parameters);
        assert!(momentum.tangent(&mesh.nodes, &mesh.nodes, false, &mut stiffness));
        for (name, free) in [
            ("free_frequencies_hz", vec![true; mesh.nodes.len()]),
            ("clamped_frequencies_hz", wall(&mesh).iter().map(|wall| !wall).collect()),
        ] {
            let nodes: Vec<usize> = (0..free.len()).filter(|&node| free[node]).collect();
            let pattern = elements.pattern();
            let entry = |i: usize, j: usize| pattern.find(nodes[i / 3], nodes[j / 3]);
            let n = 3 * nodes.len();
            let k = DMatrix::from_fn(n, n, |i, j| {
                entry(i, j).map_or(0.0, |at| stiffness.blocks[at][i % 3][j % 3])
            });
            let m = DMatrix::from_fn(n, n, |i, j| {
                let mass = |at: usize| parameters.density * elements.unit_mass()[at];
                entry(i, j).filter(|_| i % 3 == j % 3).map_or(0.0, mass)
            });
            // K x = w² M x with M = L L'
            let l = m.cholesky().unwrap().l();
            let half = l.solve_lower_triangular(&k).unwrap();
            let reduced = l.solve_lower_triangular(&half.transpose()).unwrap();
            let squares = (&reduced + reduced.transpose()).scale(0.5).symmetric_eigenvalues();
            let mut squares: Vec<f64> = squares.iter().copied().collect();
            squares.sort_by(f64::total_cmp);
            let rigid = if name.starts_with("free") { 6 } else { 0 };
            let hertz = |square: &f64| square.max(0.0).sqrt() / std::f64::consts::TAU;
            let found: Vec<f64> = squares[rigid..].iter().take(20).map(hertz).collect();
            let expected = flat(&case[name]);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found / expected - 1.0).abs() < 1e-6, "{name}: {found} {expected}");
            }
        }
    }
}

#[test]
fn a_start_inside_out_and_what_nothing_holds_are_said() {
    let mesh = TetrahedralMesh::box_grid([1.0; 3], [2, 2, 2], CellSplit::Five).unwrap();
    let elements = Elements::new(&mesh.nodes, &mesh.tetrahedra).unwrap();
    let material = SolidMaterial { lame_lambda: 1e3, lame_mu: 1e3, viscosity: 0.0 };
    let parameters = SolidParameters { material, density: 1000.0, gravity: [0.0, 0.0, -9.81] };
    let momentum = Momentum::at_rest(&elements, parameters);
    let mut x = mesh.nodes.clone();
    let report = Newton::default().solve(&momentum, &mut x);
    assert!(!report.status.is_solved(), "{report:?}");
    let mut mirrored: Vec<[f64; 3]> = mesh.nodes.iter().map(|x| [-x[0], x[1], x[2]]).collect();
    let report = Newton::default().solve(&momentum, &mut mirrored);
    assert_eq!(report.status, Status::InvalidInput);
    let mut nan = vec![[f64::NAN; 3]; mesh.nodes.len()];
    assert_eq!(Newton::default().solve(&momentum, &mut nan).status, Status::InvalidInput);
}

#[test]
fn materials_by_young_and_poisson_are_checked() {
    let soft = SolidMaterial::from_young(2e4, 0.25);
    // lambda = E nu / ((1 + nu)(1 - 2 nu)), mu = E / (2 (1 + nu))
    assert!((soft.lame_lambda - 8e3).abs() < 1e-9);
    assert!((soft.lame_mu - 8e3).abs() < 1e-9);
    assert!((soft.poisson_ratio() - 0.25).abs() < 1e-15);
    assert!(soft.check().is_ok());
    let sound = SolidMaterial { lame_lambda: 1.0, lame_mu: 1.0, viscosity: 0.0 };
    for (material, expected) in [
        (SolidMaterial::from_young(2e4, 0.5), "lame_lambda must not be negative (Pa), found inf"),
        (SolidMaterial::from_young(2e4, 0.6), "lame_lambda must not be negative (Pa)"),
        (SolidMaterial::from_young(-2e4, 0.2), "lame_mu must be positive (Pa), found -"),
        (SolidMaterial { lame_mu: f64::NAN, ..sound }, "lame_mu must be positive (Pa), found NaN"),
        (SolidMaterial { viscosity: -1.0, ..sound }, "viscosity must not be negative (Pa s)"),
    ] {
        let error = material.check().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
