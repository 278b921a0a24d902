//! Masks and colours that Mitsuba made of the same bodies.

use stiction::Scene;
use stiction::render::{ColourPicture, Picture, to_linear, to_screen};

use super::colours::colours_before_black;
use super::{mask, seen};
use crate::shared::shared;

/// How far a mask is from a file, root of the mean square.
fn away(found: &[f64], file: &std::path::Path) -> f64 {
    let picture = Picture::load_mask(file).unwrap();
    assert_eq!(picture.values.len(), found.len());
    let squares = found.iter().zip(&picture.values);
    let sum: f64 = squares.map(|(a, &b)| (a - f64::from(b) / 65535.0).powi(2)).sum();
    (sum / found.len() as f64).sqrt()
}

fn numbers(line: &str) -> Vec<f64> {
    line.split(',').map(|x| x.parse().unwrap()).collect()
}

fn pose(numbers: &[f64]) -> String {
    format!(
        "position = {:?}\n{}",
        &numbers[1..4],
        super::turned([numbers[4], numbers[5], numbers[6], numbers[7]])
    )
}

#[test]
fn tossed_cubes() {
    let Some(folder) = shared("reference/gradsim/tosses") else { return };
    let Some(data) = shared("data/cube_tosses/train") else { return };
    let camera = "eye = [0, -1, 0.75]\ntarget = [0, 0, 0.06]\nfov_y_deg = 36\nsize = [256, 256]";
    let mut count = 0;
    for toss in ["099", "139", "241", "363", "409", "490"] {
        let rows = std::fs::read_to_string(data.join(format!("toss_{toss}.csv"))).unwrap();
        let rows: Vec<Vec<f64>> = rows.lines().skip(1).map(numbers).collect();
        for frame in (0..50).step_by(7) {
            let file = folder.join(format!("toss_{toss}/mask_{frame:02}.png"));
            let cube = format!(
                "[[body]]\nname = 'cube'\nmass = 1\n{}\nshape = {{ box = [0.0524, 0.0524, 0.0524] }}",
                pose(&rows[2 * frame])
            );
            let off = away(&mask(&seen(camera, &cube)), &file);
            // 144 samples a pixel.
            assert!(off < 5e-4, "{}: {off:e}", file.display());
            count += 1;
        }
    }
    assert_eq!(count, 48);
}

#[test]
fn pushed_meshes() {
    let Some(folder) = shared("reference/gradsim") else { return };
    let camera =
        "eye = [0, -6.928203230275509, 4]\ntarget = [0, 0, 0]\nfov_y_deg = 60\nsize = [256, 256]";
    for shape in ["box", "cone", "torus", "star", "apple", "banana"] {
        let rows =
            std::fs::read_to_string(folder.join(format!("push/{shape}/truth_motion.csv"))).unwrap();
        let rows: Vec<Vec<f64>> = rows.lines().skip(1).map(numbers).collect();
        for frame in [0, 11, 23] {
            let text = format!(
                "[simulation]\ntime_step = 0.01\n[[camera]]\nname = 'front'\n{camera}\n\
                 [[body]]\nname = 'a'\nmass = 1\n{}\nshape = {{ mesh = '{shape}.obj', max_hull_vertices = 0 }}",
                pose(&rows[frame])
            );
            let scene =
                Scene::parse(&text, folder.join("shapes/scene.toml").to_str().unwrap()).unwrap();
            let file = folder.join(format!("push/{shape}/mask_{frame:02}.png"));
            let off = away(&mask(&scene), &file);
            // 64 samples a pixel.
            assert!(off < 9e-4, "{}: {off:e}", file.display());
        }
    }
}

/// Convex ones: nothing shades itself there. White light from all around, and from one direction.
#[test]
fn colours_of_pushed_meshes() {
    let Some(folder) = shared("reference/gradsim") else { return };
    let camera =
        "eye = [0, -6.928203230275509, 4]\ntarget = [0, 0, 0]\nfov_y_deg = 60\nsize = [256, 256]";
    for (shape, colour) in [("box", [0.9, 0.15, 0.1]), ("cone", [0.1, 0.5, 0.9])] {
        let rows =
            std::fs::read_to_string(folder.join(format!("push/{shape}/truth_motion.csv"))).unwrap();
        let rows: Vec<Vec<f64>> = rows.lines().skip(1).map(numbers).collect();
        let colour: [f64; 3] = colour.map(to_screen);
        for frame in [0, 11, 23] {
            let text = format!(
                "[simulation]\ntime_step = 0.01\n[[camera]]\nname = 'front'\n{camera}\n\
                 [light]\ndirection = [0.4, 0.8, -1]\ndirect = {}\nambient = 0.5\ncolor = '#000000'\n\
                 [[body]]\nname = 'a'\nmass = 1\n{}\n\
                 shape = {{ mesh = '{shape}.obj', max_hull_vertices = 0, color = {colour:?} }}",
                1.6 / std::f64::consts::PI,
                pose(&rows[frame])
            );
            let scene =
                Scene::parse(&text, folder.join("shapes/scene.toml").to_str().unwrap()).unwrap();
            let file = folder.join(format!("push/{shape}/colour_{frame:02}.png"));
            let recorded = ColourPicture::load(&file).unwrap();
            let found = colours_before_black(&scene);
            let pairs = found.iter().flatten().zip(recorded.values.iter().flatten());
            let square =
                |(a, &b): (&f64, &u8)| (a.min(1.0) - to_linear(f64::from(b) / 255.0)).powi(2);
            let sum: f64 = pairs.map(square).sum();
            let off = (sum / (3 * recorded.values.len()) as f64).sqrt();
            // 64 samples a pixel, and the rounding of 8 bits, 5e-4 where it is bright and white.
            assert!(off < 1e-3, "{}: {off:e}", file.display());
        }
    }
}
