//! Parts of edges within one pixel, and how the area beside them changes with the corners of their edges.

use nalgebra::Vector3;

use crate::ad::Real;

/// What is behind all faces.
pub(super) const NOTHING: u32 = u32::MAX;

/// What an edge in the image follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The line through two corners.
    Corners([usize; 2]),
    /// Where the planes of two triangles cross, of these corners.
    Crossing([[usize; 3]; 2]),
    /// Nothing: a surface is cut off there just before the camera.
    Fixed,
}

/// An edge in the image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub line: Line,
    /// Its ends, px.
    pub from: [f64; 2],
    pub to: [f64; 2],
}

/// A height in the image that pieces begin and end at, px.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    /// Of the border of pixels, or of an end that is not a corner.
    Fixed(f64),
    /// Of a corner.
    Corner(usize),
    /// Where two edges cross.
    Crossing(u32, u32),
    /// Where an edge meets the left border of a column of pixels.
    Column(u32, f64),
}

/// A part of an edge within one pixel that differs in what is seen beside it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub edge: u32,
    pub row: u32,
    /// Its pixel in the row; before and beyond the image -1 and its width.
    pub column: i32,
    /// What is seen to its left and to its right: faces or [`NOTHING`].
    pub sides: [u32; 2],
    pub from: Level,
    pub to: Level,
    /// Its ends, px, the upper one first.
    pub ends: [[f64; 2]; 2],
    /// Whether it is of an edge along the row: `from` and `to` then mean nothing, and its sides are above and below.
    /// (A short piece of another edge can be level by rounding.)
    pub level: bool,
}

impl Piece {
    /// Its pixel in an image, if it is in one.
    pub fn pixel(&self, width: usize) -> Option<usize> {
        let column = usize::try_from(self.column).ok().filter(|&column| column < width)?;
        Some(self.row as usize * width + column)
    }

    /// How the area to its right, or below, changes with the line of its edge; `ends` are its own.
    fn slope<T: Real>(&self, line: &Vector3<T>, ends: [[T; 2]; 2]) -> Option<Vector3<T>> {
        let [[x0, y0], [x1, y1]] = ends;
        let (dx, dy) = (x1 - x0, y1 - y0);
        let length = (dx * dx + dy * dy).sqrt();
        let size = (line.x * line.x + line.y * line.y).sqrt();
        if !(length.value() > 0.0 && size.value() > 0.0) {
            return None;
        }
        // To the right of where it goes down, or below.
        let inward = match self.level {
            true => line.y * dx,
            false => line.x * dy - line.y * dx,
        };
        let factor = length / size * inward.value().signum();
        Some(Vector3::new((x0 + x1) * 0.5, (y0 + y1) * 0.5, T::one()) * factor)
    }
}

/// How an area changes with corners: the product with the change of each, added up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slopes<T> {
    count: usize,
    of: [(usize, Vector3<T>); 6],
}

impl<T> Slopes<T> {
    pub fn iter(&self) -> impl Iterator<Item = &(usize, Vector3<T>)> {
        self.of[..self.count].iter()
    }
}

/// The plane of a triangle in the image: 1/z there is the product with (x, y, 1).
pub(super) fn inverse_depth<T: Real>([a, b, c]: [&Vector3<T>; 3]) -> Vector3<T> {
    let bc = b.cross(c);
    (bc + c.cross(a) + a.cross(b)) / a.dot(&bc)
}

/// Edges whose corners move.
pub(super) struct Moving<'a, T> {
    pub edges: &'a [Edge],
    pub corners: &'a [Vector3<T>],
}

impl<T: Real> Moving<'_, T> {
    /// The area of its pixel to the right of a piece, and the height of it; of a level one how much what is below has grown: its
    /// value is there already, with the pieces beside.
    pub fn area(&self, piece: &Piece) -> [T; 2] {
        if piece.level {
            let is_fixed = self.edges[piece.edge as usize].line == Line::Fixed;
            if T::ORDER == 0 || is_fixed {
                return [T::zero(); 2];
            }
            // Between fixed columns what is below moves with the height in the middle.
            let [[x0, y], [x1, _]] = piece.ends;
            let line = self.line(piece.edge);
            let height = -(line.x * (0.5 * (x0 + x1)) + line.z) / line.y;
            return [(T::constant(y) - height) * (x1 - x0), T::zero()];
        }
        let [[x0, y0], [x1, y1]] = self.ends(piece);
        let height = y1 - y0;
        let right = T::constant(f64::from(piece.column) + 1.0) - (x0 + x1) * 0.5;
        [height * right, height]
    }

    /// The ends of a piece; on values alone as they are.
    fn ends(&self, piece: &Piece) -> [[T; 2]; 2] {
        if T::ORDER == 0 || piece.level {
            return piece.ends.map(|end| end.map(T::constant));
        }
        let y0 = self.height(piece.from, piece.ends[0][1]);
        let y1 = self.height(piece.to, piece.ends[1][1]);
        [[self.across(piece, 0, y0), y0], [self.across(piece, 1, y1), y1]]
    }

    fn line(&self, edge: u32) -> Vector3<T> {
        let Edge { line, from: [x0, y0], to: [x1, y1] } = self.edges[edge as usize];
        match line {
            Line::Corners([a, b]) => self.corners[a].cross(&self.corners[b]),
            Line::Crossing([f, g]) => self.plane(f) - self.plane(g),
            Line::Fixed => Vector3::new(y0 - y1, x1 - x0, x0 * y1 - x1 * y0).map(T::constant),
        }
    }

    fn plane(&self, corners: [usize; 3]) -> Vector3<T> {
        inverse_depth(corners.map(|corner| &self.corners[corner]))
    }

    fn height(&self, level: Level, value: f64) -> T {
        match level {
            Level::Fixed(y) => T::constant(y),
            Level::Corner(corner) if self.corners[corner].z.value() > 0.0 => {
                self.corners[corner].y / self.corners[corner].z
            }
            // Cut off before the camera.
            Level::Corner(_) => T::constant(value),
            Level::Crossing(a, b) => {
                let point = self.line(a).cross(&self.line(b));
                point.y / point.z
            }
            Level::Column(edge, x) => {
                let line = self.line(edge);
                -(line.x * x + line.z) / line.y
            }
        }
    }

    /// Where the piece is at a height near its `end`.
    fn across(&self, piece: &Piece, end: usize, y: T) -> T {
        let level = if end == 0 { piece.from } else { piece.to };
        if let Level::Column(edge, x) = level
            && edge == piece.edge
        {
            return T::constant(x);
        }
        let line = self.line(piece.edge);
        -(line.y * y + line.z) / line.x
    }

    /// How the area to the right of a piece, or below, changes with the corners.
    pub fn slopes(&self, piece: &Piece) -> Option<Slopes<T>> {
        let line = self.edges[piece.edge as usize].line;
        if line == Line::Fixed {
            return None;
        }
        let m = piece.slope(&self.line(piece.edge), self.ends(piece))?;
        let mut slopes = Slopes { count: 0, of: [(0, Vector3::zeros()); 6] };
        let mut push = |corner: usize, slope: Vector3<T>| {
            slopes.of[slopes.count] = (corner, slope);
            slopes.count += 1;
        };
        match line {
            Line::Fixed => return None,
            Line::Corners([a, b]) => {
                let [ha, hb] = [a, b].map(|corner| self.corners[corner]);
                push(a, hb.cross(&m));
                push(b, m.cross(&ha));
            }
            Line::Crossing(planes) => {
                for (corners, sign) in planes.into_iter().zip([-1.0, 1.0]) {
                    let [a, b, c] = corners.map(|corner| &self.corners[corner]);
                    let w = inverse_depth([a, b, c]);
                    // H'w = 1 for the corners H: m'dw = -(H^-1 m)'dH'w.
                    let rows = [b.cross(c), c.cross(a), a.cross(b)];
                    let volume = a.dot(&rows[0]);
                    for (&corner, row) in corners.iter().zip(&rows) {
                        push(corner, w * (row.dot(&m) / volume * sign));
                    }
                }
            }
        }
        Some(slopes)
    }
}

/// Pushes a piece, cut at the borders of columns.
pub(super) fn split(piece: Piece, width: usize, pieces: &mut Vec<Piece>) {
    let [[x0, y0], [x1, y1]] = piece.ends;
    let column = |x: f64| x.clamp(-1.0, width as f64).floor() as i32;
    let (low, high) = (x0.min(x1), x0.max(x1));
    // The columns that it has a part in; one end may be on a border.
    let first = if low < 0.0 { -1 } else { column(low) };
    let last = if high >= width as f64 { width as i32 } else { column(high) };
    if first == last || low == high {
        pieces.push(Piece { column: first, ..piece });
        return;
    }
    let rightward = x1 > x0;
    let (mut from, mut start) = (piece.from, piece.ends[0]);
    let count = last - first;
    for k in 0..=count {
        let here = if rightward { first + k } else { last - k };
        let (to, end) = if k == count {
            (piece.to, piece.ends[1])
        } else {
            let x = f64::from(if rightward { here + 1 } else { here });
            let y = (y0 + (y1 - y0) * ((x - x0) / (x1 - x0))).max(start[1]).min(y1);
            (Level::Column(piece.edge, x), [x, y])
        };
        pieces.push(Piece { column: here, from, to, ends: [start, end], ..piece });
        (from, start) = (to, end);
    }
}
