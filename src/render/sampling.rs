//! Images looked at through a blur: means over blocks of pixels, then a Gaussian of these.

/// How images are sampled: each pixel, or blurred, in steps of about half the blur.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Standard deviation of the blur, px; 0: none.
    pub blur: f64,
}

/// The blur ends at so many standard deviations.
const REACH: f64 = 3.0;

impl Sampling {
    /// Pixels along the side of a block.
    pub fn block(&self) -> usize {
        ((self.blur / 2.0) as usize).max(1)
    }

    /// Width and height in blocks, the last of which may be cut off.
    pub fn size(&self, size: [usize; 2]) -> [usize; 2] {
        size.map(|side| side.div_ceil(self.block()))
    }

    /// Means over blocks of an image.
    pub(super) fn reduce(&self, size: [usize; 2], image: &[f64], blocks: &mut Vec<f64>) {
        let block = self.block();
        let [across, down] = self.size(size);
        blocks.clear();
        blocks.resize(across * down, 0.0);
        for (pixel, &x) in image.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            blocks[pixel / size[0] / block * across + pixel % size[0] / block] += x;
        }
        let share = 1.0 / (block * block) as f64;
        blocks.iter_mut().for_each(|x| *x *= share);
    }

    /// Half of the weights of the Gaussian, from the middle on.
    fn weights(&self) -> Vec<f64> {
        let block = self.block() as f64;
        // The mean over a block is a blur already, of variance (block² - 1) / 12.
        let variance = (self.blur * self.blur - (block * block - 1.0) / 12.0) / (block * block);
        if variance <= 0.0 {
            return vec![1.0];
        }
        let reach = (REACH * variance.sqrt()).ceil() as usize;
        let weight = |k: usize| (-0.5 * (k * k) as f64 / variance).exp();
        let mut weights: Vec<f64> = (0..=reach).map(weight).collect();
        let sum = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights
    }

    /// Blurs an image of blocks, outside of which there is nothing; `scratch` has its size too.
    pub(super) fn blur(
        &self,
        [width, height]: [usize; 2],
        image: &mut [f64],
        scratch: &mut Vec<f64>,
    ) {
        let weights = self.weights();
        if weights.len() == 1 {
            return;
        }
        scratch.resize(image.len(), 0.0);
        lines(image, scratch, (width, 1), (height, width), &weights);
        lines(scratch, image, (height, width), (width, 1), &weights);
    }
}

/// Sums along lines: `(count, stride)` of the entries in one, and of the lines.
fn lines(
    from: &[f64],
    to: &mut [f64],
    (count, stride): (usize, usize),
    (lines, step): (usize, usize),
    weights: &[f64],
) {
    for line in 0..lines {
        let at = |k: usize| line * step + k * stride;
        for k in 0..count {
            let mut sum = weights[0] * from[at(k)];
            for (away, &weight) in weights.iter().enumerate().skip(1) {
                if k >= away {
                    sum += weight * from[at(k - away)];
                }
                if k + away < count {
                    sum += weight * from[at(k + away)];
                }
            }
            to[at(k)] = sum;
        }
    }
}
