//! Recordings that are held out of a fit, to see how it does on others.
use super::Dataset;
use crate::identify::statistics::uniform;

/// Takes a share of the recordings out of a dataset, chosen by `seed`: the others, and those taken out. Of two or
/// more recordings at least one stays and one is taken out.
pub fn hold_out(dataset: Dataset, share: f64, mut seed: u64) -> (Dataset, Dataset) {
    let count = dataset.trajectories.len();
    let wanted = (share.clamp(0.0, 1.0) * count as f64).round() as usize;
    let wanted = if count < 2 { 0 } else { wanted.clamp(1, count - 1) };
    // The recordings with the least of as many random numbers.
    let mut order: Vec<(f64, usize)> = (0..count).map(|k| (uniform(&mut seed), k)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut out = vec![false; count];
    order[..wanted].iter().for_each(|&(_, k)| out[k] = true);

    let mut dataset = dataset;
    let trajectories = std::mem::take(&mut dataset.trajectories);
    let windows = std::mem::take(&mut dataset.windows);
    let readings = std::mem::take(&mut dataset.readings);
    let masks = std::mem::take(&mut dataset.masks);
    let inputs = std::mem::take(&mut dataset.inputs);
    let empty = dataset;
    let mut parts = [empty.clone(), empty];
    for (part, kept) in parts.iter_mut().zip([false, true]) {
        part.shares = part.shares.of(|k| out[k] == kept);
    }
    let mut place = Vec::with_capacity(count);
    for (trajectory, &out) in trajectories.into_iter().zip(&out) {
        let part = &mut parts[usize::from(out)];
        place.push(part.trajectories.len());
        part.trajectories.push(trajectory);
    }
    // Nothing where there are no sensors.
    for (reading, &out) in readings.into_iter().zip(&out) {
        parts[usize::from(out)].readings.push(reading);
    }
    for (mask, &out) in masks.into_iter().zip(&out) {
        parts[usize::from(out)].masks.push(mask);
    }
    for (driven, &out) in inputs.into_iter().zip(&out) {
        parts[usize::from(out)].inputs.push(driven);
    }
    for mut window in windows {
        let part = &mut parts[usize::from(out[window.trajectory])];
        window.trajectory = place[window.trajectory];
        part.windows.push(window);
    }
    parts.into()
}
