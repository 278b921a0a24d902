//! A file of numbers over time: a header that names the columns, and rows. CSV, an archive of NumPy, or rows of a table.

use std::path::Path;
use std::sync::Arc;

use csv::StringRecord;
use serde_json::Value;

use super::ColumnMap;
use super::column_map::Place;
use super::column_names::{TIME, topic_of};
use super::text_rows::{TextRow, TextRows};
use crate::Error;
use crate::npz::{self, Array};

/// The columns of a recording, whatever they hold, row by row.
///
/// CSV: names in the first line; between fields are commas, semicolons or tabs, as in that line, and with semicolons or tabs numbers may
/// have a decimal comma. An archive of NumPy (`.npz`): arrays of one index are columns by their names; those of several have
/// columns `name/0`, `name/1`, .., or the names that the JSON text `meta` lists as `name_names`, as `stiction simulate` writes
/// it. All begin at the first row; those that end before the last are empty from there on. Parquet (`.parquet`, in a build that
/// reads it): columns of numbers by their names, and `name[0]`, `name[1]`, .. of lists of one length. MCAP (`.mcap`, likewise): fields
/// of the messages of a topic, `/topic.field.field`.
#[derive(Clone, Debug)]
pub struct RecordingFile {
    pub(super) name: String,
    pub(super) header: StringRecord,
    rows: Rows,
    /// Whether it is no file, but arrays in memory: messages count frames then, not lines.
    in_memory: bool,
    /// Whether numbers may have a decimal comma.
    decimal_comma: bool,
    /// The first row that is not as long as the header: its line, and how many fields it has.
    ragged: Option<(usize, usize)>,
    /// What times count from, as it stands there; as a whole number, if it is one.
    epoch: Option<(f64, Option<i64>)>,
    /// The table that it is a part of, if it is of one.
    table: Option<TableColumns>,
    /// What is to be known of it, in words.
    remarks: Vec<String>,
}

#[derive(Clone, Debug)]
enum Rows {
    Text(TextRows),
    Numbers(Vec<NumberRow>),
}

/// A row of numbers.
#[derive(Clone, Debug)]
pub(super) struct NumberRow {
    /// For messages.
    pub line: usize,
    pub numbers: Vec<f64>,
    /// Whole numbers with more digits than `numbers` have, by their columns.
    pub whole: Vec<(usize, i64)>,
}

/// What a table has beside the columns that are read.
#[derive(Clone, Debug)]
pub(super) struct TableColumns {
    /// The file.
    pub path: String,
    /// All of its columns.
    pub names: Arc<[String]>,
    /// Those that are no numbers.
    pub unusable: Arc<[UnusableColumn]>,
    /// Those that are none in this recording.
    pub here: Vec<UnusableColumn>,
}

/// A column that cannot be asked for.
#[derive(Clone, Debug)]
pub(super) struct UnusableColumn {
    pub name: String,
    /// The row that is wrong, from 1, if it is one.
    pub row: Option<usize>,
    /// What it is, in words.
    pub message: String,
}

impl UnusableColumn {
    /// Whether this is the column of a name, or the list or (with a dot at its end) the topic that the name is an entry of.
    fn has(&self, name: &str) -> bool {
        let is_entry = |rest: &str| rest.starts_with('[') && rest.ends_with(']');
        let rest = name.strip_prefix(self.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || self.name.ends_with('.') || is_entry(rest))
    }

    fn error(&self, table: &TableColumns, asked: &str) -> Error {
        Error::input(&table.path, self.row, asked, &self.message)
    }
}

/// Times beyond this, s, three years, are dates.
pub(super) const DATES: f64 = 1e8;
/// Numbers of an archive that are read at most.
const MOST_NUMBERS: u64 = crate::text::MOST_BYTES / 8;

impl RecordingFile {
    /// Reads a CSV file or an archive of NumPy.
    pub(super) fn load_rows(path: &Path) -> Result<RecordingFile, Error> {
        let name = path.display().to_string();
        if path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("npz")) {
            let bytes = crate::text::read_bytes(path, crate::text::MOST_BYTES)?;
            let arrays = npz::read(&bytes, MOST_NUMBERS);
            return arrays
                .and_then(|arrays| RecordingFile::of_arrays(&name, arrays))
                .map_err(|message| Error::input(&name, None, "", message));
        }
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        RecordingFile::parse(&text, &name)
    }

    /// Reads the text of a CSV file; `name` stands for the file in messages.
    ///
    /// # Errors
    /// If it is no CSV.
    pub fn parse(text: &str, name: &str) -> Result<RecordingFile, Error> {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let count = |mark: char| first.matches(mark).count();
        let delimiter = match (count(','), count(';'), count('\t')) {
            (commas, semicolons, tabs) if semicolons > commas && semicolons >= tabs => ';',
            (commas, _, tabs) if tabs > commas => '\t',
            _ => ',',
        };
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.flexible(true).delimiter(delimiter as u8);
        let mut reader = reader.from_reader(text.as_bytes());
        let mut header = reader.headers().map_err(|error| csv_error(name, error))?.clone();
        header.trim();
        let decimal_comma = delimiter != ',';
        let mut file = RecordingFile {
            name: name.to_string(),
            header,
            rows: Rows::Text(TextRows::default()),
            in_memory: false,
            decimal_comma,
            ragged: None,
            epoch: None,
            table: None,
            remarks: Vec::new(),
        };
        let (mut rows, mut line) = (TextRows::with_room(text.len()), 1);
        let mut record = StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| csv_error(name, error))? {
            line = record.position().map_or(line, |position| line_of(text, position));
            if record.len() != file.header.len() {
                file.ragged.get_or_insert((line, record.len()));
            }
            rows.push(line, record.iter().map(str::trim));
        }
        file.rows = Rows::Text(rows);
        Ok(file)
    }

    /// The columns of arrays of NumPy; in words what is wrong with them.
    fn of_arrays(name: &str, arrays: Vec<Array>) -> Result<RecordingFile, String> {
        let meta = arrays.iter().find(|array| array.name == "meta");
        let meta = meta.map(|meta| meta.values.iter().map(|&byte| byte as u8).collect::<Vec<u8>>());
        let meta: Value =
            meta.and_then(|meta| serde_json::from_slice(&meta).ok()).unwrap_or_default();
        let mut header = Vec::new();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        let mut most = 0;
        for Array { name, shape, values } in arrays.iter().filter(|array| array.name != "meta") {
            let Some(&rows) = shape.first() else { continue };
            let wide = values.len() / rows.max(1);
            // Of an array without numbers any count of rows may be claimed.
            most = most.max(if wide > 0 { rows } else { 0 });
            let named: Option<Vec<&str>> = meta[format!("{name}_names")]
                .as_array()
                .map(|names| names.iter().filter_map(Value::as_str).collect());
            for k in 0..wide {
                header.push(match &named {
                    _ if shape.len() == 1 => name.clone(),
                    Some(names) if names.len() == wide => names[k].to_string(),
                    _ => format!("{name}/{k}"),
                });
                columns.push(values.iter().skip(k).step_by(wide).copied().collect());
            }
        }
        if (columns.len() as u64).saturating_mul(most as u64) > MOST_NUMBERS {
            let count = columns.len();
            return Err(format!(
                "its arrays are of very different lengths: {count} columns of {most} rows are more than is read"
            ));
        }
        if columns.is_empty() {
            return Err("has no array with an index: there are no columns".to_string());
        }
        Ok(RecordingFile::of_numbers(name, header, &columns, most))
    }

    /// The columns of arrays in memory, by their names; NaN is what was not measured. `name` stands for them in messages.
    ///
    /// # Errors
    /// If there are none, or they are of different lengths.
    pub fn of_columns(
        name: &str,
        columns: impl IntoIterator<Item = (String, Vec<f64>)>,
    ) -> Result<RecordingFile, Error> {
        let (names, columns): (Vec<String>, Vec<Vec<f64>>) = columns.into_iter().unzip();
        let wrong = |field: &str, message: String| Err(Error::input(name, None, field, message));
        let Some(first) = columns.first() else {
            return wrong("", "has no columns".to_string());
        };
        if let Some(k) = columns.iter().position(|column| column.len() != first.len()) {
            let (found, expected) = (columns[k].len(), first.len());
            return wrong(&names[k], format!("has {found} numbers, {} has {expected}", names[0]));
        }
        // As they are read from a file.
        let names = names.iter().map(|name| name.trim().to_string()).collect();
        let made = RecordingFile::of_numbers(name, names, &columns, first.len());
        Ok(RecordingFile { in_memory: true, ..made })
    }

    fn of_numbers(name: &str, header: Vec<String>, columns: &[Vec<f64>], count: usize) -> Self {
        let row = |k: usize| {
            let field = |column: &Vec<f64>| column.get(k).copied().unwrap_or(f64::NAN);
            let numbers = columns.iter().map(field).collect();
            // As if it were CSV.
            NumberRow { line: k + 2, numbers, whole: Vec::new() }
        };
        RecordingFile {
            name: name.to_string(),
            header: StringRecord::from(header),
            rows: Rows::Numbers((0..count).map(row).collect()),
            in_memory: false,
            decimal_comma: false,
            ragged: None,
            epoch: None,
            table: None,
            remarks: Vec::new(),
        }
    }

    /// An error about a column, at a line or in the frame that stands there.
    pub(super) fn wrong(&self, line: usize, column: &str, message: impl Into<String>) -> Error {
        if self.in_memory {
            let frame = line.checked_sub(2).map(|frame| format!(", frame {frame}"));
            return Error::input(
                self.name.clone() + &frame.unwrap_or_default(),
                None,
                column,
                message,
            );
        }
        let file = self.table.as_ref().map_or(&self.name, |table| &table.path);
        Error::input(file, line, column, message)
    }

    /// Rows of a table; `name` stands for the recording in results.
    #[cfg(any(feature = "mcap", feature = "parquet"))]
    pub(super) fn of_table(
        name: String,
        header: &[String],
        rows: Vec<NumberRow>,
        table: TableColumns,
    ) -> RecordingFile {
        RecordingFile {
            name,
            header: StringRecord::from(header),
            rows: Rows::Numbers(rows),
            in_memory: false,
            decimal_comma: false,
            ragged: None,
            epoch: None,
            table: Some(table),
            remarks: Vec::new(),
        }
    }

    /// An error unless all rows have as many fields as the header. That a column is missing is said before that.
    pub(super) fn demand_whole(&self) -> Result<(), Error> {
        let Some((line, found)) = self.ragged else { return Ok(()) };
        let expected = self.header.len();
        let column = self.header.get(found.min(expected - 1)).unwrap_or_default();
        let message = format!("the row has {found} fields, the header {expected}");
        Err(Error::input(&self.name, line, column, message))
    }

    /// Its rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let count = match &self.rows {
            Rows::Text(rows) => rows.len(),
            Rows::Numbers(rows) => rows.len(),
        };
        (0..count).map(|k| match &self.rows {
            Rows::Text(rows) => {
                let row = rows.row(k);
                Row { file: self, cells: Cells::Text(row), line: row.line }
            }
            Rows::Numbers(rows) => {
                Row { file: self, cells: Cells::Numbers(&rows[k]), line: rows[k].line }
            }
        })
    }

    /// Counts times from the first row on, if they are dates.
    pub(super) fn begin_at_first(&mut self, place: Place) -> Result<(), Error> {
        let Some(first) = self.rows().next() else { return Ok(()) };
        let (time, whole) = (first.number(place.column)?, first.whole(place.column));
        if place.scale.of(time).abs() > DATES {
            self.epoch = Some((time, whole));
        }
        Ok(())
    }

    /// What is written as the time from which times count, s: 0 but where they are dates.
    pub(crate) fn begin(&self, map: &ColumnMap) -> f64 {
        self.epoch.map_or(0.0, |(epoch, _)| map.time.1.of(epoch))
    }

    /// The time of a row, s.
    pub(super) fn time_of(&self, row: &Row, place: Place) -> Result<f64, Error> {
        let time = row.number(place.column)?;
        let Some((epoch, first)) = self.epoch else { return Ok(place.scale.of(time)) };
        // Nanoseconds since 1970 have more digits than numbers here.
        let since = match (row.whole(place.column), first) {
            (Some(now), Some(first)) => now.checked_sub(first).map(|since| since as f64),
            _ => None,
        };
        Ok(place.scale.factor * since.unwrap_or(time - epoch))
    }

    /// Whether a field is of an archive and empty: inputs end a row before states.
    pub(super) fn may_end(&self, row: &Row, column: usize) -> bool {
        matches!(self.rows, Rows::Numbers(_)) && row.is_empty(column)
    }

    /// The numbers in the columns with these names, row by row; nothing where a field is empty or `nan`.
    ///
    /// # Errors
    /// If a column is missing or there twice, or a field is not a number.
    pub fn numbers(&self, names: &[&str]) -> Result<Vec<Vec<Option<f64>>>, Error> {
        let places = names.iter().map(|name| self.column(name, ""));
        let places = places.collect::<Result<Vec<usize>, _>>()?;
        self.demand_whole()?;
        let row = |row: Row| places.iter().map(|&place| row.measured(place)).collect();
        self.rows().map(row).collect()
    }

    /// Keeps the rows for which that is said, one after the other.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        let mut kept = || keep.next().copied().unwrap_or(false);
        match &mut self.rows {
            Rows::Text(rows) => rows.retain(kept),
            Rows::Numbers(rows) => rows.retain(|_| kept()),
        }
    }

    /// Fills what is empty in a row with what another has. Whether that has something else where both have something.
    pub(super) fn merge(&mut self, into: usize, from: usize, except: usize) -> bool {
        let mut differs = false;
        let decimal_comma = self.decimal_comma;
        let number = |text: &str| match decimal_comma {
            true => text.trim().replace(',', ".").parse::<f64>().ok(),
            false => text.trim().parse::<f64>().ok(),
        };
        match &mut self.rows {
            Rows::Text(rows) => {
                let fields = rows.row(into).fields().zip(rows.row(from).fields()).enumerate();
                let merged = fields.map(|(k, (own, other))| {
                    let fill = is_missing(own) && !is_missing(other);
                    let same =
                        || own == other || number(own).is_some_and(|x| number(other) == Some(x));
                    differs |= k != except && !fill && !is_missing(other) && !same();
                    String::from(if fill { other } else { own })
                });
                let merged: Vec<String> = merged.collect();
                rows.replace(into, merged.iter().map(String::as_str));
            }
            Rows::Numbers(rows) => {
                for k in (0..rows[into].numbers.len()).filter(|&k| k != except) {
                    let (own, other) = (rows[into].numbers[k], rows[from].numbers[k]);
                    if own.is_nan() {
                        rows[into].numbers[k] = other;
                    } else {
                        differs |= !other.is_nan() && own != other;
                    }
                }
            }
        }
        differs
    }

    /// Where it comes from, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same, with something to be known of it.
    #[cfg(feature = "mcap")]
    pub(super) fn with_remark(mut self, remark: String) -> RecordingFile {
        self.remarks.push(remark);
        self
    }

    /// What is to be known of it, in sentences without its name.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether it is a part of a table of recordings.
    pub(super) fn is_of_table(&self) -> bool {
        self.table.is_some()
    }

    /// The names of its columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.header.iter()
    }

    /// Where the column of a name is.
    ///
    /// # Errors
    /// If it is missing, with what it is `needed` for, or there twice.
    pub fn column(&self, name: &str, needed: &str) -> Result<usize, Error> {
        self.demand_numbers_in(name)?;
        let mut found = self.header.iter().enumerate().filter(|(_, column)| *column == name);
        match (found.next(), found.next()) {
            (Some((place, _)), None) => Ok(place),
            (None, _) => {
                let message = format!("the column is missing{needed}; {}", self.begins_with(name));
                Err(self.header_error(name, message))
            }
            _ => Err(self.header_error(name, "is given twice")),
        }
    }

    /// An error if a column of such a name is there, but is none of numbers.
    pub(super) fn demand_numbers(&self, is: impl Fn(&str) -> bool) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        match table.here.iter().chain(table.unusable.iter()).find(|column| is(&column.name)) {
            Some(column) => Err(column.error(table, &column.name)),
            None => Ok(()),
        }
    }

    /// An error if the column of a name, or the list that the name is an entry of, is there, but is none of numbers.
    pub(super) fn demand_numbers_in(&self, name: &str) -> Result<(), Error> {
        let Some(table) = &self.table else { return Ok(()) };
        let here = table.here.iter().find(|column| column.name == name);
        let unusable = || match self.columns().any(|column| column == name) {
            true => None,
            false => table.unusable.iter().find(|column| column.has(name)),
        };
        here.or_else(unusable).map_or(Ok(()), |column| Err(column.error(table, name)))
    }

    /// An error about a column as such.
    pub(crate) fn header_error(&self, column: &str, message: impl Into<String>) -> Error {
        match &self.table {
            // It has no line of names.
            Some(table) => Error::input(&table.path, None, column, message),
            None => self.wrong(1, column, message),
        }
    }

    /// What columns there are instead of one, for messages; of its topic, if it is of one that is there.
    pub(super) fn begins_with(&self, missing: &str) -> String {
        let what = if self.in_memory { "recording" } else { "file" };
        const MOST: usize = 20;
        let first = |columns: &mut dyn Iterator<Item = &str>| {
            columns.take(MOST).collect::<Vec<&str>>().join(",")
        };
        let Some(table) = &self.table else {
            return format!("the {what} begins with {}", first(&mut self.header.iter()));
        };
        let names = || table.names.iter().map(String::as_str);
        let topic = topic_of(missing);
        let mut near = names().filter(|name| topic.is_some() && topic_of(name) == topic).peekable();
        match near.peek() {
            Some(_) => format!("its topic begins with {}", first(&mut near)),
            None => format!("the {what} begins with {}", first(&mut names())),
        }
    }

    /// An error if there is nothing in it.
    pub(super) fn demand_header(&self) -> Result<(), Error> {
        match self.table.is_none() && self.header.iter().all(str::is_empty) {
            true => Err(self.header_error(TIME, "is missing: the file is empty")),
            false => Ok(()),
        }
    }
}

/// A row, with its place in messages.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    file: &'a RecordingFile,
    cells: Cells<'a>,
    pub line: usize,
}

#[derive(Clone, Copy)]
enum Cells<'a> {
    Text(TextRow<'a>),
    Numbers(&'a NumberRow),
}

impl<'a> Row<'a> {
    /// What stands there; nothing of an archive of numbers.
    pub fn text(&self, column: usize) -> &'a str {
        match self.cells {
            Cells::Text(row) => row.field(column),
            Cells::Numbers(_) => "",
        }
    }

    /// A finite number; never -0.
    pub fn number(&self, column: usize) -> Result<f64, Error> {
        // What stands there is put into words only where it is wrong.
        let found = match self.cells {
            Cells::Numbers(row) => Some(row.numbers.get(column).copied().unwrap_or(f64::NAN)),
            Cells::Text(row) => {
                let text = row.field(column);
                match text.parse() {
                    Err(_) if self.file.decimal_comma => text.replacen(',', ".", 1).parse().ok(),
                    found => found.ok(),
                }
            }
        };
        let text = || match (self.cells, found) {
            (Cells::Numbers(_), Some(number)) => number.to_string(),
            _ => self.text(column).to_string(),
        };
        match found {
            Some(number) if number.is_finite() => Ok(number + 0.0),
            Some(_) => Err(self.error(column, format!("must be finite, found {}", text()))),
            None => Err(self.error(column, format!("must be a number, found {:?}", text()))),
        }
    }

    /// A whole number, if that is what stands there.
    fn whole(&self, column: usize) -> Option<i64> {
        match self.cells {
            Cells::Text(row) => row.field(column).parse().ok(),
            Cells::Numbers(row) => {
                row.whole.iter().find(|(place, _)| *place == column).map(|(_, whole)| *whole)
            }
        }
    }

    /// A finite number; nothing where the field is empty or not a number (`nan`).
    pub fn measured(&self, column: usize) -> Result<Option<f64>, Error> {
        if self.is_empty(column) { Ok(None) } else { self.number(column).map(Some) }
    }

    /// Whether a field is empty or not a number (`nan`).
    pub fn is_empty(&self, column: usize) -> bool {
        match self.cells {
            Cells::Text(row) => is_missing(row.field(column)),
            Cells::Numbers(row) => row.numbers.get(column).is_none_or(|number| number.is_nan()),
        }
    }

    /// An error about a field of this row.
    pub fn error(&self, column: usize, message: String) -> Error {
        let name = self.file.header.get(column).unwrap_or("");
        self.file.wrong(self.line, name, message)
    }
}

/// Whether a field says that nothing was measured.
fn is_missing(text: &str) -> bool {
    text.is_empty() || text.eq_ignore_ascii_case("nan")
}

/// The line of a record: its position comes before the blank lines that precede it.
fn line_of(text: &str, position: &csv::Position) -> usize {
    let rest = text.as_bytes().iter().skip(position.byte() as usize);
    let blank = rest.take_while(|byte| matches!(byte, b'\n' | b'\r')).filter(|&&b| b == b'\n');
    position.line() as usize + blank.count()
}

/// What went wrong with a CSV file.
pub(super) fn csv_error(name: &str, error: csv::Error) -> Error {
    let line = error.position().map(|position| position.line() as usize);
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io(name, error),
        _ => Error::input(name, line, "", message),
    }
}
