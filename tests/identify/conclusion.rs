//! A result, its errors and its profiles are of one function, and the result is the lowest point known of it.
use stiction::identify::{
    Conclusion, Dataset, Doing, Experiment, FitStatus, Others, Problem, conclude, fit,
};

use crate::cases;

use super::statistics::{path, tosses};
use super::trust::{exact, rippled};

fn concluded(experiment: &Experiment, dataset: &Dataset, threads: usize) -> Conclusion {
    conclude(experiment, dataset, threads, None, &mut |_| true).unwrap()
}

/// The loss of all recordings at these values, windows starting where the fit has them.
fn loss(experiment: &Experiment, dataset: &Dataset, found: &Conclusion, values: &[f64]) -> f64 {
    let initial = found.fit.initial_states.clone();
    let mut problem = Problem::starting_from(experiment, dataset, initial, 1);
    let x = problem.space.variables(values);
    2.0 * problem.cost(&x) / problem.residual_count() as f64
}

/// Every profile goes through the result, and no point of one is lower, nor the scene or the start; the interval is
/// around it. With the others held, the loss is at least that of the profile.
fn is_of_one_function(experiment: &Experiment, dataset: &Dataset, found: &Conclusion) {
    let fit = &found.fit;
    let values: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
    let again = loss(experiment, dataset, found, &values);
    assert!((again - fit.loss).abs() <= 1e-9 * fit.loss, "{again} {}", fit.loss);
    let known = fit.loss_of_scene.min(fit.loss_at_start);
    assert!(fit.loss <= known * (1.0 + 1e-6), "{} {known}", fit.loss);
    assert!(found.complete && !found.profiles.is_empty());
    for profile in &found.profiles {
        let fitted = &fit.parameters[profile.parameter];
        assert!(profile.values.is_sorted(), "{profile:?}");
        let at = profile.values.iter().position(|x| *x == fitted.value).unwrap();
        assert_eq!(profile.loss[at], fit.loss, "{}", fitted.name);
        let last = profile.values.len() - 1;
        for end in [0, last] {
            let mut held = values.clone();
            held[profile.parameter] = profile.values[end];
            let held = loss(experiment, dataset, found, &held);
            // Where the loss is rough, a step to the others' minimum may lead to a worse place next door.
            let most = if experiment.half_samples.is_some() { 1.2 } else { 1.0 + 1e-9 };
            assert!(profile.loss[end] <= most * held, "{}: {held} {profile:?}", fitted.name);
        }
        let least = profile.loss.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least >= fit.loss * (1.0 - 1e-6), "{}: {least} {}", fitted.name, fit.loss);
        let [low, high] = fitted.interval.unwrap();
        assert!((low..=high).contains(&fitted.value));
    }
}

#[test]
fn a_search_goes_on_from_lower_points() {
    let (mut experiment, dataset) = rippled();
    let whole = concluded(&experiment, &dataset, 2);
    assert_eq!(whole.fit.status, FitStatus::Converged);
    is_of_one_function(&experiment, &dataset, &whole);
    // A search that ends early has lower points beside it.
    (experiment.max_iterations, experiment.parameters[0].start) = (1, 0.9);
    let early = fit(&experiment, &dataset, 2, &mut |_| true).unwrap();
    assert!(early.loss > 1.01 * whole.fit.loss, "{} {}", early.loss, whole.fit.loss);
    let found = concluded(&experiment, &dataset, 2);
    assert!(found.fit.loss < early.loss && found.fit.iterations > early.iterations);
    is_of_one_function(&experiment, &dataset, &found);
}

#[test]
fn a_conclusion_has_the_same_bits_on_any_number_of_threads() {
    let (mut experiment, dataset) = rippled();
    experiment.max_iterations = 2;
    let [one, three] = [1, 3].map(|threads| concluded(&experiment, &dataset, threads));
    assert_eq!(one.fit.loss.to_bits(), three.fit.loss.to_bits());
    assert_eq!(one.profiles, three.profiles);
}

#[test]
fn whoever_watches_can_end_it() {
    let (experiment, dataset) = rippled();
    let mut ended = false;
    let found = conclude(&experiment, &dataset, 1, None, &mut |doing| {
        ended |= matches!(doing, Doing::Profiles(1, 2));
        !ended
    });
    let found = found.unwrap();
    assert!(ended && !found.complete && found.profiles.len() < 2);
}

#[test]
fn recordings_without_noise_have_no_interval() {
    let (experiment, dataset) = exact();
    let found = concluded(&experiment, &dataset, 2);
    assert!(found.fit.is_exact() && found.fit.told.is_empty(), "{}", found.fit.loss);
    assert!(
        found.fit.parameters.iter().all(|p| p.interval.is_none() && p.standard_error.is_none())
    );
    let said =
        found.fit.warnings.iter().any(|w| w.contains("they hold none, as if they were simulated"));
    assert!(said, "{:?}", found.fit.warnings);
    assert_eq!(found.fit.status, FitStatus::Converged);
}

#[test]
fn tosses_have_profiles_of_all_recordings() {
    // Tumbling cubes: minima lie close together.
    let Some((mut experiment, rows)) = tosses("whole.toml") else { return };
    let count = cases::count(16, 0.32).clamp(5, 16);
    experiment.data = rows.iter().step_by(25).take(count).map(path).collect();
    experiment.half_samples = Some(4);
    let dataset = Dataset::load(&experiment).unwrap();
    assert_eq!(dataset.trajectories.len(), count);
    let found = concluded(&experiment, &dataset, 2);
    is_of_one_function(&experiment, &dataset, &found);
    assert_eq!(found.profiles.len(), 3);
    assert_ne!(found.fit.status, FitStatus::IterationLimit);
}

/// A profile that jumps beside the result and goes on level has a jump; a parabola, however steep, has none, nor one
/// that jumps to one side only, nor a section.
#[test]
fn a_jump_beside_the_result_is_told_from_a_parabola() {
    let (experiment, dataset) = rippled();
    let mut profile = concluded(&experiment, &dataset, 2).profiles.swap_remove(0);
    profile.others = Others::Fitted;
    profile.values = (-3..=3).map(f64::from).collect();
    let mut jump = |loss: [f64; 7], others| {
        profile.loss = loss.map(|rise| 0.2 * (1.0 + rise)).to_vec();
        profile.others = others;
        profile.jump(0.0)
    };
    let needle = [0.12, 0.11, 0.10, 0.0, 0.08, 0.09, 0.07];
    let found = jump(needle, Others::Fitted).unwrap();
    assert!((found - 0.08).abs() < 1e-12, "{found}");
    assert_eq!(jump(needle, Others::Held), None);
    for steep in [1e-3, 1e-2, 1.0] {
        let parabola = [9.0, 4.0, 1.0, 0.0, 1.0, 4.0, 9.0].map(|rise| steep * rise);
        assert_eq!(jump(parabola, Others::Fitted), None, "{steep}");
    }
    assert_eq!(jump([9.0, 4.0, 1.0, 0.0, 0.08, 0.09, 0.07], Others::Fitted), None);
}
