//! What is held together by joints and loops: chains, cradles, nets.

use std::fmt::Write;

use super::piles::Furnishing;

/// Links that turn about the vertical and the horizontal in turn.
pub fn chain(n: usize) -> Furnishing {
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
    Furnishing::of(text + "    " + &"</body>".repeat(n) + "\n")
}

/// The radius of the balls of a cradle, the length of their threads, how far they hang from each other, m, and how far the
/// first is drawn aside, degrees.
const BALL: f64 = 0.05;
const THREAD: f64 = 0.5;
const GAP: f64 = 0.002;
const DRAWN: f64 = 8.0;

/// Newton's cradle without friction: balls on hinges, further apart than they move in a step, so that one strikes the next
/// in turn; what touches already would rebound together. `softness` is what another program needs to have them rebound.
pub fn cradle(n: usize, softness: &str) -> Furnishing {
    let ball = |k: usize| {
        let x = (2.0 * BALL + GAP) * k as f64;
        let drawn = if k == 0 { DRAWN } else { 0.0 };
        // The hinge goes through the end of the thread, which is not where the body is drawn aside.
        let (sine, cosine) = drawn.to_radians().sin_cos();
        let [x, z] = [x - THREAD * sine, 1.0 - THREAD * cosine];
        format!(
            "    <body pos=\"{x} 0 {z}\" euler=\"0 {drawn} 0\"><joint type=\"hinge\" axis=\"0 1 0\" pos=\"0 0 {THREAD}\"/>\
             <geom type=\"sphere\" size=\"{BALL}\" friction=\"0 0 0\"{softness}/></body>\n"
        )
    };
    Furnishing::of((0..n).map(ball).collect())
}

/// The length of a thread of a net from knot to knot and its radius, m, and how high it starts.
const MESH: f64 = 0.1;
const CORD: f64 = 0.005;

/// A net of `n` by `n` meshes that falls on a ball: a rod for each side of a mesh, and where rods meet, their ends are held
/// together, two and two.
pub fn net(n: usize) -> Furnishing {
    let side = MESH * n as f64;
    let ball = 0.25 * side;
    let height = 2.0 * ball + 5.0 * CORD;
    let mut bodies = format!(
        "    <geom type=\"sphere\" size=\"{ball}\" pos=\"{} {} {ball}\"/>\n",
        0.5 * side,
        0.5 * side
    );
    // The ends of rods at each knot: the rod, and where the knot is in it.
    let mut knots: Vec<Vec<(String, String)>> = vec![Vec::new(); (n + 1) * (n + 1)];
    let half = 0.5 * MESH;
    for i in 0..=n {
        for k in 0..n {
            for along in [true, false] {
                let [x, y] = if along { [k, i] } else { [i, k] };
                let [a, b] = if along { [MESH, 0.0] } else { [0.0, MESH] };
                let name = format!("{}{x}_{y}", if along { "weft" } else { "warp" });
                let position =
                    [MESH * x as f64 + 0.5 * a, MESH * y as f64 + 0.5 * b].map(|x| x.to_string());
                let [a, b] = [a, b].map(|x| 0.5 * x);
                // A string takes all that is written to it. Rods touch ground and ball, and pass through each other.
                let _ = writeln!(
                    bodies,
                    "    <body name=\"{name}\" pos=\"{} {height}\"><freejoint/><geom type=\"capsule\" \
                     fromto=\"-{a} -{b} 0 {a} {b} 0\" size=\"{CORD}\" contype=\"0\"/></body>",
                    position.join(" ")
                );
                let next = if along { x + 1 + (n + 1) * y } else { x + (n + 1) * (y + 1) };
                let place = |sign: f64| match along {
                    true => format!("{} 0 0", sign * half),
                    false => format!("0 {} 0", sign * half),
                };
                knots[x + (n + 1) * y].push((name.clone(), place(-1.0)));
                knots[next].push((name, place(1.0)));
            }
        }
    }
    let mut equalities = String::new();
    for ends in &knots {
        for pair in ends.windows(2) {
            let [(first, anchor), (second, _)] = pair else { continue };
            let _ = writeln!(
                equalities,
                "    <connect body1=\"{first}\" body2=\"{second}\" anchor=\"{anchor}\"/>"
            );
        }
    }
    Furnishing { bodies, equalities, ..Furnishing::default() }
}
