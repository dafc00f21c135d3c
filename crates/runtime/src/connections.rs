//! Accepts connections, not more than there are places for, and hands them to those who serve them.
//!
//! What thousands of requests go through each second is served by hyper itself: what axum puts around it is routes and
//! extractors, and here every request goes to one function.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection_limit::{ConnectionLimit, Place};
use super::timeouts::{ActivityFlag, TimeoutStream, Timeouts};

/// Connections that wait for who serves them.
const QUEUE: usize = 64;
/// What else has files open.
const OTHER_FILES: u64 = 128;
/// When there are no files left, this long passes until the next try.
const PAUSE: Duration = Duration::from_millis(10);

/// A connection that was accepted.
#[derive(Debug)]
pub struct Accepted {
    stream: std::net::TcpStream,
    place: Place,
}

/// Accepts connections.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    places: ConnectionLimit,
}

impl Acceptor {
    /// Accepts what `listener` does, while there are places.
    pub fn new(listener: TcpListener, places: ConnectionLimit) -> Self {
        Self { listener, places }
    }

    /// How many places there are.
    pub fn n_places(&self) -> usize {
        self.places.most()
    }

    /// The next connection, and whether another one had to make room for it.
    pub async fn accept(&self) -> (Accepted, bool) {
        loop {
            let accepted = match self.listener.accept().await {
                // Events of a stream are small, and each is to be seen when it is sent.
                Ok((stream, _)) => stream.set_nodelay(true).and_then(|()| stream.into_std()),
                Err(error) => Err(error),
            };
            let stream = match accepted {
                Ok(accepted) => accepted,
                // Who was to be accepted has gone.
                Err(error) if is_of_connection(&error) => continue,
                // There are no files left: those that wait for their client have some.
                Err(_) => {
                    self.places.make_room();
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let (place, is_crowded) = match self.places.try_take() {
                Some(place) => (place, false),
                None => (self.places.take().await, true),
            };
            return (Accepted { stream, place }, is_crowded);
        }
    }
}

fn is_of_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotConnected
    )
}

/// How many connections there can be at once: `wanted`, or fewer if this process may not have so many files open.
pub fn possible_connections(wanted: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    // At a very low limit, half of the files are for others.
    let possible = limit.map(|limit| limit.saturating_sub(OTHER_FILES.min(limit / 2)));
    possible.map_or(wanted, |possible| {
        wanted.min(usize::try_from(possible).unwrap_or(wanted))
    })
}

/// A request whose body is still to be read.
pub type Request = hyper::Request<Incoming>;

/// Where connections are handed in to a [`WorkerConnections`].
#[derive(Debug, Clone)]
pub struct Dispatcher {
    accepted: mpsc::Sender<(Accepted, Open)>,
    n_open: Arc<AtomicUsize>,
}

impl Dispatcher {
    /// Hands in a connection.
    pub async fn give(&self, accepted: Accepted) {
        self.n_open.fetch_add(1, Ordering::Relaxed);
        let open = Open(self.n_open.clone());
        // A share is gone only when all is over.
        let _ = self.accepted.send((accepted, open)).await;
    }

    /// How many connections the share has.
    pub fn n_open(&self) -> usize {
        self.n_open.load(Ordering::Relaxed)
    }
}

/// Counts a connection of a share while there is one.
#[derive(Debug)]
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The connections that one server is handed. Each ends with its time limits.
#[derive(Debug)]
pub struct WorkerConnections {
    accepted: mpsc::Receiver<(Accepted, Open)>,
    timeouts: Timeouts,
}

impl WorkerConnections {
    /// A share of connections, and where they are handed in.
    pub fn new(timeouts: Timeouts) -> (Dispatcher, Self) {
        let (sender, accepted) = mpsc::channel(QUEUE);
        let dispatcher = Dispatcher {
            accepted: sender,
            n_open: Arc::default(),
        };
        (dispatcher, Self { accepted, timeouts })
    }

    /// Answers every request until `stop`; after that what is under way is finished, and connections that wait for
    /// another request are closed. Who drops this ends the rest. `not_http` is told of each connection on which something
    /// came that is no HTTP.
    pub async fn serve<A, F, N, G>(mut self, stop: CancellationToken, answer: A, not_http: N)
    where
        A: Fn(Request, ActivityFlag) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response> + Send + 'static,
        N: Fn() -> G + Clone + Send + Sync + 'static,
        G: Future<Output = ()> + Send,
    {
        // Each connection looks at it whenever it is awake, and other shares do so on other threads.
        let stop = stop.child_token();
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.accepted.recv() => accepted,
                Some(_) = connections.join_next() => continue,
                () = stop.cancelled() => break,
            };
            // Nothing more comes when all is over.
            let Some((Accepted { stream, place }, open)) = accepted else {
                break;
            };
            // Fails only if the runtime is about to end.
            if let Ok(stream) = TcpStream::from_std(stream) {
                let stream = TimeoutStream::new(stream, self.timeouts, place);
                let serving = serve(stream, stop.clone(), answer.clone());
                let not_http = not_http.clone();
                connections.spawn(async move {
                    if !serving.await {
                        not_http().await;
                    }
                    drop(open);
                });
            }
        }
        while connections.join_next().await.is_some() {}
    }
}

/// Serves one connection to its end, or until `stop` and the end of the answer under way; whether all that came was HTTP.
async fn serve<A, F>(stream: TimeoutStream, stop: CancellationToken, answer: A) -> bool
where
    A: Fn(Request, ActivityFlag) -> F,
    F: Future<Output = Response> + Send,
{
    let busy = stream.busy();
    let service = service_fn(|request| {
        // In a box, so that a connection keeps no room for it while it is idle, or sends a stream.
        let answering = Box::pin(answer(request, busy.clone()));
        async { Ok::<_, Infallible>(answering.await) }
    });
    // Most answers are small: one write of them costs less than one of their parts.
    let connection = http1::Builder::new()
        .writev(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        // A client that breaks off, or sends what is no HTTP, has been told or can't be.
        ended = connection.as_mut() => return !ended.is_err_and(|error| error.is_parse()),
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_bounds_connections() {
        assert_eq!(possible_connections(1), 1);
        assert!(possible_connections(usize::MAX) > 1);
    }
}
