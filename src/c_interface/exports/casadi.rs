//! The functions of CasADi's protocol for external functions, on the scene that is attached to the library:
//! `stiction_f` (x, u -> x_next) with its Jacobian, and `stiction_start` (-> x, u).
//!
//! Each evaluation uses a workspace from a pool, so any number of threads may evaluate at a time. A failure
//! is the return value 1, which CasADi's solvers read as "not defined here", and a line on standard error,
//! as the protocol has no place for a message.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::boundary::{Buffer, Code, Failure, elements, enter, last_message};
use crate::Error;
use crate::c_interface::Attachment;
use crate::linearize::AmbientJacobian;
use crate::model::Scene;
use crate::transition::Transition;

/// CasADi's `casadi_int`.
type Int = i64;

/// A sparsity pattern as CasADi reads it: rows, columns, then 1 for "dense", or where columns begin.
type Pattern = [Int; 4];

/// The size of an input or output.
#[derive(Clone, Copy)]
enum Shape {
    State,
    Input,
    /// A state of which nothing is stored: what the output is among the inputs of a Jacobian.
    NoState,
    StateByState,
    StateByInput,
}
use Shape::{Input, NoState, State, StateByInput, StateByState};

/// An argument or a result.
type Numbers = Vec<f64>;

/// A function as CasADi sees it.
struct Function {
    inputs: &'static [(&'static CStr, Shape)],
    outputs: &'static [(&'static CStr, Shape)],
    evaluate: fn(&mut Transition, &[Numbers]) -> Result<Vec<Numbers>, Error>,
}

const STEP: Function = Function {
    inputs: &[(c"x", State), (c"u", Input)],
    outputs: &[(c"x_next", State)],
    evaluate: |transition, inputs| {
        let mut next = vec![0.0; inputs[0].len()];
        transition.step(&inputs[0], &inputs[1], &mut next)?;
        Ok(vec![next])
    },
};

const JACOBIAN: Function = Function {
    inputs: &[(c"x", State), (c"u", Input), (c"out_x_next", NoState)],
    outputs: &[(c"jac_x_next_x", StateByState), (c"jac_x_next_u", StateByInput)],
    evaluate: |transition, inputs| {
        let (jacobian, _) = transition.linearize_ambient(&inputs[0], &inputs[1])?;
        let AmbientJacobian { a, b, .. } = jacobian;
        Ok(vec![a.as_slice().to_vec(), b.as_slice().to_vec()])
    },
};

const START: Function = Function {
    inputs: &[],
    outputs: &[(c"x", State), (c"u", Input)],
    evaluate: |transition, _| Ok(vec![transition.initial_state(), transition.initial_input()]),
};

/// What is attached to the library that this code is in.
struct Exported {
    attachment: Attachment,
    scene: Arc<Scene>,
    patterns: [Pattern; 5],
    /// Workspaces that nobody is using.
    idle: Mutex<Vec<Transition>>,
}

impl Exported {
    fn load() -> Result<Exported, Failure> {
        let path = library()?;
        let contents = std::fs::read(&path).map_err(|error| Error::io(&path, error))?;
        let Some(attachment) = Attachment::of(&contents, &path)? else {
            let message = format!(
                "{}: no scene is attached to this library; `stiction export casadi SCENE -o libstep.so` \
                 makes one that has",
                path.display()
            );
            return Err(Failure::new(Code::Input, message));
        };
        let scene = Arc::new(attachment.scene()?);
        let transition = attachment.transition(scene.clone())?;
        let nx = (transition.nq() + transition.nv()) as Int;
        let nu = transition.nu() as Int;
        let patterns =
            [[nx, 1, 1, 0], [nu, 1, 1, 0], [nx, 1, 0, 0], [nx, nx, 1, 0], [nx, nu, 1, 0]];
        Ok(Exported { attachment, scene, patterns, idle: Mutex::new(vec![transition]) })
    }

    /// Numbers stored of a shape.
    fn size(&self, shape: Shape) -> usize {
        let [rows, columns, dense, _] = self.patterns[shape as usize];
        (rows * columns * dense) as usize
    }

    /// Runs `f` on a workspace of the pool, which goes back unless `f` panics.
    fn with<T>(&self, f: impl FnOnce(&mut Transition) -> Result<T, Error>) -> Result<T, Failure> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut transition = match taken {
            Some(transition) => transition,
            None => self.attachment.transition(self.scene.clone())?,
        };
        let result = f(&mut transition);
        idle().push(transition);
        Ok(result?)
    }
}

/// Loads what is attached, once. What fails once fails always, with the same message.
fn exported() -> Result<&'static Exported, Failure> {
    static EXPORTED: OnceLock<Result<Exported, Failure>> = OnceLock::new();
    EXPORTED.get_or_init(Exported::load).as_ref().map_err(Failure::clone)
}

/// The file this code was loaded from.
#[cfg(unix)]
fn library() -> Result<PathBuf, Failure> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    // Not an exported symbol: that could be the one of another copy of the library.
    static HERE: u8 = 0;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about; `info` has room for the answer.
    let found = unsafe { libc::dladdr((&raw const HERE).cast(), info.as_mut_ptr()) };
    // SAFETY: pointers and addresses, for which zero is a value.
    let name = unsafe { info.assume_init() }.dli_fname;
    if found == 0 || name.is_null() {
        let message = "the loader does not say which file this library is";
        return Err(Failure::new(Code::Io, message));
    }
    // SAFETY: the loader's string, which stays as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(name) };
    Ok(OsString::from_vec(name.to_bytes().to_vec()).into())
}

#[cfg(not(unix))]
fn library() -> Result<PathBuf, Failure> {
    let message = "CasADi functions are there on Unix only; use the C interface";
    Err(Failure::new(Code::Io, message))
}

/// More messages than this are not printed: a solver may come again thousands of times.
const MOST_MESSAGES: usize = 10;

/// Runs the body of a function of the protocol; says on standard error why it failed.
fn protocol<T>(body: impl FnOnce() -> Result<T, Failure>) -> Option<T> {
    static PRINTED: AtomicUsize = AtomicUsize::new(0);
    let result = enter(body).ok();
    if result.is_none() {
        let before = PRINTED.fetch_add(1, Ordering::Relaxed);
        // `eprintln!` would panic where standard error is closed.
        let mut out = std::io::stderr().lock();
        let _ = match before {
            _ if before < MOST_MESSAGES => writeln!(out, "stiction: {}", last_message()),
            MOST_MESSAGES => writeln!(out, "stiction: further errors are not printed"),
            _ => Ok(()),
        };
    }
    result
}

impl Function {
    fn name(list: &[(&'static CStr, Shape)], index: Int) -> *const c_char {
        let entry = usize::try_from(index).ok().and_then(|index| list.get(index));
        entry.map_or(std::ptr::null(), |(name, _)| name.as_ptr())
    }

    /// The pattern of an entry; an empty one where the scene cannot be read, which [`Self::work`] reports.
    fn pattern(list: &[(&'static CStr, Shape)], index: Int) -> *const Int {
        static NONE: Pattern = [0, 0, 1, 0];
        let entry = usize::try_from(index).ok().and_then(|index| list.get(index));
        let pattern = |shape: Shape| Some(&enter(exported).ok()?.patterns[shape as usize]);
        entry.and_then(|&(_, shape)| pattern(shape)).unwrap_or(&NONE).as_ptr()
    }

    /// # Safety
    /// Each pointer is null or valid for a write.
    unsafe fn work(&self, sizes: [*mut Int; 4]) -> c_int {
        let counts = [self.inputs.len(), self.outputs.len(), 0, 0];
        for (size, count) in sizes.into_iter().zip(counts) {
            if !size.is_null() {
                // SAFETY: valid for a write by the caller's word.
                unsafe { size.write(count as Int) };
            }
        }
        c_int::from(protocol(exported).is_none())
    }

    /// # Safety
    /// `arguments` and `results` hold a pointer for each input and output, null or to as many numbers as its
    /// pattern stores.
    unsafe fn call(&self, arguments: *const *const f64, results: *const *mut f64) -> c_int {
        let called = protocol(|| {
            let exported = exported()?;
            let read = |(k, &(name, shape)): (usize, &(&CStr, Shape))| {
                let size = exported.size(shape);
                // SAFETY: one of the pointers, by the caller's word.
                let argument = unsafe { *arguments.add(k) };
                match argument.is_null() {
                    // CasADi's way to say zero.
                    true => Ok(vec![0.0; size]),
                    // SAFETY: so many numbers, by the caller's word.
                    false => unsafe { elements(argument, size, &name.to_string_lossy()) }
                        .map(<[f64]>::to_vec),
                }
            };
            let inputs = self.inputs.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
            let outputs = exported.with(|transition| (self.evaluate)(transition, &inputs))?;
            for (k, output) in outputs.iter().enumerate() {
                // SAFETY: one of the pointers, by the caller's word.
                let data = unsafe { *results.add(k) };
                if !data.is_null() {
                    // SAFETY: room for so many numbers, by the caller's word.
                    unsafe { Buffer { data, size: output.len() }.write(output) };
                }
            }
            Ok(())
        });
        c_int::from(called.is_none())
    }
}

/// The symbols CasADi looks up for a function.
macro_rules! export {
    ($function:expr, $call:ident, $n_in:ident, $n_out:ident, $name_in:ident, $name_out:ident,
     $sparsity_in:ident, $sparsity_out:ident, $work:ident) => {
        /// # Safety
        /// The pointers are those of CasADi's protocol.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $call(
            arguments: *const *const f64,
            results: *const *mut f64,
            _: *mut Int,
            _: *mut f64,
            _: c_int,
        ) -> c_int {
            // SAFETY: the protocol's arguments.
            unsafe { $function.call(arguments, results) }
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $n_in() -> Int {
            $function.inputs.len() as Int
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $n_out() -> Int {
            $function.outputs.len() as Int
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $name_in(index: Int) -> *const c_char {
            Function::name($function.inputs, index)
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $name_out(index: Int) -> *const c_char {
            Function::name($function.outputs, index)
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $sparsity_in(index: Int) -> *const Int {
            Function::pattern($function.inputs, index)
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn $sparsity_out(index: Int) -> *const Int {
            Function::pattern($function.outputs, index)
        }

        /// # Safety
        /// Each pointer is null or valid for a write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $work(
            arguments: *mut Int,
            results: *mut Int,
            integers: *mut Int,
            numbers: *mut Int,
        ) -> c_int {
            // SAFETY: the protocol's arguments.
            unsafe { $function.work([arguments, results, integers, numbers]) }
        }
    };
}

export!(
    STEP,
    stiction_f,
    stiction_f_n_in,
    stiction_f_n_out,
    stiction_f_name_in,
    stiction_f_name_out,
    stiction_f_sparsity_in,
    stiction_f_sparsity_out,
    stiction_f_work
);
export!(
    JACOBIAN,
    jac_stiction_f,
    jac_stiction_f_n_in,
    jac_stiction_f_n_out,
    jac_stiction_f_name_in,
    jac_stiction_f_name_out,
    jac_stiction_f_sparsity_in,
    jac_stiction_f_sparsity_out,
    jac_stiction_f_work
);
export!(
    START,
    stiction_start,
    stiction_start_n_in,
    stiction_start_n_out,
    stiction_start_name_in,
    stiction_start_name_out,
    stiction_start_sparsity_in,
    stiction_start_sparsity_out,
    stiction_start_work
);
