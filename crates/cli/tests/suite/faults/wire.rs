//! The bytes of every transport, as its server writes and reads them.

use std::io::{self, ErrorKind};

use cuecard_runtime::fault::Act;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite,
    AsyncWriteExt as _,
};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// How messages become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// A line each.
    Lines,
    /// Their length before each.
    Lengths,
    /// A text frame each.
    WebSocket,
    /// An event each, in chunks of HTTP.
    Events,
    /// A whole answer of HTTP each.
    Json,
}

/// Where bytes go.
pub(super) struct Out<W> {
    pub(super) write: W,
    pub(super) encoding: Encoding,
    /// What becomes standard error.
    pub(super) errors: Option<TcpStream>,
}

/// What follows after an act.
pub(super) enum Next {
    GoOn,
    /// Nothing more is to be said on this connection.
    Silence,
    /// The connection is to be dropped.
    End,
}

impl<W: AsyncWrite + Unpin> Out<W> {
    /// Does to the bytes what the fault wants.
    pub(super) async fn perform(&mut self, act: Act) -> io::Result<Next> {
        match act {
            Act::Send(message) => self.piece(&self.encoded(&message)).await?,
            Act::SendSplit(message) => {
                for byte in self.encoded(&message) {
                    self.piece(&[byte]).await?;
                }
            }
            Act::SendTogether(messages) => {
                let all: Vec<u8> = messages.iter().flat_map(|m| self.encoded(m)).collect();
                self.piece(&all).await?;
            }
            Act::SendHalf(message) => {
                let whole = self.encoded(&message);
                self.piece(&whole[..whole.len() - message.len() / 2])
                    .await?;
                return Ok(Next::End);
            }
            Act::Stall => return Ok(Next::Silence),
            Act::Crash => return Ok(Next::End),
            Act::FloodErrors(size) => {
                let errors = self.errors.as_mut().expect("there is a standard error");
                let line = b"a line of no interest at all, over and over again\n";
                for _ in 0..size / line.len() {
                    errors.write_all(line).await?;
                }
            }
        }
        Ok(Next::GoOn)
    }

    async fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.encoding == Encoding::Events {
            let size = format!("{:x}\r\n", bytes.len());
            let chunk = [size.as_bytes(), bytes, b"\r\n"].concat();
            self.write.write_all(&chunk).await?;
        } else {
            self.write.write_all(bytes).await?;
        }
        self.write.flush().await
    }

    fn encoded(&self, message: &[u8]) -> Vec<u8> {
        let length = message.len();
        let (before, after) = match self.encoding {
            Encoding::Lines => (Vec::new(), &b"\n"[..]),
            Encoding::Lengths => {
                let length = u32::try_from(length).expect("short");
                (length.to_le_bytes().to_vec(), &b""[..])
            }
            Encoding::WebSocket => {
                let mut head = vec![0x81];
                match u16::try_from(length) {
                    Ok(short @ ..126) => head.push(short as u8),
                    Ok(middle) => {
                        head.push(126);
                        head.extend(middle.to_be_bytes());
                    }
                    Err(_) => {
                        head.push(127);
                        head.extend((length as u64).to_be_bytes());
                    }
                }
                (head, &b""[..])
            }
            Encoding::Events => (b"event: message\ndata: ".to_vec(), &b"\n\n"[..]),
            Encoding::Json => {
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
                );
                (head.into_bytes(), &b""[..])
            }
        };
        [&before, message, after].concat()
    }

    pub(super) async fn begin_events(&mut self) -> io::Result<()> {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        self.write.write_all(head).await?;
        self.write.flush().await
    }

    /// The first event of the older HTTP with SSE.
    pub(super) async fn endpoint(&mut self, path: &str) -> io::Result<()> {
        let event = format!("event: endpoint\ndata: {path}\n\n");
        self.piece(event.as_bytes()).await
    }

    pub(super) async fn end_events(&mut self) -> io::Result<()> {
        self.write.write_all(b"0\r\n\r\n").await?;
        self.write.flush().await
    }

    /// An answer of HTTP without a body.
    pub(super) async fn status(&mut self, status: &str) -> io::Result<()> {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        self.write.write_all(head.as_bytes()).await?;
        self.write.flush().await
    }
}

/// A request of HTTP.
pub(super) struct Request {
    pub(super) method: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

/// Reads a request. The end of the connection is an error.
pub(super) async fn read_request(read: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Request> {
    let mut line = String::new();
    let mut head = Vec::new();
    loop {
        line.clear();
        if read.read_line(&mut line).await? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        match line.trim_end() {
            "" => break,
            text => head.push(text.to_owned()),
        }
    }
    let method = head.first().and_then(|line| line.split(' ').next());
    let mut request = Request {
        method: method.unwrap_or_default().to_owned(),
        headers: head
            .iter()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect(),
        body: Vec::new(),
    };
    let length = request.header("content-length");
    request.body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
    read.read_exact(&mut request.body).await?;
    Ok(request)
}

/// Agrees to speak WebSocket from now on.
pub(super) async fn upgrade(
    write: &mut (impl AsyncWrite + Unpin),
    request: &Request,
) -> io::Result<()> {
    let key = request.header("sec-websocket-key").unwrap_or_default();
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: mcp\r\n\r\n"
    );
    write.write_all(head.as_bytes()).await?;
    write.flush().await
}

/// Gives each message that arrives, until the end.
pub(super) async fn read_frames(
    mut read: impl AsyncBufRead + Unpin,
    encoding: Encoding,
    messages: mpsc::UnboundedSender<Vec<u8>>,
) {
    while let Ok(message) = read_frame(&mut read, encoding).await {
        if messages.send(message).is_err() {
            return;
        }
    }
}

async fn read_frame(
    read: &mut (impl AsyncBufRead + Unpin),
    encoding: Encoding,
) -> io::Result<Vec<u8>> {
    match encoding {
        Encoding::Lengths => {
            let length = read.read_u32_le().await?;
            exactly(read, u64::from(length)).await
        }
        Encoding::WebSocket => {
            let head = exactly(read, 2).await?;
            let length = match head[1] & 0x7f {
                126 => u64::from(read.read_u16().await?),
                127 => read.read_u64().await?,
                short => u64::from(short),
            };
            // What a client says is masked.
            let mask = exactly(read, 4).await?;
            let mut message = exactly(read, length).await?;
            for (index, byte) in message.iter_mut().enumerate() {
                *byte ^= mask[index % 4];
            }
            match head[0] & 0x0f {
                1 | 2 => Ok(message),
                _ => Err(ErrorKind::UnexpectedEof.into()),
            }
        }
        Encoding::Lines | Encoding::Events | Encoding::Json => {
            let mut line = Vec::new();
            read.read_until(b'\n', &mut line).await?;
            match line.pop() {
                Some(_) => Ok(line),
                None => Err(ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}

async fn exactly(read: &mut (impl AsyncRead + Unpin), length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(length).expect("short")];
    read.read_exact(&mut bytes).await?;
    Ok(bytes)
}
