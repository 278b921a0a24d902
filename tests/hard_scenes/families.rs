//! Scenes that are hard: at borders between sticking and sliding, redundant, closed on themselves, far from the
//! masses, sizes, steps and frictions of everyday.

use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::fmt::Write;

use crate::random::Random;

/// A family: its name, how long a scene of it is simulated, and what makes one.
pub struct Family {
    pub name: &'static str,
    pub steps: usize,
    pub make: fn(&mut Random) -> String,
    /// Whether bodies hang on joints: their energy is kept to the order of the time step only.
    pub articulated: bool,
}

const fn free(name: &'static str, steps: usize, make: fn(&mut Random) -> String) -> Family {
    Family { name, steps, make, articulated: false }
}

const fn on_joints(name: &'static str, steps: usize, make: fn(&mut Random) -> String) -> Family {
    Family { name, steps, make, articulated: true }
}

pub const ALL: [Family; 25] = [
    free("slope at the angle of friction", 200, slope),
    free("V groove", 200, groove),
    free("wedge", 200, wedge),
    on_joints("gears", 200, gears),
    on_joints("hanging chain", 200, hanging_chain),
    on_joints("chain straight down", 300, straight_chain),
    on_joints("chain on the floor", 100, lying_chain),
    on_joints("closed loop", 200, four_bar),
    on_joints("cradle", 200, cradle),
    free("top", 400, top),
    free("cylinder on cylinder", 200, cylinders),
    free("hulls", 80, hulls),
    free("height field", 100, height_field),
    free("house of cards", 60, cards),
    free("heap", 60, heap),
    free("mass ratios to 1e9", 100, mass_ratios),
    free("sizes 1e-6 to 1e6 m", 100, sizes),
    free("time steps 1e-6 to 1 s", 100, time_steps),
    free("friction to 1e12", 100, friction),
    free("Painlevé's rod", 200, rod),
    free("needles", 150, needles),
    free("coin", 300, coin),
    free("arch", 60, arch),
    free("table on many legs", 100, table),
    free("wall", 40, wall),
];

/// The head of a scene with a floor.
fn floor(time_step: f64, mu: f64) -> String {
    format!(
        "[simulation]\ntime_step = {time_step:?}\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
         [[contact]]\nmu = {mu:?}\n"
    )
}

/// A body with a shape of this mass, where and turned about an axis of the world by how much.
struct Body<'a> {
    mass: f64,
    shape: &'a str,
    position: [f64; 3],
    turn: ([f64; 3], f64),
    velocity: [f64; 3],
    spin: [f64; 3],
}

impl<'a> Body<'a> {
    fn new(mass: f64, shape: &'a str, position: [f64; 3]) -> Body<'a> {
        let zero = [0.0; 3];
        Body { mass, shape, position, turn: ([0.0, 0.0, 1.0], 0.0), velocity: zero, spin: zero }
    }

    fn add(&self, text: &mut String, name: &str) {
        let ([x, y, z], angle) = self.turn;
        let (sine, cosine) = (0.5 * angle).sin_cos();
        let length = (x * x + y * y + z * z).sqrt();
        let [x, y, z] = [x, y, z].map(|x| x * sine / length);
        let Body { mass, shape, position, velocity, spin, .. } = self;
        writeln!(
            text,
            "[[body]]\nname = '{name}'\nmass = {mass:?}\nshape = {{ {shape} }}\nposition = {position:?}\n\
             orientation = [{cosine:?}, {x:?}, {y:?}, {z:?}]\nvelocity = {velocity:?}\n\
             angular_velocity = {spin:?}"
        )
        .unwrap();
    }
}

fn cube(half: f64) -> String {
    format!("box = [{half:?}, {half:?}, {half:?}]")
}

/// A box on a slope of the angle of friction, and a little off.
fn slope(random: &mut Random) -> String {
    let mu = random.uniform(0.1, 1.2);
    let off = [0.0, 1e-12, -1e-12, 1e-6, -1e-6][random.below(5)];
    let angle = mu.atan() + off;
    let mut text = format!(
        "[simulation]\ntime_step = 0.005\n[[half_space]]\nname = 'slope'\nnormal = [{:?}, 0, {:?}]\n\
         [[contact]]\nmu = {mu:?}\n",
        -angle.sin(),
        angle.cos()
    );
    let out = 0.05;
    let mut body =
        Body::new(1.0, "box = [0.2, 0.1, 0.05]", [-out * angle.sin(), 0.0, out * angle.cos()]);
    body.turn = ([0.0, 1.0, 0.0], -angle);
    body.add(&mut text, "box");
    text
}

/// Balls, cylinders and boxes in a groove between two planes, of any angle.
fn groove(random: &mut Random) -> String {
    let half = random.uniform(0.1, 1.4);
    let mut text = String::from("[simulation]\ntime_step = 0.005\n");
    for (name, sign) in [("left", 1.0), ("right", -1.0)] {
        let normal = [0.0, sign * half.cos(), half.sin()];
        writeln!(text, "[[half_space]]\nname = '{name}'\nnormal = {normal:?}").unwrap();
    }
    writeln!(text, "[[contact]]\nmu = {:?}", random.uniform(0.0, 1.0)).unwrap();
    let radius = 0.05;
    let shape = ["sphere = 0.05", "cylinder = [0.05, 0.1]"][random.below(2)];
    let mut body = Body::new(1.0, shape, [0.0, 0.0, radius / half.sin() + 0.001]);
    body.turn = ([0.0, 1.0, 0.0], FRAC_PI_2);
    body.velocity = [random.uniform(-1.0, 1.0), 0.0, 0.0];
    body.spin = random.vector(3.0);
    body.add(&mut text, "body");
    text
}

/// A wedge-shaped hull driven by its weight between a floor and a leaning wall.
fn wedge(random: &mut Random) -> String {
    let lean = random.uniform(0.02, 0.6);
    let mut text = floor(0.005, random.uniform(0.05, 1.0));
    let normal = [-lean.cos(), 0.0, -lean.sin()];
    writeln!(text, "[[half_space]]\nname = 'wall'\nnormal = {normal:?}\noffset = -0.3").unwrap();
    let shape = "convex = [[-0.1, -0.05, 0], [0.1, -0.05, 0], [0.1, -0.05, 0.03], [-0.1, 0.05, 0], \
                 [0.1, 0.05, 0], [0.1, 0.05, 0.03]]";
    let mut body = Body::new(1.0, shape, [0.05, 0.0, 0.001]);
    body.velocity = [random.uniform(0.5, 3.0), 0.0, 0.0];
    body.add(&mut text, "wedge");
    text
}

/// Wheels that are geared to each other in a row, one with a weight that touches a floor.
fn gears(random: &mut Random) -> String {
    let mut text = floor(0.005, 0.5);
    let count = 2 + random.below(6);
    for k in 0..count {
        writeln!(
            text,
            "[[body]]\nname = 'wheel{k}'\njoint = {{ type = 'revolute', axis = [0, 1, 0], v = 0 }}\n\
             position = [{:?}, 0, 0.3]\nmass = 0.5\ninertia = 1e-3\ncenter_of_mass = [{:?}, 0, 0]\n\
             [[body.shape]]\nname = 'knob{k}'\nsphere = 0.05\nposition = [0.15, 0, 0]",
            k as f64,
            random.uniform(0.0, 0.1),
        )
        .unwrap();
    }
    for k in 1..count {
        let ratio = [-1.0, -0.5, -2.0, -1e-3][random.below(4)];
        writeln!(
            text,
            "[[equality]]\nname = 'mesh{k}'\ntype = 'joint'\njoints = ['wheel{k}', 'wheel{}']\nratio = {ratio:?}",
            k - 1
        )
        .unwrap();
    }
    text
}

fn links(text: &mut String, count: usize, kind: &str, [x, z]: [f64; 2], down: bool) {
    for k in 0..count {
        let (place, parent) = match k {
            0 => (format!("[{x:?}, 0, {z:?}]"), String::new()),
            _ if down => ("[0, 0, -0.1]".into(), format!("parent = 'link{}'\n", k - 1)),
            _ => ("[0.1, 0, 0]".into(), format!("parent = 'link{}'\n", k - 1)),
        };
        let [middle, turn] = match down {
            true => ["[0, 0, -0.05]", "[1, 0, 0, 0]"],
            false => ["[0.05, 0, 0]", "[0.7071067811865476, 0, 0.7071067811865476, 0]"],
        };
        let joint = match k {
            0 if !down => "free",
            _ => kind,
        };
        let axis = if joint == "revolute" { ", axis = [0, 1, 0]" } else { "" };
        writeln!(
            text,
            "[[body]]\nname = 'link{k}'\n{parent}joint = {{ type = '{joint}'{axis} }}\nposition = {place}\n\
             mass = 0.1\ninertia = 1e-4\ncenter_of_mass = {middle}\n[[body.shape]]\nname = 'rod{k}'\n\
             capsule = [0.01, 0.03]\nposition = {middle}\norientation = {turn}"
        )
        .unwrap();
    }
}

/// Links that hang on each other and swing into a floor.
fn hanging_chain(random: &mut Random) -> String {
    let mut text = floor(0.005, 0.5);
    let count = 3 + random.below(10);
    let kind = ["revolute", "ball"][random.below(2)];
    links(&mut text, count, kind, [0.0, 0.085 * count as f64], true);
    let angle = random.uniform(0.9, 1.4);
    let (sine, cosine) = (0.5 * angle).sin_cos();
    let start = match kind {
        "ball" => format!("type = 'ball', q = [{cosine:?}, 0, {sine:?}, 0]"),
        _ => format!("type = 'revolute', q = {angle:?}"),
    };
    text.replacen(&format!("type = '{kind}'"), &start, 1)
}

/// Links that hang straight down into a floor, or swing through that position.
fn straight_chain(random: &mut Random) -> String {
    let mut text = floor(0.005, random.uniform(0.1, 1.0));
    let count = 2 + random.below(5);
    let kind = ["revolute", "ball"][random.below(2)];
    // The last link ends 0.05 + 0.03 + 0.01 below its joint.
    let depth = [0.0, 1e-6, 1e-4, 1e-3, 5e-3][random.below(5)];
    links(&mut text, count, kind, [0.0, 0.1 * count as f64 - 0.01 - depth], true);
    let angle = [0.0, 1e-6, 1e-3, random.uniform(0.0, 0.6)][random.below(4)];
    let (sine, cosine) = (0.5 * angle).sin_cos();
    let start = match kind {
        "ball" => format!("type = 'ball', q = [{cosine:?}, 0, {sine:?}, 0]"),
        _ => format!("type = 'revolute', q = {angle:?}"),
    };
    text.replacen(&format!("type = '{kind}'"), &start, 1)
}

/// Links that fall to the floor and lie there.
fn lying_chain(random: &mut Random) -> String {
    let mut text = floor(0.005, random.uniform(0.1, 1.0));
    let kind = ["revolute", "ball"][random.below(2)];
    links(&mut text, 3 + random.below(8), kind, [0.0, random.uniform(0.0101, 0.1)], false);
    text
}

/// Four bars, which close a loop; some have a redundant second closure at the same point.
fn four_bar(random: &mut Random) -> String {
    let mut text = String::from("[simulation]\ntime_step = 0.002\n");
    let bar = |text: &mut String, name: &str, parent: &str, place: [f64; 3], along: [f64; 3]| {
        let parent =
            if parent.is_empty() { String::new() } else { format!("parent = '{parent}'\n") };
        let middle = along.map(|x| 0.5 * x);
        writeln!(
            text,
            "[[body]]\nname = '{name}'\n{parent}joint = {{ type = 'revolute', axis = [0, 1, 0], v = 0.5 }}\n\
             position = {place:?}\nmass = 0.3\ninertia = 1e-3\ncenter_of_mass = {middle:?}"
        )
        .unwrap();
    };
    let up = random.uniform(0.2, 0.4);
    bar(&mut text, "left", "", [0.0, 0.0, 0.0], [0.0, 0.0, up]);
    bar(&mut text, "top", "left", [0.0, 0.0, up], [0.3, 0.0, 0.0]);
    bar(&mut text, "right", "", [0.3, 0.0, 0.0], [0.0, 0.0, up]);
    for k in 0..1 + random.below(2) {
        writeln!(
            text,
            "[[equality]]\nname = 'closed{k}'\ntype = 'connect'\nbodies = ['top', 'right']\n\
             anchors = [[0.3, 0, 0], [0, 0, {up:?}]]"
        )
        .unwrap();
    }
    text
}

/// Newton's cradle: balls that touch each other in a row, the first of which comes from the side.
fn cradle(random: &mut Random) -> String {
    let mut text = String::from("[simulation]\ntime_step = 0.002\n[[contact]]\nmu = 0\n");
    for k in 0..3 + random.below(5) {
        let q = if k == 0 { random.uniform(0.3, 1.0) } else { 0.0 };
        writeln!(
            text,
            "[[body]]\nname = 'ball{k}'\njoint = {{ type = 'revolute', axis = [0, 1, 0], q = {q:?} }}\n\
             position = [{:?}, 0, 1]\nmass = 0.5\ncenter_of_mass = [0, 0, -0.5]\ninertia = 1e-3\n\
             [[body.shape]]\nname = 'round{k}'\nsphere = 0.05\nposition = [0, 0, -0.5]",
            0.1 * k as f64
        )
        .unwrap();
    }
    text
}

/// A top that spins on its tip.
fn top(random: &mut Random) -> String {
    let mut text = floor(0.002, random.uniform(0.1, 1.0));
    let tip = "convex = [[0, 0, 0], [0.05, 0, 0.08], [-0.05, 0, 0.08], [0, 0.05, 0.08], [0, -0.05, 0.08]]";
    let mut body = Body::new(0.2, tip, [0.0, 0.0, 0.0]);
    body.turn = ([1.0, 0.0, 0.0], random.uniform(0.0, 0.3));
    body.spin = [0.0, 0.0, random.uniform(20.0, 300.0)];
    body.add(&mut text, "top");
    text
}

/// A cylinder laid across another.
fn cylinders(random: &mut Random) -> String {
    let mut text = floor(0.005, random.uniform(0.1, 1.0));
    let mut low = Body::new(1.0, "cylinder = [0.05, 0.2]", [0.0, 0.0, 0.05]);
    low.turn = ([0.0, 1.0, 0.0], FRAC_PI_2);
    low.add(&mut text, "low");
    let mut high = Body::new(1.0, "cylinder = [0.05, 0.2]", [0.0, 0.0, 0.1501]);
    high.turn = ([1.0, random.uniform(-1.0, 1.0), 0.0], FRAC_PI_2);
    high.velocity = random.vector(0.1);
    high.add(&mut text, "high");
    text
}

/// Random hulls that fall on each other.
fn hulls(random: &mut Random) -> String {
    let mut text = floor(0.005, random.uniform(0.1, 1.0));
    for k in 0..2 + random.below(3) {
        let points: Vec<[f64; 3]> = (0..4 + random.below(12)).map(|_| random.vector(0.1)).collect();
        let shape = format!("convex = {points:?}");
        let mut body =
            Body::new(random.uniform(0.1, 3.0), &shape, [0.0, 0.0, 0.2 + 0.3 * k as f64]);
        body.spin = random.vector(5.0);
        body.add(&mut text, &format!("hull{k}"));
    }
    text
}

/// Bodies that roll and slide over hills.
fn height_field(random: &mut Random) -> String {
    let mut text = format!(
        "[simulation]\ntime_step = 0.005\n[[contact]]\nmu = {:?}\n",
        random.uniform(0.0, 1.0)
    );
    let rows: Vec<[f64; 8]> =
        (0..8).map(|_| std::array::from_fn(|_| random.uniform(0.0, 0.1))).collect();
    writeln!(text, "[[shape]]\nname = 'hills'\nheight_field = {rows:?}\nspacing = [0.2, 0.2]")
        .unwrap();
    for k in 0..2 {
        let shape =
            ["sphere = 0.08", "capsule = [0.05, 0.1]", "box = [0.1, 0.06, 0.04]"][random.below(3)];
        let mut body =
            Body::new(1.0, shape, [random.uniform(-0.3, 0.3), 0.4 * f64::from(k) - 0.2, 0.35]);
        body.velocity = [random.uniform(-1.0, 1.0), 0.0, 0.0];
        body.spin = random.vector(3.0);
        body.add(&mut text, &format!("body{k}"));
    }
    text
}

/// Pairs of cards that lean on each other, with one on top.
fn cards(random: &mut Random) -> String {
    let mut text = floor(0.002, random.uniform(0.3, 0.9));
    let lean = random.uniform(0.2, 0.4);
    let (half, thin) = (0.05, 0.001);
    for k in 0..2 {
        for (name, sign) in [("left", 1.0), ("right", -1.0)] {
            let x = 0.12 * f64::from(k) - sign * (half * lean.sin() + thin / lean.cos());
            let z = half * lean.cos() + thin * lean.sin();
            let shape = format!("box = [{thin:?}, 0.03, {half:?}]");
            let mut card = Body::new(0.002, &shape, [x, 0.0, z]);
            card.turn = ([0.0, 1.0, 0.0], sign * lean);
            card.add(&mut text, &format!("{name}{k}"));
        }
    }
    let z = 2.0 * (half * lean.cos() + thin * lean.sin()) + thin + 1e-5;
    Body::new(0.002, "box = [0.09, 0.03, 0.001]", [0.06, 0.0, z]).add(&mut text, "roof");
    text
}

/// Boxes, balls and capsules that fall on a heap.
fn heap(random: &mut Random) -> String {
    let mut text = floor(0.005, random.uniform(0.1, 0.9));
    for k in 0..6 {
        let shape = ["sphere = 0.06", "capsule = [0.04, 0.06]", "box = [0.07, 0.05, 0.04]"]
            [random.below(3)];
        let [x, y] = random.vector(0.03);
        let mut body =
            Body::new(random.uniform(0.2, 2.0), shape, [x, y, 0.12 + 0.2 * f64::from(k)]);
        body.turn = (random.vector(1.0), random.uniform(0.1, 3.0));
        body.velocity = [0.0, 0.0, -2.0];
        body.add(&mut text, &format!("body{k}"));
    }
    text
}

/// Cubes on each other, of masses up to 1e9 apart, the heavy one anywhere.
fn mass_ratios(random: &mut Random) -> String {
    let mut text = floor(0.005, 0.5);
    for k in 0..3 {
        let mass = 10.0_f64.powf(random.uniform(-4.5, 4.5));
        let position = [0.0, 0.0, 0.05 + 0.1 * f64::from(k)];
        Body::new(mass, &cube(0.05), position).add(&mut text, &format!("cube{k}"));
    }
    text
}

/// A box that falls a part of its own size, of any size, with a time step that suits it.
fn sizes(random: &mut Random) -> String {
    let size = 10.0_f64.powf(random.uniform(-6.0, 6.0));
    let mut text = floor(0.02 * (size / 9.81).sqrt(), 0.5);
    let mut body = Body::new(1000.0 * size.powi(3), "", [0.0, 0.0, 1.8 * size]);
    let shape = format!("box = [{size:?}, {:?}, {:?}]", 0.7 * size, 0.5 * size);
    body.shape = &shape;
    body.turn = (random.vector(1.0), random.uniform(0.1, 3.0));
    body.add(&mut text, "box");
    text
}

/// Two boxes that fall, with any time step.
fn time_steps(random: &mut Random) -> String {
    let mut text = floor(10.0_f64.powf(random.uniform(-6.0, 0.0)), 0.5);
    for k in 0..2 {
        let mut body =
            Body::new(1.0, "box = [0.1, 0.07, 0.05]", [0.0, 0.0, 0.13 + 0.27 * f64::from(k)]);
        body.turn = (random.vector(1.0), random.uniform(0.1, 3.0));
        body.add(&mut text, &format!("box{k}"));
    }
    text
}

/// Boxes on each other that slide, with any friction.
fn friction(random: &mut Random) -> String {
    let mut text = floor(0.005, 10.0_f64.powf(random.uniform(-12.0, 12.0)));
    for k in 0..2 {
        let mut body =
            Body::new(1.0, "box = [0.1, 0.1, 0.03]", [0.0, 0.0, 0.03 + 0.06 * f64::from(k)]);
        body.velocity = [random.uniform(0.0, 2.0), 0.0, 0.0];
        body.add(&mut text, &format!("box{k}"));
    }
    text
}

/// A rod that is pushed over a floor with its end ahead, where rigid bodies with Coulomb's friction have no
/// acceleration; impulses they have.
fn rod(random: &mut Random) -> String {
    let mut text = floor(0.002, random.uniform(1.0, 3.0));
    let (half, angle) = (0.5, random.uniform(0.6, 1.4));
    let mut body =
        Body::new(1.0, "capsule = [0.01, 0.5]", [0.0, 0.0, half * f64::sin(angle) + 0.0101]);
    // Its lower end ahead.
    body.turn = ([0.0, 1.0, 0.0], -(FRAC_PI_2 - angle));
    body.velocity = [random.uniform(0.5, 5.0) * [1.0, -1.0][random.below(2)], 0.0, 0.0];
    body.add(&mut text, "rod");
    text
}

/// Thin capsules, cylinders and boxes that land.
fn needles(random: &mut Random) -> String {
    let mut text = floor([0.001, 0.005, 0.01][random.below(3)], 0.5);
    let half = random.uniform(0.1, 0.5);
    let radius = half / 10.0_f64.powf(random.uniform(1.5, 3.0));
    let shape = match random.below(3) {
        0 => format!("capsule = [{radius:?}, {half:?}]"),
        1 => format!("cylinder = [{radius:?}, {half:?}]"),
        _ => format!("box = [{radius:?}, {radius:?}, {half:?}]"),
    };
    let mut body = Body::new(0.1, &shape, [0.0, 0.0, half + 0.1]);
    body.turn = (random.vector(1.0), random.uniform(0.1, 3.0));
    body.spin = random.vector(10.0);
    body.add(&mut text, "needle");
    text
}

/// A coin that rolls and tumbles down.
fn coin(random: &mut Random) -> String {
    let mut text = floor(0.002, random.uniform(0.2, 1.0));
    let mut body = Body::new(0.01, "cylinder = [0.012, 0.001]", [0.0, 0.0, 0.0125]);
    body.turn = ([1.0, 0.0, 0.0], FRAC_PI_2 - random.uniform(0.05, 0.5));
    body.spin = [0.0, random.uniform(-3.0, 3.0), random.uniform(-60.0, 60.0)];
    body.add(&mut text, "coin");
    text
}

/// Voussoirs that carry each other.
fn arch(random: &mut Random) -> String {
    let mut text = floor(0.002, random.uniform(0.6, 1.0));
    let count = 5 + 2 * random.below(3);
    let wide = PI / count as f64;
    let (inner, outer, deep) = (0.4, 0.5, 0.1);
    let corner =
        |radius: f64, angle: f64, y: f64| [radius * angle.sin(), y, radius * angle.cos() - 0.45];
    let points: Vec<[f64; 3]> = [inner, outer]
        .into_iter()
        .flat_map(|radius| [-0.5 * wide, 0.5 * wide].map(move |angle| (radius, angle)))
        .flat_map(|(radius, angle)| [-deep, deep].map(|y| corner(radius, angle, y)))
        .collect();
    let shape = format!("convex = {points:?}");
    for k in 0..count {
        let angle = (k as f64 + 0.5) * wide - FRAC_PI_2;
        let mut body = Body::new(2.0, &shape, [0.45 * angle.sin(), 0.0, 0.45 * angle.cos()]);
        body.turn = ([0.0, 1.0, 0.0], angle);
        body.add(&mut text, &format!("stone{k}"));
    }
    text
}

/// One body on many feet, of nearly equal lengths.
fn table(random: &mut Random) -> String {
    let mut text = floor(0.005, 0.6);
    text += "[[body]]\nname = 'table'\nmass = 5\ninertia = 0.3\nposition = [0, 0, 0.5]\n";
    writeln!(text, "velocity = [{:?}, 0, 0]", [0.0, 0.5][random.below(2)]).unwrap();
    let off = [0.0, 1e-12, 1e-9, 1e-6, 1e-4][random.below(5)];
    let count = 3 + random.below(8);
    for k in 0..count {
        let (sine, cosine) = (TAU * k as f64 / count as f64).sin_cos();
        let z = -0.45 + off * random.uniform(-1.0, 1.0);
        writeln!(
            text,
            "[[body.shape]]\nname = 'foot{k}'\nsphere = 0.05\nposition = [{:?}, {:?}, {z:?}]",
            0.4 * cosine,
            0.4 * sine
        )
        .unwrap();
    }
    text
}

/// Bricks in bond.
fn wall(random: &mut Random) -> String {
    let mut text = floor(0.005, random.uniform(0.3, 0.9));
    for row in 0..3 {
        for k in 0..3 {
            let x = 0.2 * f64::from(k) + 0.1 * f64::from(row % 2);
            let position = [x, 0.0, 0.05 + 0.1 * f64::from(row)];
            let mut brick = Body::new(1.0, "box = [0.0995, 0.05, 0.05]", position);
            if row == 2 && k == 1 {
                brick.velocity = [0.0, random.uniform(0.0, 2.0), 0.0];
            }
            brick.add(&mut text, &format!("brick{row}{k}"));
        }
    }
    text
}
