//! Forwarding of the operators that follow from others.

/// Operators with an `f64` on the right, and the assigning forms of all four.
macro_rules! with_f64 {
    ([$($g:tt)*] $t:ty {
        add: |$xa:ident, $ca:ident| $add:expr,
        sub: |$xs:ident, $cs:ident| $sub:expr,
        mul: |$xm:ident, $cm:ident| $mul:expr,
        div: |$xd:ident, $cd:ident| $div:expr,
    }) => {
        $crate::operators::with_f64!(@op [$($g)*] $t, Add, add, AddAssign, add_assign, $xa, $ca, $add);
        $crate::operators::with_f64!(@op [$($g)*] $t, Sub, sub, SubAssign, sub_assign, $xs, $cs, $sub);
        $crate::operators::with_f64!(@op [$($g)*] $t, Mul, mul, MulAssign, mul_assign, $xm, $cm, $mul);
        $crate::operators::with_f64!(@op [$($g)*] $t, Div, div, DivAssign, div_assign, $xd, $cd, $div);
    };
    (@op [$($g:tt)*] $t:ty, $Op:ident, $op:ident, $OpAssign:ident, $op_assign:ident, $x:ident, $c:ident, $body:expr) => {
        impl<$($g)*> std::ops::$Op<f64> for $t {
            type Output = Self;
            #[inline(always)]
            #[track_caller]
            fn $op(self, $c: f64) -> Self {
                let $x = self;
                $body
            }
        }
        impl<$($g)*> std::ops::$OpAssign for $t {
            #[inline(always)]
            #[track_caller]
            fn $op_assign(&mut self, other: Self) {
                *self = std::ops::$Op::$op(*self, other);
            }
        }
    };
}

pub(crate) use with_f64;
