//! Scenes of many bodies that differ in their number, as MJCF, which other simulators read too.

use super::piles::{Furnishing, free, mesh};
use super::{hopper, linkages, masonry, piles};
use crate::Error;
use crate::assemble::Description;
use crate::formats::LoadOptions;

/// What `--family` names.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Family {
    /// n cubes on each other
    Tower,
    /// n courses of bricks, n bricks wide, each over the joints of the one below, with half bricks at the ends of every other
    Wall,
    /// n boxes, balls, capsules and wedges (hulls) in turn, dropped in layers, turned by chance
    Heap,
    /// n capsules joined by hinges, lying on the floor
    Chain,
    /// Two hulls of n vertices each, one over the other
    Hulls,
    /// n wedge-shaped stones (voussoirs) in a semicircle, which stands by its weight
    Arch,
    /// A house of cards of n storeys: n tents of two cards in the lowest, one less in each above, a card across each two
    Cards,
    /// n dominoes in a row, the first of which falls
    Dominoes,
    /// n balls that fall through a funnel of four boxes, three and a half balls wide
    Hopper,
    /// Newton's cradle of n balls on hinges, without friction, which rebound with a restitution of 1; the first is drawn aside
    Cradle,
    /// A net of n by n meshes that falls on a ball: 2 n (n + 1) rods, whose ends are held together at (n + 1)^2 knots
    Net,
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
            Family::Arch => "arch",
            Family::Cards => "cards",
            Family::Dominoes => "dominoes",
            Family::Hopper => "hopper",
            Family::Cradle => "cradle",
            Family::Net => "net",
        }
    }

    /// Sizes that a laptop times in a minute.
    pub fn sizes(self) -> &'static [usize] {
        match self {
            Family::Tower => &[10, 20, 50, 100, 200],
            Family::Wall => &[3, 5, 7],
            Family::Heap => &[10, 30, 100],
            Family::Chain | Family::Cradle => &[10, 20, 50],
            Family::Hulls => &[16, 64, 256, 1000],
            Family::Arch => &[10, 20, 40],
            Family::Cards => &[2, 4, 6],
            Family::Dominoes => &[10, 20, 40],
            Family::Hopper => &[10, 30, 100],
            Family::Net => &[1, 2, 4],
        }
    }

    /// The least and the largest size.
    pub fn limits(self) -> [usize; 2] {
        match self {
            Family::Tower | Family::Heap | Family::Dominoes | Family::Hopper => [1, 10_000],
            Family::Wall | Family::Cards => [1, 100],
            // Bodies of a file are not nested deeper than 200 elements.
            Family::Chain => [1, 190],
            Family::Hulls => [4, 100_000],
            // Of two stones none holds the other up; thinner ones are none.
            Family::Arch => [3, 500],
            Family::Cradle => [2, 1000],
            Family::Net => [1, 50],
        }
    }

    /// The scene of size `n` for others. MJCF knows no restitution: contacts of the cradle are springs without dampers there.
    pub fn mjcf(self, n: usize) -> String {
        self.text(n, " solref=\"-16000 0\"")
    }

    /// The scene of size `n`, with the restitution it has.
    ///
    /// # Errors
    /// If no memory holds it.
    pub fn description(self, n: usize) -> Result<Description, Error> {
        let name = format!("{}{n}", self.name());
        let options = LoadOptions::default();
        let mut description = Description::parse_xml(&self.text(n, ""), &name, options)?;
        if self == Family::Cradle {
            let shapes = description.bodies.iter_mut().flat_map(|body| &mut body.colliders);
            for material in shapes.filter_map(|shape| shape.material.as_mut()) {
                material.restitution = 1.0;
            }
        }
        Ok(description)
    }

    /// `elastic`: what has a geom rebound.
    fn text(self, n: usize, elastic: &str) -> String {
        let scene = match self {
            Family::Tower => piles::tower(n),
            Family::Wall => masonry::wall(n),
            Family::Heap => piles::heap(n),
            Family::Chain => linkages::chain(n),
            Family::Hulls => hulls(n),
            Family::Arch => masonry::arch(n),
            Family::Cards => masonry::cards(n),
            Family::Dominoes => masonry::dominoes(n),
            Family::Hopper => hopper::hopper(n),
            Family::Cradle => linkages::cradle(n, elastic),
            Family::Net => linkages::net(n),
        };
        scene.mjcf(&format!("{}{n}", self.name()))
    }
}

fn hulls(n: usize) -> Furnishing {
    let hull = "type=\"mesh\" mesh=\"hull\"";
    let bodies =
        free([0.0, 0.0, 0.1], [0.0; 3], hull) + &free([0.01, 0.0, 0.302], [20.0, 30.0, 0.0], hull);
    Furnishing { assets: mesh("hull", &ball(n)), bodies, ..Furnishing::default() }
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
