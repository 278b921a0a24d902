//! Soft bodies beside springs, closed loops, the air and terms of contact: what of rigid bodies has no structure in derivatives goes by duals.

use stiction::soft::{SoftRollout, SoftScene};
use stiction::verify::MixedStepProgram;

use super::mixed::rigid_bodies_change_alike;
use super::sensitivities::all_ways_agree_after;
use super::ties::{parse, run};

/// A soft block that starts like this above what is below it, by steps of this kind.
fn scene(settings: &str, rigid: &str, soft: &str) -> SoftScene {
    parse(&format!(
        "gravity = [0, 0, -9.81]\nsimulation = {{ time_step = 0.002, tolerance = 1e-12, {settings} }}\n{rigid}\n\
         [[soft]]\nname = 'block'\nshape = {{ box = [0.05, 0.03, 0.02] }}\nresolution = 0.1\ndensity = 300\n\
         youngs_modulus = 3e4\npoisson_ratio = 0.3\nviscosity = 20\n{soft}\nvelocity = [-0.02, 0.05, -0.2]\n\
         angular_velocity = [0, 0, 0.4]\n[[contact]]\nmu = 0.4\n"
    ))
    .unwrap()
}

/// The rigid bodies after so many steps, of which all are solved.
fn after(scene: &SoftScene, steps: usize) -> Vec<f64> {
    let rollout = run(scene, steps);
    let state = rollout.rigid_state().unwrap();
    [&state.q[..], &state.v].concat()
}

/// Steps at the start of a motion and after it, in all that they are made of.
fn steps_pass(scene: &SoftScene, steps: usize) {
    let mut rollout = SoftRollout::new(scene);
    for _ in 0..2 {
        let program = MixedStepProgram::new(&rollout).unwrap();
        let check = program.check_while_wanted(&mut || true).unwrap();
        assert!(!check.rows.is_empty() && check.passed(), "{:?}", check.max());
        assert!(check.max().dual_vs_tape < 1e-9, "{:?}", check.max());
        assert!(2 * check.skipped_at_kinks() < check.cases(), "{:?}", check.kinks());
        let names = program.names();
        for name in ["block/viscosity", "block/shape", "block/wx"] {
            assert!(names.iter().any(|own| own == name), "{names:?}");
        }
        (0..steps).for_each(|_| _ = rollout.step());
    }
}

/// A free box on the floor that the air brakes and a spring pulls.
const SPRUNG: &str = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
    [[body]]\nname = 'foot'\nmass = 0.08\nshape = { box = [0.06, 0.04, 0.02] }\nposition = [0.01, 0, 0.0201]\n\
    orientation = [0.9998000066665778, 0, 0, 0.019998666693333084]\nvelocity = [0.3, 0, 0]\ndrag = { linear = 0.02, quadratic = 0.1 }\n\
    [[tendon]]\nname = 'spring'\nbodies = ['world', 'foot']\npoints = [[0.2, 0.1, 0.05], [0.05, 0.01, 0.01]]\nstiffness = 20\n\
    damping = 0.1\nrest = 0.15\n\
    [[body]]\nname = 'bob'\nmass = 0.05\nshape = { sphere = 0.01 }\nposition = [0.3, 0.1, 0.2]\n\
    [[tendon]]\nname = 'damper'\nbodies = ['foot', 'bob']\npoints = [[-0.05, 0.01, 0.01], [0, 0, 0.005]]\nstiffness = 5\ndamping = 0.2\nrest = 0.3\n\
    [[push]]\nname = 'shove'\nbody = 'foot'\npoint = [0.01, 0, 0.01]\nforce = [0.1, 0.05, 0]\nfrom = 0.01\nuntil = 0.031\n";

#[test]
fn forces_that_depend_on_the_state_have_derivatives_beside_soft_bodies() {
    const STEPS: usize = 16;
    for settings in ["solver = 'coupled'", "integrator = 'bdf1'"] {
        let scene = scene(settings, SPRUNG, "position = [0, 0.003, 0.0607]");
        let end = after(&scene, STEPS);
        assert!(end[14] > 0.05, "it slides under what lies on it: {end:?}");
        all_ways_agree_after(&scene, (STEPS, 1e-6), (2e-14, 1e-6));
        rigid_bodies_change_alike(&scene, STEPS);
        steps_pass(&scene, STEPS);
        let names: Vec<String> = scene.parameters().into_iter().map(|(name, _)| name).collect();
        let known = |name: &str| names.iter().any(|own| own == name);
        assert!(known("spring/stiffness") && known("foot/drag/linear") && known("shove/force/x"));
    }
}

/// A ball that turns and rolls with radii of its own.
#[test]
fn terms_of_contact_have_derivatives_beside_soft_bodies() {
    const STEPS: usize = 20;
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
        [[body]]\nname = 'drum'\nmass = 0.1\nshape = { sphere = 0.04 }\nposition = [0, 0, 0.0399]\nvelocity = [0.1, 0, 0]\n\
        angular_velocity = [0, 2, 3]\n\
        [[contact]]\npair = 'floor-drum'\nmu = 0.5\ntorsion_radius = 0.004\nrolling_resistance = 0.002\n";
    let scene = scene("solver = 'coupled'", rigid, "position = [0, 0.003, 0.1]");
    let end = after(&scene, STEPS);
    assert!(end[7] < 0.09 && end[11..].iter().all(|v| v.abs() > 1e-2), "{end:?}");
    all_ways_agree_after(&scene, (STEPS, 1e-6), (2e-14, 1e-10));
    rigid_bodies_change_alike(&scene, STEPS);
}

/// Four bars, whose coupler a block falls on.
#[test]
fn closed_loops_have_derivatives_beside_soft_bodies() {
    const STEPS: usize = 12;
    let rigid = "[[body]]\nname = 'crank'\nmass = 0.05\ninertia = 4e-5\nposition = [-0.05, 0, -0.05]\n\
        joint = { type = 'revolute', axis = [0, 1, 0], anchor = [0, 0, -0.05], q = [0.1], damping = 0.0004 }\n\
        [[body]]\nname = 'coupler'\nparent = 'crank'\nmass = 0.05\nposition = [0.05, 0, 0.05]\nshape = { box = [0.06, 0.04, 0.004] }\n\
        joint = { type = 'revolute', axis = [0, 1, 0], anchor = [-0.05, 0, 0], q = [-0.1], damping = 0.0004 }\n\
        [[body]]\nname = 'rocker'\nmass = 0.05\ninertia = 4e-5\nposition = [0.05, 0, -0.05]\n\
        joint = { type = 'revolute', axis = [0, 1, 0], anchor = [0, 0, -0.05], q = [0.1], damping = 0.0004 }\n\
        [[equality]]\nname = 'pin'\ntype = 'connect'\nbodies = ['coupler', 'rocker']\nanchors = [[0.05, 0, 0], [0, 0, 0.05]]\n";
    let scene = scene("solver = 'coupled'", rigid, "position = [0.01, 0, 0.0255]");
    let end = after(&scene, STEPS);
    assert!(end[..3].iter().all(|q| q.abs() > 1e-3), "{end:?}");
    all_ways_agree_after(&scene, (STEPS, 1e-6), (2e-14, 1e-6));
    rigid_bodies_change_alike(&scene, STEPS);
    steps_pass(&scene, STEPS);
}

/// What is made of a body that does not move, and of where nodes are carried, is made once.
#[test]
fn places_that_soft_bodies_know_from_the_start_are_no_parameters() {
    let rigid = "[[body]]\nname = 'post'\nmass = 1\nshape = { box = [0.06, 0.04, 0.02] }\nposition = [0, 0, -0.02]\n\
        joint = { type = 'fixed' }\n[[body]]\nname = 'arm'\nmass = 0.1\nposition = [0.2, 0, 0]\nshape = { sphere = 0.02 }\n\
        joint = { type = 'revolute', axis = [0, 1, 0], anchor = [0, 0, 0.06] }\n";
    let scene = scene("solver = 'coupled'", rigid, "position = [0, 0, 0.0205]");
    let names: Vec<String> = scene.parameters().into_iter().map(|(name, _)| name).collect();
    let known = |name: &str| names.iter().any(|own| own == name);
    assert!(known("arm/position/x") && known("arm/anchor/z") && known("arm/mass"), "{names:?}");
    for name in
        ["post/position/z", "post/anchor/x", "arm/radius", "post/half_extents/x", "gravity/z"]
    {
        assert!(!known(name), "{name}");
    }
}
