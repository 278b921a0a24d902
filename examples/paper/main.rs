//! The paper's experiments.
mod collision;
mod fig4;
mod fig6;
#[path = "../slides/recording.rs"]
mod recording;
#[path = "../slides/simulator.rs"]
mod simulator;
mod study;

fn main() {
    let which = std::env::args().nth(1).unwrap();
    let n = std::env::args().nth(2).map_or(20, |n| n.parse().unwrap());
    let (u, data) = match which.as_str() {
        "4a" => (vec![fig4::FRICTION], fig4::friction()),
        "4b" => (vec![fig4::WEIGHT], fig4::mass()),
        "6" => (fig6::UNKNOWNS.to_vec(), fig6::collisions()),
        "7" => (fig6::UNKNOWNS.to_vec(), fig6::misses()),
        _ => return,
    };
    let t = std::time::Instant::now();
    let (e, d) = data.unwrap();
    println!("{:?}", t.elapsed());
    let runs = study::study(&e, &d, &study::starts(&u, n)).unwrap();
    for r in &runs {
        println!(
            "{:.3?} -> {:?} {} {} {:.4} {:?}",
            r.start,
            r.estimate(),
            r.status,
            r.iterations,
            r.loss,
            r.warnings
        );
    }
    for (k, u) in u.iter().enumerate() {
        println!("{} {:?} {:?}", u.name, study::spread(&runs, k, u.truth), t.elapsed());
    }
}
