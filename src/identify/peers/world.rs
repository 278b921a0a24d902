//! Processes that MPI started together.

use mpi::Count;
use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};

use super::Peers;

/// Bytes that all processes together send at once at most: MPI counts in 32 bits.
const MOST_BYTES: usize = 1 << 30;

/// MPI, from its begin to its end.
pub struct World {
    // Ends MPI when it is dropped.
    _universe: Universe,
    count: usize,
}

/// A panic at one process leaves the others waiting, and MPI cannot end: then all are ended.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

impl World {
    /// Begins MPI. It is called from the thread that called this, and from no other.
    ///
    /// # Errors
    /// In words, if that was done before, or it does not bear threads.
    pub fn join() -> Result<World, String> {
        let begun = mpi::initialize_with_threading(Threading::Funneled);
        let (universe, threading) = begun.ok_or("MPI was begun before")?;
        if threading < Threading::Funneled {
            return Err(format!("this MPI bears no threads beside its own ({threading:?})"));
        }
        let count = universe.world().size().max(1) as usize;
        Ok(World { _universe: universe, count })
    }

    /// How many processes there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What they are for each other.
    pub fn peers(&self) -> impl Peers + use<> {
        MpiPeers { rank: world().rank().max(0) as usize, count: self.count }
    }
}

/// The processes of the communicator that all are in. Who they are is asked on any thread, which MPI must not be.
#[derive(Clone, Copy, Debug)]
struct MpiPeers {
    rank: usize,
    count: usize,
}

fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

/// The part of `own` that goes in a round.
fn part(own: &[u8], round: usize, most: usize) -> &[u8] {
    let begin = (round * most).min(own.len());
    &own[begin..(begin + most).min(own.len())]
}

impl MpiPeers {
    /// How many bytes each has, and how many of them go at once; an error unless all gather alike, `at_first` or everywhere.
    fn lengths(self, own: &[u8], at_first: bool) -> Result<(Vec<u64>, usize), String> {
        let mut said = vec![0; 2 * self.count()];
        world().all_gather_into(&[own.len() as u64, u64::from(at_first)][..], &mut said[..]);
        if let Some(other) = said.chunks_exact(2).position(|one| one[1] != u64::from(at_first)) {
            return Err(format!(
                "process {other} gathers something else than process {}",
                self.rank()
            ));
        }
        let lengths = said.chunks_exact(2).map(|one| one[0]).collect();
        Ok((lengths, (MOST_BYTES / self.count()).max(1)))
    }
}

/// How many bytes of each come in a round, and where they begin.
fn counts(lengths: &[u64], round: usize, most: usize) -> (Vec<Count>, Vec<Count>) {
    let own = |&length: &u64| (length as usize).saturating_sub(round * most).min(most) as Count;
    let counts: Vec<Count> = lengths.iter().map(own).collect();
    let places = (0..counts.len()).map(|k| counts[..k].iter().sum()).collect();
    (counts, places)
}

/// Appends what came in a round to what each has given.
fn append(all: &mut [Vec<u8>], bytes: &[u8], counts: &[Count], places: &[Count]) {
    for ((own, &count), &place) in all.iter_mut().zip(counts).zip(places) {
        own.extend_from_slice(&bytes[place as usize..(place + count) as usize]);
    }
}

impl Peers for MpiPeers {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let (lengths, most) = self.lengths(own, false)?;
        let rounds = lengths.iter().max().map_or(0, |&longest| (longest as usize).div_ceil(most));
        let mut all = vec![Vec::new(); lengths.len()];
        for round in 0..rounds {
            let (counts, places) = counts(&lengths, round, most);
            let mut bytes = vec![0u8; counts.iter().map(|&count| count as usize).sum()];
            let mut parts = PartitionMut::new(&mut bytes[..], &counts[..], &places[..]);
            world().all_gather_varcount_into(part(own, round, most), &mut parts);
            append(&mut all, &bytes, &counts, &places);
        }
        Ok(all)
    }

    fn gather_at_first(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let (lengths, most) = self.lengths(own, true)?;
        let rounds = lengths.iter().max().map_or(0, |&longest| (longest as usize).div_ceil(most));
        let (communicator, mut all) = (world(), vec![Vec::new(); lengths.len()]);
        let first = communicator.process_at_rank(0);
        for round in 0..rounds {
            let part = part(own, round, most);
            if self.rank() > 0 {
                first.gather_varcount_into(part);
                continue;
            }
            let (counts, places) = counts(&lengths, round, most);
            let mut bytes = vec![0u8; counts.iter().map(|&count| count as usize).sum()];
            let mut parts = PartitionMut::new(&mut bytes[..], &counts[..], &places[..]);
            first.gather_varcount_into_root(part, &mut parts);
            append(&mut all, &bytes, &counts, &places);
        }
        Ok(all)
    }
}
