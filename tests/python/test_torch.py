"""Steps in PyTorch: gradients against differences, and problems solved through contact."""

import numpy as np
import pytest
from conftest import optional, some_state

import stiction

torch = optional("torch")
import stiction.torch as st  # noqa: E402


def tensors(*arrays):
    return [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]


def test_gradients_of_all_arguments_are_differences(joints, random):
    # Quaternions of other norms too: steps normalise them.
    x = some_state(joints, random) * np.where(np.arange(22) < 7, 1.3, 1)
    x, u, p = tensors(x, random.standard_normal(joints.nu), joints.p0)
    assert torch.autograd.gradcheck(lambda *a: st.step(joints, *a), (x, u, p), eps=1e-6, atol=1e-6)


def test_gradients_through_contact_and_of_batches(cube):
    x = np.stack([cube.x0, cube.x0])
    # A tenth of a millimetre in the floor, not on the kink where contact begins.
    x[:, 2], x[:, 7] = 0.0999, [1, 2]
    x[1, 8] = 0.5
    x, u, p = tensors(x, np.zeros((2, 6)), np.array([0.3, 1.0]))
    assert torch.autograd.gradcheck(lambda *a: st.step(cube, *a), (x, u, p), eps=1e-6, atol=1e-5)


def test_the_push_after_which_a_cube_stops_at_a_target(cube):
    """Newton's method on the distance that the cube slides in 60 steps."""
    target, speed = 0.2, torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    for _ in range(8):
        x0 = torch.as_tensor(cube.x0) + speed * torch.eye(13, dtype=torch.float64)[7]
        X = st.rollout(cube, x0, torch.zeros(60, 6, dtype=torch.float64))
        (slope,) = torch.autograd.grad(X[-1, 0], speed)
        with torch.no_grad():
            speed += (target - X[-1, 0]) / slope
    assert X[-1, 0].item() == pytest.approx(target, abs=1e-6) and abs(X[-1, 7].item()) < 1e-9
    # v² / (2 mu g) of continuous time; a step of speed more is half a step's slide less.
    assert speed.item() == pytest.approx(np.sqrt(2 * 0.3 * 9.81 * target), rel=0.02)


def test_float32_is_computed_in_float64_and_rounded(cube):
    x0 = cube.x0
    x0[7] = 1
    x = torch.tensor(x0, dtype=torch.float32, requires_grad=True)
    x_next = st.step(cube, x)
    assert x_next.dtype == torch.float32
    np.testing.assert_array_equal(x_next.detach().numpy(), cube.step(x.detach().numpy()).astype(np.float32))
    x_next[0].backward()
    assert x.grad.dtype == torch.float32 and x.grad[7].item() == pytest.approx(0.01)


def test_integers_and_single_inputs(cube):
    pushed = cube.select(inputs=["cube/fx"])
    x0 = np.array([0, 0, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0])
    expected = pushed.step(x0, [3])
    x_next = st.step(pushed, torch.tensor(x0), torch.tensor(3))
    assert x_next.dtype == torch.float64
    np.testing.assert_array_equal(x_next.numpy(), expected)
    u = torch.tensor([3.0], dtype=torch.float32, requires_grad=True)
    st.step(pushed, torch.tensor(x0), u)[7].backward()
    assert u.grad.shape == (1,) and u.grad.item() == pytest.approx(0.01)


def test_what_is_written_into_a_result_is_not_in_its_gradient(joints, random):
    x, u, p = tensors(some_state(joints, random), random.standard_normal(joints.nu), joints.p0)
    weights = torch.as_tensor(random.standard_normal(22))
    scale = torch.where(torch.arange(22) % 11 < 7, 2.0, 1.0).to(torch.float64)
    expected = torch.autograd.grad((scale * weights) @ st.step(joints, x, u, p), (x, u, p))
    y = st.step(joints, x, u, p)
    y *= scale
    found = torch.autograd.grad(weights @ y, (x, u, p))
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_a_rollout_in_float32_is_rounded_at_the_end(cube):
    x0, U = cube.x0, np.zeros((60, 6))
    x0[7] = 1.1
    single = torch.tensor(x0, dtype=torch.float32)
    X = st.rollout(cube, single, torch.tensor(U, dtype=torch.float32))
    double = st.rollout(cube, single.double(), U)
    assert X.dtype == torch.float32 and double.dtype == torch.float64
    np.testing.assert_array_equal(X.numpy(), double.numpy().astype(np.float32))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda s: st.step(s, torch.tensor(1.0)), r"x: must have shape \(..., 13\), found \(\)"),
        (lambda s: st.step(s, s.x0, torch.tensor(1.0)), r"u: must have shape \(..., 6\), found \(\)"),
        (lambda s: st.step(s, s.x0, None, torch.zeros(3)), r"parameters: must have shape \(..., 2\), found \(3,\)"),
        (lambda s: st.step(s, torch.zeros(2, 13), torch.zeros(3, 6)), r"leading axes do not match: x \(2, 13\), u"),
        (lambda s: st.step(s, torch.zeros(13) + 1j), "x: must be real numbers, found a tensor of torch.complex64"),
        (lambda s: st.step(s, "abc"), "x: cannot be made a tensor"),
        (lambda s: st.rollout(s, s.x0, torch.zeros(6)), r"U: must have shape \(..., N, 6\), found \(6,\)"),
        (lambda s: st.rollout(s, torch.zeros(12), torch.zeros(4, 6)), r"x0: must have shape \(..., 13\)"),
    ],
)
def test_errors_say_what_is_wrong(cube, call, message):
    with pytest.raises(stiction.Error, match=message):
        call(cube)


def test_errors_come_out_as_they_are(cube):
    with pytest.raises(stiction.Error, match=r"x: must have shape \(..., 13\)"):
        st.step(cube, torch.zeros(12))
