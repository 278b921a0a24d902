//! Random projections of the families of `reference/qcqp`, as its README describes them, with other
//! seeds. Used by tests, benches and an example, so it needs nothing but itself.

/// Which matrix and which linear term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Eigenvalues uniform in 1..10, rotated.
    Well,
    /// Diagonal, exp U(-10, 10): the setting of \[LeLidec21\] Fig. 3.
    IllDiag,
    /// The same spectrum, rotated.
    IllDense,
    /// Delassus matrix of a cube that slides.
    CubeSlide,
    /// Of a cube near the limit of friction, some contacts sliding.
    CubeMix,
    /// Of a cube that sticks.
    CubeStick,
}

impl Family {
    /// All, in the order of the README.
    pub const ALL: [Family; 6] = [
        Family::Well,
        Family::IllDiag,
        Family::IllDense,
        Family::CubeSlide,
        Family::CubeMix,
        Family::CubeStick,
    ];

    /// Those which the non-negative programs have as well: a cube's normal impulses do not depend
    /// on how it slides.
    pub const OF_QP: [Family; 4] =
        [Family::Well, Family::IllDiag, Family::IllDense, Family::CubeSlide];

    /// As in the reference file.
    pub fn name(self) -> &'static str {
        match self {
            Family::Well => "well",
            Family::IllDiag => "illdiag",
            Family::IllDense => "illdense",
            Family::CubeSlide => "cube_slide",
            Family::CubeMix => "cube_mix",
            Family::CubeStick => "cube_stick",
        }
    }

    fn is_cube(self) -> bool {
        matches!(self, Family::CubeSlide | Family::CubeMix | Family::CubeStick)
    }
}

/// The numbers of a problem, of which a node takes `inputs`.
#[derive(Clone, Debug)]
pub struct Problem {
    /// P, n x n row-major.
    pub p: Vec<f64>,
    /// q, n.
    pub q: Vec<f64>,
    /// R = mu lambda_n, a contact each; empty for the non-negative program.
    pub radius: Vec<f64>,
    /// Adjoints of z within the range of P.
    pub w: Vec<f64>,
}

impl Problem {
    /// P, q and R behind one another.
    pub fn inputs(&self) -> Vec<f64> {
        [&self.p[..], &self.q, &self.radius].concat()
    }
}

/// A disk problem of `contacts` disks, n = 2 `contacts`.
pub fn disks(family: Family, contacts: usize, seed: u64) -> Problem {
    let random = &mut stream(family, contacts, seed);
    let (p, q) = quadratic(family, contacts, 2 * contacts, random);
    let mut radius = |low: f64, high: f64, normal: [f64; 2]| -> Vec<f64> {
        let mut mu_lambda = || random.uniform(low, high) * random.uniform(normal[0], normal[1]);
        (0..contacts).map(|_| mu_lambda()).collect()
    };
    // A cube's weight is shared by its contacts, not equally.
    let share = GRAVITY * DT / contacts as f64;
    let radius = if family.is_cube() {
        radius(0.2, 0.8, [0.5 * share, 1.5 * share])
    } else {
        radius(0.0, 1.0, [0.0, 1.0])
    };
    let w = seed_within_range(family, &p, 2 * contacts, random);
    Problem { p, q, radius, w }
}

/// A non-negative problem of n variables.
pub fn half_lines(family: Family, n: usize, seed: u64) -> Problem {
    let random = &mut stream(family, n, !seed);
    let (p, q) = quadratic(family, n, n, random);
    let w = seed_within_range(family, &p, n, random);
    Problem { p, q, radius: Vec::new(), w }
}

const DT: f64 = 0.01;
const GRAVITY: f64 = 9.81;
/// Half the edge of the cube of 1 kg, and its inverse inertia.
const HALF: f64 = 0.05;
const INVERSE_INERTIA: f64 = 1.5 / (HALF * HALF);

fn stream(family: Family, contacts: usize, seed: u64) -> Random {
    let mut random = Random(seed);
    Random(random.bits() ^ ((family as u64) << 32) ^ contacts as u64)
}

/// P and q; a cube's tangential ones if n = 2 `contacts`, else its normal ones.
fn quadratic(
    family: Family,
    contacts: usize,
    n: usize,
    random: &mut Random,
) -> (Vec<f64>, Vec<f64>) {
    if family.is_cube() {
        return cube(family, contacts, n, random);
    }
    let eigenvalues: Vec<f64> = (0..n)
        .map(|_| match family {
            Family::Well => random.uniform(1.0, 10.0),
            _ => random.uniform(-10.0, 10.0).exp(),
        })
        .collect();
    let mut p = vec![0.0; n * n];
    for (i, eigenvalue) in eigenvalues.into_iter().enumerate() {
        p[i * n + i] = eigenvalue;
    }
    if family != Family::IllDiag {
        rotate(&mut p, n, random);
    }
    let q = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
    (p, q)
}

/// P <- Q P Q' with Q the product of reflections along random vectors of falling length: uniformly
/// distributed.
fn rotate(p: &mut [f64], n: usize, random: &mut Random) {
    let (mut u, mut pu) = (vec![0.0; n], vec![0.0; n]);
    for first in 0..n {
        u.fill(0.0);
        for u in &mut u[first..] {
            *u = gauss(random);
        }
        let square: f64 = u.iter().map(|u| u * u).sum();
        // (1 - 2 uu'/u'u) P (1 - 2 uu'/u'u) = P - u y' - y u', y = 2/u'u (Pu - (u'Pu/u'u) u)
        for (pu, row) in pu.iter_mut().zip(p.chunks_exact(n)) {
            *pu = row.iter().zip(&u).map(|(p, u)| p * u).sum();
        }
        let mean = pu.iter().zip(&u).map(|(pu, u)| pu * u).sum::<f64>() / square;
        for (y, u) in pu.iter_mut().zip(&u) {
            *y = 2.0 / square * (*y - mean * u);
        }
        for (i, row) in p.chunks_exact_mut(n).enumerate() {
            for (j, p) in row.iter_mut().enumerate() {
                *p -= u[i] * pu[j] + pu[i] * u[j];
            }
        }
    }
    // Exactly symmetric.
    for i in 0..n {
        for j in 0..i {
            p[j * n + i] = p[i * n + j];
        }
    }
}

/// G = J M^-1 J' and J v of a cube of 1 kg and 0.1 m on coplanar points.
fn cube(family: Family, contacts: usize, n: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let heading = random.uniform(0.0, std::f64::consts::TAU);
    let (speed, spin) = match family {
        Family::CubeSlide => (random.uniform(0.2, 1.2), random.uniform(-2.0, 2.0)),
        Family::CubeMix => (random.uniform(0.0, 0.15), random.uniform(-2.0, 2.0)),
        _ => (random.uniform(0.0, 0.015), random.uniform(-0.1, 0.1)),
    };
    let tilt = [random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5)];
    let mut velocity = [speed * heading.cos(), speed * heading.sin(), -GRAVITY * DT, 0.0, 0.0, 0.0];
    if n == contacts {
        velocity[3..5].copy_from_slice(&tilt);
    } else {
        velocity[5] = spin;
    }
    let rows: Vec<[f64; 6]> = points(contacts)
        .into_iter()
        .flat_map(|[x, y]| {
            let z = -HALF;
            let tangents = [[1.0, 0.0, 0.0, 0.0, z, -y], [0.0, 1.0, 0.0, -z, 0.0, x]];
            let normal = [0.0, 0.0, 1.0, y, -x, 0.0];
            if n == contacts { vec![normal] } else { tangents.to_vec() }
        })
        .collect();
    let mut p = Vec::with_capacity(n * n);
    for a in &rows {
        p.extend(rows.iter().map(|b| {
            let part = |k: std::ops::Range<usize>| -> f64 { k.map(|k| a[k] * b[k]).sum() };
            part(0..3) + part(3..6) * INVERSE_INERTIA
        }));
    }
    let q = rows.iter().map(|a| a.iter().zip(&velocity).map(|(a, v)| a * v).sum()).collect();
    (p, q)
}

/// One point in the middle of the face, two opposite corners, the rim of a 3 x 3 grid, or the first
/// of the smallest square grid that has enough.
fn points(contacts: usize) -> Vec<[f64; 2]> {
    match contacts {
        1 => vec![[0.0; 2]],
        2 => vec![[-HALF, -HALF], [HALF, HALF]],
        _ => {
            let side = (1..).find(|side| side * side >= contacts).unwrap_or(contacts);
            let at = |k: usize| HALF * (2.0 * k as f64 / (side - 1) as f64 - 1.0);
            let grid = (0..side * side).map(|k| (k % side, k / side));
            let inside = |&(i, j): &(usize, usize)| contacts != 8 || (i, j) != (1, 1);
            grid.filter(inside).take(contacts).map(|(i, j)| [at(i), at(j)]).collect()
        }
    }
}

fn seed_within_range(family: Family, p: &[f64], n: usize, random: &mut Random) -> Vec<f64> {
    let c: Vec<f64> = (0..n).map(|_| gauss(random)).collect();
    if !family.is_cube() {
        return c;
    }
    p.chunks_exact(n).map(|row| row.iter().zip(&c).map(|(p, c)| p * c).sum()).collect()
}

/// splitmix64
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Box and Muller.
fn gauss(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.uniform(0.0, 1.0)).ln()).sqrt();
    radius * random.uniform(0.0, std::f64::consts::TAU).cos()
}
