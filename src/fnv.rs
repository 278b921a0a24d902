//! The hash FNV-1a.

/// A hash of bytes, the same on all machines.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub fn value(&self) -> u64 {
        self.0
    }

    /// Of numbers, by their bits.
    pub fn of(numbers: &[f64]) -> u64 {
        let mut hash = Fnv::default();
        numbers.iter().for_each(|x| hash.add(&x.to_bits().to_le_bytes()));
        hash.0
    }
}
