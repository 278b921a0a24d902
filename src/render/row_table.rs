//! Rows of a Jacobian of which most are zero.

/// Derivatives of those numbers of an image that have any.
#[derive(Clone, Default)]
pub(super) struct RowTable {
    /// Of each number of the image its row, if it has one.
    places: Vec<u32>,
    /// The numbers that have one, in their order.
    pub entries: Vec<usize>,
    /// Number by number.
    pub rows: Vec<f64>,
    columns: usize,
}

impl RowTable {
    pub fn clear(&mut self, numbers: usize, columns: usize) {
        self.places.clear();
        self.places.resize(numbers, u32::MAX);
        self.entries.clear();
        self.rows.clear();
        self.columns = columns;
    }

    /// Whether a number of the image has any.
    pub fn has(&self, entry: usize) -> bool {
        self.places[entry] != u32::MAX
    }

    /// The derivatives of a number of the image.
    pub fn row(&mut self, entry: usize) -> &mut [f64] {
        if self.places[entry] == u32::MAX {
            self.places[entry] = self.entries.len() as u32;
            self.entries.push(entry);
            self.rows.resize(self.rows.len() + self.columns, 0.0);
        }
        let first = self.places[entry] as usize * self.columns;
        &mut self.rows[first..first + self.columns]
    }
}
