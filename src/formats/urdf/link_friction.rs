//! How links rub: `contact` elements, as Bullet reads them, and the numbers of Gazebo.

use crate::Error;
use crate::assemble::OnGround;
use crate::formats::xml::{Element, Remarks};

/// What a link states of its surface.
#[derive(Default)]
pub(super) struct Friction {
    stated: OnGround,
}

impl Friction {
    /// Reads a `contact` element.
    pub fn read(&mut self, contact: &Element, remarks: &mut Remarks) -> Result<(), Error> {
        for child in &contact.children {
            let number = child.amount("value")?;
            match child.tag.as_str() {
                "lateral_friction" => self.stated.mu = number.or(self.stated.mu),
                "restitution" => {
                    if let Some(found) = number.filter(|&found| found > 1.0) {
                        let message = format!("must be between 0 and 1, found {found}");
                        return Err(child.error("value", message));
                    }
                    self.stated.restitution = number.or(self.stated.restitution);
                }
                "rolling_friction" => self.stated.rolling = number.or(self.stated.rolling),
                "spinning_friction" => self.stated.spinning = number.or(self.stated.spinning),
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
            self.stated.mu = Some(self.stated.mu.map_or(mu, |known| known.min(mu)));
        }
        Ok(())
    }

    /// What is stated of it.
    pub fn stated(&self) -> OnGround {
        self.stated
    }
}
