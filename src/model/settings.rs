//! How a scene is simulated.

use crate::Error;

/// Which formulation of contact and friction a step solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactSolver {
    /// Normal and friction impulses in one problem.
    #[default]
    Coupled,
    /// Normal and friction problems solved in turn, each with the impulses of the other fixed
    /// (`LeLidec21`, Algorithm 1).
    Staggered {
        /// How many times each is solved, at least 1.
        n_step: usize,
        /// What is differentiated.
        derivative: StaggeredDerivative,
    },
    /// The same problem as `Coupled`, by Gauss-Seidel sweeps alone. Not differentiable.
    GaussSeidel,
    /// The convex relaxation, in which contacts that slip separate (`Zhong21` (5)).
    ConvexRelaxation,
    /// As `Coupled`, with a four-sided pyramid in the place of the friction cone: |lambda_k| <= mu
    /// lambda_n along each tangent, so that friction depends on direction, by up to sqrt 2.
    Pyramid,
    /// The convex relaxation with that pyramid: a quadratic program (`Anitescu06`).
    ConvexPyramid,
    /// As `Coupled`, of contacts that all are springs: what sticks does not creep. `Geilinger20` 4.3
    Hybrid,
    /// Contacts are springs, and friction is one too, up to Coulomb's limit: what should stick creeps. `Geilinger20` (16), (17)
    PenaltyLinear,
    /// The same with a smooth way to the limit. `Geilinger20` (18)
    PenaltyTanh,
}

impl ContactSolver {
    /// One of each, the default first.
    pub const ALL: [ContactSolver; 9] = [
        ContactSolver::Coupled,
        ContactSolver::Staggered { n_step: 5, derivative: StaggeredDerivative::Unrolled },
        ContactSolver::GaussSeidel,
        ContactSolver::ConvexRelaxation,
        ContactSolver::Pyramid,
        ContactSolver::ConvexPyramid,
        ContactSolver::Hybrid,
        ContactSolver::PenaltyLinear,
        ContactSolver::PenaltyTanh,
    ];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            ContactSolver::Coupled => "coupled",
            ContactSolver::Staggered { .. } => "staggered",
            ContactSolver::GaussSeidel => "gauss_seidel",
            ContactSolver::ConvexRelaxation => "convex_relaxation",
            ContactSolver::Pyramid => "pyramid",
            ContactSolver::ConvexPyramid => "convex_pyramid",
            ContactSolver::Hybrid => "hybrid",
            ContactSolver::PenaltyLinear => "penalty_linear",
            ContactSolver::PenaltyTanh => "penalty_tanh",
        }
    }

    /// What it does, in words.
    pub fn description(self) -> &'static str {
        match self {
            ContactSolver::Coupled => "normal and friction impulses are solved for as one problem",
            ContactSolver::Staggered { .. } => {
                "normal and friction impulses are solved for in turn"
            }
            ContactSolver::GaussSeidel => "impulses are solved for by Gauss-Seidel sweeps",
            ContactSolver::ConvexRelaxation => "impulses minimise a convex relaxation",
            ContactSolver::Pyramid => {
                "friction is limited along each tangent by itself (a pyramid)"
            }
            ContactSolver::ConvexPyramid => "impulses minimise a convex relaxation over pyramids",
            ContactSolver::Hybrid => "contacts are springs, with the exact friction cone",
            ContactSolver::PenaltyLinear => {
                "contacts and friction are springs up to Coulomb's limit"
            }
            ContactSolver::PenaltyTanh => "contacts are springs, friction grows smoothly with slip",
        }
    }

    /// Whether contacts and friction are penalties, of contacts that yield.
    pub fn is_penalty(self) -> bool {
        matches!(self, ContactSolver::PenaltyLinear | ContactSolver::PenaltyTanh)
    }

    /// Whether all contacts must yield.
    pub fn demands_stiffness(self) -> bool {
        self == ContactSolver::Hybrid || self.is_penalty()
    }

    /// Whether contacts are by Coulomb's law, in one problem.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, ContactSolver::Coupled | ContactSolver::Hybrid)
    }

    /// An error unless steps have derivatives; `file` is the scene it blames.
    pub fn demand_derivatives(self, file: &str) -> Result<(), Error> {
        if self != ContactSolver::GaussSeidel {
            return Ok(());
        }
        let message =
            "gauss_seidel has no derivatives; take \"coupled\", which solves the same problem";
        Err(Error::input(file, None, "simulation.solver", message))
    }
}

/// What the derivative of a staggered solve is the derivative of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaggeredDerivative {
    /// The `n_step` passes that were made, each projection through its optimality conditions: that of
    /// the program, which is what `LeLidec21` differentiate.
    #[default]
    Unrolled,
    /// The contact law at the impulses the passes ended with.
    Implicit,
}

impl StaggeredDerivative {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            StaggeredDerivative::Unrolled => "unrolled",
            StaggeredDerivative::Implicit => "implicit",
        }
    }
}

/// What decides how much of an impact comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestitutionLaw {
    /// A contact separates at its restitution times the speed at which it closed.
    #[default]
    Newton,
    /// A contact gives back its restitution times the normal impulse that it took to stop.
    Poisson,
}

impl RestitutionLaw {
    /// Each.
    pub const ALL: [RestitutionLaw; 2] = [RestitutionLaw::Newton, RestitutionLaw::Poisson];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            RestitutionLaw::Newton => "newton",
            RestitutionLaw::Poisson => "poisson",
        }
    }
}

/// How motion without contact goes on over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Velocities first, then positions with the new ones; implicit in the damping of joints, and in the
    /// gyroscopic term of lone bodies.
    #[default]
    SemiImplicit,
    /// The same, linearly implicit in all forces that depend on velocities: Coriolis and
    /// gyroscopic terms, gains of actuators.
    Implicit,
    /// The same, linearly implicit in the damping of joints and the gains of actuators alone, which keeps the matrix
    /// symmetric: for stiff motors, at the price of `SemiImplicit`.
    ImplicitFast,
    /// The classical method of Runge and Kutta, of fourth order in joints with one coordinate, for trees
    /// that touch nothing in the step; semi-implicit for others.
    RungeKutta,
    /// The implicit Euler method, the backward differentiation formula of first order (`Geilinger20` 3.1): momenta are balanced at the
    /// end of the step, where forces of stiff springs and motors are those that they come to, and contacts with them. All bodies are trees of joints
    /// to it.
    Bdf1,
    /// That of second order, from the last two states; the first step, and those two after which something rigid has begun to touch, are of
    /// [`Bdf1`](Integrator::Bdf1).
    Bdf2,
}

impl Integrator {
    /// Each.
    pub const ALL: [Integrator; 6] = [
        Integrator::SemiImplicit,
        Integrator::Implicit,
        Integrator::ImplicitFast,
        Integrator::RungeKutta,
        Integrator::Bdf1,
        Integrator::Bdf2,
    ];

    /// Whether steps are implicit in how motors yield with the rate of their joint.
    pub fn damps_by_motors(self) -> bool {
        matches!(self, Integrator::Implicit | Integrator::ImplicitFast) || self.is_backward()
    }

    /// Whether momenta are balanced at the end of a step: by backward differentiation formulas.
    pub fn is_backward(self) -> bool {
        matches!(self, Integrator::Bdf1 | Integrator::Bdf2)
    }

    /// Whether free bodies are trees of joints to it, too.
    pub(crate) fn takes_trees(self) -> bool {
        self == Integrator::RungeKutta || self.is_backward()
    }

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Integrator::SemiImplicit => "semi_implicit",
            Integrator::Implicit => "implicit",
            Integrator::ImplicitFast => "implicit_fast",
            Integrator::RungeKutta => "runge_kutta",
            Integrator::Bdf1 => "bdf1",
            Integrator::Bdf2 => "bdf2",
        }
    }
}

/// The numbers of the method; physical numbers are [parameters](super::Parameters).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Duration of a step, s.
    pub time_step: f64,
    /// How motion without contact goes on. What bodies are to it, lone or trees, is decided as a scene is built: in one that was built for
    /// another, by [`Bdf1`](Integrator::Bdf1) and [`Bdf2`](Integrator::Bdf2) free bodies stay explicit, and forces between trees have no derivatives.
    pub integrator: Integrator,
    /// The contact formulation.
    pub solver: ContactSolver,
    /// Softness in the normal direction, for each contact as a fraction of n'(J M^-1 J')n of its own;
    /// makes the impulses of redundant contact points unique.
    pub compliance: f64,
    /// Fraction of the penetration that is removed in a step, 0 to 1.
    pub baumgarte: f64,
    /// Approach speed in m/s below which an impact has no restitution.
    pub restitution_threshold: f64,
    /// Whose law of restitution impacts obey; with another solver than the coupled one, or smoothed contact, it is Newton's.
    pub restitution_law: RestitutionLaw,
    /// Speed in m/s, along the tangents at the start of the step, up to which a contact of a pair with
    /// two regimes of friction has the static coefficient.
    pub static_speed: f64,
    /// Whether a step in which bodies in flight strike something is split at the time of impact: bodies of
    /// which nothing touches at the start of the step, at their first impact in it, if that rebounds.
    /// Their motion and its derivatives are then those of the continuous motion, at every step. Other
    /// impacts stay resolved to the step.
    pub split_impacts: bool,
    /// Whether steps without derivatives take the impulses of the last step, after as many Newton steps as it
    /// takes for them to solve the problem to the tolerance, as they are. That is faster where things move slowly (what rests
    /// is as fast without). Velocities are the same to the tolerance; impulses
    /// that are not unique are then not those of least norm, so that modes can differ from those of
    /// steps with derivatives.
    pub keep_impulses: bool,
    /// By how much contacts are smoothed, for planning through contact, J: the product of impulse and normal
    /// velocity that takes the place of complementarity, and that of friction and slip (see
    /// [`SmoothedContact`](crate::argmin::SmoothedContact)). Bodies that do not touch then push each other a
    /// little, and derivatives do not jump where modes change (but where a gap is 0, by `baumgarte`). 0, the default: exact contact, which the limit is. With the
    /// coupled solver only. A body of weight m g comes to rest about `smoothing` / (m g) above the ground.
    pub smoothing: f64,
    /// Residual at which a contact problem counts as solved.
    pub tolerance: f64,
}

impl Settings {
    /// Demands that a step is a function of one state.
    ///
    /// # Errors
    /// By [`Bdf2`](Integrator::Bdf2); `file` is the scene that is blamed.
    pub fn demand_one_state(&self, file: &str) -> Result<(), Error> {
        if self.integrator != Integrator::Bdf2 {
            return Ok(());
        }
        let message =
            "bdf2 steps from the last two states, where x+ = f(x, u) is asked for: take \"bdf1\"";
        Err(Error::input(file, None, "simulation.integrator", message))
    }

    /// What is asked for that backward differentiation formulas go without, if anything: the field, and why not.
    pub(crate) fn backward_conflict(&self) -> Option<(&'static str, &'static str)> {
        let backward = self.integrator.is_backward();
        let conflicts = [
            ("split_impacts", self.split_impacts),
            ("restitution_law", self.restitution_law != RestitutionLaw::Newton),
            ("solver", !self.solver.is_exact() && !self.solver.is_penalty()),
        ];
        let found = conflicts.into_iter().find(|(_, conflicts)| backward && *conflicts);
        let message = "is not for integrator = \"bdf1\" or \"bdf2\", which balance momenta with contacts at the end of a \
                       step; take another integrator";
        found.map(|(field, _)| (field, message))
    }

    /// Whether contacts are smoothed, or penalties: see [`SmoothedContact`](crate::argmin::SmoothedContact).
    pub fn is_relaxed(&self) -> bool {
        self.solver.is_penalty() || self.smoothing > 0.0 && self.solver == ContactSolver::Coupled
    }

    /// Whether impacts rebound by Poisson's law: of exact contact by the coupled solver.
    pub fn rebounds_by_impulse(&self) -> bool {
        self.restitution_law == RestitutionLaw::Poisson
            && self.solver == ContactSolver::Coupled
            && self.smoothing == 0.0
    }

    /// The defaults, with a step of `time_step` seconds.
    pub fn new(time_step: f64) -> Settings {
        Settings {
            time_step,
            integrator: Integrator::SemiImplicit,
            solver: ContactSolver::Coupled,
            compliance: 1e-6,
            baumgarte: 0.2,
            restitution_threshold: 0.0,
            restitution_law: RestitutionLaw::Newton,
            static_speed: 1e-3,
            split_impacts: false,
            keep_impulses: false,
            smoothing: 0.0,
            tolerance: 1e-10,
        }
    }
}
