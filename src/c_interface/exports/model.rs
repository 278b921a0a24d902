//! The model of the C interface: a scene, never changed, shared by any number of threads.

use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::sync::Arc;

use super::boundary::{Buffer, Code, Failure, check, enter, put, status, text};
use crate::Error;
use crate::assemble::Description;
use crate::formats::LoadOptions;
use crate::model::Scene;
use crate::state::State;
use crate::transition::Transition;

/// `stiction_model` in the header.
pub struct Model {
    pub name: String,
    pub scene: Arc<Scene>,
    names: [Vec<CString>; KINDS],
}

/// Kinds of names, `stiction_names` in the header: states, inputs, parameters, keyframes, warnings.
const KINDS: usize = 5;

/// Bit of the flags: the first link of a URDF floats.
const FLOATING_BASE: u32 = 1;
/// From this bit on, how many vertices hulls of meshes have at most, and one more; 0: nothing is said.
const HULL_VERTICES: u32 = 8;
const FLAGS: u32 = FLOATING_BASE | u32::MAX << HULL_VERTICES;

/// Names as C strings.
pub fn c_strings(names: impl IntoIterator<Item = String>) -> Vec<CString> {
    let c_string = |name: String| CString::new(name.replace('\0', "\\0")).unwrap_or_default();
    names.into_iter().map(c_string).collect()
}

impl Model {
    fn new(scene: Scene, name: &str) -> Result<Model, Error> {
        let model = &scene.model;
        let states = [model.configuration_names(), model.velocity_names()].concat();
        let keyframes = scene.keyframes.iter().map(|keyframe| keyframe.name.clone());
        let names = [
            c_strings(states),
            c_strings(model.input_names()),
            c_strings(model.parameter_names()),
            c_strings(keyframes),
            c_strings(scene.warnings.iter().map(Error::to_string)),
        ];
        let model = Model { name: name.to_string(), scene: Arc::new(scene), names };
        // What cannot be differentiated is refused here rather than by each workspace.
        Transition::new(name, model.scene.clone())?;
        Ok(model)
    }
}

fn options(flags: u32) -> Result<LoadOptions, Failure> {
    match flags & !FLAGS {
        0 => Ok(LoadOptions {
            floating_base: flags & FLOATING_BASE != 0,
            max_hull_vertices: (flags >> HULL_VERTICES).checked_sub(1).map(|most| most as usize),
            ..LoadOptions::default()
        }),
        unknown => Err(Failure::new(Code::Input, format!("flags: there is no flag {unknown:#x}"))),
    }
}

/// The model behind a handle.
///
/// # Safety
/// A handle that is neither null nor misaligned was made by this library and not freed.
pub unsafe fn model<'a>(handle: *const Model) -> Result<&'a Model, Failure> {
    check(handle, "model")?;
    // SAFETY: made by `Box::into_raw` and not freed, by the caller's word; never written to since.
    Ok(unsafe { &*handle })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_model_load(
    path: *const c_char,
    flags: u32,
    handle: *mut *mut Model,
) -> c_int {
    status(|| {
        check(handle, "model")?;
        // SAFETY: a string, by the header.
        let path = unsafe { text(path, "path") }?;
        let scene = Scene::load_with(Path::new(path), options(flags)?)?;
        let model = Box::new(Model::new(scene, path)?);
        // SAFETY: valid for a write, by the header.
        unsafe { put(handle, Box::into_raw(model), "model") }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_model_parse(
    contents: *const c_char,
    name: *const c_char,
    flags: u32,
    handle: *mut *mut Model,
) -> c_int {
    status(|| {
        check(handle, "model")?;
        // SAFETY: strings, by the header.
        let (contents, name) = unsafe { (text(contents, "text")?, text(name, "name")?) };
        let options = options(flags)?;
        let scene = match contents.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            true => Description::parse_xml(contents, name, options)?.scene()?,
            false => {
                options.refuse_for_scenes(name)?;
                Scene::parse(contents, name)?
            }
        };
        let model = Box::new(Model::new(scene, name)?);
        // SAFETY: valid for a write, by the header.
        unsafe { put(handle, Box::into_raw(model), "model") }
    })
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_model_free(handle: *mut Model) {
    if !handle.is_null() {
        // SAFETY: made by `Box::into_raw` and freed once, by the header.
        let model = unsafe { Box::from_raw(handle) };
        status(|| {
            drop(model);
            Ok(())
        });
    }
}

/// A number read off a model; 0 if there is none.
///
/// # Safety
/// As [`model`].
unsafe fn read<T: Default>(handle: *const Model, of: impl FnOnce(&Model) -> T) -> T {
    // SAFETY: passed on.
    enter(|| unsafe { model(handle) }.map(of)).unwrap_or_default()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_nq(handle: *const Model) -> usize {
    // SAFETY: a handle, by the header.
    unsafe { read(handle, |model| model.scene.model.nq()) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_nv(handle: *const Model) -> usize {
    // SAFETY: a handle, by the header.
    unsafe { read(handle, |model| model.scene.model.nv()) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_time_step(handle: *const Model) -> f64 {
    // SAFETY: a handle, by the header.
    unsafe { read(handle, |model| model.scene.settings.time_step) }
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_name_count(handle: *const Model, kind: c_int) -> usize {
    let count =
        |model: &Model| usize::try_from(kind).ok().and_then(|k| Some(model.names.get(k)?.len()));
    // SAFETY: a handle, by the header.
    unsafe { read(handle, count) }.unwrap_or_default()
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_name(
    handle: *const Model,
    kind: c_int,
    index: usize,
) -> *const c_char {
    let name = |model: &Model| {
        let names = model.names.get(usize::try_from(kind).ok()?)?;
        Some(names.get(index)?.as_ptr())
    };
    // SAFETY: a handle, by the header.
    unsafe { read(handle, name) }.unwrap_or(std::ptr::null())
}

/// # Safety
/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stiction_initial_state(
    handle: *const Model,
    keyframe: *const c_char,
    x: *mut f64,
    x_size: usize,
) -> c_int {
    status(|| {
        // SAFETY: a handle, by the header.
        let Model { scene, name, .. } = unsafe { model(handle) }?;
        let x = Buffer { data: x, size: x_size };
        x.check(scene.model.nq() + scene.model.nv(), "x")?;
        let State { q, v } = match keyframe.is_null() {
            true => scene.state.clone(),
            false => {
                // SAFETY: a string, by the header.
                let keyframe = unsafe { text(keyframe, "keyframe") }?;
                let mut scene = Scene::clone(scene);
                scene.start_at(keyframe, name)?;
                scene.state
            }
        };
        // SAFETY: checked for its length; valid for writes, by the header.
        unsafe { x.write(&[q, v].concat()) };
        Ok(())
    })
}
