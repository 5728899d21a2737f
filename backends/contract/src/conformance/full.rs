//! A property that is booked while the disk of its database is full.

use turnstile_rooms::{
    Answer, Command, Done, GuestId, GuestName, Outcome, Query, Reference, Rooms, Wish,
};
use turnstile_types::{Night, Principal, Stay};

use super::{
    BEGINNING,
    history::{CheckedHistory, keyed},
    rooms,
};
use crate::{Backend, Failure, Request};

/// Bookings that are sent at once.
const BATCH: u16 = 64;

/// Batches that must be refused in a row.
const REFUSED: u16 = 2;

/// Batches until a full disk must have been noticed: a table soon grows.
const BATCHES_MAX: u16 = 1_000;

/// The bookings of a house that were acknowledged.
#[derive(Debug)]
pub struct House<'a, B> {
    backend: &'a B,
    made: Vec<Reference>,
}

impl<'a, B: Backend<Rooms>> House<'a, B> {
    /// Opens a house in a back end to which nothing has happened yet.
    ///
    /// # Errors
    /// It cannot be opened.
    pub async fn open(backend: &'a B) -> Result<Self, String> {
        CheckedHistory::new(backend).furnish().await?;
        let made = Vec::new();
        Ok(Self { backend, made })
    }

    /// Books one room; sent again, it is the same booking.
    ///
    /// # Errors
    /// As the back end fails.
    ///
    /// # Panics
    /// The room is refused.
    pub async fn book(&mut self, room: &str) -> Result<(), Failure> {
        self.book_all(&[room.to_owned()]).await.remove(0)
    }

    async fn book_all(&mut self, rooms: &[String]) -> Vec<Result<(), Failure>> {
        let requests: Vec<Request> = rooms.iter().map(|room| booking(room)).collect();
        let results = self.backend.execute(BEGINNING, &requests).await;
        let results = results.into_iter().map(|result| match result?.outcome {
            Outcome::Done(Done::Booked { reference, .. }) => {
                self.made.push(reference);
                Ok(())
            }
            other => panic!("a free room is not booked: {other:?}"),
        });
        results.collect()
    }

    /// Books until some batches, one after another, were answered as unavailable for an expected reason,
    /// and nothing else has ever failed.
    ///
    /// # Errors
    /// Something fails in another way, or nothing does.
    pub async fn book_until_full(
        &mut self,
        mut is_expected: impl FnMut(&str) -> bool,
    ) -> Result<(), String> {
        let mut refused = 0;
        for batch in 0..BATCHES_MAX {
            let rooms = (0..BATCH).map(|number| format!("r{batch}-{number}"));
            let before = self.made.len();
            for result in self.book_all(&rooms.collect::<Vec<_>>()).await {
                match result {
                    Err(Failure::Unavailable { reason }) if is_expected(&reason) => {}
                    Err(failure) => return Err(format!("failed: {failure:?}")),
                    Ok(()) => {}
                }
            }
            refused = if self.made.len() == before {
                refused + 1
            } else {
                0
            };
            if refused == REFUSED {
                return Ok(());
            }
        }
        Err(format!("{} bookings lie on a full disk", self.made.len()))
    }

    /// Looks up all that was acknowledged, and whether there is anything else.
    ///
    /// # Errors
    /// A booking is missing, or there is one too many.
    pub async fn compare(&self) -> Result<(), String> {
        let ask = async |query| {
            let owner = Principal::local();
            let answer = self.backend.query(BEGINNING, &owner, &query).await;
            answer.map_err(|failure| format!("failed: {failure}"))
        };
        let answer = ask(Query::Totals).await?;
        let count = self.made.len() as u64;
        if !matches!(&answer, Answer::Totals(totals) if totals.bookings == count) {
            return Err(format!("expected {count} bookings, got {answer:?}"));
        }
        for &reference in &self.made {
            let answer = ask(Query::LookUp { reference }).await?;
            if !matches!(answer, Answer::Entry(_)) {
                return Err(format!("{reference} was acknowledged, and is {answer:?}"));
            }
        }
        Ok(())
    }
}

/// A booking of a room, with its name as the key.
fn booking(room: &str) -> Request {
    let night = Night::from_days;
    let command = Command::Book {
        property: rooms::name("open-house"),
        wish: Wish::Room(rooms::name(room)),
        stay: Stay::new(night(21_000), night(21_002)).expect("a stay of the suite"),
        guest: GuestName::parse(b"Ada").expect("a guest of the suite"),
        id: GuestId {
            seal: 7,
            last_four: 2346,
        },
    };
    keyed::<Rooms>(room, &command)
}
