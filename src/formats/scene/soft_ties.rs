//! What holds soft bodies and what pulls at them: `[[hold]]`, `[[cable]]` and `[[spring]]` of a scene file.

use nalgebra::Vector3;

use super::{Taken, read_name};
use crate::Error;
use crate::implicit::{Cable, CableKind, CablePoint};
use crate::model::{Scene, TetrahedralMesh};
use crate::soft::{SoftBody, SoftCable, SoftHold, SoftScene};
use crate::table::Table;

/// A point is one of a mesh if it is no farther outside of the box around it than this part of that box's diagonal.
const OUTSIDE: f64 = 0.05;
/// Shorter (m) is of no length.
const NO_LENGTH: f64 = 1e-9;

/// Reads them into the bodies of a scene.
pub(super) fn read(root: &Table, names: &mut Taken, scene: &mut SoftScene) -> Result<(), Error> {
    let mut cables = vec![Vec::new(); scene.bodies.len()];
    let mut holds = vec![Vec::new(); scene.bodies.len()];
    for (kind, sort) in [("cable", CableKind::Cable), ("spring", CableKind::Spring)] {
        for mut table in root.tables(kind)? {
            let name = read_name(&mut table, kind, names)?;
            let body = read_body(&table, &scene.bodies)?;
            let cable = read_cable(&table, &scene.bodies[body], (name, sort))?;
            cables[body].push(cable);
        }
    }
    for mut table in root.tables("hold")? {
        let name = read_name(&mut table, "hold", names)?;
        let body = read_body(&table, &scene.bodies)?;
        let mut hold = read_hold(&table, &scene.bodies[body], name)?;
        hold.carrier = read_carrier(&table, scene.rigid.as_deref())?;
        let own: &mut Vec<SoftHold> = &mut holds[body];
        let taken = |node: &&usize| own.iter().any(|other| other.nodes.contains(node));
        if let Some(&node) = hold.nodes.iter().find(taken) {
            let x = scene.bodies[body].mesh.nodes[node];
            let other = own.iter().find(|other| other.nodes.contains(&node));
            let other = other.map_or("", |other| &other.name);
            let message = format!("holds the node at {x:?} m of the mesh, which {other} holds too");
            return Err(table.error("", message));
        }
        own.push(hold);
    }
    for (body, (cables, holds)) in scene.bodies.iter_mut().zip(cables.into_iter().zip(holds)) {
        if !(cables.is_empty() && holds.is_empty()) {
            body.tie(cables, holds);
        }
    }
    Ok(())
}

/// Which body `soft` names; if there is only one, that.
fn read_body(table: &Table, bodies: &[SoftBody]) -> Result<usize, Error> {
    let names = || bodies.iter().map(|body| body.name.as_str()).collect::<Vec<_>>().join(", ");
    match table.string("soft")? {
        None if bodies.len() == 1 => Ok(0),
        None => {
            Err(table
                .error("soft", format!("is missing: the name of one of [[soft]], {}", names())))
        }
        Some(name) => bodies.iter().position(|body| body.name == name).ok_or_else(|| {
            let message = format!("the scene has no [[soft]] {name:?}; it has {}", names());
            table.error("soft", message)
        }),
    }
}

fn read_cable(
    table: &Table,
    body: &SoftBody,
    (name, mut kind): (String, CableKind),
) -> Result<SoftCable, Error> {
    table.only(&[
        "name",
        "soft",
        "points",
        "stiffness",
        "damping",
        "rest_length",
        "times",
        "pull",
    ])?;
    let points: Vec<CablePoint> = (table.tables("points")?.iter())
        .map(|point| read_point(point, body))
        .collect::<Result<_, Error>>()?;
    let nodes = points.iter().any(|point| matches!(point, CablePoint::Node(_)));
    if points.len() < 2 || !nodes {
        let message = "must be two points or more, such as [{ marker = \"tip\" }, { node = [0, 0, 0.1] }, { world = [0, 0, 0] }], one of them of the body";
        return Err(table.error("points", message));
    }
    if points.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(table.error("points", "has the same point twice, one after the other"));
    }
    let stiffness = table.required("stiffness", table.number("stiffness")?)?;
    table.demand("stiffness", stiffness > 0.0, "must be positive", stiffness, "N/m")?;
    let damping = table.number("damping")?.unwrap_or(0.0);
    table.demand("damping", damping >= 0.0, "must not be negative", damping, "N s/m")?;
    let given = table.number("rest_length")?;
    if kind == CableKind::Spring && given == Some(0.0) && points.len() == 2 {
        kind = CableKind::Joint;
    }
    let mut cable = Cable { points, stiffness, damping, kind, rest_length: 0.0 };
    let [length, _] = cable.length_and_tension(&body.position, None);
    if given.is_none() && length <= NO_LENGTH {
        let message = "is missing: its points are in one place where the body starts";
        return Err(table.error("rest_length", message));
    }
    cable.rest_length = given.unwrap_or(length);
    let demand = "must not be negative";
    table.demand("rest_length", cable.rest_length >= 0.0, demand, cable.rest_length, "m")?;
    let times = read_times(table, &["pull"])?;
    let pulls = table.list("pull")?.unwrap_or_default();
    demand_as_many(table, "pull", pulls.len(), times.len())?;
    if kind == CableKind::Joint && !pulls.is_empty() {
        let message =
            "is of a spring or a cable with a rest_length, not of what holds two points together";
        return Err(table.error("pull", message));
    }
    let most = pulls.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let demand = format!("must not be more than its rest length, {} m", cable.rest_length);
    table.demand("pull", most <= cable.rest_length, &demand, most, "m")?;
    Ok(SoftCable { name, cable, times, pulls })
}

fn read_point(table: &Table, body: &SoftBody) -> Result<CablePoint, Error> {
    table.only(&["marker", "node", "world"])?;
    let (marker, node) = (table.string("marker")?, table.numbers::<3>("node")?);
    match (marker, node, table.numbers::<3>("world")?) {
        (Some(name), None, None) => marked(table, "marker", body, name).map(CablePoint::Node),
        (None, Some(at), None) => nearest(table, &body.mesh, at).map(CablePoint::Node),
        (None, None, Some(at)) => Ok(CablePoint::World(at)),
        _ => {
            let message = "must be one of { marker = \"name\" }, { node = [x, y, z] }, the node nearest to this point in the frame of the mesh, and { world = [x, y, z] }, in m";
            Err(table.error("", message))
        }
    }
}

/// The node of a marker.
fn marked(table: &Table, field: &str, body: &SoftBody, name: &str) -> Result<usize, Error> {
    let found = body.markers.iter().find(|marker| marker.name == name);
    found.map(|marker| marker.node).ok_or_else(|| {
        let names: Vec<&str> = body.markers.iter().map(|marker| marker.name.as_str()).collect();
        let message = match names.is_empty() {
            true => format!("there is no {name:?}: {} has no markers", body.name),
            false => format!("there is no {name:?}; {} has {}", body.name, names.join(", ")),
        };
        table.error(field, message)
    })
}

/// The corners of the box around a mesh.
fn corners(mesh: &TetrahedralMesh) -> [Vector3<f64>; 2] {
    let nodes = || mesh.nodes.iter().map(|x| Vector3::from(*x));
    let first = nodes().next().unwrap_or_default();
    [nodes().fold(first, |a, b| a.inf(&b)), nodes().fold(first, |a, b| a.sup(&b))]
}

/// The node nearest to a point in the frame of the mesh.
fn nearest(table: &Table, mesh: &TetrahedralMesh, at: [f64; 3]) -> Result<usize, Error> {
    let point = Vector3::from(at);
    let [least, most] = corners(mesh);
    let outside = (least - point).sup(&(point - most)).max();
    let far = |node: &usize| (Vector3::from(mesh.nodes[*node]) - point).norm_squared();
    let found = (0..mesh.nodes.len()).min_by(|a, b| far(a).total_cmp(&far(b)));
    found.filter(|_| outside <= OUTSIDE * (most - least).norm()).ok_or_else(|| {
        let (least, most): ([f64; 3], [f64; 3]) = (least.into(), most.into());
        let message =
            format!("is outside of the mesh, which goes from {least:?} to {most:?} m in its frame");
        table.error("node", message)
    })
}

fn read_hold(table: &Table, body: &SoftBody, name: String) -> Result<SoftHold, Error> {
    table.only(&["name", "soft", "to", "box", "markers", "times", "displacement", "rotation"])?;
    let mut nodes = match (table.matrix::<2, 3>("box")?, table.strings("markers")?) {
        (Some([least, most]), None) => {
            let inside = |x: &[f64; 3]| (0..3).all(|k| least[k] <= x[k] && x[k] <= most[k]);
            let all = body.mesh.nodes.iter().enumerate();
            let nodes: Vec<usize> = all.filter(|(_, x)| inside(x)).map(|(node, _)| node).collect();
            if nodes.is_empty() {
                let [least, most]: [[f64; 3]; 2] = corners(&body.mesh).map(Into::into);
                let message = format!(
                    "has no node inside: the mesh goes from {least:?} to {most:?} m in its frame"
                );
                return Err(table.error("box", message));
            }
            nodes
        }
        (None, Some(markers)) if !markers.is_empty() => {
            let find = |name: &&str| marked(table, "markers", body, name);
            markers.iter().map(find).collect::<Result<_, Error>>()?
        }
        _ => {
            let message = "must say which nodes: box = [[x, y, z], [x, y, z]], its least and its largest corner in the frame of the mesh (m), or markers = [\"tip\"]";
            return Err(table.error("", message));
        }
    };
    nodes.sort_unstable();
    nodes.dedup();
    let times = read_times(table, &["displacement", "rotation"])?;
    let [displacement, rotation] =
        ["displacement", "rotation"].map(|field| read_vectors(table, field, &times));
    let (displacement, rotation) = (displacement?, rotation?);
    Ok(SoftHold { name, nodes, carrier: None, times, displacement, rotation })
}

/// The rigid body that `to` names.
fn read_carrier(table: &Table, scene: Option<&Scene>) -> Result<Option<usize>, Error> {
    let Some(name) = table.string("to")? else { return Ok(None) };
    if let Some(field) = ["times", "displacement", "rotation"].iter().find(|own| table.has(own)) {
        return Err(table.error(field, "has no meaning beside `to`: the body carries the nodes"));
    }
    let bodies = scene.map_or(&[][..], |scene| &scene.model.bodies);
    let body = bodies.iter().position(|body| body.name == name).ok_or_else(|| {
        let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
        let has = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        table.error("to", format!("the scene has no [[body]] {name:?}; it has {has}"))
    })?;
    if bodies[body].tree.is_none() {
        let message =
            format!("{name} does not move: leave `to` out, and the nodes stay where they are");
        return Err(table.error("to", message));
    }
    Ok(Some(body))
}

/// Three numbers for each of some times.
pub(super) fn read_vectors(
    table: &Table,
    field: &str,
    times: &[f64],
) -> Result<Vec<[f64; 3]>, Error> {
    let Some(rows) = table.rows(field)? else { return Ok(Vec::new()) };
    demand_as_many(table, field, rows.len(), times.len())?;
    let three = |row: Vec<f64>| {
        <[f64; 3]>::try_from(row)
            .map_err(|_| table.error(field, "must be three numbers for each of `times`"))
    };
    rows.into_iter().map(three).collect()
}

/// The times at which one of some fields is told.
pub(super) fn read_times(table: &Table, fields: &[&str]) -> Result<Vec<f64>, Error> {
    let told = fields.iter().any(|field| table.has(field));
    let Some(times) = table.list("times")? else {
        let missing = || table.error("times", format!("is missing beside {}", fields.join(" or ")));
        return if told { Err(missing()) } else { Ok(Vec::new()) };
    };
    if !told {
        return Err(table.error("times", format!("has no meaning without {}", fields.join(" or "))));
    }
    if times.is_empty() || !times.is_sorted_by(|a, b| a < b) {
        return Err(table.error("times", "must be ascending, in s"));
    }
    Ok(times)
}

fn demand_as_many(table: &Table, field: &str, found: usize, times: usize) -> Result<(), Error> {
    if found == times {
        return Ok(());
    }
    Err(table.error(field, format!("must be told {times} times, as `times` are, found {found}")))
}
