//! Pictures.

use stiction::identify::{Dataset, Experiment, fit};
use stiction::view::fit_plot;

#[test]
fn picture_of_a_fit_shows_data_first_guess_and_fit_of_every_recording() {
    let experiment = Experiment::builtin().unwrap();
    let dataset = Dataset::builtin(&experiment).unwrap();
    let result = fit(&experiment, &dataset, 2, &mut |progress| progress.iteration < 4).unwrap();
    let svg = fit_plot(&experiment, &dataset, &result).unwrap();

    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
    for word in ["data", "first guess", "fit", "time (s)", "distance from start (m)", "slide_6"] {
        assert!(svg.contains(&format!("\n{word}")), "{word} is missing");
    }
    // One of each color in the legend, one a recording.
    for color in ["#D97706", "#1D4ED8"] {
        let line = format!("stroke=\"{color}\"");
        let lines = svg.lines().filter(|l| l.starts_with("<polyline") && l.contains(&line));
        assert_eq!(lines.count(), 1 + dataset.trajectories.len(), "{color}");
    }
    assert!(svg.matches("<circle ").count() > 60);
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert!(svg.len() < 150_000);
}

#[test]
fn picture_of_many_windows_has_a_line_for_each() {
    let mut experiment = Experiment::builtin().unwrap();
    experiment.window = stiction::identify::WindowLength::Steps(50);
    let dataset = Dataset::builtin(&experiment).unwrap();
    let result = fit(&experiment, &dataset, 2, &mut |_| false).unwrap();
    let svg = fit_plot(&experiment, &dataset, &result).unwrap();
    let lines = svg.lines().filter(|l| l.starts_with("<polyline") && l.contains("#1D4ED8"));
    assert_eq!(lines.count(), 1 + dataset.windows.len());
}
