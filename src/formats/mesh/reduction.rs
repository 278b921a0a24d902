//! Meshes collide by a hull of few vertices; how far it falls short of the whole one is said in one warning.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Error;
use crate::assemble::Description;
use crate::model::{Polyhedron, Shape};

/// Vertices of the hull of a mesh that collide, where nothing else is said.
pub const MAX_HULL_VERTICES: usize = 64;

/// Why hulls are not reduced to so many vertices; 0 is all of them.
pub(in crate::formats) fn check_limit(most: usize) -> Result<(), String> {
    let least = Polyhedron::LEAST_VERTICES;
    match most == 0 || most >= least {
        true => Ok(()),
        false => {
            Err(format!("must be 0, for all, or at least {least}: {most} vertices are no solid"))
        }
    }
}

/// A hull that is reduced.
struct Reduction {
    /// Held, so that no other hull comes to its place in memory.
    _whole: Arc<Polyhedron>,
    reduced: Arc<Polyhedron>,
    /// How far it falls short, m.
    short: f64,
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
    fn reduce(&mut self, hull: &Arc<Polyhedron>, most: usize) -> (Arc<Polyhedron>, f64) {
        let key = (Arc::as_ptr(hull), most);
        let Reduction { reduced, short, .. } = self.made.entry(key).or_insert_with(|| {
            // What spans a volume too thin for so few stays whole.
            let made = hull.reduced(most).map(|(reduced, short)| (Arc::new(reduced), short));
            let (reduced, short) = made.unwrap_or_else(|_| (hull.clone(), 0.0));
            Reduction { _whole: hull.clone(), reduced, short }
        });
        (reduced.clone(), *short)
    }
}

/// Reduces the hulls of meshes to as many vertices as their descriptions say, and warns of it. What bodies weigh is not
/// touched.
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
        let (reduced, short) = done.reduce(hull, most);
        collider.shape = Shape::Convex(reduced);
        let short = short * collider.size.iter().copied().fold(0.0, f64::max);
        done.most = done.most.max(most);
        done.largest = done.largest.max(vertices);
        if short >= done.short {
            done.short = short;
            let own = Some(collider.name.as_str()).filter(|name| !name.is_empty());
            done.of = body.into_iter().chain(own).collect::<Vec<_>>().join("/");
        }
    }
    if done.made.is_empty() {
        return;
    }
    let (count, Reductions { most, largest, short, of, .. }) = (done.made.len(), &done);
    let of = if of.is_empty() { String::new() } else { format!(" (that of {of})") };
    let message = format!(
        "hulls of {count} meshes, the largest of {largest} vertices, are reduced to at most {most} for contact: they fall \
         short of the whole ones by at most {short:.1e} m{of}; 0 keeps all vertices",
    );
    description.warnings.push(Error::input(&*description.name, None, "max_hull_vertices", message));
}
