//! The texts that are mutated.

/// Scenes with about everything that is read.
pub const SCENES: [&str; 8] = [
    include_str!("../../examples/ilqr/arm.toml"),
    include_str!("../../examples/ilqr/hopper.toml"),
    include_str!("../../examples/cube_tosses/scene.toml"),
    include_str!("../../examples/elbow_tosses/scene.toml"),
    include_str!("../../examples/many/scene.toml"),
    include_str!("../../src/cli/init/scene.toml"),
    LOOP,
    SHAPES,
];

/// A driven four-bar linkage.
pub const LOOP: &str = "[simulation]
time_step = 0.002
[[body]]
name = 'crank'
mass = 1
center_of_mass = [0.25, 0, 0]
inertia = [1e-3, 0.02, 0.02]
joint = { type = 'revolute', axis = [0, 1, 0], v = 5.0 }
[[body]]
name = 'coupler'
parent = 'crank'
mass = 1
center_of_mass = [0.6, 0, 0]
inertia = [1e-3, 0.12, 0.12]
joint = { type = 'revolute', axis = [0, 1, 0], q = -0.825 }
position = [0.5, 0, 0]
[[body]]
name = 'rocker'
mass = 1
center_of_mass = [0.45, 0, 0]
inertia = [1e-3, 0.07, 0.07]
joint = { type = 'revolute', axis = [0, 1, 0], q = -1.37, limits = [-3, 3], damping = 0.1, friction = 0.01 }
position = [1, 0, 0]
[[equality]]
name = 'loop'
type = 'connect'
bodies = ['coupler', 'rocker']
anchors = [[1.2, 0, 0], [0.9, 0, 0]]
[[actuator]]
name = 'motor'
joint = 'crank'
type = 'position'
kp = 10
kd = 1
control = 0.3
";

/// Shapes of all kinds, on each other.
const SHAPES: &str = "[simulation]
time_step = 0.01
solver = 'coupled'
compliance = 1e-6
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[body]]
name = 'hull'
mass = 1
shape = { convex = [[0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0], [0, -0.1, 0], [0, 0, 0.1], [0, 0, -0.1]] }
position = [0, 0, 0.11]
[[body]]
name = 'drum'
mass = 1
shape = { cylinder = [0.05, 0.1] }
position = [0.5, 0, 0.1001]
angular_velocity = [0, 1, 3]
[[body]]
name = 'pill'
mass = 1
shape = { capsule = [0.05, 0.1] }
position = [0.5, 0, 0.3501]
[[shape]]
name = 'terrain'
height_field = [[0, 0.1, 0], [0.1, 0.2, 0], [0, 0.05, 0]]
spacing = [0.5, 0.5]
position = [2, 0, 0]
[[body]]
name = 'box'
mass = 1
shape = { box = [0.1, 0.1, 0.1] }
position = [0, 0, 0.32]
[[contact]]
mu = 0.4
mu_static = 0.5
restitution = 0.3
";

pub const MODELS: [&str; 4] = [
    include_str!("../import/models/kinds.xml"),
    include_str!("../import/models/classes.xml"),
    include_str!("../import/models/arm.urdf"),
    include_str!("../import/models/kinds.urdf"),
];

pub const MESH: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A ball that hits the floor, what it does, and what is asked about it.
pub const BALL: &str = "[simulation]
time_step = 0.01
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
[[body]]
name = 'ball'
mass = 0.3
shape = { sphere = 0.05 }
position = [0, 0, 0.07]
velocity = [1, 0, -1]
[[contact]]
mu = 0.3
restitution = 0.4
";

pub const EXPERIMENT: &str = "scene = 'scene.toml'
data = ['recording.csv']
starts = 2
window = 5
substeps = 1
initial_state = 'fitted'
max_iterations = 4
length_scale = 0.1
[noise]
position = 0.001
rotation_deg = 0.3
[[parameter]]
name = 'floor-ball/restitution'
start = 0.3
lower = 0
upper = 1
[[parameter]]
name = 'ball/mass'
start = 0.2
lower = 0.1
upper = 1
transform = 'log'
prior = { mean = 0.3, sd = 0.1 }
";

/// Forces on [`BALL`] over time.
pub const CONTROLS: &str = "t,ball/fx,ball/tz\n0,1,2\n0.01,2,3\n0.02,0,0\n";
