//! Sensors of the forces of contacts: plates, feet, pairs.

use std::fmt::Write;

use approx::assert_relative_eq;
use nalgebra::{DVector, Vector3};
use stiction::dynamics::{Kinematics, Rnea, inverse_dynamics};
use stiction::identify::{LeastSquares, Problem, fit, traces};
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::spatial::rotation_matrix;
use stiction::state::State;

use super::load;
use crate::fixtures::scenes::scene;

const STEP: f64 = 0.005;

/// A box that slides along x, turned by a quarter about z.
fn sliding(mass: f64, mu: f64) -> String {
    format!(
        "[simulation]\ntime_step = {STEP}\ncompliance = 0\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'box'\nmass = {mass}\n\
         shape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\norientation = [0.7071067811865476, 0, 0, 0.7071067811865476]\n\
         velocity = [3, 0, 0]\n[[contact]]\nmu = {mu}\n"
    )
}

/// All three are the closed form of what slides, and tell mass and friction, which poses alone do not.
#[test]
fn what_slides_presses_by_its_weight() {
    let (mass, mu, g) = (2.0, 0.3, 9.81);
    let mut text =
        String::from("t,px,vx,plate/x,plate/y,plate/z,foot/x,foot/y,foot/z,pair/x,pair/y,pair/z\n");
    for k in 0..=80 {
        let t = f64::from(k) * STEP;
        // q+ = q + dt v+
        let x = 3.0 * t - 0.5 * mu * g * t * (t + STEP);
        let (drag, weight) = (mu * mass * g, mass * g);
        // On the floor; on the box along its axes; on the box in the world.
        let v = 3.0 - mu * g * t;
        let readings = format!("{drag},0,{},0,{drag},{weight},{},0,{weight}", -weight, -drag);
        writeln!(text, "{t},{x},{v},{readings}").unwrap();
    }
    let tables = "[columns]\n'box/*' = false\n'box/px' = 'px'\n'box/vx' = 'vx'\n\
        [[sensor]]\nname = 'plate'\ncontact_force = 'floor'\nnoise = 0.1\n\
        [[sensor]]\nname = 'foot'\ncontact_force = 'box'\nnoise = 0.1\n\
        [[sensor]]\nname = 'pair'\ncontact_force = 'floor-box'\nnoise = 0.1\n\
        [[parameter]]\nname = 'box/mass'\nstart = 0.5\nlower = 0.1\nupper = 10\n\
        [[parameter]]\nname = 'floor-box/mu'\nstart = 0.6\nlower = 0.05\nupper = 1\n";
    let (experiment, dataset) = load("plate", &sliding(0.5, 0.6), &text, tables).unwrap();
    let mut problem = Problem::new(&experiment, &dataset, 1);
    // Of 81 frames the first, where the simulation starts, is not compared.
    assert_eq!(problem.residual_count(), 80 + 80 * 9);
    let cost = problem.cost(&[mass.ln(), mu]);
    assert!(cost < 1e-12, "{cost}");
    let found = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert_relative_eq!(found.parameters[0].value, mass, max_relative = 1e-8);
    assert_relative_eq!(found.parameters[1].value, mu, max_relative = 1e-8);
    // Without them nothing shows the mass.
    let parameters = &tables[tables.find("[[parameter]]").unwrap()..];
    let alone =
        format!("[columns]\n'box/*' = false\n'box/px' = 'px'\n'box/vx' = 'vx'\n{parameters}");
    let (experiment, dataset) = load("no-plate", &sliding(0.5, 0.6), &text, &alone).unwrap();
    let found = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    assert!(!found.parameters[0].observable && found.parameters[1].observable);
}

/// A box that is thrown onto the floor at an angle.
fn thrown(more: &str) -> String {
    format!(
        "[simulation]\ntime_step = {STEP}\n{more}[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'box'\nmass = 0.7\n\
         shape = {{ box = [0.1, 0.07, 0.05] }}\nposition = [0, 0, 0.32]\norientation = [0.9165151389911681, 0.2, 0.3, 0.17320508075688772]\n\
         velocity = [1.2, 0.3, 0.1]\nangular_velocity = [2, -3, 1]\n[[contact]]\nmu = 0.35\nrestitution = 0.5\n"
    )
}

/// What a scene does, as a recording of poses, with no readings.
fn recorded(text: &str, steps: usize) -> (Scene, Vec<State<f64>>, String) {
    let scene = scene(text);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut states = vec![scene.state.clone()];
    for _ in 0..steps {
        rollout.step(&scene.inputs);
        states.push(rollout.state.clone());
    }
    assert_eq!(rollout.report.unsolved, 0);
    let mut file = String::from("t,px,py,pz,qw,qx,qy,qz,f/x,f/y,f/z,b/x,b/y,b/z\n");
    for (k, state) in states.iter().enumerate() {
        let row: Vec<String> = state.q.iter().map(f64::to_string).collect();
        writeln!(file, "{},{},,,,,,", k as f64 * STEP, row.join(",")).unwrap();
    }
    (scene, states, file)
}

/// What contacts do over a motion is what its momentum gains beyond its weight, whether or not steps are split at impacts, and the
/// same on the body, along its axes.
#[test]
fn forces_are_what_momentum_gains() {
    for more in ["", "split_impacts = true\n", "restitution_law = 'poisson'\n", "# grain"] {
        let mut text = thrown(more.trim_start_matches('#').trim_start_matches(" grain"));
        if more == "# grain" {
            text = text.replace(
                "[[contact]]\n",
                "[[contact]]\npair = 'floor-box'\nmu_across = 0.7\ngrain = [0.8, 0.6, 0]\n",
            );
        }
        let (scene, states, file) = recorded(&text, 100);
        let tables = "[[sensor]]\nname = 'f'\ncontact_force = 'floor-box'\nnoise = 1\n\
             [[sensor]]\nname = 'b'\ncontact_force = 'box'\nnoise = 1\n\
             [[parameter]]\nname = 'box/mass'\nstart = 0.7\n";
        let (experiment, dataset) = load("momentum", &text, &file, tables).unwrap();
        let parameters = &experiment.scene.parameters;
        let (_, groups) = traces(&experiment, &dataset, parameters, 0, &scene.state);
        let of = |name: &str| {
            let group = groups.iter().find(|group| group.name == name).unwrap();
            let read = |k: usize| -> [f64; 3] {
                std::array::from_fn(|axis| group.traces[axis].simulated[k])
            };
            (0..=100).map(read).collect::<Vec<[f64; 3]>>()
        };
        let (world, body) = (of("f"), of("b"));
        // From flight to flight: in no step but these and those between anything acts.
        let flies = |k: &usize| Vector3::from(world[*k]).norm() == 0.0;
        let last = (1..=100).rev().find(flies).unwrap();
        assert!(flies(&1) && last > 60, "{more}: {last}");
        let mut sum = Vector3::zeros();
        let mut most = 0.0_f64;
        for k in 1..last {
            let force = Vector3::from(world[k]);
            let q = &states[k].q;
            let turn = rotation_matrix([q[3], q[4], q[5], q[6]]);
            assert_relative_eq!(turn * Vector3::from(body[k]), force, epsilon = 1e-10);
            sum += force * STEP;
            most = most.max(force.norm());
        }
        assert!(most > 20.0, "{more}: it struck nothing");
        let v = |k: usize| Vector3::from_column_slice(&states[k].v[..3]);
        let gain = (v(last) - v(1) + Vector3::z() * 9.81 * (last as f64 - 1.0) * STEP) * 0.7;
        assert_relative_eq!(sum, gain, epsilon = 1e-9 * gain.norm());
    }
}

/// What slides along the floor into a wall is carried by the floor on both sides of the impact, at which the step is split.
#[test]
fn what_rests_is_carried_up_to_an_impact() {
    let text = format!(
        "[simulation]\ntime_step = {STEP}\nsplit_impacts = true\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
         [[half_space]]\nname = 'wall'\nnormal = [-1, 0, 0]\noffset = -0.5\n[[body]]\nname = 'box'\nmass = 2\n\
         shape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\nvelocity = [2, 0, 0]\n\
         [[contact]]\npair = 'floor-box'\nmu = 0.2\n[[contact]]\npair = 'wall-box'\nmu = 0\nrestitution = 0.8\n"
    );
    let (scene, states, file) = recorded(&text, 60);
    // It comes back.
    assert!(states[60].v[0] < -1.0);
    let file = file.replace("f/x,f/y,f/z,b/x,b/y,b/z", "f/x,f/y,f/z,w/x,w/y,w/z");
    let tables = "[[sensor]]\nname = 'f'\ncontact_force = 'floor-box'\nnoise = 1\n\
        [[sensor]]\nname = 'w'\ncontact_force = 'wall-box'\nnoise = 1\n\
        [[parameter]]\nname = 'box/mass'\nstart = 2\n";
    let (experiment, dataset) = load("carried", &text, &file, tables).unwrap();
    let (_, groups) = traces(&experiment, &dataset, &experiment.scene.parameters, 0, &scene.state);
    let of = |name: &str, k: usize| {
        let group = groups.iter().find(|group| group.name == name).unwrap();
        Vector3::from_fn(|axis, _| group.traces[axis].simulated[k])
    };
    let struck = (0..60).filter(|&k| of("w", k).x != 0.0).count();
    assert_eq!(struck, 1);
    let carried: f64 = (0..60).map(|k| of("f", k).z * STEP).sum();
    assert_relative_eq!(carried, 60.0 * STEP * 2.0 * 9.81, max_relative = 1e-9);
    // Along the wall's normal: what the floor drags and the wall throws is what it gains, from half a step before the start, of which the
    // velocity there is, to the end, of which that of what an impact has thrown is.
    let along: f64 = (0..60).map(|k| (of("f", k).x + of("w", k).x) * STEP).sum();
    let before = -0.2 * 2.0 * 9.81 * (STEP / 2.0);
    assert_relative_eq!(along + before, 2.0 * (states[60].v[0] - 2.0), max_relative = 1e-9);
}

/// Something that presses a plate now more and now less: a reading is of its time, to second order in the step.
#[test]
fn readings_are_of_their_time() {
    let pressed = |t: f64| 6.0 * (9.0 * t).sin();
    let errors = [0.02, 0.01, 0.005].map(|step: f64| {
        let text = format!(
            "[simulation]\ntime_step = {step}\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'box'\n\
             mass = 2\nshape = {{ box = [0.1, 0.1, 0.05] }}\nposition = [0, 0, 0.05]\n[[contact]]\nmu = 0.3\n"
        );
        let mut file = String::from("t,pz,push,f/x,f/y,f/z\n");
        for k in 0..=(0.6 / step).round() as usize {
            let t = k as f64 * step;
            writeln!(file, "{t},0.05,{},0,0,{}", -pressed(t), 2.0 * 9.81 + pressed(t)).unwrap();
        }
        // The last step goes on beyond the last frame.
        writeln!(file, "{},,{},,,", 0.6 + step, -pressed(0.6 + step)).unwrap();
        let tables = "[columns]\n'box/*' = false\n'box/pz' = 'pz'\n'box/fz' = { column = 'push', between = 'linear' }\n\
            [[sensor]]\nname = 'f'\ncontact_force = 'box'\nnoise = 1\n[[parameter]]\nname = 'floor-box/mu'\nstart = 0.3\n";
        let (experiment, dataset) = load(&format!("pressed-{step}"), &text, &file, tables).unwrap();
        let mut problem = Problem::new(&experiment, &dataset, 1);
        (2.0 * problem.cost(&[0.3]) / problem.residual_count() as f64).sqrt()
    });
    for pair in errors.windows(2) {
        assert!((3.5..4.5).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

/// An arm on a hinge with all that a joint can have, driven to its stop and back; what passes through the hinge is what the
/// link needs, by the equation of motion of the link alone.
#[test]
fn joints_hand_on_what_their_bodies_need() {
    const DRIVEN: &str = "[simulation]\ntime_step = 0.005\nINTEGRATOR\n[[body]]\nname = 'arm'\nposition = [0, 0, 1]\nmass = 0.8\n\
        center_of_mass = [0, 0, -0.2]\ninertia = [0.01, 0.01, 0.01]\n\
        joint = { type = 'revolute', axis = [0, 1, 0], damping = 0.05, friction = 0.1, armature = 0.02, stiffness = 0.3, limits = [-0.7, 0.9], q = 0.4 }\n\
        [[actuator]]\nname = 'servo'\njoint = 'arm'\ntype = 'position'\nkp = 6\nkd = 0.3\n";
    for integrator in ["", "integrator = 'implicit'"] {
        let text = DRIVEN.replace("INTEGRATOR", integrator);
        let scene = scene(&text);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let target = |k: usize| 1.8 * (5.0 * STEP * k as f64).sin();
        let mut states = vec![scene.state.clone()];
        let mut inputs = scene.inputs.clone();
        for k in 0..201 {
            inputs[1] = target(k);
            rollout.step(&inputs);
            states.push(rollout.state.clone());
        }
        assert_eq!(rollout.report.unsolved, 0);
        let mut file = String::from("t,arm/q,arm/v,servo/u,load\n");
        let mut stopped = 0;
        for k in 0..=200_usize {
            let (q, v) = (states[k].q[0], states[k].v[0]);
            // About the hinge: 0.01 + 0.8 * 0.2².
            let needs = 0.042 * (states[k + 1].v[0] - v) / STEP + 0.8 * 9.81 * 0.2 * q.sin();
            stopped += usize::from(!(-0.7 + 1e-9..=0.9 - 1e-9).contains(&q));
            writeln!(file, "{},{q},{v},{},{needs}", STEP * k as f64, target(k)).unwrap();
        }
        assert!(stopped > 20, "{stopped}");
        let tables = "[[sensor]]\nname = 'cell'\njoint_load = 'arm'\ncolumns = ['load']\nnoise = 0.01\n\
            [[parameter]]\nname = 'arm/mass'\nstart = 0.8\ntransform = 'none'\n[[parameter]]\nname = 'arm/friction'\nstart = 0.1\ntransform = 'none'\n";
        let (experiment, dataset) = load("joint-load", &text, &file, tables).unwrap();
        let mut problem = Problem::new(&experiment, &dataset, 1);
        assert_eq!(problem.residual_count(), 200 * 2);
        let cost = problem.cost(&[0.8, 0.1]);
        assert!(cost < 1e-12, "{integrator}: {cost}");
        // And its derivatives, away from where that is least.
        let x = [0.7, 0.13];
        problem.linearize(&x);
        let (_, slopes) = problem.normal_equations();
        for k in 0..2 {
            let mut moved = |by: f64| {
                let mut x = x;
                x[k] += by;
                problem.cost(&x)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert_relative_eq!(slope, slopes[k], max_relative = 1e-5);
        }
    }
}

/// Derivatives of readings are those of differences, and the same by duals and by the tape: in masses, friction, restitution, and when a
/// sensor reads.
#[test]
fn derivatives_are_differences() {
    for more in ["", "split_impacts = true\n"] {
        let text = thrown(more);
        let (_, _, file) = recorded(&text, 60);
        // Something to be compared with.
        let mut rows = file.lines();
        let mut read = format!("{}\n", rows.next().unwrap());
        for (k, row) in rows.enumerate() {
            let row = row.trim_end_matches(',');
            let at = |phase: f64| 3.0 * (0.2 * k as f64 + phase).sin();
            let readings: Vec<String> = (0..6).map(|c| at(f64::from(c)).to_string()).collect();
            writeln!(read, "{row},{}", readings.join(",")).unwrap();
        }
        let tables = "[[sensor]]\nname = 'f'\ncontact_force = 'floor'\nnoise = 3\n\
            [[sensor]]\nname = 'b'\ncontact_force = 'box'\norientation = [0.5, 0.5, -0.5, 0.5]\nnoise = 2\ndelay = 0.0011\n\
            [[parameter]]\nname = 'b/delay'\nstart = 0.0011\nlower = 0\nupper = 0.003\ntransform = 'none'\n\
            [[parameter]]\nname = 'floor-box/mu'\nstart = 0.35\n\
            [[parameter]]\nname = 'floor-box/restitution'\nstart = 0.5\n\
            [[parameter]]\nname = 'box/half_extents/x'\nstart = 0.1\ntransform = 'none'\n\
            [[parameter]]\nname = 'box/mass'\nstart = 0.7\ntransform = 'none'\n";
        let (experiment, dataset) = load("derivatives", &text, &read, tables).unwrap();
        let mut problem = Problem::new(&experiment, &dataset, 1);
        let x = [0.0011, 0.35, 0.5, 0.1, 0.7];
        problem.linearize(&x);
        let (_, by_duals) = problem.normal_equations();
        let (cost, by_tape) = problem.gradient(&x).unwrap();
        assert_relative_eq!(cost, problem.cost(&x), max_relative = 1e-12);
        let by_tape = DVector::from_column_slice(&by_tape[..x.len()]);
        let size = by_duals.amax();
        assert_relative_eq!(by_tape, by_duals, epsilon = 1e-9 * size);
        for k in 0..x.len() {
            let mut moved = |by: f64| {
                let mut x = x;
                x[k] += by;
                problem.cost(&x)
            };
            let h = 1e-6;
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            assert!(slope.abs() > 1e-6 * size, "{k}: nothing depends on it");
            assert_relative_eq!(slope, by_duals[k], epsilon = 1e-6 * size, max_relative = 1e-5);
        }
    }
}

/// In a chain that flies, what joints hand on is the inverse dynamics of its motion, but for what turns their armatures.
#[test]
fn joints_of_a_chain_hand_on_its_inverse_dynamics() {
    // The step that begins at a frame, and by implicit steps the one that ends there.
    chain_hands_on("semi_implicit", 1);
    chain_hands_on("bdf1", 0);
}

fn chain_hands_on(integrator: &str, after: usize) {
    let text = format!(
        "[simulation]\ntime_step = {STEP}\nintegrator = '{integrator}'\n[[body]]\nname = 'trunk'\nmass = 2\ninertia = [0.02, 0.03, 0.025]\nposition = [0, 0, 3]\n\
         angular_velocity = [1, -2, 0.5]\n[[body]]\nname = 'arm'\nparent = 'trunk'\nposition = [0.2, 0, 0]\nmass = 0.6\n\
         center_of_mass = [0.1, 0, 0.05]\ninertia = [1e-3, 2e-3, 2e-3]\n\
         joint = {{ type = 'revolute', axis = [0, 0.6, 0.8], damping = 0.05, armature = 0.01, stiffness = 0.2, friction = 0.03, v = 4 }}\n\
         [[body]]\nname = 'hand'\nparent = 'arm'\nposition = [0.25, 0, 0]\nmass = 0.3\ninertia = 5e-4\n\
         joint = {{ type = 'prismatic', axis = [1, 0, 0], damping = 0.4, armature = 0.02, stiffness = 20, limits = [-0.05, 0.05], v = 1 }}\n"
    );
    let (scene, states, _) = recorded(&text, 40);
    let mut file = String::from(
        "t,trunk/px,trunk/py,trunk/pz,trunk/qw,trunk/qx,trunk/qy,trunk/qz,arm/q,hand/q,a,h\n",
    );
    for (k, state) in states.iter().enumerate() {
        let row: Vec<String> = state.q.iter().map(f64::to_string).collect();
        writeln!(file, "{},{},,", k as f64 * STEP, row.join(",")).unwrap();
    }
    let tables = "[[sensor]]\nname = 'a'\njoint_load = 'arm'\nnoise = 1\n[[sensor]]\nname = 'h'\njoint_load = 'hand'\nnoise = 1\n\
        [[parameter]]\nname = 'arm/mass'\nstart = 0.6\n";
    let (experiment, dataset) = load(&format!("chain-{integrator}"), &text, &file, tables).unwrap();
    let (model, parameters) = (&scene.model, &experiment.scene.parameters);
    let (_, groups) = traces(&experiment, &dataset, parameters, 0, &scene.state);
    let mut scratch = Rnea::default();
    let mut needs = vec![0.0; model.nv()];
    let mut stopped = 0;
    for k in 1..39 {
        let kinematics = Kinematics::new(model, parameters, &states[k]);
        let pairs = states[k + after].v.iter().zip(&states[k + after - 1].v);
        let change: Vec<f64> = pairs.map(|(after, before)| (after - before) / STEP).collect();
        inverse_dynamics(model, parameters, &kinematics, &change, &mut scratch, &mut needs);
        stopped += usize::from(states[k].q[8].abs() > 0.05 - 1e-9);
        for (name, v, armature) in [("a", 6, 0.01), ("h", 7, 0.02)] {
            let group = groups.iter().find(|group| group.name == name).unwrap();
            let expected = needs[v] - armature * change[v];
            assert_relative_eq!(
                group.traces[0].simulated[k],
                expected,
                epsilon = 1e-9,
                max_relative = 1e-9
            );
        }
    }
    assert!(stopped > 0, "{stopped}");
}

/// A robot on two feet: what they carry is all of its weight, and what the floor feels.
#[test]
fn feet_carry_the_robot() {
    let foot = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = '{name}'\nparent = 'trunk'\nposition = [{x}, 0, -0.3]\nmass = 0.5\ninertia = 1e-3\n\
             joint = {{ type = 'prismatic', axis = [0, 0, 1], stiffness = 4e3, damping = 60 }}\nshape = {{ box = [0.06, 0.06, 0.02] }}\n"
        )
    };
    let text = format!(
        "[simulation]\ntime_step = {STEP}\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'trunk'\nmass = 4\n\
         inertia = 0.05\nposition = [0, 0, 0.32]\n{}{}[[contact]]\nmu = 0.6\n",
        foot("left", -0.15),
        foot("right", 0.15)
    );
    let scene = scene(&text);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(600, &scene.inputs);
    let mut file = String::from("t,trunk/px\n");
    for k in 0..6 {
        writeln!(file, "{},{}", f64::from(k) * STEP, rollout.state.q[0]).unwrap();
    }
    let tables = "[columns]\n'*/*' = false\n'trunk/px' = 'trunk/px'\n\
        [[sensor]]\nname = 'l'\ncontact_force = 'left'\nnoise = 1\ncolumns = ['trunk/px', 'trunk/px', 'trunk/px']\n\
        [[sensor]]\nname = 'r'\ncontact_force = 'right'\nnoise = 1\ncolumns = ['trunk/px', 'trunk/px', 'trunk/px']\n\
        [[sensor]]\nname = 'all'\ncontact_force = 'floor'\nnoise = 1\ncolumns = ['trunk/px', 'trunk/px', 'trunk/px']\n\
        [[parameter]]\nname = 'trunk/mass'\nstart = 4\n";
    let tables =
        tables.replace("'*/*' = false", "'trunk/*' = false\n'left/*' = false\n'right/*' = false");
    let (experiment, dataset) = load("feet", &text, &file, &tables).unwrap();
    let parameters = &experiment.scene.parameters;
    let (_, groups) = traces(&experiment, &dataset, parameters, 0, &rollout.state);
    let of = |name: &str| {
        let group = groups.iter().find(|group| group.name == name).unwrap();
        Vector3::from_fn(|axis, _| group.traces[axis].simulated[3])
    };
    let weight = 5.0 * 9.81;
    let [left, right, all] = ["l", "r", "all"].map(of);
    assert_relative_eq!(left + right, Vector3::z() * weight, epsilon = 1e-4 * weight);
    assert_relative_eq!(left.z, right.z, epsilon = 1e-4 * weight);
    assert_relative_eq!(all, -(left + right), epsilon = 1e-12 * weight);
}

#[test]
fn what_cannot_be_felt_is_said() {
    let (_, _, file) = recorded(&thrown(""), 3);
    let plain = "[[body]]\nname = 'ghost'\nmass = 1\ninertia = 1\nposition = [5, 5, 5]\n";
    let text = thrown("").replace("[[contact]]", &format!("{plain}[[contact]]"));
    let file = file
        .replace(",px", ",box/px")
        .replace("py,pz,qw,qx,qy,qz", "box/py,box/pz,box/qw,box/qx,box/qy,box/qz");
    let refused = |sensor: &str| {
        let tables = format!(
            "[columns]\n'ghost/*' = false\n[[sensor]]\nname = 'f'\nnoise = 1\n{sensor}\n[[parameter]]\nname = 'box/mass'\nstart = 0.7\n"
        );
        load("unfelt", &text, &file, &tables).map(|_| ()).unwrap_err()
    };
    for (sensor, told) in [
        (
            "contact_force = 'flor'",
            "no body, half-space or contact pair \"flor\"; it has floor, box, ghost, floor-box",
        ),
        ("contact_force = 'ghost'", "ghost has no shapes, so that nothing touches it"),
        ("contact_force = 'box'\nposition = [0, 0, 1]", "is of markers and accelerometers only"),
        ("contact_force = 'floor'\norientation = [1, 0, 0, 0]", "contact forces on bodies only"),
        ("contact_force = 'box'\nmarker = 'box'", "one of these"),
        ("contact_force = 'box'\nunit = 'mm'", "unit"),
        ("contact_force = 'box'\ncolumns = ['f/x']", "must be a list of 3"),
        ("joint_load = 'box'", "box has no joint with an axis"),
        ("joint_load = 'lid'", "the scene has no body \"lid\""),
    ] {
        let error = refused(sensor);
        assert!(error.contains(told), "{sensor}: {error}");
    }
}
