//! An HTTP server: accepts connections and answers what comes on them, until it is stopped.

use std::io;
use std::time::Duration;

use axum::response::Response;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::connection_limit::ConnectionLimit;
use super::connections::{Acceptor, Dispatcher, Request, WorkerConnections, possible_connections};
use super::timeouts::{ActivityFlag, Timeouts};
use super::workers::Worker;

/// How long answers that are on their way may still take when the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// A worker takes a connection that it has accepted, unless another one has so many fewer.
const SLACK: usize = 4;

/// How a server serves.
#[derive(Debug, Clone, Copy)]
pub struct ServerOptions {
    /// How many threads serve, each with its own share of the connections; 0 serves on the runtime of the caller.
    pub n_threads: usize,
    /// How long slow clients are waited for.
    pub timeouts: Timeouts,
    /// How many connections there are at once; fewer if the limit of open files is lower. When there are more, those
    /// that wait longest are closed.
    pub max_connections: usize,
}

/// What happened to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerNotice {
    /// There are more than so many: those that wait longest are closed.
    Crowded(usize),
    /// On one came something that is no HTTP.
    NotHttp,
}

/// Serves the connections of `listener` until `stop`, and a moment longer what is under way. Each worker accepts, so that
/// a connection begins with whoever has time for it, and on the way to it nobody else is waited for. `answering` makes
/// what answers the requests of one worker; `tell` is told of what happens to connections.
///
/// # Errors
/// Those of the operating system.
pub fn serve<A, F, N, G>(
    listener: TcpListener,
    options: ServerOptions,
    stop: &CancellationToken,
    answering: impl Fn() -> A,
    tell: N,
) -> io::Result<Vec<Worker>>
where
    A: Fn(Request, ActivityFlag) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
    N: Fn(ServerNotice) -> G + Clone + Send + Sync + 'static,
    G: Future<Output = ()> + Send,
{
    let places = ConnectionLimit::new(possible_connections(options.max_connections));
    let listener = listener.into_std()?;
    let shares = (0..options.n_threads.max(1)).map(|_| WorkerConnections::new(options.timeouts));
    let (dispatchers, shares): (Vec<Dispatcher>, Vec<WorkerConnections>) = shares.unzip();
    let mut workers = Vec::new();
    for (number, share) in shares.into_iter().enumerate() {
        let own = Accepting {
            listener: listener.try_clone()?,
            places: places.clone(),
            dispatchers: dispatchers.clone(),
            own: number,
            stop: stop.clone(),
        };
        let (answer, tell, stop) = (answering(), tell.clone(), stop.clone());
        let serving = async move {
            let told = tell.clone();
            let serving = share.serve(stop.clone(), answer, move || told(ServerNotice::NotHttp));
            tokio::select! {
                _ = async { tokio::join!(serving, accept(own, tell)) } => {}
                () = async { stop.cancelled().await; tokio::time::sleep(GRACE).await } => {}
            }
        };
        workers.push(match options.n_threads {
            0 => Worker::as_task(serving),
            _ => Worker::on_thread(format!("cuecard-http-{number}"), serving)?,
        });
    }
    Ok(workers)
}

/// What a worker accepts connections with.
struct Accepting {
    listener: std::net::TcpListener,
    places: ConnectionLimit,
    dispatchers: Vec<Dispatcher>,
    /// Its own place among them.
    own: usize,
    stop: CancellationToken,
}

/// Accepts connections for a worker, or for one that has fewer.
async fn accept<N, G>(accepting: Accepting, tell: N)
where
    N: Fn(ServerNotice) -> G,
    G: Future<Output = ()>,
{
    // Fails only if the runtime is about to end.
    let Ok(listener) = TcpListener::from_std(accepting.listener) else {
        return;
    };
    let acceptor = Acceptor::new(listener, accepting.places);
    let (dispatchers, own) = (accepting.dispatchers, accepting.own);
    loop {
        let (accepted, is_crowded) = tokio::select! {
            accepted = acceptor.accept() => accepted,
            () = accepting.stop.cancelled() => return,
        };
        if is_crowded {
            tell(ServerNotice::Crowded(acceptor.n_places())).await;
        }
        let least = dispatchers.iter().min_by_key(|share| share.n_open());
        let share = least.filter(|least| dispatchers[own].n_open() > least.n_open() + SLACK);
        share.unwrap_or(&dispatchers[own]).give(accepted).await;
    }
}
