"""Steps, rollouts and derivatives against closed forms and differences; arrays of every kind; errors in words."""

import ast
import inspect
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import CUBE, some_state

import stiction

G = 9.81


def test_a_slide_is_as_long_as_friction_says(cube):
    x0 = cube.x0
    x0[cube.state_names.index("cube/vx")] = 1.0
    X = cube.rollout(x0, steps=100)
    assert X.shape == (101, 13) and X.dtype == np.float64 and X.flags.c_contiguous
    np.testing.assert_array_equal(X[0], x0)
    # Semi-implicit steps: the sum of the speeds v - k mu g dt that are positive.
    speeds = 1 - 0.3 * G * 0.01 * np.arange(1, 101)
    assert X[-1, 0] == pytest.approx(0.01 * speeds[speeds > 0].sum(), abs=1e-9)
    assert np.abs(X[-1, 7:]).max() < 1e-9


def test_derivatives_of_a_slide_are_those_of_its_formula(cube):
    x = cube.x0
    x[7] = 1.0
    jacobian = cube.linearize(x)
    assert jacobian.A.shape == (12, 12) and jacobian.B.shape == (12, 6) and jacobian.C.shape == (12, 2)
    assert jacobian.status == "solved" and jacobian.margin > 0
    assert [mode[::2] for mode in jacobian.modes] == [("floor-cube", "slide")] * 4
    # v+ = v - mu g dt, and with a force along x + dt f / m.
    assert jacobian.C[6, 0] == pytest.approx(-G * 0.01, rel=1e-5)
    assert jacobian.C[6, 1] == pytest.approx(0, abs=1e-6)
    assert jacobian.B[6, 0] == pytest.approx(0.01, rel=1e-9)
    np.testing.assert_allclose(jacobian.x_next, cube.step(x), atol=1e-12)


def test_products_are_those_with_the_matrices(joints, random):
    x, u = some_state(joints, random), random.standard_normal(joints.nu)
    jacobian = joints.linearize(x, u)
    all_columns = np.hstack([jacobian.A, jacobian.B, jacobian.C])
    n = [2 * joints.nv, joints.nu, joints.np]
    d, w = random.standard_normal(sum(n)), random.standard_normal(2 * joints.nv)
    dx, du, dp = np.split(d, np.cumsum(n)[:-1])
    np.testing.assert_allclose(joints.jvp(x, u, dx, du, dp), all_columns @ d, atol=1e-10)
    np.testing.assert_allclose(joints.jvp(x, u, du=du), jacobian.B @ du, atol=1e-10)
    np.testing.assert_allclose(np.concatenate(joints.vjp(x, u, w)), all_columns.T @ w, atol=1e-10)


def test_derivatives_are_differences_along_the_manifold(joints, random):
    x, u = some_state(joints, random), random.standard_normal(joints.nu)
    jacobian, h = joints.linearize(x, u), 1e-6
    x_next = jacobian.x_next
    for k, column in enumerate(np.eye(2 * joints.nv)):
        ends = [joints.step(joints.integrate(x, s * h * column), u) for s in (1, -1)]
        slope = (joints.difference(x_next, ends[0]) - joints.difference(x_next, ends[1])) / (2 * h)
        np.testing.assert_allclose(jacobian.A[:, k], slope, atol=1e-7)
    p = joints.p0
    ends = [joints.step(x, u, p + s * h) for s in (1, -1)]
    slope = (joints.difference(x_next, ends[0]) - joints.difference(x_next, ends[1])) / (2 * h)
    np.testing.assert_allclose(jacobian.C[:, 0], slope, atol=1e-7)


def test_a_hessian_is_the_difference_of_gradients(joints, random):
    x, u = some_state(joints, random), random.standard_normal(joints.nu)
    w, h = random.standard_normal(2 * joints.nv), 1e-5
    hessian = joints.hessian(x, u, w)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-9)
    for k in range(joints.nu):
        step = h * np.eye(joints.nu)[k]
        # Of velocities: theirs is a vector space, so that it does not matter where differences are taken.
        w_v = np.concatenate([np.zeros(joints.nv), w[joints.nv :]])
        slope = (joints.vjp(x, u + step, w_v)[1] - joints.vjp(x, u - step, w_v)[1]) / (2 * h)
        own = joints.hessian(x, u, w_v)[2 * joints.nv :, 2 * joints.nv :][:-1, k]
        np.testing.assert_allclose(own, slope, atol=1e-7)


def test_batches_have_the_bits_of_single_calls_on_any_number_of_threads(cube, random):
    x = np.stack([some_state(cube, random, 0.1) for _ in range(40)])
    U = random.standard_normal((40, 7, 6))
    singles = np.stack([cube.rollout(x0, u) for x0, u in zip(x, U)])
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(cube.rollout(x, U, threads=threads), singles)
        np.testing.assert_array_equal(cube.step(x, U[:, 0], threads=threads), singles[:, 1])
    jacobian = cube.linearize(x, U[:, 0])
    for k in (0, 39):
        single = cube.linearize(x[k], U[k, 0])
        np.testing.assert_array_equal(jacobian.A[k], single.A)
        assert jacobian.modes[k] == single.modes and jacobian.margin[k] == single.margin
    np.testing.assert_array_equal(cube.vjp(x, U[:, 0], np.ones(12))[0][3], cube.vjp(x[3], U[3, 0], np.ones(12))[0])


def test_leading_axes_are_broadcast(cube):
    x = np.broadcast_to(cube.x0, (2, 1, 13))
    p = np.array([[0.1, 1], [0.2, 1], [0.3, 1]])
    assert cube.step(x, np.zeros(6), p).shape == (2, 3, 13)
    assert cube.rollout(cube.x0, np.zeros((5, 4, 6))).shape == (5, 5, 13)
    assert cube.linearize(x[:, 0], np.zeros(6)).B.shape == (2, 12, 6)
    assert cube.step(np.zeros((0, 13))).shape == (0, 13)
    assert cube.linearize(np.zeros((0, 13))).x_next.shape == (0, 13)
    assert cube.rollout(cube.x0, np.zeros((0, 6))).shape == (1, 13)


def test_arrays_of_other_kinds_are_converted(cube):
    x = cube.x0
    x[2], x[7] = 1, 2
    expected = cube.step(x, np.arange(6.0))
    for u in (np.arange(6), np.arange(6, dtype=np.int32), np.arange(6, dtype=np.float32), list(range(6))):
        np.testing.assert_array_equal(cube.step(x, u), expected)
    whole = np.array(x, dtype=np.int64)
    np.testing.assert_array_equal(cube.step(whole, np.arange(6)), cube.step(whole.astype(float), np.arange(6)))
    strided = np.zeros((13, 2))
    strided[:, 1] = x
    np.testing.assert_array_equal(cube.step(strided[:, 1], np.arange(12)[::2] / 2), expected)
    fortran = np.asfortranarray(np.stack([x, x]))
    np.testing.assert_array_equal(cube.step(fortran, np.arange(6))[1], expected)
    single = cube.step(x.astype(np.float32))
    assert single.dtype == np.float64


def test_arrays_that_lie_crooked_in_memory(cube, random):
    # A field of packed records: neither aligned nor in strides of whole numbers.
    log = np.zeros(40, [("t", "f4"), ("u", "f8", 6)])
    log["u"] = random.standard_normal((40, 6))
    log["t"] = 1
    assert not log["u"].flags.aligned and log["u"].strides[0] % 8
    expected = cube.rollout(cube.x0, log["u"].copy())
    np.testing.assert_array_equal(cube.rollout(cube.x0, log["u"]), expected)
    np.testing.assert_array_equal(cube.step(cube.x0, log["u"][3]), cube.step(cube.x0, log["u"][3].copy()))
    odd = np.frombuffer(b"." + log["u"].tobytes(), np.uint8)[1:].view(np.float64).reshape(40, 6)
    np.testing.assert_array_equal(cube.rollout(cube.x0, odd), expected)
    backwards = log["u"].copy()[::-1, ::-1]
    np.testing.assert_array_equal(cube.rollout(cube.x0, backwards[::-1, ::-1]), expected)
    np.testing.assert_array_equal(cube.rollout(cube.x0, backwards), cube.rollout(cube.x0, backwards.copy()))
    swapped = log["u"].astype(">f8")
    np.testing.assert_array_equal(cube.rollout(cube.x0, swapped), expected)


def test_broadcast_cases_are_those_of_a_loop(cube, random):
    x = np.stack([some_state(cube, random, 0.1) for _ in range(6)]).reshape(2, 1, 3, 13)
    U = random.standard_normal((4, 1, 2, 6))
    p = np.array([[0.1, 1], [0.2, 2], [0.3, 3]])
    found = cube.rollout(x, U, p)
    assert found.shape == (2, 4, 3, 3, 13)
    for i, j, k in np.ndindex(2, 4, 3):
        np.testing.assert_array_equal(found[i, j, k], cube.rollout(x[i, 0, k], U[j, 0], p[k]))


def test_more_cases_than_memory_holds_are_refused(cube):
    x = np.broadcast_to(cube.x0, (100_000, 1, 1, 13))
    u, p = np.zeros((1, 100_000, 1, 6)), np.broadcast_to(cube.p0, (100_000, 2))
    for call in (
        lambda: cube.step(x, u, p),
        lambda: cube.linearize(x, u, p),
        lambda: cube.vjp(x, u, np.ones(12), p),
    ):
        with pytest.raises(stiction.Error, match="no memory for 1000000000000000 cases"):
            call()
    with pytest.raises(stiction.Error, match="cases of 7 steps"):
        cube.rollout(x, np.zeros((1, 100_000, 1, 7, 6)), p)
    with pytest.raises(stiction.Error, match="x: no memory for 1300000000000000 numbers"):
        cube.step(np.broadcast_to(cube.x0, (10**14, 13)))
    # Of what a system might promise, too: that of some terabytes is not asked for.
    x, zeros = np.broadcast_to(cube.x0, (2**17, 1, 13)), np.zeros(6)
    with pytest.raises(stiction.Error, match=r"no memory for 17179869184 cases: they take \d+(\.\d)? TB"):
        cube.linearize(x, np.broadcast_to(zeros, (1, 2**17, 6)))
    with pytest.raises(stiction.Error, match=r"cases of 100 steps: they take \d+(\.\d)? TB.*make fewer at once"):
        cube.rollout(x, np.broadcast_to(zeros, (1, 2**12, 100, 6)))
    bare = cube.select(inputs=[], parameters=[])
    with pytest.raises(stiction.Error, match=r"too many cases: x \(13\), u \(1099511627776, 1, 0\), p"):
        bare.step(bare.x0, np.zeros((2**40, 1, 0)), np.zeros((2**40, 0)))


def test_numbers_of_threads(cube):
    x = np.broadcast_to(cube.x0, (1500, 13))
    expected = cube.step(cube.x0)
    for threads in (1, np.int64(3), 10**6):
        assert (cube.step(x, threads=threads) == expected).all()
    for threads in (0, -1, 2**64, 1.5, "two"):
        with pytest.raises(stiction.Error, match="threads: must be a whole number of at least 1, found"):
            cube.step(x, threads=threads)
    with pytest.raises(stiction.Error, match="threads: must be a whole number of at least 1, found 0"):
        stiction.identify("nowhere.toml", threads=0)


def test_one_input_keeps_its_axis(cube):
    pushed = cube.select(inputs=["cube/fx"])
    x = pushed.x0
    assert pushed.nu == 1 and pushed.linearize(x, [4.0]).B.shape == (12, 1)
    for u in (4.0, np.float32(4.0), np.array(4), np.array([4]), [4.0]):
        np.testing.assert_array_equal(pushed.step(x, u), cube.step(x, [4, 0, 0, 0, 0, 0]))
    assert pushed.rollout(x, np.full((7, 1), 4.0)).shape == (8, 13)


def test_a_system_without_inputs(cube):
    alone = cube.select(inputs=[], parameters=[])
    jacobian = alone.linearize(alone.x0, [])
    assert alone.nu == 0 and jacobian.B.shape == (12, 0) and jacobian.C.shape == (12, 0)
    np.testing.assert_array_equal(alone.step(alone.x0), cube.step(cube.x0))
    assert alone.rollout(alone.x0, np.zeros((3, 0))).shape == (4, 13)


def test_parameters_are_read_and_set_by_name(cube):
    other = cube.select(parameters=["cube/mass"])
    assert cube.parameters["floor-cube/mu"] == 0.3 and "cube/mass" in cube.parameters
    assert dict(cube.parameters)["gravity/z"] == -G and len(cube.parameters) == len(cube.all_parameter_names)
    cube.parameters["floor-cube/mu"] = 0.1
    assert cube.p0.tolist() == [0.1, 1.0] and other.parameters["floor-cube/mu"] == 0.3
    x = cube.x0
    x[7] = 1
    assert cube.step(x)[7] == pytest.approx(1 - 0.1 * G * 0.01, abs=1e-7)
    assert cube.step(x, p=[0.2, 1])[7] == pytest.approx(1 - 0.2 * G * 0.01, abs=1e-7)
    assert cube.parameters["floor-cube/mu"] == 0.1
    with pytest.raises(stiction.Error, match="floor-cube/mu: must be from 0 to inf, found -1"):
        cube.parameters["floor-cube/mu"] = -1
    with pytest.raises(stiction.Error, match="cube/mass: must be from"):
        cube.step(x, p=[0.2, -1])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: s.step(np.zeros(12)), r"x: must have shape \(..., 13\), found \(12\)"),
        (lambda s: s.step(s.x0, np.zeros((6, 1))), r"u: must have shape \(..., 6\), found \(6, 1\)"),
        (lambda s: s.step(np.zeros((2, 13)), np.zeros((3, 6))), r"leading axes do not match: x \(2, 13\), u \(3, 6\)"),
        (lambda s: s.rollout(s.x0, np.zeros(6)), r"U: must have shape \(..., N, 6\), found \(6\)"),
        (lambda s: s.rollout(s.x0), "either U or steps"),
        (lambda s: s.rollout(s.x0, steps=10**15), "no memory for 1000000000000000 steps"),
        (lambda s: s.rollout(s.x0, steps=2**64 - 1), "no memory for 18446744073709551615 steps"),
        (lambda s: s.rollout(np.zeros((0, 13)), steps=2**64 - 1), "no memory for 18446744073709551615 steps"),
        (lambda s: s.rollout(s.x0, steps=-1), "steps: must be a whole number of at least 0, found -1"),
        (lambda s: s.step("abc"), "x: must be real numbers, found an array of <U3"),
        (lambda s: s.step(["1"] * 13), "x: must be real numbers"),
        (lambda s: s.step(s.x0, object()), "u: must be real numbers, found an array of object"),
        (lambda s: s.step(None), "x: must be real numbers, found an array of object"),
        (lambda s: s.step(s.x0, p=[0.2]), r"p: must have shape \(..., 2\), found \(1\)"),
        (lambda s: s.step(s.x0 + 1j), "x: must be real numbers, found an array of complex128"),
        (lambda s: s.step([[1.0], [1.0, 2.0]]), "x: cannot be made an array of numbers: "),
        (lambda s: s.rollout(s.x0, [[1.0], [1.0, 2.0]]), "U: cannot be made an array of numbers: "),
        (lambda s: s.step(np.zeros((1,) * 31 + (13,))), "x: must have at most 30 axes, found 32"),
        (lambda s: s.step(s.x0 * np.nan), "cube/px: must be finite, found NaN"),
        (lambda s: s.step([s.x0, 0 * s.x0]), "case 1 of 2: cube.toml: cube/qw: a quaternion of norm 0"),
        (lambda s: s.step(s.x0, [np.inf, 0, 0, 0, 0, 0]), "cube/fx: must be finite, found inf"),
        (lambda s: s.step(s.x0, [1e308] * 6), "does not give finite numbers"),
        (lambda s: s.select(inputs=["cube/f"]), "cube/f: is no input; there are cube/fx"),
        (lambda s: s.select(parameters=["mu"]), "mu: is no parameter; there are gravity/x"),
        (lambda s: s.select(parameters=["cube/mass", "cube/mass"]), "cube/mass: is named twice"),
        (
            lambda s: s.select(parameters=["cube/inertia", "cube/inertia/xx"]),
            "cube/inertia/xx: shares a number with cube/inertia, which is named too",
        ),
        (lambda s: s.select(inputs=[""]), 'cube.toml: "": is no input'),
        (lambda s: s.step(s.x0, p=[[0.2, 1], [0.2, -1]]), "case 1 of 2: cube.toml: cube/mass: must be from"),
        (lambda s: stiction.load("nowhere.toml"), "nowhere.toml: No such file"),
        (lambda s: stiction.load("nowhere.xml", max_hull_vertices=-1), "max_hull_vertices: must be a whole number"),
        (lambda s: stiction.parse("[[body]]\nmass = -1", "bad.toml"), "bad.toml:"),
    ],
)
def test_errors_say_what_is_wrong(cube, call, message):
    with pytest.raises(stiction.Error, match=message) as caught:
        call(cube)
    assert isinstance(caught.value, ValueError)
    assert np.isfinite(cube.step(cube.x0)).all()


def test_hulls_of_meshes_have_as_many_vertices_as_they_may(tmp_path):
    corners = " ".join(f"{x} {y} {z}" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    (tmp_path / "mesh.xml").write_text(
        f"<mujoco><asset><mesh name='m' inertia='convex' vertex='{corners}'/></asset><worldbody><body name='rock'><freejoint/>"
        "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
    )
    for limit in (None, 0, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            stiction.load(tmp_path / "mesh.xml", max_hull_vertices=limit)
    with pytest.warns(UserWarning, match="reduced to at most 5"):
        stiction.load(tmp_path / "mesh.xml", max_hull_vertices=5)
    with pytest.raises(stiction.Error, match="must be 0, for all, or at least 4"):
        stiction.load(tmp_path / "mesh.xml", max_hull_vertices=3)
    (tmp_path / "cube.toml").write_text(CUBE)
    with pytest.raises(stiction.Error, match="a scene says it beside each mesh"):
        stiction.load(tmp_path / "cube.toml", max_hull_vertices=9)


def test_what_is_not_solved_is_told_once_a_call(cube):
    text = CUBE.replace("time_step = 0.01", "time_step = 0.01\nsimulation.tolerance = 1e-300")
    hard, x0 = stiction.parse(text), cube.x0
    x0[7:] = [1, 0.5, 0, 1, 2, 3]
    with pytest.warns(stiction.UnsolvedWarning, match="not solved in 20 steps") as told:
        hard.rollout(x0, steps=20)
    assert len(told) == 1
    with pytest.warns(stiction.UnsolvedWarning, match="not solved in 3 steps"):
        assert hard.linearize([x0] * 3).status == ["stalled"] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cube.rollout(x0, steps=20)


def test_what_no_body_does_is_told_once_a_call(cube):
    x0 = cube.x0
    x0[7] = 4e8
    with pytest.warns(stiction.ImplausibleWarning, match='20 steps are not plausible.*"cube": its velocity') as told:
        cube.rollout(x0, steps=20)
    assert len(told) == 1
    for call in (cube.step, cube.linearize):
        with pytest.warns(stiction.ImplausibleWarning, match="1 step is not plausible"):
            call(x0)


FORKED = """
import multiprocessing, os, sys
import numpy as np, stiction

def far(vx):
    x = scene.x0
    x[7] = vx
    return scene.rollout(x, steps=100)[-1, 0]

scene = stiction.parse(sys.argv[1])
batch = np.tile(scene.x0, (64, 1))
before = scene.rollout(batch, steps=50, threads=4)
child = os.fork()
if child == 0:
    # Threads of the parent are not there; those that are needed are started anew.
    same = (scene.rollout(batch, steps=50, threads=4) == before).all()
    os._exit(0 if same else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(far, [0.5, 1.0]) == [far(0.5), far(1.0)]
"""


def test_a_fork_goes_on(cube):
    done = subprocess.run([sys.executable, "-c", FORKED, CUBE], timeout=100, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_a_long_rollout(cube):
    # Python leaves the signal ignored where it was started in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            cube.rollout(cube.x0, steps=5_000_000)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert np.isfinite(cube.step(cube.x0)).all()


def test_threads_of_python_share_a_scene(cube):
    x, count = cube.x0, 4
    x[7] = 1
    values = [[0.05 * (k + 1), 1 + k] for k in range(count)]
    # Few steps are made in the memory that the threads share, and with values of p of their own.
    few = [cube.rollout(x, p=p, steps=20) for p in values]
    many = [cube.rollout(x, p=p, steps=50) for p in values]
    found, start = {}, threading.Barrier(count)

    def run(k):
        start.wait()
        found[k] = [cube.rollout(x, p=values[k], steps=steps) for steps in (20, 50) * 20]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for k in range(count):
        for motion in found[k][::2]:
            np.testing.assert_array_equal(motion, few[k])
        for motion in found[k][1::2]:
            np.testing.assert_array_equal(motion, many[k])
    assert not (few[0][-1] == few[1][-1]).all()
    assert cube.p0.tolist() == [0.3, 1.0]


def test_what_is_optional_is_named_when_it_is_missing():
    for name in ("crocoddyl", "jax", "torch"):
        code = f"""
import sys
sys.modules["{name}"] = None
try:
    import stiction.{name}
except ModuleNotFoundError as error:
    print(error)
"""
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert f"pip install {name}" in ended.stdout


def stub_parameters(function):
    """Names, kinds and defaults of the parameters of a function in a stub, but for `self`."""
    given, kinds = function.args, inspect.Parameter
    assert not given.vararg and not given.kwarg
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + given.defaults
    found = [(each.arg, kinds.POSITIONAL_OR_KEYWORD, default) for each, default in zip(positional, defaults)]
    found += [(each.arg, kinds.KEYWORD_ONLY, default) for each, default in zip(given.kwonlyargs, given.kw_defaults)]
    written = lambda default: kinds.empty if default is None else ast.literal_eval(default)  # noqa: E731
    return [(name, kind, written(default)) for name, kind, default in found if name != "self"]


def own_parameters(function):
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in found if each.name != "self"]


def test_everything_has_a_docstring_and_is_in_the_stubs_as_it_is():
    root = Path(stiction.__file__).parent
    assert (root / "py.typed").exists()
    stubs = {node.name: node for node in ast.parse((root / "_stiction.pyi").read_text()).body if hasattr(node, "name")}
    public = {name for name in vars(stiction._stiction) if not name.startswith("_")}
    assert set(stubs) == public
    for owner in (stiction.Scene, stiction.Jacobian, stiction.Identification):
        members = {name: each for name, each in vars(owner).items() if not name.startswith("_")}
        typed = {node.name: node for node in stubs[owner.__name__].body}
        assert set(typed) == set(members), owner
        for name, member in members.items():
            assert member.__doc__, name
            is_property = any(ast.unparse(each) == "property" for each in typed[name].decorator_list)
            assert is_property == (not callable(member)), name
            if not is_property:
                assert stub_parameters(typed[name]) == own_parameters(member), name
    for name in ("load", "parse", "identify"):
        function = getattr(stiction._stiction, name)
        assert function.__doc__ and stub_parameters(stubs[name]) == own_parameters(function), name


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))])
def test_the_programs_of_the_pages_run(page, monkeypatch, capsys):
    """Those that are not marked `python no_run`, one after the other."""
    monkeypatch.chdir(ROOT)
    programs = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    names = {}
    for program in programs:
        exec(program, names)
    printed = capsys.readouterr().out
    assert "stiction.identify" not in "".join(programs) or re.match(r"\{'floor-box/mu': 0\.(29|30)\d* *", printed)


@pytest.mark.parametrize(
    "look_up, message",
    [
        (lambda s: s.parameters["floor-cube/nu"], "cube.toml: floor-cube/nu: is no parameter; there are gravity/x, .* floor-cube/mu, "),
        (lambda s: s.parameters.__setitem__("cube/mas", 1), "cube.toml: cube/mas: is no parameter; there are gravity/x, .* cube/mass, "),
        (lambda s: s.parameters[3], "names are texts, found 3"),
        (lambda s: s.select(parameters=[""]), 'cube.toml: "": is no parameter; '),
        (lambda s: s.select(inputs=["cube/f"]), "cube.toml: cube/f: is no input; there are cube/fx, .*, cube/tz; or take"),
        (lambda s: s.pose(s.x0, "cub"), "cube.toml: cub: is the name of no body; there are cube$"),
        (lambda s: s.keyframes["home"], 'cube.toml: keyframe: there is no keyframe "home"; there are none$'),
    ],
)
def test_an_unknown_name_is_a_key_error_that_tells_those_there_are(cube, look_up, message):
    with pytest.raises(KeyError) as caught:
        look_up(cube)
    assert isinstance(caught.value, stiction.UnknownNameError) and isinstance(caught.value, stiction.Error)
    # Without the quotes that a KeyError has around its key.
    assert re.match(message, str(caught.value)), str(caught.value)


def test_keyframes_and_soft_bodies_tell_their_names():
    text = "\n".join([CUBE, *(f'[[keyframe]]\nname = "k{k}"\nq = [0, 0, {k}, 1, 0, 0, 0]' for k in range(30))])
    scene = stiction.parse(text)
    assert scene.keyframes["k3"][2] == 3 and "k30" not in scene.keyframes and scene.keyframes.get("k30") is None
    with pytest.raises(KeyError, match='no keyframe "k30"; the nearest are k0, k10, k20, k3, k1, .*, of 30$'):
        scene.keyframes["k30"]
    restored = pickle.loads(pickle.dumps(stiction.UnknownNameError("no such name")))
    assert isinstance(restored, stiction.UnknownNameError) and str(restored) == "no such name"
