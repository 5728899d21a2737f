//! The memory of keys as bytes, as a snapshot holds it.

use turnstile_types::{Effect, Malformed, Reader, Sink, Timestamp};

use super::Keys;
use crate::remembered::{Remembered, RememberedField};

impl Keys {
    /// Every entry but those of forgotten waits, the oldest first, in the bytes in which [`Self::restore`] reads them.
    pub(crate) fn snapshot(&self, out: &mut dyn Sink) {
        // They are counted one by one only if some are left out.
        let length = if self.forgotten.is_empty() {
            self.done.len() + self.refused.len()
        } else {
            self.written().count()
        };
        out.put(&(length as u64).to_le_bytes());
        let mut bytes = Vec::new();
        for entry in self.written() {
            bytes.clear();
            entry.put(&mut bytes);
            out.put(&bytes);
        }
    }

    /// A restored memory would take a forgotten wait for one that still waits.
    fn written(&self) -> impl Iterator<Item = Remembered<'_>> {
        let entries = self.entries().map(|(_, entry)| entry);
        entries.filter(|entry| !self.forgotten.contains_key(&entry.first.position))
    }

    /// Passes over what [`Self::snapshot`] wrote.
    pub(crate) fn pass(
        reader: &mut Reader<'_>,
        services: RememberedField,
    ) -> Result<(), Malformed> {
        for _ in 0..reader.u64("number of keys")? {
            Remembered::pass(reader, services)?;
        }
        Ok(())
    }

    /// Reads what [`Self::snapshot`] wrote. What an entry came to is told by `effect_of`, from its
    /// service and its outcome.
    pub(crate) fn restore(
        reader: &mut Reader<'_>,
        refused_bytes_max: u64,
        services: RememberedField,
        effect_of: impl Fn(u8, &[u8]) -> Result<Effect, Malformed>,
    ) -> Result<Self, Malformed> {
        let mut keys = Self::new(refused_bytes_max);
        let mut previous = Timestamp(0);
        for _ in 0..reader.u64("number of keys")? {
            reader.lap()?;
            let entry = Remembered::read(reader, services)?;
            if entry.time < previous {
                return Err(Malformed {
                    field: "order of keys",
                });
            }
            previous = entry.time;
            let effect = effect_of(entry.first.service, entry.first.outcome)?;
            keys.put(&entry, effect);
        }
        Ok(keys)
    }
}
