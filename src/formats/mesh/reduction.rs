//! Meshes collide by a hull of few vertices; how far it falls short of the whole one is said in one warning.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::Error;
use crate::assemble::Description;
use crate::model::{Polyhedron, Shape};
use crate::table::Table;

/// Vertices of the hull of a mesh that collide, where nothing else is said.
pub const MAX_HULL_VERTICES: usize = 64;

/// The largest limit that files can say; 0 stands for more.
const LARGEST: usize = u32::MAX as usize;

/// Why hulls are not reduced to so many vertices; 0 is all of them.
pub(in crate::formats) fn check_limit(most: usize) -> Result<(), String> {
    let least = Polyhedron::LEAST_VERTICES;
    match most {
        0 => Ok(()),
        _ if most < least => {
            Err(format!("must be 0, for all, or at least {least}: {most} vertices are no solid"))
        }
        _ if most > LARGEST => Err(format!("must be 0, for all, or at most {LARGEST}, is {most}")),
        _ => Ok(()),
    }
}

/// The field of files that has the limit.
pub(in crate::formats) const HULL_LIMIT: &str = "max_hull_vertices";

/// The limit that a table has, if it has one.
pub(crate) fn hull_limit(table: &Table) -> Result<Option<usize>, Error> {
    let Some(most) = table.number(HULL_LIMIT)? else { return Ok(None) };
    let whole = (0.0..=LARGEST as f64).contains(&most) && most.fract() == 0.0;
    table.demand(HULL_LIMIT, whole, "must be a whole number", most, "")?;
    check_limit(most as usize).map_err(|message| table.error(HULL_LIMIT, message))?;
    Ok(Some(most as usize))
}

/// A hull that is reduced.
struct Reduction {
    /// Held, so that no other hull comes to its place in memory.
    _whole: Arc<Polyhedron>,
    reduced: Arc<Polyhedron>,
    /// How far it falls short, m.
    short: f64,
    /// Whether anything that it is of does not say it itself.
    told: bool,
}

/// What was left out.
#[derive(Default)]
struct Reductions {
    /// By the places of hulls in memory and the limit.
    made: HashMap<(*const Polyhedron, usize), Reduction>,
    most: usize,
    largest: usize,
    short: f64,
    of: String,
}

impl Reductions {
    /// Nothing for what spans a volume too thin for so few: it stays whole.
    fn reduce(
        &mut self,
        hull: &Arc<Polyhedron>,
        most: usize,
        tell: bool,
    ) -> Option<(Arc<Polyhedron>, f64)> {
        let made = match self.made.entry((Arc::as_ptr(hull), most)) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => {
                let (reduced, short) = hull.reduced(most).ok()?;
                let reduced = Arc::new(reduced);
                place.insert(Reduction { _whole: hull.clone(), reduced, short, told: false })
            }
        };
        made.told |= tell;
        Some((made.reduced.clone(), made.short))
    }
}

/// Reduces the hulls of meshes to as many vertices as their descriptions say, and warns of it where the file does not say it
/// itself. What bodies weigh is not touched.
pub(in crate::formats) fn reduce_hulls(description: &mut Description) {
    let mut done = Reductions::default();
    let fixed = description.colliders.iter_mut().map(|collider| (None, collider));
    let moving = description.bodies.iter_mut().flat_map(|body| {
        let name = &body.name;
        body.colliders.iter_mut().map(move |collider| (Some(name.as_str()), collider))
    });
    for (body, collider) in fixed.chain(moving) {
        let most = collider.max_hull_vertices.unwrap_or(0);
        let Shape::Convex(hull) = &collider.shape else { continue };
        let vertices = hull.vertices().len();
        if most == 0 || vertices <= most {
            continue;
        }
        let tell = !collider.states_hull_limit;
        let Some((reduced, short)) = done.reduce(hull, most, tell) else { continue };
        collider.shape = Shape::Convex(reduced);
        if !tell {
            continue;
        }
        // A scene that is written of it says it.
        collider.states_hull_limit = true;
        let short = short * collider.size.iter().copied().fold(0.0, f64::max);
        done.most = done.most.max(most);
        done.largest = done.largest.max(vertices);
        if short >= done.short {
            done.short = short;
            let own = Some(collider.name.as_str()).filter(|name| !name.is_empty());
            done.of = body.into_iter().chain(own).collect::<Vec<_>>().join("/");
        }
    }
    let told = done.made.values().filter(|reduction| reduction.told).count();
    if told == 0 {
        return;
    }
    let Reductions { most, largest, short, of, .. } = &done;
    let of = if of.is_empty() { String::new() } else { format!(" (that of {of})") };
    let message = format!(
        "hulls of meshes ({told}, the largest of {largest} vertices) are reduced to at most {most} for contact: they fall \
         short of the whole ones by at most {short:.1e} m{of}; 0 keeps all vertices",
    );
    description.warnings.push(Error::input(&*description.name, None, "max_hull_vertices", message));
}
