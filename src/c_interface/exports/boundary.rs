//! The boundary: no panic leaves it, errors are codes with a message, pointers are looked at before they are
//! followed.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::{Error, ErrorKind};

/// Error codes, `stiction_error` in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// A pointer is null or misaligned.
    Pointer = 1,
    /// A file, text, name, length or number is not usable.
    Input = 2,
    /// A file cannot be read.
    Io = 3,
    /// There is no finite answer here.
    Undefined = 4,
    /// Another thread is using the same data.
    Busy = 5,
    /// A defect of the library.
    Internal = 6,
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub struct Failure {
    code: Code,
    message: String,
}

impl Failure {
    /// A failure with its message.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = match error.kind() {
            ErrorKind::Input | ErrorKind::Name => Code::Input,
            ErrorKind::Io(_) => Code::Io,
            ErrorKind::Undefined => Code::Undefined,
        };
        Failure::new(code, error.to_string())
    }
}

thread_local! {
    /// The message of the last call that failed on this thread.
    static LAST_ERROR: RefCell<CString> = RefCell::default();
    /// Whether this thread is inside a call, where a panic is to make no noise.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic was.
    static PANIC_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs the body of an exported function: a failure or a panic becomes its code, and its message the last
/// error of the thread.
pub fn enter<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, c_int> {
    quieten();
    let outer = INSIDE.replace(true);
    let result = catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(outer);
    let failure = match result {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::new(Code::Internal, panic_message(payload.as_ref())),
    };
    let Failure { code, message } = failure;
    // A zero byte would end the message; none of ours has one, but a name in a file may.
    let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    // A thread that is ending has no place for it.
    let _ = LAST_ERROR.try_with(|last| last.replace(message));
    Err(code as c_int)
}

/// The error code of a function that only succeeds or fails; 0 is success. Rust code that exports C functions
/// of its own may use it too.
///
/// ```
/// use stiction::c_interface::{Code, Failure, last_message, status};
///
/// assert_eq!(status(|| Ok(())), 0);
/// let failure = || Failure::new(Code::Input, "mass: must be positive");
/// assert_eq!(status(|| Err(failure())), Code::Input as i32);
/// assert_eq!(last_message(), "mass: must be positive");
/// // A panic stops here, and prints nothing.
/// let nothing: [f64; 0] = [];
/// let index = last_message().len();
/// assert_eq!(status(|| Ok(assert!(nothing[index] > 0.0))), Code::Internal as i32);
/// assert!(last_message().contains("index out of bounds: the len is 0 but the index is 22"));
/// assert!(last_message().contains(".rs:"));
/// ```
pub fn status(body: impl FnOnce() -> Result<(), Failure>) -> c_int {
    enter(body).map_or_else(|code| code, |()| 0)
}

/// The last error of the thread, as text.
pub fn last_message() -> String {
    let text = |last: &RefCell<CString>| last.borrow().to_string_lossy().into_owned();
    LAST_ERROR.try_with(text).unwrap_or_default()
}

/// The message of the last call that failed on this thread, empty if none did. It stays until the next
/// failure on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn stiction_last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn stiction_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Keeps the messages of panics inside calls off standard error: they become error messages. Panics
/// elsewhere in a program that links this statically are reported as before.
fn quieten() {
    static ONCE: Once = Once::new();
    if std::thread::panicking() {
        return; // The hook cannot be changed now.
    }
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match INSIDE.get() {
            true => {
                let place = panic.location().map(ToString::to_string).unwrap_or_default();
                let _ = PANIC_PLACE.try_with(|last| last.replace(place));
            }
            false => others(panic),
        }));
    });
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = PANIC_PLACE.try_with(RefCell::take).unwrap_or_default();
    format!(
        "internal error at {place}: {}; please report it with the scene and the numbers",
        text.unwrap_or("no message")
    )
}

/// The `length` elements at `pointer`. Null will do for none.
///
/// # Safety
/// A pointer that is neither null nor misaligned is valid for reads of `length` elements, which nobody
/// writes while the slice is used.
pub unsafe fn elements<'a, T>(
    pointer: *const T,
    length: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    check(pointer, what)?;
    if length > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::new(Code::Input, format!("{what}: {length} is no length")));
    }
    // SAFETY: neither null nor misaligned, of a size that an object can have; the rest is the caller's word.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// An error if a pointer is null or misaligned.
pub fn check<T>(pointer: *const T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::new(Code::Pointer, format!("{what} is a null pointer")));
    }
    match pointer.is_aligned() {
        true => Ok(()),
        false => Err(Failure::new(Code::Pointer, format!("{what} is a misaligned pointer"))),
    }
}

/// The text at `pointer`.
///
/// # Safety
/// A pointer that is not null is valid for reads up to a zero byte, and nobody writes there while the text is
/// used.
pub unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Failure> {
    check(pointer, what)?;
    // SAFETY: not null, and ended by a zero byte by the caller's word.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::new(Code::Input, format!("{what} is not UTF-8")))
}

/// A vector or matrix of the caller's to be written, `stiction_buffer` in the header.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Buffer {
    pub data: *mut f64,
    pub size: usize,
}

impl Buffer {
    /// An error if the buffer is null, misaligned, or has not room for `expected` numbers.
    pub fn check(&self, expected: usize, what: &str) -> Result<(), Failure> {
        if self.size != expected {
            let message =
                format!("{what} has {expected} numbers here, found room for {}", self.size);
            return Err(Failure::new(Code::Input, message));
        }
        match expected {
            0 => Ok(()),
            _ => check(self.data, what),
        }
    }

    /// Writes the numbers.
    ///
    /// # Safety
    /// The buffer passed [`Self::check`] for as many numbers, and is valid for writes.
    pub unsafe fn write(&self, numbers: &[f64]) {
        if !numbers.is_empty() {
            // SAFETY: valid for writes by the caller's word; `numbers` is ours, so they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), self.data, numbers.len()) }
        }
    }
}

/// Writes a value through a pointer.
///
/// # Safety
/// A pointer that is neither null nor misaligned is valid for a write.
pub unsafe fn put<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Failure> {
    check(pointer, what)?;
    // SAFETY: neither null nor misaligned; valid by the caller's word.
    unsafe { pointer.write(value) };
    Ok(())
}
