//! How links rub: `contact` elements, as Bullet reads them, and the numbers of Gazebo.

use crate::Error;
use crate::formats::xml::{Element, Remarks};

/// What a link states of its surface.
#[derive(Default)]
pub(super) struct Friction {
    mu: Option<f64>,
    restitution: Option<f64>,
}

impl Friction {
    /// Reads a `contact` element.
    pub fn read(&mut self, contact: &Element, remarks: &mut Remarks) -> Result<(), Error> {
        for child in &contact.children {
            let number = child.amount("value")?;
            match child.tag.as_str() {
                "lateral_friction" => self.mu = number.or(self.mu),
                "restitution" => {
                    if let Some(found) = number.filter(|&found| found > 1.0) {
                        let message = format!("must be between 0 and 1, found {found}");
                        return Err(child.error("value", message));
                    }
                    self.restitution = number.or(self.restitution);
                }
                "rolling_friction" | "spinning_friction" => {
                    if number.is_some_and(|number| number != 0.0) {
                        let message = "is not followed: spinning and rolling meet no friction";
                        remarks.add(child, "", message);
                    }
                }
                "contact_cfm" | "contact_erp" | "stiffness" | "damping" => {
                    remarks.add(child, "", "is not followed: contacts are rigid");
                }
                // Those that have their defaults, and how inertia is computed.
                "inertia_scaling" | "friction_anchor" => {}
                _ => remarks.add(child, "", "is not known here, and ignored"),
            }
        }
        Ok(())
    }

    /// Reads a `gazebo` element of the link: of two directions the smaller friction.
    pub fn read_gazebo(&mut self, gazebo: &Element) -> Result<(), Error> {
        for child in ["mu1", "mu2"].into_iter().filter_map(|tag| gazebo.child(tag)) {
            let found = child.get("value").unwrap_or(&child.text);
            let Some(mu) = found.parse().ok().filter(|mu: &f64| mu.is_finite() && *mu >= 0.0)
            else {
                let found: String = found.chars().take(40).collect();
                let message = format!("must be a number that is not negative, found {found:?}");
                return Err(child.error("", message));
            };
            self.mu = Some(self.mu.map_or(mu, |known| known.min(mu)));
        }
        Ok(())
    }

    /// Coefficients of friction and of restitution.
    pub fn stated(&self) -> [Option<f64>; 2] {
        [self.mu, self.restitution]
    }
}
