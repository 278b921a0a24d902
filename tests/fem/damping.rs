//! Damped penalties against the closed form of a mass that bounces (`restitution.json`, `Geilinger20` (22)).

use stiction::ad::{Dual, Real};
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, ContactStep, History, Momentum, SolidParameters, StepSolver, Turning, VertexContact,
    VertexLaw,
};

use super::numbers::{json, number};
use crate::cases::count;

/// Out over in, of a stiff tetrahedron that falls flat on its four vertices' planes: each vertex has a plane of its own, at
/// its own height, so that it stays as it is.
fn bounce(bdf: Bdf, mass: f64, stiffness: f64, damping: f64, steps: f64, phase: f64) -> f64 {
    let x = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
    let elements = Elements::new(&x, &[[0, 1, 2, 3]]).unwrap();
    let volume = 0.1 * 0.1 * 0.1 / 6.0;
    let material = SolidMaterial { lame_lambda: 0.0, lame_mu: 1e3, viscosity: 0.0 };
    let parameters = SolidParameters { material, density: mass / volume, gravity: [0.0; 3] };
    let contacts: Vec<VertexContact> = (0..4)
        .map(|node| VertexContact {
            node,
            normal: [0.0, 0.0, 1.0],
            offset: x[node][2],
            friction: 0.0,
            stiffness: stiffness / 4.0,
            damping: damping / 4.0,
            ..VertexContact::default()
        })
        .collect();
    let dt = std::f64::consts::PI * (mass / stiffness).sqrt() / steps;
    // A part of a step before it touches.
    let start = x.map(|x| [x[0], x[1], x[2] + dt * (3.0 + phase)]).to_vec();
    let mut history = History::start(start, vec![[0.0, 0.0, -1.0]; 4], dt);
    let mut step = ContactStep::start_by(VertexLaw::PenaltyLinear, history.v.clone());
    let mut solver = StepSolver::default();
    for _ in 0..(3.0 * steps) as usize + 20 {
        let predicted = bdf.predict(dt, &history);
        let momentum = Momentum::of_step(&elements, parameters, &predicted);
        solver.solve(&momentum, &contacts, &mut step);
        assert!(step.report.status.is_solved(), "{:?}", step.report);
        history.advance(&predicted, &step.velocity);
    }
    history.v[0][2]
}

#[test]
fn without_friction_nothing_holds_what_does_not_slip() {
    type Scalar = Dual<f64, 1>;
    let zero = Scalar::constant(0.0);
    let contact = VertexContact {
        node: 0,
        normal: [zero, zero, Scalar::constant(1.0)],
        offset: zero,
        surface: [0.0; 3],
        carrier: None,
        is_tie: false,
        turning: Turning::default(),
        friction: zero,
        stiffness: Scalar::constant(1e3),
        damping: zero,
    };
    for law in [VertexLaw::PenaltyLinear, VertexLaw::PenaltyTanh] {
        let v = [Dual::new(0.0, [1.0]), zero, zero];
        let force = contact.penalty_force(law, 0.01, Scalar::constant(-1e-3), &v).unwrap();
        assert_eq!(force.map(|f| f.value), [0.0, 0.0, 1.0]);
        assert_eq!(force.map(|f| f.tangent[0]), [0.0; 3]);
    }
}

#[test]
fn damped_penalties_bounce_as_the_closed_form_says() {
    let Some(file) = json("restitution.json") else { return };
    let phases = count(12, 0.17);
    for row in file["discrete"]["rows"].as_array().unwrap() {
        let of = |name: &str| number(&row[name]);
        let (mass, stiffness, damping) = (of("mass"), of("kn"), of("kd"));
        let mean = |bdf: Bdf, steps: f64| {
            let of =
                |k: usize| bounce(bdf, mass, stiffness, damping, steps, k as f64 / phases as f64);
            (0..phases).map(of).sum::<f64>() / phases as f64
        };
        let found = mean(Bdf::Two, 600.0);
        let expected = of("restitution");
        assert!((found - expected).abs() < 1e-3, "{damping}: {found} {expected}");
        // What the formulas themselves lose is what they lose in another program.
        if phases == 12 {
            for (bdf, name) in [(Bdf::One, "bdf1_60"), (Bdf::Two, "bdf2_60")] {
                let found = mean(bdf, 60.0);
                let expected = number(&row[name][0]);
                assert!((found - expected).abs() < 5e-3, "{damping} {name}: {found} {expected}");
            }
        }
    }
}
