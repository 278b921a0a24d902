//! Processes that check each other: each gather carries what it is, so that processes which have parted ways are told,
//! and do not wait for each other for ever or add what does not belong together.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Alone, Peers};
use crate::Error;
use crate::fnv::Fnv;
use crate::packed::{Packed, packed};

/// How much a process has gathered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gathered {
    /// How often.
    pub calls: u64,
    /// Bytes that came, its own among them.
    pub bytes: u64,
    /// How long that took, s, with what it waited for the others.
    pub seconds: f64,
}

/// How often a process that ends tries to be heard.
#[cfg(any(feature = "cli", feature = "python"))]
const LAST_TRIES: usize = 3;

/// The processes that work on an identification, and whether they still agree.
pub(crate) struct Group {
    peers: Box<dyn Peers>,
    standing: Mutex<Standing>,
}

#[derive(Default)]
struct Standing {
    gathered: Gathered,
    /// A hash of what all should have alike, so far.
    alike: u64,
    failure: Option<Failure>,
    /// Whether the last gather was not one of all: some may not know what it carried.
    is_unheard: bool,
}

/// What went wrong.
#[derive(Clone)]
struct Failure {
    error: Error,
    /// Whether the others know: then nobody gathers any more.
    told: bool,
}

/// What stands before all that is gathered.
struct Head {
    /// How many were before it.
    number: u64,
    /// What it is.
    what: String,
    /// Whether all get it, or the first one alone.
    at_all: bool,
    /// A hash of what all should have alike, from the beginning on.
    alike: u64,
    /// What went wrong at this process.
    failure: Option<Error>,
}

packed!(Head { number, what, at_all, alike, failure });

impl Default for Group {
    fn default() -> Self {
        Group::new(Box::new(Alone))
    }
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} of {}", self.rank(), self.count())
    }
}

impl Group {
    pub fn new(peers: Box<dyn Peers>) -> Group {
        Group { peers, standing: Mutex::default() }
    }

    pub fn rank(&self) -> usize {
        self.peers.rank()
    }

    pub fn count(&self) -> usize {
        self.peers.count()
    }

    pub fn is_alone(&self) -> bool {
        self.count() <= 1
    }

    /// Whether this is the process that reads, prints and writes what there is one of.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    pub fn gathered(&self) -> Gathered {
        self.standing().gathered
    }

    /// Why the processes do not work together any more.
    pub fn failure(&self) -> Option<Error> {
        self.standing().failure.as_ref().map(|failure| failure.error.clone())
    }

    /// Tells the others, with the next gather, that something went wrong here.
    pub fn fail(&self, error: Error) {
        self.standing().failure.get_or_insert(Failure { error, told: false });
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each process gave, in their order. `what` this is, and a hash of what all should have `alike`, are compared. Where
    /// something went wrong, here or elsewhere, what this process gave in the place of each.
    pub fn gather<T: Packed + Clone>(&self, what: &str, alike: u64, own: T) -> Vec<T> {
        if self.is_alone() {
            return vec![own];
        }
        let found = self.exchange(what, alike, &own, true);
        found.unwrap_or_else(|| vec![own; self.count()])
    }

    /// [`gather`](Self::gather) for the first process; the others get nothing.
    pub fn gather_at_first<T: Packed + Clone>(&self, what: &str, own: T) -> Vec<T> {
        if self.is_alone() {
            return vec![own];
        }
        let found = self.exchange(what, 0, &own, false);
        match self.is_first() {
            true => found.unwrap_or_else(|| vec![own; self.count()]),
            false => Vec::new(),
        }
    }

    /// What the first process has.
    #[cfg(feature = "cli")]
    pub fn of_first<T: Packed + Clone + Default>(&self, what: &str, own: impl FnOnce() -> T) -> T {
        let own = if self.is_first() { own() } else { T::default() };
        self.gather(what, 0, own).swap_remove(0)
    }

    /// What work of the first process comes to, or its error, at all of them.
    ///
    /// # Errors
    /// That of the first process.
    #[cfg(feature = "cli")]
    pub fn at_first<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
        let (mut done, mut error) = (None, None);
        if self.is_first() {
            match work() {
                Ok(found) => done = Some(found),
                Err(found) => error = Some(found),
            }
        }
        let error = self.gather("what the first did", 0, error).swap_remove(0);
        match error.or_else(|| self.failure()) {
            Some(error) => Err(error),
            None => Ok(done),
        }
    }

    /// What each process came to, if none has an error.
    ///
    /// # Errors
    /// That of the first process that has one; with its number, unless all have it.
    #[cfg(any(feature = "cli", feature = "python"))]
    pub fn together<T>(&self, own: Result<T, Error>) -> Result<T, Error> {
        if self.is_alone() {
            return own;
        }
        let error = own.as_ref().err().cloned();
        let all = self.gather("what each came to", 0, error);
        self.failure().map_or(Ok(()), Err)?;
        let alike = all.iter().all(|error| *error == all[0]);
        let mut found =
            all.into_iter().enumerate().filter_map(|(rank, error)| Some((rank, error?)));
        match found.next() {
            Some((_, error)) if alike => Err(error),
            Some((rank, error)) => {
                Err(error.with_remark(&format!(" (at process {rank} of {})", self.count())))
            }
            None => own,
        }
    }

    /// The end of all work together, to which every process comes: one that comes with an error, and earlier than the others, tells
    /// them, who would wait for it.
    ///
    /// # Errors
    /// That of this process, or of another.
    #[cfg(any(feature = "cli", feature = "python"))]
    pub fn end<T>(&self, own: Result<T, Error>) -> Result<T, Error> {
        if self.is_alone() {
            return own;
        }
        if let Err(error) = &own {
            let place = format!(" (at process {} of {})", self.rank(), self.count());
            self.fail(error.clone().with_remark(&place));
        }
        // Again, where others were about to give something to the first alone: they have not heard.
        for _ in 0..LAST_TRIES {
            self.standing().is_unheard = false;
            self.exchange("the end", 0, &false, true);
            let mut standing = self.standing();
            if !std::mem::take(&mut standing.is_unheard) {
                break;
            }
            standing.failure.iter_mut().for_each(|failure| failure.told = false);
        }
        own.and_then(|found| self.failure().map_or(Ok(found), Err))
    }

    /// Whether all go on, and nothing went wrong.
    pub fn agreed(&self, go_on: bool) -> bool {
        let all = self.gather("whether to go on", 0, go_on).into_iter().all(|go_on| go_on);
        all && self.standing().failure.is_none()
    }

    /// The sum of whole numbers.
    pub fn total(&self, what: &str, own: usize) -> usize {
        self.gather(what, 0, own).into_iter().fold(0, usize::saturating_add)
    }

    /// The first error there is, by the number that is with it.
    ///
    /// # Errors
    /// It.
    pub fn first_error(&self, own: Option<(usize, Error)>) -> Result<(), Error> {
        let errors = self.gather("errors", 0, own).into_iter().flatten();
        let first = errors.min_by_key(|(number, _)| *number).map(|(_, error)| error);
        match first.or_else(|| self.failure()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn exchange<T: Packed>(&self, what: &str, alike: u64, own: &T, at_all: bool) -> Option<Vec<T>> {
        let mut standing = self.standing();
        let failure = standing.failure.clone();
        if failure.as_ref().is_some_and(|failure| failure.told) {
            return None;
        }
        let number = standing.gathered.calls;
        let failure = failure.map(|failure| failure.error);
        // Of all that should have been alike so far.
        let mut sum = Fnv::default();
        sum.add(&standing.alike.to_le_bytes());
        sum.add(&alike.to_le_bytes());
        standing.alike = sum.value();
        let alike = standing.alike;
        let head = Head { number, what: what.to_string(), at_all, alike, failure };
        let mut bytes = head.packed();
        own.pack(&mut bytes);
        let begin = Instant::now();
        let found = match at_all {
            true => self.peers.gather(&bytes),
            false => self.peers.gather_at_first(&bytes),
        };
        let Gathered { calls, bytes, seconds } = &mut standing.gathered;
        *calls += 1;
        *seconds += begin.elapsed().as_secs_f64();
        if let Ok(found) = &found {
            *bytes += found.iter().map(|part| part.len() as u64).sum::<u64>();
        }
        standing.is_unheard = match &found {
            Ok(found) => at_all && !self.is_of_all(found),
            Err(_) => true,
        };
        // What only the first one got, only the first one can compare: it tells with the next gather.
        let unseen = !at_all && !self.is_first();
        let outcome = match found {
            // The others may not know.
            Err(message) => Err((peers_error(message), false)),
            Ok(_) if unseen => Ok(None),
            Ok(found) => self.compared(&head, &found).map(Some).map_err(|error| (error, at_all)),
        };
        match outcome {
            Ok(values) => values,
            Err((error, told)) => {
                // What cannot even be told is left at that.
                let told = told || standing.failure.is_some();
                standing.failure.get_or_insert(Failure { error, told }).told = told;
                None
            }
        }
    }

    /// Whether all that gathered this get it.
    fn is_of_all(&self, found: &[Vec<u8>]) -> bool {
        let heads = found.iter().map(|bytes| Head::unpack(&mut bytes.as_slice()));
        heads.flatten().all(|head| head.at_all)
    }

    /// What was gathered, if all gathered the same.
    fn compared<T: Packed>(&self, own: &Head, found: &[Vec<u8>]) -> Result<Vec<T>, Error> {
        if found.len() != self.count() {
            let message = format!("{} processes answered, of {}", found.len(), self.count());
            return Err(peers_error(message));
        }
        let lost = |rank: usize| peers_error(format!("what process {rank} said cannot be read"));
        let mut parts = Vec::with_capacity(found.len());
        for (rank, bytes) in found.iter().enumerate() {
            let mut rest = bytes.as_slice();
            let head = Head::unpack(&mut rest).ok_or_else(|| lost(rank))?;
            if let Some(error) = head.failure {
                return Err(error);
            }
            parts.push((rank, head, rest));
        }
        for (rank, head, _) in &parts {
            let same = head.number == own.number && head.what == own.what;
            if !same || head.alike != own.alike {
                let first = &parts[0].1;
                let message = match same {
                    true => format!(
                        "process {rank} does not have the same numbers as process {}, at {:?} ({}): the machines round \
                         differently, or `watch` and options are not the same everywhere",
                        self.rank(),
                        own.what,
                        own.number
                    ),
                    false => format!(
                        "process {rank} is at {:?} ({}), process 0 at {:?} ({}): they have parted ways; are versions, files and \
                         options the same everywhere?",
                        head.what, head.number, first.what, first.number
                    ),
                };
                return Err(peers_error(message));
            }
        }
        let value = |(rank, _, mut rest): (usize, Head, &[u8])| {
            T::unpack(&mut rest).filter(|_| rest.is_empty()).ok_or_else(|| lost(rank))
        };
        parts.into_iter().map(value).collect()
    }
}

fn peers_error(message: impl Into<String>) -> Error {
    Error::input("processes", None, "", message)
}

/// A hash of how this machine rounds: elementary functions at many points, and a product of matrices. Where two machines
/// differ, processes on them part ways.
pub(crate) fn fingerprint_of_rounding() -> u64 {
    let mut hash = Fnv::default();
    let mut add = |x: f64| hash.add(&x.to_bits().to_le_bytes());
    for k in 0..4000 {
        let x = 0.01 + 7.31e-3 * f64::from(k);
        let y = x.sin();
        [y, x.cos(), x.exp(), x.ln(), x.tan(), y.asin(), y.acos(), x.atan2(y), x.powf(0.3)]
            .into_iter()
            .for_each(&mut add);
        [x.cbrt(), x.hypot(y), y.tanh(), y.sinh(), x.exp2(), x.ln_1p(), y.exp_m1()]
            .into_iter()
            .for_each(&mut add);
    }
    let matrix =
        |phase: f64| nalgebra::DMatrix::from_fn(24, 24, |i, j| (phase + (24 * i + j) as f64).sin());
    let (a, b) = (matrix(0.1), matrix(0.7));
    (&a * &b).iter().copied().for_each(&mut add);
    a.tr_mul(&b).iter().copied().for_each(&mut add);
    hash.value()
}
