//! What stands because its parts lean on each other: walls, arches, houses of cards, dominoes.

use super::piles::{Furnishing, free, mesh};

/// Bricks in courses, each over the joints of the one below; half bricks end every other course.
pub fn wall(n: usize) -> Furnishing {
    let brick = |half: f64| format!("type=\"box\" size=\"{half} 0.05 0.05\"");
    let course = |row: usize| {
        let place =
            |x: f64, half: f64| free([x, 0.0, 0.05 + 0.1 * row as f64], [0.0; 3], &brick(half));
        let shift = if row % 2 == 1 { 0.1 } else { 0.0 };
        let whole = (0..n - row % 2).map(move |k| place(0.2 * k as f64 + shift, 0.1));
        let ends = [-0.05, 0.2 * n as f64 - 0.15].map(|x| place(x, 0.05));
        whole.chain(ends.into_iter().filter(move |_| row % 2 == 1)).collect::<String>()
    };
    Furnishing::of((0..n).map(course).collect())
}

/// Inner and outer radius of an arch and half its depth, m: an eighth of the radius is a little more than a semicircle
/// needs to stand by its weight.
const ARCH: [f64; 3] = [0.5, 0.65, 0.1];

/// A semicircle of equal voussoirs.
pub fn arch(n: usize) -> Furnishing {
    let [inner, outer, depth] = ARCH;
    let middle = 0.5 * (inner + outer);
    let half = 0.5 * std::f64::consts::PI / n as f64;
    let (sine, cosine) = half.sin_cos();
    let corner =
        |radius: f64, side: f64, y: f64| [side * radius * sine, y, radius * cosine - middle];
    let corners: Vec<[f64; 3]> = [inner, outer]
        .into_iter()
        .flat_map(|radius| [-1.0, 1.0].map(|side| [-depth, depth].map(|y| corner(radius, side, y))))
        .flatten()
        .collect();
    let stone = |k: usize| {
        let turn = std::f64::consts::PI * ((k as f64 + 0.5) / n as f64 - 0.5);
        let position = [middle * turn.sin(), 0.0, middle * turn.cos()];
        free(position, [0.0, turn.to_degrees(), 0.0], "type=\"mesh\" mesh=\"voussoir\"")
    };
    let bodies = (0..n).map(stone).collect();
    Furnishing { assets: mesh("voussoir", &corners), bodies, ..Furnishing::default() }
}

/// Half the length, width and thickness of a card, m, and how far it leans, rad.
const CARD: [f64; 3] = [0.05, 0.03, 0.001];
const LEAN: f64 = 0.3;

/// A house of `n` storeys of tents of two cards, one less in each than in the one below, with a card across each two of them.
pub fn cards(n: usize) -> Furnishing {
    let [length, width, thickness] = CARD;
    let (sine, cosine) = LEAN.sin_cos();
    // Of the middle of a card from the ridge of its tent and from the ground under it.
    let [aside, up] = [length * sine + thickness * cosine, length * cosine + thickness * sine];
    let pitch = 4.0 * aside + thickness;
    let storey = 2.0 * (up + thickness);
    let leaning = format!("type=\"box\" size=\"{thickness} {width} {length}\"");
    let lying = format!("type=\"box\" size=\"{} {width} {thickness}\"", 0.5 * (pitch - thickness));
    let floor = |level: usize| {
        let (tents, ground) = (n - level, storey * level as f64);
        let ridge = move |k: usize| pitch * (k as f64 + 0.5 * level as f64);
        let lean = LEAN.to_degrees();
        let leaning = &leaning;
        let tent = move |k: usize| {
            [-1.0, 1.0].map(|side| {
                let position = [ridge(k) + side * aside, 0.0, ground + up];
                free(position, [0.0, -side * lean, 0.0], leaning)
            })
        };
        let lying = &lying;
        let across = move |k: usize| {
            let x = 0.5 * (ridge(k) + ridge(k + 1));
            free([x, 0.0, ground + storey - thickness], [0.0; 3], lying)
        };
        (0..tents).flat_map(tent).chain((1..tents).map(move |k| across(k - 1))).collect::<String>()
    };
    Furnishing::of((0..n).map(floor).collect())
}

/// Half the thickness, width and height of a domino, how far they are from each other, m, and how far the first leans, beyond
/// its balance, rad.
const DOMINO: [f64; 3] = [0.02, 0.05, 0.1];
const APART: f64 = 0.14;
const TIPPED: f64 = 0.25;

/// Dominoes in a row, the first of which falls.
pub fn dominoes(n: usize) -> Furnishing {
    let [thickness, width, height] = DOMINO;
    let (sine, cosine) = TIPPED.sin_cos();
    let shape = format!("type=\"box\" size=\"{thickness} {width} {height}\"");
    let stone = |k: usize| match k {
        // It stands on its foremost edge.
        0 => {
            let x = thickness - thickness * cosine + height * sine;
            let z = thickness * sine + height * cosine;
            free([x, 0.0, z], [0.0, TIPPED.to_degrees(), 0.0], &shape)
        }
        _ => free([APART * k as f64, 0.0, height], [0.0; 3], &shape),
    };
    Furnishing::of((0..n).map(stone).collect())
}
