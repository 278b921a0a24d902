//! Motions of soft bodies: a scene with what p and u are, never changed, shared by any number of threads.

use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::sync::Arc;

use super::boundary::{Buffer, Code, Failure, check, elements, enter, put, status, text};
use super::data::names;
use super::model::c_strings;
use crate::Error;
use crate::soft::SoftScene;
use crate::transition::{CourseWeights, SoftMotion};

/// `stiction_soft` in the header.
pub struct Soft {
    motion: SoftMotion,
    names: [Vec<CString>; KINDS],
    markers: Vec<(String, usize)>,
    name: String,
}

/// Kinds of names, `stiction_names` in the header: states, inputs, parameters, none, warnings.
const KINDS: usize = 5;

/// `stiction_selection` in the header.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Chosen {
    parameters: *const *const c_char,
    parameter_count: usize,
    inputs: *const *const c_char,
    input_count: usize,
}

/// `stiction_course` in the header: a motion, or weights of one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Course {
    x: Buffer,
    v: Buffer,
    rigid: Buffer,
}

/// `stiction_numbers` in the header: p and U.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Numbers {
    p: *const f64,
    p_size: usize,
    u: *const f64,
    u_size: usize,
}

impl Soft {
    /// # Safety
    /// The names that are chosen as for [`names`].
    unsafe fn new(
        scene: Option<SoftScene>,
        name: &str,
        chosen: *const Chosen,
    ) -> Result<Soft, Failure> {
        let none = || {
            let message = "has no [[soft]] bodies; stiction_model_load reads rigid ones";
            Error::input(name, None, "", message)
        };
        let scene = scene.ok_or_else(none)?;
        let (parameters, inputs) = match chosen.is_null() {
            true => (Vec::new(), Vec::new()),
            false => {
                check(chosen, "selection")?;
                // SAFETY: valid for a read, by the header.
                let Chosen { parameters, parameter_count, inputs, input_count } =
                    unsafe { *chosen };
                // SAFETY: passed on.
                unsafe { (names(parameters, parameter_count)?, names(inputs, input_count)?) }
            }
        };
        let motion = SoftMotion::new(name, Arc::new(scene), &parameters, &inputs)?;
        let names = [
            c_strings(motion.state_names()),
            c_strings(motion.all_input_names()),
            c_strings(motion.all_parameter_names()),
            Vec::new(),
            c_strings(motion.scene().warnings.iter().map(ToString::to_string)),
        ];
        let markers = motion.markers();
        Ok(Soft { motion, names, markers, name: name.into() })
    }
}

/// What is behind a handle.
///
/// # Safety
/// A handle that is neither null nor misaligned was made by this library and not freed.
unsafe fn soft<'a>(handle: *const Soft) -> Result<&'a Soft, Failure> {
    check(handle, "soft")?;
    // SAFETY: made by `Box::into_raw` and not freed, by the caller's word; never written to since.
    Ok(unsafe { &*handle })
}

/// Reads the text of a scene, and puts its handle.
///
/// # Safety
/// The selection as for [`Soft::new`], the place as for [`put`].
unsafe fn make(
    contents: &str,
    name: &str,
    chosen: *const Chosen,
    handle: *mut *mut Soft,
) -> Result<(), Failure> {
    let scene = SoftScene::parse(contents, name)?;
    // SAFETY: passed on.
    let soft = Box::new(unsafe { Soft::new(scene, name, chosen) }?);
    // SAFETY: passed on.
    unsafe { put(handle, Box::into_raw(soft), "soft") }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_load(
    path: *const c_char,
    chosen: *const Chosen,
    handle: *mut *mut Soft,
) -> c_int {
    status(|| {
        check(handle, "soft")?;
        // SAFETY: a string, by the header.
        let path = unsafe { text(path, "path") }?;
        let contents = crate::text::read(Path::new(path), crate::text::MOST_BYTES)?;
        // SAFETY: a selection and a place for the handle, by the header.
        unsafe { make(&contents, path, chosen, handle) }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_parse(
    contents: *const c_char,
    name: *const c_char,
    chosen: *const Chosen,
    handle: *mut *mut Soft,
) -> c_int {
    status(|| {
        check(handle, "soft")?;
        // SAFETY: strings, by the header.
        let (contents, name) = unsafe { (text(contents, "text")?, text(name, "name")?) };
        // SAFETY: a selection and a place for the handle, by the header.
        unsafe { make(contents, name, chosen, handle) }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_free(handle: *mut Soft) {
    if !handle.is_null() {
        // SAFETY: made by `Box::into_raw` and freed once, by the header.
        let soft = unsafe { Box::from_raw(handle) };
        status(|| {
            drop(soft);
            Ok(())
        });
    }
}

/// A number read off a handle; 0 if there is none.
///
/// # Safety
/// As [`soft`].
unsafe fn read<T: Default>(handle: *const Soft, of: impl FnOnce(&Soft) -> T) -> T {
    // SAFETY: passed on.
    enter(|| unsafe { soft(handle) }.map(of)).unwrap_or_default()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_nodes(handle: *const Soft) -> usize {
    // SAFETY: a handle, by the header.
    unsafe { read(handle, |soft| soft.motion.nodes()) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_nv(handle: *const Soft) -> usize {
    // SAFETY: a handle, by the header.
    unsafe { read(handle, |soft| soft.motion.nv()) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_time_step(handle: *const Soft) -> f64 {
    // SAFETY: a handle, by the header.
    unsafe { read(handle, |soft| soft.motion.scene().time_step) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_name_count(handle: *const Soft, kind: c_int) -> usize {
    let count =
        |soft: &Soft| usize::try_from(kind).ok().and_then(|k| Some(soft.names.get(k)?.len()));
    // SAFETY: a handle, by the header.
    unsafe { read(handle, count) }.unwrap_or_default()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_name(
    handle: *const Soft,
    kind: c_int,
    index: usize,
) -> *const c_char {
    let name = |soft: &Soft| {
        let names = soft.names.get(usize::try_from(kind).ok()?)?;
        Some(names.get(index)?.as_ptr())
    };
    // SAFETY: a handle, by the header.
    unsafe { read(handle, name) }.unwrap_or(std::ptr::null())
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_marker(
    handle: *const Soft,
    name: *const c_char,
    node: *mut usize,
) -> c_int {
    status(|| {
        // SAFETY: a handle and a string, by the header.
        let (soft, name) = unsafe { (soft(handle)?, text(name, "name")?) };
        let found = soft.markers.iter().find(|(own, _)| own == name);
        let (_, found) = found.ok_or_else(|| {
            let known: Vec<&str> = soft.markers.iter().map(|(own, _)| own.as_str()).collect();
            let complaint = "is no marker (markers = { name = [x, y, z], .. } of a soft body)";
            Error::unknown_name(&soft.name, name, complaint, (name, &known))
        })?;
        // SAFETY: valid for a write, by the header.
        unsafe { put(node, *found, "node") }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_parameters(
    handle: *const Soft,
    p: *mut f64,
    p_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: a handle, by the header.
        let values = unsafe { soft(handle) }?.motion.values();
        // SAFETY: a buffer, by the header.
        unsafe { write(&[(Buffer { data: p, size: p_size }, &values, "p")]) }
    })
}

/// p and U, where they are given.
type Both<'a> = (Option<&'a [f64]>, Option<&'a [f64]>);

/// p and U; nothing where they are null.
///
/// # Safety
/// As [`elements`].
unsafe fn given<'a>(numbers: *const Numbers) -> Result<Both<'a>, Failure> {
    if numbers.is_null() {
        return Ok((None, None));
    }
    check(numbers, "numbers")?;
    // SAFETY: valid for a read, by the header.
    let Numbers { p, p_size, u, u_size } = unsafe { *numbers };
    // SAFETY: passed on.
    let of = |pointer: *const f64, size, what| match pointer.is_null() && size == 0 {
        true => Ok(None),
        false => unsafe { elements(pointer, size, what) }.map(Some),
    };
    Ok((of(p, p_size, "p")?, of(u, u_size, "u")?))
}

/// A vector that may be wanted.
type Asked<'a> = (Buffer, &'a [f64], &'a str);

fn is_wanted(buffer: &Buffer) -> bool {
    !(buffer.data.is_null() && buffer.size == 0)
}

/// Writes what is wanted of some vectors, once all of it has room.
///
/// # Safety
/// Buffers are valid for writes of their size.
unsafe fn write(all: &[Asked]) -> Result<(), Failure> {
    let wanted = || all.iter().filter(|(buffer, ..)| is_wanted(buffer));
    for (buffer, numbers, what) in wanted() {
        buffer.check(numbers.len(), what)?;
    }
    // SAFETY: checked for their lengths; valid for writes by the caller's word.
    wanted().for_each(|(buffer, numbers, _)| unsafe { buffer.write(numbers) });
    Ok(())
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_rollout(
    handle: *const Soft,
    steps: usize,
    numbers: *const Numbers,
    course: *const Course,
    unsolved: *mut usize,
) -> c_int {
    status(|| {
        check(course, "course")?;
        if !unsolved.is_null() {
            check(unsolved, "unsolved")?;
        }
        // SAFETY: a handle, numbers and a course, by the header.
        let (soft, (p, inputs), course) = unsafe { (soft(handle)?, given(numbers)?, *course) };
        // What is wanted is known to have room before anything is simulated, which bounds the steps.
        let states = soft.names[0].len();
        let parts = [
            (course.x, 3 * soft.motion.nodes(), "x"),
            (course.v, 3 * soft.motion.nodes(), "v"),
            (course.rigid, states, "rigid"),
        ];
        let mut found = [const { Vec::new() }; 3];
        for ((buffer, each, what), found) in parts.iter().zip(&mut found) {
            let size = soft.motion.series(steps, *each)?;
            if is_wanted(buffer) {
                buffer.check(size, what)?;
                let reserved = found.try_reserve_exact(size);
                let message = || format!("{what}: there is no memory for {size} numbers");
                reserved.map_err(|_| Failure::new(Code::Input, message()))?;
            }
        }
        let wanted = parts.map(|(buffer, ..)| is_wanted(&buffer));
        let missed = soft.motion.follow(steps, p, inputs, &mut |at| {
            let [x, v, rigid] = &mut found;
            for state in at.states() {
                x.extend(state.position.as_flattened().iter().filter(|_| wanted[0]));
                v.extend(state.velocity.as_flattened().iter().filter(|_| wanted[1]));
            }
            let state = at.rigid_state().filter(|_| wanted[2]).into_iter();
            rigid.extend(state.flat_map(|state| state.q.iter().chain(&state.v)));
        })?;
        let each = parts.iter().zip(&found);
        let all: Vec<Asked> =
            each.map(|((buffer, _, what), own)| (*buffer, &own[..], *what)).collect();
        // SAFETY: buffers, by the header.
        unsafe { write(&all) }?;
        match unsolved.is_null() {
            true => Ok(()),
            // SAFETY: valid for a write, by the header.
            false => unsafe { put(unsolved, missed, "unsolved") },
        }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_jacobian(
    handle: *const Soft,
    steps: usize,
    numbers: *const Numbers,
    x: Buffer,
    c: Buffer,
) -> c_int {
    status(|| {
        // SAFETY: a handle and numbers, by the header.
        let (soft, (p, inputs)) = unsafe { (soft(handle)?, given(numbers)?) };
        let (nodes, width) = (soft.motion.nodes(), soft.motion.values().len());
        for (buffer, size, what) in [(x, 3 * nodes, "x"), (c, 3 * nodes * width, "c")] {
            if is_wanted(&buffer) {
                buffer.check(size, what)?;
            }
        }
        let (places, rows) = soft.motion.jacobian(steps, p, inputs)?;
        // Column by column, as all matrices of the header.
        let columns: Vec<f64> =
            (0..width).flat_map(|j| rows.iter().skip(j).step_by(width).copied()).collect();
        // SAFETY: buffers, by the header.
        unsafe { write(&[(x, &places, "x"), (c, &columns, "c")]) }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_soft_vjp(
    handle: *const Soft,
    steps: usize,
    numbers: *const Numbers,
    weights: *const Course,
    p_bar: Buffer,
    u_bar: Buffer,
) -> c_int {
    status(|| {
        check(weights, "weights")?;
        // SAFETY: a handle, numbers and weights, by the header.
        let (soft, (p, inputs), Course { x, v, rigid }) =
            unsafe { (soft(handle)?, given(numbers)?, *weights) };
        // SAFETY: vectors, by the header.
        let of = |own: Buffer, what| unsafe { elements(own.data.cast_const(), own.size, what) };
        let weights = CourseWeights {
            x: of(x, "weights.x")?,
            v: of(v, "weights.v")?,
            rigid: of(rigid, "weights.rigid")?,
        };
        let controls = inputs.map_or(0, <[f64]>::len);
        for (buffer, size, what) in
            [(p_bar, soft.motion.values().len(), "p_bar"), (u_bar, controls, "u_bar")]
        {
            if is_wanted(&buffer) {
                buffer.check(size, what)?;
            }
        }
        let found = soft.motion.vjp(steps, p, inputs, weights)?;
        if found.unsolved > 0 {
            let message =
                format!("{} steps were not solved: try a smaller time step", found.unsolved);
            return Err(Error::undefined(&soft.name, message).into());
        }
        // SAFETY: buffers, by the header.
        unsafe { write(&[(p_bar, &found.parameters, "p_bar"), (u_bar, &found.inputs, "u_bar")]) }
    })
}
