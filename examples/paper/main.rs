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
        "check" => { check(); return }
        _ => return,
    };
    let t = std::time::Instant::now();
    let (e, d) = data.unwrap();
    println!("{:?}", t.elapsed());
    let mut d = d;
    if let Ok(k) = std::env::var("KEEP") { let mut t = d.trajectories.clone(); t.truncate(k.parse().unwrap()); d = stiction::identify::Dataset::new(&e, t).unwrap(); }
    let starts = match std::env::var("START") { Ok(s) => s.split(';').map(|s| s.split(',').map(|x| x.parse().unwrap()).collect()).collect(), Err(_) => study::starts(&u, n) };
    let runs = study::study(&e, &d, &starts).unwrap();
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

fn check() {
    use stiction::simulation::Rollout;
    use stiction::model::System;
    use stiction::ad::Dual;
    let (e, d) = fig6::collisions().unwrap();
    let mut settings = d.settings;
    settings.split_impacts = std::env::args().nth(2).is_none();
    let system = System { model: &e.scene.model, parameters: &e.scene.parameters, settings: &settings };
    let p = e.scene.parameters.cast::<Dual<f64, 1>>();
    let dsystem = System { model: &e.scene.model, parameters: &p, settings: &settings };
    for k in 0..12 {
        let mut s = e.scene.state.clone();
        s.q[2] = 0.03; s.q[9] = 0.03; s.q[0] = 0.7 + 2e-4 * k as f64; s.v[0] = 1.5; s.q[3] = 1.0; s.q[10] = 1.0;
        let mut r = Rollout::new(system, s.clone());
        let mut line = String::new();
        r.advance(400, &[0.0; 12]);
        line += &format!("{:.6} {:.6} {:.5} {:.5} unsolved {} ", r.state.q[0], r.state.q[7], r.state.v[0], r.state.v[6], r.report.unsolved);
        let mut ds = s.cast::<Dual<f64, 1>>();
        ds.q[0] = ds.q[0] + Dual::<f64, 1>::variable(0.0, 0);
        let mut r = Rollout::new(dsystem, ds);
        r.advance(400, &vec![Dual::<f64, 1>::from(0.0); 12]);
        line += &format!("{:?} {:?}", r.state.q[0], r.state.q[7]);
        println!("{line}");
    }
}
