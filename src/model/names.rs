//! Parameters by name.

use super::parameters::{
    CENTER_OF_MASS, INERTIA, MASS, MU, MU_STATIC, RESTITUTION, SIZE, body_slot, pair_slot,
};
use super::{Body, Model, Shape};

/// The slots of [`Parameters::values`](super::Parameters) that a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterRef {
    /// One slot, or several that are tied to one number.
    pub slots: Vec<usize>,
}

impl Model {
    /// The names of single parameters, in the order of their slots: `gravity/z`, `cube/mass`,
    /// `cube/center_of_mass/x`, `cube/inertia/xx`, `cube/half_extents/x`, `ball/radius`,
    /// `floor-cube/mu`, `floor-cube/restitution`, and `floor-cube/mu_static` of a pair with two regimes.
    /// Unused slots have none.
    pub fn parameter_names(&self) -> Vec<String> {
        self.named_slots().into_iter().map(|(name, _)| name).collect()
    }

    /// The slots of a parameter. Two more names tie three numbers to one: `cube/inertia` (xx = yy =
    /// zz) and `cube/half_extents` (x = y = z).
    pub fn parameter(&self, name: &str) -> Option<ParameterRef> {
        let tied =
            self.bodies.iter().enumerate().find_map(|(body, Body { name: owner, shape })| {
                let field = name.strip_prefix(owner.as_str())?.strip_prefix('/')?;
                let first = match (field, shape) {
                    ("inertia", _) => INERTIA,
                    ("half_extents", Shape::Box) => SIZE,
                    _ => return None,
                };
                let first = body_slot(body) + first;
                Some(vec![first, first + 1, first + 2])
            });
        let slots = match tied {
            Some(slots) => slots,
            None => vec![self.named_slots().into_iter().find(|(other, _)| other == name)?.1],
        };
        Some(ParameterRef { slots })
    }

    /// Every single name with its slot, in the order of the slots.
    fn named_slots(&self) -> Vec<(String, usize)> {
        const XYZ: [&str; 3] = ["x", "y", "z"];
        let mut names = Vec::with_capacity(self.parameter_count());
        let mut add = |owner: &str, fields: &[&str], first: usize| {
            let named = fields.iter().enumerate();
            names.extend(named.map(|(k, field)| (format!("{owner}/{field}"), first + k)));
        };
        add("gravity", &XYZ, 0);
        for (index, Body { name, shape }) in self.bodies.iter().enumerate() {
            let first = body_slot(index);
            add(name, &["mass"], first + MASS);
            add(&format!("{name}/center_of_mass"), &XYZ, first + CENTER_OF_MASS);
            let components = ["xx", "yy", "zz", "xy", "xz", "yz"];
            add(&format!("{name}/inertia"), &components, first + INERTIA);
            match shape {
                Shape::Box => add(&format!("{name}/half_extents"), &XYZ, first + SIZE),
                Shape::Sphere => add(name, &["radius"], first + SIZE),
                _ => {}
            }
        }
        for (index, pair) in self.pairs.iter().enumerate() {
            let first = pair_slot(self, index);
            add(&pair.name, &["mu"], first + MU);
            add(&pair.name, &["restitution"], first + RESTITUTION);
            if pair.two_regimes {
                add(&pair.name, &["mu_static"], first + MU_STATIC);
            }
        }
        names
    }
}
