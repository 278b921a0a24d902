//! Scenes of many bodies as MJCF text: what all of them have, towers and heaps. A bench uses it too, so it needs nothing but
//! itself.

/// What a scene has beside level ground at z = 0.
#[derive(Default)]
pub struct Furnishing {
    /// Elements of `asset`.
    pub assets: String,
    /// Elements of `worldbody`.
    pub bodies: String,
    /// Elements of `equality`.
    pub equalities: String,
}

impl Furnishing {
    /// Bodies and nothing else.
    pub fn of(bodies: String) -> Furnishing {
        Furnishing { bodies, ..Furnishing::default() }
    }

    /// The whole text, under a name.
    pub fn mjcf(&self, name: &str) -> String {
        let section = |tag: &str, elements: &str| match elements {
            "" => String::new(),
            _ => format!("  <{tag}>\n{elements}  </{tag}>\n"),
        };
        format!(
            "<mujoco model=\"{name}\">\n  <!-- the iterations and the tolerance are for others: here all is solved -->\n  \
             <compiler angle=\"degree\"/>\n  \
             <option timestep=\"0.005\" cone=\"elliptic\" tolerance=\"1e-10\" iterations=\"100\"/>\n  \
             <default><geom condim=\"3\" friction=\"0.5 0 0\" density=\"1000\"/></default>\n{}  \
             <worldbody>\n    <geom type=\"plane\" size=\"50 50 1\"/>\n{}  </worldbody>\n{}</mujoco>\n",
            section("asset", &self.assets),
            self.bodies,
            section("equality", &self.equalities),
        )
    }
}

/// A free body of one geom, turned by Euler angles in degrees.
pub fn free(position: [f64; 3], euler: [f64; 3], geom: &str) -> String {
    let [x, y, z] = position;
    let [a, b, c] = euler;
    format!(
        "    <body pos=\"{x} {y} {z}\" euler=\"{a} {b} {c}\"><freejoint/><geom {geom}/></body>\n"
    )
}

/// The hull of points, of which none is left out.
pub fn mesh(name: &str, points: &[[f64; 3]]) -> String {
    let numbers: Vec<String> = points.iter().flatten().map(|x| format!("{x}")).collect();
    format!("    <mesh name=\"{name}\" maxhullvert=\"-1\" vertex=\"{}\"/>\n", numbers.join(" "))
}

/// Cubes on each other.
pub fn tower(n: usize) -> Furnishing {
    let cube = "type=\"box\" size=\"0.05 0.05 0.05\"";
    let bodies = (0..n).map(|k| free([0.0, 0.0, 0.05 + 0.1 * k as f64], [0.0; 3], cube));
    Furnishing::of(bodies.collect())
}

/// A square of columns three or so layers deep, of boxes, balls, capsules and wedges in turn.
pub fn heap(n: usize) -> Furnishing {
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
    let bodies = (0..n).map(&mut place).collect();
    Furnishing { assets: mesh("wedge", &WEDGE), bodies, ..Furnishing::default() }
}

const WEDGE: [[f64; 3]; 6] = [
    [-0.05, -0.03, -0.02],
    [0.05, -0.03, -0.02],
    [-0.05, 0.03, -0.02],
    [0.05, 0.03, -0.02],
    [-0.05, 0.0, 0.03],
    [0.05, 0.0, 0.03],
];

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
