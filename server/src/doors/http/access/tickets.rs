//! Tickets: a browser cannot send a header with an event stream or a WebSocket, so it shows a ticket in
//! the address, once.

use std::collections::HashMap;

use turnstile_types::{Principal, Timestamp};

use super::{
    super::limits::{TICKET_AGE_MS, TICKETS, TICKETS_OF_PRINCIPAL},
    token::{AccessToken, TokenDigest},
};

#[derive(Debug)]
struct StreamTicket<C> {
    principal: Principal,
    caller: C,
    ends: Timestamp,
}

/// As many tickets wait as there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TicketsFull;

/// Tickets that were given and not used. An address may stand in logs of proxies and in the history of a
/// browser, so a ticket is good for one stream, and for seconds.
#[derive(Debug)]
pub(super) struct StreamTickets<C> {
    waiting: HashMap<TokenDigest, StreamTicket<C>>,
    /// How many may wait, and how many of one principal.
    most: usize,
    most_each: usize,
}

impl<C> Default for StreamTickets<C> {
    fn default() -> Self {
        Self::of_most(TICKETS, TICKETS_OF_PRINCIPAL)
    }
}

impl<C> StreamTickets<C> {
    fn of_most(most: usize, most_each: usize) -> Self {
        Self {
            waiting: HashMap::new(),
            most,
            most_each,
        }
    }

    /// Gives a ticket; answers when it ends. If its principal has as many as it may have, the oldest of
    /// them ends.
    ///
    /// # Errors
    /// Too many wait.
    pub(super) fn give(
        &mut self,
        now: Timestamp,
        token: &AccessToken,
        (principal, caller): (Principal, C),
    ) -> Result<Timestamp, TicketsFull> {
        self.waiting.retain(|_, ticket| ticket.ends > now);
        let own = self.waiting.iter();
        let own = own.filter(|(_, ticket)| ticket.principal == principal);
        let oldest = own.clone().min_by_key(|(_, ticket)| ticket.ends);
        let oldest = oldest.map(|(digest, _)| *digest);
        if own.count() >= self.most_each
            && let Some(oldest) = oldest
        {
            self.waiting.remove(&oldest);
        }
        if self.waiting.len() >= self.most {
            return Err(TicketsFull);
        }
        let ends = now.plus_ms(TICKET_AGE_MS);
        let ticket = StreamTicket {
            principal,
            caller,
            ends,
        };
        self.waiting.insert(token.digest(), ticket);
        Ok(ends)
    }

    /// Takes the caller of a ticket. It is used up, also when it comes too late.
    pub(super) fn take(&mut self, now: Timestamp, token: &[u8]) -> Option<C> {
        let ticket = self.waiting.remove(&TokenDigest::of(token))?;
        (ticket.ends > now).then_some(ticket.caller)
    }
}

#[cfg(test)]
mod tests {
    use turnstile_types::Name;

    use super::*;
    use crate::doors::http::access::token::TOKEN_BYTES;

    const BEGIN: Timestamp = Timestamp(1_000_000_000);

    fn token(number: usize) -> AccessToken {
        let mut random = [0; TOKEN_BYTES];
        random[..8].copy_from_slice(&number.to_be_bytes());
        AccessToken::new(random)
    }

    fn give(tickets: &mut StreamTickets<usize>, now: Timestamp, number: usize) -> bool {
        give_to(tickets, "ada", now, number)
    }

    fn give_to(
        tickets: &mut StreamTickets<usize>,
        who: &str,
        now: Timestamp,
        number: usize,
    ) -> bool {
        let principal = Principal(Name::parse(who.as_bytes()).unwrap());
        tickets
            .give(now, &token(number), (principal, number))
            .is_ok()
    }

    fn take(tickets: &mut StreamTickets<usize>, now: Timestamp, number: usize) -> Option<usize> {
        tickets.take(now, token(number).expose().as_bytes())
    }

    #[test]
    fn a_ticket_is_good_once_and_not_for_long() {
        let mut tickets = StreamTickets::default();
        for number in 0..3 {
            assert!(give(&mut tickets, BEGIN, number));
        }
        let (last, late) = (
            BEGIN.plus_ms(TICKET_AGE_MS - 1),
            BEGIN.plus_ms(TICKET_AGE_MS),
        );
        assert_eq!(take(&mut tickets, last, 0), Some(0));
        assert_eq!(take(&mut tickets, last, 0), None);
        assert_eq!(take(&mut tickets, late, 1), None);
        assert_eq!(
            take(&mut tickets, last, 1),
            None,
            "it was used, though late"
        );
        assert_eq!(take(&mut tickets, last, 9), None);
        assert_eq!(take(&mut tickets, last, 2), Some(2));
    }

    #[test]
    fn one_principal_cannot_take_the_places_of_others() {
        let mut tickets = StreamTickets::of_most(4, 2);
        for number in 0..3 {
            assert!(give(&mut tickets, BEGIN.plus_ms(number as u64), number));
        }
        let now = BEGIN.plus_ms(3);
        for (number, who) in [(3, "bob"), (4, "eve")] {
            assert!(give_to(&mut tickets, who, now, number));
        }
        assert!(!give_to(&mut tickets, "fay", now, 5));
        assert_eq!(take(&mut tickets, now, 0), None, "the oldest made room");
        assert_eq!(take(&mut tickets, now, 1), Some(1));
        assert!(give_to(&mut tickets, "fay", now, 5));
    }
}
