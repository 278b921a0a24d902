//! A scalar without conversions: what compiles on it lets no `f64` leak in, and must compute what
//! it computes on `f64`, bit for bit.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use stiction::ad::{Node, Real};
use stiction::contact::contact_frame;
use stiction::model::Scene;
use stiction::simulation::{StepMemory, Workspace, step};
use stiction::state::State;

use crate::collision::{DIRECTIONS, Pair, shapes};
use crate::random::Random;

#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
struct Explicit(f64);

macro_rules! operators {
    ($($Op:ident $op:ident $OpAssign:ident $op_assign:ident;)*) => {$(
        impl $Op for Explicit {
            type Output = Explicit;
            fn $op(self, other: Explicit) -> Explicit {
                Explicit(self.0.$op(other.0))
            }
        }
        impl $Op<f64> for Explicit {
            type Output = Explicit;
            fn $op(self, other: f64) -> Explicit {
                Explicit(self.0.$op(other))
            }
        }
        impl $OpAssign for Explicit {
            fn $op_assign(&mut self, other: Explicit) {
                self.0.$op_assign(other.0);
            }
        }
    )*};
}

operators! {
    Add add AddAssign add_assign;
    Sub sub SubAssign sub_assign;
    Mul mul MulAssign mul_assign;
    Div div DivAssign div_assign;
}

impl Neg for Explicit {
    type Output = Explicit;
    fn neg(self) -> Explicit {
        Explicit(-self.0)
    }
}

impl num_traits::Zero for Explicit {
    fn zero() -> Explicit {
        Explicit(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == 0.0
    }
}

impl num_traits::One for Explicit {
    fn one() -> Explicit {
        Explicit(1.0)
    }
}

macro_rules! forwarded {
    ($($f:ident($($x:ident: $t:ty)?))*) => {$(
        fn $f(self $(, $x: $t)?) -> Explicit {
            Explicit(Real::$f(self.0 $(, $x.into())?))
        }
    )*};
}

impl From<Explicit> for f64 {
    fn from(x: Explicit) -> f64 {
        x.0
    }
}

impl Real for Explicit {
    const ORDER: usize = 0;
    type Workspace<N: Node> = N::Workspace<Explicit>;

    forwarded! {
        recip() sqrt() cbrt() abs() exp() exp2() exp_m1() ln() ln_1p() log2() log10() sin() cos()
        tan() asin() acos() atan() sinh() cosh() tanh() asinh() acosh() atanh() powi(n: i32)
        powf(a: f64) pow(a: Explicit) atan2(x: Explicit) hypot(y: Explicit) rem(y: Explicit)
    }
    fn sin_cos(self) -> (Explicit, Explicit) {
        (self.sin(), self.cos())
    }

    fn constant(x: f64) -> Explicit {
        Explicit(x)
    }
    fn value(self) -> f64 {
        self.0
    }
    fn call<N: Node>(
        node: &N,
        inputs: &[Explicit],
        outputs: &mut [Explicit],
        solution: &mut N::Solution,
        workspace: &mut N::Workspace<Explicit>,
    ) {
        node.primal(inputs, outputs, solution, workspace);
    }
}

/// The bits of all states of 150 steps on the scalar `T`, and how many contacts touched.
fn motion<T: Real>(scene: &Scene) -> (Vec<u64>, usize) {
    let parameters = scene.parameters.cast();
    let system = scene.system_with(&parameters);
    let inputs: Vec<T> = scene.inputs.iter().map(|&x| T::constant(x)).collect();
    let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
    let (mut state, mut next) = (scene.state.cast(), State::default());
    let (mut bits, mut touched) = (Vec::new(), 0);
    for _ in 0..150 {
        step(&system, &state, &inputs, &mut memory, &mut workspace, &mut next);
        touched += workspace.modes().count();
        std::mem::swap(&mut state, &mut next);
        let State { q, v } = state.value();
        bits.extend(q.iter().chain(&v).map(|x| x.to_bits()));
    }
    (bits, touched)
}

#[test]
fn a_step_lets_no_f64_leak_in() {
    let scene = Scene::parse(
        "[simulation]
         time_step = 0.01
         [[half_space]]
         name = 'floor'
         normal = [0.1, 0, 1]
         [[body]]
         name = 'box'
         mass = 0.7
         inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
         center_of_mass = [0.01, -0.02, 0.01]
         shape = { box = [0.1, 0.08, 0.05] }
         position = [0, 0, 0.3]
         velocity = [0.6, 0.3, 0]
         angular_velocity = [3, -2, 1]
         torque = [0, 0, 1e-3]
         [[body]]
         name = 'ball'
         mass = 0.2
         shape = { sphere = 0.05 }
         position = [1, 0, 0.3]
         velocity = [0.6, 0.3, 0]
         [[contact]]
         mu = 0.3
         restitution = 0.4",
        "scene.toml",
    )
    .unwrap();
    let (expected, touched) = motion::<f64>(&scene);
    assert!(touched > 100, "{touched}");
    assert_eq!(motion::<Explicit>(&scene), (expected, touched));
}

/// The bits of the contacts of random pairs of shapes.
fn contacts<T: Real>() -> Vec<u64> {
    let mut random = Random(1);
    let mut bits = Vec::new();
    for case in 0..2000 {
        let pair = Pair::random(shapes()[case % 4], &mut random, 2.5);
        for w in pair.contacts(&[T::zero(); DIRECTIONS], 0.2) {
            let [t, s] = contact_frame(w.normal);
            let vectors = [w.normal, w.points[0], w.points[1], t, s];
            let numbers = vectors.iter().flat_map(|v| v.iter().copied()).chain([w.gap, w.lowest]);
            bits.extend(numbers.map(|x| x.value().to_bits()).chain([w.feature as u64]));
        }
    }
    bits
}

#[test]
fn contacts_of_shapes_let_no_f64_leak_in() {
    let expected = contacts::<f64>();
    assert!(expected.len() > 1000 * 18);
    assert_eq!(contacts::<Explicit>(), expected);
}
