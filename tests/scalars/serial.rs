//! Scalars through serde.

use serde::{Deserialize, Serialize};
use stiction::ad::{self, Dual, Error, Real, Var};

type Nested = Dual<Dual<f64, 2>, 1>;

fn json<T: Serialize>(x: &T) -> String {
    serde_json::to_string(x).unwrap()
}

#[test]
fn duals_are_their_value_and_tangent() {
    let x = Dual::<f64, 2>::new(0.1, [-2.5, 1e-300]);
    assert_eq!(json(&x), r#"{"value":0.1,"tangent":[-2.5,1e-300]}"#);
    let back: Dual<f64, 2> = serde_json::from_str(&json(&x)).unwrap();
    assert_eq!((back.value, back.tangent), (x.value, x.tangent));
    assert_eq!(json(&Dual::<f64, 0>::constant(1.0)), r#"{"value":1.0,"tangent":[]}"#);

    let nested = Nested::new(Dual::new(1.0, [2.0, 3.0]), [Dual::new(4.0, [5.0, 6.0])]);
    let text = json(&nested);
    let expected = r#"{"value":{"value":1.0,"tangent":[2.0,3.0]},"tangent":[{"value":4.0,"tangent":[5.0,6.0]}]}"#;
    assert_eq!(text, expected);
    let back: Nested = serde_json::from_str(&text).unwrap();
    assert_eq!(format!("{back:?}"), format!("{nested:?}"));

    // More than the 32 entries serde has arrays for.
    let wide = Dual::<f64, 40>::new(1.0, std::array::from_fn(|k| k as f64));
    let back: Dual<f64, 40> = serde_json::from_str(&json(&wide)).unwrap();
    assert_eq!(back.tangent, wide.tangent);
}

#[test]
fn what_is_no_dual_is_refused() {
    for (text, complaint) in [
        (r#"{"value":1,"tangent":[1]}"#, "invalid length 1"),
        (r#"{"value":1,"tangent":[1,2,3]}"#, "invalid length 3"),
        (r#"{"value":1}"#, "missing field `tangent`"),
        (r#"{"tangent":[1,2]}"#, "missing field `value`"),
        (r#"{"value":1,"tangent":[1,2],"tangnet":[1,2]}"#, "unknown field"),
        (r#"{"value":1,"tangent":[1,"2"]}"#, "invalid type: string"),
        (r#"{"value":null,"tangent":[1,2]}"#, "invalid type: null"),
        ("1.0", "invalid type"),
    ] {
        let found = serde_json::from_str::<Dual<f64, 2>>(text).unwrap_err().to_string();
        assert!(found.contains(complaint), "{text}: {found}");
    }
}

// JSON has none of these numbers; a format that has keeps them.
#[test]
fn what_is_not_a_number_is_refused_or_kept_never_changed() {
    let x = Dual::<f64, 2>::new(f64::NAN, [f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(json(&x), r#"{"value":null,"tangent":[null,null]}"#);
    assert!(serde_json::from_str::<Dual<f64, 2>>(&json(&x)).is_err());
    assert!(serde_json::from_str::<Var>(&json(&<Var>::constant(f64::NAN))).is_err());
    let back: Dual<f64, 2> = toml::from_str(&toml::to_string(&x).unwrap()).unwrap();
    assert!(back.value.is_nan());
    assert_eq!(back.tangent, x.tangent);
}

#[test]
fn variables_are_written_as_their_value_and_read_as_constants() {
    #[derive(Serialize, Deserialize)]
    struct Holder<T> {
        x: T,
    }
    let mut text = String::new();
    let (_, slope) = ad::gradient(
        |x| {
            text = json(&Holder { x: x[0] * 3.0 });
            let read: Holder<Var> = serde_json::from_str(&text).unwrap();
            assert!(read.x.is_constant());
            x[0] * read.x
        },
        &[2.0],
    )
    .unwrap();
    assert_eq!((text.as_str(), slope[0]), (r#"{"x":6.0}"#, 6.0));
    let x: Var<Dual<f64, 1>> = serde_json::from_str(r#"{"value":2,"tangent":[1]}"#).unwrap();
    assert_eq!((x.inner().value, x.inner().tangent, x.is_constant()), (2.0, [1.0], true));
    assert_eq!(json(&x), r#"{"value":2.0,"tangent":[1.0]}"#);
}

#[test]
fn errors_can_be_written() {
    assert_eq!(json(&Error::StaleVariable), r#""stale_variable""#);
    assert_eq!(
        json(&Error::Shape { expected: 2, found: 1 }),
        r#"{"shape":{"expected":2,"found":1}}"#
    );
    let error = ad::diagnose(|| ad::gradient(|x| x[0].ln(), &[0.0])).unwrap_err();
    let text = json(&error);
    assert!(text.starts_with(r#"{"non_finite":{"function":"ln","operand":0,"#), "{text}");
    assert!(text.contains(file!()), "{text}");
}
