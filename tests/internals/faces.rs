//! The nearest point of a cone with a least normal impulse, and the face it is on.

use stiction::argmin::ConeMode;
use stiction::internals::project_on_face;

#[test]
fn each_face_has_its_points() {
    let cases = [
        ([-1.0, 0.5, 0.0], 1.0, 0.0, [0.0; 3], ConeMode::Apex),
        ([2.0, 0.5, 0.0], 1.0, 0.0, [2.0, 0.5, 0.0], ConeMode::Inside),
        ([0.0, 3.0, 4.0], 1.0, 0.0, [2.5, 1.5, 2.0], ConeMode::Surface),
        ([0.0, 0.3, 0.4], 1.0, 3.0, [3.0, 0.3, 0.4], ConeMode::HeldInside),
        ([0.0, 3.0, 4.0], 1.0, 3.0, [3.0, 1.8, 2.4], ConeMode::HeldSurface),
        ([2.0, 3.0, 4.0], 0.0, 0.0, [2.0, 0.0, 0.0], ConeMode::Surface),
        ([2.0, 3.0, 4.0], 0.0, 3.0, [3.0, 0.0, 0.0], ConeMode::HeldSurface),
    ];
    for (p, mu, least, expected, face) in cases {
        let (found, mode) = project_on_face(p, mu, least, 1e-12);
        assert_eq!(mode, face);
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{found:?}");
    }
}
