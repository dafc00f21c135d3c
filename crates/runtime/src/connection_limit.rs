//! How many connections there may be at once. When there is no place left, the one that waits longest for its client
//! makes room: connections that are opened and then forgotten keep nobody else out. One that was just opened has a moment
//! for its first request.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::AtomicWaker;
use tokio::sync::Notify;

use super::clock::Stopwatch;

/// So long a new connection may wait for its first request before it makes room.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// What a connection's places, its reader and its answers know together. It is made beside others, which other threads
/// serve: on a cache line of its own, it is not taken away by them.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Connection {
    opened: Stopwatch,
    n_begun: AtomicUsize,
    n_over: AtomicUsize,
    /// How many answers had begun when its place was last wanted.
    n_seen: AtomicUsize,
    is_let_go: AtomicBool,
    /// Whether it ends in a reset.
    is_reset: AtomicBool,
    reader: AtomicWaker,
    /// Where its place is, if places are counted.
    places: Option<Arc<Inner>>,
}

impl Connection {
    pub(super) fn begin_answer(&self) {
        self.n_begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn end_answer(&self) {
        self.n_over.fetch_add(1, Ordering::Release);
        if let Some(places) = &self.places {
            places.look_again();
        }
    }

    pub(super) fn reset(&self) {
        self.is_reset.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_reset(&self) -> bool {
        self.is_reset.load(Ordering::Relaxed)
    }

    /// How many answers were begun, and whether one of them is not over.
    pub(super) fn answers(&self) -> (usize, bool) {
        let n_over = self.n_over.load(Ordering::Acquire);
        let n_begun = self.n_begun.load(Ordering::Relaxed);
        (n_begun, n_begun > n_over)
    }

    /// Ready if others need its place.
    pub(super) fn poll_let_go(&self, context: &Context<'_>) -> Poll<()> {
        self.reader.register(context.waker());
        match self.is_let_go.load(Ordering::Acquire) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Whether it had nothing to do since this was last asked. A new one may be about to.
    fn is_idle(&self, first_request: Duration) -> bool {
        let (n_begun, is_busy) = self.answers();
        let was_used = self.n_seen.swap(n_begun, Ordering::Relaxed) != n_begun;
        let is_new = n_begun == 0 && self.opened.elapsed() < first_request;
        !is_busy && !was_used && !is_new
    }

    fn let_go(&self) {
        self.is_let_go.store(true, Ordering::Release);
        self.reader.wake();
    }

    /// Takes it back that others may have its place, if they may: a request came first, and they wait for another one.
    pub(super) fn stay(self: &Arc<Self>) {
        if self.is_let_go.swap(false, Ordering::AcqRel)
            && let Some(places) = &self.places
        {
            places.taken().connections.push_back(self.clone());
            places.look_again();
        }
    }
}

/// The places of a server.
#[derive(Debug, Clone)]
pub struct ConnectionLimit(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    most: usize,
    /// How long a new connection may wait for its first request.
    first_request: Duration,
    taken: Mutex<Taken>,
    /// How many wait for one.
    n_waiting: AtomicUsize,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    /// Those that were not let go; the one that waits longest first, as far as is known.
    connections: VecDeque<Arc<Connection>>,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub struct Place(Arc<Connection>);

impl ConnectionLimit {
    /// So many places, one at least.
    pub fn new(most: usize) -> Self {
        Self::with(most, FIRST_REQUEST)
    }

    fn with(most: usize, first_request: Duration) -> Self {
        Self(Arc::new(Inner {
            most: most.max(1),
            first_request,
            taken: Mutex::default(),
            n_waiting: AtomicUsize::new(0),
            freed: Notify::new(),
        }))
    }

    /// How many there are, taken or not.
    pub fn most(&self) -> usize {
        self.0.most
    }

    /// A place, if there is one.
    pub fn try_take(&self) -> Option<Place> {
        let mut taken = self.0.taken();
        if taken.count >= self.0.most {
            return None;
        }
        taken.count += 1;
        let connection = Arc::new(Connection {
            opened: Stopwatch::start(),
            n_begun: AtomicUsize::new(0),
            n_over: AtomicUsize::new(0),
            n_seen: AtomicUsize::new(0),
            is_let_go: AtomicBool::new(false),
            is_reset: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            places: Some(self.0.clone()),
        });
        taken.connections.push_back(connection.clone());
        Some(Place(connection))
    }

    /// Lets the connection go that waits longest, if one waits and none is about to go.
    pub fn make_room(&self) {
        self.0.make_room();
    }

    /// A place; if there is none, one is made, which may take until an answer is over.
    pub async fn take(&self) -> Place {
        // From here on, whatever becomes free is told.
        self.0.n_waiting.fetch_add(1, Ordering::SeqCst);
        let place = loop {
            if let Some(place) = self.try_take() {
                break place;
            }
            self.0.make_room();
            // New connections become old without telling it.
            let _ = tokio::time::timeout(FIRST_REQUEST, self.0.freed.notified()).await;
        };
        self.0.n_waiting.fetch_sub(1, Ordering::SeqCst);
        // Of several that become free at once only one is told: others who wait look again.
        self.0.look_again();
        place
    }
}

impl Inner {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_room(&self) {
        let mut taken = self.taken();
        if taken.count > taken.connections.len() {
            return;
        }
        // Whoever was used since the last look is looked at once more.
        for _ in 0..2 * taken.connections.len() {
            let Some(connection) = taken.connections.pop_front() else {
                return;
            };
            if connection.is_idle(self.first_request) {
                connection.let_go();
                return;
            }
            taken.connections.push_back(connection);
        }
    }

    fn look_again(&self) {
        if self.n_waiting.load(Ordering::SeqCst) > 0 {
            self.freed.notify_one();
        }
    }
}

impl Place {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(places) = &self.0.places else { return };
        let mut taken = places.taken();
        taken.count -= 1;
        if let Some(idx) = taken
            .connections
            .iter()
            .position(|connection| Arc::ptr_eq(connection, &self.0))
        {
            taken.connections.remove(idx);
        }
        drop(taken);
        places.look_again();
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use futures::FutureExt as _;

    use super::*;

    /// Places in which a new connection is like any other.
    fn places(most: usize) -> ConnectionLimit {
        ConnectionLimit::with(most, Duration::ZERO)
    }

    fn is_let_go(place: &Place) -> bool {
        let context = Context::from_waker(Waker::noop());
        place.connection().poll_let_go(&context).is_ready()
    }

    #[tokio::test]
    async fn the_one_that_waits_longest_makes_room() {
        let places = places(2);
        let (first, second) = (places.try_take(), places.try_take());
        let (first, second) = (first.expect("a place"), second.expect("a place"));
        assert!(places.try_take().is_none());
        let mut third = Box::pin(places.take());
        assert!(third.as_mut().now_or_never().is_none());
        assert_eq!((is_let_go(&first), is_let_go(&second)), (true, false));
        // Nobody else goes while it is about to.
        assert!(third.as_mut().now_or_never().is_none());
        assert!(!is_let_go(&second));
        drop(first);
        let third = third.now_or_never().expect("there is room now");
        drop((second, third));
        let again = [places.try_take(), places.try_take()];
        assert!(again.iter().all(Option::is_some), "no place is lost");
    }

    #[tokio::test]
    async fn who_is_being_answered_stays() {
        let places = places(2);
        let (first, second) = (places.try_take(), places.try_take());
        let (first, second) = (first.expect("a place"), second.expect("a place"));
        first.connection().begin_answer();
        second.connection().begin_answer();
        let mut third = Box::pin(places.take());
        assert!(third.as_mut().now_or_never().is_none());
        assert!(!is_let_go(&first) && !is_let_go(&second));
        second.connection().end_answer();
        assert!(third.as_mut().now_or_never().is_none());
        assert_eq!((is_let_go(&first), is_let_go(&second)), (false, true));
        drop(second);
        assert!(third.now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_was_asked_in_time_stays_and_another_one_goes() {
        let places = places(2);
        let (first, second) = (places.try_take(), places.try_take());
        let (first, second) = (first.expect("a place"), second.expect("a place"));
        let mut third = Box::pin(places.take());
        assert!(third.as_mut().now_or_never().is_none());
        assert!(is_let_go(&first));
        first.connection().stay();
        first.connection().begin_answer();
        assert!(third.as_mut().now_or_never().is_none());
        assert_eq!((is_let_go(&first), is_let_go(&second)), (false, true));
        drop(second);
        assert!(third.now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_was_just_answered_goes_after_who_never_asked() {
        let places = places(2);
        let (first, second) = (places.try_take(), places.try_take());
        let (first, second) = (first.expect("a place"), second.expect("a place"));
        first.connection().begin_answer();
        first.connection().end_answer();
        assert!(places.take().now_or_never().is_none());
        assert_eq!((is_let_go(&first), is_let_go(&second)), (false, true));
    }

    #[tokio::test]
    async fn a_new_connection_has_a_moment_for_its_first_request() {
        let places = ConnectionLimit::with(2, Duration::from_secs(3600));
        let (first, second) = (places.try_take(), places.try_take());
        let (first, second) = (first.expect("a place"), second.expect("a place"));
        let mut third = Box::pin(places.take());
        assert!(third.as_mut().now_or_never().is_none());
        assert!(!is_let_go(&first) && !is_let_go(&second));
        second.connection().begin_answer();
        second.connection().end_answer();
        assert!(third.as_mut().now_or_never().is_none());
        assert_eq!((is_let_go(&first), is_let_go(&second)), (false, true));
    }
}
