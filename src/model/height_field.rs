//! Uneven ground: heights over a grid.

use std::fmt;

use nalgebra::Vector3;

/// Heights over a rectangular grid, solid below. Each cell is two triangles.
///
/// In its frame the grid is centred: x runs along the columns, y along the rows. It ends at its rim;
/// there is nothing beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    columns: usize,
    rows: usize,
    spacing: [f64; 2],
    heights: Vec<f64>,
    range: [f64; 2],
}

/// Why numbers make no height field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HeightFieldError {
    /// There are not as many heights as `rows` times `columns`.
    Count {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A grid needs two rows and two columns.
    TooSmall,
    /// A spacing is not a positive number.
    Spacing(f64),
    /// A height, by its index, is not a finite number.
    NotFinite(usize),
}

impl fmt::Display for HeightFieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeightFieldError::Count { expected, found } => {
                write!(f, "needs rows times columns = {expected} heights, found {found}")
            }
            HeightFieldError::TooSmall => f.write_str("needs at least 2 rows and 2 columns"),
            HeightFieldError::Spacing(found) => {
                write!(f, "spacing must be positive, found {found} (m)")
            }
            HeightFieldError::NotFinite(index) => {
                write!(f, "height {index} is not a finite number")
            }
        }
    }
}

impl std::error::Error for HeightFieldError {}

impl HeightField {
    /// From heights row by row, m, and the spacing along x and y, m.
    ///
    /// # Errors
    /// If the numbers make no grid.
    pub fn new(
        rows: usize,
        columns: usize,
        spacing: [f64; 2],
        heights: Vec<f64>,
    ) -> Result<HeightField, HeightFieldError> {
        if rows < 2 || columns < 2 {
            return Err(HeightFieldError::TooSmall);
        }
        let expected = rows.saturating_mul(columns);
        if heights.len() != expected {
            return Err(HeightFieldError::Count { expected, found: heights.len() });
        }
        if let Some(&found) = spacing.iter().find(|&&x| !(x > 0.0 && x.is_finite())) {
            return Err(HeightFieldError::Spacing(found));
        }
        if let Some(index) = heights.iter().position(|h| !h.is_finite()) {
            return Err(HeightFieldError::NotFinite(index));
        }
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(HeightField { columns, rows, spacing, heights, range: [low, high] })
    }

    /// How many heights are in a row, along x.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many rows there are, along y.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Between columns (along x) and between rows (along y), m.
    pub fn spacing(&self) -> [f64; 2] {
        self.spacing
    }

    /// All heights, row by row, m.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// The least and the largest height, m.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Half the extent along x and y, m.
    pub fn half_extents(&self) -> [f64; 2] {
        let half = |count: usize, spacing: f64| 0.5 * (count - 1) as f64 * spacing;
        [half(self.columns, self.spacing[0]), half(self.rows, self.spacing[1])]
    }

    /// The point of the surface over a node of the grid, m.
    pub fn vertex(&self, row: usize, column: usize) -> Vector3<f64> {
        let [x, y] = self.half_extents();
        Vector3::new(
            column as f64 * self.spacing[0] - x,
            row as f64 * self.spacing[1] - y,
            self.heights[row * self.columns + column],
        )
    }
}
