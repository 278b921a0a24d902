//! Values as bytes that go from one process to another of the same program: numbers with all their bits.

use std::collections::BTreeMap;

/// What can be packed into bytes, and unpacked by the same program elsewhere.
pub(crate) trait Packed: Sized {
    /// Appends the bytes.
    fn pack(&self, to: &mut Vec<u8>);

    /// Takes them off the front of `from`; nothing where that is not what was packed.
    fn unpack(from: &mut &[u8]) -> Option<Self>;

    /// All bytes.
    fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.pack(&mut bytes);
        bytes
    }
}

fn take<'a>(from: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (own, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(own)
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Packed for $number {
            fn pack(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                let bytes = take(from, size_of::<$number>())?;
                Some(<$number>::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}
numbers!(f64, u64, u32, u16, u8);

impl Packed for usize {
    fn pack(&self, to: &mut Vec<u8>) {
        (*self as u64).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        u64::unpack(from)?.try_into().ok()
    }
}

impl Packed for bool {
    fn pack(&self, to: &mut Vec<u8>) {
        u8::from(*self).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(u8::unpack(from)? != 0)
    }
}

impl Packed for String {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        to.extend_from_slice(self.as_bytes());
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let count = usize::unpack(from)?;
        String::from_utf8(take(from, count)?.to_vec()).ok()
    }
}

impl<T: Packed> Packed for Option<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.is_some().pack(to);
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Some(match bool::unpack(from)? {
            true => Some(T::unpack(from)?),
            false => None,
        })
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let count = usize::unpack(from)?;
        // No more than could be there, whatever is claimed.
        let mut values = Vec::with_capacity(count.min(from.len()));
        for _ in 0..count {
            values.push(T::unpack(from)?);
        }
        Some(values)
    }
}

impl<K: Packed + Ord, T: Packed> Packed for BTreeMap<K, T> {
    fn pack(&self, to: &mut Vec<u8>) {
        self.len().pack(to);
        self.iter().for_each(|(key, value)| (key.pack(to), value.pack(to)).1);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        Vec::<(K, T)>::unpack(from).map(BTreeMap::from_iter)
    }
}

impl<T: Packed, const N: usize> Packed for [T; N] {
    fn pack(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let values: Option<Vec<T>> = (0..N).map(|_| T::unpack(from)).collect();
        values?.try_into().ok()
    }
}

macro_rules! tuples {
    ($(($($part:ident $place:tt),*)),*) => {$(
        impl<$($part: Packed),*> Packed for ($($part,)*) {
            fn pack(&self, to: &mut Vec<u8>) {
                $(self.$place.pack(to);)*
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some(($($part::unpack(from)?,)*))
            }
        }
    )*};
}
tuples!((A 0, B 1), (A 0, B 1, C 2), (A 0, B 1, C 2, D 3));

/// `packed!(Type { field, .. })` packs a struct field by field, where they are in sight.
macro_rules! packed {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl crate::packed::Packed for $name {
            fn pack(&self, to: &mut Vec<u8>) {
                $(crate::packed::Packed::pack(&self.$field, to);)*
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: crate::packed::Packed::unpack(from)?),* })
            }
        }
    };
}
pub(crate) use packed;

/// `packed_names!(Type { Variant, .. })` packs an enumeration without data by the place of its variant.
macro_rules! packed_names {
    ($name:ident { $($variant:ident),* $(,)? }) => {
        impl crate::packed::Packed for $name {
            fn pack(&self, to: &mut Vec<u8>) {
                let all = [$($name::$variant),*];
                let place = all.iter().position(|variant| variant == self);
                crate::packed::Packed::pack(&place.unwrap_or(all.len()), to);
            }

            fn unpack(from: &mut &[u8]) -> Option<Self> {
                let place: usize = crate::packed::Packed::unpack(from)?;
                [$($name::$variant),*].into_iter().nth(place)
            }
        }
    };
}
pub(crate) use packed_names;
