//! The algebra of the second-order cone.

use stiction::internals::second_order_cone::{
    Point, Scaling, depth, divide, inner, longest_step, product, project, project_above,
};

const X: Point = [2.0, 0.7, -1.1];
const Z: Point = [0.9, -0.2, 0.6];

fn assert_near(x: Point, y: Point) {
    for (x, y) in x.into_iter().zip(y) {
        assert!((x - y).abs() < 1e-13, "{x} {y}");
    }
}

#[test]
fn the_scaling_takes_both_to_the_same_point() {
    let scaling = Scaling::new(X, Z);
    assert_near(scaling.scaled, scaling.divide(X));
    assert_near(scaling.divide(scaling.times(X)), X);
}

#[test]
fn the_root_inverts() {
    let scaling = Scaling::new(X, Z);
    let (root, p) = (scaling.root(3.5), scaling.axis());
    let twice: Point = root.map(|row| inner(row, root.map(|row| inner(row, X))));
    let back: Point = std::array::from_fn(|k| twice[k] + 3.5 * p[k] * inner(p, twice));
    assert_near(back, X);
}

#[test]
fn division_undoes_the_product_and_steps_end_on_the_cone() {
    assert_near(divide(X, product(X, Z)), Z);
    let d = [-1.0, 0.3, 0.4];
    let step = longest_step(X, d);
    let end: Point = std::array::from_fn(|k| X[k] + step * d[k]);
    assert!(depth(end).abs() < 1e-13);
    assert_eq!(longest_step(X, [1.0, 0.3, 0.4]), f64::INFINITY);
}

#[test]
fn projections_are_the_nearest_points() {
    assert_eq!(project([-2.0, 1.0, 1.0]), [0.0; 3]);
    assert_near(project([0.0, 3.0, 4.0]), [2.5, 1.5, 2.0]);
    assert_near(project_above([0.0, 3.0, 4.0], 3.0), [3.0, 1.8, 2.4]);
    assert_near(project_above([0.0, 0.3, 0.4], 3.0), [3.0, 0.3, 0.4]);
}
