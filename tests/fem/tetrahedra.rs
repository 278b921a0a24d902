//! Single elements against `tetrahedra.json` (mpmath, 60 digits) and against duals.

use serde_json::Value;
use stiction::ad::{Dual, Real, jacobian};
use stiction::fem::{
    Blocks, Elements, SolidMaterial, Tetrahedron, damping, deformation_gradient, dissipation,
    energy, energy_hessian, force, projected_stiffness, stiffness, velocity_gradient,
};
use stiction::linalg::BlockMatrix;

use super::numbers::{error, flat, json, nodes, number};
use crate::random::Random;

struct Case {
    kind: String,
    material: SolidMaterial<f64>,
    shape: Tetrahedron,
    rest: [[f64; 3]; 4],
    x: [[f64; 3]; 4],
    v: [[f64; 3]; 4],
    json: Value,
}

impl Case {
    /// The size of forces to which rounding is relative: at rest all of them cancel.
    fn force_scale(&self) -> f64 {
        let SolidMaterial { lame_lambda, lame_mu, .. } = self.material;
        let gradient = self.shape.gradients.iter().flatten().fold(0.0, |m: f64, b| m.max(b.abs()));
        (lame_lambda + lame_mu) * self.shape.volume * gradient
    }

    fn expected(&self, name: &str) -> Vec<f64> {
        flat(&self.json[name])
    }
}

fn cases() -> Option<Vec<Case>> {
    let file = json("tetrahedra.json")?;
    let four = |value: &Value| -> [[f64; 3]; 4] { nodes(value).try_into().unwrap() };
    let case = |json: &Value| Case {
        kind: json["kind"].as_str().unwrap().to_string(),
        material: SolidMaterial {
            lame_lambda: number(&json["lame_lambda"]),
            lame_mu: number(&json["lame_mu"]),
            viscosity: number(&json["viscosity"]),
        },
        shape: Tetrahedron::new(four(&json["rest"])),
        rest: four(&json["rest"]),
        x: four(&json["x"]),
        v: four(&json["v"]),
        json: json.clone(),
    };
    let cases: Vec<Case> = file["cases"].as_array().unwrap().iter().map(case).collect();
    assert_eq!(cases.len(), 60);
    Some(cases)
}

/// Blocks as a matrix of 12 x 12, row by row.
fn dense(blocks: &Blocks<f64>) -> Vec<f64> {
    let entry = |row: usize, column: usize| blocks[row / 3][column / 3][row % 3][column % 3];
    (0..144).map(|k| entry(k / 12, k % 12)).collect()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[test]
fn energy_and_forces_of_elements_are_those_of_sixty_digits() {
    let Some(cases) = cases() else { return };
    for case in &cases {
        let Case { material, shape, x, v, .. } = case;
        let (kind, tolerance) = (&case.kind, 1e-10);
        let volume = number(&case.json["volume"]);
        assert!((shape.volume / volume - 1.0).abs() < tolerance, "{kind}: volume");
        let scale = case.force_scale();
        let expected: Vec<f64> = case.expected("gradient").iter().map(|x| -x).collect();
        let elastic = force(shape, material, x, None);
        let e = error(elastic.as_flattened(), &expected, scale);
        assert!(e < tolerance, "{kind}: force {e:e}");
        let both = force(shape, material, x, Some(v));
        let viscous = difference(elastic.as_flattened(), both.as_flattened());
        let expected = case.expected("viscous_gradient");
        // Taken from the sum of both, which is what is rounded.
        let e = error(&viscous, &expected, scale);
        assert!(e < tolerance, "{kind}: viscous force {e:e}");
        let stored = (material.lame_mu + material.lame_lambda) * volume;
        let e = error(&[energy(shape, material, x)], &[number(&case.json["energy"])], stored);
        assert!(e < tolerance, "{kind}: energy {e:e}");
        let (f, rate) = (deformation_gradient(shape, x), velocity_gradient(shape, v));
        let power = dissipation(material, &f, &rate) * shape.volume;
        let expected = number(&case.json["dissipation_rate"]);
        let size = rate.iter().flatten().fold(0.0, |sum, x| sum + x * x);
        let e = error(&[power], &[expected], material.viscosity * size * shape.volume);
        assert!(e < tolerance, "{kind}: power {e:e}");
    }
}

#[test]
fn stiffness_and_damping_of_elements_are_those_of_sixty_digits() {
    let Some(cases) = cases() else { return };
    for case in &cases {
        let Case { material, shape, x, v, .. } = case;
        let (kind, tolerance) = (&case.kind, 1e-10);
        let elastic = dense(&stiffness(shape, material, x, None));
        let e = error(&elastic, &case.expected("stiffness"), 0.0);
        assert!(e < tolerance, "{kind}: stiffness {e:e}");
        let viscous = SolidMaterial { lame_lambda: 0.0, lame_mu: 0.0, ..*material };
        let in_x = dense(&stiffness(shape, &viscous, x, Some(v)));
        let e = error(&in_x, &case.expected("viscous_in_x"), 0.0);
        assert!(e < tolerance, "{kind}: viscous in x {e:e}");
        let in_v = dense(&damping(shape, material, x));
        let e = error(&in_v, &case.expected("viscous_in_v"), 0.0);
        assert!(e < tolerance, "{kind}: viscous in v {e:e}");
        let projected = dense(&projected_stiffness(shape, material, x).unwrap());
        let e = error(&projected, &case.expected("stiffness_spd"), 0.0);
        assert!(e < tolerance, "{kind}: projected {e:e}");
        let hessian = energy_hessian(material, &deformation_gradient(shape, x));
        let mut eigenvalues: Vec<f64> = hessian.symmetric_eigenvalues().iter().copied().collect();
        eigenvalues.sort_by(f64::total_cmp);
        let e = error(&eigenvalues, &case.expected("hessian_eigenvalues"), 0.0);
        assert!(e < tolerance, "{kind}: eigenvalues {e:e}");
    }
}

/// Nodes of numbers that differentiate.
fn by_three<T: Real>(x: &[T]) -> [[T; 3]; 4] {
    x.as_chunks::<3>().0.try_into().unwrap()
}

#[test]
fn stiffness_is_the_derivative_of_forces_and_these_of_the_energy() {
    let Some(cases) = cases() else { return };
    type Scalar = Dual<f64, 12>;
    for case in &cases {
        let Case { material, shape, x, v, kind, .. } = case;
        let constant = SolidMaterial {
            lame_lambda: Scalar::constant(material.lame_lambda),
            lame_mu: Scalar::constant(material.lame_mu),
            viscosity: Scalar::constant(material.viscosity),
        };
        let fixed = |x: &[[f64; 3]; 4]| x.map(|x| x.map(Scalar::constant));
        let of_energy = |x: &[Scalar]| vec![energy(shape, &constant, &by_three(x))];
        let (_, gradient) = jacobian::<12>(of_energy, x.as_flattened());
        let forces = force(shape, material, x, None);
        let negative: Vec<f64> = gradient.iter().map(|x| -x).collect();
        let e = error(forces.as_flattened(), &negative, case.force_scale());
        assert!(e < 1e-12, "{kind}: force {e:e}");
        let in_x = |x: &[Scalar]| {
            force(shape, &constant, &by_three(x), Some(&fixed(v))).as_flattened().to_vec()
        };
        let (_, derivative) = jacobian::<12>(in_x, x.as_flattened());
        let expected: Vec<f64> = derivative.transpose().iter().map(|x| -x).collect();
        let found = dense(&stiffness(shape, material, x, Some(v)));
        let e = error(&found, &expected, 0.0);
        assert!(e < 1e-11, "{kind}: stiffness {e:e}");
        let in_v = |v: &[Scalar]| {
            force(shape, &constant, &fixed(x), Some(&by_three(v))).as_flattened().to_vec()
        };
        let (_, derivative) = jacobian::<12>(in_v, v.as_flattened());
        let expected: Vec<f64> = derivative.transpose().iter().map(|x| -x).collect();
        let found = dense(&damping(shape, material, x));
        let e = error(&found, &expected, 0.0);
        assert!(e < 1e-11, "{kind}: damping {e:e}");
    }
}

#[test]
fn matrices_of_elements_stand_where_their_nodes_are() {
    let Some(cases) = cases() else { return };
    for case in &cases {
        let Case { material, kind, .. } = case;
        // Seven of them, apart from each other, all but the first moved a little.
        let mut random = Random(7);
        let (mut rest, mut x, mut v, mut elements) = (vec![], vec![], vec![], vec![]);
        for k in 0..7 {
            elements.push([0, 1, 2, 3].map(|a| 4 * k + a));
            rest.extend(case.rest);
            let size = 1e-3 * if k == 0 { 0.0 } else { case.shape.volume.cbrt() };
            for (x_a, v_a) in case.x.iter().zip(&case.v) {
                let moved = random.vector::<3>(size);
                x.push([0, 1, 2].map(|i| x_a[i] + moved[i]));
                v.push(*v_a);
            }
        }
        let Ok(elements) = Elements::new(&rest, &elements) else { panic!("{kind}: elements") };
        let mut matrix = BlockMatrix::default();
        matrix.start(elements.pattern());
        elements.add_stiffness(material, [0.7, 0.3], &x, &v, &mut matrix);
        let (mut found, mut expected) = (vec![], vec![]);
        for (shape, nodes) in elements.shapes().iter().zip(elements.nodes()) {
            let (x, v) = (nodes.map(|node| x[node]), nodes.map(|node| v[node]));
            let in_x = stiffness(shape, material, &x, Some(&v));
            let in_v = damping(shape, material, &x);
            for k in 0..144 {
                let (a, b, i, j) = (k / 36, k / 9 % 4, k / 3 % 3, k % 3);
                let at = elements.pattern().find(nodes[a], nodes[b]).unwrap();
                found.push(matrix.blocks[at][i][j]);
                expected.push(0.7 * in_x[a][b][i][j] + 0.3 * in_v[a][b][i][j]);
            }
        }
        let e = error(&found, &expected, 0.0);
        assert!(e < 1e-14, "{kind}: {e:e}");
    }
}

#[test]
fn spin_is_not_damped() {
    let Some(cases) = cases() else { return };
    for case in &cases {
        let Case { material, shape, x, .. } = case;
        let spin = [3.0, -2.0, 5.0];
        let v = x.map(|x| {
            let cross = |i: usize, j: usize| spin[i] * x[j] - spin[j] * x[i];
            [cross(1, 2), cross(2, 0), cross(0, 1)]
        });
        let (f, rate) = (deformation_gradient(shape, x), velocity_gradient(shape, &v));
        let size = rate.iter().flatten().fold(0.0, |sum, x| sum + x * x);
        let power = dissipation(material, &f, &rate);
        assert!(power <= 1e-24 * material.viscosity * size * size, "{}: {power:e}", case.kind);
    }
}
