//! The processes that `mpirun` or a job scheduler started together, and whether they are fit to work together.

use std::sync::Arc;
use std::time::Duration;

use super::output::be_silent;
use crate::Error;
use crate::identify::{Alone, Group, Peers};

/// What starters of processes say of each: its number and how many there are.
const STARTERS: [[&str; 2]; 3] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
    ["PMI_RANK", "PMI_SIZE"],
    ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS"],
];
/// Names of variables by which processes know that something started them begin with one of these. What users set for Open MPI
/// begins otherwise.
#[cfg(feature = "mpi")]
const STARTED: [&str; 9] =
    ["OMPI_COMM_WORLD_", "PMI_", "PMIX_", "PRTE_", "SLURM_", "MPI_", "HYDRA_", "JSM_", "ALPS_"];
/// How long a process that has nothing to say waits for the one that has: a starter ends all when one fails.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// The processes of this run. What `mpirun` started ends together when this is dropped.
pub(super) struct Processes {
    pub group: Arc<Group>,
    #[cfg(feature = "mpi")]
    _world: Option<crate::identify::World>,
}

/// The number of this process and how many were started, by whoever started it; nothing where it was started alone.
fn started() -> Option<(usize, usize)> {
    let number = |name: &str| std::env::var(name).ok()?.trim().parse().ok();
    let known =
        STARTERS.iter().filter_map(|[rank, size]| Some((number(rank).unwrap_or(0), number(size)?)));
    known.filter(|(_, count)| *count > 1).max_by_key(|(_, count)| *count)
}

/// Lets the first process say what is wrong with the command line of any of those that were started together to identify. False if this one
/// is not to speak.
pub(super) fn first_speaks(error: &clap::Error) -> bool {
    let Some((rank, _)) = started() else { return true };
    let identifies = std::env::args_os().any(|argument| argument == "identify");
    if identifies && let Ok(processes) = Processes::join() {
        // Of what clap says the first line tells what is wrong.
        let said = error.to_string();
        let line = said.lines().next().unwrap_or_default();
        let message = line.trim_start_matches("error: ");
        let error = Error::input("the command line", None, "", message);
        return processes.group.end(Err(error)).unwrap_or(processes.group.is_first());
    }
    if rank > 0 {
        std::thread::sleep(LAST_WORDS);
    }
    true
}

impl Processes {
    /// One process.
    pub fn alone() -> Processes {
        Processes {
            group: Arc::default(),
            #[cfg(feature = "mpi")]
            _world: None,
        }
    }

    /// The processes that were started together; all but the first are silent from here on.
    ///
    /// # Errors
    /// If several were started of which each knows of itself alone: they would all make the same fit in one place.
    pub fn join() -> Result<Processes, Error> {
        let found = Processes::find()?;
        let count = found.group.count();
        if let (1, Some((rank, started))) = (count, started()) {
            if rank > 0 {
                be_silent();
                std::thread::sleep(LAST_WORDS);
            }
            let why = match cfg!(feature = "mpi") {
                true => {
                    "this program was built for another MPI than the one that started it: build it with the `mpicc` that \
                     belongs to that `mpirun`, or start it by the `mpirun` that it was built for"
                }
                false => {
                    "this program was built without MPI: build it with --features mpi, or start one process"
                }
            };
            let message = format!(
                "{started} processes were started, but each knows of itself alone, and they would make the same fit \
                 {started} times: {why}"
            );
            return Err(Error::input("processes", None, "", message));
        }
        if !found.group.is_first() {
            be_silent();
        }
        Ok(found)
    }

    #[cfg(feature = "mpi")]
    fn find() -> Result<Processes, Error> {
        // Where nobody started several, MPI need not be begun, which takes half a second.
        let named = |name: &std::ffi::OsStr| {
            STARTED.iter().any(|prefix| name.to_string_lossy().starts_with(prefix))
        };
        if !std::env::vars_os().any(|(name, _)| named(&name)) {
            return Ok(Processes::alone());
        }
        let world = crate::identify::World::join()
            .map_err(|message| Error::input("processes", None, "", message))?;
        let peers: Box<dyn Peers> = match world.count() {
            1 => Box::new(Alone),
            _ => Box::new(world.peers()),
        };
        Ok(Processes { group: Arc::new(Group::new(peers)), _world: Some(world) })
    }

    #[cfg(not(feature = "mpi"))]
    fn find() -> Result<Processes, Error> {
        let alone: Box<dyn Peers> = Box::new(Alone);
        Ok(Processes { group: Arc::new(Group::new(alone)) })
    }
}

/// What this process was asked for; how many threads it has may differ from process to process.
pub(super) fn options() -> String {
    let options = std::env::args_os().skip(1);
    let mut options: Vec<String> = options.map(|x| x.to_string_lossy().into_owned()).collect();
    while let Some(place) = options.iter().position(|option| option == "--threads") {
        options.drain(place..(place + 2).min(options.len()));
    }
    options.retain(|option| !option.starts_with("--threads="));
    options.join(" ")
}
