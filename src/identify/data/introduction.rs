//! What processes tell each other when they meet, so that those which would part ways are told before.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::Error;
use crate::fnv::Fnv;
use crate::identify::experiment::Experiment;
use crate::identify::peers::{Group, fingerprint_of_rounding};
use crate::model::Scene;
use crate::packed::packed;
use crate::trajectory::{RecordingFile, RecordingSource};

#[derive(Clone)]
struct Introduction {
    version: String,
    build: u64,
    rounding: u64,
    options: String,
    machine: String,
}

packed!(Introduction { version, build, rounding, options, machine });

/// A hash of the program that runs; 0 where it cannot be read.
fn build() -> u64 {
    let mut hash = Fnv::default();
    let program = std::env::current_exe().and_then(std::fs::read);
    program.map_or(0, |bytes| {
        hash.add(&bytes);
        hash.value()
    })
}

/// Compares versions, machines and options, which are text.
///
/// # Errors
/// Which process differs from the first, and in what.
pub(crate) fn introduce(group: &Group, options: String) -> Result<(), Error> {
    if group.is_alone() {
        return Ok(());
    }
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = Introduction {
        version: env!("CARGO_PKG_VERSION").to_string(),
        build: build(),
        rounding: fingerprint_of_rounding(),
        options,
        machine: machine.trim().to_string(),
    };
    let all = group.gather("introductions", 0, own);
    group.failure().map_or(Ok(()), Err)?;
    let first = &all[0];
    for (rank, other) in all.iter().enumerate() {
        let who = match other.machine.as_str() {
            "" => format!("process {rank}"),
            machine => format!("process {rank} (on {machine})"),
        };
        let message = if other.version != first.version {
            format!("{who} is stiction {}, process 0 {}", other.version, first.version)
        } else if other.build != first.build {
            format!("{who} runs another build of stiction {} than process 0", first.version)
        } else if other.rounding != first.rounding {
            format!(
                "{who} rounds elementary functions or products otherwise than process 0 (on {}), so that they would part \
                 ways: use machines of one kind, with the same GLIBC_TUNABLES on all",
                first.machine
            )
        } else if other.options != first.options {
            format!("{who} has the options {:?}, process 0 {:?}", other.options, first.options)
        } else {
            continue;
        };
        return Err(Error::input("processes", None, "", message));
    }
    Ok(())
}

/// Bytes at either end of a file that are compared.
const ENDS: usize = 4096;

/// A hash of the names of recordings, and of the lengths and both ends of their files: to read all of them would be to do the work of all.
fn hash_of_files(sources: &[RecordingSource]) -> u64 {
    let mut hash = Fnv::default();
    let mut last = None;
    for source in sources {
        hash.add(source.name().as_bytes());
        if last.replace(source.path()) != Some(source.path()) {
            // What cannot be read is said when it is to be.
            if let Ok(ends) = ends_of(source.path()) {
                hash.add(&ends);
            }
        }
    }
    hash.value()
}

/// The length of a file and its bytes at either end.
fn ends_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = length.to_le_bytes().to_vec();
    file.by_ref().take(ENDS as u64).read_to_end(&mut bytes)?;
    if length > ENDS as u64 {
        file.seek(SeekFrom::Start(length.saturating_sub(ENDS as u64)))?;
        file.take(ENDS as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Compares the experiment as each process read it, and which recordings it found (by names, sizes and the ends of files), or was
/// `given`. Returns what to know of how they are shared, in words.
///
/// # Errors
/// Which process differs from the first, and in what.
pub(crate) fn compare(
    group: &Group,
    experiment: &Experiment,
    given: Option<&[RecordingFile]>,
) -> Result<Option<String>, Error> {
    if group.is_alone() {
        return Ok(None);
    }
    let mut files = Fnv::default();
    files.add(&hash_of_files(&experiment.data).to_le_bytes());
    given.iter().copied().flatten().for_each(|file| files.add(format!("{file:?}").as_bytes()));
    let count = given.map_or(experiment.data.len(), <[RecordingFile]>::len);
    // What recordings are read by, and what is made of the result.
    let Experiment { columns, excerpt, inputs, unused_inputs, velocity_lag, .. } = experiment;
    let Experiment { length_scale, substeps, half_samples, profiles, .. } = experiment;
    let reading = (columns, excerpt, inputs, unused_inputs, velocity_lag);
    let making = (length_scale, substeps, half_samples, profiles);
    let mut whole = Fnv::default();
    whole.add(&experiment.digest().to_le_bytes());
    whole.add(format!("{reading:?}{making:?}").as_bytes());
    // What is simulated, beside what the digest has.
    let Scene { settings, state, keyframes, .. } = &experiment.scene;
    whole.add(format!("{settings:?}{state:?}{keyframes:?}").as_bytes());
    let own = (whole.value(), files.value(), count);
    let all = group.gather("experiments", 0, own);
    group.failure().map_or(Ok(()), Err)?;
    let (digest, files, count) = all[0];
    for (rank, &(own_digest, own_files, own_count)) in all.iter().enumerate() {
        let message = if own_digest != digest {
            format!("process {rank} reads another experiment or scene than process 0")
        } else if own_count != count {
            format!("process {rank} finds {own_count} recordings, process 0 {count}")
        } else if own_files != files {
            format!(
                "process {rank} has other recordings than process 0, by the names, sizes and ends of their files"
            )
        } else {
            continue;
        };
        return Err(Error::input(&experiment.name, None, "", message));
    }
    let processes = group.count();
    Ok((processes > count)
        .then(|| format!("{processes} processes for {count} recordings: some have nothing to do")))
}
