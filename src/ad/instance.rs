//! The scalars that the library compiles its programs for, once and for all who call them.
//!
//! A generic function is compiled by the crate that names it with a type, so that every test, bench and user of the
//! library would compile a program of its own. What [`instances`](instances!) defines is compiled here instead, for
//! the scalars with an [`INSTANCE`](super::Real::INSTANCE); all others compile it where they are named.

/// Defines `fn $name<T: Real>() -> $Pointer<T>`, which finds `$function::<T>` as it was compiled in this crate, or
/// names it where `T` has no instance.
macro_rules! instances {
    ($name:ident, $function:ident: $Pointer:ident) => {
        #[inline]
        fn $name<T: $crate::ad::Real>() -> $Pointer<T> {
            type Lanes = $crate::ad::Dual<f64, { $crate::ad::LANES }>;
            static PLAIN: $Pointer<f64> = $function;
            static FORWARD: $Pointer<Lanes> = $function;
            static REVERSE: $Pointer<$crate::ad::Var> = $function;
            static SECOND: $Pointer<$crate::ad::Var<Lanes>> = $function;

            // Not inlined, so that others need only its address.
            #[inline(never)]
            fn compiled(instance: usize) -> &'static dyn std::any::Any {
                match instance {
                    $crate::ad::instance::PLAIN => &PLAIN,
                    $crate::ad::instance::FORWARD => &FORWARD,
                    $crate::ad::instance::REVERSE => &REVERSE,
                    _ => &SECOND,
                }
            }
            // The branch that is not taken is not compiled: the condition is a constant of the type.
            if const { T::INSTANCE.is_some() } {
                match T::INSTANCE.and_then(|instance| compiled(instance).downcast_ref()) {
                    Some(found) => *found,
                    None => unreachable!("each instance is of its own scalar"),
                }
            } else {
                $function::<T>
            }
        }
    };
}

pub(crate) use instances;

/// `f64`
pub(crate) const PLAIN: usize = 0;
/// `Dual<f64, LANES>`
pub(crate) const FORWARD: usize = 1;
/// `Var<f64>`
pub(crate) const REVERSE: usize = 2;
/// `Var<Dual<f64, LANES>>`
pub(crate) const SECOND: usize = 3;

/// The instance of a dual of `lanes` lanes over a scalar of the given one.
pub(super) const fn dual(inner: Option<usize>, lanes: usize) -> Option<usize> {
    match (inner, lanes) {
        (Some(PLAIN), super::LANES) => Some(FORWARD),
        _ => None,
    }
}

/// The instance of a variable over a scalar of the given one.
pub(super) const fn variable(inner: Option<usize>) -> Option<usize> {
    match inner {
        Some(PLAIN) => Some(REVERSE),
        Some(FORWARD) => Some(SECOND),
        _ => None,
    }
}
