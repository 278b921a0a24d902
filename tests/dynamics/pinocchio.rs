//! Against Pinocchio: `tests/reference/dynamics`.

use nalgebra::Vector3;
use stiction::dynamics::{
    BlockDiagonal, Crba, ForwardDynamicsDerivatives, Kinematics, MassMatrix, Rnea, bias,
    forward_dynamics_derivatives, inverse_dynamics_derivatives, mass_matrix, regressor,
};
use stiction::state::State;

use super::models::{described, file, numbers};
use super::{accelerations_of, assert_close, forces_of};

const TOLERANCE: f64 = 1e-10;

fn dense(matrix: &BlockDiagonal<f64>, n: usize) -> Vec<f64> {
    let mut out = vec![f64::NAN; n * n];
    matrix.dense(&mut out);
    out
}

fn check(name: &str) {
    let file = file(&format!("dynamics/{name}.json"));
    let scene = described(&file["model"]);
    let (model, parameters) = (&scene.model, &scene.parameters);
    let n = model.nv();
    for answers in file["states"].as_array().unwrap() {
        let close = |found: &[f64], what: &str| {
            assert_close(found, &numbers(&answers[what]), TOLERANCE, &format!("{name} {what}"));
        };
        let state = State { q: numbers(&answers["q"]), v: numbers(&answers["v"]) };
        let (vdot, tau) = (numbers(&answers["vdot"]), numbers(&answers["tau"]));
        let kinematics = Kinematics::new(model, parameters, &state);

        let mut matrix = MassMatrix::default();
        mass_matrix(model, parameters, &kinematics, &mut Crba::default(), &mut matrix);
        let mut entries = vec![f64::NAN; n * n];
        matrix.dense(&mut entries);
        close(&entries, "mass_matrix");
        let mut blocks = BlockDiagonal::default();
        matrix.blocks(model, &mut blocks);
        close(&dense(&blocks, n), "mass_matrix");
        let mut momentum = vec![f64::NAN; n];
        matrix.multiply(&state.v, &mut momentum);
        let energy: f64 = momentum.iter().zip(&state.v).map(|(p, v)| 0.5 * p * v).sum();
        close(&[energy], "kinetic_energy");

        let mut forces = vec![f64::NAN; n];
        bias(parameters, &kinematics, &mut Rnea::default(), &mut forces);
        close(&forces, "bias");
        close(&forces_of(model, parameters, &state, &vdot), "rnea");
        let acceleration = accelerations_of(model, parameters, &state, &tau);
        close(&acceleration, "aba");

        let mut forward = ForwardDynamicsDerivatives::default();
        forward_dynamics_derivatives(
            model,
            parameters,
            &kinematics,
            &acceleration,
            None,
            &mut forward,
        )
        .unwrap();
        close(&dense(&forward.dq, n), "aba_q");
        close(&dense(&forward.dv, n), "aba_v");
        close(&dense(&forward.dforces, n), "aba_tau");
        let inverse = &mut forward.inverse;
        inverse_dynamics_derivatives(model, parameters, &kinematics, &vdot, inverse);
        close(&dense(&inverse.dq, n), "rnea_q");
        close(&dense(&inverse.dv, n), "rnea_v");
        inverse.mass_matrix.dense(&mut entries);
        close(&entries, "mass_matrix");

        let mut y = vec![f64::NAN; n * 10 * model.bodies.len()];
        regressor(parameters, &kinematics, &vdot, &mut Vec::new(), &mut y);
        close(&y, "rnea_inertial");

        close(&[kinematics.potential_energy(parameters)], "potential_energy");
        close(kinematics.center_of_mass().as_slice(), "center_of_mass");
        let mut jacobian = vec![f64::NAN; 3 * n];
        kinematics.center_of_mass_jacobian(&mut jacobian);
        close(&jacobian, "center_of_mass_q");

        for place in answers["places"].as_array().unwrap() {
            let body = model.bodies.iter().position(|b| place["body"] == *b.name).unwrap();
            let close = |found: &[f64], what: &str| {
                assert_close(found, &numbers(&place[what]), TOLERANCE, &format!("{name} {what}"));
            };
            let position = kinematics.point(body, &Vector3::zeros());
            close(position.as_slice(), "position");
            close(kinematics.bodies[body].rotation.transpose().as_slice(), "rotation");
            let mut jacobian = vec![f64::NAN; 6 * n];
            kinematics.jacobian(body, &position, &mut jacobian);
            close(&jacobian[..3 * n], "linear");
            close(&jacobian[3 * n..], "angular");
        }
    }
}

#[test]
fn arm_and_quadruped() {
    check("arm7");
    check("quad12");
}

#[test]
fn random_trees() {
    for k in 1..=12 {
        check(&format!("tree{k:02}"));
    }
}
