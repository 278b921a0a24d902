//! Makes the slide data of this folder: a box sliding to rest on the floor, six times, with
//! measurement noise, computed by a simulator independent of the crate.
//!
//! `cargo run --release --example slides [FOLDER]` writes `slide_1.csv` to `slide_6.csv` into
//! FOLDER (default `examples/slides`).

mod recording;
mod simulator;
mod slides;

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Standard deviations of the noise per axis.
const POSITION_NOISE: f64 = 1e-3; // m
const ROTATION_NOISE: f64 = 0.2; // degrees

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).unwrap_or_else(|| "examples/slides".into());
    match write_slides(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write_slides(folder: &Path) -> Result<(), String> {
    let (model, slides) = slides::slides();
    for (number, slide) in (1..).zip(&slides) {
        let mut frames = simulator::simulate(
            &model,
            slide,
            slides::FRAME_TIME,
            slide.frames - 1,
            simulator::COMPLIANCE,
        )
        .map_err(|e| format!("slide {number}: {e}"))?;
        let distance = frames.last().map_or(0.0, |f| f.p[0].hypot(f.p[1]));
        recording::add_noise(&mut frames, POSITION_NOISE, ROTATION_NOISE.to_radians(), number);
        let path = folder.join(format!("slide_{number}.csv"));
        std::fs::write(&path, to_csv(&frames))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        println!(
            "wrote {} ({} frames, true stopping distance {distance:.4} m)",
            path.display(),
            frames.len()
        );
    }
    Ok(())
}

/// Frames as CSV text with a header line.
fn to_csv(frames: &[simulator::Frame]) -> String {
    let mut text = String::from("t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n");
    for f in frames {
        let list = |values: &[f64], decimals: usize| -> String {
            values.iter().map(|x| format!(",{x:.decimals$}")).collect()
        };
        let (p, q, v, w) = (list(&f.p, 7), list(&f.q, 9), list(&f.v, 7), list(&f.w, 7));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:.9}{p}{q}{v}{w}", f.t);
    }
    text
}
