//! The functions of CasADi's protocol for external functions, on the scene that is attached to the library:
//! `stiction_f` (x, u -> x_next) with its Jacobian, its products in reverse (`adj1_`) and the Jacobian of these, in
//! which CasADi finds the Hessian of a Lagrangian; and `stiction_start` (-> x, u).
//!
//! Each evaluation uses a workspace from a pool, so any number of threads may evaluate at a time. A failure
//! is the return value 1, which CasADi's solvers read as "not defined here", and a line on standard error,
//! as the protocol has no place for a message.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nalgebra::DMatrix;

use super::boundary::{Buffer, Code, Failure, elements, enter, last_message};
use crate::Error;
use crate::c_interface::Attachment;
use crate::linearize::AmbientJacobian;
use crate::model::Scene;
use crate::transition::Transition;

/// CasADi's `casadi_int`.
type Int = i64;

/// A sparsity pattern as CasADi reads it: rows, columns, then 1 for "dense", or where columns begin.
type Pattern = Vec<Int>;

/// What an input or output is made of: rows and columns, of x, of u, or 1, and whether anything of it is stored.
/// Outputs are among the inputs of derivatives without a number.
#[derive(Clone, Copy)]
struct Shape {
    rows: Length,
    columns: Length,
    stored: bool,
}

#[derive(Clone, Copy)]
enum Length {
    One,
    State,
    Input,
}

impl Shape {
    const COUNT: usize = 18;

    const fn stored(rows: Length, columns: Length) -> Shape {
        Shape { rows, columns, stored: true }
    }

    const fn nothing(rows: Length, columns: Length) -> Shape {
        Shape { rows, columns, stored: false }
    }

    /// Its place among all there are.
    fn index(self) -> usize {
        (self.rows as usize * 3 + self.columns as usize) * 2 + usize::from(self.stored)
    }

    fn pattern(self, [rows, columns]: [usize; 2]) -> Pattern {
        let mut pattern = vec![rows as Int, columns as Int];
        match self.stored {
            true => pattern.push(1),
            false => pattern.resize(2 + columns + 1, 0),
        }
        pattern
    }
}

const STATE: Shape = Shape::stored(Length::State, Length::One);
const INPUT: Shape = Shape::stored(Length::Input, Length::One);
const NO_STATE: Shape = Shape::nothing(Length::State, Length::One);
const NO_INPUT: Shape = Shape::nothing(Length::Input, Length::One);
const STATE_BY_STATE: Shape = Shape::stored(Length::State, Length::State);
const STATE_BY_INPUT: Shape = Shape::stored(Length::State, Length::Input);
const INPUT_BY_STATE: Shape = Shape::stored(Length::Input, Length::State);
const INPUT_BY_INPUT: Shape = Shape::stored(Length::Input, Length::Input);
const NO_STATE_BY_STATE: Shape = Shape::nothing(Length::State, Length::State);
const NO_INPUT_BY_STATE: Shape = Shape::nothing(Length::Input, Length::State);

/// An argument or a result.
type Numbers = Vec<f64>;

/// A function as CasADi sees it.
struct Function {
    inputs: &'static [(&'static CStr, Shape)],
    outputs: &'static [(&'static CStr, Shape)],
    evaluate: fn(&mut Transition, &[Numbers]) -> Result<Vec<Numbers>, Error>,
}

const STEP: Function = Function {
    inputs: &[(c"x", STATE), (c"u", INPUT)],
    outputs: &[(c"x_next", STATE)],
    evaluate: |transition, inputs| {
        let mut next = vec![0.0; inputs[0].len()];
        transition.step(&inputs[0], &inputs[1], &mut next)?;
        Ok(vec![next])
    },
};

const JACOBIAN: Function = Function {
    inputs: &[(c"x", STATE), (c"u", INPUT), (c"out_x_next", NO_STATE)],
    outputs: &[(c"jac_x_next_x", STATE_BY_STATE), (c"jac_x_next_u", STATE_BY_INPUT)],
    evaluate: |transition, inputs| {
        let (jacobian, _) = transition.linearize_ambient(&inputs[0], &inputs[1])?;
        let AmbientJacobian { a, b, .. } = jacobian;
        Ok(vec![a.as_slice().to_vec(), b.as_slice().to_vec()])
    },
};

const ADJOINT: Function = Function {
    inputs: &[(c"x", STATE), (c"u", INPUT), (c"out_x_next", NO_STATE), (c"adj_x_next", STATE)],
    outputs: &[(c"adj_x", STATE), (c"adj_u", INPUT)],
    evaluate: |transition, inputs| {
        let mut of_x = transition.vjp_ambient(&inputs[0], &inputs[1], &inputs[3])?;
        let of_u = of_x.split_off(inputs[0].len());
        Ok(vec![of_x, of_u])
    },
};

const ADJOINT_JACOBIAN: Function = Function {
    inputs: &[
        (c"x", STATE),
        (c"u", INPUT),
        (c"out_x_next", NO_STATE),
        (c"adj_x_next", STATE),
        (c"out_adj_x", NO_STATE),
        (c"out_adj_u", NO_INPUT),
    ],
    outputs: &[
        (c"jac_adj_x_x", STATE_BY_STATE),
        (c"jac_adj_x_u", STATE_BY_INPUT),
        (c"jac_adj_x_out_x_next", NO_STATE_BY_STATE),
        (c"jac_adj_x_adj_x_next", STATE_BY_STATE),
        (c"jac_adj_u_x", INPUT_BY_STATE),
        (c"jac_adj_u_u", INPUT_BY_INPUT),
        (c"jac_adj_u_out_x_next", NO_INPUT_BY_STATE),
        (c"jac_adj_u_adj_x_next", INPUT_BY_STATE),
    ],
    evaluate: |transition, inputs| {
        let [x, u] = [&inputs[0], &inputs[1]];
        let all = x.len() + u.len();
        let hessian = transition.hessian_ambient(x, u, &inputs[3])?;
        let hessian = DMatrix::from_vec(all, all, hessian);
        let (AmbientJacobian { a, b, .. }, _) = transition.linearize_ambient(x, u)?;
        let block = |rows: Range<usize>, columns: Range<usize>| {
            let size = (rows.len(), columns.len());
            hessian.view((rows.start, columns.start), size).iter().copied().collect::<Vec<f64>>()
        };
        let (of_x, of_u) = (0..x.len(), x.len()..all);
        Ok(vec![
            block(of_x.clone(), of_x.clone()),
            block(of_x.clone(), of_u.clone()),
            vec![],
            a.transpose().as_slice().to_vec(),
            block(of_u.clone(), of_x),
            block(of_u.clone(), of_u),
            vec![],
            b.transpose().as_slice().to_vec(),
        ])
    },
};

const START: Function = Function {
    inputs: &[],
    outputs: &[(c"x", STATE), (c"u", INPUT)],
    evaluate: |transition, _| Ok(vec![transition.initial_state(), transition.initial_input()]),
};

/// What is attached to the library that this code is in.
struct Exported {
    attachment: Attachment,
    scene: Arc<Scene>,
    /// By [`Shape::index`].
    patterns: Vec<Pattern>,
    sizes: [usize; 3],
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
        let sizes = [1, transition.nq() + transition.nv(), transition.nu()];
        let mut patterns = vec![vec![]; Shape::COUNT];
        for rows in [Length::One, Length::State, Length::Input] {
            for columns in [Length::One, Length::State, Length::Input] {
                for shape in [Shape::stored(rows, columns), Shape::nothing(rows, columns)] {
                    patterns[shape.index()] =
                        shape.pattern([rows, columns].map(|k| sizes[k as usize]));
                }
            }
        }
        let idle = Mutex::new(vec![transition]);
        Ok(Exported { attachment, scene, patterns, sizes, idle })
    }

    /// Numbers stored of a shape.
    fn size(&self, shape: Shape) -> usize {
        match shape.stored {
            true => self.sizes[shape.rows as usize] * self.sizes[shape.columns as usize],
            false => 0,
        }
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
        static NONE: [Int; 3] = [0, 0, 1];
        let entry = usize::try_from(index).ok().and_then(|index| list.get(index));
        let pattern = |shape: Shape| Some(&enter(exported).ok()?.patterns[shape.index()][..]);
        entry.and_then(|&(_, shape)| pattern(shape)).unwrap_or(&NONE[..]).as_ptr()
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
    ADJOINT,
    adj1_stiction_f,
    adj1_stiction_f_n_in,
    adj1_stiction_f_n_out,
    adj1_stiction_f_name_in,
    adj1_stiction_f_name_out,
    adj1_stiction_f_sparsity_in,
    adj1_stiction_f_sparsity_out,
    adj1_stiction_f_work
);
export!(
    ADJOINT_JACOBIAN,
    jac_adj1_stiction_f,
    jac_adj1_stiction_f_n_in,
    jac_adj1_stiction_f_n_out,
    jac_adj1_stiction_f_name_in,
    jac_adj1_stiction_f_name_out,
    jac_adj1_stiction_f_sparsity_in,
    jac_adj1_stiction_f_sparsity_out,
    jac_adj1_stiction_f_work
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
