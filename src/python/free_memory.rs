//! How much memory there is, and numbers of bytes in words.

/// Bytes that can be had without swapping, where the system says so: of the machine, and of the container, if this is
/// one.
pub(super) fn free_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let line = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?.to_string();
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group = "/sys/fs/cgroup/memory";
    // What is read from files is kept in memory that is given back when it is asked for.
    let kept = || {
        let text = read("/sys/fs/cgroup/memory.stat")?;
        let line = text.lines().find_map(|line| line.strip_prefix("inactive_file "))?;
        line.trim().parse::<u64>().ok()
    };
    let limit = number(&format!("{group}.max")).map(|most| {
        let used = number(&format!("{group}.current")).unwrap_or(0);
        most.saturating_sub(used.saturating_sub(kept().unwrap_or(0)))
    });
    let machine = read("/proc/meminfo").and_then(line);
    machine.into_iter().chain(limit).min()
}

/// A number of bytes with three digits and a unit.
pub(super) fn in_words(bytes: u128) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    let power = (bytes.max(1).ilog10() / 3).min(8);
    let size = bytes as f64 / 1e3f64.powi(power as i32);
    let digits = if power == 0 || size >= 100.0 { 0 } else { 1 };
    format!("{size:.digits$} {}", UNITS[power as usize])
}
