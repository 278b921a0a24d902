//! Gradients of computations in steps: the schedule is the best there is, and neither it nor the memory
//! it is given changes a bit.

use std::cell::RefCell;

use approx::assert_relative_eq;
use stiction::ad::{
    Accumulation, Checkpointing, Error, Real, Steps, StepsGradient, gradient, least_advances,
};

/// Three numbers that turn into each other, driven by the parameters; `memory` counts the steps.
struct Mixer {
    /// The steps taken on numbers without derivatives.
    taken: RefCell<Vec<usize>>,
}

fn mixer() -> Mixer {
    Mixer { taken: RefCell::new(Vec::new()) }
}

impl Steps for Mixer {
    type Memory = usize;
    type Workspace<T: Real> = ();

    fn start<T: Real>(&self, p: &[T], state: &mut Vec<T>) {
        state.extend([p[0] * p[1], T::constant(0.3), p[2].sin()]);
    }

    fn step<T: Real>(&self, k: usize, p: &[T], x: &mut [T], memory: &mut usize, (): &mut ()) {
        // A wrong memory makes another step.
        assert_eq!(*memory, k);
        *memory += 1;
        if T::ORDER == 0 {
            self.taken.borrow_mut().push(k);
        }
        let h = 0.01 * (1.0 + (k % 3) as f64);
        let [a, b, c] = [x[0], x[1], x[2]];
        x[0] += (b * p[1] - c * a.sin()) * h;
        x[1] += (p[0] * c - a * b) * h;
        x[2] += (p[2] - c * c * p[3]) * h;
    }

    fn loss<T: Real>(&self, k: usize, p: &[T], x: &[T], (): &mut ()) -> T {
        (x[0] - p[3]).powi(2) * (1.0 / (1.0 + k as f64)) + x[1] * x[2]
    }
}

const P: [f64; 4] = [0.7, 1.3, -0.4, 0.9];

fn run(count: usize, checkpointing: Checkpointing) -> StepsGradient {
    checkpointing.gradient(&mixer(), count, &P).unwrap()
}

fn bits(x: &StepsGradient) -> Vec<u64> {
    x.gradient.iter().chain([&x.value]).map(|x| x.to_bits()).collect()
}

/// The budget of exactly so many checkpoints, and what came of it.
fn with_checkpoints(count: usize, checkpoints: usize, accumulation: Accumulation) -> StepsGradient {
    let need = match (Checkpointing { budget: Some(0), accumulation }).gradient(&mixer(), count, &P)
    {
        Err(Error::Budget { needed }) => needed,
        other => panic!("no memory is too little: {other:?}"),
    };
    // Three numbers, the memory, the place.
    let budget = Some(need + (checkpoints - 1) * 5 * 8);
    run(count, Checkpointing { budget, accumulation })
}

#[test]
fn the_least_number_of_advances_is_that_of_dynamic_programming() {
    const STEPS: usize = 60;
    const CHECKPOINTS: usize = 8;
    // t(l, c) = min over m of m + t(l - m, c - 1) + t(m, c)
    let mut t = vec![vec![0; CHECKPOINTS + 1]; STEPS + 1];
    for (l, row) in t.iter_mut().enumerate().skip(2) {
        row[1] = l * (l - 1) / 2;
    }
    for c in 2..=CHECKPOINTS {
        for l in 2..=STEPS {
            t[l][c] = (1..l).map(|m| m + t[l - m][c - 1] + t[m][c]).min().unwrap();
        }
    }
    for c in 1..=CHECKPOINTS {
        for (l, row) in t.iter().enumerate() {
            assert_eq!(least_advances(l, c), Some(row[c]), "{l} steps, {c} checkpoints");
        }
    }
    assert_eq!(least_advances(7, 0), None);
    assert_eq!(least_advances(1, 0), Some(0));
    assert_eq!(least_advances(usize::MAX, 1), Some(usize::MAX / 2));
}

#[test]
fn the_schedule_reaches_it() {
    for count in [1, 2, 3, 5, 9, 10, 11, 34, 35, 36, 120] {
        for checkpoints in [1, 2, 3, 4, 7, 34, 200] {
            let program = mixer();
            let found = with_checkpoints(count, checkpoints, Accumulation::Tape);
            assert_eq!(found.report.checkpoints, checkpoints.min(count));
            let least = least_advances(count, checkpoints).unwrap();
            assert_eq!(found.report.advances, least, "{count} steps, {checkpoints} checkpoints");
            // What the report says was counted by the program too.
            let budget = Some(found.report.bytes);
            let again = Checkpointing { budget, accumulation: Accumulation::Tape };
            again.gradient(&program, count, &P).unwrap();
            // One more is taken to see what a step remembers.
            assert_eq!(program.taken.borrow().len(), least + 1);
        }
    }
}

#[test]
fn neither_checkpoints_nor_the_whole_tape_change_a_bit() {
    let count = 50;
    let all = run(count, Checkpointing { budget: None, accumulation: Accumulation::Tape });
    for checkpoints in [1, 2, 3, 5, 49, 50] {
        let few = with_checkpoints(count, checkpoints, Accumulation::Tape);
        assert_eq!(bits(&few), bits(&all), "{checkpoints}");
    }
    let lanes = run(count, Checkpointing { budget: None, accumulation: Accumulation::Lanes });
    for checkpoints in [1, 3, 50] {
        let few = with_checkpoints(count, checkpoints, Accumulation::Lanes);
        assert_eq!(bits(&few), bits(&lanes), "{checkpoints}");
    }
    // One recording of everything.
    let program = mixer();
    let (value, slopes) = gradient(
        |p| {
            let (mut x, mut memory) = (Vec::new(), 0);
            program.start(p, &mut x);
            let mut sum = stiction::ad::Var::constant(0.0);
            for k in 0..count {
                sum += program.loss(k, p, &x, &mut ());
                program.step(k, p, &mut x, &mut memory, &mut ());
            }
            sum + program.loss(count, p, &x, &mut ())
        },
        &P,
    )
    .unwrap();
    assert_relative_eq!(all.value, value, max_relative = 1e-15);
    for (k, &slope) in slopes.iter().enumerate() {
        assert_relative_eq!(all.gradient[k], slope, max_relative = 1e-13);
        assert_relative_eq!(lanes.gradient[k], slope, max_relative = 1e-13);
    }
}

#[test]
fn a_few_steps_or_none() {
    for accumulation in [Accumulation::Tape, Accumulation::Lanes, Accumulation::Auto] {
        for count in [0, 1, 2] {
            let found = run(count, Checkpointing { budget: None, accumulation });
            let h = 1e-6;
            for k in 0..P.len() {
                let at = |dx: f64| {
                    let mut p = P;
                    p[k] += dx;
                    Checkpointing::default().gradient(&mixer(), count, &p).unwrap().value
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert_relative_eq!(found.gradient[k], slope, epsilon = 1e-8);
            }
        }
    }
}

#[test]
fn the_automatic_choice_is_by_the_inputs_of_a_step() {
    assert_eq!(run(3, Checkpointing::default()).report.accumulation, Accumulation::Lanes);
    let many: Vec<f64> = P.iter().copied().chain([0.0; 40]).collect();
    let found = Checkpointing::default().gradient(&mixer(), 3, &many).unwrap();
    assert_eq!(found.report.accumulation, Accumulation::Tape);
    let lanes = Checkpointing { budget: None, accumulation: Accumulation::Lanes };
    let lanes = lanes.gradient(&mixer(), 3, &many).unwrap();
    for (a, b) in found.gradient.iter().zip(&lanes.gradient) {
        assert_relative_eq!(a, b, epsilon = 1e-14);
    }
}

#[test]
fn a_few_steps_under_a_budget() {
    for accumulation in [Accumulation::Tape, Accumulation::Lanes] {
        for count in [0, 1, 2] {
            let all = run(count, Checkpointing { budget: None, accumulation });
            let few = run(count, Checkpointing { budget: Some(1 << 20), accumulation });
            assert_eq!(bits(&few), bits(&all), "{count}");
        }
    }
}

/// Remembers the states it has seen, on the heap: the next step is damped by their mean.
struct Haunted;

impl Steps for Haunted {
    type Memory = Vec<f64>;
    type Workspace<T: Real> = ();

    fn start<T: Real>(&self, p: &[T], x: &mut Vec<T>) {
        x.push(p[0]);
    }

    fn step<T: Real>(&self, k: usize, p: &[T], x: &mut [T], seen: &mut Vec<f64>, (): &mut ()) {
        seen.resize(1000, 0.0);
        let mean = seen.iter().sum::<f64>() / 1000.0;
        x[0] = x[0] * 0.999 + (p[1] - x[0]).sin() * (0.01 / (1.0 + mean * mean));
        seen[k % 1000] = x[0].value();
    }

    fn loss<T: Real>(&self, _: usize, _: &[T], x: &[T], (): &mut ()) -> T {
        x[0] * x[0]
    }

    fn memory_bytes(&self, seen: &Vec<f64>) -> usize {
        size_of::<Vec<f64>>() + 8 * seen.capacity()
    }
}

#[test]
fn what_a_step_remembers_is_part_of_a_checkpoint_and_counts() {
    let p = [0.3, 0.9];
    for accumulation in [Accumulation::Tape, Accumulation::Lanes] {
        let all = Checkpointing { budget: None, accumulation }.gradient(&Haunted, 200, &p).unwrap();
        let budget = 150_000;
        let of = Checkpointing { budget: Some(budget), accumulation };
        let mut few = None;
        let info = allocation_counter::measure(|| few = Some(of.gradient(&Haunted, 200, &p)));
        let few = few.unwrap().unwrap();
        assert_eq!(bits(&few), bits(&all));
        assert!(few.report.checkpoints < 20, "{:?}", few.report);
        // Beside checkpoints, the states at hand remember as well.
        assert!(info.bytes_max <= budget as u64 + 4 * 8100, "{info:?}");
    }
}
