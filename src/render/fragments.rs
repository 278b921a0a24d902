//! Areas of faces in pixels, from the pieces that border what is seen of them.

use super::piece::{Moving, NOTHING, Piece};
use crate::ad::Real;

/// What is seen of a face in a pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment<T> {
    pub face: u32,
    pub pixel: usize,
    /// The share of the pixel.
    pub area: T,
}

/// A face in a row: its columns, and where its areas begin.
#[derive(Clone, Copy, Debug)]
struct Span {
    face: u32,
    first: usize,
    last: usize,
    start: usize,
}

/// Scratch memory.
#[derive(Clone, Debug)]
pub(super) struct Fragments<T> {
    /// Of each face its place among the spans of the row.
    places: Vec<u32>,
    spans: Vec<Span>,
    /// Areas in the pixels of pieces, and heights that go on from a pixel to its right.
    own: Vec<T>,
    steps: Vec<T>,
}

impl<T> Default for Fragments<T> {
    fn default() -> Self {
        Fragments { places: Vec::new(), spans: Vec::new(), own: Vec::new(), steps: Vec::new() }
    }
}

impl<T: Real> Fragments<T> {
    /// Calls `see` with all fragments of `faces` faces, row by row.
    pub fn each(
        &mut self,
        (pieces, moving): (&[Piece], &Moving<T>),
        faces: usize,
        [width, height]: [usize; 2],
        mut see: impl FnMut(Fragment<T>),
    ) {
        if width == 0 {
            return;
        }
        self.places.clear();
        self.places.resize(faces, NOTHING);
        let mut rest = pieces;
        for row in 0..height {
            let count = rest.iter().take_while(|piece| piece.row as usize == row).count();
            let (own, others) = rest.split_at(count);
            rest = others;
            self.row((own, moving), (row, width), &mut see);
        }
    }

    fn row(
        &mut self,
        (pieces, moving): (&[Piece], &Moving<T>),
        (row, width): (usize, usize),
        see: &mut impl FnMut(Fragment<T>),
    ) {
        self.spans.clear();
        let within = |piece: &Piece| (piece.column.max(0) as usize).min(width - 1);
        for piece in pieces {
            let column = within(piece);
            for face in piece.sides.into_iter().filter(|&face| face != NOTHING) {
                let place = &mut self.places[face as usize];
                if *place == NOTHING {
                    *place = self.spans.len() as u32;
                    self.spans.push(Span { face, first: column, last: column, start: 0 });
                }
                let span = &mut self.spans[*place as usize];
                (span.first, span.last) = (span.first.min(column), span.last.max(column));
            }
        }
        let mut count = 0;
        for span in &mut self.spans {
            span.start = count;
            count += span.last - span.first + 2;
        }
        for list in [&mut self.own, &mut self.steps] {
            list.clear();
            list.resize(count, T::zero());
        }
        for piece in pieces.iter().filter(|piece| piece.column < width as i32) {
            let [area, height] = moving.area(piece);
            for (face, sign) in piece.sides.into_iter().zip([-1.0, 1.0]) {
                if face == NOTHING {
                    continue;
                }
                let span = &self.spans[self.places[face as usize] as usize];
                let at = span.start + within(piece) - span.first;
                // From before the image all of the first pixel is to its right.
                if piece.column < 0 {
                    self.own[at] += height * sign;
                } else {
                    self.own[at] += area * sign;
                }
                self.steps[at + 1] += height * sign;
            }
        }
        for &Span { face, first, last, start } in &self.spans {
            self.places[face as usize] = NOTHING;
            let mut sum = T::zero();
            for column in first..=last {
                let at = start + column - first;
                sum += self.steps[at];
                see(Fragment { face, pixel: row * width + column, area: sum + self.own[at] });
            }
        }
    }
}
