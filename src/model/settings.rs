//! How a scene is simulated.

/// Which formulation of contact and friction a step solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactSolver {
    /// Normal and friction impulses in one problem.
    #[default]
    Coupled,
    /// Normal and friction problems solved in turn, each with the impulses of the other fixed.
    Staggered {
        /// How many times each is solved, at least 1.
        n_step: usize,
    },
}

/// The numbers of the method; physical numbers are [parameters](super::Parameters).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Duration of a step, s.
    pub time_step: f64,
    /// The contact formulation.
    pub solver: ContactSolver,
    /// Softness in the normal direction, for each contact as a fraction of n'(J M^-1 J')n of its own;
    /// makes the impulses of redundant contact points unique.
    pub compliance: f64,
    /// Fraction of the penetration that is removed in a step, 0 to 1.
    pub baumgarte: f64,
    /// Approach speed in m/s below which an impact has no restitution.
    pub restitution_threshold: f64,
    /// Residual at which a contact problem counts as solved.
    pub tolerance: f64,
}

impl Settings {
    /// The defaults, with a step of `time_step` seconds.
    pub fn new(time_step: f64) -> Settings {
        Settings {
            time_step,
            solver: ContactSolver::Coupled,
            compliance: 1e-6,
            baumgarte: 0.2,
            restitution_threshold: 0.0,
            tolerance: 1e-10,
        }
    }
}
