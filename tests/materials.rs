//! Surfaces that share the numbers of a `[[material]]`.

use std::fmt::Write;

use stiction::assemble::Description;
use stiction::model::{Scene, Solid};
use stiction::simulation::{Rollout, StepMemory};
use stiction::verify::{Gradcheck, StepProgram};

use crate::random::Random;
use crate::scenes::{on_floor, scene};

/// Boxes and balls of steel and of wood, of one surface of its own and of none, thrown onto each other on a floor of
/// rubber; `with` says how each of these is written.
fn pile(count: usize, with: impl Fn(&str) -> String, rest: &str) -> String {
    let mut random = Random(17);
    let mut text = "[simulation]\ntime_step = 0.005\n".to_string();
    write!(text, "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n{}\n", with("rubber"))
        .unwrap();
    for k in 0..count {
        let shape = ["box = [0.1, 0.08, 0.06]", "sphere = 0.1"][k % 2];
        let surface = match k % 5 {
            0 | 1 => with("steel"),
            2 => with("wood"),
            3 => "mu = 0.25\nrestitution = 0.3".to_string(),
            _ => String::new(),
        };
        let [dx, dy, dz] = random.vector(0.02);
        let (x, y, z) = ((k / 3 % 5) as f64, (k / 15) as f64, 0.25 * (k % 3) as f64);
        write!(
            text,
            "[[body]]\nname = 'b{k}'\nmass = {}\nposition = [{}, {}, {}]\nvelocity = [{}, 0.2, -0.5]\n\
             [[body.shape]]\nname = 'skin'\n{shape}\n{surface}\n",
            1 + k % 3,
            0.6 * x + dx,
            0.6 * y + dy,
            0.14 + z + 0.5 * dz.abs(),
            random.uniform(-0.5, 0.5),
        )
        .unwrap();
    }
    text + "[[contact]]\nmu = 0.15\n" + rest
}

const MATERIALS: [(&str, &str); 3] = [
    ("rubber", "mu = 0.6\nrestitution = 0.2"),
    ("steel", "mu = 0.2\nmu_static = 0.3\nrestitution = 0.5"),
    ("wood", "mu = 0.4"),
];

fn by_name(name: &str) -> String {
    format!("material = '{name}'")
}

fn by_numbers(name: &str) -> String {
    MATERIALS.iter().find(|(known, _)| *known == name).unwrap().1.to_string()
}

fn named(count: usize, rest: &str) -> Scene {
    let tables =
        MATERIALS.map(|(name, numbers)| format!("[[material]]\nname = '{name}'\n{numbers}\n"));
    scene(&(pile(count, by_name, rest) + &tables.concat()))
}

fn states(scene: &Scene, steps: usize) -> Vec<Vec<f64>> {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut states = Vec::new();
    for _ in 0..steps {
        rollout.step(&scene.inputs);
        states.push(rollout.state.q.clone());
    }
    assert_eq!(rollout.report.unsolved, 0);
    states
}

const NAMED: &str = "[[contact]]\npair = 'b0/skin-b1/skin'\nmu = 0.9\n";

/// As if each surface had the numbers itself: in scenes that list every pair, and in those that do not.
#[test]
fn surfaces_of_a_material_move_as_with_its_numbers() {
    for (count, steps) in [(15, 60), (90, 25)] {
        let own = scene(&pile(count, by_numbers, NAMED));
        let shared = named(count, NAMED);
        assert!(shared.model.parameter_count() < own.model.parameter_count());
        assert_eq!(states(&shared, steps), states(&own, steps), "{count}");
    }
}

#[test]
fn a_pair_has_numbers_of_its_own_where_a_contact_or_a_surface_says_so() {
    let scene = named(15, NAMED);
    let value = |name: &str| {
        scene.model.parameter(name).map(|found| scene.parameters.values[found.slots[0]])
    };
    for (name, number) in [
        ("steel/mu", Some(0.2)),
        ("steel/mu_static", Some(0.3)),
        ("rubber/restitution", Some(0.2)),
        ("wood/mu_static", None),
        // Of two materials, whatever shares them.
        ("floor-b0/skin/mu", None),
        ("b0/skin-b2/skin/mu", None),
        // That a contact names.
        ("b0/skin-b1/skin/mu", Some(0.9)),
        // Of a material and a surface of its own, or one that says nothing.
        ("floor-b3/skin/mu", Some(0.6)),
        ("b3/skin-b4/skin/mu", Some(0.25)),
        ("b0/skin-b4/skin/mu", Some(0.2)),
    ] {
        assert_eq!(value(name), number, "{name}");
    }
    let pair = scene.model.pair(Solid::Collider(0), 2).unwrap();
    assert_eq!(scene.model.pair_name(pair), "b0/skin-b2/skin");
    let Scene { model, parameters, .. } = &scene;
    assert_eq!((parameters.mu(model, pair), parameters.restitution(model, pair)), (0.4, 0.5));
    assert!(model.two_regimes(pair) && parameters.mu_static(model, pair) == 0.4);
}

/// Nothing is kept for two shapes: 300 of one material have its three numbers.
#[test]
fn scenes_of_materials_grow_with_their_shapes() {
    let count = |shapes: usize| {
        let mut text =
            "simulation.time_step = 0.01\n[[material]]\nname = 'steel'\nmu = 0.3\n".to_string();
        for k in 0..shapes {
            write!(
                text,
                "[[body]]\nname = 'b{k}'\nmass = 1\nposition = [{k}, 0, 0]\n\
                 [[body.shape]]\nname = 's'\nsphere = 0.1\nmaterial = 'steel'\n"
            )
            .unwrap();
        }
        let scene = scene(&text);
        assert!(scene.model.pairs.is_empty());
        scene.model.parameter_count()
    };
    let [few, some, many] = [1, 20, 300].map(count);
    assert_eq!(19 * (many - some), 280 * (some - few));
}

#[test]
fn scenes_of_materials_are_written_and_read() {
    let filter = "[[contact]]\nbodies = ['b0', 'b2']\ncollide = false\n\
                  [[contact]]\npair = 'floor-b5/skin'\ncollide = false\n";
    for count in [15, 90] {
        let mut scene = named(count, &format!("{NAMED}{filter}"));
        // As after an identification.
        let slot = scene.model.parameter("steel/restitution").unwrap().slots[0];
        scene.parameters.values[slot] = 0.45;
        let text = Description::of(&scene, &scene.parameters, "pile.toml").to_toml("");
        let again =
            Scene::parse(&text, "again.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.parameters, scene.parameters);
        assert_eq!(again.model.parameter_names(), scene.model.parameter_names());
        let touch = |scene: &Scene| {
            let model = &scene.model;
            let all = 0..model.colliders.len();
            let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (Solid::Collider(a), b)));
            let pairs = pairs.chain(all.clone().map(|b| (Solid::HalfSpace(0), b)));
            pairs
                .filter(|&(a, b)| a < Solid::Collider(b))
                .filter_map(|(a, b)| model.pair(a, b).map(|pair| scene.parameters.mu(model, pair)))
                .collect::<Vec<f64>>()
        };
        assert_eq!(touch(&again), touch(&scene));
        assert_eq!(states(&again, 10), states(&scene, 10));
    }
}

/// A slide takes mu g dt a step from the velocity, by the material that counts.
#[test]
fn materials_are_differentiated() {
    let slide = scene(
        "gravity = [0, 0, -9.81]\nsimulation.time_step = 0.01\n\
         [[material]]\nname = 'steel'\nmu = 0.2\n[[material]]\nname = 'rubber'\nmu = 0.3\n\
         [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\nmaterial = 'steel'\n\
         [[body]]\nname = 'a'\nmass = 2\nposition = [0, 0, 0.01]\nvelocity = [2, 0, 0]\n\
         shape = { box = [0.1, 0.1, 0.01], material = 'rubber' }\n\
         [[body]]\nname = 'b'\nmass = 2\nposition = [0, 1, 0.01]\nvelocity = [2, 0, 0]\n\
         shape = { box = [0.1, 0.1, 0.01], material = 'steel' }\n",
    );
    let names = ["rubber/mu", "steel/mu"];
    for (speed, expected) in [("a/vx", [-0.981, 0.0]), ("b/vx", [0.0, -0.981])] {
        let (_, slopes) = slide
            .gradient(names, |simulation| {
                simulation.run(10);
                simulation[speed]
            })
            .unwrap();
        for (found, expected) in slopes.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-6, "{speed}: {slopes:?}");
        }
    }
    // By every way there is, in all numbers of a pile that has landed.
    let pile = named(6, "");
    let mut rollout = Rollout::new(pile.system(), pile.state.clone());
    rollout.advance(40, &pile.inputs);
    assert!(rollout.workspace.contacts().any(|contact| contact.impulse[0] > 0.0));
    let (state, memory) = (&rollout.state, &rollout.memory);
    let program = StepProgram::new(pile.system(), state, &pile.inputs, memory, 2);
    let check = Gradcheck::of(&program).unwrap();
    assert!(check.passed());
    assert!(check.rows.iter().any(|row| row.name == "steel/mu"));
}

#[test]
fn wrong_materials_are_refused() {
    let text = |materials: &str, surface: &str| {
        format!(
            "simulation.time_step = 0.01\n{materials}\n[[body]]\nname = 'a'\nmass = 1\n\
             shape = {{ sphere = 0.1, {surface} }}\n"
        )
    };
    let steel = "[[material]]\nname = 'steel'\nmu = 0.2";
    for (materials, surface, says) in [
        (steel, "material = 'stele'", "there is no [[material]] \"stele\"; there is steel"),
        ("", "material = 'steel'", "there is no [[material]] \"steel\"; there is none"),
        (steel, "material = 'steel', mu = 0.2", "has no meaning beside mu"),
        (steel, "material = 'steel', restitution = 0.2", "has no meaning without mu"),
        (
            "[[material]]\nname = 'steel'\nrestitution = 0.2",
            "mu = 0.1",
            "material.steel.mu: is missing",
        ),
        ("[[material]]\nname = 'steel'\nmu = -1", "mu = 0.1", "must not be negative"),
        ("[[material]]\nname = 'a'\nmu = 1", "mu = 0.1", "\"a\" is taken"),
        ("[[material]]\nname = 'steel'\nmu = 1\ncolour = 3", "mu = 0.1", "colour"),
    ] {
        let error = Scene::parse(&text(materials, surface), "scene.toml").unwrap_err().to_string();
        assert!(error.contains(says), "{error}, expected {says}");
    }
}

/// A material alone makes no pairs: one body on the ground remembers what it did without.
#[test]
fn a_material_that_no_two_colliders_have_costs_nothing() {
    let cube = "[[body]]\nname = 'cube'\nmass = 1\nposition = [0, 0, 0.1]\n";
    let [plain, made] = ["", ", material = 'steel'"].map(|material| {
        let shape = format!("shape = {{ box = [0.1, 0.1, 0.1]{material} }}\n");
        scene(&on_floor(&format!(
            "simulation.time_step = 0.01\n[[contact]]\nmu = 0.5\n[[material]]\nname = 'steel'\nmu = 0.5\n{cube}{shape}"
        )))
    });
    for scene in [&plain, &made] {
        assert!(!scene.model.colliders_touch());
        assert_eq!(scene.model.shared_remembered_points(), 0);
    }
    assert_eq!(StepMemory::<f64>::numbers(&made.model), StepMemory::<f64>::numbers(&plain.model));
}
