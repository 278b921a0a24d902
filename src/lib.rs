//! Differentiable simulation of rigid contact with friction.
//!
//! Each time step solves a contact problem with Coulomb friction and impacts; its derivative comes
//! from the conditions that hold at the solution. All numerical code is generic in one scalar trait,
//! [`ad::Real`]: on `f64` it simulates, on [`ad::Dual`] and [`ad::Var`] it differentiates what is
//! simulated. The `README.md` of the repository has the conventions and says what the derivative is
//! a derivative of.
//!
//! ```
//! use stiction::Scene;
//!
//! let scene = Scene::parse("
//!     simulation.time_step = 0.001
//!     half_space = [{ name = 'floor', normal = [0, 0, 1] }]
//!     contact = [{ pair = 'floor-box', mu = 0.3 }]
//!     [[body]]
//!     name = 'box'
//!     mass = 1
//!     shape = { box = [0.1, 0.1, 0.01] }
//!     position = [0, 0, 0.01]
//!     velocity = [1, 0, 0]", "scene.toml")?;
//! let mut simulation = scene.simulate();
//! simulation.run(500);
//! // A slide is v²/(2 mu g) long.
//! let expected = 1.0 / (2.0 * 0.3 * 9.81);
//! assert!((simulation["box/px"] / expected - 1.0).abs() < 0.005);
//!
//! let (distance, slopes) = scene.gradient(["floor-box/mu"], |simulation| {
//!     simulation.run(500);
//!     simulation["box/px"]
//! })?;
//! assert_eq!(distance, simulation["box/px"]);
//! assert!((slopes[0] / (-expected / 0.3) - 1.0).abs() < 0.005);
//! # Ok::<(), stiction::Error>(())
//! ```
//!
//! # Modules
//!
//! | module | what it holds |
//! |---|---|
//! | [`ad`] | the scalar trait, duals, tape, drivers; the trait of solved problems, [`ad::Node`] |
//! | [`linalg`] | small dense factorisations |
//! | [`argmin`] | optimisation problems as nodes: coupled contact, quadratic programs |
//! | [`spatial`] | rotations, spatial vectors, inertias |
//! | [`mod@state`] | configuration and velocity; moves and differences on the manifold |
//! | [`model`] | bodies, ground, contact pairs, parameters |
//! | [`assemble`] | scenes from what describes them, checked |
//! | [`formats`] | the files that describe them: TOML, MJCF, URDF, meshes |
//! | [`dynamics`] | kinematics, forces and accelerations of trees, and their derivatives; a free body over one step |
//! | [`collision`] | contact points |
//! | [`contact`] | from contact points to impulses |
//! | [`trajectory`] | recorded motion, inputs over time, and their files |
//! | [`simulation`] | the step and rollouts; `Scene::simulate` |
//! | [`identify`] | parameters from recordings |
//! | [`mod@linearize`] | Jacobians of steps and their files |
//! | [`transition`] | a scene as x+ = f(x, u; p) on arrays |
//! | [`verify`] | gradients compared |
//! | [`view`] | pictures |
//! | [`c_interface`] | C functions, and functions for CasADi |
#![cfg_attr(feature = "cli", doc = "| [`cli`] | the program |")]
#![cfg_attr(feature = "python", doc = "| [`python`] | the module of Python |")]
//! | [`mod@error`] | what can be wrong with an input |
//!
//! # References
//!
//! Comments cite these by key, as in "`LeLidec21` (5)" for equation 5.
//!
//! - `LeLidec21`: Q. Le Lidec, I. Kalevatykh, I. Laptev, C. Schmid, J. Carpentier, "Differentiable
//!   simulation for physical system identification", IEEE Robotics and Automation Letters 6 (2),
//!   2021. The time-stepping scheme, the two projections and their ADMM, the one-step loss.
//! - `Atkeson86`: C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of
//!   manipulator loads and links", International Journal of Robotics Research 5 (3), 1986. The
//!   regressor.
//! - `Carpentier18`: J. Carpentier, N. Mansard, "Analytical derivatives of rigid body dynamics
//!   algorithms", Robotics: Science and Systems 2018.
//! - `Coleman83`: T. F. Coleman, J. J. More, "Estimation of sparse Jacobian matrices and graph coloring
//!   problems", SIAM Journal on Numerical Analysis 20 (1), 1983.
//! - `Coleman84`: T. F. Coleman, J. J. More, "Estimation of sparse Hessian matrices and graph coloring
//!   problems", Mathematical Programming 28, 1984.
//! - `Curtis74`: A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian
//!   matrices", Journal of the Institute of Mathematics and its Applications 13 (1), 1974.
//! - `Featherstone08`: R. Featherstone, "Rigid Body Dynamics Algorithms", Springer 2008.
//! - `Gebremedhin05`: A. H. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph
//!   coloring for computing derivatives", SIAM Review 47 (4), 2005.
//! - `Gebremedhin07`: A. H. Gebremedhin, A. Tarafdar, F. Manne, A. Pothen, "New acyclic and star
//!   coloring algorithms with application to computing Hessians", SIAM Journal on Scientific Computing
//!   29 (3), 2007. The greedy star colouring.
//! - `Griewank00`: A. Griewank, A. Walther, "Algorithm 799: revolve", ACM Transactions on Mathematical
//!   Software 26 (2000).
//! - `Griewank08`: A. Griewank, A. Walther, "Evaluating Derivatives", second edition, SIAM 2008.
//!   Forward and reverse mode, the tape.
//! - `Kingma15`: D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
//! - `Marquardt63`: D. W. Marquardt, "An algorithm for least-squares estimation of nonlinear
//!   parameters", SIAM Journal on Applied Mathematics 11 (2), 1963.
//! - `MuntheKaas98`: H. Munthe-Kaas, "Runge-Kutta methods on Lie groups", BIT Numerical Mathematics 38
//!   (1), 1998.
//! - `Nielsen99`: H. B. Nielsen, "Damping parameter in Marquardt's method", report IMM-REP-1999-05,
//!   Technical University of Denmark. How the damping changes from step to step.
//! - `Ridders82`: C. J. F. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Advances in
//!   Engineering Software 4 (2), 1982. Extrapolated differences that estimate their error.
//! - `Rucker22`: C. Rucker, P. M. Wensing, "Smooth parameterization of rigid-body inertia", IEEE Robotics
//!   and Automation Letters 7 (2), 2022. Inertial parameters without constraints.
//! - `Singh22`: S. Singh, R. P. Russell, P. M. Wensing, "Efficient analytical derivatives of rigid-body
//!   dynamics using spatial vector algebra", IEEE Robotics and Automation Letters 7 (2), 2022.

pub mod ad;
pub mod argmin;
pub mod assemble;
pub mod c_interface;
#[cfg(feature = "cli")]
pub mod cli;
pub mod collision;
pub mod contact;
pub mod dynamics;
pub mod error;
pub mod formats;
mod gradient;
pub mod identify;
pub mod linalg;
pub mod linearize;
pub mod model;
#[cfg(feature = "python")]
pub mod python;
pub mod simulation;
pub mod spatial;
pub mod state;
mod table;
pub mod trajectory;
pub mod transition;
pub mod verify;
pub mod view;

pub use error::{Error, ErrorKind};
pub use model::Scene;
pub use transition::Transition;

/// The examples of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
