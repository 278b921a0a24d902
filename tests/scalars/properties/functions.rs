//! All functions of a scalar, in tables that are the same for every scalar.

use stiction::ad::Real;

/// A function of `M` variables, with its name.
pub type Named<T, const M: usize> = (&'static str, fn([T; M]) -> T);

/// Functions of `M` variables on any scalar.
pub trait Table<const M: usize> {
    fn on<T: Real>() -> Vec<Named<T, M>>;
}

pub struct Unary;
pub struct Binary;
pub struct Ternary;

macro_rules! methods {
    (1: $($f:ident)*) => { vec![$((stringify!($f), |[x]| Real::$f(x)),)*] };
    (2: $($f:ident)*) => { vec![$((stringify!($f), |[x, y]| Real::$f(x, y)),)*] };
    (3: $($f:ident)*) => { vec![$((stringify!($f), |[x, y, z]| Real::$f(x, y, z)),)*] };
}

impl Table<1> for Unary {
    fn on<T: Real>() -> Vec<Named<T, 1>> {
        let mut table: Vec<Named<T, 1>> = methods![
            1: recip sqrt cbrt abs exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan
            sinh cosh tanh asinh acosh atanh signum floor ceil round trunc
        ];
        let others: [Named<T, 1>; 21] = [
            ("sin_cos.0", |[x]| x.sin_cos().0),
            ("sin_cos.1", |[x]| x.sin_cos().1),
            ("neg", |[x]| -x),
            ("powi 0", |[x]| x.powi(0)),
            ("powi 1", |[x]| x.powi(1)),
            ("powi 2", |[x]| x.powi(2)),
            ("powi 5", |[x]| x.powi(5)),
            ("powi -1", |[x]| x.powi(-1)),
            ("powi -4", |[x]| x.powi(-4)),
            ("powi least", |[x]| x.powi(i32::MIN)),
            ("powf 0", |[x]| x.powf(0.0)),
            ("powf 1", |[x]| x.powf(1.0)),
            ("powf 0.5", |[x]| x.powf(0.5)),
            ("powf 3", |[x]| x.powf(3.0)),
            ("powf -1.5", |[x]| x.powf(-1.5)),
            ("x + c", |[x]| x + 1.5),
            ("x - c", |[x]| x - 1.5),
            ("x * c", |[x]| x * 1.5),
            ("x / c", |[x]| x / 1.5),
            ("x / 0", |[x]| x / 0.0),
            ("clamp", |[x]| x.clamp(T::constant(-1.0), T::constant(2.0))),
        ];
        table.extend(others);
        table
    }
}

macro_rules! assigning {
    ($x:ident, $y:ident, $assignment:expr) => {
        |[mut $x, $y]| {
            $assignment;
            $x
        }
    };
}

impl Table<2> for Binary {
    fn on<T: Real>() -> Vec<Named<T, 2>> {
        let mut table: Vec<Named<T, 2>> = methods![2: pow atan2 hypot max min copysign];
        let operators: [Named<T, 2>; 8] = [
            ("add", |[x, y]| x + y),
            ("sub", |[x, y]| x - y),
            ("mul", |[x, y]| x * y),
            ("div", |[x, y]| x / y),
            ("add_assign", assigning!(x, y, x += y)),
            ("sub_assign", assigning!(x, y, x -= y)),
            ("mul_assign", assigning!(x, y, x *= y)),
            ("div_assign", assigning!(x, y, x /= y)),
        ];
        table.extend(operators);
        table
    }
}

impl Table<3> for Ternary {
    fn on<T: Real>() -> Vec<Named<T, 3>> {
        methods![3: mul_add clamp]
    }
}
