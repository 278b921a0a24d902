//! Programs that the library compiles once, for all who call them.
//!
//! A generic function is compiled by the crate that names it with a type, so that every test, bench and user of the
//! library would compile a program of its own. What [`instances`](instances!) defines is compiled here instead, for
//! the scalars with an [`INSTANCE`](crate::ad::Real::INSTANCE); all others compile it where they are named.

/// Defines `fn $name<T: Real>() -> $Pointer<T>`, which finds `$function::<T>` as it was compiled in this crate, or
/// names it where `T` has no instance.
macro_rules! instances {
    ($name:ident, $function:ident: $Pointer:ident) => {
        #[inline]
        fn $name<T: $crate::ad::Real>() -> $Pointer<T> {
            static PLAIN: $Pointer<f64> = $function;
            static FORWARD: $Pointer<$crate::ad::instanced::Forward> = $function;
            static REVERSE: $Pointer<$crate::ad::instanced::Reverse> = $function;
            static SECOND: $Pointer<$crate::ad::instanced::Second> = $function;

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

pub(super) use instances;
