//! The cost of a task, and its gradient, over a grid of two variables.

use super::task::Task;
use crate::Error;
use crate::parallel::parallel;

/// The cost over two variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Landscape {
    /// The names of the two.
    pub names: [String; 2],
    /// Values of the first.
    pub first: Vec<f64>,
    /// Values of the second.
    pub second: Vec<f64>,
    /// The cost, row by row of the second; not a number where the simulation has none.
    pub cost: Vec<f64>,
    /// The derivatives in both; not numbers where there are none.
    pub gradient: Vec<[f64; 2]>,
}

/// Evaluates a task over `counts` values of each of two variables, `reach` to both sides of where they begin. The others stay
/// as they begin. The same on any number of threads.
///
/// # Errors
/// If the task has no such variables, or their values are no numbers.
pub fn landscape(
    task: &Task,
    names: [&str; 2],
    reach: [f64; 2],
    counts: [usize; 2],
    threads: usize,
) -> Result<Landscape, Error> {
    let all = task.variable_names();
    let place = |name: &str| {
        all.iter().position(|own| own == name).ok_or_else(|| {
            let message = format!("is no variable of the task; there are {}", all.join(", "));
            Error::input(&task.name, None, name, message)
        })
    };
    let places = [place(names[0])?, place(names[1])?];
    let start = task.start();
    let values = |k: usize| -> Vec<f64> {
        let (count, middle) = (counts[k].max(2), start[places[k]]);
        let part = |i: usize| 2.0 * i as f64 / (count - 1) as f64 - 1.0;
        (0..count).map(|i| middle + reach[k] * part(i)).collect()
    };
    let (first, second) = (values(0), values(1));
    if !first.iter().chain(&second).all(|x| x.is_finite()) {
        let message = "reaches beyond what numbers can be";
        return Err(Error::input(&task.name, None, "", message));
    }
    let of = |at: usize| {
        let mut x = start.clone();
        x[places[0]] = first[at % first.len()];
        x[places[1]] = second[at / first.len()];
        match task.gradient(&x) {
            Ok((cost, gradient)) => (cost, places.map(|place| gradient[place])),
            Err(_) => (task.evaluate(&x).cost, [f64::NAN; 2]),
        }
    };
    let found = parallel(threads, first.len() * second.len(), of);
    Ok(Landscape {
        names: names.map(str::to_string),
        cost: found.iter().map(|(cost, _)| *cost).collect(),
        gradient: found.iter().map(|(_, gradient)| *gradient).collect(),
        first,
        second,
    })
}
