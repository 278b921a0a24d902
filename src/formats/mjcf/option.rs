//! The `option` element: gravity, step, integrator, and what is switched off.

use crate::Error;
use crate::formats::xml::{Element, Remarks, Unfollowed};
use crate::model::{Integrator, Settings};

/// What the file leaves switched on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    pub contact: bool,
    pub limits: bool,
    pub equalities: bool,
    pub friction_loss: bool,
    pub springs: bool,
    pub dampers: bool,
    pub actuators: bool,
    pub clamp_controls: bool,
    /// Whether bodies pass through the one they hang on.
    pub filter_parent: bool,
    gravity: bool,
}

const FOLLOWED: [&str; 3] = ["timestep", "gravity", "integrator"];

/// Numbers of solvers that are not run here.
const INERT: [&str; 19] = [
    "iterations",
    "tolerance",
    "solver",
    "jacobian",
    "ls_iterations",
    "ls_tolerance",
    "noslip_tolerance",
    "ccd_iterations",
    "ccd_tolerance",
    "mpr_iterations",
    "mpr_tolerance",
    "sdf_iterations",
    "sdf_initpoints",
    "sleep_tolerance",
    "magnetic",
    "apirate",
    "o_margin",
    "o_solref",
    "o_solimp",
];

const RIGID: &str = "is not followed: contacts are rigid";
const FLUID: &str = "is not followed: nothing moves in a fluid here";

const UNFOLLOWED: [Unfollowed; 9] = [
    Unfollowed {
        name: "cone",
        neutral: "elliptic",
        instead: "is not followed: friction cones are round",
    },
    Unfollowed { name: "impratio", neutral: "1", instead: RIGID },
    Unfollowed { name: "noslip_iterations", neutral: "0", instead: RIGID },
    Unfollowed { name: "density", neutral: "0", instead: FLUID },
    Unfollowed { name: "viscosity", neutral: "0", instead: FLUID },
    Unfollowed { name: "wind", neutral: "0", instead: FLUID },
    Unfollowed {
        name: "actuatorgroupdisable",
        neutral: "",
        instead: "is not followed: all actuators act",
    },
    Unfollowed {
        name: "collision",
        neutral: "all",
        instead: "is not followed: contacts of pairs and of all others are found",
    },
    Unfollowed { name: "o_friction", neutral: "", instead: "is not followed" },
];

/// Settings, gravity and flags of all `option` elements together.
pub(super) fn read(
    root: &Element,
    remarks: &mut Remarks,
) -> Result<(Settings, [f64; 3], Flags), Error> {
    let mut settings = Settings::new(0.002);
    let mut gravity = [0.0, 0.0, -9.81];
    let mut flags = Flags {
        contact: true,
        limits: true,
        equalities: true,
        friction_loss: true,
        springs: true,
        dampers: true,
        actuators: true,
        clamp_controls: true,
        filter_parent: true,
        gravity: true,
    };
    for element in root.all("option") {
        element.remark_on_others(&FOLLOWED, &INERT, &UNFOLLOWED, remarks);
        if let Some(step) = element.number("timestep")? {
            if step <= 0.0 {
                let message = format!("must be positive, found {step} (s)");
                return Err(element.error("timestep", message));
            }
            settings.time_step = step;
        }
        gravity = element.numbers("gravity")?.unwrap_or(gravity);
        let words = [
            ("Euler", Integrator::SemiImplicit),
            ("RK4", Integrator::RungeKutta),
            ("implicit", Integrator::Implicit),
            ("implicitfast", Integrator::ImplicitFast),
        ];
        settings.integrator = element.word("integrator", &words)?.unwrap_or(settings.integrator);
        for child in &element.children {
            match child.tag.as_str() {
                "flag" => flags.add(child, remarks)?,
                _ => remarks.add(child, "", "is not known here, and ignored"),
            }
        }
    }
    if !flags.gravity {
        gravity = [0.0; 3];
    }
    Ok((settings, gravity, flags))
}

impl Flags {
    fn add(&mut self, element: &Element, remarks: &mut Remarks) -> Result<(), Error> {
        let words = [("enable", true), ("disable", false)];
        let flags = [
            ("contact", &mut self.contact),
            ("limit", &mut self.limits),
            ("equality", &mut self.equalities),
            ("frictionloss", &mut self.friction_loss),
            ("spring", &mut self.springs),
            ("damper", &mut self.dampers),
            ("actuation", &mut self.actuators),
            ("clampctrl", &mut self.clamp_controls),
            ("filterparent", &mut self.filter_parent),
            ("gravity", &mut self.gravity),
        ];
        for (name, flag) in flags {
            *flag = element.word(name, &words)?.unwrap_or(*flag);
        }
        for name in ["constraint", "passive"] {
            if element.word(name, &words)? != Some(false) {
                continue;
            }
            if name == "constraint" {
                (self.contact, self.limits) = (false, false);
                (self.equalities, self.friction_loss) = (false, false);
            } else {
                (self.springs, self.dampers) = (false, false);
            }
        }
        const FOLLOWED: [&str; 12] = [
            "constraint",
            "equality",
            "frictionloss",
            "limit",
            "contact",
            "passive",
            "spring",
            "damper",
            "gravity",
            "clampctrl",
            "filterparent",
            "actuation",
        ];
        const INERT: [&str; 16] = [
            "warmstart",
            "refsafe",
            "sensor",
            "midphase",
            "nativeccd",
            "island",
            "autoreset",
            "energy",
            "fwdinv",
            "multiccd",
            "sleep",
            "diagexact",
            "sensornoise",
            "invdiscrete",
            "ipc",
            "speculative",
        ];
        const UNFOLLOWED: [Unfollowed; 2] = [
            Unfollowed { name: "override", neutral: "disable", instead: RIGID },
            Unfollowed {
                name: "eulerdamp",
                neutral: "enable",
                instead: "is not followed: damping of joints is implicit",
            },
        ];
        element.remark_on_others(&FOLLOWED, &INERT, &UNFOLLOWED, remarks);
        Ok(())
    }
}
