//! Systems of points in Cartesian coordinates ([`maximal`](crate::maximal)) as TOML. `docs/file-formats.md` describes them.

use std::path::Path;

use crate::Error;
use crate::maximal::{
    ExtendedBody, Geometry, PointConstraint, PointContact, PointParameters, PointScene, PointStart,
    PointSystem, Potential, Spring, Wall,
};
use crate::table::{self, Table};

/// More points than this are refused.
const MOST_POINTS: usize = 100_000;

impl PointScene {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is no such system: with line and field.
    pub fn load(path: impl AsRef<Path>) -> Result<PointScene, Error> {
        let path = path.as_ref();
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        PointScene::parse(&text, &path.display().to_string())
    }

    /// The same of the text of a file, which `name` stands for in messages.
    ///
    /// # Errors
    /// If it is no such system.
    pub fn parse(text: &str, name: &str) -> Result<PointScene, Error> {
        let document = table::parse(text, name)?;
        read(&Table::root(text, name, &document), name)
    }
}

fn read(root: &Table, name: &str) -> Result<PointScene, Error> {
    root.only(&[
        "dimension",
        "step",
        "gravity",
        "start",
        "speed",
        "body",
        "rope",
        "rod",
        "tether",
        "ball_joint",
        "contact",
    ])?;
    let dimension = root.required("dimension", root.count("dimension", 3)?)?;
    root.demand("dimension", dimension >= 2, "must be 2 or 3", dimension as f64, "")?;
    let step = root.required("step", root.number("step")?)?;
    root.demand("step", step > 0.0, "must be positive", step, "s")?;
    let mut potential =
        Potential { gravity: place(root, "gravity", dimension)?, ..Potential::default() };
    let mut parameters = PointParameters::default();
    let (mut bodies, mut contacts) = (Vec::new(), Vec::new());
    let contact = root.required("contact", root.table("contact")?)?;
    contact.only(&["disks", "walls", "rim", "bend", "stretch", "friction", "restitution"])?;
    if let Some(rope) = root.table("rope")? {
        if root.has("body") {
            return Err(root.error("body", "is not beside [rope], which has its own points"));
        }
        read_rope(
            &rope,
            dimension,
            &contact,
            &mut bodies,
            &mut parameters,
            &mut potential,
            &mut contacts,
        )?;
    } else {
        for table in root.tables("body")? {
            table.only(&["mass", "radius", "moments"])?;
            let mass = table.required("mass", table.number("mass")?)?;
            table.demand("mass", mass > 0.0, "must be positive", mass, "kg")?;
            let radius = table.number("radius")?.unwrap_or(0.0);
            table.demand("radius", radius >= 0.0, "must not be negative", radius, "m")?;
            let moments = table.list("moments")?.unwrap_or_default();
            if !moments.is_empty() && moments.len() != dimension {
                let message = format!("must be {dimension} numbers, found {}", moments.len());
                return Err(table.error("moments", message));
            }
            for &moment in &moments {
                table.demand("moments", moment > 0.0, "must be positive", moment, "m²")?;
            }
            bodies.push(ExtendedBody { axes: moments.len(), radius });
            parameters.masses.push(mass);
            parameters.moments.extend(moments);
        }
    }
    for field in ["bend", "stretch"] {
        if contact.has(field) && !root.has("rope") {
            return Err(contact.error(field, "is of a [rope]"));
        }
    }
    if contact.has("rim") && !contact.has("walls") {
        return Err(contact.error("rim", "meets walls, of which there are none"));
    }
    read_contacts(&contact, dimension, &bodies, &mut contacts)?;
    let constraints = read_constraints(root, dimension, &bodies)?;
    let shared = ["friction", "restitution"].map(|field| !contact.is_list(field));
    let surfaces = |field: &str| -> Result<Vec<f64>, Error> {
        let many = if contact.is_list(field) { contact.list(field)? } else { None };
        let found = match many {
            Some(list) if list.len() == contacts.len() => list,
            Some(list) => {
                let expected = contacts.len();
                let message = format!(
                    "must be a number, or one of each contact ({expected}), found {}",
                    list.len()
                );
                return Err(contact.error(field, message));
            }
            None => {
                let one = contact.required(field, contact.number(field)?)?;
                vec![one; if shared == [true; 2] { contacts.len().min(1) } else { contacts.len() }]
            }
        };
        Ok(found)
    };
    parameters.friction = surfaces("friction")?;
    parameters.restitution = surfaces("restitution")?;
    let has_one_surface = shared == [true; 2];
    if !has_one_surface {
        contacts.iter_mut().enumerate().for_each(|(k, contact)| contact.surface = k);
    }
    let system = PointSystem::new(dimension, bodies, constraints, contacts, potential, step);
    let system = system.map_err(|error| root.error("", error.to_string()))?;
    system.check(&parameters).map_err(|error| contact.error("", error.to_string()))?;
    let start = read_start(root, &contact)?;
    Ok(PointScene { name: name.to_string(), system, parameters, start })
}

/// A whole number from zero.
fn index(table: &Table, field: &str, most: usize) -> Result<usize, Error> {
    let number = table.required(field, table.number(field)?)?;
    let sound = number >= 0.0 && number.fract() == 0.0 && number <= most as f64;
    table.demand(field, sound, &format!("must be a whole number from 0 to {most}"), number, "")?;
    Ok(number as usize)
}

/// A vector of as many numbers as dimensions; zero if there is none.
fn place(table: &Table, field: &str, dimension: usize) -> Result<[f64; 3], Error> {
    let numbers = table.list(field)?.unwrap_or(vec![0.0; dimension]);
    if numbers.len() != dimension {
        let message = format!("must be {dimension} numbers, found {}", numbers.len());
        return Err(table.error(field, message));
    }
    Ok(std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(0.0)))
}

fn read_rope(
    rope: &Table,
    dimension: usize,
    contact: &Table,
    bodies: &mut Vec<ExtendedBody>,
    parameters: &mut PointParameters<f64>,
    potential: &mut Potential,
    contacts: &mut Vec<PointContact>,
) -> Result<(), Error> {
    rope.only(&["points", "mass", "length", "stiffness", "anchor"])?;
    let points = rope.required("points", rope.count("points", MOST_POINTS)?)?;
    let positive = |field: &str, unit: &str| {
        let number = rope.required(field, rope.number(field)?)?;
        rope.demand(field, number > 0.0, "must be positive", number, unit)?;
        Ok::<f64, Error>(number)
    };
    let (mass, length) = (positive("mass", "kg")?, positive("length", "m")?);
    let stiffness = positive("stiffness", "J/m²")?;
    let anchor = place(rope, "anchor", dimension)?;
    bodies.resize(points, ExtendedBody::default());
    parameters.masses.resize(points, mass);
    for point in 0..points {
        let from = point.checked_sub(1).ok_or(anchor);
        potential.springs.push(Spring { point, from, stiffness, length });
    }
    let before = |k: usize| k.checked_sub(1);
    if let Some(limit) = contact.number("bend")? {
        for k in 1..points {
            let points = [(k > 1).then(|| k - 2), Some(k - 1), Some(k)];
            let geometry = Geometry::Bend { points, anchor, limit };
            contacts.push(PointContact { geometry, surface: 0 });
        }
    }
    if let Some(parts) = contact.numbers::<2>("stretch")? {
        for k in 0..points {
            let range = parts.map(|part| part * length);
            let geometry = Geometry::Stretch { points: [before(k), Some(k)], anchor, range };
            contacts.push(PointContact { geometry, surface: 0 });
        }
    }
    Ok(())
}

fn read_contacts(
    contact: &Table,
    dimension: usize,
    bodies: &[ExtendedBody],
    contacts: &mut Vec<PointContact>,
) -> Result<(), Error> {
    let disks: Vec<usize> = (0..bodies.len()).filter(|&k| bodies[k].radius > 0.0).collect();
    let mut add = |geometry| contacts.push(PointContact { geometry, surface: 0 });
    if contact.boolean("disks")?.unwrap_or(false) {
        if disks.len() < 2 {
            return Err(contact.error("disks", "needs two bodies with a radius"));
        }
        for (k, &i) in disks.iter().enumerate() {
            disks[k + 1..].iter().for_each(|&j| add(Geometry::Disks([i, j])));
        }
    }
    let mut walls = Vec::new();
    for row in contact.rows("walls")?.unwrap_or_default() {
        if row.len() != dimension + 1 {
            let message =
                format!("must be rows of a normal and an offset, {} numbers", dimension + 1);
            return Err(contact.error("walls", message));
        }
        let normal = std::array::from_fn(|k| if k < dimension { row[k] } else { 0.0 });
        walls.push(Wall { normal, offset: row[dimension] });
    }
    if !walls.is_empty() && disks.is_empty() && !contact.has("rim") {
        let message = "nothing meets them: bodies with a radius do, or a rim";
        return Err(contact.error("walls", message));
    }
    for &body in &disks {
        walls.iter().for_each(|&wall| add(Geometry::DiskWall { body, wall }));
    }
    if let Some(table) = contact.table("rim")? {
        table.only(&["body", "radius", "points", "turn"])?;
        let body = index(&table, "body", bodies.len().saturating_sub(1))?;
        let radius = table.required("radius", table.number("radius")?)?;
        table.demand("radius", radius > 0.0, "must be positive", radius, "m")?;
        let points = table.required("points", table.count("points", MOST_POINTS)?)?;
        let turn = table.number("turn")?.unwrap_or(std::f64::consts::TAU);
        let at = |k: usize| {
            let (sin, cos) = (turn * k as f64 / points as f64).sin_cos();
            [radius * cos, radius * sin]
        };
        let rim: Vec<[f64; 2]> = (0..points).map(at).collect();
        walls.iter().for_each(|&wall| add(Geometry::RimWall { body, rim: rim.clone(), wall }));
    }
    Ok(())
}

fn read_constraints(
    root: &Table,
    dimension: usize,
    bodies: &[ExtendedBody],
) -> Result<Vec<PointConstraint>, Error> {
    let most = bodies.iter().map(ExtendedBody::points).sum::<usize>().saturating_sub(1);
    let mut constraints = Vec::new();
    let length = |table: &Table| {
        let length = table.required("length", table.number("length")?)?;
        table.demand("length", length > 0.0, "must be positive", length, "m")?;
        Ok::<f64, Error>(length)
    };
    for table in root.tables("rod")? {
        table.only(&["points", "length"])?;
        let ends = table.required("points", table.numbers::<2>("points")?)?;
        let mut points = [0; 2];
        for (point, end) in points.iter_mut().zip(ends) {
            let sound = end >= 0.0 && end.fract() == 0.0 && end <= most as f64;
            table.demand("points", sound, &format!("must be points from 0 to {most}"), end, "")?;
            *point = end as usize;
        }
        constraints.push(PointConstraint::Rod { points, length: length(&table)? });
    }
    for table in root.tables("tether")? {
        table.only(&["point", "anchor", "length"])?;
        let point = index(&table, "point", most)?;
        let anchor = place(&table, "anchor", dimension)?;
        constraints.push(PointConstraint::Tether { point, anchor, length: length(&table)? });
    }
    for table in root.tables("ball_joint")? {
        table.only(&["weights", "anchor"])?;
        let weights = table.required("weights", table.list("weights")?)?;
        if weights.len() > most + 1 || weights.iter().all(|&w| w == 0.0) {
            let message =
                format!("must be weights of the points, at most {}, not all zero", most + 1);
            return Err(table.error("weights", message));
        }
        let weights = weights.into_iter().enumerate().filter(|(_, w)| *w != 0.0).collect();
        constraints.push(PointConstraint::BallJoint {
            weights,
            anchor: place(&table, "anchor", dimension)?,
        });
    }
    Ok(constraints)
}

fn read_start(root: &Table, contact: &Table) -> Result<Option<PointStart>, Error> {
    let kind = root.string("start")?;
    if root.has("speed") && kind != Some("scattered") {
        return Err(root.error("speed", "is of start = \"scattered\""));
    }
    let Some(kind) = kind else { return Ok(None) };
    Ok(Some(match kind {
        "scattered" => PointStart::Scattered { speed: root.number("speed")?.unwrap_or(1.0) },
        "chain" => PointStart::Chain,
        "top" => PointStart::Top,
        "rope" => PointStart::Rope { bend: contact.number("bend")?.unwrap_or(0.0) },
        other => {
            let message =
                format!("must be \"scattered\", \"chain\", \"top\" or \"rope\", found {other:?}");
            return Err(root.error("start", message));
        }
    }))
}
