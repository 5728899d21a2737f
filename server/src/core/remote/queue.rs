//! The way of work from the loop to the thread that asks a database.

use std::{
    cell::Cell,
    sync::{
        Arc,
        mpsc::{self, SyncSender, TryRecvError, TrySendError},
    },
};

use tokio::sync::Notify;

/// Puts work into the queue, and wakes the other end once for all that a turn has put there: on a shared
/// core a wake-up takes the core from whoever wakes, and the other end would find the first piece alone.
pub(super) struct Sender<T> {
    // It is closed before the bell is rung for the last time: fields are dropped in this order.
    queue: SyncSender<T>,
    bell: DropNotifier,
    has_put: Cell<bool>,
}

/// Takes work from the queue.
pub(super) struct Receiver<T> {
    queue: mpsc::Receiver<T>,
    bell: Arc<Notify>,
}

/// Rings a last time when it is dropped.
struct DropNotifier(Arc<Notify>);

impl Drop for DropNotifier {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A queue for so many pieces of work.
pub(super) fn queue<T>(places: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::sync_channel(places);
    let bell = Arc::new(Notify::new());
    let sender = Sender {
        queue: sender,
        bell: DropNotifier(Arc::clone(&bell)),
        has_put: Cell::new(false),
    };
    let queue = receiver;
    (sender, Receiver { queue, bell })
}

impl<T> Sender<T> {
    /// Puts work into the queue, or gives it back when there is no place or nobody to take it.
    pub(super) fn put(&self, work: T) -> Result<(), T> {
        self.has_put.set(true);
        let put = self.queue.try_send(work);
        put.map_err(|(TrySendError::Full(work) | TrySendError::Disconnected(work))| work)
    }

    /// Wakes the other end, when something was put since this was last done.
    pub(super) fn ring(&self) {
        if self.has_put.take() {
            self.bell.0.notify_one();
        }
    }
}

impl<T> Receiver<T> {
    /// The next piece that is there.
    pub(super) fn next(&self) -> Option<T> {
        self.queue.try_recv().ok()
    }

    /// Waits for a piece; none when nobody can put any more.
    pub(super) async fn wait(&self) -> Option<T> {
        loop {
            match self.queue.try_recv() {
                Ok(work) => return Some(work),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => self.bell.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::Future,
        pin::pin,
        task::{Context, Poll, Waker},
    };

    use super::queue;

    fn poll<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn who_waits_is_woken_by_the_bell_and_finds_all_that_was_put() {
        let (sender, receiver) = queue(2);
        let mut waiting = Box::pin(receiver.wait());
        let mut look = || {
            let waker = Waker::noop();
            waiting.as_mut().poll(&mut Context::from_waker(waker))
        };
        assert_eq!(look(), Poll::Pending);
        assert_eq!(sender.put(1), Ok(()));
        assert_eq!(sender.put(2), Ok(()));
        assert_eq!(look(), Poll::Pending, "nobody has rung");
        sender.ring();
        assert_eq!(look(), Poll::Ready(Some(1)));
        assert_eq!([receiver.next(), receiver.next()], [Some(2), None]);
    }

    #[test]
    fn a_full_queue_gives_work_back_and_a_closed_one_ends() {
        let (sender, receiver) = queue(1);
        assert_eq!([sender.put(1), sender.put(2)], [Ok(()), Err(2)]);
        drop(sender);
        assert_eq!(poll(receiver.wait()), Poll::Ready(Some(1)));
        assert_eq!(poll(receiver.wait()), Poll::Ready(None));
        let (sender, receiver) = queue(1);
        drop(receiver);
        assert_eq!(sender.put(3), Err(3));
    }
}
