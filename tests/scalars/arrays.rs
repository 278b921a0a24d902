//! `ndarray` in and out of the drivers, and its arithmetic on our scalars.

use ndarray::{Array, Array1, Array2, ArrayD, Axis, IxDyn, ShapeBuilder, arr0, array, s};
use stiction::ad::{self, Dual, Error, Real, Var, arrays};

/// sum_ij (i + 1) (10 j + 1) x_ij^2 / 2
fn weighted<T: Real>(x: ndarray::ArrayView2<'_, T>) -> T {
    let squares = x.indexed_iter().map(|((i, j), &x)| x * x * weight(i, j) * 0.5);
    squares.fold(T::zero(), |sum, x| sum + x)
}

fn weight(i: usize, j: usize) -> f64 {
    (i as f64 + 1.0) * (10.0 * j as f64 + 1.0)
}

// Entries stay at their index, however the array lies in memory.
#[test]
fn gradients_have_the_shape_and_order_of_the_array() {
    let fill = |(i, j): (usize, usize)| 0.3 * i as f64 - 0.7 * j as f64 + 0.1;
    let rows = Array2::from_shape_fn((2, 3), fill);
    let columns = Array2::from_shape_fn((2, 3).f(), fill);
    let large = Array2::from_shape_fn((4, 6), |(i, j)| fill((i / 2, j / 2)));
    let backwards = Array2::from_shape_fn((2, 3), |(i, j)| fill((1 - i, 2 - j)));
    for x in [
        rows.view(),
        columns.view(),
        large.slice(s![..;2, ..;2]),
        backwards.slice(s![..;-1, ..;-1]),
        backwards.t().slice(s![..;-1, ..;-1]).reversed_axes(),
    ] {
        assert_eq!(x, rows);
        let (y, dx) = arrays::gradient(weighted, x).unwrap();
        assert_eq!(y, weighted(x));
        assert_eq!(dx.dim(), (2, 3));
        for ((i, j), found) in dx.indexed_iter() {
            let expected = fill((i, j)) * weight(i, j);
            assert!((found - expected).abs() < 1e-14, "{i} {j}: {found} instead of {expected}");
        }
    }
}

#[test]
fn any_dimension_goes_through() {
    let (y, dx) = arrays::gradient(|x| x[()] * x[()], arr0(3.0).view()).unwrap();
    assert_eq!((y, dx), (9.0, arr0(6.0)));
    let x = ArrayD::from_shape_fn(IxDyn(&[2, 1, 3, 2]), |i| (i[0] + i[2] * i[3]) as f64);
    let (_, dx) = arrays::gradient(|x| (&x * &x).sum() * 0.5, x.view()).unwrap();
    assert_eq!(dx, x);
    let empty = Array2::<f64>::zeros((0, 3));
    let (y, dx) = arrays::gradient(|x| x.sum() + 1.0, empty.view()).unwrap();
    assert_eq!((y, dx.dim()), (1.0, (0, 3)));
    let nothing = Array1::<f64>::zeros(0);
    let (y, j) = arrays::jacobian::<4>(|_| array![Dual::constant(2.0)], nothing.view());
    assert_eq!((y, j.dim()), (array![2.0], (1, 0)));
}

fn program<T: Real>(x: ndarray::ArrayView1<'_, T>) -> Array1<T> {
    array![x[0] * x[1].sin(), x[2] / x[0], x[1] * x[1] * x[2]]
}

#[test]
fn the_drivers_agree_with_those_on_slices() {
    let x = array![0.7, -0.4, 1.3];
    let slice = [0.7, -0.4, 1.3];
    let on_slice = |x: &[Dual<f64, 2>]| program(x.into()).to_vec();
    let (values, expected) = ad::jacobian::<2>(on_slice, &slice);
    let (y, by_duals) = arrays::jacobian::<2>(program, x.view());
    let (taped, by_rows) = arrays::jacobian_by_rows(program, x.view()).unwrap();
    assert_eq!((y.to_vec(), taped.to_vec()), (values.clone(), values));
    assert_eq!((by_duals.dim(), by_rows.dim()), ((3, 3), (3, 3)));
    for ((i, j), found) in by_duals.indexed_iter() {
        assert_eq!(*found, expected[(i, j)]);
        assert!((by_rows[(i, j)] - expected[(i, j)]).abs() < 1e-15);
    }
    let dx = array![0.2, 0.5, -1.0];
    let (_, forward) = arrays::jvp(program, x.view(), dx.view()).unwrap();
    assert!((forward - by_duals.dot(&dx)).iter().all(|e| e.abs() < 1e-15));
    let w = array![1.0, -2.0, 0.5];
    let (_, backward) = arrays::vjp(program, x.view(), |_| w.clone()).unwrap();
    assert!((backward - by_duals.t().dot(&w)).iter().all(|e| e.abs() < 1e-15));

    let scalar = |x: ndarray::ArrayView1<'_, Var<Dual<f64, 1>>>| program(x).sum();
    let (value, gradient, product) = arrays::hessian_vector(scalar, x.view(), dx.view()).unwrap();
    let (same, slopes, hessian) = arrays::hessian::<2>(|x| program(x).sum(), x.view()).unwrap();
    assert_eq!((value, &gradient), (same, &slopes));
    assert!((product - hessian.dot(&dx)).iter().all(|e| e.abs() < 1e-14));
    assert!((gradient - by_duals.sum_axis(Axis(0))).iter().all(|e| e.abs() < 1e-14));
    let h = 1e-5;
    for j in 0..3 {
        let slopes = |h: f64| {
            let mut x = x.clone();
            x[j] += h;
            arrays::gradient(|x| program(x).sum(), x.view()).unwrap().1
        };
        let difference = (slopes(h) - slopes(-h)) / (2.0 * h);
        assert!((difference - hessian.column(j)).iter().all(|e| e.abs() < 1e-8));
    }
}

#[test]
fn shapes_must_match() {
    let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let other = x.t().to_owned();
    let wrong = Error::Shape { expected: 2, found: 3 };
    assert_eq!(arrays::jvp(|x| x.to_owned(), x.view(), other.view()), Err(wrong));
    assert_eq!(arrays::vjp(|x| x.to_owned(), x.view(), |_| other.clone()), Err(wrong));
    let flat = x.clone().into_shape_with_order(IxDyn(&[6])).unwrap();
    let found = arrays::vjp(|x| x.to_owned().into_dyn(), x.view(), |_| flat);
    assert_eq!(found, Err(Error::Shape { expected: 2, found: 1 }));
    let line = array![1.0, 2.0];
    let found = arrays::hessian_vector(|x| x[0], line.view(), array![1.0].view());
    assert_eq!(found, Err(Error::Shape { expected: 2, found: 1 }));
}

#[test]
fn foreign_variables_are_refused() {
    let mut kept = Var::constant(0.0);
    let x = array![2.0];
    arrays::gradient(
        |x| {
            kept = x[0];
            kept
        },
        x.view(),
    )
    .unwrap();
    let found = arrays::gradient(|x| x[0] * kept, x.view());
    assert_eq!(found, Err(Error::StaleVariable));
    assert_eq!(arrays::vjp(|x| &x * kept, x.view(), |y| y.to_owned()), Err(Error::StaleVariable));
}

/// What ndarray does by itself, on any of our scalars: |A x + b|^2 in several ways.
fn arithmetic<T: Real + ndarray::ScalarOperand + num_traits::FromPrimitive>(
    x: Array1<T>,
) -> [T; 3] {
    let a = array![[1.0, 2.0], [3.0, -1.0]].mapv(T::constant);
    let b = array![0.5, 0.25].mapv(T::constant);
    let y = a.dot(&x) + &b;
    let mut scaled = &y * y[0];
    scaled *= T::constant(2.0);
    scaled /= y[0];
    let squares = y.mapv(|y| y * y);
    let halves = squares.clone() / 2.0 + squares * 0.5;
    let mean = halves.mean().map_or(T::zero(), |mean| mean * 2.0);
    [y.dot(&y), scaled.dot(&scaled) / 4.0, mean]
}

#[test]
fn arithmetic_of_arrays_works_on_our_scalars() {
    // y = (5.5 - 0.25, 4.75 + ...) by hand: x = (1, 2): y = (5.5, 1.25)
    let expected = [5.5_f64.powi(2) + 1.25_f64.powi(2), 2.0 * (5.5 + 3.75), 2.0 * (11.0 - 1.25)];
    let dual = arithmetic(array![Dual::<f64, 2>::variable(1.0, 0), Dual::variable(2.0, 1)]);
    for y in dual {
        for (found, expected) in [y.value, y.tangent[0], y.tangent[1]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-13, "{found} instead of {expected}");
        }
    }
    for k in 0..3 {
        let x = array![1.0, 2.0];
        let (y, dx) = arrays::gradient(|x| arithmetic(x.to_owned())[k], x.view()).unwrap();
        for (found, expected) in [y, dx[0], dx[1]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-13, "{found} instead of {expected}");
        }
    }
    // Also what ndarray offers for floats only.
    let x = array![1.0, 2.0, 4.0];
    let (deviation, slopes) = arrays::gradient(|x| x.std(Var::constant(0.0)), x.view()).unwrap();
    assert!((deviation - x.std(0.0)).abs() < 1e-15);
    let mean = 7.0 / 3.0;
    for (slope, x) in slopes.iter().zip(&x) {
        assert!((slope - (x - mean) / (3.0 * deviation)).abs() < 1e-14);
    }
    let product: Array<Var, _> =
        array![[1.0]].mapv(Var::constant).dot(&array![[2.0]].mapv(Var::constant));
    assert_eq!(product[[0, 0]].value(), 2.0);
}
