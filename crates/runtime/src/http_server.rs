//! An HTTP server: accepts connections and answers what comes on them, until it is stopped.
//!
//! Requests are served by hyper itself: what axum puts around it is routes and extractors, and here every request goes to
//! one function.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower_http::timeout::TimeoutBody;

use super::workers::Worker;

/// How long answers that are on their way may still take when the server stops.
const GRACE: Duration = Duration::from_secs(2);
/// When there are no files left, this long passes until the next try.
const PAUSE: Duration = Duration::from_millis(10);
/// What else has files open.
const OTHER_FILES: u64 = 128;

/// A request whose body is still to be read. Its extensions have a [`ConnectionReset`].
pub type Request = hyper::Request<Body>;

/// How a server serves.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// How many threads serve; 0 serves on the runtime of the caller.
    pub n_threads: usize,
    /// How long slow clients are waited for.
    pub timeouts: Timeouts,
    /// How many connections there are at once; fewer if the limit of open files is lower. More than these wait.
    pub max_connections: usize,
}

/// How long each part of a conversation with a client may take.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For the head of a request, from the beginning of the connection or the end of the answer before it.
    pub head: Duration,
    /// Without another part of a request's body coming.
    pub body: Duration,
    /// Without the client taking anything of its answer.
    pub answer: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(120),
            body: Duration::from_secs(30),
            answer: Duration::from_secs(60),
        }
    }
}

/// What happened to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerNotice {
    /// There are so many, and one more waits.
    Crowded(usize),
    /// On one came something that is no HTTP.
    NotHttp,
}

/// Makes the connection of a request end in a reset, as that of a server which has crashed.
#[derive(Debug, Clone, Default)]
pub struct ConnectionReset(Arc<AtomicBool>);

impl ConnectionReset {
    /// The connection, once it ends, ends in a reset instead of being closed.
    pub fn on_end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Serves the connections of `listener` until `stop`, and a moment longer what is under way. `answer` answers the requests;
/// `tell` is told of what happens to connections.
///
/// # Errors
/// Those of the operating system.
pub fn serve<A, F, N, G>(
    listener: TcpListener,
    options: ServerOptions,
    stop: &CancellationToken,
    answer: A,
    tell: N,
) -> io::Result<Worker>
where
    A: Fn(Request) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
    N: Fn(ServerNotice) -> G + Clone + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    let serving = accept_all(listener.into_std()?, options, stop.clone(), answer, tell);
    match options.n_threads {
        0 => Ok(Worker::as_task(serving)),
        n_threads => Worker::on_threads("cuecard-http", n_threads, serving),
    }
}

/// Accepts connections, not more than there are places for, and serves each in a task of its own.
async fn accept_all<A, F, N, G>(
    listener: std::net::TcpListener,
    options: ServerOptions,
    stop: CancellationToken,
    answer: A,
    tell: N,
) where
    A: Fn(Request) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
    N: Fn(ServerNotice) -> G + Clone + Send + Sync + 'static,
    G: Future<Output = ()> + Send + 'static,
{
    // Fails only if the runtime is about to end.
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let n_places = possible_connections(options.max_connections);
    let places = Arc::new(Semaphore::new(n_places));
    let mut connections = JoinSet::new();
    let accepting = async {
        loop {
            while connections.try_join_next().is_some() {}
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // Who was to be accepted has gone, or there are no files left.
                Err(_) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            if places.available_permits() == 0 {
                tell(ServerNotice::Crowded(n_places)).await;
            }
            // It is never closed.
            let Ok(place) = places.clone().acquire_owned().await else {
                return;
            };
            let (places, answer) = (places.clone(), answer.clone());
            let answer = move |request| {
                let (places, answering) = (places.clone(), answer(request));
                async move {
                    let mut response = answering.await;
                    // Others wait for the place of a client that may never ask again.
                    if places.available_permits() == 0 {
                        let close = HeaderValue::from_static("close");
                        response.headers_mut().insert(header::CONNECTION, close);
                    }
                    response
                }
            };
            let serving = serve_connection(stream, options.timeouts, stop.clone(), answer);
            let tell = tell.clone();
            connections.spawn(async move {
                if !serving.await {
                    tell(ServerNotice::NotHttp).await;
                }
                drop(place);
            });
        }
    };
    stop.run_until_cancelled(accepting).await;
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, ended).await;
}

/// How many connections there can be at once: `wanted`, or fewer if this process may not have so many files open.
fn possible_connections(wanted: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    // At a very low limit, half of the files are for others.
    let possible = limit.map(|limit| limit.saturating_sub(OTHER_FILES.min(limit / 2)));
    let possible = possible.and_then(|possible| usize::try_from(possible).ok());
    possible.unwrap_or(wanted).min(wanted).max(1)
}

/// Serves one connection to its end, or until `stop` and the end of the answer under way; whether all that came was HTTP.
async fn serve_connection<A, F>(
    stream: TcpStream,
    timeouts: Timeouts,
    stop: CancellationToken,
    answer: A,
) -> bool
where
    A: Fn(Request) -> F,
    F: Future<Output = Response> + Send,
{
    let reset = ConnectionReset::default();
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let mut request = request.map(|body| Body::new(TimeoutBody::new(timeouts.body, body)));
        request.extensions_mut().insert(reset.clone());
        // In a box, so that a connection keeps no room for it while it is idle, or sends a stream.
        let answering = Box::pin(answer(request));
        Box::pin(async { Ok::<_, Infallible>(answering.await) })
    });
    // Events of a stream are small, and each is to be seen when it is sent.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeouts.answer));
    // Most answers are small: one write of them costs less than one of their parts.
    let mut connection = http1::Builder::new()
        .writev(false)
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.head)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let ended = tokio::select! {
        biased;
        ended = poll_fn(|context| connection.poll_without_shutdown(context)) => ended,
        () = stop.cancelled() => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|context| connection.poll_without_shutdown(context)).await
        }
    };
    let mut stream = connection.into_parts().io.into_inner();
    match reset.0.load(Ordering::Relaxed) {
        // Without it the connection is closed, which its client can't use either.
        true => drop(stream.get_ref().set_zero_linger()),
        false => drop(stream.shutdown().await),
    }
    // A client that breaks off, or sends what is no HTTP, has been told or can't be.
    !ended.is_err_and(|error| error.is_parse())
}
