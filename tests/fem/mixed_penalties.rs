//! Penalties between soft and rigid bodies ([Geilinger20] 4.2): what is led as a shape that is led, momentum, what creeps, derivatives.

use stiction::simulation::Rollout;
use stiction::soft::{SoftRollout, SoftScene};
use stiction::verify::MixedStepProgram;

use super::mixed::{LED_PLATES, apart, ball, momentum, pushed, rigid_bodies_change_alike};
use super::sensitivities::all_ways_agree_after;
use super::ties::{parse, run};

const PENALTIES: [&str; 2] = ["penalty_linear", "penalty_tanh"];

fn scene(law: &str, gravity: &str, rigid: &str, soft: &str) -> SoftScene {
    parse(&format!(
        "gravity = {gravity}\nsimulation = {{ time_step = 0.002, tolerance = 1e-12, solver = '{law}' }}\n{rigid}\n{soft}\n\
         [[contact]]\nmu = 0.4\nstiffness = 200\n"
    ))
    .unwrap()
}

/// One by the contact problem of all bodies, the other by forces in the momentum of the soft body: the same law in two ways.
#[test]
fn a_body_that_is_led_is_a_shape_that_is_led() {
    let soft = ball("position = [0, 0, 0.052]\nvelocity = [0.1, 0, 0]\nviscosity = 0.5");
    for law in PENALTIES {
        let [body, shape] = LED_PLATES.map(|own| scene(law, "[0.5, 0.2, -9.81]", own, &soft));
        let (body, shape) = (run(&body, 150), run(&shape, 150));
        let [a, b] = [&body, &shape].map(|own| &own.states()[0]);
        assert!(b.impulse.iter().any(|p| *p != [0.0; 3]), "it lies on it");
        assert!(apart(&a.position, &b.position) < 1e-9, "{:e}", apart(&a.position, &b.position));
        assert!(apart(&a.velocity, &b.velocity) < 1e-7, "{:e}", apart(&a.velocity, &b.velocity));
    }
}

#[test]
fn momentum_is_kept() {
    let boxes = "[[body]]\nname = 'near'\nmass = 0.05\nshape = { box = [0.02, 0.05, 0.05] }\nposition = [0.06, 0.01, 0.005]\n\
                 [[body]]\nname = 'far'\nmass = 0.02\nshape = { sphere = 0.02 }\nposition = [0.101, -0.01, 0.01]";
    let soft = ball("velocity = [1, 0.1, 0]\nangular_velocity = [0, 0, 4]");
    for law in PENALTIES {
        let scene = scene(law, "[0, 0, 0]", boxes, &soft);
        let mut rollout = SoftRollout::new(&scene);
        let start = momentum(&scene, &rollout);
        for _ in 0..60 {
            assert_eq!(rollout.step().unsolved, 0);
        }
        let end = momentum(&scene, &rollout);
        assert!((0..3).all(|k| (end[k] - start[k]).abs() < 1e-12), "{law}: {start:?} {end:?}");
        assert!(
            rollout.rigid_state().unwrap().v[6] > 1e-2,
            "the second box is pushed by the first"
        );
    }
}

/// Rigid bodies alone in a scene with a soft one that touches nothing are as without it.
#[test]
fn what_touches_no_soft_body_is_as_without_one() {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0.1, 0, 1]\n[[body]]\nname = 'sled'\nmass = 0.3\n\
                 shape = { box = [0.05, 0.04, 0.02] }\nposition = [0, 0, 0.03]\n";
    for law in PENALTIES {
        let both = scene(law, "[0, 0, -9.81]", rigid, &ball("position = [0, 0.3, 0.5]"));
        let mut alone = both.rigid.as_deref().unwrap().clone();
        alone.settings.tolerance = 1e-12;
        let mut rollout = Rollout::new(alone.system(), alone.state.clone());
        rollout.advance(100, &alone.inputs);
        let beside = run(&both, 100);
        let own = beside.rigid_state().unwrap();
        let both = rollout.state.q.iter().chain(&rollout.state.v).zip(own.q.iter().chain(&own.v));
        let off = both.fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        assert!(off < 1e-13, "{off:e}");
    }
}

#[test]
fn motions_change_as_differences_say_forward_and_backward() {
    // By implicit steps the rigid bodies have momenta at the end, too.
    for law in ["penalty_linear", "penalty_tanh", "penalty_tanh', integrator = 'bdf1"] {
        let scene = pushed(law, "stiffness = 300");
        for name in
            ["foot-block/stiffness", "floor-foot/stiffness", "foot-block/mu", "floor-foot/mu"]
        {
            assert!(scene.parameter(name).is_some(), "{name}");
        }
        assert!(scene.parameter("foot-block/damping").is_none());
        all_ways_agree_after(&scene, (50, 1e-6), (2e-14, 1e-10));
        rigid_bodies_change_alike(&scene, 50);
        let mut rollout = SoftRollout::new(&scene);
        for _ in 0..3 {
            let program = MixedStepProgram::new(&rollout).unwrap();
            let check = program.check_while_wanted(&mut || true).unwrap();
            assert!(!check.rows.is_empty() && check.passed(), "{law}: {:?}", check.max());
            (0..20).for_each(|_| _ = rollout.step());
        }
    }
}

#[test]
fn what_is_not_for_both_is_said() {
    let rigid = "[[body]]\nname = 'box'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, -1]\n\
                 [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -2\n";
    for (law, contact, expected) in [
        ("penalty_tanh", "mu = 0.4\nstiffness = 1\ndamping = 1", "damping: is not for scenes"),
        ("penalty_tanh", "mu = 0.4", "stiffness"),
        ("sqp", "mu = 0.4", "solver: is not for scenes"),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.002\nsolver = '{law}'\n{rigid}{}[[contact]]\n{contact}\n",
            ball("")
        );
        let error = parse(&text).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
