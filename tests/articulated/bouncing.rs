//! Rigid bodies that bounce on contacts that give, by implicit steps: `Geilinger20` 5.2, (22) and Fig. 6.

use std::f64::consts::PI;

use stiction::model::Scene;
use stiction::simulation::Rollout;

use super::{parse, rollout};
use crate::cases::count;

const GRAVITY: f64 = 9.81;

/// A ball of 1 kg on a point of stiffness kn (N/m) and damping kd (N s/m), a part of a step before it touches: out over in.
fn bounce(integrator: &str, [kn, kd]: [f64; 2], steps: f64, phase: f64) -> f64 {
    let time_step = PI / kn.sqrt() / steps;
    let scene = parse(&format!(
        "gravity = [0, 0, 0]\nsimulation = {{ time_step = {time_step:?}, integrator = '{integrator}' }}
         [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]
         [[body]]\nname = 'ball'\nmass = 1\nshape = {{ sphere = 0.5 }}
         position = [0, 0, {:?}]\nvelocity = [0, 0, -1]
         [[contact]]\nmu = 0\nsoftness = {:?}\ndamping_time = {:?}",
        0.5 + time_step * (3.0 + phase),
        1.0 / kn,
        kd / kn,
    ));
    let mut rollout = rollout(&scene);
    rollout.advance((2.0 * steps) as usize + 20, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    rollout.state.v[2]
}

/// Of a spring and a damper that push until they would pull: at the time t with kn x + kd x' = 0.
fn closed_form([kn, kd]: [f64; 2]) -> f64 {
    let decay = 0.5 * kd;
    let frequency = (kn - decay * decay).sqrt();
    let angle = PI - (2.0 * decay * frequency).atan2(frequency * frequency - decay * decay);
    (-decay / frequency * angle).exp()
}

#[test]
fn bounces_as_the_closed_form_says() {
    let phases = count(12, 0.25);
    for kd in [0.0, 1.0, 4.0, 12.0] {
        let law = [1000.0, kd];
        let mean = |integrator: &str, steps: f64| {
            let of = |k: usize| bounce(integrator, law, steps, k as f64 / phases as f64);
            (0..phases).map(of).sum::<f64>() / phases as f64
        };
        let (expected, found) = (closed_form(law), mean("bdf2", 600.0));
        assert!((found - expected).abs() < 1e-3, "{kd}: {found} {expected}");
        if kd == 0.0 {
            // What the formulas themselves lose, as an ideal spring shows it.
            for (integrator, steps, least, most) in [
                ("bdf2", 6.0, 0.92, 0.98),
                ("bdf2", 20.0, 0.995, 1.0),
                ("bdf2", 60.0, 0.9995, 1.0),
                ("bdf1", 6.0, 0.44, 0.47),
                ("bdf1", 20.0, 0.775, 0.79),
                ("bdf1", 60.0, 0.915, 0.925),
            ] {
                let found = mean(integrator, steps);
                println!("{integrator}, {steps} steps: {found}");
                assert!((least..most).contains(&found), "{integrator}, {steps}: {found}");
            }
        }
    }
}

/// A cube of this mass on its edge over the floor, each of whose points gives and damps.
fn cube(mass: f64, [kn, kd]: [f64; 2]) -> Scene {
    let (s, c) = (PI / 8.0).sin_cos();
    parse(&format!(
        "simulation = {{ time_step = {:?}, integrator = 'bdf2' }}
         [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]
         [[body]]\nname = 'cube'\nmass = {mass}\nshape = {{ box = [0.5, 0.5, 0.5] }}
         position = [0, 0, 1.7]\norientation = [{c:?}, {s:?}, 0, 0]
         [[contact]]\nmu = 0.5\nsoftness = {:?}\ndamping_time = {:?}",
        1.0 / 60.0,
        1.0 / kn,
        kd / kn,
    ))
}

/// Kinetic energy, that of the height over the floor and of what is pressed in; and how far the cube has turned.
fn energy(scene: &Scene, rollout: &Rollout<f64>, kn: f64) -> (f64, f64) {
    let mass = scene.parameters.mass(&scene.model, 0);
    let (q, v) = (&rollout.state.q, &rollout.state.v);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let depth = (q[2] - 0.5 * 2.0_f64.sqrt()).min(0.0);
    // An edge of two points.
    let pressed = kn * depth * depth;
    let kinetic = 0.5 * mass * (square(&v[..3]) + square(&v[3..]) / 6.0);
    (kinetic + mass * GRAVITY * (q[2] - 0.5 * 2.0_f64.sqrt()) + pressed, q[4])
}

/// Fig. 6: the energy of cubes on an edge for several kd, at dt = 1/60.
#[test]
fn damping_takes_energy_at_each_bounce() {
    let (s, _) = (PI / 8.0).sin_cos();
    let mut before = f64::INFINITY;
    // Half a period pi sqrt(m / 2 kn) is 20 steps.
    let (mass, kn) = (22.5, 1000.0);
    for kd in [0.0, 0.5, 1.0, 2.0, 4.0] {
        let scene = cube(mass, [kn, kd]);
        let mut rollout = rollout(&scene);
        let (start, _) = energy(&scene, &rollout, kn);
        for step in 0..600 {
            rollout.step(&scene.inputs);
            let (_, turned) = energy(&scene, &rollout, kn);
            assert!((turned - s).abs() < 1e-9, "{kd}, {step}: symmetry is kept, {turned}");
        }
        assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
        let left = energy(&scene, &rollout, kn).0 / start;
        println!("kd = {kd}: {left:.3} of the energy is left after 10 s");
        assert!(left < before, "{kd}: {left} {before}");
        before = left;
        if kd == 0.0 {
            assert!(left > 0.9, "numerical damping: {left}");
        }
    }
    assert!(before < 0.2, "{before}");
}
