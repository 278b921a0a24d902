//! Makes the recordings of this folder: a rod on a hinge with a hidden cam, which a spring presses on, let go again and again
//! until it rests at its stop. The simulator is independent of the crate; the recordings are what an encoder reads.
//!
//! `cargo run --release --example learned_cam [FOLDER]` writes `rod_01.csv` to `rod_12.csv` into FOLDER (default
//! `examples/learned_cam`), and `held_1.csv` to `held_6.csv` for the judgement. `-- judge fit/result.json` says how far the torque of a
//! fit is from the true one, where these recordings have been.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// The rod: mass, kg; distance of its centre from the hinge, m; moment of inertia about the hinge, kg m².
const MASS: f64 = 0.4;
const CENTER: f64 = 0.15;
const INERTIA: f64 = 0.012;
/// Viscous friction of the hinge, N m s/rad.
const DAMPING: f64 = 0.01;
const GRAVITY: f64 = 9.81;
/// The stops, rad: nothing rebounds from them.
const STOPS: [f64; 2] = [-2.5, 1.5];
/// The lobes of the cam: energy, J; place and width, rad.
const LOBES: [[f64; 3]; 2] = [[0.08, 0.6, 0.3], [-0.05, -0.7, 0.4]];
/// Step of the integration, between frames, s, and how many frames follow the first.
const STEP: f64 = 1e-5;
const FRAME: f64 = 0.005;
const FRAMES: usize = 300;
/// Standard deviation of the noise, rad.
const NOISE: f64 = 1e-3;

fn main() -> ExitCode {
    const FOLDER: &str = "examples/learned_cam";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => write(Path::new(FOLDER)),
        ["judge", result] => judge(Path::new(result), Path::new(FOLDER)),
        [folder] => write(Path::new(folder)),
        _ => Err("give a folder to write into, or: judge fit/result.json".to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> Result<(), String> {
    let mut random = 20_260_811_u64;
    for number in 0..18 {
        let start = [-2.3 + 3.5 * uniform(&mut random), 6.0 * uniform(&mut random) - 3.0];
        let name = match number {
            0..12 => format!("rod_{:02}.csv", number + 1),
            _ => format!("held_{}.csv", number - 11),
        };
        let path = folder.join(name);
        let mut text = String::from("t,rod/q\n");
        for (k, angle) in simulate(start).into_iter().enumerate() {
            let noise = NOISE * normal(&mut random);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:.3},{:.5}", k as f64 * FRAME, angle + noise);
        }
        std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!("wrote {} (from {:.3} rad, {:.3} rad/s)", path.display(), start[0], start[1]);
    }
    Ok(())
}

/// Prints how far the torque in a result is from the true one, over all recorded angles short of the stops.
fn judge(result: &Path, folder: &Path) -> Result<(), String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
    };
    let result: serde_json::Value =
        serde_json::from_str(&read(result)?).map_err(|e| format!("{}: {e}", result.display()))?;
    let list = |pointer: &str| -> Vec<f64> {
        let numbers = result.pointer(pointer).and_then(|found| found.as_array());
        numbers.into_iter().flatten().filter_map(|x| x.as_f64()).collect()
    };
    let angles = list("/learned/0/axes/0");
    let (values, band) = (list("/learned/0/values/0"), list("/learned/0/half_widths/0"));
    if angles.len() < 2 || values.len() != angles.len() {
        return Err("has no learned torque: give the result.json of `stiction identify -o`".into());
    }
    let between = |values: &[f64], q: f64| {
        let next = angles.partition_point(|&x| x < q).clamp(1, angles.len() - 1);
        let share = (q - angles[next - 1]) / (angles[next] - angles[next - 1]);
        values[next - 1] + share * (values[next] - values[next - 1])
    };
    let (mut wrong, mut whole, mut inside, mut count) = (0.0, 0.0, 0, 0);
    for number in 1..=12 {
        let text = read(&folder.join(format!("rod_{number:02}.csv")))?;
        let recorded = text.lines().skip(1).filter_map(|line| line.split(',').nth(1));
        for q in recorded.filter_map(|field| field.parse::<f64>().ok()) {
            if !(STOPS[0] + 0.01..=STOPS[1] - 0.01).contains(&q) {
                continue;
            }
            let off = between(&values, q) - cam(q);
            wrong += off * off;
            whole += cam(q) * cam(q);
            inside += usize::from(band.len() == values.len() && off.abs() <= between(&band, q));
            count += 1;
        }
    }
    println!(
        "the torque is off by {:.2} % (root of the mean square over {count} recorded angles); {:.1} % of these have it \
         within its 95 % band",
        100.0 * (wrong / whole).sqrt(),
        100.0 * inside as f64 / count.max(1) as f64
    );
    Ok(())
}

/// The torque of the cam, N m: that of the energy of its lobes.
fn cam(q: f64) -> f64 {
    let lobe = |[energy, place, width]: [f64; 3]| {
        let x = (q - place) / width;
        2.0 * energy * x / width * (-x * x).exp()
    };
    LOBES.into_iter().map(lobe).sum()
}

fn acceleration([q, w]: [f64; 2]) -> f64 {
    (-MASS * GRAVITY * CENTER * q.sin() - DAMPING * w + cam(q)) / INERTIA
}

/// The angles at all frames from an angle and a rate, by the classical method of Runge and Kutta. What reaches a stop stays there
/// until something pulls it away.
fn simulate(start: [f64; 2]) -> Vec<f64> {
    let mut state = start;
    let mut angles = vec![state[0]];
    let substeps = (FRAME / STEP).round() as usize;
    for _ in 0..FRAMES {
        for _ in 0..substeps {
            let rate = |[q, w]: [f64; 2]| [w, acceleration([q, w])];
            let along = |[dq, dw]: [f64; 2], h: f64| [state[0] + h * dq, state[1] + h * dw];
            let k1 = rate(state);
            let k2 = rate(along(k1, 0.5 * STEP));
            let k3 = rate(along(k2, 0.5 * STEP));
            let k4 = rate(along(k3, STEP));
            for i in 0..2 {
                state[i] += STEP / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
            for (stop, beyond) in [(STOPS[0], -1.0), (STOPS[1], 1.0)] {
                if beyond * (state[0] - stop) >= 0.0 && beyond * state[1] > 0.0 {
                    state = [stop, 0.0];
                }
            }
        }
        angles.push(state[0]);
    }
    angles
}

/// A number between 0 and 1 (SplitMix64).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A normal number (Box and Muller).
fn normal(state: &mut u64) -> f64 {
    let [u, angle] = [uniform(state), uniform(state)];
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
