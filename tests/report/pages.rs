//! What the pages are made of.

use serde_json::Value;
use stiction::identify::{Dataset, Fit};
use stiction::trajectory::Trajectory;
use stiction::view::{FitReport, Playback, RecordingError};

use super::{HOSTILE, builtin, full, identified};

/// The parts of a page before, in and after the script with its data.
pub fn parts(page: &str) -> (&str, &str, &str) {
    let (before, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    (before, data, after)
}

/// The page without the text of its scripts and styles.
fn skeleton(page: &str) -> String {
    let mut bare = String::new();
    let mut rest = page;
    for end in ["</style>", "</script>", "</script>", "</script>", "</script>"] {
        let Some(at) = rest.find(end) else { break };
        let start =
            rest[..at].rfind(if end == "</style>" { "<style>" } else { "<script" }).unwrap();
        let opened = start + rest[start..].find('>').unwrap() + 1;
        bare.push_str(&rest[..opened]);
        rest = &rest[at..];
        let (tag, after) = rest.split_at(end.len());
        bare.push_str(tag);
        rest = after;
    }
    bare + rest
}

#[track_caller]
fn is_self_contained(page: &str, scripts: usize) -> Value {
    let text = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
    let bare = skeleton(text);
    let document = roxmltree::Document::parse(&bare).unwrap_or_else(|e| panic!("{e}\n{bare}"));
    let count = |tag: &str| document.descendants().filter(|n| n.has_tag_name(tag)).count();
    assert_eq!((count("script"), count("style"), count("img")), (1 + scripts, 1, 0));
    // Nothing comes from elsewhere, by the words of the page and by its policy.
    let loads = ["src", "href", "action", "data"];
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        assert!(!loads.contains(&attribute.name()) || attribute.value() == "data:,");
    }
    // The one address is the name of a format.
    let addresses = text.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http:") && !addresses.contains("https:"));
    assert!(!addresses.contains("@import") && !addresses.contains("url("));
    assert!(text.contains("Content-Security-Policy\" content=\"default-src 'none';"));
    let (_, data, _) = parts(page);
    assert!(!data.contains(['<', '>', '&', '\u{2028}']));
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_report_is_one_file_that_loads_nothing() {
    let report = builtin();
    let data = is_self_contained(&report.html().unwrap(), 3);
    assert_eq!(data["experiment"], "built-in slides");
    assert_eq!(data["recordings"].as_array().unwrap().len(), 6);
    assert_eq!(data["parameters"][0]["truth"], 0.3);
    let value = data["parameters"][0]["value"].as_f64().unwrap();
    let interval = &data["parameters"][0]["interval"];
    assert!(interval[0].as_f64().unwrap() < value && value < interval[1].as_f64().unwrap());
    // The worst two, the median and the best two of six, and the one that is left.
    let clips = data["playback"]["clips"].as_array().unwrap();
    let shown = |rank: &str| {
        clips.iter().filter(|clip| clip["name"].as_str().unwrap().contains(rank)).count()
    };
    assert_eq!((clips.len(), shown("worst"), shown("best")), (6, 3, 2));
    let error = |row: &RecordingError| row.position_percent.unwrap();
    let worst = report.recordings.iter().max_by(|a, b| error(a).total_cmp(&error(b)));
    assert_eq!(worst.unwrap().clip, Some(0));
    let marked: Vec<usize> = report.recordings.iter().filter_map(|row| row.clip).collect();
    assert_eq!(marked.len(), 6);
    assert_eq!(report.signals.len(), 6);
    let converged = report.convergence.as_ref().unwrap();
    assert_eq!(converged.values.last().unwrap()[0], report.parameters[0].value);
    assert_eq!(converged.loss.len(), report.iterations);
    // 1 mm of noise along each axis is 1.6 mm of distance in the mean.
    let over_time = report.errors_over_time.as_ref().unwrap();
    let position = over_time.position.as_ref().unwrap();
    let mean = position.median.iter().sum::<f64>() / position.median.len() as f64;
    assert!((0.001..0.003).contains(&mean), "{mean}");
    for (low, high) in position.low.iter().zip(&position.high) {
        assert!(low <= high);
    }
    assert_eq!(over_time.times.len(), over_time.count.len());
    assert!(over_time.times[1] > 0.0 && over_time.count[0] == 6);
}

/// Of hundreds of recordings all can be chosen, the worst with all their frames and the others with as many as a page bears; a page
/// that would be of more than 400 says which it holds.
#[test]
fn hundreds_of_recordings_can_be_chosen() {
    let (experiment, few, result) = identified();
    for (copies, held) in [(60, 360), (70, 400)] {
        let all = (0..copies).flat_map(|copy| {
            few.trajectories
                .iter()
                .map(move |one| Trajectory { name: format!("{} {copy}", one.name), ..one.clone() })
        });
        let dataset = Dataset::new(experiment, all.collect()).unwrap();
        let windows = dataset.windows.len() / few.windows.len();
        let mut fit = result.clone();
        fit.initial_states = (0..windows).flat_map(|_| result.initial_states.clone()).collect();
        let report = FitReport::new(experiment, &dataset, &fit, 2);
        let clips = &report.playback.as_ref().unwrap().clips;
        assert_eq!((clips.len(), report.signals.len()), (held, held));
        let frames = |place: usize| {
            let row = report.recordings.iter().position(|row| row.clip == Some(place));
            dataset.trajectories[row.unwrap()].times.len()
        };
        let tracks = |place: usize| [0, 1].map(|k| clips[place].tracks[k].times.len());
        assert!((0..40).all(|place| tracks(place) == [frames(place); 2]));
        // Of each of the others every so many-th.
        let thinned = |each: usize| {
            (40..held).all(|place| tracks(place) == [frames(place).div_ceil(each); 2])
        };
        let each = (3..10).find(|&each| thinned(each));
        assert!(each.is_some(), "{} of {}", tracks(40)[0], frames(40));
        assert!(clips[40].name.ends_with(&format!("(next worst, every {}. frame)", each.unwrap())));
        assert!(clips[39].name.ends_with("(next worst)"));
        let points = |clip: usize| report.signals[clip].times.len();
        assert!(points(39) > 70 && (8..=15).contains(&points(40)), "{} {}", points(39), points(40));
        // The rank of each is its place in the order of errors; all rows of the table play one.
        let rows = report.recordings.iter().filter(|row| row.clip.is_some()).count();
        assert_eq!(rows, held);
        let error = |clip: usize| {
            let row = report.recordings.iter().find(|row| row.clip == Some(clip));
            row.unwrap().position_percent.unwrap()
        };
        assert!((6..held).all(|clip| error(clip) <= error(clip - 1)));
        let size = report.html().unwrap().len();
        assert!(size < 6_000_000, "{size}");
    }
}

#[test]
fn names_are_text_and_nothing_else() {
    let report = full();
    let page = report.html().unwrap();
    let data = is_self_contained(&page, 3);
    assert_eq!(data["experiment"], HOSTILE);
    assert_eq!(data["recordings"][6]["name"], HOSTILE);
    // What JSON cannot say is not there.
    assert!(data["recordings"][6]["position_percent"].is_null());
    assert!(data["parameters"][1]["upper"].is_null());
    let (before, _, after) = parts(&page);
    assert!(!before.contains("<script>") && !before.contains("<img"), "{before}");
    assert!(before.contains("<title>script&gt;&lt;img src=x onerror=&quot;alert"), "{before}");
    assert!(!after.contains("alert"), "{after}");

    let page = Playback::default().html(HOSTILE).unwrap();
    let data = is_self_contained(&page, 2);
    assert_eq!(data["title"], HOSTILE);
}

#[test]
fn outliers_are_those_far_beyond_the_others() {
    let (experiment, dataset, result) = identified();
    let mut dataset = dataset.clone();
    let outliers = |dataset: &Dataset| {
        let report = FitReport::new(experiment, dataset, result, 2);
        let rows = report.recordings.iter().enumerate();
        rows.filter(|(_, row)| row.outlier).map(|(k, _)| k).collect::<Vec<_>>()
    };
    assert_eq!(outliers(&dataset), [0_usize; 0]);
    // One drifts away.
    for (frame, state) in dataset.trajectories[2].states.iter_mut().enumerate() {
        state.q[0] += 1e-4 * frame as f64;
    }
    assert_eq!(outliers(&dataset), [2]);
    // One is lost.
    let mut lost = result.clone();
    lost.initial_states[4].v[0] = f64::NAN;
    let report = FitReport::new(experiment, &dataset, &lost, 2);
    assert!(report.recordings[4].outlier && report.recordings[4].clip == Some(0));
    let tracks = &report.playback.as_ref().unwrap().clips[0].tracks;
    assert_eq!((tracks[0].times.len(), tracks[1].times.len()), (0, 164));
    report.html().unwrap();
}

#[test]
fn what_is_not_known_is_left_out() {
    let data = is_self_contained(&FitReport::default().html().unwrap(), 3);
    for section in ["convergence", "errors_over_time", "correlations", "playback"] {
        assert!(data[section].is_null(), "{section}");
    }
}

#[test]
fn what_was_found_is_told_in_sentences() {
    let (experiment, dataset, fit) = super::identified();
    let told = |fit: &Fit| FitReport::new(experiment, dataset, fit, 1).result;
    let sentences = told(fit);
    let [found, explains] = &sentences[..] else { panic!("{sentences:?}") };
    let mu = &fit.parameters[0];
    let [low, high] = mu.interval.unwrap();
    // As many digits as say something of an interval this wide.
    assert!((1e-3..1e-2).contains(&(high - low)));
    let expected = format!("floor-box/mu is {:.5} ({low:.5} to {high:.5})", mu.value);
    assert_eq!(*found, format!("{expected}; in brackets, 95 % intervals."));
    let misfit = fit.loss.sqrt();
    assert!(explains.contains(&format!("{misfit:.2} times the stated noise: the model explains")));
    let mut worse = fit.clone();
    worse.loss = 49.0;
    assert!(told(&worse)[1].contains("7.0 times the stated noise: the noise is stated too low"));
    // Without intervals values alone, and of many parameters how many.
    worse.parameters[0].interval = None;
    assert_eq!(told(&worse)[0], format!("floor-box/mu is {:.5}.", mu.value));
    worse.parameters = vec![worse.parameters[0].clone(); 5];
    assert_eq!(told(&worse)[0], "5 numbers of the scene are found.");
}
