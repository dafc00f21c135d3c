//! Accepts connections, not more than there are places for, and hands them to those who serve them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::patience::{Patience, PatientStream};
use super::places::{Place, Places};

/// Connections that wait for who serves them.
const QUEUE: usize = 64;
/// What else has files open.
const OTHER_FILES: u64 = 128;
/// When there are no files left, this long passes until the next try.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection that was accepted.
#[derive(Debug)]
pub struct Accepted {
    stream: std::net::TcpStream,
    address: SocketAddr,
    place: Place,
}

/// Accepts connections.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    places: Places,
}

impl Acceptor {
    /// Accepts what `listener` does, while there are places.
    pub fn new(listener: TcpListener, places: Places) -> Self {
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
                Ok((stream, address)) => stream
                    .set_nodelay(true)
                    .and_then(|()| stream.into_std())
                    .map(|stream| (stream, address)),
                Err(error) => Err(error),
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                // Who was to be accepted has gone.
                Err(error) if is_of_connection(&error) => continue,
                Err(_) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let (place, is_crowded) = match self.places.try_take() {
                Some(place) => (place, false),
                None => (self.places.take().await, true),
            };
            let accepted = Accepted {
                stream,
                address,
                place,
            };
            return (accepted, is_crowded);
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

/// The connections that one server is handed. Each ends when patience does.
#[derive(Debug)]
pub struct Share {
    accepted: mpsc::Receiver<Accepted>,
    address: SocketAddr,
    patience: Patience,
}

impl Share {
    /// A share of the connections to `address`, and where they are handed in.
    pub fn new(address: SocketAddr, patience: Patience) -> (mpsc::Sender<Accepted>, Self) {
        let (hand_in, accepted) = mpsc::channel(QUEUE);
        let share = Self {
            accepted,
            address,
            patience,
        };
        (hand_in, share)
    }
}

impl Listener for Share {
    type Io = PatientStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        while let Some(accepted) = self.accepted.recv().await {
            // Fails only if the runtime is about to end.
            if let Ok(stream) = TcpStream::from_std(accepted.stream) {
                let stream = PatientStream::new(stream, self.patience, accepted.place);
                return (stream, accepted.address);
            }
        }
        // Nothing more comes; the server is about to be stopped.
        std::future::pending().await
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
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
