//! The suite that holds a back end to the machine itself.
//!
//! Random histories and crowds of callers go through the back end, and what it answers is compared
//! with what the machine answers to the same. Numbers of bookings and orders, and positions, are the back
//! end's own: each is learned when it is first given, and must then name the same thing for ever.

mod copies;
mod crowd;
mod exchange;
mod full;
mod history;
mod keys;
mod oracle;
mod rooms;
mod scopes;

use std::{fmt, future::Future};

use turnstile_chassis::{Cursor, Served};
use turnstile_rooms::Rooms;
use turnstile_seed::Random;
use turnstile_types::{Principal, Timestamp};

use crate::{Backend, Scope, Service};

pub use self::{
    copies::check_copy,
    crowd::{check_crowds, check_disturbed},
    full::House,
    history::check_histories,
    keys::{check_keys_in_a_crowd, check_keys_of_failures},
    oracle::Names,
    scopes::check_guesses,
};

/// When histories begin: early in 2027.
const BEGINNING: Timestamp = Timestamp(1_798_761_600_000);

/// Where back ends to be tried come from.
pub trait Stand<M: Service = Rooms> {
    type Backend: Backend<M>;

    /// One to which nothing has happened yet.
    fn fresh(&self) -> impl Future<Output = Self::Backend>;

    /// One more to the same database as the last fresh one, as another server would have it.
    fn another(&self) -> impl Future<Output = Self::Backend>;
}

/// What the suite asks of a service, and what a back end of it may call as it likes.
pub trait Suite: Service<Answer: PartialEq> + Served {
    /// What a command makes and a back end numbers: a booking, an order.
    type Made: Copy + Ord + fmt::Debug + fmt::Display;

    /// What no back end ever makes.
    const NOBODYS: Self::Made;

    /// Whether the machine does what is due before it is asked anything, as in a server.
    const TICKS_FIRST: bool;

    /// A history compares the whole state after each so many steps.
    const COMPARED_EVERY: u32;

    /// How long a history may last.
    const LONGEST_MS: u64;

    /// Batches before a crowd comes, and how long after the beginning it comes.
    const BEFORE_CROWD: (u64, u64);

    /// Asks how much there is.
    const TOTALS: Self::Query;

    /// Who asks.
    fn principals() -> Vec<Principal>;

    /// What happens before all else.
    fn furniture() -> Vec<Self::Command<'static>>;

    /// How long to wait before the next step, in milliseconds.
    fn wait_ms(random: &mut Random) -> u64;

    /// A command, perhaps about some of what was `made`, newest last.
    fn draw_command(
        random: &mut Random,
        now: Timestamp,
        made: &[Self::Made],
    ) -> Self::Command<'static>;

    /// What a command may name: not always everything, where it names something by a reference.
    fn draw_scope(random: &mut Random, command: &Self::Command<'_>) -> Scope;

    /// What a query may name: not always everything, where it names something by a reference.
    fn draw_query_scope(random: &mut Random, query: &Self::Query) -> Scope;

    /// Whether an answer is that there is nothing to tell.
    fn is_refused(answer: &Self::Answer) -> bool;

    /// A query, perhaps about some of what was `made`, newest last.
    fn draw_query(random: &mut Random, made: &[Self::Made]) -> Self::Query;

    /// A command of a round that is done after the furniture and the rounds before.
    fn done_in(round: u32) -> Self::Command<'static>;

    /// Queries that tell the whole state between them, but for what `look_up` asks.
    fn whole() -> Vec<Self::Query>;

    /// Asks for one thing that was made.
    fn look_up(made: Self::Made) -> Self::Query;

    /// Whether a back end lets this be asked.
    fn offers(unsupported: &[&str], command: &Self::Command<'_>) -> bool;

    /// Whether a back end answers this.
    fn answers(unsupported: &[&str], query: &Self::Query) -> bool;

    /// What was made, if it is named here for the first time.
    fn made(outcome: &Self::Outcome) -> Option<Self::Made>;

    /// Puts the machine's names in place of the back end's.
    fn ask_ours(command: &mut Self::Command<'_>, names: &Names<Self>);

    /// The same in a query.
    fn query_ours(query: &mut Self::Query, names: &Names<Self>);

    /// Puts the back end's names in place of the machine's.
    fn tell_theirs(outcome: &mut Self::Outcome, names: &Names<Self>);

    /// The same in an answer.
    fn answer_theirs(answer: &mut Self::Answer, names: &Names<Self>);

    /// Leaves out what is the back end's own.
    fn forget_own(answer: &mut Self::Answer);

    /// Takes the cursor of the next page out of an answer.
    fn next_page(answer: &mut Self::Answer) -> Option<Cursor>;

    /// Where a query says at which page it begins.
    fn cursor(query: &mut Self::Query) -> Option<&mut Option<Cursor>>;

    /// Puts a page behind another; a page cursor that leads nowhere is left out of the comparison.
    fn append(answer: &mut Self::Answer, page: Self::Answer);
}
