//! What RESP asks of a service: requests from arguments, replies from outcomes and answers.

use turnstile_chassis::Show as _;
use turnstile_rooms::Door;
use turnstile_types::{Machine, Position};

use crate::{
    Arguments, Call, Encoder, Invalid, Request,
    fields::{put_outcome, put_refused},
};

/// A machine that RESP serves.
pub trait Spoken: Machine {
    /// Reads the arguments of a request whose words the catalogue has counted.
    ///
    /// # Errors
    /// The first argument that is not what it should be.
    fn parse<'a>(
        call: &'static Call,
        arguments: Arguments<'a, '_>,
        door: Door<'_>,
    ) -> Result<Request<'a, Self::Command<'a>, Self::Query>, Box<Invalid>>;

    /// Appends what was answered to a command. `replayed`: it is the answer to an earlier request
    /// with the same key.
    fn put_outcome(
        reply: &mut Encoder<'_>,
        outcome: &Self::Outcome,
        position: Position,
        replayed: bool,
    );

    /// Appends what was answered to a query.
    fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer);
}

macro_rules! plain {
    ($($name:ident: $machine:ident),+ $(,)?) => {$(
        impl Spoken for turnstile_services::$name::$machine {
            #[inline]
            fn parse<'a>(
                call: &'static Call,
                arguments: Arguments<'a, '_>,
                _door: Door<'_>,
            ) -> Result<Request<'a, Self::Command<'a>, Self::Query>, Box<Invalid>> {
                call.read(arguments, ())
            }

            #[inline]
            fn put_outcome(
                reply: &mut Encoder<'_>,
                outcome: &Self::Outcome,
                position: Position,
                replayed: bool,
            ) {
                put_outcome(reply, outcome, position, replayed);
            }

            fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
                match answer {
                    turnstile_services::$name::Answer::Refused(refusal) => {
                        put_refused(reply, refusal, None, false);
                    }
                    answer => reply.object(answer),
                }
            }
        }
    )+};
}

turnstile_services::plain_services!(plain);

/// Services with functions of their own; behind each name whether its requests need the door's key.
macro_rules! special {
    ($($name:ident: $machine:ident, |$door:ident| ($($needed:ident)?);)+) => {$(
        impl Spoken for turnstile_services::$name::$machine {
            #[inline]
            fn parse<'a>(
                call: &'static Call,
                arguments: Arguments<'a, '_>,
                $door: Door<'_>,
            ) -> Result<Request<'a, Self::Command<'a>, Self::Query>, Box<Invalid>> {
                crate::$name::parse(call, arguments, $($needed)?)
            }

            #[inline]
            fn put_outcome(
                reply: &mut Encoder<'_>,
                outcome: &Self::Outcome,
                position: Position,
                replayed: bool,
            ) {
                crate::$name::put_outcome(reply, outcome, position, replayed);
            }

            fn put_answer(reply: &mut Encoder<'_>, answer: &Self::Answer) {
                crate::$name::put_answer(reply, answer);
            }
        }
    )+};
}

special! {
    rooms: Rooms, |door| (door);
    exchange: Exchange, |_door| ();
    travel: Travel, |_door| ();
    games: Games, |_door| ();
}
