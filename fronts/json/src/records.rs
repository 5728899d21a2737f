//! Commands and outcomes of records, by the declarations of their services.
//!
//! What only a door can read is no field of a command, so no id number and no digest is shown.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor as Reading},
};
use turnstile_chassis::{Fields, Refuse, Served, Value, Visitor};
use turnstile_types::{Machine as _, Outcome, Unapplied};

use crate::AsJson;

/// Fields with their values, in the order of their declaration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedFields(pub Vec<(Cow<'static, str>, serde_json::Value)>);

/// A command that was read from a record.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCommand {
    /// The name of its service.
    pub service: &'static str,
    /// The word of its operation.
    pub operation: &'static str,
    pub fields: RecordedFields,
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedOutcome {
    Done(RecordedFields),
    Refused {
        code: &'static str,
        /// One sentence without its full stop.
        sentence: &'static str,
        data: RecordedFields,
    },
    /// The answer comes with a later record.
    Waiting,
}

impl RecordedFields {
    fn of(fields: &impl Fields) -> Self {
        let mut values = Self::default();
        fields.visit(&mut values);
        values
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Visitor for RecordedFields {
    fn field(&mut self, name: &'static str, value: &impl Value) {
        if !value.is_none() {
            let shown = serde_json::to_value(AsJson(value));
            self.0.push((
                name.into(),
                shown.expect("a value is text, numbers, lists and objects"),
            ));
        }
    }
}

impl Serialize for RecordedFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for RecordedFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsInOrder)
    }
}

/// Reads the members of an object in the order in which they stand there.
struct FieldsInOrder;

impl<'de> Reading<'de> for FieldsInOrder {
    type Value = RecordedFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<RecordedFields, A::Error> {
        let mut fields = RecordedFields::default();
        while let Some((name, value)) = members.next_entry::<String, _>()? {
            fields.0.push((name.into(), value));
        }
        Ok(fields)
    }
}

/// What a service answers to a command, whatever form that has there.
trait AsRecorded {
    fn recorded(&self) -> RecordedOutcome;
}

impl<D: Fields, R: Refuse> AsRecorded for Outcome<D, R> {
    fn recorded(&self) -> RecordedOutcome {
        match self {
            Self::Done(done) => RecordedOutcome::Done(RecordedFields::of(done)),
            Self::Refused(refusal) => refused(refusal),
        }
    }
}

impl AsRecorded for turnstile_services::travel::Outcome {
    fn recorded(&self) -> RecordedOutcome {
        match self {
            Self::Done(done) => RecordedOutcome::Done(RecordedFields::of(done)),
            Self::Refused(refusal) => refused(refusal),
            Self::Waiting { .. } => RecordedOutcome::Waiting,
        }
    }
}

fn refused(refusal: &impl Refuse) -> RecordedOutcome {
    let meaning = refusal.meaning();
    RecordedOutcome::Refused {
        code: meaning.code,
        sentence: meaning.sentence,
        data: RecordedFields::of(refusal),
    }
}

macro_rules! records {
    ($($name:ident: $machine:ident),+ $(,)?) => {
        $(use turnstile_services::$name::$machine;)+

        /// The names of the services with the numbers that they have in records.
        #[must_use]
        pub fn service_names() -> Vec<(u8, &'static str)> {
            vec![$(($machine::SERVICE, $machine::NAME)),+]
        }

        /// Reads the command of a record.
        ///
        /// # Errors
        /// There is no such service, or the bytes are no command of it.
        pub fn recorded_command(service: u8, payload: &[u8]) -> Result<RecordedCommand, Unapplied> {
            match service {
                $($machine::SERVICE => {
                    let command = $machine::decode_command(payload);
                    let command = command.map_err(Unapplied::Malformed)?;
                    Ok(RecordedCommand {
                        service: $machine::NAME,
                        operation: command.code(),
                        fields: RecordedFields::of(&command),
                    })
                })+
                _ => Err(Unapplied::UnknownService),
            }
        }

        /// Reads what a command of a service came to.
        ///
        /// # Errors
        /// There is no such service, or the bytes are no outcome of it.
        pub fn recorded_outcome(service: u8, outcome: &[u8]) -> Result<RecordedOutcome, Unapplied> {
            match service {
                $($machine::SERVICE => {
                    let outcome = $machine::decode_outcome(outcome);
                    outcome.map_err(Unapplied::Malformed).map(|outcome| outcome.recorded())
                })+
                _ => Err(Unapplied::UnknownService),
            }
        }
    };
}

turnstile_services::services!(records);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use turnstile_chassis::{Field, Operation, Operations as _};

    use super::*;

    /// What is a secret or made of one, and so no field.
    const SECRETS: [&str; 2] = ["id_number", "digest"];

    macro_rules! declared {
        ($($name:ident: $machine:ident),+ $(,)?) => {
            /// The operations of each service, and the fields of its commands.
            fn declared() -> Vec<(&'static str, Vec<Operation>, Vec<Field>)> {
                use turnstile_services as services;
                vec![$((
                    $machine::NAME,
                    services::$name::Command::operations(),
                    services::$name::Command::describe(),
                )),+]
            }
        };
    }

    turnstile_services::services!(declared);

    #[test]
    fn every_parameter_of_a_command_is_a_field_of_the_same_name_unless_it_is_a_secret() {
        for (service, operations, fields) in declared() {
            let parameters = operations
                .iter()
                .flat_map(|operation| &operation.parameters);
            let mut parameters: BTreeSet<&str> =
                parameters.map(|parameter| parameter.name).collect();
            parameters.retain(|name| !SECRETS.contains(name));
            let fields: BTreeSet<&str> = fields.iter().map(|field| field.name).collect();
            let missing: Vec<_> = parameters.difference(&fields).collect();
            assert_eq!(missing, [&""; 0], "{service}");
            assert!(
                SECRETS.iter().all(|secret| !fields.contains(secret)),
                "{service}"
            );
        }
    }

    #[test]
    fn what_is_no_record_of_a_service_is_refused() {
        assert_eq!(recorded_command(0, &[]), Err(Unapplied::UnknownService));
        assert_eq!(recorded_outcome(200, &[]), Err(Unapplied::UnknownService));
        assert!(matches!(
            recorded_command(1, &[0xff]),
            Err(Unapplied::Malformed(_))
        ));
        assert!(matches!(
            recorded_outcome(1, &[0x70]),
            Err(Unapplied::Malformed(_))
        ));
    }
}
