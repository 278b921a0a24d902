//! `contact` elements: pairs with friction of their own, bodies that pass through each other.

use std::collections::HashSet;

use super::geom_friction::{Friction, NO_TORSION};
use super::reader::Reader;
use super::tree::{Place, Surface, Tree};
use crate::Error;
use crate::assemble::{ContactDescription, Description, Material};
use crate::formats::xml::{Element, Unfollowed};

const RIGID: &str = "is not followed: contacts are rigid";
const GAP: &str = "has no effect: as in MuJoCo 4 it takes nothing from the margin";
const MARGINS: &str = "is not followed: the margins of both geoms are";

const UNFOLLOWED: [Unfollowed; 6] = [
    Unfollowed { name: "solref", neutral: "", instead: RIGID },
    Unfollowed { name: "solimp", neutral: "", instead: RIGID },
    Unfollowed { name: "solreffriction", neutral: "", instead: RIGID },
    Unfollowed { name: "margin", neutral: "", instead: MARGINS },
    Unfollowed { name: "gap", neutral: "0", instead: GAP },
    Unfollowed { name: "adhesion", neutral: "0", instead: "is not followed: nothing sticks" },
];

/// Reads all `contact` elements, and what touches by the filters alone.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    root: &'a Element,
    tree: &mut Tree,
    description: &mut Description,
) -> Result<(), Error> {
    let mut excluded = HashSet::new();
    for element in root.all("contact").flat_map(|contact| &contact.children) {
        match element.tag.as_str() {
            "exclude" => {
                element.remark_on_others(
                    &["name", "body1", "body2"],
                    &[],
                    &[],
                    &mut reader.remarks,
                );
                let body = |name: &str| {
                    let body = element.required(name)?;
                    match body == "world" || tree.places.contains_key(body) {
                        true => Ok(body.to_string()),
                        false => Err(element.error(name, format!("there is no body {body:?}"))),
                    }
                };
                match [body("body1")?, body("body2")?] {
                    [world, body] | [body, world] if world == "world" => {
                        exclude_world(tree, &body, element.line, description);
                    }
                    bodies => {
                        excluded.insert(bodies);
                    }
                }
            }
            "pair" => pair(reader, element, tree, description)?,
            _ => reader.remarks.add(element, "", "is not known here, and ignored"),
        }
    }
    exclude_neighbors(reader, tree, &mut excluded);
    prioritise(reader, tree, &excluded, description);
    let mut excluded: Vec<[String; 2]> = excluded.into_iter().collect();
    excluded.sort();
    description.excluded = excluded;
    smooth(reader, tree);
    Ok(())
}

fn pair<'a>(
    reader: &mut Reader<'a>,
    element: &'a Element,
    tree: &Tree,
    description: &mut Description,
) -> Result<(), Error> {
    let followed = ["name", "class", "geom1", "geom2", "condim", "friction"];
    element.remark_on_others(&followed, &[], &UNFOLLOWED, &mut reader.remarks);
    let given = reader.defaults.given(element, None)?;
    let mut geoms = Vec::new();
    for name in ["geom1", "geom2"] {
        let geom = element.required(name)?;
        match tree.geoms.get(geom) {
            Some(&named) => geoms.push(named),
            None => {
                let message = format!("there is no geom {geom:?} that can touch");
                return Err(element.error(name, message));
            }
        }
    }
    if !reader.flags.contact {
        return Ok(());
    }
    // Of the geoms those of the highest priority count.
    let first = geoms.iter().map(|geom| geom.priority).max();
    let counts = || geoms.iter().filter(|geom| Some(geom.priority) == first);
    let friction = counts().map(|geom| geom.friction).reduce(Friction::with).unwrap_or_default();
    let (friction, plain) = friction.of_pair(&given)?;
    if !plain {
        let message = "is followed in its first, third and fourth number: those along and across, and of both ways of \
                       rolling, are one";
        reader.remarks.add(given.at("friction"), "friction", message);
    }
    if friction.lacks_torsion() {
        reader.remarks.add(given.at("friction"), "friction", NO_TORSION);
    }
    let [first, second] = [geoms[0].place, geoms[1].place];
    let material = Some(friction.material_alone());
    // What is fixed to each other does not move by touching.
    if tree.moves_with(first) != tree.moves_with(second) {
        add(tree, [first, second], element.line, material, description);
    }
    Ok(())
}

/// Says how two shapes touch; the last word counts.
fn add(
    tree: &Tree,
    places: [Place; 2],
    line: usize,
    material: Option<Material>,
    description: &mut Description,
) {
    let [first, second] = places.map(|place| tree.collider_name(place));
    let (pair, other) = (format!("{first}-{second}"), format!("{second}-{first}"));
    description.contacts.retain(|contact| contact.pair != pair && contact.pair != other);
    description.contacts.push(ContactDescription { line: Some(line), pair, material, grain: None });
}

/// Lets a body pass through all that is the world's own.
fn exclude_world(tree: &Tree, body: &str, line: usize, description: &mut Description) {
    let Some(&link) = tree.places.get(body) else { return };
    if tree.is_fixed(link) {
        return;
    }
    let half_spaces = (0..tree.half_spaces.len()).map(Place::HalfSpace);
    let shapes = (0..tree.colliders.len()).map(Place::World);
    for fixed in half_spaces.chain(shapes) {
        for k in 0..tree.links[link].colliders.len() {
            add(tree, [fixed, Place::Link(link, k)], line, None, description);
        }
    }
}

/// A body passes through the one it hangs on. Where bodies without mass stand between the two, nobody but
/// this file knows.
fn exclude_neighbors(reader: &Reader, tree: &Tree, excluded: &mut HashSet<[String; 2]>) {
    if !reader.flags.filter_parent {
        return;
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); tree.links.len()];
    for (index, link) in tree.links.iter().enumerate() {
        if let Some(whole) = tree.whole(index)
            && !link.colliders.is_empty()
        {
            members[whole].push(index);
        }
    }
    for (index, link) in tree.links.iter().enumerate() {
        let several = link.joints.len() > 1;
        let Some(parent) = link.parent.and_then(|parent| tree.whole(parent)) else { continue };
        if !several {
            continue;
        }
        for &below in &members[index] {
            for &above in &members[parent] {
                let names = [above, below].map(|k| tree.links[k].name.clone());
                excluded.insert(names);
            }
        }
    }
}

/// Pairs of geoms of different priorities at most.
const MOST_PAIRS: usize = 20_000;

/// Where one of two geoms has the higher priority, how they rub is what it says; and where one has friction about the normal or
/// against rolling, of the numbers of both each larger one counts, which surfaces by themselves would not come to: pairs with a
/// friction of their own.
fn prioritise(
    reader: &mut Reader,
    tree: &Tree,
    excluded: &HashSet<[String; 2]>,
    description: &mut Description,
) {
    let named: HashSet<String> =
        description.contacts.iter().map(|contact| contact.pair.clone()).collect();
    let above = |link: usize| tree.links[link].parent.and_then(|parent| tree.whole(parent));
    let touch = |a: Place, b: Place| {
        let (first, second) = (tree.moves_with(a), tree.moves_with(b));
        let (own, other) = (tree.filter(a), tree.filter(b));
        let meet = own.contype & other.conaffinity != 0 || other.contype & own.conaffinity != 0;
        let hang = match (first, second) {
            (Some(first), Some(second)) => {
                above(first) == Some(second) || above(second) == Some(first)
            }
            _ => false,
        };
        let body = |place: Place| match place {
            Place::Link(link, _) => tree.links[link].name.clone(),
            Place::HalfSpace(_) | Place::World(_) => String::new(),
        };
        let bodies = [body(a), body(b)];
        let apart = excluded.contains(&bodies) || {
            let [a, b] = bodies;
            excluded.contains(&[b, a])
        };
        first != second && meet && !apart && !(hang && reader.flags.filter_parent)
    };
    let mut added = Vec::new();
    let special = |surface: &Surface| surface.priority != 0 || surface.friction.has_couples();
    if !tree.surfaces.iter().any(special) || !reader.flags.contact {
        return;
    }
    for (k, first) in tree.surfaces.iter().enumerate() {
        for second in &tree.surfaces[k + 1..] {
            let together = first.friction.with(second.friction);
            let alike = first.priority == second.priority;
            let plain = || {
                let [a, b] = [first, second].map(|surface| surface.friction.material());
                let both = together.material_alone();
                a.mu.max(b.mu) == both.mu && a.terms.with(b.terms) == both.terms
            };
            if alike && (!together.has_couples() || plain()) || !touch(first.place, second.place) {
                continue;
            }
            let counts = if first.priority > second.priority { first } else { second };
            let friction = if alike { together } else { counts.friction };
            let [a, b] = [first, second].map(|surface| tree.collider_name(surface.place));
            let pair = format!("{a}-{b}");
            if named.contains(&pair) || named.contains(&format!("{b}-{a}")) {
                continue;
            }
            let material = Some(friction.material_alone());
            added.push(ContactDescription { line: Some(counts.line), pair, material, grain: None });
            if added.len() > MOST_PAIRS {
                let message = "is not followed pair by pair, as these are too many: of two geoms the larger friction counts";
                let field = if alike { "geom.condim" } else { "geom.priority" };
                reader.remarks.add_at(&counts.file, counts.line, field, message);
                return;
            }
        }
    }
    description.contacts.extend(added);
}

/// Geoms of condim 1 slide on each other, and rub on all others. Without friction of their own they do so,
/// as of two surfaces the larger friction counts.
fn smooth(reader: &mut Reader, tree: &mut Tree) {
    let rough = tree.surfaces.iter().filter(|surface| surface.friction.condim > 1);
    let least = rough.map(|surface| surface.friction.mu).fold(f64::INFINITY, f64::min);
    let slippery = tree.surfaces.iter().filter(|surface| surface.friction.condim == 1);
    for surface in slippery.cloned().collect::<Vec<_>>() {
        tree.make_smooth(surface.place);
        if surface.friction.mu > least {
            let message = "1 is followed as no friction: of a geom with friction, the number of that one counts";
            reader.remarks.add_at(&surface.file, surface.line, "geom.condim", message);
        }
    }
}
