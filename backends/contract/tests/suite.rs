//! The suite passes a back end that is right, and finds what is wrong with those that are not.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use turnstile_contract::{
    Answered, Backend, Facts, Failure, Future, Reply, Request, Scope, Tally,
    conformance::{
        Stand, check_crowds, check_guesses, check_histories, check_keys_in_a_crowd,
        check_keys_of_failures,
    },
};
use turnstile_rooms::{Answer, Command, Query, Rooms};
use turnstile_sequencer::KEY_MS;
use turnstile_types::{Context, Machine, Position, Principal, Timestamp};

/// What is wrong with a back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    None,
    /// Forgets idempotency keys.
    Keys,
    /// Cancels for every guest.
    Guests,
    /// Lets everybody name everything.
    Scopes,
    /// Judges what a batch names before it decides it.
    Looks,
    /// Tells everybody everything.
    Answers,
    /// Draws positions before its locks.
    Positions,
    /// Lets holds end with the clock of the tick only.
    Clock,
}

/// A database in memory: the machine behind a lock.
#[derive(Debug)]
struct Store {
    machine: Rooms,
    position: u64,
    keys: HashMap<(Principal, String), First>,
}

#[derive(Debug)]
struct First {
    at: Timestamp,
    bytes: Box<[u8]>,
    reply: Reply<Rooms>,
}

#[derive(Debug)]
struct Shelf {
    store: Arc<Mutex<Store>>,
    defect: Defect,
    tally: Tally,
}

impl Store {
    fn decide(
        &mut self,
        now: Timestamp,
        request: &Request,
        defect: Defect,
    ) -> Result<Reply<Rooms>, Failure> {
        let name = request.key().map(|key| (request.principal, key.to_owned()));
        let known = name.as_ref().and_then(|name| self.keys.get(name));
        if let Some(first) = known.filter(|first| now.ms_since(first.at) < KEY_MS) {
            if *first.bytes != *request.bytes() {
                let first = first.reply.position;
                return Err(Failure::KeyReused { first });
            }
            return Ok(Reply::<Rooms> {
                replayed: true,
                ..first.reply.clone()
            });
        }
        if ![Defect::Scopes, Defect::Looks].contains(&defect) {
            self.judge(now, request)?;
        }
        self.position += 1;
        let mut command = request.command::<Rooms>().expect("a command of the suite");
        if let (Command::Cancel { booking, id }, Defect::Guests) = (&mut command, defect) {
            let asked = Query::LookUp {
                reference: *booking,
            };
            let principal = Principal::local();
            if let Answer::Entry(entry) = self.machine.query(now, &principal, &asked) {
                *id = entry.id.unwrap_or(*id);
            }
        }
        let late = defect == Defect::Clock && matches!(command, Command::Book { .. });
        let context = Context {
            position: Position(self.position),
            now: if late { Timestamp(0) } else { now },
            principal: &request.principal,
        };
        let reply = Reply::<Rooms> {
            position: context.position,
            replayed: false,
            outcome: self.machine.apply(&context, &command),
        };
        if let Some(name) = name.filter(|_name| defect != Defect::Keys) {
            let first = First {
                at: now,
                bytes: request.bytes().into(),
                reply: reply.clone(),
            };
            self.keys.insert(name, first);
        }
        Ok(reply)
    }
}

impl Store {
    fn judge(&self, now: Timestamp, request: &Request) -> Result<(), Failure> {
        let command = request.command::<Rooms>().expect("a command of the suite");
        let Some(reference) = command.entry() else {
            return Ok(());
        };
        let look_up = Query::LookUp { reference };
        let entry = self.machine.query(now, &request.principal, &look_up);
        let named = match &entry {
            Answer::Entry(entry) => Some((&entry.property, &entry.principal)),
            _ => None,
        };
        let judged = request.scope().judge(&request.principal, named);
        judged.map_err(|why| request.scope().refusal(why))
    }
}

impl Backend<Rooms> for Shelf {
    fn execute<'a>(
        &'a self,
        now: Timestamp,
        requests: &'a [Request],
    ) -> Future<'a, Vec<Result<Reply<Rooms>, Failure>>> {
        Box::pin(async move {
            let (early, looks) = {
                let store = self.store.lock().expect("nobody panicked");
                let looks = requests.iter().map(|request| store.judge(now, request));
                (store.position, looks.collect::<Vec<_>>())
            };
            let mut results = Vec::new();
            for ((request, look), number) in requests.iter().zip(looks).zip(1..) {
                tokio::task::yield_now().await;
                if let (Err(failure), Defect::Looks) = (look, self.defect) {
                    results.push(Err(failure));
                    continue;
                }
                let mut store = self.store.lock().expect("nobody panicked");
                let mut result = store.decide(now, request, self.defect);
                if let (Ok(reply), Defect::Positions) = (&mut result, self.defect) {
                    reply.position = Position(early + number);
                }
                results.push(result);
            }
            results
        })
    }

    fn query<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        query: &'a Query,
    ) -> Future<'a, Answered<Rooms>> {
        let answer = self
            .store
            .lock()
            .expect("nobody panicked")
            .machine
            .query(now, principal, query);
        Box::pin(async move { Ok(answer) })
    }

    fn query_within<'a>(
        &'a self,
        now: Timestamp,
        principal: &'a Principal,
        (query, scope): (&'a Query, &'a Scope),
    ) -> Future<'a, Answered<Rooms>> {
        Box::pin(async move {
            let answer = self.query(now, principal, query).await?;
            if self.defect != Defect::Answers {
                scope.admit_answer::<Rooms>(principal, (query, &answer))?;
            }
            Ok(answer)
        })
    }

    fn tick(&self, now: Timestamp) -> Future<'_, Result<(), Failure>> {
        let mut store = self.store.lock().expect("nobody panicked");
        store.position += 1;
        let principal = Principal::local();
        let context = Context {
            position: Position(store.position),
            now,
            principal: &principal,
        };
        store.machine.tick(&context);
        Box::pin(async { Ok(()) })
    }

    fn facts(&self) -> Future<'_, Result<Facts, Failure>> {
        Box::pin(async {
            Ok(Facts {
                product: "a shelf".into(),
                version: "1".into(),
                place: "memory".into(),
                durability: Vec::new(),
                schema: 1,
            })
        })
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// Shelves with one defect or none.
struct Workshop {
    defect: Defect,
    last: Mutex<Arc<Mutex<Store>>>,
}

impl Workshop {
    fn of(defect: Defect) -> Self {
        Self {
            defect,
            last: Mutex::new(Self::store()),
        }
    }

    fn store() -> Arc<Mutex<Store>> {
        Arc::new(Mutex::new(Store {
            machine: Rooms::empty(),
            position: 0,
            keys: HashMap::new(),
        }))
    }
}

impl Stand for Workshop {
    type Backend = Shelf;

    async fn fresh(&self) -> Shelf {
        *self.last.lock().expect("nobody panicked") = Self::store();
        self.another().await
    }

    async fn another(&self) -> Shelf {
        Shelf {
            store: Arc::clone(&self.last.lock().expect("nobody panicked")),
            defect: self.defect,
            tally: Tally::default(),
        }
    }
}

#[tokio::test]
async fn a_right_back_end_passes() {
    let workshop = Workshop::of(Defect::None);
    assert_eq!(check_histories(&workshop, 0..100, 60).await, Ok(()));
    assert_eq!(check_crowds(&workshop, 0..20).await, Ok(()));
    assert_eq!(check_keys_in_a_crowd(&workshop, 10).await, Ok(()));
    assert_eq!(check_keys_of_failures(&workshop).await, Ok(()));
    assert_eq!(check_guesses(&workshop, 10).await, Ok(()));
}

fn assert_found(checked: Result<(), String>, sentence: &str) {
    let found = checked.expect_err("the defect is found");
    assert!(found.contains(sentence), "{found}");
}

#[tokio::test]
async fn forgotten_keys_are_found() {
    let workshop = Workshop::of(Defect::Keys);
    assert_found(check_histories(&workshop, 0..20, 60).await, "differs");
    assert_found(
        check_keys_in_a_crowd(&workshop, 1).await,
        "it is not decided once",
    );
    assert_found(
        check_keys_of_failures(&workshop).await,
        "expected a key used again",
    );
}

#[tokio::test]
async fn cancelling_for_anybody_is_found() {
    let workshop = Workshop::of(Defect::Guests);
    assert_found(check_histories(&workshop, 0..50, 60).await, "WrongGuest");
}

#[tokio::test]
async fn callers_outside_of_their_scopes_are_found() {
    let workshop = Workshop::of(Defect::Scopes);
    assert_found(check_histories(&workshop, 0..20, 60).await, "Forbidden");
    assert_found(check_guesses(&workshop, 10).await, "a guess released");
}

#[tokio::test]
async fn answers_outside_of_their_scopes_are_found() {
    let workshop = Workshop::of(Defect::Answers);
    assert_found(check_histories(&workshop, 0..20, 60).await, "LookUp");
}

#[tokio::test]
async fn a_look_before_the_decision_is_found() {
    let workshop = Workshop::of(Defect::Looks);
    assert_found(check_guesses(&workshop, 10).await, "a guess released");
}

#[tokio::test]
async fn holds_that_end_late_are_found() {
    let workshop = Workshop::of(Defect::Clock);
    assert_found(check_histories(&workshop, 0..50, 60).await, "differs");
}

#[tokio::test]
async fn positions_out_of_order_are_found() {
    let workshop = Workshop::of(Defect::Positions);
    assert_found(check_crowds(&workshop, 0..20).await, "crowd");
}
