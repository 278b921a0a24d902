//! What processes tell each other when they meet, so that those which would part ways are told before.

use crate::Error;
use crate::fnv::Fnv;
use crate::identify::experiment::Experiment;
use crate::identify::peers::{Group, fingerprint_of_rounding};
use crate::packed::packed;
use crate::trajectory::RecordingFile;

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

/// Compares the experiment as each process read it, and which recordings it found (by names and sizes), or was `given`. Returns
/// what to know of how they are shared, in words.
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
    for source in &experiment.data {
        files.add(source.name().as_bytes());
        files.add(&std::fs::metadata(source.path()).map_or(0, |there| there.len()).to_le_bytes());
    }
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
            format!("process {rank} has other recordings than process 0, by their names and sizes")
        } else {
            continue;
        };
        return Err(Error::input(&experiment.name, None, "", message));
    }
    let processes = group.count();
    Ok((processes > count)
        .then(|| format!("{processes} processes for {count} recordings: some have nothing to do")))
}
