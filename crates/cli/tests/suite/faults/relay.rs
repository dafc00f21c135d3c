//! The demo server behind every transport, with a fault in between.
//!
//! The relay speaks to the server line by line and to the client as the transport wants it, byte by byte, so
//! that what a fault does to the bytes is known exactly.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use cuecard_mcp::demo;
use cuecard_runtime::fault::Act;
use cuecard_timeline::model::FaultKind;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::injector::{FaultInjector, FaultPlan};
use super::wire::{self, Encoding, Next, Out, Request};
use super::{Transport, servers};

/// A faulty server, up for as long as this lives.
pub(super) struct Relay {
    /// What a config says to reach it; nothing for Claude in Chrome, which needs none.
    pub(super) entry: Option<Value>,
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

impl Relay {
    /// A server behind `transport` that fails as planned. Its socket, if it has one, is in `folder`.
    pub(super) fn start(transport: Transport, plan: FaultPlan, folder: &Path) -> Self {
        Self::twisted(transport, plan, Twist::Nothing, folder)
    }

    /// A server that is bad in this way from its start.
    pub(super) fn bad(transport: Transport, twist: Twist, folder: &Path) -> Self {
        let plan = FaultPlan {
            fault: FaultKind::Stall,
            calls: Vec::new(),
        };
        Self::twisted(transport, plan, twist, folder)
    }

    fn twisted(transport: Transport, plan: FaultPlan, twist: Twist, folder: &Path) -> Self {
        let socket = folder.join(match transport {
            Transport::Chrome => "claude-mcp-browser-bridge-ada/1.sock",
            _ => "mcp.sock",
        });
        let listener = Listener::bind(transport, &socket);
        let port = match &listener {
            Listener::Tcp(listener) => listener.local_addr().expect("an address").port(),
            Listener::Unix(_) => 0,
        };
        let socket = socket.display();
        let entry = match transport {
            Transport::Stdio => {
                let bridge = servers::script("bridge.sh");
                let ends = (plan.fault == FaultKind::Crash).then_some("die");
                let args = [bridge.to_str().expect("UTF-8").to_owned(), port.to_string()];
                let args: Vec<String> = args.into_iter().chain(ends.map(str::to_owned)).collect();
                Some(json!({"command": "bash", "args": args}))
            }
            Transport::HttpEvents | Transport::HttpJson => {
                Some(json!({"type": "http", "url": format!("http://127.0.0.1:{port}/mcp")}))
            }
            Transport::Sse => {
                Some(json!({"type": "sse", "url": format!("http://127.0.0.1:{port}/sse")}))
            }
            Transport::WebSocket => Some(json!({"url": format!("ws://127.0.0.1:{port}/ws")})),
            Transport::Unix => Some(json!({"url": format!("unix://{socket}")})),
            Transport::HttpUnix => Some(json!({"url": format!("http+unix://{socket}:/mcp")})),
            Transport::Chrome => None,
        };
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            let server = Arc::new(Server {
                transport,
                twist,
                disturber: Arc::new(Mutex::new(FaultInjector::new(plan))),
                backend: Mutex::new(None),
            });
            runtime.block_on(async {
                tokio::select! {
                    () = stopped.cancelled() => {}
                    () = accept(listener, server) => {}
                }
            });
        });
        Self {
            entry,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !thread::panicking() {
                ended.expect("the relay did not panic");
            }
        }
    }
}

/// Bound before the runtime is there, so that the address is known.
enum Listener {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener),
}

impl Listener {
    fn bind(transport: Transport, socket: &Path) -> Self {
        let is_socket = matches!(
            transport,
            Transport::Unix | Transport::HttpUnix | Transport::Chrome
        );
        if is_socket {
            std::fs::create_dir_all(socket.parent().expect("a folder")).expect("it can be made");
            let listener = std::os::unix::net::UnixListener::bind(socket).expect("a socket");
            listener.set_nonblocking(true).expect("it can be set");
            return Self::Unix(listener);
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it can be set");
        Self::Tcp(listener)
    }
}

async fn accept(listener: Listener, server: Arc<Server>) {
    match listener {
        Listener::Tcp(listener) => {
            let listener = TcpListener::from_std(listener).expect("a listener");
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                stream.set_nodelay(true).expect("it can be set");
                let errors = match server.transport {
                    Transport::Stdio => Some(listener.accept().await.expect("a connection").0),
                    _ => None,
                };
                tokio::spawn(Arc::clone(&server).connection(stream, errors));
            }
        }
        Listener::Unix(listener) => {
            let listener = UnixListener::from_std(listener).expect("a listener");
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                tokio::spawn(Arc::clone(&server).connection(stream, None));
            }
        }
    }
}

/// What is bad about a server, whatever it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Twist {
    Nothing,
    /// It takes connections and says nothing.
    Hangs,
    /// It says what is no protocol, and closes the connection.
    Garbage,
    /// It speaks a version that there never was.
    Version,
    /// Its answers are texts of 50 MB.
    Large,
}

impl Twist {
    fn apply(self, message: Vec<u8>) -> Vec<u8> {
        if !matches!(self, Self::Version | Self::Large) {
            return message;
        }
        let mut message: Value = serde_json::from_slice(&message).expect("JSON");
        let result = &mut message["result"];
        if self == Self::Version {
            for (key, value) in [
                ("protocolVersion", json!("1999-01-01")),
                ("supportedVersions", json!(["1999-01-01"])),
            ] {
                if !result[key].is_null() {
                    result[key] = value;
                }
            }
        } else if !result["content"].is_null() {
            let text = "x".repeat(50_000_000);
            result["content"] = json!([{"type": "text", "text": text}]);
            let fields = result.as_object_mut().expect("an object");
            fields.remove("structuredContent");
        }
        message.to_string().into_bytes()
    }
}

/// What all connections share.
struct Server {
    transport: Transport,
    twist: Twist,
    disturber: Arc<Mutex<FaultInjector>>,
    /// The server behind requests of HTTP, which follow each other on any connection.
    backend: Mutex<Option<Backend>>,
}

/// A demo server, and who waits for what it says.
struct Backend {
    say: mpsc::UnboundedSender<Vec<u8>>,
    /// By the ids of the requests, as JSON.
    waiting: Waiting,
}

type Waiting = Arc<Mutex<HashMap<String, mpsc::UnboundedSender<Vec<Act>>>>>;

impl Server {
    async fn connection<S>(self: Arc<Self>, stream: S, errors: Option<TcpStream>)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        if matches!(self.twist, Twist::Hangs | Twist::Garbage) {
            let (mut read, mut write) = tokio::io::split(stream);
            if self.twist == Twist::Garbage {
                let _ = write.write_all(b"\xff\xfeI am no server\n").await;
                return;
            }
            let _ = tokio::io::copy(&mut read, &mut tokio::io::sink()).await;
            return;
        }
        // A client that leaves in the middle is no failure of the test.
        let _ = match self.transport {
            Transport::Stdio | Transport::Unix => {
                self.messages(stream, Encoding::Lines, errors).await
            }
            Transport::Chrome => self.messages(stream, Encoding::Lengths, None).await,
            Transport::WebSocket => {
                let mut stream = BufReader::new(stream);
                match wire::read_request(&mut stream).await {
                    Ok(request) => match wire::upgrade(stream.get_mut(), &request).await {
                        Ok(()) => self.messages(stream, Encoding::WebSocket, None).await,
                        Err(error) => Err(error),
                    },
                    Err(error) => Err(error),
                }
            }
            Transport::HttpEvents | Transport::HttpJson | Transport::HttpUnix | Transport::Sse => {
                self.requests(stream).await
            }
        };
    }

    /// Passes messages on in both directions, of which each is a frame.
    async fn messages<S>(
        &self,
        stream: S,
        encoding: Encoding,
        errors: Option<TcpStream>,
    ) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (read, write) = tokio::io::split(stream);
        let (from_client, mut asked) = mpsc::unbounded_channel();
        let reading = wire::read_frames(BufReader::new(read), encoding, from_client);
        // It holds one half of the connection, which ends with both.
        let _reading = Aborted(tokio::spawn(reading));
        let (say, mut said) = demo();
        if encoding == Encoding::Lengths {
            shake_hands(&say, &mut said).await;
        }
        let mut out = Out {
            write,
            encoding,
            errors,
        };
        let mut is_silent = false;
        loop {
            tokio::select! {
                message = asked.recv() => {
                    let Some(message) = message else { break };
                    self.disturber().asked(&message);
                    if encoding != Encoding::Lengths {
                        let _ = say.send(message);
                    } else if let Some(answer) = extension(&message, &say) {
                        out.perform(Act::Send(answer)).await?;
                    }
                }
                message = said.recv() => {
                    let Some(message) = message else { break };
                    let acts = self.disturber().said(self.twist.apply(message));
                    for act in acts {
                        if is_silent {
                            break;
                        }
                        match out.perform(act).await? {
                            Next::GoOn => {}
                            Next::Silence => is_silent = true,
                            Next::End => {
                                self.disturber().disconnected();
                                return Ok(());
                            }
                        }
                    }
                }
            }
        }
        self.disturber().disconnected();
        Ok(())
    }

    /// Answers requests of HTTP, one after the other.
    async fn requests<S>(&self, stream: S) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (read, write) = tokio::io::split(stream);
        let mut read = BufReader::new(read);
        let mut out = Out {
            write,
            encoding: match self.transport {
                Transport::HttpJson => Encoding::Json,
                _ => Encoding::Events,
            },
            errors: None,
        };
        loop {
            let request = wire::read_request(&mut read).await?;
            let (acts, waits_for_all) = match self.take(&request) {
                Reply::Status(status) => {
                    out.status(status).await?;
                    continue;
                }
                Reply::Answer(acts) => (acts, false),
                Reply::Events(acts) => (acts, true),
            };
            if !self
                .answer(&mut read, &mut out, acts, waits_for_all)
                .await?
            {
                return Ok(());
            }
        }
    }

    /// Answers one request with what comes. Whether the connection can be used again.
    async fn answer<R, W>(
        &self,
        read: &mut BufReader<R>,
        out: &mut Out<W>,
        mut acts: mpsc::UnboundedReceiver<Vec<Act>>,
        waits_for_all: bool,
    ) -> io::Result<bool>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let mut has_begun = false;
        if waits_for_all {
            out.begin_events().await?;
            out.endpoint("/messages").await?;
            has_begun = true;
        }
        loop {
            let some = tokio::select! {
                some = acts.recv() => some,
                // The client has left, or does what no client of ours does.
                _ = read.fill_buf() => return Ok(false),
            };
            let Some(some) = some else { return Ok(false) };
            for act in some {
                if !has_begun && out.encoding == Encoding::Events && act != Act::Crash {
                    out.begin_events().await?;
                    has_begun = true;
                }
                match out.perform(act).await? {
                    Next::GoOn => {}
                    Next::Silence => {
                        read.fill_buf().await?;
                        return Ok(false);
                    }
                    Next::End => {
                        self.disturber().disconnected();
                        return Ok(false);
                    }
                }
            }
            if !waits_for_all {
                if out.encoding == Encoding::Events {
                    out.end_events().await?;
                }
                return Ok(true);
            }
        }
    }

    fn take(&self, request: &Request) -> Reply {
        let is_sse = self.transport == Transport::Sse;
        match (request.method.as_str(), is_sse) {
            ("POST", _) => {}
            ("GET", true) => {
                let (everything, events) = mpsc::unbounded_channel();
                *lock(&self.backend) = Some(self.backend(Some(everything)));
                return Reply::Events(events);
            }
            _ => return Reply::Status("405 Method Not Allowed"),
        }
        let message: Value = serde_json::from_slice(&request.body).expect("JSON");
        let method = message["method"].as_str().unwrap_or_default();
        let mut backend = lock(&self.backend);
        if !is_sse && matches!(method, "initialize" | "server/discover") {
            *backend = Some(self.backend(None));
        }
        let backend = backend.as_ref().expect("it was asked who it is");
        self.disturber().asked(&request.body);
        let (tell, answer) = mpsc::unbounded_channel();
        let is_request = !method.is_empty() && !message["id"].is_null();
        if is_request && !is_sse {
            lock(&backend.waiting).insert(message["id"].to_string(), tell);
        }
        let _ = backend.say.send(request.body.clone());
        match is_request && !is_sse {
            true => Reply::Answer(answer),
            false => Reply::Status("202 Accepted"),
        }
    }

    /// A fresh server, all of whose words go to `everything`, or else each answer to who waits for it.
    fn backend(&self, everything: Option<mpsc::UnboundedSender<Vec<Act>>>) -> Backend {
        let (say, mut said) = demo();
        let waiting: Waiting = Arc::default();
        let backend = Backend {
            say,
            waiting: Arc::clone(&waiting),
        };
        let disturber = Arc::clone(&self.disturber);
        let twist = self.twist;
        tokio::spawn(async move {
            while let Some(message) = said.recv().await.map(|said| twist.apply(said)) {
                let answer: Value = serde_json::from_slice(&message).expect("JSON");
                let acts = lock(&disturber).said(message);
                let to = match &everything {
                    Some(everything) => Some(everything.clone()),
                    // Who waits for an answer that is held goes on waiting.
                    None if acts.is_empty() => None,
                    None => lock(&waiting).remove(&answer["id"].to_string()),
                };
                if let Some(to) = to {
                    let _ = to.send(acts);
                }
            }
        });
        backend
    }

    fn disturber(&self) -> MutexGuard<'_, FaultInjector> {
        lock(&self.disturber)
    }
}

/// What to do about a request of HTTP.
enum Reply {
    Status(&'static str),
    /// One answer, when it comes.
    Answer(mpsc::UnboundedReceiver<Vec<Act>>),
    /// Everything, as it comes.
    Events(mpsc::UnboundedReceiver<Vec<Act>>),
}

/// A task that ends with this.
struct Aborted(tokio::task::JoinHandle<()>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Words = mpsc::UnboundedReceiver<Vec<u8>>;

/// A fresh demo server: what is said to it, and what it says. It ends when the first is dropped.
fn demo() -> (mpsc::UnboundedSender<Vec<u8>>, Words) {
    let (read, mut write) = tokio::io::split(demo::connect());
    let (say, mut to_say) = mpsc::unbounded_channel::<Vec<u8>>();
    let (from_server, said) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(mut message) = to_say.recv().await {
            message.push(b'\n');
            if write.write_all(&message).await.is_err() {
                return;
            }
        }
        let _ = write.shutdown().await;
    });
    tokio::spawn(wire::read_frames(
        BufReader::new(read),
        Encoding::Lines,
        from_server,
    ));
    (say, said)
}

/// Says hello in place of a client that has no words for it.
async fn shake_hands(say: &mpsc::UnboundedSender<Vec<u8>>, said: &mut Words) {
    let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "relay", "version": "1"},
    }});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let _ = say.send(hello.to_string().into_bytes());
    said.recv().await.expect("it answers");
    let _ = say.send(ready.to_string().into_bytes());
}

/// Passes a call of Claude in Chrome on in the words of MCP; gives the answer to a question for a tab.
fn extension(message: &[u8], say: &mpsc::UnboundedSender<Vec<u8>>) -> Option<Vec<u8>> {
    let message: Value = serde_json::from_slice(message).expect("JSON");
    let id = &message["id"];
    let tool = &message["params"]["tool"];
    if tool == "tabs_context_mcp" {
        let text = json!({"availableTabs": [{"tabId": 41}]}).to_string();
        let answer = json!({"id": id, "result": {"content": [{"type": "text", "text": text}]}});
        return Some(answer.to_string().into_bytes());
    }
    let mut arguments = message["params"]["args"].clone();
    arguments
        .as_object_mut()
        .expect("an object")
        .remove("tabId");
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let _ = say.send(call.to_string().into_bytes());
    None
}
