//! Single steps with exact contact and penalties against `steps.json`.

use serde_json::Value;
use stiction::ad::{Dual, Real};
use stiction::argmin::{Mode, Status};
use stiction::fem::{Elements, SolidMaterial};
use stiction::implicit::{
    Bdf, ContactStep, History, Momentum, Penalty, Predicted, SolidParameters, StepChange,
    StepDerivative, StepSolver, VertexContact, VertexLaw,
};
use stiction::linalg::BlockMatrix;

use super::numbers::{error, flat, json, nodes, number, tetrahedra};
use crate::differences::central;
use crate::random::Random;

pub struct Case {
    pub elements: Elements,
    pub parameters: SolidParameters<f64>,
    pub bdf: Bdf,
    pub time_step: f64,
    pub history: History<f64>,
    pub contacts: Vec<VertexContact>,
    pub law: VertexLaw,
    pub json: Value,
}

/// All steps.
pub fn cases() -> Option<Vec<Case>> {
    let file = json("steps.json")?;
    let (rest, elements) = (nodes(&file["rest"]), tetrahedra(&file["tetrahedra"]));
    let case = |json: &Value| {
        let of = |name: &str| number(&json[name]);
        let material = SolidMaterial {
            lame_lambda: of("lame_lambda"),
            lame_mu: of("lame_mu"),
            viscosity: of("viscosity"),
        };
        let gravity = flat(&json["gravity"]).try_into().unwrap();
        let (x, v) = (nodes(&json["x"]), nodes(&json["v"]));
        let old = |name: &str, own: &[[f64; 3]]| match json[name].is_null() {
            true => own.to_vec(),
            false => nodes(&json[name]),
        };
        let contact = |node| VertexContact {
            node,
            normal: [0.0, 0.0, 1.0],
            offset: of("floor_z"),
            friction: of("friction"),
            stiffness: of("kn"),
            ..VertexContact::default()
        };
        let law = match json["method"].as_str().unwrap() {
            "linear" => VertexLaw::PenaltyLinear,
            "tanh" => VertexLaw::PenaltyTanh,
            _ => VertexLaw::Coupled,
        };
        Case {
            elements: Elements::new(&rest, &elements).unwrap(),
            parameters: SolidParameters { material, density: of("density"), gravity },
            bdf: if json["order"] == 1 { Bdf::One } else { Bdf::Two },
            time_step: of("time_step"),
            history: History { x_old: old("x_old", &x), v_old: old("v_old", &v), x, v },
            contacts: (0..rest.len()).map(contact).collect(),
            law,
            json: json.clone(),
        }
    };
    let cases: Vec<Case> = file["cases"].as_array().unwrap().iter().map(case).collect();
    assert_eq!(cases.len(), 10);
    Some(cases)
}

impl Case {
    pub fn predicted(&self) -> Predicted<f64> {
        self.bdf.predict(self.time_step, &self.history)
    }

    pub fn momentum<'a>(&'a self, predicted: &'a Predicted<f64>) -> Momentum<'a, f64> {
        let Case { elements, parameters, .. } = self;
        Momentum::of_step(elements, *parameters, predicted)
    }

    #[track_caller]
    pub fn solve(&self) -> ContactStep {
        let predicted = self.predicted();
        let mut step = ContactStep::start_by(self.law, self.history.v.clone());
        let momentum = self.momentum(&predicted);
        StepSolver::default().solve(&momentum, &self.contacts, &mut step);
        assert_eq!(step.report.status, Status::Solved, "{:?} {:?}", step.report, step.contact);
        step
    }
}

#[test]
fn steps_with_contact_are_those_of_two_other_programs() {
    let Some(cases) = cases() else { return };
    for case in &cases {
        let step = case.solve();
        let e = error(step.velocity.as_flattened(), &flat(&case.json["v_next"]), 0.0);
        assert!(e < 1e-11, "v+ {e:e} {:?}", step.report);
        let e = error(step.position.as_flattened(), &flat(&case.json["x_next"]), 0.0);
        assert!(e < 1e-11, "x+ {e:e}");
        let names = case.json["modes"].as_array().unwrap();
        for (mode, name) in step.modes.iter().zip(names) {
            let as_expected = match name.as_str().unwrap() {
                "slide" => *mode == Mode::Slide,
                "stick" => *mode == Mode::Stick,
                "tanh" => *mode != Mode::Break,
                _ => *mode == Mode::Break,
            };
            assert!(as_expected, "{mode:?} {name}");
        }
        // Impulses are a times forces.
        let a = case.bdf.rate(case.time_step);
        let mut forces = vec![[0.0; 3]; case.contacts.len()];
        for (contact, impulse) in case.contacts.iter().zip(&step.impulses) {
            for (row, p) in contact.frame().iter().zip(impulse) {
                (0..3).for_each(|k| forces[contact.node][k] += row[k] * p / a);
            }
        }
        if case.law == VertexLaw::Coupled {
            let e = error(forces.as_flattened(), &flat(&case.json["contact_force"]), 0.0);
            assert!(e < 1e-9, "forces {e:e}");
        }
    }
}

/// A number of a step's inputs.
type Entry = fn(&mut StepChange) -> &mut f64;

const PARAMETERS: [(&str, Entry); 4] = [
    ("v_in_lame_lambda", |change| &mut change.parameters.material.lame_lambda),
    ("v_in_lame_mu", |change| &mut change.parameters.material.lame_mu),
    ("v_in_viscosity", |change| &mut change.parameters.material.viscosity),
    ("v_in_density", |change| &mut change.parameters.density),
];

/// The nodes of a part of the state.
type Part = fn(&mut StepChange) -> &mut Vec<[f64; 3]>;

const STATE: [(&str, Part); 4] = [
    ("v_in_x", |change| &mut change.x),
    ("v_in_v", |change| &mut change.v),
    ("v_in_x_old", |change| &mut change.x_old),
    ("v_in_v_old", |change| &mut change.v_old),
];

#[test]
fn derivatives_of_steps_are_those_of_two_other_programs_forward_and_adjoint() {
    let Some(cases) = cases() else { return };
    for case in &cases {
        let (step, predicted) = (case.solve(), case.predicted());
        let momentum = case.momentum(&predicted);
        let mut derivative =
            StepDerivative::new(momentum, case.bdf, &case.contacts, &step).unwrap();
        let n = case.contacts.len();
        let zero = vec![[0.0; 3]; n];
        let mut unit = |k: usize| {
            let mut v = zero.clone();
            v.as_flattened_mut()[k] = 1.0;
            derivative.adjoint(&v, &zero)
        };
        let adjoints: Vec<StepChange> = (0..3 * n).map(&mut unit).collect();
        let expected = |name: &str| flat(&case.json["derivatives"][name]);
        for (name, part) in STATE {
            if case.json["derivatives"].get(name).is_none() {
                continue;
            }
            // By rows of v+.
            let backward: Vec<f64> = adjoints
                .iter()
                .flat_map(|a| part(&mut a.clone()).as_flattened().to_vec())
                .collect();
            let e = error(&backward, &expected(name), 0.0);
            assert!(e < 1e-8, "{name} adjoint {e:e}");
            let mut forward = vec![0.0; 9 * n * n];
            for column in 0..3 * n {
                let mut change = StepChange::none(n, n);
                part(&mut change).as_flattened_mut()[column] = 1.0;
                let [v, _] = derivative.tangent(&change);
                for (row, v) in v.as_flattened().iter().enumerate() {
                    forward[row * 3 * n + column] = *v;
                }
            }
            let e = error(&forward, &expected(name), 0.0);
            assert!(e < 1e-8, "{name} forward {e:e}");
        }
        for (name, entry) in PARAMETERS {
            let backward: Vec<f64> = adjoints.iter().map(|a| *entry(&mut a.clone())).collect();
            let e = error(&backward, &expected(name), 0.0);
            assert!(e < 1e-8, "{name} adjoint {e:e}");
            let mut change = StepChange::none(n, n);
            *entry(&mut change) = 1.0;
            let [v, _] = derivative.tangent(&change);
            let e = error(v.as_flattened(), &expected(name), 0.0);
            assert!(e < 1e-8, "{name} forward {e:e}");
        }
        // One coefficient of friction for all.
        let backward: Vec<f64> = adjoints.iter().map(|a| a.friction.iter().sum()).collect();
        let e = error(&backward, &expected("v_in_friction"), 0.0);
        assert!(e < 1e-8, "friction adjoint {e:e}");
        let change = StepChange { friction: vec![1.0; n], ..StepChange::none(n, n) };
        let [v, _] = derivative.tangent(&change);
        let e = error(v.as_flattened(), &expected("v_in_friction"), 0.0);
        assert!(e < 1e-8, "friction forward {e:e}");
    }
}

#[test]
fn derivatives_of_places_gravity_and_stiffness_are_those_of_differences() {
    let Some(mut cases) = cases() else { return };
    // The hybrid method is not among the references.
    for case in &mut cases {
        if case.law == VertexLaw::PenaltyLinear {
            case.law = VertexLaw::Hybrid;
        }
    }
    for case in cases.iter().chain(&self::cases().unwrap()) {
        let (step, predicted) = (case.solve(), case.predicted());
        let momentum = case.momentum(&predicted);
        let mut derivative =
            StepDerivative::new(momentum, case.bdf, &case.contacts, &step).unwrap();
        let n = case.contacts.len();
        let mut random = Random(9);
        let mut change = StepChange::none(n, n);
        for part in STATE.map(|(_, part)| part) {
            part(&mut change).iter_mut().for_each(|x| *x = random.vector(1e-3));
        }
        change.parameters.gravity = random.vector(1.0);
        change.parameters.material.viscosity = 0.01;
        change.friction.fill(0.03);
        change.stiffness.fill(30.0);
        let [velocity, position] = derivative.tangent(&change);
        let moved = |h: f64| {
            let mut history = case.history.clone();
            let add = |x: &mut Vec<[f64; 3]>, d: &[[f64; 3]]| {
                let pairs = x.as_flattened_mut().iter_mut().zip(d.as_flattened());
                pairs.for_each(|(x, d)| *x += h * d);
            };
            add(&mut history.x, &change.x);
            add(&mut history.v, &change.v);
            add(&mut history.x_old, &change.x_old);
            add(&mut history.v_old, &change.v_old);
            let mut parameters = case.parameters;
            parameters.material.viscosity += h * change.parameters.material.viscosity;
            (0..3).for_each(|k| parameters.gravity[k] += h * change.parameters.gravity[k]);
            let mut contacts = case.contacts.clone();
            for contact in &mut contacts {
                contact.friction += h * 0.03;
                contact.stiffness += h * 30.0;
            }
            let predicted = case.bdf.predict(case.time_step, &history);
            let elements = &case.elements;
            let momentum = Momentum::of_step(elements, parameters, &predicted);
            let mut moved = ContactStep::start_by(case.law, step.velocity.clone());
            StepSolver::default().solve(&momentum, &contacts, &mut moved);
            assert_eq!(moved.modes, step.modes);
            let all = moved.velocity.as_flattened().iter().chain(moved.position.as_flattened());
            all.copied().collect::<Vec<f64>>()
        };
        let found: Vec<f64> =
            velocity.as_flattened().iter().chain(position.as_flattened()).copied().collect();
        let expected = central(1e-4, moved);
        let (v, x) = expected.split_at(3 * n);
        let e = error(&found[..3 * n], v, 0.0).max(error(&found[3 * n..], x, 0.0));
        assert!(e < 1e-7, "{e:e}");
        // The adjoint is the transpose: w . (J change) = (J' w) . change.
        let w: [Vec<[f64; 3]>; 2] = [0, 1].map(|_| (0..n).map(|_| random.vector(1.0)).collect());
        let mut adjoint = derivative.adjoint(&w[0], &w[1]);
        let inner = |x: &[[f64; 3]], y: &[[f64; 3]]| -> f64 {
            x.as_flattened().iter().zip(y.as_flattened()).map(|(x, y)| x * y).sum()
        };
        let left = inner(&w[0], &velocity) + inner(&w[1], &position);
        let mut right = 0.0;
        for part in STATE.map(|(_, part)| part) {
            right += inner(part(&mut adjoint), part(&mut change));
        }
        right += (0..3)
            .map(|k| adjoint.parameters.gravity[k] * change.parameters.gravity[k])
            .sum::<f64>();
        right += 0.01 * adjoint.parameters.material.viscosity;
        right += 0.03 * adjoint.friction.iter().sum::<f64>();
        right += 30.0 * adjoint.stiffness.iter().sum::<f64>();
        assert!((left / right - 1.0).abs() < 1e-10, "{left} {right}");
    }
}

#[test]
fn matrices_of_steps_are_the_derivatives_of_their_momentum() {
    type Scalar = Dual<f64, 1>;
    let Some(cases) = cases() else { return };
    for case in &cases {
        let predicted = case.predicted();
        let (law, damping) = (case.law, 0.7);
        let contacts: Vec<VertexContact> =
            case.contacts.iter().map(|own| VertexContact { damping, ..*own }).collect();
        let penalty = Some(Penalty { law, contacts: &contacts });
        let momentum = Momentum { penalty, ..case.momentum(&predicted) };
        let mut random = Random(4);
        let u: Vec<[f64; 3]> = case.history.v.clone();
        let d: Vec<[f64; 3]> = u.iter().map(|_| random.vector(1.0)).collect();
        let constant = |x: &[[f64; 3]]| -> Vec<[Scalar; 3]> {
            x.iter().map(|x| x.map(Scalar::constant)).collect()
        };
        let lifted = Predicted {
            rate: predicted.rate,
            x: constant(&predicted.x),
            v: constant(&predicted.v),
        };
        let SolidParameters { material, density, gravity } = case.parameters;
        let parameters = SolidParameters {
            material: SolidMaterial {
                lame_lambda: Scalar::constant(material.lame_lambda),
                lame_mu: Scalar::constant(material.lame_mu),
                viscosity: Scalar::constant(material.viscosity),
            },
            density: Scalar::constant(density),
            gravity: gravity.map(Scalar::constant),
        };
        let lift = |own: &VertexContact| VertexContact {
            node: own.node,
            normal: own.normal.map(Scalar::constant),
            offset: Scalar::constant(own.offset),
            surface: own.surface,
            turning: own.turning,
            carrier: own.carrier,
            is_tie: own.is_tie,
            friction: Scalar::constant(own.friction),
            stiffness: Scalar::constant(own.stiffness),
            damping: Scalar::constant(own.damping),
        };
        let contacts: Vec<VertexContact<Scalar>> = contacts.iter().map(lift).collect();
        let generic = Momentum {
            penalty: Some(Penalty { law, contacts: &contacts }),
            ..Momentum::of_step(&case.elements, parameters, &lifted)
        };
        let along: Vec<[Scalar; 3]> =
            u.iter().zip(&d).map(|(u, d)| [0, 1, 2].map(|k| Dual::new(u[k], [d[k]]))).collect();
        let (mut x, mut residual) = (Vec::new(), Vec::new());
        generic.positions(&along, &mut x);
        generic.residual(&along, &x, &mut residual);
        let tangent: Vec<f64> = residual.as_flattened().iter().map(|r| r.tangent[0]).collect();
        let (mut x, mut matrix) = (Vec::new(), BlockMatrix::default());
        momentum.positions(&u, &mut x);
        assert!(momentum.tangent(&u, &x, false, &mut matrix));
        let mut product = vec![[0.0; 3]; u.len()];
        matrix.add_product(case.elements.pattern(), &d, &mut product);
        let e = error(product.as_flattened(), &tangent, 0.0);
        assert!(e < 1e-12, "{e:e}");
    }
}
