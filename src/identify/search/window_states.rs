//! Where windows start, and how much these starts are damped, as checkpoints keep them: one array with a row for each.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::identify::data::Dataset;
use crate::packed::Packed;
use crate::state::State;

/// The starts of windows, and their damping. Written as the bits of all numbers in base64.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WindowStates {
    pub initial: Vec<State<f64>>,
    /// As many, or none.
    pub damping: Vec<f64>,
}

impl WindowStates {
    /// Those of all processes at the first; the others keep what they have.
    pub fn at_first(&self, dataset: &Dataset) -> WindowStates {
        let group = dataset.group();
        if group.is_alone() {
            return self.clone();
        }
        let own: Vec<(usize, State<f64>)> =
            dataset.own_windows().into_iter().map(|k| (k, self.initial[k].clone())).collect();
        let own = own.into_iter().map(|(k, state)| (k, state, self.damping.get(k).copied()));
        let mut all = self.clone();
        for (k, state, damping) in
            group.gather_at_first("starts", own.collect::<Vec<_>>()).into_iter().flatten()
        {
            all.initial[k] = state;
            if let (Some(place), Some(damping)) = (all.damping.get_mut(k), damping) {
                *place = damping;
            }
        }
        all
    }
}

impl Serialize for WindowStates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (nq, nv) = self.initial.first().map_or((0, 0), |state| (state.q.len(), state.v.len()));
        let mut bytes = (self.initial.len(), nq, nv, !self.damping.is_empty()).packed();
        for (k, state) in self.initial.iter().enumerate() {
            state.q.iter().chain(&state.v).for_each(|x| x.pack(&mut bytes));
            self.damping.get(k).iter().for_each(|x| x.pack(&mut bytes));
        }
        STANDARD.encode(bytes).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WindowStates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        read(&bytes).ok_or_else(|| D::Error::custom("the starts of windows are not whole"))
    }
}

fn read(mut from: &[u8]) -> Option<WindowStates> {
    let from = &mut from;
    let (count, nq, nv, damped) = <(usize, usize, usize, bool)>::unpack(from)?;
    let width = nq.checked_add(nv)?.checked_add(usize::from(damped))?;
    if count.checked_mul(width)?.checked_mul(8)? != from.len() || (width == 0 && count > 0) {
        return None;
    }
    let mut states = WindowStates::default();
    for _ in 0..count {
        let mut numbers = |count: usize| (0..count).map(|_| f64::unpack(from)).collect();
        let (q, v): (Option<Vec<f64>>, Option<Vec<f64>>) = (numbers(nq), numbers(nv));
        states.initial.push(State { q: q?, v: v? });
        if damped {
            states.damping.push(f64::unpack(from)?);
        }
    }
    Some(states)
}
