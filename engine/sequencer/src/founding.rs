//! Which of several partitions a state is, as bytes.

use turnstile_types::{Malformed, PartitionFounding, PartitionNumber, Reader, put_u8, put_u64};

/// The first byte of the engine's record that says which of several partitions a state is.
pub(crate) const FOUNDED: u8 = 6;

/// What the engine's record says that begins a partition.
pub(crate) fn founding_record(founding: &PartitionFounding) -> Vec<u8> {
    let mut payload = vec![FOUNDED];
    put_founding(founding, &mut payload);
    payload
}

/// What a record of the engine says of the partition that it begins; nothing if it says something else.
#[must_use]
pub fn founding_of(payload: &[u8]) -> Option<PartitionFounding> {
    read_founding_record(payload).ok()
}

/// Reads what [`founding_record`] wrote.
pub(crate) fn read_founding_record(payload: &[u8]) -> Result<PartitionFounding, Malformed> {
    let mut reader = Reader::new(payload);
    Malformed::unless(
        reader.u8("kind of an engine's record")? == FOUNDED,
        "kind of an engine's record",
    )?;
    let founding = read_founding(&mut reader)?;
    reader.finish("end of an engine's record")?;
    Ok(founding)
}

pub(crate) fn put_founding(founding: &PartitionFounding, out: &mut Vec<u8>) {
    put_u8(out, founding.number.get());
    put_u8(out, founding.count);
    put_u64(out, founding.list);
}

pub(crate) fn read_founding(reader: &mut Reader<'_>) -> Result<PartitionFounding, Malformed> {
    let field = "number of a partition";
    let number = PartitionNumber::new(reader.u8(field)?);
    let number = number.ok_or(Malformed { field })?;
    let count = reader.u8("number of partitions")?;
    Malformed::unless(number.get() < count, field)?;
    Ok(PartitionFounding {
        number,
        count,
        list: reader.u64("names of partitions")?,
    })
}
