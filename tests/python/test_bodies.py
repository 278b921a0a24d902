"""Places, inertias, forces and contacts of a scene in a state; motions as pages."""

import numpy as np
import pytest
from conftest import JOINTS, optional, some_state

import stiction

G = 9.81
SHORT = JOINTS.replace("time_step = 0.01", "time_step = 1e-6")
ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0.1 0.2" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <link name="upper"><inertial><origin xyz="0.01 0.02 0.2" rpy="0 0.5 0"/><mass value="2"/>
    <inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.035" iyz="0.002" izz="0.01"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 0.4" rpy="0 1 0"/><axis xyz="0 0.6 0.8"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <link name="lower"><inertial><origin xyz="0 0.1 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.002"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="lower"/><child link="tip"/>
    <origin xyz="0.1 0 0.3"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
  <link name="tip"><inertial><origin xyz="0 0 0.05"/><mass value="0.3"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
</robot>
"""


def test_the_equations_of_motion_hold(joints, random):
    """M a + bias = forces, against the accelerations of a short step, which damping and contacts have no part in."""
    x = some_state(joints, random)
    nv = joints.nv
    M, bias, a = joints.mass_matrix(x), joints.bias(x), random.standard_normal(nv)
    assert M.shape == (nv, nv)
    np.testing.assert_allclose(M, M.T, atol=1e-14)
    np.testing.assert_allclose(joints.inverse_dynamics(x, a), M @ a + bias, atol=1e-12)
    v = x[joints.nq :]
    kinetic, potential = joints.energy(x)
    assert kinetic == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
    forces = joints.select(inputs=["forces"])
    short = stiction.parse(SHORT, inputs=["forces"])
    rate = (short.step(x, forces.u0)[short.nq :] - v) / short.dt
    np.testing.assert_allclose(M @ rate + bias, forces.u0, atol=1e-3 * np.abs(bias).max())
    # Gravity gives what motion has: of a body at rest, potential energy falls by its power.
    lifted = joints.integrate(x, np.concatenate([1e-6 * v, np.zeros(nv)]))
    still = np.concatenate([x[: joints.nq], np.zeros(nv)])
    power = joints.bias(still) @ v
    assert (joints.energy(lifted)[1] - potential) / 1e-6 == pytest.approx(power, rel=1e-4, abs=1e-4)


def test_jacobians_of_points_are_their_rates(joints, random):
    x = some_state(joints, random)
    v, point = x[joints.nq :], np.array([0.1, -0.2, 0.3])
    for body in joints.bodies:
        J = joints.frame_jacobian(x, body, point)
        assert J.shape == (6, joints.nv)

        def place(t):
            moved = joints.integrate(x, np.concatenate([t * v, np.zeros(joints.nv)]))
            return moved, joints.pose(moved, body)

        def at(pose):
            w, u = pose[3], pose[4:]
            return pose[:3] + point + 2 * np.cross(u, np.cross(u, point) + w * point)

        h = 1e-5
        (_, before), (_, after) = place(-h), place(h)
        np.testing.assert_allclose(J[:3] @ v, (at(after) - at(before)) / (2 * h), atol=1e-7)
        origin = joints.frame_jacobian(x, body)
        np.testing.assert_allclose(origin[:3] @ v, (after - before)[:3] / (2 * h), atol=1e-7)
        np.testing.assert_array_equal(origin[3:], J[3:])
        # w = 2 dq/dt q*
        rate, q = (after - before)[3:] / (2 * h), joints.pose(x, body)[3:]
        spin = 2 * (-rate[0] * q[1:] + q[0] * rate[1:] - np.cross(rate[1:], q[1:]))
        np.testing.assert_allclose(J[3:] @ v, spin, atol=1e-7)


def test_an_arm_is_that_of_pinocchio(random, tmp_path):
    pin = optional("pinocchio")
    model = pin.buildModelFromXML(ARM)
    data = model.createData()
    (tmp_path / "arm.urdf").write_text(ARM)
    arm = stiction.load(tmp_path / "arm.urdf")
    assert arm.bodies[1:] == ["upper", "lower", "tip"] and arm.nv == model.nv == 3
    q, v, a = random.standard_normal((3, 3))
    x = np.concatenate([q, v])
    np.testing.assert_allclose(arm.mass_matrix(x), pin.crba(model, data, q), atol=1e-12)
    np.testing.assert_allclose(arm.inverse_dynamics(x, a), pin.rnea(model, data, q, v, a), atol=1e-11)
    np.testing.assert_allclose(arm.energy(x)[0], pin.computeKineticEnergy(model, data, q, v), atol=1e-12)
    pin.forwardKinematics(model, data, q)
    pin.updateFramePlacements(model, data)
    for name in ("upper", "lower", "tip"):
        frame = model.getFrameId(name)
        np.testing.assert_allclose(arm.pose(x, name)[:3], data.oMf[frame].translation, atol=1e-12)
        J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(arm.frame_jacobian(x, name), J, atol=1e-12)


def test_limits_are_those_of_joints_and_motors(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.replace('velocity="1"', 'velocity="2.5"', 1))
    arm = stiction.load(tmp_path / "arm.urdf")
    assert arm.x_limits.shape == (2, 6) and arm.u_limits.shape == (2, arm.nu)
    np.testing.assert_array_equal(arm.x_limits, [[-9, -9, -9, -2.5, -1, -1], [9, 9, 9, 2.5, 1, 1]])
    (tmp_path / "cart.toml").write_text("""
simulation.time_step = 0.01
[[body]]
name = "cart"
mass = 1
joint = { type = "prismatic", axis = [1, 0, 0] }
[[actuator]]
name = "motor"
joint = "cart"
control_range = [-2, 7]
force_range = [-5, 5]
""")
    cart = stiction.load(tmp_path / "cart.toml", inputs=["motor/u", "cart/f"])
    np.testing.assert_array_equal(cart.u_limits, [[-2, -np.inf], [5, np.inf]])
    np.testing.assert_array_equal(cart.x_limits, [[-np.inf] * 2, [np.inf] * 2])


def test_contacts_carry_what_stands_on_them(cube):
    x = cube.x0
    x[0] = 0.25
    found = cube.contacts(x)
    assert len(found) == 4 and {each["pair"] for each in found} == {"floor-cube"}
    assert all(each["bodies"] == [None, "cube"] and each["mode"] == "stick" for each in found)
    np.testing.assert_allclose(sum(each["force"] for each in found), [0, 0, G], rtol=2e-6, atol=1e-9)  # compliance takes 1e-6
    np.testing.assert_allclose([each["normal"] for each in found], [[0, 0, 1]] * 4)
    corners = sorted(tuple(np.round(each["position"], 12)) for each in found)
    assert corners == [(0.15, -0.1, 0), (0.15, 0.1, 0), (0.35, -0.1, 0), (0.35, 0.1, 0)]
    # Sliding, friction is mu of the weight, against the slip.
    x[cube.state_names.index("cube/vx")] = 1.0
    sliding = cube.contacts(x)
    assert {each["mode"] for each in sliding} == {"slide"}
    np.testing.assert_allclose(sum(each["force"] for each in sliding), [-0.3 * G, 0, G], rtol=2e-6, atol=1e-8)
    # Where they are turns with the body, though they are known in its frame.
    x[cube.state_names.index("cube/vx")] = 0.0
    x[:7] = [0.25, 0, 0.1 * np.sqrt(2), np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0]
    edge = [each["position"] for each in cube.contacts(x) if each["gap"] < 1e-9]
    assert len(edge) == 2
    np.testing.assert_allclose([[p[0], p[2]] for p in edge], [[0.25, 0]] * 2, atol=1e-9)
    assert sorted(round(p[1], 9) for p in edge) == [-0.1, 0.1]
    x[:7] = [0.25, 0, 0.1, 1, 0, 0, 0]
    x[2] = 5.0
    assert [each["mode"] for each in cube.contacts(x)] in ([], ["break"] * 4)


def test_batches_and_parameters(cube, random):
    cube = cube.select(parameters=["cube/mass"])
    X = np.stack([some_state(cube, random) for _ in range(6)]).reshape(2, 3, -1)
    M = cube.mass_matrix(X, p=[4.0])
    assert M.shape == (2, 3, 6, 6) and M[1, 2, 0, 0] == pytest.approx(4.0)
    np.testing.assert_array_equal(M[1, 0], cube.mass_matrix(X[1, 0], p=[4.0]))
    assert cube.pose(X, "cube").shape == (2, 3, 7)
    np.testing.assert_allclose(cube.pose(X, "cube"), X[..., :7] * np.sign(np.sum(
        cube.pose(X, "cube")[..., 3:] * X[..., 3:7], axis=-1, keepdims=True)) ** ([0] * 3 + [1] * 4), atol=1e-12)
    with pytest.raises(stiction.Error, match="box.*is the name of no body; there are cube"):
        cube.pose(X, "box")
    with pytest.raises(stiction.Error, match="without leading axes"):
        cube.contacts(X)
    with pytest.raises(stiction.Error, match="a: must have shape"):
        cube.inverse_dynamics(X, np.zeros(5))


def test_keyframes_are_states_by_name():
    text = """
simulation.time_step = 0.01
[[body]]
name = "a"
mass = 1
shape = { sphere = 0.1 }
position = [0, 0, 2]
velocity = [1, 2, 3]
[[keyframe]]
name = "low"
q = [0, 0, 0.5, 1, 0, 0, 0]
[[keyframe]]
name = "still"
v = [0, 0, 0, 0, 0, 0]
"""
    scene = stiction.parse(text)
    assert list(scene.keyframes) == ["low", "still"]
    np.testing.assert_array_equal(scene.keyframes["low"], [0, 0, 0.5, 1, 0, 0, 0, 1, 2, 3, 0, 0, 0])
    np.testing.assert_array_equal(scene.keyframes["still"], [0, 0, 2, 1] + [0] * 9)
    assert stiction.parse(text.split("[[keyframe]]")[0]).keyframes == {}


def test_a_motion_is_a_page(cube, tmp_path):
    view = cube.view(cube.rollout(cube.x0, steps=20), title="a <cube>")
    assert view.page.startswith("<!DOCTYPE html>") and "a &lt;cube&gt;" in view.page
    shown = view._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE') and "<script" not in shown
    view.save(tmp_path / "cube.html")
    assert (tmp_path / "cube.html").read_text(encoding="utf-8") == view.page
    assert "frame" in repr(view) or "bytes" in repr(view)
    assert cube.view().page.count('"times":[0.0]') == 1
    with pytest.raises(stiction.Error, match="X: must have shape"):
        cube.view(cube.x0)



def test_a_state_is_a_picture():
    scene = stiction.parse("""
[simulation]
time_step = 0.01
[light]
direct = 0
ambient = 1
color = "#102030"
[[camera]]
name = "front"
size = [40, 30]
eye = [0, -3, 0]
target = [0, 0, 0]
fov_y_deg = 40
[[camera]]
name = "side"
size = [8, 6]
eye = [-3, 0, 0]
target = [0, 0, 0]
fov_y_deg = 40
[[body]]
name = "ball"
mass = 1
shape = { sphere = 0.5, color = "#f08010" }
""")
    seen = scene.render(scene.x0)
    assert seen.shape == (30, 40, 3) and seen.dtype == np.uint8
    assert list(seen[15, 20]) == [0xF0, 0x80, 0x10] and list(seen[0, 0]) == [0x10, 0x20, 0x30]
    # It goes to the right of the picture.
    x = np.array(scene.x0)
    x[0] = 0.8
    right = scene.render(x, camera="front")
    assert list(right[15, 8]) == [0x10, 0x20, 0x30] and list(right[15, 32]) == [0xF0, 0x80, 0x10]
    assert scene.render(x, "side").shape == (6, 8, 3)
    with pytest.raises(stiction.UnknownNameError, match="is the name of no camera"):
        scene.render(x, "top")
    with pytest.raises(stiction.Error, match="x: must have shape"):
        scene.render(np.stack([x, x]))


def test_a_scene_without_cameras_is_seen_whole(cube):
    seen = cube.render(cube.x0)
    assert seen.shape == (480, 640, 3) and len(np.unique(seen.reshape(-1, 3), axis=0)) > 3
