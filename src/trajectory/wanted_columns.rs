//! Which columns of recordings are read.

/// Which columns are read of files that have more. A function of names is one.
pub trait WantedColumns: Sync {
    /// Whether the column of a name is.
    fn has(&self, name: &str) -> bool;

    /// Whether one may be whose name begins so.
    fn may_begin(&self, _start: &str) -> bool {
        true
    }

    /// The column of times, if one is meant.
    fn time(&self) -> Option<&str> {
        None
    }

    /// Whether a column is of an input of the steps, which may have rows of its own.
    fn is_input(&self, _name: &str) -> bool {
        false
    }
}

impl<F: Fn(&str) -> bool + Sync> WantedColumns for F {
    fn has(&self, name: &str) -> bool {
        self(name)
    }
}
