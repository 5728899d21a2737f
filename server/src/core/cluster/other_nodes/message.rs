//! What nodes answer each other, made of the answers of services and back.
//!
//! The bytes are described in `docs/formats/relay.md`.

use turnstile_access::MissingRight;
use turnstile_chassis::Right;
use turnstile_contract::{Failure, Reply};
use turnstile_replica::{RelayedAnswer, RelayedFailure, RelayedOutcome, RelayedRight};
use turnstile_types::Malformed;

use crate::core::remote::Housed;

/// What became of a command, for another node.
pub(crate) fn tell_outcome<M: Housed>(result: &Result<Reply<M>, Failure>) -> RelayedOutcome {
    match result {
        Ok(reply) => {
            let mut outcome = Vec::new();
            M::encode_outcome(&reply.outcome, &mut outcome);
            RelayedOutcome::Decided {
                position: reply.position,
                replayed: reply.replayed,
                outcome,
            }
        }
        Err(failure) => RelayedOutcome::Failed(tell_failure(failure)),
    }
}

/// What another node says has become of a command.
pub(crate) fn hear_outcome<M: Housed>(outcome: RelayedOutcome) -> Result<Reply<M>, Failure> {
    match outcome {
        RelayedOutcome::Decided {
            position,
            replayed,
            outcome,
        } => Ok(turnstile_sequencer::Reply {
            position,
            replayed,
            outcome: M::decode_outcome(&outcome).map_err(broken)?,
        }),
        RelayedOutcome::Failed(failure) => Err(hear_failure(failure)),
    }
}

/// What is answered to a query, for another node.
pub(crate) fn tell_answer<M: Housed>(answer: &Result<M::Answer, Failure>) -> RelayedAnswer {
    match answer {
        Ok(answer) => {
            let mut bytes = Vec::new();
            M::encode_answer(answer, &mut bytes);
            RelayedAnswer::Answer(bytes)
        }
        Err(failure) => RelayedAnswer::Failed(tell_failure(failure)),
    }
}

/// What another node answers to a query.
pub(crate) fn hear_answer<M: Housed>(answer: RelayedAnswer) -> Result<M::Answer, Failure> {
    match answer {
        RelayedAnswer::Answer(bytes) => M::decode_answer(&bytes).map_err(broken),
        RelayedAnswer::Failed(failure) => Err(hear_failure(failure)),
    }
}

/// Another node has answered what this one does not read.
fn broken(malformed: Malformed) -> Failure {
    Failure::Broken {
        reason: format!("another node has answered: {malformed}"),
    }
}

fn tell_failure(failure: &Failure) -> RelayedFailure {
    let text = |text: &str| Box::from(text);
    match failure {
        Failure::KeyReused { first } => RelayedFailure::KeyReused(*first),
        Failure::Forbidden(missing) => RelayedFailure::Forbidden(tell_right(*missing)),
        Failure::Unavailable { reason } => RelayedFailure::Unavailable(text(reason)),
        Failure::Unknown { reason } => RelayedFailure::Unknown(text(reason)),
        Failure::Broken { reason } => RelayedFailure::Broken(text(reason)),
        Failure::Unsupported { operation } => {
            RelayedFailure::Broken(format!("a node does not offer {operation}").into())
        }
    }
}

fn hear_failure(failure: RelayedFailure) -> Failure {
    match failure {
        RelayedFailure::KeyReused(first) => Failure::KeyReused { first },
        RelayedFailure::Forbidden(right) => match hear_right(right) {
            Some(missing) => Failure::Forbidden(missing),
            None => Failure::Broken {
                reason: "another node asks for a right that this one does not know".to_owned(),
            },
        },
        RelayedFailure::Unavailable(reason) => Failure::Unavailable {
            reason: reason.into(),
        },
        RelayedFailure::Unknown(reason) => Failure::Unknown {
            reason: reason.into(),
        },
        RelayedFailure::Broken(reason) => Failure::Broken {
            reason: reason.into(),
        },
    }
}

fn tell_right(missing: MissingRight) -> RelayedRight {
    let (kind, service, right) = match missing {
        MissingRight::Operate => (0, 0, Right::Read),
        MissingRight::Administer => (1, 0, Right::Read),
        MissingRight::Right { service, right } => (2, service, right),
        MissingRight::Named { service, right } => (3, service, right),
        MissingRight::Unlimited { service, right } => (4, service, right),
        MissingRight::Held { service } => (5, service, Right::Read),
    };
    let place = Right::ALL.iter().position(|one| *one == right);
    let right = place.and_then(|place| u8::try_from(place).ok());
    RelayedRight {
        kind,
        service,
        right: right.unwrap_or_default(),
    }
}

fn hear_right(missing: RelayedRight) -> Option<MissingRight> {
    let service = missing.service;
    let right = *Right::ALL.get(usize::from(missing.right))?;
    Some(match missing.kind {
        0 => MissingRight::Operate,
        1 => MissingRight::Administer,
        2 => MissingRight::Right { service, right },
        3 => MissingRight::Named { service, right },
        4 => MissingRight::Unlimited { service, right },
        5 => MissingRight::Held { service },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use turnstile_replica::RelayAnswer;
    use turnstile_rooms::Rooms;
    use turnstile_types::{Machine as _, Position};

    use super::*;

    fn failures() -> Vec<Failure> {
        let service = Rooms::SERVICE;
        let right = Right::Manage;
        let reason = || "why".to_owned();
        let rights = [
            MissingRight::Operate,
            MissingRight::Administer,
            MissingRight::Right { service, right },
            MissingRight::Named { service, right },
            MissingRight::Unlimited { service, right },
            MissingRight::Held { service },
        ];
        let forbidden = rights.into_iter().map(Failure::Forbidden);
        let others = [
            Failure::KeyReused { first: Position(7) },
            Failure::Unavailable { reason: reason() },
            Failure::Unknown { reason: reason() },
            Failure::Broken { reason: reason() },
        ];
        forbidden.chain(others).collect()
    }

    #[test]
    fn every_failure_comes_back_as_it_was() {
        let outcomes = failures().into_iter().map(Err);
        let outcomes: Vec<_> = outcomes.map(|one| tell_outcome::<Rooms>(&one)).collect();
        let bytes = RelayAnswer::Decided(outcomes).to_bytes();
        let Ok(RelayAnswer::Decided(read)) = RelayAnswer::parse(&bytes) else {
            panic!("it is read as it was written");
        };
        let read: Vec<_> = read.into_iter().map(hear_outcome::<Rooms>).collect();
        let expected: Vec<_> = failures().into_iter().map(Err).collect();
        assert_eq!(read, expected);
        for length in 0..bytes.len() {
            assert!(RelayAnswer::parse(&bytes[..length]).is_err(), "{length}");
        }
    }
}
