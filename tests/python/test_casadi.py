"""Scenes as libraries for CasADi, which the module writes: against its own steps and derivatives."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import CUBE, optional, some_state

import stiction
from stiction import _ambient

casadi = optional("casadi")

# A cart with a pendulum that has a motor: x is its own tangent space.
CART = """
simulation.time_step = 0.01
[[body]]
name = "cart"
mass = 2
inertia = [0.1, 0.1, 0.1]
joint = { type = "prismatic", axis = [1, 0, 0], damping = 0.1 }
[[body]]
name = "pole"
parent = "cart"
mass = 0.5
inertia = [0.01, 0.01, 0.01]
center_of_mass = [0, 0, -0.4]
joint = { type = "revolute", axis = [0, 1, 0] }
[[actuator]]
name = "motor"
joint = "pole"
"""


def functions(scene, path):
    scene.export_casadi(path)
    f = casadi.external("stiction_f", str(path))
    return f, f.factory("jacobian", ["x", "u"], ["jac:x_next:x", "jac:x_next:u"])


def test_the_step_and_its_jacobian_are_those_of_the_scene(random, tmp_path):
    scene = stiction.parse(CART)
    f, jacobian = functions(scene, tmp_path / "cart.so")
    start = casadi.external("stiction_start", str(tmp_path / "cart.so"))()
    np.testing.assert_array_equal(np.array(start["x"])[:, 0], scene.x0)
    assert np.array(start["u"])[:, 0].tolist() == scene.u0.tolist() == [0.0]
    for _ in range(3):
        x, u = random.standard_normal(4), random.standard_normal(1)
        np.testing.assert_array_equal(np.array(f(x, u))[:, 0], scene.step(x, u))
        at, (A, B) = scene.linearize(x, u), map(np.array, jacobian(x, u))
        np.testing.assert_allclose(A, at.A, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(B, at.B, rtol=1e-12, atol=1e-14)


def test_inputs_and_parameters_are_those_of_the_scene_now(cube, random, tmp_path):
    pushed = cube.select(inputs=["cube/fx", "cube/fy"])
    pushed.parameters["floor-cube/mu"] = 0.1
    f, jacobian = functions(pushed, tmp_path / "cube.so")
    x, u = some_state(pushed, random, 0.1), np.array([3.0, -1.0])
    x[2] = 0.099
    np.testing.assert_array_equal(np.array(f(x, u))[:, 0], pushed.step(x, u))
    assert (pushed.step(x, u) != cube.select(inputs=["cube/fx", "cube/fy"]).step(x, u, cube.p0 + [0.2, 0])).any()
    A, B = map(np.array, jacobian(x, u))
    at, x_next = pushed.linearize(x, u), pushed.step(x, u)
    for dx in np.eye(13):
        change = at.A @ _ambient.change_to_tangent(pushed, x, dx)
        np.testing.assert_allclose(A @ dx, _ambient.change_from_tangent(pushed, x_next, change), rtol=1e-9, atol=1e-12)
    for k in range(2):
        np.testing.assert_allclose(B[:, k], _ambient.change_from_tangent(pushed, x_next, at.B[:, k]), rtol=1e-9, atol=1e-12)


def test_several_libraries_are_several_scenes(cube, tmp_path):
    x = cube.x0
    x[7] = 1
    steps = []
    for k in range(3):
        cube.parameters["floor-cube/mu"] = 0.1 * k
        steps.append(functions(cube, tmp_path / f"{k}.so")[0])
    speeds = [float(f(x, np.zeros(6))[7]) for f in steps]
    np.testing.assert_allclose(speeds, [1 - 9.81 * 0.01 * 0.1 * k for k in range(3)], atol=1e-7)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other libraries")
def test_other_programs_load_it_without_python(cube, tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("there is no cc")
    cube.export_casadi(tmp_path / "cube.so")
    program = tmp_path / "program.c"
    program.write_text("""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **arguments) {
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return puts(dlerror()), 1;
  int (*f)(const double **, double **, long long *, double *, int) =
      (int (*)(const double **, double **, long long *, double *, int))dlsym(library, "stiction_f");
  double x[13] = {0, 0, 0.1, 1, 0, 0, 0, 1}, u[6] = {0}, next[13];
  const double *from[2] = {x, u};
  double *to[1] = {next};
  if (f(from, to, 0, 0, 0)) return 2;
  printf("%.17g", next[7]);
  return 0;
}
""")
    subprocess.run(["cc", program, "-o", tmp_path / "program", "-ldl"], check=True)
    done = subprocess.run([tmp_path / "program", tmp_path / "cube.so"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    x = cube.x0
    x[7] = 1
    assert float(done.stdout) == cube.step(x, np.zeros(6))[7]


def test_the_program_takes_the_module_for_its_library(cube, tmp_path):
    program = os.environ.get("STICTION_PROGRAM")
    if program is None:
        pytest.skip("STICTION_PROGRAM names no program")
    (tmp_path / "cube.toml").write_text(CUBE)
    command = [program, "export", "casadi", tmp_path / "cube.toml", "-o", tmp_path / "cube.so"]
    subprocess.run([*command, "--library", stiction._stiction.__file__], check=True, capture_output=True)
    x = cube.x0
    x[7] = 1
    f = casadi.external("stiction_f", str(tmp_path / "cube.so"))
    np.testing.assert_array_equal(np.array(f(x, np.zeros(6)))[:, 0], cube.step(x, np.zeros(6)))


def test_a_file_is_whole_or_not_there(cube, tmp_path):
    path = tmp_path / "step.so"
    cube.export_casadi(path)
    cube.export_casadi(str(path))
    assert os.listdir(tmp_path) == ["step.so"] and os.access(path, os.X_OK)
    with pytest.raises(stiction.Error, match="nowhere/step.so: No such file or directory"):
        cube.export_casadi(tmp_path / "nowhere" / "step.so")
    (tmp_path / "folder").mkdir()
    with pytest.raises(stiction.Error, match="folder: Is a directory"):
        cube.export_casadi(tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["folder", "step.so"]
