//! Jacobians of the step beside the step itself: `linearize/<scene>/step` and `linearize/<scene>/jacobian` (A and B,
//! B in the controls), of the shared MJCF scenes in the state in which `time_mujoco.py` beside them times
//! `mjd_transitionFD`; `linearize/<scene>/lanes`, the same Jacobians by duals through the whole step. With
//! `keep_impulses`, as the peer keeps its warm start; of `quad12` by the other integrators, too.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::{Integrator, Scene, System};
use stiction::simulation::{Workspace, step};

mod scenes;

fn linearize(c: &mut Criterion) {
    let mut group = c.benchmark_group("linearize");
    for (name, integrator) in [
        ("cube", Integrator::SemiImplicit),
        ("arm7", Integrator::SemiImplicit),
        ("quad12", Integrator::SemiImplicit),
        ("quad12", Integrator::Implicit),
        ("quad12", Integrator::RungeKutta),
        ("quad12", Integrator::Bdf1),
        ("tower10", Integrator::SemiImplicit),
        ("pyramid10", Integrator::SemiImplicit),
    ] {
        let Some((mut scene, memory)) = scenes::shared(name) else { return };
        scene.settings.integrator = integrator;
        let name = match integrator {
            Integrator::SemiImplicit => name.to_string(),
            _ => format!("{name}-{}", integrator.name()),
        };
        let Scene { model, state, inputs, .. } = &scene;
        let system = scene.system();
        let (nv, nu) = (model.nv(), model.nu());
        let controls: Vec<usize> = (nv..nv + nu).collect();
        let selection = Selection { inputs: &controls, parameters: &[] };
        let (mut workspace, mut next) = (Workspace::default(), state.clone());
        group.bench_function(format!("{name}/step"), |b| {
            let mut memory = memory.clone();
            b.iter(|| {
                step(&system, black_box(state), inputs, &mut memory, &mut workspace, &mut next)
            });
        });
        let mut workspace = JacobianWorkspace::default();
        let mut jacobian = StepJacobian::default();
        for (way, run) in
            [("jacobian", step_jacobian as Linearize), ("lanes", step_jacobian_by_lanes)]
        {
            let mut memory = memory.clone();
            group.bench_function(format!("{name}/{way}"), |b| {
                b.iter(|| {
                    let state = black_box(state);
                    let (workspace, jacobian) = (&mut workspace, &mut jacobian);
                    run(&system, state, inputs, selection, &mut memory, workspace, jacobian);
                });
            });
            assert!(jacobian.is_determined(), "{name} {way}: {:?}", jacobian.report);
        }
    }
    group.finish();
}

type Linearize = fn(
    &System<f64>,
    &stiction::state::State<f64>,
    &[f64],
    Selection,
    &mut stiction::simulation::StepMemory<f64>,
    &mut JacobianWorkspace,
    &mut StepJacobian,
);

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));
    targets = linearize
}
criterion_main!(benches);
