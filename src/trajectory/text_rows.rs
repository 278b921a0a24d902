//! Rows of fields of text, all in one string: a file has many, and few allocations are what lets threads read side by side.

/// Rows, each with the line it stands in.
#[derive(Clone, Debug, Default)]
pub(super) struct TextRows {
    /// All fields, one after the other, and where each ends.
    text: String,
    ends: Vec<usize>,
    rows: Vec<Fields>,
}

#[derive(Clone, Debug)]
struct Fields {
    line: usize,
    first: usize,
    count: usize,
}

impl TextRows {
    /// None yet, with room for those of a file of so many bytes.
    pub fn with_room(bytes: usize) -> TextRows {
        TextRows { text: String::with_capacity(bytes), ..TextRows::default() }
    }

    /// Appends a row.
    pub fn push<'f>(&mut self, line: usize, fields: impl IntoIterator<Item = &'f str>) {
        let row = self.fields(line, fields);
        self.rows.push(row);
    }

    /// Puts other fields into a row.
    pub fn replace<'f>(&mut self, row: usize, fields: impl IntoIterator<Item = &'f str>) {
        self.rows[row] = self.fields(self.rows[row].line, fields);
    }

    fn fields<'f>(&mut self, line: usize, fields: impl IntoIterator<Item = &'f str>) -> Fields {
        let first = self.ends.len();
        for field in fields {
            self.text.push_str(field);
            self.ends.push(self.text.len());
        }
        Fields { line, first, count: self.ends.len() - first }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A row.
    pub fn row(&self, row: usize) -> TextRow<'_> {
        let Fields { line, first, count } = self.rows[row];
        TextRow { all: self, line, first, count }
    }

    /// Keeps the rows for which that is said, one after the other.
    pub fn retain(&mut self, mut keep: impl FnMut() -> bool) {
        self.rows.retain(|_| keep());
    }
}

/// One of the rows.
#[derive(Clone, Copy)]
pub(super) struct TextRow<'a> {
    all: &'a TextRows,
    pub line: usize,
    first: usize,
    count: usize,
}

impl<'a> TextRow<'a> {
    /// A field; empty where there is none.
    pub fn field(&self, column: usize) -> &'a str {
        if column >= self.count {
            return "";
        }
        let k = self.first + column;
        let begin = if k > 0 { self.all.ends[k - 1] } else { 0 };
        &self.all.text[begin..self.all.ends[k]]
    }

    /// All fields.
    pub fn fields(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let own = *self;
        (0..self.count).map(move |column| own.field(column))
    }
}
