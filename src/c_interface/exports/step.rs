//! Steps and their derivatives, in buffers of the caller's. What is wanted is written at the end, when all is
//! known to be well, so buffers may overlap.

use std::ffi::c_int;

use super::boundary::{Buffer, Code, Failure, check, elements, put, status};
use super::data::{Data, compute, data};
use crate::Error;
use crate::argmin::Status;
use crate::linearize::AmbientJacobian;
use crate::simulation::StepReport;
use crate::transition::Transition;

/// `stiction_report` in the header.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Report {
    status: c_int,
    unsolved: c_int,
    residual: f64,
    margin: f64,
    implausible: c_int,
}

impl From<&StepReport> for Report {
    fn from(report: &StepReport) -> Report {
        let status = match report.worst.status {
            Status::Solved => 0,
            Status::Stalled => 1,
            Status::IterationLimit => 2,
            Status::InvalidInput => 3,
        };
        let unsolved = c_int::try_from(report.unsolved).unwrap_or(c_int::MAX);
        let implausible = c_int::from(!report.plausibility.is_whole());
        let (residual, margin) = (report.worst.residual, report.worst.margin);
        Report { status, unsolved, residual, margin, implausible }
    }
}

/// `stiction_jacobian` in the header.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Jacobian {
    x_next: Buffer,
    a: Buffer,
    b: Buffer,
    c: Buffer,
    report: Report,
}

/// `stiction_coordinates` in the header: tangent vectors, or the numbers of x.
const TANGENT: c_int = 0;
const AMBIENT: c_int = 1;

/// A vector of the caller's, with its name in messages.
#[derive(Clone, Copy)]
struct Given(*const f64, usize, &'static str);

/// [`compute`] from vectors.
///
/// # Safety
/// As there, and each vector as for [`elements`].
unsafe fn compute_from<const N: usize>(
    handle: *const Data,
    given: [Given; N],
    buffer: Buffer,
    what: &str,
    of: impl FnOnce(&mut Transition, [&[f64]; N]) -> Result<Vec<f64>, Error>,
) -> c_int {
    let vector = |transition: &mut Transition| {
        let mut vectors = [&[][..]; N];
        for (vector, Given(data, size, name)) in vectors.iter_mut().zip(given) {
            // SAFETY: a vector, passed on.
            *vector = unsafe { elements(data, size, name) }?;
        }
        Ok(of(transition, vectors)?)
    };
    // SAFETY: passed on.
    unsafe { compute(handle, buffer, what, vector) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_step(
    handle: *mut Data,
    x: *const f64,
    x_size: usize,
    u: *const f64,
    u_size: usize,
    x_next: *mut f64,
    x_next_size: usize,
    report: *mut Report,
) -> c_int {
    let buffer = Buffer { data: x_next, size: x_next_size };
    let step = |transition: &mut Transition| {
        // SAFETY: vectors, by the header.
        let (x, u) = unsafe { (elements(x, x_size, "x")?, elements(u, u_size, "u")?) };
        let mut next = vec![0.0; transition.nq() + transition.nv()];
        buffer.check(next.len(), "x_next")?;
        let solve = transition.step(x, u, &mut next)?;
        if !report.is_null() {
            // SAFETY: valid for a write, by the header.
            unsafe { put(report, Report::from(&solve), "report") }?;
        }
        Ok(next)
    };
    // SAFETY: a handle and a buffer, by the header.
    unsafe { compute(handle, buffer, "x_next", step) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_linearize(
    handle: *mut Data,
    coordinates: c_int,
    x: *const f64,
    x_size: usize,
    u: *const f64,
    u_size: usize,
    result: *mut Jacobian,
) -> c_int {
    status(|| {
        check(result, "jacobian")?;
        // SAFETY: a handle and vectors, by the header.
        let (mut data, x, u) =
            unsafe { (data(handle)?, elements(x, x_size, "x")?, elements(u, u_size, "u")?) };
        let transition = &mut data.transition;
        let (nx, nu, np) = (transition.nq() + transition.nv(), transition.nu(), transition.np());
        let rows = match coordinates {
            TANGENT => 2 * transition.nv(),
            AMBIENT => nx,
            other => {
                let message = format!("coordinates: {other} is neither tangent nor ambient");
                return Err(Failure::new(Code::Input, message));
            }
        };
        // SAFETY: neither null nor misaligned; a struct, by the header.
        let buffers = unsafe { [(*result).x_next, (*result).a, (*result).b, (*result).c] };
        let shapes = [(nx, "x_next"), (rows * rows, "A"), (rows * nu, "B"), (rows * np, "C")];
        for (buffer, (size, what)) in buffers.iter().zip(shapes) {
            if !buffer.data.is_null() {
                buffer.check(size, what)?;
            }
        }
        let (ambient, jacobian) = match coordinates {
            AMBIENT => {
                let (ambient, jacobian) = transition.linearize_ambient(x, u)?;
                (Some(ambient), jacobian)
            }
            _ => (None, transition.linearize(x, u)?),
        };
        let [a, b, c] = match &ambient {
            Some(AmbientJacobian { a, b, c }) => [a, b, c],
            None => [&jacobian.a, &jacobian.b, &jacobian.c],
        };
        let next = [jacobian.next.q.as_slice(), &jacobian.next.v].concat();
        let results = [&next, a.as_slice(), b.as_slice(), c.as_slice()];
        for (buffer, numbers) in buffers.iter().zip(results) {
            if !buffer.data.is_null() {
                // SAFETY: checked for its size; valid for writes, by the header.
                unsafe { buffer.write(numbers) };
            }
        }
        // SAFETY: neither null nor misaligned; valid for writes, by the header.
        unsafe { (*result).report = Report::from(&jacobian.report) };
        Ok(())
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_jvp(
    handle: *mut Data,
    x: *const f64,
    x_size: usize,
    u: *const f64,
    u_size: usize,
    direction: *const f64,
    direction_size: usize,
    product: *mut f64,
    product_size: usize,
) -> c_int {
    let buffer = Buffer { data: product, size: product_size };
    let given = [
        Given(x, x_size, "x"),
        Given(u, u_size, "u"),
        Given(direction, direction_size, "direction"),
    ];
    let of = |transition: &mut Transition, [x, u, direction]: [&[f64]; 3]| {
        transition.jvp(x, u, direction)
    };
    // SAFETY: a handle, vectors and a buffer, by the header.
    unsafe { compute_from(handle, given, buffer, "the product", of) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_vjp(
    handle: *mut Data,
    x: *const f64,
    x_size: usize,
    u: *const f64,
    u_size: usize,
    weights: *const f64,
    weights_size: usize,
    product: *mut f64,
    product_size: usize,
) -> c_int {
    let buffer = Buffer { data: product, size: product_size };
    let given =
        [Given(x, x_size, "x"), Given(u, u_size, "u"), Given(weights, weights_size, "weights")];
    let of =
        |transition: &mut Transition, [x, u, weights]: [&[f64]; 3]| transition.vjp(x, u, weights);
    // SAFETY: a handle, vectors and a buffer, by the header.
    unsafe { compute_from(handle, given, buffer, "the product", of) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_hessian(
    handle: *mut Data,
    x: *const f64,
    x_size: usize,
    u: *const f64,
    u_size: usize,
    weights: *const f64,
    weights_size: usize,
    product: *mut f64,
    product_size: usize,
) -> c_int {
    let buffer = Buffer { data: product, size: product_size };
    let given =
        [Given(x, x_size, "x"), Given(u, u_size, "u"), Given(weights, weights_size, "weights")];
    let of = |transition: &mut Transition, [x, u, weights]: [&[f64]; 3]| {
        transition.hessian(x, u, weights)
    };
    // SAFETY: a handle, vectors and a buffer, by the header.
    unsafe { compute_from(handle, given, buffer, "the Hessian", of) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_integrate(
    handle: *mut Data,
    x: *const f64,
    x_size: usize,
    dx: *const f64,
    dx_size: usize,
    moved: *mut f64,
    moved_size: usize,
) -> c_int {
    let buffer = Buffer { data: moved, size: moved_size };
    let given = [Given(x, x_size, "x"), Given(dx, dx_size, "dx")];
    let of = |transition: &mut Transition, [x, dx]: [&[f64]; 2]| transition.integrate(x, dx);
    // SAFETY: a handle, vectors and a buffer, by the header.
    unsafe { compute_from(handle, given, buffer, "moved", of) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_difference(
    handle: *mut Data,
    from: *const f64,
    from_size: usize,
    to: *const f64,
    to_size: usize,
    dx: *mut f64,
    dx_size: usize,
) -> c_int {
    let buffer = Buffer { data: dx, size: dx_size };
    let given = [Given(from, from_size, "from"), Given(to, to_size, "to")];
    let of = |transition: &mut Transition, [from, to]: [&[f64]; 2]| transition.difference(from, to);
    // SAFETY: a handle, vectors and a buffer, by the header.
    unsafe { compute_from(handle, given, buffer, "dx", of) }
}
