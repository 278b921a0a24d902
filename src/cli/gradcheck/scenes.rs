//! The scenes that are checked when none is given: a box or a ball in every contact situation.

/// What the scenes have in common.
const GROUND: &str = "
[simulation]
time_step = 0.005
[[half_space]]
name = 'floor'
normal = [0, 0, 1]
";

/// Name and text of each scene. Heights are a little off the floor: a body exactly on it would be at
/// the kink between a gap and a penetration.
const BODIES: [(&str, &str); 12] = [
    (
        "spinning slide",
        "
[[body]]
name = 'box'
mass = 0.5
shape = { box = [0.06, 0.04, 0.02] }
position = [0, 0, 0.0273]
orientation = [0.9987, 0.035, 0.037, 0]
velocity = [1.5, 0.4, -0.2]
angular_velocity = [0, 0, 3]
[[contact]]
mu = 0.4",
    ),
    (
        "spinning slide on four corners",
        "
[[body]]
name = 'box'
mass = 0.5
shape = { box = [0.06, 0.04, 0.02] }
position = [0, 0, 0.0201]
velocity = [1.5, 0.4, -0.05]
angular_velocity = [0, 0, 3]
[[contact]]
mu = 0.2",
    ),
    (
        "landing on an edge",
        "
[[body]]
name = 'box'
mass = 0.37
center_of_mass = [0.002, -0.001, 0.003]
inertia = [8e-4, 7e-4, 9e-4, 3e-5, -2e-5, 4e-5]
shape = { box = [0.05, 0.05, 0.05] }
position = [0, 0, 0.0708]
orientation = [0.92387953, 0, 0.38268343, 0]
velocity = [0.3, 0.5, -1]
angular_velocity = [0.1, 0.2, -0.3]
[[contact]]
mu = 0.3",
    ),
    (
        "landing on a corner",
        "
[[body]]
name = 'box'
mass = 0.37
center_of_mass = [0.002, -0.001, 0.003]
inertia = [8e-4, 7e-4, 9e-4, 3e-5, -2e-5, 4e-5]
shape = { box = [0.05, 0.05, 0.05] }
position = [0, 0, 0.087]
orientation = [0.88, 0.365, 0.3, 0.05]
velocity = [0.3, 0.5, -1]
angular_velocity = [0.5, -1, 2]
[[contact]]
mu = 0.3",
    ),
    (
        "sticking on a slope",
        "
[[body]]
name = 'box'
mass = 0.5
shape = { box = [0.06, 0.04, 0.02] }
position = [0, 0, 0.0201]
velocity = [0.002, 0.001, -0.03]
force = [0.6, -0.4, 0]
[[contact]]
mu = 0.8",
    ),
    (
        "oblique impact",
        "
[[body]]
name = 'box'
mass = 0.37
shape = { box = [0.05, 0.05, 0.05] }
position = [0, 0, 0.087]
orientation = [0.88, 0.365, 0.3, 0.05]
velocity = [1, -0.5, -2]
angular_velocity = [0.5, -1, 2]
[[contact]]
mu = 0.3
restitution = 0.6",
    ),
    (
        "take-off",
        "
[[body]]
name = 'box'
mass = 0.5
shape = { box = [0.06, 0.04, 0.02] }
position = [0, 0, 0.020005]
velocity = [0.5, 0.3, 0]
force = [0, 0, 3.5]
torque = [0, 0.1, 0]
[[contact]]
mu = 0.2",
    ),
    (
        "bouncing ball with spin",
        "
[[body]]
name = 'ball'
mass = 0.2
shape = { sphere = 0.05 }
position = [0, 0, 0.053]
velocity = [1, 0.5, -1]
angular_velocity = [10, -5, 20]
[[contact]]
mu = 0.3
restitution = 0.7",
    ),
    (
        "box on a sliding box",
        "
[[body]]
name = 'low'
mass = 0.5
shape = { box = [0.06, 0.05, 0.03] }
position = [0, 0, 0.0301]
velocity = [0.2, 0.1, -0.05]
[[body]]
name = 'high'
mass = 0.3
center_of_mass = [0.002, -0.001, 0.003]
inertia = [2e-4, 3e-4, 2.5e-4, 1e-5, -2e-5, 3e-5]
shape = { box = [0.03, 0.04, 0.02] }
position = [0.01, 0.005, 0.0803]
velocity = [1, -0.3, -0.05]
angular_velocity = [0, 0, 2]
[[contact]]
mu = 0.4
restitution = 0.3",
    ),
    (
        "edge on edge",
        "
[[body]]
name = 'a'
mass = 0.5
shape = { box = [0.06, 0.05, 0.03] }
position = [0, 0, 0.5]
orientation = [0.92387953, 0, 0.38268343, 0]
[[body]]
name = 'b'
mass = 0.3
shape = { box = [0.05, 0.04, 0.05] }
position = [0, 0.005, 0.6355]
orientation = [0.92387953, 0.38268343, 0, 0]
velocity = [0.2, -0.3, -2]
angular_velocity = [0.1, 0, 2]
[[contact]]
mu = 0.3
restitution = 0.5",
    ),
    (
        "friction in two regimes",
        "
[[body]]
name = 'slow'
mass = 0.5
shape = { box = [0.06, 0.04, 0.02] }
position = [0, 0, 0.0201]
velocity = [0.0004, 0, -0.05]
force = [1, 0.2, 0]
[[body]]
name = 'ball'
mass = 0.2
shape = { sphere = 0.05 }
position = [0.3, 0, 0.0501]
velocity = [1, 0.5, -0.05]
[[contact]]
mu = 0.2
mu_static = 0.5",
    ),
    (
        "terms of contact",
        "
[[body]]
name = 'sled'
mass = 0.5
shape = { box = [0.06, 0.04, 0.02] }
position = [0, 0, 0.0201]
velocity = [0.3, 0.2, -0.05]
angular_velocity = [0, 0, 2]
drag = { linear = 0.2, quadratic = 0.5 }
[[body]]
name = 'ball'
mass = 0.2
shape = { sphere = 0.05 }
position = [0.3, 0, 0.0501]
velocity = [1, 0.5, -2]
angular_velocity = [-3, 12, 20]
[[contact]]
pair = 'floor-sled'
mu = 0.2
mu_static = 0.4
mu_across = 0.5
stribeck_speed = 0.3
torsion_radius = 0.02
grain = [1, 0.3, 0]
grain_of = 'sled'
[[contact]]
mu = 0.4
restitution = 0.6
restitution_falloff = 0.7
torsion_radius = 0.004
rolling_resistance = 0.002",
    ),
];

/// Name and text of each scene.
pub(super) fn all() -> impl Iterator<Item = (&'static str, String)> {
    BODIES.into_iter().map(|(name, body)| (name, format!("{GROUND}{body}")))
}
