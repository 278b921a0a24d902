//! Scenes of so many shapes that not every two are a pair with numbers of their own: they grow with their shapes, and
//! move as if each pair had its own.

mod derivatives;
mod files;

use std::fmt::Write;

use stiction::ad::{Dual, Real, jacobian};
use stiction::model::{Parameters, Scene, Solid, System};
use stiction::simulation::{Rollout, StepMemory};

use crate::random::Random;

/// Piles of two balls on a floor, apart from each other; `rest` follows.
pub fn piles(count: usize, rest: &str) -> Scene {
    let mut text = "simulation = { time_step = 0.01, tolerance = 1e-12 }
        [[half_space]]
        name = 'floor'
        normal = [0, 0, 1]
        [[contact]]
        mu = 0.3
        restitution = 0.1\n"
        .to_string();
    let mut random = Random(5);
    for k in 0..count {
        let (x, y) = (0.4 * (k % 9) as f64, 0.4 * (k / 9) as f64);
        for (name, radius, z) in [("low", 0.1, 0.0999), ("high", 0.08, 0.2798)] {
            let [dx, dy] = random.vector::<2>(1e-3);
            writeln!(
                text,
                "[[body]]\nname = '{name}{k}'\nmass = 1\nshape = {{ sphere = {radius} }}\n\
                 position = [{}, {}, {z}]\nvelocity = [{}, 0, 0]",
                x + dx,
                y + dy,
                40.0 * (0.1 - radius)
            )
            .unwrap();
        }
    }
    Scene::parse(&(text + rest), "piles.toml").unwrap()
}

/// A `[[contact]]` for each of all pairs of colliders, so that each has numbers of its own.
fn every_pair(scene: &Scene) -> String {
    let colliders = &scene.model.colliders;
    let mut text = String::new();
    for (k, first) in colliders.iter().enumerate() {
        for second in &colliders[k + 1..] {
            let names = (&first.name, &second.name);
            writeln!(text, "[[contact]]\npair = '{}-{}'", names.0, names.1).unwrap();
            text += "mu = 0.3\nrestitution = 0.1\n";
        }
    }
    text
}

fn run<T: Real>(scene: &Scene, parameters: &Parameters<T>, steps: usize) -> Vec<T> {
    let system = System { model: &scene.model, parameters, settings: &scene.settings };
    let mut rollout = Rollout::new(system, scene.state.cast());
    let inputs: Vec<T> = scene.inputs.iter().map(|&x| T::constant(x)).collect();
    rollout.advance(steps, &inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    [rollout.state.q, rollout.state.v].concat()
}

#[test]
fn scenes_grow_with_their_shapes() {
    let size = |shapes: usize| {
        let model = piles(shapes / 2, "").model;
        [model.pairs.len(), model.parameter_count(), StepMemory::<f64>::numbers(&model)]
    };
    // Few have a pair for every two, and each over the floor.
    let few = size(10);
    assert_eq!(few[0], 10 + 45);
    // Many have those over the floor, and what they share.
    let [hundred, thousand, two_thousand] = [100, 1000, 2000].map(size);
    assert_eq!([hundred[0], thousand[0], two_thousand[0]], [100, 1000, 2000]);
    for (a, b, c) in (0..3).map(|i| (hundred[i], thousand[i], two_thousand[i])) {
        assert_eq!(10 * (b - a), 9 * (c - b), "{a} {b} {c}");
    }
    // Gravity, body and shape, the number of a pair for each and once for all, the floor, the compliance.
    let expected = |shapes: usize| 3 + shapes * (10 + 3 + 3) + 3 + 3 + 1;
    assert_eq!([hundred[1], thousand[1], two_thousand[1]], [100, 1000, 2000].map(expected));
}

#[test]
fn shared_contacts_move_as_pairs_with_numbers_of_their_own() {
    let shared = piles(36, "");
    let own = piles(36, &every_pair(&shared));
    assert_eq!((shared.model.pairs.len(), own.model.pairs.len()), (72, 72 + 72 * 71 / 2));
    let states = [&shared, &own].map(|scene| run(scene, &scene.parameters, 25));
    assert_eq!(states[0], states[1]);
    // They do touch.
    let mut rollout = {
        let Scene { model, parameters, settings, state, .. } = &shared;
        Rollout::new(System { model, parameters, settings }, state.clone())
    };
    rollout.advance(2, &shared.inputs);
    let names: Vec<String> =
        rollout.workspace.contacts().map(|c| shared.model.pair_name(c.pair)).collect();
    assert!(names.iter().any(|name| name == "low7-high7"), "{names:?}");
}

#[test]
fn a_shared_number_has_the_derivative_of_all_that_are_tied_to_it() {
    let shared = piles(36, "");
    let own = piles(36, &every_pair(&shared));
    let jacobians = [&shared, &own].map(|scene| {
        let model = &scene.model;
        let slots =
            ["mu", "restitution"].map(|field| match model.parameter(&format!("contact/{field}")) {
                Some(shared) => shared.slots,
                None => {
                    let pairs =
                        model.pairs.iter().filter(|pair| matches!(pair.first, Solid::Collider(_)));
                    let slot =
                        |name: &str| model.parameter(&format!("{name}/{field}")).unwrap().slots[0];
                    // Pair by pair three numbers.
                    let first = slot(&pairs.clone().next().unwrap().name);
                    (0..pairs.count()).map(|k| first + 3 * k).collect()
                }
            });
        let after_steps = |x: &[Dual<f64, 8>]| {
            let mut parameters = scene.parameters.cast();
            for (slots, &x) in slots.iter().zip(x) {
                slots.iter().for_each(|&slot| parameters.values[slot] = x);
            }
            run(scene, &parameters, 3)
        };
        jacobian(after_steps, &[0.3, 0.1]).1
    });
    let largest = jacobians[1].amax();
    assert!(largest > 1e-3, "{largest}");
    assert!((&jacobians[0] - &jacobians[1]).amax() < 1e-12 * largest);
}

/// A group of seven shapes, with everything that keeps two from touching.
fn group(name: &str, row: usize) -> String {
    let shape = |name: &str, bits: &str| {
        format!("[[body.shape]]\nname = '{name}'\nsphere = 0.01\n{bits}\n")
    };
    let body = |own: &str, joint: &str, shapes: &str| {
        format!("[[body]]\nname = '{name}{own}'\nmass = 1\ninertia = 1\n{joint}\n{shapes}")
    };
    let hinge = |parent: &str| {
        format!("parent = '{name}{parent}'\njoint = {{ type = 'revolute', axis = [0, 1, 0] }}")
    };
    let fixed = format!("parent = '{name}base'\njoint = {{ type = 'fixed' }}");
    [
        body(
            "base",
            &format!("position = [0, {row}, 0]"),
            &(shape("a", "") + &shape("b", "contype = 2\nconaffinity = 2")),
        ),
        body("arm", &hinge("base"), &(shape("a", "mu = 0.7") + &shape("b", "contype = 3"))),
        body("hand", &hinge("arm"), &shape("a", "conaffinity = 7")),
        body("lid", &fixed, &shape("a", "mu = 0.1\nmu_static = 0.9")),
        body(
            "free",
            &format!("position = [3, {row}, 0]"),
            &shape("a", "restitution = 0.5\nmu = 0.2"),
        ),
        format!("[[contact]]\nbodies = ['{name}hand', '{name}free']\ncollide = false\n"),
        format!("[[contact]]\npair = '{name}free/a-{name}lid/a'\ncollide = false\n"),
        format!("[[contact]]\npair = '{name}base/b-{name}arm/a'\nmu = 0.45\n"),
    ]
    .concat()
}

fn groups(count: usize) -> Scene {
    let head = "simulation.time_step = 0.01\n[[contact]]\nmu = 0.3\nrestitution = 0.2\n
        [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -9\n";
    let names = ('a'..='z').take(count).map(|letter| format!("{letter}."));
    let text = names.enumerate().map(|(row, name)| group(&name, row)).collect::<String>();
    Scene::parse(&(head.to_string() + &text), "groups.toml").unwrap_or_else(|e| panic!("{e}"))
}

/// What a pair of each name is made of.
fn materials(scene: &Scene) -> Vec<(String, [f64; 3])> {
    let Scene { model, parameters, .. } = scene;
    let count = model.colliders.len();
    let grounds = (0..model.half_spaces.len()).map(Solid::HalfSpace);
    let firsts = grounds.chain((0..count).map(Solid::Collider));
    let all = firsts.flat_map(|first| (0..count).map(move |second| (first, second)));
    let touching = all.filter_map(|(first, second)| model.pair(first, second));
    touching
        .map(|pair| {
            let mu_static = match model.two_regimes(pair) {
                true => parameters.mu_static(model, pair),
                false => -1.0,
            };
            let numbers =
                [parameters.mu(model, pair), parameters.restitution(model, pair), mu_static];
            (model.pair_name(pair), numbers)
        })
        .collect()
}

#[test]
fn filters_and_materials_are_those_of_few() {
    let (few, many) = (groups(2), groups(12));
    assert!(few.model.pairs.len() > 40);
    assert!(many.model.pairs.len() < 100, "{}", many.model.pairs.len());
    let (few, many) = (materials(&few), materials(&many));
    assert!(few.iter().any(|(_, [.., mu_static])| *mu_static == 0.9));
    let known = |name: &str| ["a.", "b.", "floor"].iter().any(|known| name.starts_with(known));
    let of_few: Vec<_> = many.into_iter().filter(|(name, _)| name.split('-').all(known)).collect();
    assert_eq!(few, of_few);
}

#[test]
fn impulses_of_shared_contacts_are_written_and_read() {
    let scene = piles(36, "");
    let Scene { model, parameters, settings, state, .. } = &scene;
    let mut rollout = Rollout::new(System { model, parameters, settings }, state.clone());
    rollout.advance(3, &scene.inputs);
    let mut numbers = vec![0.0; StepMemory::<f64>::numbers(model)];
    rollout.memory.write(model, &mut numbers);
    let mut memory = StepMemory::default();
    memory.read(model, &numbers);
    let mut again = vec![0.0; numbers.len()];
    memory.write(model, &mut again);
    assert_eq!(numbers, again);
    let touching = rollout.workspace.contacts().filter(|c| c.impulse[0] > 0.0).count();
    let remembered = numbers.iter().filter(|&&x| x != 0.0).count();
    assert!(touching >= 72 && remembered > 3 * touching, "{touching} {remembered}");
}

/// Numbers that no step has written: what names no pair or no point is left out, what does is kept.
#[test]
fn odd_numbers_of_a_memory_are_left_out() {
    for scene in [piles(12, ""), piles(80, "")] {
        let model = &scene.model;
        let count = StepMemory::<f64>::numbers(model);
        let mut memory = StepMemory::default();
        for odd in [f64::NAN, f64::NEG_INFINITY, -3.0, 0.5, 1e300, f64::INFINITY] {
            memory.read(model, &vec![odd; count]);
            let mut numbers = vec![0.0; count];
            memory.write(model, &mut numbers);
            // Joints have a number each, whatever it is; here there are none.
            let kept = numbers.iter().any(|&x| x != 0.0);
            let names_points = odd >= 1.0 && !model.pairs.is_empty();
            assert_eq!(kept, names_points, "{odd}: {numbers:?}");
        }
    }
}

#[test]
fn what_is_said_of_one_pair_holds_for_it_alone() {
    let scene = piles(36, "[[contact]]\npair = 'high3-low3'\nmu = 0.9\nmu_static = 1.1\n");
    let Scene { model, parameters, .. } = &scene;
    let slot = |name: &str| model.parameter(name).map(|found| parameters.values[found.slots[0]]);
    assert_eq!(slot("low3-high3/mu"), Some(0.9));
    assert_eq!(slot("low3-high3/mu_static"), Some(1.1));
    assert_eq!(slot("floor-low3/mu"), Some(0.3));
    assert_eq!((slot("contact/mu"), slot("low4-high4/mu")), (Some(0.3), None));
    assert_eq!(slot("contact/relative_compliance"), Some(1.0));
}

/// Bodies that start in each other are found among many as among few.
#[test]
fn what_starts_in_another_is_refused_among_many() {
    let text = "[[body]]\nname = 'late'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0.05, 0.8, 0.1]\n";
    let error = std::panic::catch_unwind(|| piles(36, text)).unwrap_err();
    let message = error.downcast_ref::<String>().unwrap();
    assert!(message.contains("body.late.position") && message.contains("low18"), "{message}");
    // Unless they pass through each other.
    piles(
        36,
        &(text.to_string()
            + "[[contact]]\npair = 'low18-late'\ncollide = false\n
        [[contact]]\npair = 'high18-late'\ncollide = false\n"),
    );
}
