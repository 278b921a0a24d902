//! The place in thread-local storage of each scalar that a tape can be over.

use std::cell::RefCell;

use super::cursor::Cursor;
use super::tapes::{TapeScalar, Tapes};

macro_rules! tape_scalar {
    ($($t:ty),*) => {$(const _: () = {
        thread_local! {
            static CURSOR: Cursor<$t> = const { Cursor::idle() };
            static TAPES: RefCell<Option<Box<Tapes<$t>>>> = const { RefCell::new(None) };
        }
        impl TapeScalar for $t {
            #[inline(always)]
            fn with_cursor<Out>(f: impl FnOnce(&Cursor<Self>) -> Out) -> Out {
                CURSOR.with(f)
            }
            fn with_tapes<Out>(f: impl FnOnce(&mut Tapes<Self>) -> Out) -> Out {
                TAPES.with_borrow_mut(|tapes| f(tapes.get_or_insert_default()))
            }
            fn try_with_tapes(f: impl FnOnce(&mut Tapes<Self>)) {
                // Gone at the end of the thread: then there is nothing to do.
                _ = TAPES.try_with(|tapes| f(tapes.borrow_mut().get_or_insert_default()));
            }
            fn take_tapes() -> Option<Box<Tapes<Self>>> {
                TAPES.take()
            }
            fn put_tapes(tapes: Box<Tapes<Self>>) {
                // What a sweep recorded elsewhere meanwhile is dropped outside of the borrow.
                drop(TAPES.replace(Some(tapes)));
            }
        }
    };)*};
}

tape_scalar!(
    f64,
    super::Dual<f64, 1>,
    super::Dual<f64, 2>,
    super::Dual<f64, 3>,
    super::Dual<f64, 4>,
    super::Dual<f64, 6>,
    super::Dual<f64, 8>,
    super::sparse::Dependence
);
