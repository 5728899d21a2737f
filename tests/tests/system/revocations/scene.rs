//! What all who take part share: where the server is, which keys there are, and how far all have come.

use std::{
    net::SocketAddr,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Duration,
};

use turnstile_tests::Turnstile;

/// Nothing that is waited for takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where the server listens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) resp: SocketAddr,
    pub(super) http: SocketAddr,
}

impl Place {
    pub(super) fn of(server: &Turnstile) -> Self {
        Self {
            resp: server.resp(),
            http: server.http(),
        }
    }
}

#[derive(Debug)]
struct Course {
    /// Nowhere while the server is down.
    place: Option<Place>,
    operations: usize,
}

#[derive(Debug)]
pub(super) struct Scene {
    course: Mutex<Course>,
    changed: Condvar,
    /// For each principal the key that it is to use now.
    current: Vec<AtomicU8>,
    newest: AtomicU8,
    over: AtomicBool,
}

impl Scene {
    pub(super) fn new(place: Place, principals: u8) -> Self {
        Self {
            course: Mutex::new(Course {
                place: Some(place),
                operations: 0,
            }),
            changed: Condvar::new(),
            current: (0..principals).map(AtomicU8::new).collect(),
            newest: AtomicU8::new(principals - 1),
            over: AtomicBool::new(false),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    pub(super) fn current(&self, principal: u8) -> u8 {
        self.current[usize::from(principal)].load(Ordering::SeqCst)
    }

    pub(super) fn newest(&self) -> u8 {
        self.newest.load(Ordering::SeqCst)
    }

    /// Gives a principal a new key.
    pub(super) fn give(&self, principal: u8, key: u8) {
        self.current[usize::from(principal)].store(key, Ordering::SeqCst);
        self.newest.store(key, Ordering::SeqCst);
    }

    /// Where the server is; waits until it is somewhere.
    pub(super) fn place(&self) -> Place {
        self.wait_for(|course| course.place)
    }

    /// The server goes.
    pub(super) fn leave(&self) {
        self.course().place = None;
    }

    /// It is there again.
    pub(super) fn come(&self, place: Place) {
        self.course().place = Some(place);
        self.changed.notify_all();
    }

    pub(super) fn note_progress(&self) {
        self.course().operations += 1;
        self.changed.notify_all();
    }

    /// Waits until so many operations more are over.
    pub(super) fn await_progress(&self, operations: usize) {
        let enough = self.course().operations + operations;
        self.wait_for(|course| (course.operations >= enough).then_some(()));
    }

    fn wait_for<T>(&self, found: impl Fn(&Course) -> Option<T>) -> T {
        let waits = |course: &mut Course| found(course).is_none();
        let waited = self
            .changed
            .wait_timeout_while(self.course(), PATIENCE, waits);
        let (course, _) = waited.unwrap_or_else(PoisonError::into_inner);
        found(&course).expect("it goes on")
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
