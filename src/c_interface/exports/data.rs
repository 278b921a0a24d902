//! The data of the C interface: what is u and p, and the memory steps are computed in. One thread at a time.

use std::ffi::{CString, c_char, c_int};
use std::sync::{Mutex, MutexGuard, TryLockError};

use super::boundary::{Buffer, Code, Failure, check, elements, enter, put, status, text};
use super::model::{Model, c_strings, model};
use crate::transition::Transition;

/// `stiction_data` in the header. The lock makes use by two threads at once an error instead of undefined.
pub struct Data(Mutex<Contents>);

pub struct Contents {
    pub transition: Transition,
    input_names: Vec<CString>,
}

/// What is behind a handle, for this thread alone.
///
/// # Safety
/// A handle that is neither null nor misaligned was made by this library and not freed.
pub unsafe fn data<'a>(handle: *const Data) -> Result<MutexGuard<'a, Contents>, Failure> {
    check(handle, "data")?;
    // SAFETY: made by `Box::into_raw` and not freed, by the caller's word; written to under its lock only.
    let Data(contents) = unsafe { &*handle };
    contents.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => {
            let message = "another thread is using this data; make one for each thread";
            Failure::new(Code::Busy, message)
        }
        TryLockError::Poisoned(_) => {
            let message = "this data was left by an internal error; free it and make another";
            Failure::new(Code::Internal, message)
        }
    })
}

/// Computes a vector and writes it.
///
/// # Safety
/// As [`data`]; the buffer is valid for writes of its size.
pub unsafe fn compute(
    handle: *const Data,
    buffer: Buffer,
    what: &str,
    vector: impl FnOnce(&mut Transition) -> Result<Vec<f64>, Failure>,
) -> c_int {
    status(|| {
        // SAFETY: passed on.
        let mut data = unsafe { data(handle) }?;
        let vector = vector(&mut data.transition)?;
        buffer.check(vector.len(), what)?;
        // SAFETY: checked for its length; valid for writes by the caller's word.
        unsafe { buffer.write(&vector) };
        Ok(())
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_data_new(handle: *const Model, result: *mut *mut Data) -> c_int {
    status(|| {
        check(result, "data")?;
        // SAFETY: a handle, by the header.
        let model = unsafe { model(handle) }?;
        let transition = Transition::new(&model.name, model.scene.clone())?;
        let input_names = c_strings(transition.input_names());
        let data = Box::new(Data(Mutex::new(Contents { transition, input_names })));
        // SAFETY: valid for a write, by the header.
        unsafe { put(result, Box::into_raw(data), "data") }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_data_free(handle: *mut Data) {
    if !handle.is_null() {
        // SAFETY: made by `Box::into_raw` and freed once, by the header.
        let data = unsafe { Box::from_raw(handle) };
        status(|| {
            drop(data);
            Ok(())
        });
    }
}

/// Strings.
///
/// # Safety
/// As [`elements`] and [`text`].
pub unsafe fn names(pointer: *const *const c_char, count: usize) -> Result<Vec<String>, Failure> {
    // SAFETY: passed on.
    let names = unsafe { elements(pointer, count, "names") }?;
    // SAFETY: passed on.
    names.iter().map(|&name| unsafe { text(name, "a name") }.map(str::to_string)).collect()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_select_inputs(
    handle: *mut Data,
    pointer: *const *const c_char,
    count: usize,
) -> c_int {
    status(|| {
        // SAFETY: a handle and strings, by the header.
        let (mut data, names) = unsafe { (data(handle)?, names(pointer, count)?) };
        data.transition.select_inputs(&names)?;
        data.input_names = c_strings(data.transition.input_names());
        Ok(())
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_select_parameters(
    handle: *mut Data,
    pointer: *const *const c_char,
    count: usize,
) -> c_int {
    status(|| {
        // SAFETY: a handle and strings, by the header.
        let (mut data, names) = unsafe { (data(handle)?, names(pointer, count)?) };
        Ok(data.transition.select_parameters(&names)?)
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_set_warm(handle: *mut Data, warm: c_int) -> c_int {
    status(|| {
        // SAFETY: a handle, by the header.
        unsafe { data(handle) }?.transition.set_warm(warm != 0);
        Ok(())
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_nu(handle: *const Data) -> usize {
    // SAFETY: a handle, by the header.
    enter(|| Ok(unsafe { data(handle) }?.transition.nu())).unwrap_or_default()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_np(handle: *const Data) -> usize {
    // SAFETY: a handle, by the header.
    enter(|| Ok(unsafe { data(handle) }?.transition.np())).unwrap_or_default()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_input_name(handle: *const Data, index: usize) -> *const c_char {
    enter(|| {
        // SAFETY: a handle, by the header.
        let data = unsafe { data(handle) }?;
        Ok(data.input_names.get(index).map_or(std::ptr::null(), |name| name.as_ptr()))
    })
    .unwrap_or(std::ptr::null())
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_initial_input(
    handle: *const Data,
    u: *mut f64,
    u_size: usize,
) -> c_int {
    let u = Buffer { data: u, size: u_size };
    // SAFETY: a handle and a buffer, by the header.
    unsafe { compute(handle, u, "u", |transition| Ok(transition.initial_input())) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_parameters(
    handle: *const Data,
    p: *mut f64,
    p_size: usize,
) -> c_int {
    let p = Buffer { data: p, size: p_size };
    // SAFETY: a handle and a buffer, by the header.
    unsafe { compute(handle, p, "p", |transition| Ok(transition.parameters())) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_set_parameters(
    handle: *mut Data,
    p: *const f64,
    p_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: a handle and a vector, by the header.
        let (mut data, p) = unsafe { (data(handle)?, elements(p, p_size, "p")?) };
        Ok(data.transition.set_parameters(p)?)
    })
}
