//! Differentiable simulation of rigid contact with friction.
//!
//! Each time step solves a contact problem with Coulomb friction and impacts; its derivative comes
//! from the conditions that hold at the solution. All numerical code is generic in one scalar trait,
//! [`ad::Real`]: on `f64` it simulates, on [`ad::Dual`] and [`ad::Var`] it differentiates what is
//! simulated. `docs/concepts.md` of the repository has the conventions and says what the derivative is
//! a derivative of, `docs/tutorial.md` goes from a simulation to a fit and a controller.
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
//! | [`fem`] | finite elements of soft bodies |
//! | [`maximal`] | systems of points in Cartesian coordinates, with constraints and impacts |
//! | [`network`] | fully connected networks, generic and as nodes |
//! | [`learn`] | networks that stand for a potential, learned through impacts |
//! | [`spatial`] | rotations, spatial vectors, inertias |
//! | [`mod@state`] | configuration and velocity; moves and differences on the manifold |
//! | [`model`] | bodies, ground, contact pairs, parameters; meshes of tetrahedra |
//! | [`assemble`] | scenes from what describes them, checked |
//! | [`formats`] | the files that describe them: TOML, MJCF, URDF, meshes |
//! | [`dynamics`] | kinematics, forces and accelerations of trees, and their derivatives; a free body over one step |
//! | [`collision`] | contact points |
//! | [`contact`] | from contact points to impulses |
//! | [`implicit`] | implicit steps of soft bodies, with exact contact and their derivative |
//! | [`trajectory`] | recorded motion, inputs over time, and their files |
//! | [`soft`] | scenes of soft bodies and their simulation |
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
//! Comments and the pages of `docs` cite these by key, as in "`LeLidec21` (5)" for equation 5.
//!
//! - `LeLidec21`: Q. Le Lidec, I. Kalevatykh, I. Laptev, C. Schmid, J. Carpentier, "Differentiable
//!   simulation for physical system identification", IEEE Robotics and Automation Letters 6 (2), 2021. The
//!   time-stepping scheme, the two projections and their ADMM, the one-step loss.
//! - `Abramowitz64`: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions", National Bureau of Standards 1964.
//!   Quantiles of Student's t.
//! - `Acary11`: V. Acary, F. Cadoux, C. Lemarechal, J. Malick, "A formulation of the linear discrete
//!   Coulomb friction problem via convex optimization", ZAMM 91 (2), 2011.
//! - `Alart91`: P. Alart, A. Curnier, "A mixed formulation for frictional contact problems prone to Newton
//!   like solution methods", Computer Methods in Applied Mechanics and Engineering 92 (3), 1991. The
//!   natural map and its Newton steps.
//! - `Alizadeh03`: F. Alizadeh, D. Goldfarb, "Second-order cone programming", Mathematical Programming 95,
//!   2003. The Jordan algebra of the cones.
//! - `Amestoy96`: P. R. Amestoy, T. A. Davis, I. S. Duff, "An approximate minimum degree ordering algorithm", SIAM
//!   Journal on Matrix Analysis and Applications 17 (4), 1996.
//! - `Anitescu06`: M. Anitescu, "Optimization-based simulation of nonsmooth rigid multibody dynamics",
//!   Mathematical Programming 105, 2006. The convex relaxation of contact.
//! - `Armstrong94`: B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A survey of models, analysis tools and compensation
//!   methods for the control of machines with friction", Automatica 30 (7), 1994. Friction that falls with slip.
//! - `Atkeson86`: C. G. Atkeson, C. H. An, J. M. Hollerbach, "Estimation of inertial parameters of
//!   manipulator loads and links", International Journal of Robotics Research 5 (3), 1986. The regressor.
//! - `Baerentzen05`: J. A. Baerentzen, H. Aanaes, "Signed distance computation using the angle weighted
//!   pseudonormal", IEEE Transactions on Visualization and Computer Graphics 11 (3), 2005. Inside or outside of a closed surface.
//! - `Barber96`: C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The quickhull algorithm for convex hulls", ACM
//!   Transactions on Mathematical Software 22 (4), 1996.
//! - `Baumgarte72`: J. Baumgarte, "Stabilization of constraints and integrals of motion in dynamical
//!   systems", Computer Methods in Applied Mechanics and Engineering 1 (1), 1972.
//! - `Bertsekas82`: D. P. Bertsekas, "Projected Newton methods for optimization problems with simple
//!   constraints", SIAM Journal on Control and Optimization 20 (2), 1982.
//! - `Carpentier18`: J. Carpentier, N. Mansard, "Analytical derivatives of rigid body dynamics algorithms",
//!   Robotics: Science and Systems 2018.
//! - `Chen92`: Y. Chen, G. Medioni, "Object modelling by registration of multiple range images", Image and Vision
//!   Computing 10 (3), 1992. A pose from the distances of points to a surface.
//! - `Chen93`: B. Chen, P. T. Harker, "A non-interior-point continuation method for linear complementarity
//!   problems", SIAM Journal on Matrix Analysis and Applications 14 (4), 1993. Smoothed projections.
//! - `Cohen95`: J. D. Cohen, M. C. Lin, D. Manocha, M. K. Ponamgi, "I-COLLIDE: an interactive and exact
//!   collision detection system for large-scale environments", Symposium on Interactive 3D Graphics 1995.
//!   Sweep and prune.
//! - `Coleman83`: T. F. Coleman, J. J. More, "Estimation of sparse Jacobian matrices and graph coloring
//!   problems", SIAM Journal on Numerical Analysis 20 (1), 1983.
//! - `Coleman84`: T. F. Coleman, J. J. More, "Estimation of sparse Hessian matrices and graph coloring
//!   problems", Mathematical Programming 28, 1984.
//! - `Curtis74`: A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian
//!   matrices", Journal of the Institute of Mathematics and its Applications 13 (1), 1974.
//! - `Davis06`: T. A. Davis, "Direct Methods for Sparse Linear Systems", SIAM 2006. Elimination, its fill, QR.
//! - `DeSaxce98`: G. De Saxce, Z.-Q. Feng, "The bipotential method: a constructive approach to design the
//!   complete contact law with friction and improved numerical algorithms", Mathematical and Computer
//!   Modelling 28 (4-8), 1998. Coulomb's law as a cone and a shift.
//! - `Duff83`: I. S. Duff, J. K. Reid, "The multifrontal solution of indefinite sparse symmetric linear equations", ACM
//!   Transactions on Mathematical Software 9 (3), 1983.
//! - `Ericson05`: C. Ericson, "Real-Time Collision Detection", Morgan Kaufmann 2005. Nearest points of
//!   simple shapes.
//! - `Featherstone08`: R. Featherstone, "Rigid Body Dynamics Algorithms", Springer 2008.
//! - `Fukushima02`: M. Fukushima, Z.-Q. Luo, P. Tseng, "Smoothing functions for second-order-cone
//!   complementarity problems", SIAM Journal on Optimization 12 (2), 2002.
//! - `Gebremedhin05`: A. H. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph coloring
//!   for computing derivatives", SIAM Review 47 (4), 2005.
//! - `Gebremedhin07`: A. H. Gebremedhin, A. Tarafdar, F. Manne, A. Pothen, "New acyclic and star coloring
//!   algorithms with application to computing Hessians", SIAM Journal on Scientific Computing 29 (3), 2007.
//!   The greedy star colouring.
//! - `Geilinger20`: M. Geilinger, D. Hahn, J. Zehnder, M. Bacher, B. Thomaszewski, S. Coros, "ADD: analytically
//!   differentiable dynamics for multi-body systems with frictional contact", ACM Transactions on Graphics 39 (6), 2020.
//!   Soft bodies and their implicit steps.
//! - `George81`: A. George, J. W. H. Liu, "Computer Solution of Large Sparse Positive Definite Systems",
//!   Prentice-Hall 1981. Orders of elimination.
//! - `Gilardi02`: G. Gilardi, I. Sharf, "Literature survey of contact dynamics modelling", Mechanism and Machine Theory 37
//!   (10), 2002. Contacts that yield.
//! - `Gilbert88`: E. G. Gilbert, D. W. Johnson, S. S. Keerthi, "A fast procedure for computing the distance between complex
//!   objects in three-dimensional space", IEEE Journal of Robotics and Automation 4 (2), 1988. Nearest points of polyhedra.
//! - `Glocker95`: C. Glocker, F. Pfeiffer, "Multiple impacts with friction in rigid multibody systems", Nonlinear Dynamics 7,
//!   1995. Impacts in two phases by Poisson's hypothesis.
//! - `Golub13`: G. H. Golub, C. F. Van Loan, "Matrix Computations", fourth edition, Johns Hopkins
//!   University Press 2013. Factorisations, ranks, refinement.
//! - `Gottschalk96`: S. Gottschalk, M. C. Lin, D. Manocha, "OBBTree: a hierarchical structure for rapid
//!   interference detection", SIGGRAPH 1996. The separating axes of boxes.
//! - `Goyal91`: S. Goyal, A. Ruina, J. Papadopoulos, "Planar sliding with dry friction. Part 1. Limit surface and moment
//!   function", Wear 143, 1991. Friction that depends on direction resists motion the most.
//! - `Gregorius13`: D. Gregorius, "The separating axis test between convex polyhedra", Game Developers
//!   Conference 2013. Pairs of edges on the Gauss map.
//! - `Griewank00`: A. Griewank, A. Walther, "Algorithm 799: revolve", ACM Transactions on Mathematical
//!   Software 26 (2000).
//! - `Griewank08`: A. Griewank, A. Walther, "Evaluating Derivatives", second edition, SIAM 2008. Forward
//!   and reverse mode, the tape.
//! - `Hairer96`: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", second edition, Springer 1996.
//!   Backward differentiation.
//! - `Halton60`: J. H. Halton, "On the efficiency of certain quasi-random sequences of points in evaluating
//!   multi-dimensional integrals", Numerische Mathematik 2, 1960.
//! - `Higham02`: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", second edition, SIAM 2002.
//!   Iterative refinement with residuals of twice the digits.
//! - `Holm79`: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
//!   (2), 1979.
//! - `Hotelling31`: H. Hotelling, "The generalization of Student's ratio", Annals of Mathematical Statistics 2 (3), 1931.
//! - `Howell22`: T. A. Howell and others, "Dojo: a differentiable physics engine for robotics",
//!   arXiv:2203.00806, 2022. Contact relaxed to a product.
//! - `Huber64`: P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics
//!   35 (1), 1964.
//! - `Iglewicz93`: B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle Outliers", ASQC Quality Press
//!   1993.
//! - `Jean99`: M. Jean, "The non-smooth contact dynamics method", Computer Methods in Applied Mechanics and
//!   Engineering 177 (3-4), 1999. Block Gauss-Seidel.
//! - `Johnson85`: K. L. Johnson, "Contact Mechanics", Cambridge University Press 1985. Restitution of bodies that yield.
//! - `JohnsonCohen01`: D. E. Johnson, E. Cohen, "Spatialized normal cone hierarchies", ACM Symposium on Interactive 3D
//!   Graphics 2001.
//! - `Kabsch76`: W. Kabsch, "A solution for the best rotation to relate two sets of vectors", Acta Crystallographica A 32
//!   (5), 1976.
//! - `Kaufman08`: D. M. Kaufman, S. Sueda, D. L. James, D. K. Pai, "Staggered projections for frictional
//!   contact in multibody systems", ACM Transactions on Graphics 27 (5), 2008.
//! - `Kelley60`: J. E. Kelley, "The cutting-plane method for solving convex programs", Journal of the Society for
//!   Industrial and Applied Mathematics 8 (4), 1960.
//! - `Kingma15`: D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
//! - `Kolda03`: T. G. Kolda, R. M. Lewis, V. Torczon, "Optimization by direct search: new perspectives on
//!   some classical and modern methods", SIAM Review 45 (3), 2003. Compass search.
//! - `Kuhn60`: H. W. Kuhn, "Some combinatorial lemmas in topology", IBM Journal of Research and Development 4 (5),
//!   1960. Cubes in six tetrahedra.
//! - `Kutta01`: W. Kutta, "Beitrag zur naherungsweisen Integration totaler Differentialgleichungen", Zeitschrift fur Mathematik
//!   und Physik 46, 1901. The 3/8 rule.
//! - `Lentz76`: W. J. Lentz, "Generating Bessel functions in Mie scattering calculations using continued fractions", Applied
//!   Optics 15 (3), 1976.
//! - `Lindstrom00`: P. Lindstrom, "Out-of-core simplification of large polygonal models", SIGGRAPH 2000. Where the vertex of a
//!   cluster is.
//! - `Loshchilov19`: I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019. AdamW, and rates that fall by a
//!   cosine.
//! - `MacKinnon23`: J. G. MacKinnon, M. O. Nielsen, M. D. Webb, "Cluster-robust inference: a guide to
//!   empirical practice", Journal of Econometrics 232 (2), 2023. The jackknife CV3.
//! - `Marquardt63`: D. W. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters",
//!   SIAM Journal on Applied Mathematics 11 (2), 1963.
//! - `Mehrotra92`: S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM
//!   Journal on Optimization 2 (4), 1992. Predictor and corrector.
//! - `Murthy21`: J. K. Murthy, M. Macklin, F. Golemo et al., "gradSim: Differentiable simulation for system identification and
//!   visuomotor control", ICLR 2021. Parameters from videos.
//! - `MuntheKaas98`: H. Munthe-Kaas, "Runge-Kutta methods on Lie groups", BIT Numerical Mathematics 38 (1),
//!   1998.
//! - `Nadeau03`: C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003) 239-281.
//!   Standard errors of differences between models in cross-validation.
//! - `Nesterov97`: Y. E. Nesterov, M. J. Todd, "Self-scaled barriers and interior-point methods for convex
//!   programming", Mathematics of Operations Research 22 (1), 1997. The scaling of the cones.
//! - `Nielsen99`: H. B. Nielsen, "Damping parameter in Marquardt's method", report IMM-REP-1999-05,
//!   Technical University of Denmark. How the damping changes from step to step.
//! - `Nocedal06`: J. Nocedal, S. J. Wright, "Numerical Optimization", second edition, Springer 2006.
//!   L-BFGS.
//! - `Pukelsheim93`: F. Pukelsheim, "Optimal Design of Experiments", Wiley 1993. D-optimality.
//! - `Qi93`: L. Qi, J. Sun, "A nonsmooth version of Newton's method", Mathematical Programming 58 (1-3), 1993.
//! - `Rao48`: C. R. Rao, "Large sample tests of statistical hypotheses concerning several parameters", Mathematical
//!   Proceedings of the Cambridge Philosophical Society 44 (1), 1948. Score tests.
//! - `Ridders82`: C. J. F. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Advances in
//!   Engineering Software 4 (2), 1982. Extrapolated differences that estimate their error.
//! - `Rockafellar76`: R. T. Rockafellar, "Monotone operators and the proximal point algorithm", SIAM
//!   Journal on Control and Optimization 14 (5), 1976.
//! - `Rossignac93`: J. Rossignac, P. Borrel, "Multi-resolution 3D approximations for rendering complex scenes", in
//!   "Modeling in Computer Graphics", Springer 1993. Fewer triangles by clusters of vertices.
//! - `Rucker22`: C. Rucker, P. M. Wensing, "Smooth parameterization of rigid-body inertia", IEEE Robotics
//!   and Automation Letters 7 (2), 2022. Inertial parameters without constraints.
//! - `Satterthwaite46`: F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
//!   Biometrics Bulletin 2 (1946) 110-114. Degrees of freedom of squares that are not independent.
//! - `Shao95`: J. Shao, D. Tu, "The Jackknife and Bootstrap", Springer 1995. Half-sampling.
//! - `Shewchuk97`: J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast robust geometric
//!   predicates", Discrete and Computational Geometry 18 (3), 1997.
//! - `Singh22`: S. Singh, R. P. Russell, P. M. Wensing, "Efficient analytical derivatives of rigid-body
//!   dynamics using spatial vector algebra", IEEE Robotics and Automation Letters 7 (2), 2022.
//! - `Steele14`: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
//!   OOPSLA 2014. SplitMix64.
//! - `Stewart96`: D. E. Stewart, J. C. Trinkle, "An implicit time-stepping scheme for rigid body dynamics
//!   with inelastic collisions and Coulomb friction", International Journal for Numerical Methods in
//!   Engineering 39 (15), 1996.
//! - `Stone74`: M. Stone, "Cross-validatory choice and assessment of statistical predictions", Journal of the Royal
//!   Statistical Society B 36 (1974) 111-147. Recordings judged by fits to others.
//! - `Tassa12`: Y. Tassa, T. Erez, E. Todorov, "Synthesis and stabilization of complex behaviors through
//!   online trajectory optimization", International Conference on Intelligent Robots and Systems 2012.
//! - `Tassa14`: Y. Tassa, N. Mansard, E. Todorov, "Control-limited differential dynamic programming",
//!   International Conference on Robotics and Automation 2014.
//! - `Triggs00`: B. Triggs, P. F. McLauchlan, R. I. Hartley, A. W. Fitzgibbon, "Bundle adjustment: a modern
//!   synthesis", in Vision Algorithms: Theory and Practice, Springer 2000. Elimination of unknowns that
//!   belong to one recording; robust losses.
//! - `Venzon88`: D. J. Venzon, S. H. Moolgavkar, "A Method for Computing Profile-Likelihood-Based Confidence
//!   Intervals", Applied Statistics 37(1), 1988.
//! - `Walker11`: H. F. Walker, P. Ni, "Anderson acceleration for fixed-point iterations", SIAM Journal on Numerical Analysis
//!   49 (4), 2011.
//! - `White80`: H. White, "A heteroskedasticity-consistent covariance matrix estimator and a direct test for
//!   heteroskedasticity", Econometrica 48 (4), 1980.
//! - `Zhong21`: Y. D. Zhong, B. Dey, A. Chakraborty, "Extending Lagrangian and Hamiltonian neural networks
//!   with differentiable contact models", NeurIPS 2021. Impacts in two phases, the convex relaxation; systems of points whose
//!   potentials are networks.

mod adaptive_moments;
pub mod argmin;
pub mod assemble;
pub mod c_interface;
#[cfg(feature = "cli")]
pub mod cli;
pub mod collision;
pub mod contact;
pub mod dynamics;
pub mod error;
pub mod fem;
mod fnv;
pub mod formats;
mod gradient;
pub mod identify;
pub mod implicit;
pub mod learn;
pub mod linalg;
pub mod linearize;
pub mod markers;
pub mod maximal;
pub mod model;
pub mod network;
mod npz;
pub mod optimize;
mod packed;
mod parallel;
#[cfg(feature = "python")]
pub mod python;
pub mod render;
pub mod simulation;
pub mod soft;
pub mod spatial;
pub mod state;
mod table;
mod text;
pub mod trajectory;
pub mod transition;
pub mod verify;
pub mod view;

/// What tests look at beyond the interface: the tests are one binary, and a second one, of the library itself, would
/// compile all physics once more.
#[doc(hidden)]
pub mod internals {
    pub use crate::ad::internals::{Sum, least_norm_inverse};
    pub use crate::argmin::impact::natural_map::project as project_on_face;
    pub use crate::argmin::interior_point::{
        ConeInteriorPoint, ConeProgramData, second_order_cone,
    };
    pub use crate::identify::internals::beta_below;
    pub use crate::linalg::{block_lu::BlockLu, elimination::Elimination, front_qr::FrontQr};
    pub use crate::markers::internals::signed_distance;
}

#[doc(inline)]
pub use stiction_ad as ad;

pub use error::{Error, ErrorKind};
pub use model::Scene;
pub use transition::Transition;

/// The programs of README and of the pages of `docs`, compiled and run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../docs/languages.md")]
    struct Languages;
    #[doc = include_str!("../docs/tutorial.md")]
    struct Tutorial;
}
