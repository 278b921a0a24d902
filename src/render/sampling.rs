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

    /// The blocks that have to be looked at where only these pixels of an image are not zero; nothing if there are none.
    pub(super) fn blocks(
        &self,
        [width, height]: [usize; 2],
        pixels: impl Iterator<Item = usize>,
    ) -> Option<Blocks> {
        let block = self.block();
        let mut bounds: Option<[[usize; 2]; 2]> = None;
        for place in pixels.map(|pixel| [pixel % width / block, pixel / width / block]) {
            let [low, high] = bounds.unwrap_or([place; 2]);
            bounds = Some([0, 1].map(|side| match side {
                0 => [low[0].min(place[0]), low[1].min(place[1])],
                _ => [high[0].max(place[0]), high[1].max(place[1])],
            }));
        }
        let reach = self.weights().len() - 1;
        let [low, high] = bounds?;
        let all = [width.div_ceil(block), height.div_ceil(block)];
        let first = low.map(|x| x.saturating_sub(reach));
        let last = [0, 1].map(|k| (high[k] + 1 + reach).min(all[k]));
        let size = [last[0] - first[0], last[1] - first[1]];
        Some(Blocks { width, block, first, size })
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

    /// Blurs an image of blocks, outside of which there is nothing; `scratch` is memory for it.
    pub(super) fn blur(&self, blocks: &Blocks, image: &mut [f64], scratch: &mut Vec<f64>) {
        let weights = self.weights();
        if weights.len() == 1 {
            return;
        }
        let [width, height] = blocks.size;
        scratch.resize(image.len(), 0.0);
        lines(image, scratch, (width, 1), (height, width), &weights);
        lines(scratch, image, (height, width), (width, 1), &weights);
    }
}

/// Blocks of pixels of a part of an image.
pub(super) struct Blocks {
    /// Of the image, px.
    width: usize,
    /// Pixels along the side of one.
    block: usize,
    /// The first block, and how many there are, across and down.
    first: [usize; 2],
    size: [usize; 2],
}

impl Blocks {
    /// Of all of an image.
    pub fn all(sampling: Sampling, [width, height]: [usize; 2]) -> Blocks {
        let block = sampling.block();
        Blocks { width, block, first: [0; 2], size: [width, height].map(|x| x.div_ceil(block)) }
    }

    /// The places among these blocks of those that are among others too, in their order, and then of those that are not.
    pub fn sorted_by(&self, others: &Blocks) -> (Vec<usize>, Vec<usize>) {
        let is_within = |place: &usize| {
            let at = [place % self.size[0] + self.first[0], place / self.size[0] + self.first[1]];
            (0..2).all(|k| (others.first[k]..others.first[k] + others.size[k]).contains(&at[k]))
        };
        (0..self.count()).partition(is_within)
    }

    pub fn count(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// The share of a pixel in its block.
    pub fn share(&self) -> f64 {
        1.0 / (self.block * self.block) as f64
    }

    /// The block of a pixel.
    pub fn place(&self, pixel: usize) -> usize {
        let [across, down] = [pixel % self.width, pixel / self.width].map(|x| x / self.block);
        (down - self.first[1]) * self.size[0] + across - self.first[0]
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
