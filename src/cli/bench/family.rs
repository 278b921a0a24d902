//! Scenes of many bodies that differ in their number, as MJCF, which other simulators read too.

use std::fmt::Write;

/// What `--family` names.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Family {
    /// n cubes on each other
    Tower,
    /// n rows of n bricks and one less in turn, each on two but for the ends of the longer rows, which balance on an edge
    Wall,
    /// n boxes, balls, capsules and wedges, dropped in layers, turned by chance
    Heap,
    /// n capsules joined by hinges, lying on the floor
    Chain,
    /// Two hulls of n vertices each, one over the other
    Hulls,
}

impl Family {
    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Family::Tower => "tower",
            Family::Wall => "wall",
            Family::Heap => "heap",
            Family::Chain => "chain",
            Family::Hulls => "hulls",
        }
    }

    /// Sizes that a laptop times in a minute.
    pub fn sizes(self) -> &'static [usize] {
        match self {
            Family::Tower => &[10, 20, 50, 100, 200],
            Family::Wall => &[3, 5, 7],
            Family::Heap => &[10, 30, 100],
            Family::Chain => &[10, 20, 50],
            Family::Hulls => &[16, 64, 256, 1000],
        }
    }

    /// The least and the largest size.
    pub fn limits(self) -> [usize; 2] {
        match self {
            Family::Tower | Family::Heap => [1, 10_000],
            Family::Wall => [1, 100],
            // Bodies of a file are not nested deeper than 200 elements.
            Family::Chain => [1, 190],
            Family::Hulls => [4, 100_000],
        }
    }

    /// The scene of size `n`.
    pub fn mjcf(self, n: usize) -> String {
        let bodies = match self {
            Family::Tower => tower(n),
            Family::Wall => wall(n),
            Family::Heap => heap(n),
            Family::Chain => chain(n),
            Family::Hulls => hulls(),
        };
        let meshes = match self {
            Family::Hulls => mesh("hull", &ball(n)),
            Family::Heap => mesh("wedge", &WEDGE),
            _ => String::new(),
        };
        format!(
            "<mujoco model=\"{}{n}\">\n  <!-- the iterations and the tolerance are for others: here all is solved -->\n  \
             <compiler angle=\"degree\"/>\n  \
             <option timestep=\"0.005\" cone=\"elliptic\" tolerance=\"1e-10\" iterations=\"100\"/>\n  \
             <default><geom condim=\"3\" friction=\"0.5 0 0\" density=\"1000\"/></default>\n{meshes}  \
             <worldbody>\n    <geom type=\"plane\" size=\"50 50 1\"/>\n{bodies}  </worldbody>\n</mujoco>\n",
            self.name()
        )
    }
}

fn free(position: [f64; 3], euler: [f64; 3], geom: &str) -> String {
    let [x, y, z] = position;
    let [a, b, c] = euler;
    format!(
        "    <body pos=\"{x} {y} {z}\" euler=\"{a} {b} {c}\"><freejoint/><geom {geom}/></body>\n"
    )
}

fn tower(n: usize) -> String {
    let cube = "type=\"box\" size=\"0.05 0.05 0.05\"";
    (0..n).map(|k| free([0.0, 0.0, 0.05 + 0.1 * k as f64], [0.0; 3], cube)).collect()
}

fn wall(n: usize) -> String {
    let brick = "type=\"box\" size=\"0.1 0.05 0.05\"";
    let place = |row: usize, k: usize| {
        let x = 0.2 * k as f64 + if row % 2 == 1 { 0.1 } else { 0.0 };
        free([x, 0.0, 0.05 + 0.1 * row as f64], [0.0; 3], brick)
    };
    (0..n).flat_map(|row| (0..n - row % 2).map(move |k| place(row, k))).collect()
}

/// A square of columns three or so layers deep.
fn heap(n: usize) -> String {
    const SHAPES: [&str; 4] = [
        "type=\"box\" size=\"0.05 0.04 0.03\"",
        "type=\"sphere\" size=\"0.05\"",
        "type=\"capsule\" size=\"0.03 0.04\"",
        "type=\"mesh\" mesh=\"wedge\"",
    ];
    let side = (((n as f64 / 3.0).sqrt()).round() as usize).max(2);
    let mut random = Random(1);
    let mut place = |k: usize| {
        let (x, y, z) = (k % side, k / side % side, k / (side * side));
        let mut near = |at: usize| 0.16 * at as f64 + 0.01 * (2.0 * random.unit() - 1.0);
        let position = [near(x), near(y), 0.1 + 0.16 * z as f64];
        let euler = [0; 3].map(|_| 360.0 * random.unit());
        free(position, euler, SHAPES[k % SHAPES.len()])
    };
    (0..n).map(&mut place).collect()
}

/// The links turn about the vertical and the horizontal in turn.
fn chain(n: usize) -> String {
    let mut text = String::new();
    for k in 0..n {
        let joint = match k {
            0 => "<freejoint/>",
            _ if k % 2 == 0 => "<joint type=\"hinge\" axis=\"0 0 1\"/>",
            _ => "<joint type=\"hinge\" axis=\"0 1 0\"/>",
        };
        let position = if k == 0 { "0 0 0.02" } else { "0.1 0 0" };
        // A string takes all that is written to it.
        let _ = writeln!(
            text,
            "    <body pos=\"{position}\">{joint}<geom type=\"capsule\" fromto=\"0.02 0 0 0.08 0 0\" size=\"0.02\"/>"
        );
    }
    text + "    " + &"</body>".repeat(n) + "\n"
}

fn hulls() -> String {
    let hull = "type=\"mesh\" mesh=\"hull\"";
    free([0.0, 0.0, 0.1], [0.0; 3], hull) + &free([0.01, 0.0, 0.302], [20.0, 30.0, 0.0], hull)
}

/// Points on a ball of 0.1 m, evenly spread along a spiral.
fn ball(n: usize) -> Vec<[f64; 3]> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let point = |k: usize| {
        let z = 1.0 - (2.0 * k as f64 + 1.0) / n as f64;
        let (radius, angle) = ((1.0 - z * z).sqrt(), golden * k as f64);
        [0.1 * radius * angle.cos(), 0.1 * radius * angle.sin(), 0.1 * z]
    };
    (0..n).map(point).collect()
}

const WEDGE: [[f64; 3]; 6] = [
    [-0.05, -0.03, -0.02],
    [0.05, -0.03, -0.02],
    [-0.05, 0.03, -0.02],
    [0.05, 0.03, -0.02],
    [-0.05, 0.0, 0.03],
    [0.05, 0.0, 0.03],
];

fn mesh(name: &str, points: &[[f64; 3]]) -> String {
    let numbers: Vec<String> = points.iter().flatten().map(|x| format!("{x:.6}")).collect();
    format!(
        "  <asset><mesh name=\"{name}\" maxhullvert=\"-1\" vertex=\"{}\"/></asset>\n",
        numbers.join(" ")
    )
}

/// Numbers from 0 to 1 (SplitMix64), the same everywhere.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
