//! Which frames of a motion are kept: as many as playing takes.

/// Frames kept of each second at most...
const RATE: f64 = 100.0;
/// ...but of a short motion at least so many, for slow motion,
const LEAST_FRAMES: f64 = 300.0;
/// and of a long one no more than these, so that files stay small.
pub(super) const MOST_FRAMES: f64 = 3000.0;
/// Digits of times: 10 µs or, of short motions, less.
const TIME_DIGITS: i32 = 5;

/// Which frames of a motion are kept.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Least time between frames, s.
    interval: f64,
    begin: f64,
    /// Digits behind the point of times.
    pub decimals: i32,
    /// The time of the last frame kept, s.
    kept: Option<f64>,
}

impl Pace {
    /// Of a motion from `begin` to `end` (s), at most `most` frames.
    pub fn new([begin, end]: [f64; 2], most: f64) -> Self {
        let duration = (end - begin).max(0.0);
        let frames = (RATE * duration).max(LEAST_FRAMES).min(most).max(1.0);
        let interval = duration / frames;
        let size = if interval > 0.0 { -interval.log10().floor() } else { 0.0 };
        let decimals = (size as i32 + 2).clamp(TIME_DIGITS, 12);
        Pace { interval, begin, decimals, kept: None }
    }

    /// Whether the frame of that time is to be kept.
    pub fn is_due(&self, time: f64) -> bool {
        // Rounding of times must not make it leave out every second frame.
        self.kept.is_none_or(|kept| time >= kept + self.interval * (1.0 - 1e-6))
    }

    /// How long after the last frame kept that time is, s: 0 for the first.
    pub fn elapsed(&self, time: f64) -> f64 {
        self.kept.map_or(0.0, |kept| time - kept)
    }

    /// Keeps the frame of that time; its time since the begin, s.
    pub fn keep(&mut self, time: f64) -> f64 {
        self.kept = Some(time);
        time - self.begin
    }
}
