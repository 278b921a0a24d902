"""Pickles of scenes and of what was found: the same bits come out of them, where the files are not any more."""

import copy
import functools
import gzip
import multiprocessing
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import CUBE, some_state
from test_soft import TEXT as SOFT

import stiction

EXAMPLES = Path(__file__).parents[2] / "examples"

# A wedge, which no other shape stands for.
WEDGE = "".join(f"v {x} {y} {z}\n" for x, y, z in [(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, 0.3, 0.9)])
WEDGE += "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 2 5 4\nf 3 4 5\n"

SCENE = """
simulation.time_step = 0.01
half_space = [{ name = "floor", normal = [0, 0, 1] }]
contact = [{ mu = 0.4 }]
[[body]]
name = "stone"
mass = 1
shape = { mesh = "meshes/wedge.obj", scale = [0.1, 0.1, 0.1] }
position = [0, 0, 0.3]
orientation = [0.8, 0.6, 0, 0]
angular_velocity = [1, 2, 3]
"""

MODEL = """<mujoco>
  <option timestep="0.01"/>
  <asset><mesh name="wedge" file="meshes/wedge.obj" scale="0.1 0.1 0.1"/></asset>
  <include file="parts/body.xml"/>
  <keyframe><key name="high" qpos="0 0 2 1 0 0 0" qvel="0 0 0 1 0 0"/></keyframe>
</mujoco>"""

BODY = """<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="stone" pos="0 0 1"><freejoint/><geom name="hull" type="mesh" mesh="wedge"/></body>
</worldbody></mujoco>"""

ROBOT = """<robot name="stone"><link name="base">
  <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><mesh filename="package://stones/meshes/wedge.obj" scale="0.1 0.1 0.1"/></geometry></collision>
  <visual><geometry><mesh filename="package://stones/meshes/nowhere.dae"/></geometry></visual>
</link></robot>"""


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def same_bits(one, other):
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


def assert_same(scene, other):
    """Whatever a scene is asked."""
    for name in ("name", "nq", "nv", "nu", "np", "dt", "state_names", "input_names", "parameter_names", "bodies"):
        assert getattr(scene, name) == getattr(other, name), name
    assert scene.all_parameter_names == other.all_parameter_names and scene.quaternions == other.quaternions
    for name in scene.all_parameter_names:
        assert same_bits(scene.get_parameter(name), other.get_parameter(name)), name
    for name in ("x0", "u0", "p0"):
        assert same_bits(getattr(scene, name), getattr(other, name)), name
    assert {name: x.tobytes() for name, x in scene.keyframes.items()} == {
        name: x.tobytes() for name, x in other.keyframes.items()
    }
    x = some_state(scene, np.random.default_rng(5), 0.1)
    assert same_bits(scene.rollout(x, steps=20), other.rollout(x, steps=20))
    one, two = scene.linearize(x), other.linearize(x)
    for name in ("A", "B", "C", "x_next", "margin"):
        assert same_bits(getattr(one, name), getattr(two, name)), name
    assert one.modes == two.modes and one.status == two.status


@pytest.fixture
def folder(tmp_path):
    """Models of a stone, and what they name."""
    root = tmp_path / "models"
    for name, text in {
        "meshes/wedge.obj": WEDGE,
        "scene.toml": SCENE,
        "model.xml": MODEL,
        "parts/body.xml": BODY,
        "robot.urdf": ROBOT,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_scenes_come_back_as_they_were(cube, joints, protocol):
    for scene in (cube, joints):
        assert_same(scene, pickle.loads(pickle.dumps(scene, protocol)))


def test_what_was_set_and_selected_comes_along(cube):
    scene = cube.select(inputs=["cube/fz", "cube/fx"], parameters=["cube/mass", "cube/half_extents", "gravity/z"])
    scene.parameters["cube/mass"] = 0.1 + 0.2
    scene.parameters["floor-cube/mu"] = 1 / 3
    scene.parameters["gravity/x"] = -0.0
    assert_same(scene, again(scene))
    assert_same(scene, again(again(scene)))
    assert again(scene.parameters)["cube/mass"] == 0.1 + 0.2


def test_copies_have_values_of_their_own(cube):
    for make in (copy.copy, copy.deepcopy, again):
        other = make(cube)
        other.parameters["cube/mass"] = 3
        assert cube.parameters["cube/mass"] == 1 and make(other).parameters["cube/mass"] == 3
    both = copy.deepcopy({"scenes": [cube, cube]})["scenes"]
    assert_same(both[0], cube)


def test_a_scene_needs_no_files(folder, monkeypatch, tmp_path):
    packages = tmp_path / "elsewhere"
    (packages / "stones").mkdir(parents=True)
    shutil.copytree(folder / "meshes", packages / "stones" / "meshes")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(packages))
    monkeypatch.chdir(folder)
    scenes = [
        stiction.load("scene.toml", parameters=["stone/mass"]),
        stiction.parse(SCENE, str(folder / "scene.toml")),
        stiction.load(folder / "model.xml", keyframe="high"),
        stiction.load("model.xml", max_hull_vertices=4),
        stiction.load(folder / "robot.urdf", floating_base=True),
    ]
    assert scenes[2].x0[2] == 2 and scenes[4].nq == 7
    pickles = [pickle.dumps(scene) for scene in scenes]
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(folder)
    shutil.rmtree(packages)
    for scene, own in zip(scenes, pickles):
        assert_same(scene, pickle.loads(own))
        # It was kept, not read when it was pickled.
        assert_same(scene, again(scene))


def test_weights_of_learned_terms_come_along(tmp_path):
    folder = tmp_path / "learned_cam"
    shutil.copytree(EXAMPLES / "learned_cam", folder)
    scene = stiction.load(folder / "true.toml", parameters=["cam/weights"])
    scene.parameters["cam/weights/3"] = 0.25
    shutil.rmtree(folder)
    other = again(scene)
    assert other.np == scene.np > 10 and other.parameters["cam/weights/3"] == 0.25
    assert_same(scene, other)


def test_soft_scenes_come_back_without_their_meshes(tmp_path):
    nodes = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1), (0.1, 0.1, 0.1)]
    lines = ["MeshVersionFormatted 1", "Dimension 3", "Vertices", str(len(nodes))]
    lines += [f"{x} {y} {z} 0" for x, y, z in nodes] + ["Tetrahedra", "2", "1 2 3 4 0", "2 3 4 5 0", "End"]
    (tmp_path / "part.mesh").write_text("\n".join(lines))
    text = SOFT.replace("shape = { box = [0.05, 0.03, 0.02] }\nresolution = 0.05", 'mesh = "part.mesh"')
    text = text.replace("markers = { left = [-0.05, 0, 0] }", "")
    (tmp_path / "soft.toml").write_text(text)
    names = ["block/viscosity", "floor-block/mu"]
    scenes = [
        stiction.parse_soft(SOFT, parameters=names),
        stiction.load_soft(tmp_path / "soft.toml", parameters=names),
    ]
    (tmp_path / "part.mesh").unlink()
    (tmp_path / "soft.toml").unlink()
    for scene in scenes:
        for other in (again(scene), copy.copy(scene), copy.deepcopy(scene)):
            assert other.parameter_names == names and other.nodes == scene.nodes and other.markers == scene.markers
            for one, two in zip(scene.rollout(20, [3, 0.2]), other.rollout(20, [3, 0.2])):
                assert same_bits(one, two)
            for one, two in zip(scene.jacobian(10), other.jacobian(10)):
                assert same_bits(one, two)


def test_derivatives_come_back(cube):
    for x in (cube.x0, np.stack([cube.x0, cube.x0])):
        found = cube.linearize(x)
        for other in (again(found), copy.copy(found)):
            assert all(same_bits(getattr(found, name), getattr(other, name)) for name in ("A", "B", "C", "x_next", "margin"))
            assert found.modes == other.modes and found.status == other.status


FIELDS = ("status", "converged", "names", "values", "standard_errors", "intervals", "correlated", "loss", "loss_at_start")
FIELDS += ("profiles", "score_tests", "iterations", "rollouts", "warnings")


def assert_same_findings(found, other):
    for name in FIELDS:
        # nan is not itself.
        assert repr(getattr(found, name)) == repr(getattr(other, name)), name
    assert same_bits(found.correlations, other.correlations) and repr(found) == repr(other)


def slides(cube):
    found = []
    for speed in (0.8, 1.0):
        x0 = cube.x0
        x0[7] = speed
        X = cube.rollout(x0, p=[0.2, 1.0], steps=40)
        X[:, :3] += 1e-3 * np.random.default_rng(3).standard_normal((41, 3))
        found.append((0.01 * np.arange(41), X[:, :7]))
    return found


def experiment(start):
    return {
        "parameter": [{"name": "floor-cube/mu", "start": start, "lower": 0.01, "upper": 1.5}],
        "noise": {"position": 0.001, "rotation_deg": 0.1},
        "initial_state": "fitted",
    }


def test_what_was_identified_comes_back(cube):
    found = stiction.identify(experiment(0.6), slides(cube), scene=cube)
    assert found.profiles and found.intervals
    for other in (again(found), copy.copy(found), copy.deepcopy(found)):
        assert_same_findings(found, other)


def test_processes_map_a_rollout_and_an_identification(cube, random):
    cube.parameters["floor-cube/mu"] = 0.25
    batches = [cube.integrate(cube.x0, 0.05 * random.standard_normal((3, 12))) for _ in range(100)]
    for batch in batches:
        batch[:, 2] += 0.2
    inputs = [random.standard_normal((15, 6)) for _ in batches]
    find = functools.partial(stiction.identify, recordings=slides(cube), scene=cube)
    experiments = [experiment(start) for start in (0.1, 0.3, 0.6, 0.9)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        rollouts = list(executor.map(cube.rollout, batches, inputs))
        found = list(executor.map(find, experiments))
        jacobians = list(executor.map(cube.linearize, batches[:2]))
        # What is wrong there is told here.
        with pytest.raises(stiction.Error, match="x0: must have shape"):
            executor.submit(cube.rollout, [1.0, 2.0], steps=3).result()
    assert all(map(same_bits, rollouts, map(cube.rollout, batches, inputs)))
    for own, other in zip(found, map(find, experiments)):
        assert_same_findings(own, other)
    assert all(same_bits(own.A, cube.linearize(x).A) for own, x in zip(jacobians, batches))


def test_another_version_is_refused(cube):
    jacobian = cube.linearize(cube.x0)
    found = stiction.identify(experiment(0.6), slides(cube)[:1], scene=cube)
    soft = stiction.parse_soft(SOFT)
    for thing in (cube, jacobian, found, soft):
        function, (version, *parts) = thing.__reduce__()
        assert version == stiction.__version__
        message = rf"^the pickle \({type(thing).__name__}\) is of stiction 0\.0\.9, and this is stiction {version}: make it anew"
        # Another version may have other parts.
        for own in (parts, [], [*parts, "more"]):
            with pytest.raises(stiction.Error, match=message):
                function("0.0.9", *own)


def test_what_is_damaged_is_an_error(cube, random):
    function, (version, source, own) = cube.__reduce__()
    soft = stiction.parse_soft(SOFT).__reduce__()
    for parts in ([], [source], [source, own, own], [own, source], [b"", own], [source, b""], [1, own], [source, None]):
        for restore in (function, soft[0]):
            with pytest.raises(stiction.Error, match="is damaged: pickle it anew"):
                restore(version, *parts)
    for part in (source, own):
        for k in range(10, len(part)):
            for changed in (part[:k], part[:k] + bytes([part[k] ^ 1 << k % 8]) + part[k + 1 :]):
                if part is source:
                    parts = changed, own
                else:
                    parts = source, changed
                with pytest.raises(stiction.Error):
                    function(version, *parts)
    # What belongs to another scene.
    other = stiction.parse(CUBE.replace("cube", "box")).__reduce__()[1]
    with pytest.raises(stiction.Error):
        function(version, source, other[2])
    with pytest.raises(stiction.Error, match="no \\[\\[soft\\]\\] bodies"):
        soft[0](version, source, soft[1][2])
    with pytest.raises(stiction.Error):
        function(version, soft[1][1], own)


def test_a_damaged_pickle_is_no_panic(cube, random):
    whole = pickle.dumps(cube)
    for _ in range(300):
        k = random.integers(len(whole))
        broken = whole[:k] + bytes([random.integers(256)]) + whole[k + 1 :]
        try:
            scene = pickle.loads(broken)
        except Exception:
            continue
        if isinstance(scene, stiction.Scene):
            assert_same(scene, cube)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"status": 1},
        {"names": ["nothing"]},
        {"correlations": [[1.0]]},
        {"correlations": np.eye(2)},
        {"profiles": {"floor-cube/mu": 1}},
    ],
)
def test_damaged_findings_are_an_error(cube, fields):
    found = stiction.identify({**experiment(0.6), "profiles": False}, slides(cube)[:1], scene=cube)
    function, (version, whole) = found.__reduce__()
    assert_same_findings(found, function(version, whole))
    for damaged in ({**whole, **fields} if fields else {}, None):
        with pytest.raises(stiction.Error, match=r"^the pickle \(Identification\) is damaged"):
            function(version, damaged)


def test_values_that_no_scene_has_are_refused(cube):
    function, (version, source, own) = cube.__reduce__()
    parts = gzip.decompress(own)
    numbers = np.frombuffer(parts[-8 * 40 :], dtype="<f8")
    assert 9.81 in np.abs(numbers)
    for value in (np.nan, np.inf):
        changed = numbers.copy()
        changed[np.abs(changed) == 9.81] = value
        with pytest.raises(stiction.Error, match="gravity/z: must be finite"):
            function(version, source, gzip.compress(parts[: -8 * 40] + changed.tobytes()))
