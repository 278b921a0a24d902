//! Parquet files as others write them.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// The cells of a column; nothing where they are null.
#[derive(Clone)]
pub enum Cells {
    Double(Vec<Option<f64>>),
    Float(Vec<Option<f32>>),
    Whole(Vec<Option<i64>>),
    Flag(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
    Lists(Vec<Option<Vec<Option<f32>>>>),
}

impl Cells {
    pub fn numbers(numbers: impl IntoIterator<Item = f64>) -> Cells {
        Cells::Double(numbers.into_iter().map(Some).collect())
    }

    pub fn whole(numbers: impl IntoIterator<Item = i64>) -> Cells {
        Cells::Whole(numbers.into_iter().map(Some).collect())
    }

    fn len(&self) -> usize {
        match self {
            Cells::Double(cells) => cells.len(),
            Cells::Float(cells) => cells.len(),
            Cells::Whole(cells) => cells.len(),
            Cells::Flag(cells) => cells.len(),
            Cells::Text(cells) => cells.len(),
            Cells::Lists(cells) => cells.len(),
        }
    }

    fn schema(&self, name: &str) -> String {
        match self {
            Cells::Double(_) => format!("optional double {name};"),
            Cells::Float(_) => format!("optional float {name};"),
            Cells::Whole(_) => format!("optional int64 {name};"),
            Cells::Flag(_) => format!("optional boolean {name};"),
            Cells::Text(_) => format!("optional binary {name} (UTF8);"),
            Cells::Lists(_) => format!(
                "optional group {name} (LIST) {{ repeated group list {{ optional float element; }} }}"
            ),
        }
    }
}

/// Writes a file with so many rows a row group.
pub fn write(path: &Path, columns: &[(&str, Cells)], group: usize, properties: WriterProperties) {
    let fields: String = columns.iter().map(|(name, cells)| cells.schema(name)).collect();
    let schema = parse_message_type(&format!("message schema {{ {fields} }}")).unwrap();
    let file = File::create(path).unwrap();
    let mut writer =
        SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    for first in (0..rows).step_by(group) {
        let rows = first..(first + group).min(rows);
        let mut writer = writer.next_row_group().unwrap();
        for (_, cells) in columns {
            match cells {
                Cells::Double(all) => flat::<DoubleType>(&mut writer, &all[rows.clone()]),
                Cells::Float(all) => flat::<FloatType>(&mut writer, &all[rows.clone()]),
                Cells::Whole(all) => flat::<Int64Type>(&mut writer, &all[rows.clone()]),
                Cells::Flag(all) => flat::<BoolType>(&mut writer, &all[rows.clone()]),
                Cells::Text(all) => {
                    let bytes = |cell: &Option<String>| cell.as_deref().map(ByteArray::from);
                    let all: Vec<_> = all[rows.clone()].iter().map(bytes).collect();
                    flat::<ByteArrayType>(&mut writer, &all);
                }
                Cells::Lists(all) => lists(&mut writer, &all[rows.clone()]),
            }
        }
        writer.close().unwrap();
    }
    writer.close().unwrap();
}

fn flat<T: DataType>(writer: &mut SerializedRowGroupWriter<File>, cells: &[Option<T::T>]) {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let mut column = writer.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}

fn lists(writer: &mut SerializedRowGroupWriter<File>, cells: &[Option<Vec<Option<f32>>>]) {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    for list in cells {
        match list.as_deref() {
            None | Some([]) => {
                definitions.push(i16::from(list.is_some()));
                repetitions.push(0);
            }
            Some(list) => {
                definitions.extend(list.iter().map(|x| 2 + i16::from(x.is_some())));
                repetitions.extend((0..list.len()).map(|k| i16::from(k > 0)));
                values.extend(list.iter().flatten());
            }
        }
    }
    let mut column = writer.next_column().unwrap().unwrap();
    let typed = column.typed::<FloatType>();
    typed.write_batch(&values, Some(&definitions), Some(&repetitions)).unwrap();
    column.close().unwrap();
}
