//! The scenes and their random states; nothing is compared here.

use std::f64::consts::TAU;

use stiction::model::{Scene, System};
use stiction::simulation::{JointFeedback, Rollout};

use crate::linearize::redundant::plate;
use crate::linearize::scenes::Sample;
use crate::random::Random;

/// A scene with what it comes to rest in, and random states.
pub struct Family {
    /// What messages call it.
    pub name: String,
    pub scene: Scene,
    /// Where it has come to rest, with the inputs that hold it and the impulses of the last step.
    pub settled: Sample,
    /// The largest velocity that counts as rest.
    pub still: f64,
    /// How many contacts stick there at least.
    pub contacts: usize,
    sampler: fn(&Family, &mut Random) -> Sample,
}

impl Family {
    fn new(name: impl Into<String>, mut scene: Scene, steps: usize, contacts: usize) -> Family {
        scene.settings.tolerance = 1e-12;
        let settled = run(&scene, steps, |_, _, _| ());
        Family { name: name.into(), scene, settled, still: 1e-6, contacts, sampler: at_rest }
    }

    /// A state to differentiate a step at.
    pub fn sample(&self, random: &mut Random) -> Sample {
        (self.sampler)(self, random)
    }

    fn system(&self) -> System<'_, f64> {
        self.scene.system()
    }
}

/// All families.
pub fn all() -> Vec<Family> {
    [feet(), plates(), beams(), tables(), stacks(), quadrupeds(), chains()]
        .into_iter()
        .flatten()
        .collect()
}

/// One body on four, six and eight feet that are each a pair with the floor.
pub fn feet() -> Vec<Family> {
    let mut random = Random(17);
    let scenes = [4, 6, 8].into_iter().flat_map(|count| [1e-6, 0.0].map(|c| (count, c)));
    scenes
        .map(|(count, compliance)| {
            let foot = |k: usize, random: &mut Random| {
                let angle = TAU * (k as f64 + random.uniform(0.2, 0.8)) / count as f64;
                let [x, y] = [0.1 * angle.cos(), 0.07 * angle.sin()];
                format!("[[body.shape]]\nname = 'foot{k}'\nsphere = 0.01\nposition = [{x}, {y}, -0.03]\n")
            };
            let feet: String = (0..count).map(|k| foot(k, &mut random)).collect();
            let body = body("body", "mass = 2\ninertia = [0.006, 0.008, 0.01]\nposition = [0, 0, 0.04]");
            let text = floor(&format!("compliance = {compliance}"), 0.8) + &body + &feet;
            Family::new(format!("{count} feet, compliance {compliance}"), parse(&text), 50, count)
        })
        .collect()
}

/// A plate on six boxes with a box on it.
pub fn plates() -> Vec<Family> {
    let plates = ["0", "1e-6", "1e-3"].map(|compliance| {
        let scene = plate(&format!("compliance = {compliance}"), 0.8, 0.0);
        Family::new(format!("plate on six boxes, compliance {compliance}"), scene, 100, 24)
    });
    plates.into()
}

/// A beam along another, and one across two.
pub fn beams() -> Vec<Family> {
    let beam = |name: &str, size: [f64; 3], position: [f64; 3]| {
        body(name, &format!("mass = 1\nshape = {{ box = {size:?} }}\nposition = {position:?}"))
    };
    let (x, y) = ([0.2, 0.02, 0.02], [0.02, 0.2, 0.02]);
    let along = beam("below", x, [0.0, 0.0, 0.02]) + &beam("above", x, [0.03, 0.0, 0.06]);
    let across = beam("left", y, [-0.12, 0.0, 0.02])
        + &beam("right", y, [0.12, 0.0, 0.02])
        + &beam("above", x, [0.0, 0.01, 0.06]);
    [("two beams", along, 8), ("a beam across two", across, 16)]
        .map(|(name, text, contacts)| {
            Family::new(name, parse(&(floor("", 0.7) + &text)), 100, contacts)
        })
        .into()
}

/// Tables on legs that end in balls, that are capsules, upright or lying, and on some of each, with a load.
pub fn tables() -> Vec<Family> {
    let ball = |[x, y]: [f64; 2]| format!("sphere = 0.02\nposition = [{x}, {y}, -0.1]");
    let upright =
        |[x, y]: [f64; 2]| format!("capsule = [0.02, 0.04]\nposition = [{x}, {y}, -0.06]");
    let lying = |[x, y]: [f64; 2]| {
        format!(
            "capsule = [0.02, 0.03]\nposition = [{x}, {y}, -0.1]\norientation = [{0}, 0, {0}, 0]",
            0.5_f64.sqrt()
        )
    };
    let corners = [[-0.15, -0.1], [-0.15, 0.1], [0.15, -0.1], [0.15, 0.1]];
    let table = |legs: Vec<String>| {
        let legs = legs.iter().enumerate();
        let legs = legs.map(|(k, leg)| format!("[[body.shape]]\nname = 'leg{k}'\n{leg}\n"));
        floor("", 0.6)
            + &body("table", "mass = 3\ninertia = [0.02, 0.03, 0.04]\nposition = [0, 0, 0.12]")
            + "[[body.shape]]\nname = 'top'\nbox = [0.2, 0.15, 0.01]\n"
            + &legs.collect::<String>()
            + &body(
                "load",
                "mass = 0.5\nshape = { box = [0.04, 0.03, 0.02] }\nposition = [0.05, 0.02, 0.15]",
            )
    };
    let mixed = [ball(corners[0]), upright(corners[1]), lying(corners[2]), lying(corners[3])];
    [
        ("table on balls", table(corners.map(ball).into()), 4),
        ("table on capsules", table(corners.map(upright).into()), 4),
        ("table on lying capsules", table(corners.map(lying).into()), 8),
        ("table on balls and capsules", table(mixed.into()), 6),
    ]
    .map(|(name, text, contacts)| Family::new(name, parse(&text), 100, contacts + 4))
    .into()
}

/// Boxes on each other, one on two, and with a cylinder between them.
pub fn stacks() -> Vec<Family> {
    let solid = |name: &str, shape: &str, position: [f64; 3]| {
        body(name, &format!("mass = 0.5\nshape = {{ {shape} }}\nposition = {position:?}"))
    };
    let cube = "box = [0.05, 0.05, 0.05]";
    let tower =
        (0..4).map(|k| solid(&format!("box{k}"), cube, [0.0, 0.0, 0.05 + 0.1 * f64::from(k)]));
    let bridge = solid("left", cube, [-0.06, 0.0, 0.05])
        + &solid("right", cube, [0.06, 0.0, 0.05])
        + &solid("above", "box = [0.08, 0.04, 0.03]", [0.01, 0.0, 0.13]);
    let drum = solid("below", cube, [0.0, 0.0, 0.05])
        + &solid("drum", "cylinder = [0.04, 0.03]", [0.0, 0.0, 0.13])
        + &solid("above", cube, [0.005, 0.0, 0.21]);
    [
        ("stack of four boxes", tower.collect(), 16),
        ("box on two", bridge, 12),
        ("drum between two boxes", drum, 8),
    ]
    .map(|(name, text, contacts)| {
        Family::new(name, parse(&(floor("", 0.5) + &text)), 150, contacts)
    })
    .into()
}

/// A quadruped that stands, and that trots.
pub fn quadrupeds() -> Vec<Family> {
    let text = include_str!("../../examples/ilqr/quadruped.toml");
    let mut scene = parse(text);
    scene.settings.tolerance = 1e-12;
    let family = |name: &str, sampler| {
        let stand = gait(&scene, 0.0);
        let settled = run(&scene, 400, |_, rollout, inputs| {
            stand(0.0).add(&scene.model, &rollout.state, inputs);
        });
        let (name, scene) = (name.to_string(), scene.clone());
        Family { name, scene, settled, still: 1e-3, contacts: 4, sampler }
    };
    vec![family("quadruped standing", standing), family("quadruped walking", walking)]
}

/// Links on hinges that lie on the floor: one tree, so large that its matrices are factorised by blocks.
pub fn chains() -> Vec<Family> {
    const LINKS: usize = 20;
    let link = |k: usize| {
        let joint = match k {
            0 => "position = [0, 0, 0.02]".to_string(),
            _ => {
                let axis = if k.is_multiple_of(2) { [0, 0, 1] } else { [0, 1, 0] };
                format!(
                    "parent = 'link{}'\nposition = [0.1, 0, 0]\njoint = {{ type = 'revolute', axis = {axis:?} }}",
                    k - 1
                )
            }
        };
        let capsule = "[[body.shape]]\nname = 'rod'\ncapsule = [0.02, 0.03]\nposition = [0.05, 0, 0]\n\
                       orientation = [0.7071067811865476, 0, 0.7071067811865476, 0]\n";
        let solid = "mass = 0.2\ncenter_of_mass = [0.05, 0, 0]\ninertia = [4e-5, 2e-4, 2e-4]\n";
        body(&format!("link{k}"), &(joint + "\n" + solid + capsule))
    };
    let scene = parse(&(floor("", 0.6) + &(0..LINKS).map(link).collect::<String>()));
    let family = Family::new("chain of twenty links", scene, 100, 2 * LINKS);
    vec![Family { sampler: lying, ..family }]
}

/// A floor, settings and the material of all that touches.
fn floor(settings: &str, mu: f64) -> String {
    format!(
        "[simulation]\ntime_step = 0.005\n{settings}\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
         [[contact]]\nmu = {mu}\n"
    )
}

fn body(name: &str, rest: &str) -> String {
    format!("[[body]]\nname = '{name}'\n{rest}\n")
}

fn parse(text: &str) -> Scene {
    Scene::parse(text, "scene.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The scene after `steps` steps; `drive` adds to the inputs of each.
fn run(scene: &Scene, steps: usize, drive: impl Fn(usize, &Rollout<f64>, &mut [f64])) -> Sample {
    let Scene { model, parameters, settings, state, inputs: wrenches, .. } = scene;
    let mut rollout = Rollout::new(System { model, parameters, settings }, state.clone());
    let mut inputs = wrenches.clone();
    for k in 0..steps {
        inputs.copy_from_slice(wrenches);
        drive(k, &rollout, &mut inputs);
        rollout.step(&inputs);
    }
    Sample { state: rollout.state, inputs, memory: rollout.memory }
}

/// What rests, pushed by less than friction holds: each free body tilted by nothing or by 1e-9 to 1e-4, at rest or
/// slowly on the move, from the impulses of rest or from none.
fn at_rest(family: &Family, random: &mut Random) -> Sample {
    let Family { scene: Scene { model, parameters, .. }, settled, .. } = family;
    let system = family.system();
    let Sample { state, mut inputs, mut memory } = Sample {
        state: settled.state.clone(),
        inputs: settled.inputs.clone(),
        memory: settled.memory.clone(),
    };
    let mut tangent = vec![0.0; 2 * model.nv()];
    let tilted = random.below(4) > 0;
    let speed = [0.0, 1e-6, 1e-3][random.below(3)];
    for (index, body) in model.bodies.iter().enumerate() {
        let first = body.joint.v;
        let tilt = if tilted { 10.0_f64.powf(random.uniform(-9.0, -4.0)) } else { 0.0 };
        let direction = random.uniform(0.0, TAU);
        tangent[first + 3] = tilt * direction.cos();
        tangent[first + 4] = tilt * direction.sin();
        let weight = 9.81 * parameters.mass(model, index);
        for k in 0..6 {
            tangent[model.nv() + first + k] = random.uniform(-speed, speed);
            let lever = if k < 3 { 1.0 } else { 0.02 };
            inputs[first + k] += 0.05 * weight * lever * random.uniform(-1.0, 1.0);
        }
    }
    if random.below(4) == 0 {
        memory.clear();
    }
    Sample { state: state.moved(system.model.coordinates(), &tangent), inputs, memory }
}

/// A chain at rest or slowly on the move, pushed and turned at its joints by less than friction holds or by more.
fn lying(family: &Family, random: &mut Random) -> Sample {
    let Family { scene: Scene { model, parameters, .. }, settled, .. } = family;
    let Sample { mut state, mut inputs, mut memory } = Sample {
        state: settled.state.clone(),
        inputs: settled.inputs.clone(),
        memory: settled.memory.clone(),
    };
    let weight = 9.81 * parameters.mass(model, 0);
    let speed = [0.0, 1e-3, 0.1][random.below(3)];
    let push = [0.1, 2.0][random.below(2)];
    for (k, (v, input)) in state.v.iter_mut().zip(&mut inputs).enumerate() {
        *v += random.uniform(-speed, speed);
        let lever = if k < 3 { 1.0 } else { 0.02 };
        *input += push * weight * lever * random.uniform(-1.0, 1.0);
    }
    if random.below(4) == 0 {
        memory.clear();
    }
    Sample { state, inputs, memory }
}

/// The joint angles of a trot, as far as they leave those of standing: of phase `start` and a time in s.
fn gait(scene: &Scene, stride: f64) -> impl Fn(f64) -> JointFeedback + '_ {
    move |phase| {
        let mut target = scene.state.q.clone();
        // Of each leg abduction, swing, knee; diagonal legs together.
        for (leg, q) in target[7..].chunks_exact_mut(3).enumerate() {
            let phase = phase + if leg == 0 || leg == 3 { 0.0 } else { TAU / 2.0 };
            q[1] += 0.2 * stride * phase.cos();
            q[2] -= 0.4 * stride * phase.sin().max(0.0);
        }
        JointFeedback { kp: 100.0, kd: 2.0, target }
    }
}

/// The quadruped on its feet, held by its motors and pushed about.
fn standing(family: &Family, random: &mut Random) -> Sample {
    driven(family, random, 0.0)
}

/// The quadruped somewhere in its trot.
fn walking(family: &Family, random: &mut Random) -> Sample {
    driven(family, random, 1.0)
}

fn driven(family: &Family, random: &mut Random, stride: f64) -> Sample {
    const STEPS_A_CYCLE: f64 = 40.0;
    let Family { scene, settled, .. } = family;
    let nv = scene.model.nv();
    let gait = gait(scene, stride);
    let mut rollout = Rollout::new(family.system(), settled.state.clone());
    rollout.memory = settled.memory.clone();
    let start = random.uniform(0.0, TAU);
    let mut inputs = vec![0.0; settled.inputs.len()];
    for k in 0..2 + random.below(80) {
        inputs.fill(0.0);
        inputs[nv..].fill_with(|| random.uniform(-0.3, 0.3));
        gait(start + TAU * k as f64 / STEPS_A_CYCLE).add(&scene.model, &rollout.state, &mut inputs);
        rollout.step(&inputs);
    }
    // Forces too are something to differentiate in.
    inputs[..nv].fill_with(|| random.uniform(-0.1, 0.1));
    Sample { state: rollout.state, inputs, memory: rollout.memory }
}
