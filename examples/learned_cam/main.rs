//! Makes the recordings of this folder: a rod on a hinge with a hidden cam, which a spring presses on, let go again and again
//! until it rests at its stop. The simulator is independent of the crate; the recordings are what an encoder reads.
//!
//! `cargo run --release --example learned_cam [FOLDER]` writes `rod_01.csv` to `rod_12.csv` into FOLDER (default
//! `examples/learned_cam`), and `held_1.csv` to `held_6.csv` for the judgement.

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
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "examples/learned_cam".into());
    match write(Path::new(&folder)) {
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
