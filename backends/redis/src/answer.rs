//! What the functions answer, as the machine says it.

use std::collections::BTreeMap;

use turnstile_contract::{Failure, OutOfScope, Reply, Scope, natural_key};
use turnstile_rooms::{
    Answer, Done, Entry, EntryState, FormerPlace, GuestId, Nights, Outcome, Reference, Refusal,
    Rooms, Totals, TypeAvailability,
};
use turnstile_types::{Machine as _, Name, Night, Position, Principal, Stay, Timestamp};

/// The fields of one answer, read from left to right.
pub(crate) struct AnswerFields(std::vec::IntoIter<Vec<u8>>);

/// An answer of another form than the functions give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrangeAnswer(pub(crate) &'static str);

/// An answer of an earlier version, which did not say from when the nights of a refusal count.
pub(crate) const ARRIVAL: StrangeAnswer = StrangeAnswer("arrival of a refusal");

impl From<StrangeAnswer> for Failure {
    fn from(StrangeAnswer(field): StrangeAnswer) -> Self {
        Self::Broken {
            reason: format!("the {field} is invalid"),
        }
    }
}

pub(crate) type AnswerResult<T> = Result<T, StrangeAnswer>;

impl AnswerFields {
    pub(crate) fn of(fields: Vec<Vec<u8>>) -> Self {
        Self(fields.into_iter())
    }

    fn bytes(&mut self, field: &'static str) -> AnswerResult<Vec<u8>> {
        self.0.next().ok_or(StrangeAnswer(field))
    }

    pub(crate) fn text(&mut self, field: &'static str) -> AnswerResult<String> {
        String::from_utf8(self.bytes(field)?).map_err(|_bytes| StrangeAnswer(field))
    }

    fn number<T: std::str::FromStr>(&mut self, field: &'static str) -> AnswerResult<T> {
        self.text(field)?
            .parse()
            .map_err(|_text| StrangeAnswer(field))
    }

    fn name(&mut self, field: &'static str) -> AnswerResult<Name> {
        Name::parse(&self.bytes(field)?).map_err(|_text| StrangeAnswer(field))
    }

    fn instant(&mut self, field: &'static str) -> AnswerResult<Timestamp> {
        self.number(field).map(Timestamp)
    }

    fn reference(&mut self) -> AnswerResult<Reference> {
        self.number("reference").map(Reference::of_number)
    }

    fn stay(&mut self) -> AnswerResult<Stay> {
        let arrival = Night::from_days(self.number("arrival")?);
        let departure = Night::from_days(self.number("departure")?);
        Stay::new(arrival, departure).map_err(|_nights| StrangeAnswer("stay"))
    }
}

/// What became of a command; `arrival` is the first night that it wished for, where an answer of an earlier
/// version does not say it.
pub(crate) fn reply(
    fields: Vec<Vec<u8>>,
    scope: &Scope,
    arrival: Option<Night>,
) -> Result<Reply<Rooms>, Failure> {
    let mut fields = AnswerFields::of(fields);
    let tag = fields.text("kind of an answer")?;
    let position = Position(fields.number("position")?);
    let replayed = match tag.as_str() {
        "reused" => return Err(Failure::KeyReused { first: position }),
        "forbidden" => {
            return Err(scope.refusal(match fields.text("reason")?.as_str() {
                "names" => OutOfScope::Names,
                "holder" => OutOfScope::Holder,
                _ => return Err(StrangeAnswer("reason").into()),
            }));
        }
        "again" => true,
        "first" => false,
        _ => return Err(StrangeAnswer("kind of an answer").into()),
    };
    Ok(Reply::<Rooms> {
        position,
        replayed,
        outcome: outcome(&mut fields, arrival)?,
    })
}

/// An outcome; `arrival` as in [`reply`].
pub(crate) fn outcome(fields: &mut AnswerFields, arrival: Option<Night>) -> AnswerResult<Outcome> {
    let done = match fields.text("outcome")?.as_str() {
        "encoded" => {
            let bytes = fields.bytes("outcome")?;
            return Rooms::decode_outcome(&bytes).map_err(|_malformed| StrangeAnswer("outcome"));
        }
        "refused" => return refusal(fields, arrival).map(Outcome::Refused),
        "booked" => Done::Booked {
            reference: fields.reference()?,
            room: fields.name("room")?,
        },
        "held" => Done::Held {
            reference: fields.reference()?,
            room: fields.name("room")?,
            until: fields.instant("until")?,
        },
        "extended" => Done::Extended {
            until: fields.instant("until")?,
        },
        "confirmed" => Done::Confirmed {
            reference: fields.reference()?,
            room: fields.name("room")?,
            late: fields.text("late")? == "1",
        },
        "cancelled" => Done::Cancelled {
            room: fields.name("room")?,
            stay: fields.stay()?,
        },
        "moved" => Done::Moved {
            room: fields.name("room")?,
            from: FormerPlace {
                room: fields.name("room before")?,
                stay: fields.stay()?,
            },
        },
        word => Done::plain(word).ok_or(StrangeAnswer("outcome"))?,
    };
    Ok(Outcome::Done(done))
}

fn refusal(fields: &mut AnswerFields, arrival: Option<Night>) -> AnswerResult<Refusal> {
    Ok(match fields.text("refusal")?.as_str() {
        "too_many_rooms" => Refusal::TooManyRooms {
            limit: fields.number("limit")?,
        },
        "sold_out" => {
            let bits = bits(&fields.bytes("nights")?);
            let said = fields.number("arrival").map(Night::from_days);
            let first = said.ok().or(arrival).ok_or(ARRIVAL)?;
            let nights = Nights { first, bits };
            Refusal::SoldOut { nights }
        }
        "too_many_holds" => Refusal::TooManyHolds {
            limit: fields.number("limit")?,
        },
        "full" => Refusal::Full {
            limit: fields.number("limit")?,
        },
        "hold_too_long" => Refusal::HoldTooLong {
            ttl_ms_max: fields.number("limit")?,
        },
        "hold_ceiling" => Refusal::HoldCeiling {
            until_max: fields.instant("until")?,
        },
        word => Refusal::plain(word).ok_or(StrangeAnswer("refusal"))?,
    })
}

/// One character for each night, 1 where it is taken.
fn bits(nights: &[u8]) -> u128 {
    let taken = nights.iter().rev();
    taken.fold(0, |bits, &night| bits << 1 | u128::from(night == b'1'))
}

pub(crate) fn totals(fields: Vec<Vec<u8>>) -> Result<Answer, Failure> {
    let mut fields = AnswerFields::of(fields);
    let mut next = || fields.number::<u64>("total");
    let (booked_total, cancelled_total) = (next()?, next()?);
    let (held_total, expired_total) = (next()?, next()?);
    let (holds, rooms, properties) = (next()?, next()?, next()?);
    Ok(Answer::Totals(Totals {
        bookings: booked_total.saturating_sub(cancelled_total),
        holds,
        properties,
        rooms,
        booked_total,
        cancelled_total,
        held_total,
        expired_total,
    }))
}

/// What a look-up found.
pub(crate) fn entry(reference: Reference, fields: Vec<Vec<u8>>) -> Result<Answer, Failure> {
    let mut fields = AnswerFields::of(fields);
    if fields.text("kind of an answer")? == "refused" {
        return Ok(Answer::Refused(refusal(&mut fields, None)?));
    }
    let mut known = BTreeMap::new();
    while let Ok(name) = fields.text("field") {
        known.insert(name, fields.bytes("field")?);
    }
    Ok(Answer::Entry(entry_of(reference, &known)?))
}

/// The entry that some fields of a hash are.
pub(crate) fn entry_of(
    reference: Reference,
    known: &BTreeMap<String, Vec<u8>>,
) -> AnswerResult<Entry> {
    let one = |field: &'static str| {
        let value = known.get(field).cloned();
        value
            .map(|value| AnswerFields::of(vec![value]))
            .ok_or(StrangeAnswer(field))
    };
    let until = || one("until")?.instant("until");
    let state = match one("state")?.text("state")?.as_str() {
        "booked" => EntryState::Booked,
        "held" => EntryState::Held { until: until()? },
        "expired" => EntryState::Expired { at: until()? },
        _ => return Err(StrangeAnswer("state")),
    };
    let is_booked = state == EntryState::Booked;
    let days = [known.get("arrival"), known.get("departure")];
    let days = days.into_iter().flatten().cloned().collect();
    Ok(Entry {
        reference,
        state,
        property: one("property")?.name("property")?,
        room: one("room_number")?.name("room_number")?,
        stay: AnswerFields::of(days).stay()?,
        guest: is_booked
            .then(|| one("name")?.text("name").map(Into::into))
            .transpose()?,
        id: is_booked.then(|| id_of(known)).transpose()?,
        principal: Principal(one("principal")?.name("principal")?),
        since: one("since")?.instant("since")?,
        position: Position(one("position")?.number("position")?),
    })
}

fn id_of(known: &BTreeMap<String, Vec<u8>>) -> AnswerResult<GuestId> {
    let text = |field: &'static str| {
        let value = known
            .get(field)
            .and_then(|value| str::from_utf8(value).ok());
        value.ok_or(StrangeAnswer(field))
    };
    let seal = u64::from_str_radix(text("seal")?, 16);
    let last_four = text("id_number")?.trim_start_matches('*').parse();
    Ok(GuestId {
        seal: seal.map_err(|_text| StrangeAnswer("seal"))?,
        last_four: last_four.map_err(|_text| StrangeAnswer("id_number"))?,
    })
}

/// The free rooms of each type; `wanted` is there when one type was asked for, even if no room of it
/// is known.
pub(crate) fn availability(
    fields: Vec<Vec<u8>>,
    wanted: Option<Name>,
    stay: Stay,
) -> Result<Answer, Failure> {
    let mut fields = AnswerFields::of(fields);
    if fields.text("kind of an answer")? == "refused" {
        return Ok(Answer::Refused(refusal(&mut fields, None)?));
    }
    let mut types: BTreeMap<Vec<u8>, TypeAvailability> = BTreeMap::new();
    if let Some(name) = wanted {
        types.insert(Vec::new(), none_of(name, stay));
    }
    while let Ok(bytes) = fields.bytes("type") {
        let name = Name::parse(&bytes).map_err(|_text| StrangeAnswer("type"))?;
        let taken = bits(&fields.bytes("nights")?);
        let key = match wanted {
            Some(_) => Vec::new(),
            None => natural_key(&bytes),
        };
        let counted = types.entry(key).or_insert_with(|| none_of(name, stay));
        counted.rooms += 1;
        counted.free_throughout += u32::from(taken == 0);
        for (night, free) in counted.free.iter_mut().enumerate() {
            *free += u32::from(taken >> night & 1 == 0);
        }
    }
    Ok(Answer::Availability(types.into_values().collect()))
}

fn none_of(room_type: Name, stay: Stay) -> TypeAvailability {
    TypeAvailability {
        room_type,
        rooms: 0,
        free: vec![0; stay.nights().into()],
        free_throughout: 0,
    }
}
