//! Balls that fall through a funnel.

use super::piles::{Furnishing, free};

/// The radius of the grains, half the width of the hole, m: three and a half grains fit through it.
const GRAIN: f64 = 0.025;
const HOLE: f64 = 0.0875;
/// Half the thickness of the sides, and how high the hole is over the ground, m.
const PLATE: f64 = 0.02;
const ABOVE: f64 = 0.3;

/// Balls in two or so layers over a funnel of four boxes that lean by 45 degrees.
pub fn hopper(n: usize) -> Furnishing {
    let columns = (((0.5 * n as f64).sqrt()).ceil() as usize).max(2);
    let pitch = 2.4 * GRAIN;
    // The funnel is wider than the layers by a grain on each side.
    let rise = (0.5 * pitch * columns as f64 + 2.0 * GRAIN - HOLE).max(4.0 * GRAIN);
    let diagonal = std::f64::consts::FRAC_1_SQRT_2;
    let length = rise * diagonal;
    let width = HOLE + rise + PLATE;
    let side = |k: usize| {
        let (sine, cosine) = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)][k];
        let out = HOLE + 0.5 * rise + PLATE * diagonal;
        let [x, y, z] = [out * cosine, out * sine, ABOVE + 0.5 * rise - PLATE * diagonal];
        format!(
            "    <geom type=\"box\" size=\"{length} {width} {PLATE}\" pos=\"{x} {y} {z}\" xyaxes=\"{} {} {diagonal} {} {cosine} 0\"/>\n",
            diagonal * cosine,
            diagonal * sine,
            -sine
        )
    };
    let grain = |k: usize| {
        let (x, y, z) = (k % columns, k / columns % columns, k / (columns * columns));
        // Layers lie askew, so that no grain stands on another.
        let near = |at: usize| {
            pitch * (at as f64 - 0.5 * (columns as f64 - 1.0)) + 0.3 * GRAIN * (z % 2) as f64
        };
        let position = [near(x), near(y), ABOVE + rise + 2.0 * GRAIN + pitch * z as f64];
        free(position, [0.0; 3], &format!("type=\"sphere\" size=\"{GRAIN}\""))
    };
    Furnishing::of((0..4).map(side).chain((0..n).map(grain)).collect())
}
