//! WebSocket: each text frame is a message.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::future::ready;
use futures::{SinkExt as _, StreamExt as _};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::error::{
    CapacityError, Error, ProtocolError, SubProtocolError, UrlError,
};
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, WebSocketConfig};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::error::{ErrorKind, HttpRequest};
use super::frames::{FrameSource, FrameWriter, LARGEST_FRAME, SendError};
use super::http;
use super::link::ReadEnd;
use super::text::cut;

/// What MCP is called in the handshake.
const SUBPROTOCOL: &str = "mcp";
/// How much of the body of a refusal is told, in characters.
const LONGEST_REFUSAL: usize = 2_000;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connects to the server at `url` and shakes hands, as far as WebSocket goes.
pub(super) async fn connect(
    url: &str,
    headers: &[(String, String)],
) -> Result<(FrameSource, FrameWriter), ErrorKind> {
    cuecard_runtime::tls::install();
    let socket = match open(request(url, headers)?).await {
        // Some servers speak it without its name.
        Err(Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(
            SubProtocolError::NoSubProtocol,
        ))) => {
            let mut request = request(url, headers)?;
            request.headers_mut().remove(SEC_WEBSOCKET_PROTOCOL);
            open(request).await
        }
        opened => opened,
    };
    let (write, read) = socket.map_err(not_opened)?.split();
    // Pings are answered while it is read.
    let frames = read.filter_map(|message| {
        ready(match message {
            Ok(Message::Text(text)) => Some(Ok(text.as_bytes().to_vec())),
            Ok(Message::Binary(bytes)) => Some(Ok(bytes.into())),
            Ok(Message::Close(frame)) => Some(Err(ReadEnd::Broken(farewell(frame)))),
            Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => None,
            Err(error) => Some(Err(broken(&error))),
        })
    });
    let messages = write.with(|frame: Vec<u8>| {
        let text = String::from_utf8(frame);
        let text = text.map_err(|error| SendError::Unwritable(error.to_string()));
        ready(text.map(Message::text))
    });
    Ok((frames.boxed(), FrameWriter::new(messages)))
}

async fn open(request: Request) -> Result<Socket, Error> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(LARGEST_FRAME))
        .max_frame_size(Some(LARGEST_FRAME));
    // Without Nagle's delay, as every message is waited for.
    let connecting =
        tokio_tungstenite::connect_async_tls_with_config(request, Some(config), true, None);
    let (socket, _) = Box::pin(connecting).await?;
    Ok(socket)
}

fn request(url: &str, headers: &[(String, String)]) -> Result<Request, ErrorKind> {
    let bad_url = |why: &str| http::bad_url(url, why);
    let mut parsed =
        Url::parse(url).map_err(|error| bad_url(&format!("is not a URL ({error})")))?;
    if !matches!(parsed.scheme(), "ws" | "wss") {
        return Err(bad_url("is neither ws nor wss"));
    }
    let login = (!parsed.username().is_empty()).then(|| {
        let password = parsed.password().unwrap_or_default();
        let login = percent_decode_str(parsed.username()).chain([b':']);
        let login: Vec<u8> = login.chain(percent_decode_str(password)).collect();
        BASE64_STANDARD.encode(login)
    });
    // Both can be set for any address with a host.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_fragment(None);
    let mut request = parsed
        .as_str()
        .into_client_request()
        .map_err(|_| bad_url("is not the URL of a server"))?;
    let ours = request.headers_mut();
    ours.insert(
        SEC_WEBSOCKET_PROTOCOL,
        HeaderValue::from_static(SUBPROTOCOL),
    );
    if let Some(login) = login
        && let Ok(mut value) = HeaderValue::from_str(&format!("Basic {login}"))
    {
        value.set_sensitive(true);
        ours.insert(AUTHORIZATION, value);
    }
    for (name, value) in headers {
        let (key, value) = http::header(name, value)?;
        let is_of_handshake = key.as_str().starts_with("sec-websocket-")
            || matches!(key.as_str(), "connection" | "upgrade" | "host");
        if is_of_handshake {
            return Err(http::bad_header(name, "the protocol sets it"));
        }
        ours.insert(key, value);
    }
    Ok(request)
}

fn not_opened(error: Error) -> ErrorKind {
    match error {
        Error::Http(response) => {
            let body = response.body().as_deref().unwrap_or_default();
            ErrorKind::Http {
                status: response.status().as_u16(),
                text: cut(&String::from_utf8_lossy(body), LONGEST_REFUSAL),
                to: HttpRequest::WebSocket,
            }
        }
        Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            ErrorKind::Unreachable {
                text: "connection refused".to_owned(),
            }
        }
        Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            ErrorKind::Unreachable {
                text: format!("TLS handshake failed: {error}"),
            }
        }
        Error::Io(error) => ErrorKind::Unreachable {
            text: error.to_string(),
        },
        Error::Tls(error) => ErrorKind::Unreachable {
            text: error.to_string(),
        },
        // Its own text repeats the URL, which may hold secrets.
        Error::Url(UrlError::UnableToConnect(_)) => ErrorKind::Unreachable {
            text: "no connection".to_owned(),
        },
        Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(_)) => ErrorKind::Protocol {
            text: format!("it speaks a WebSocket subprotocol other than `{SUBPROTOCOL}`"),
        },
        Error::Protocol(ProtocolError::HandshakeIncomplete) => ErrorKind::Closed,
        error => ErrorKind::Protocol {
            text: error.to_string(),
        },
    }
}

fn farewell(frame: Option<CloseFrame>) -> String {
    match frame {
        None => "without a close code".to_owned(),
        Some(frame) if frame.reason.is_empty() => format!("close code {}", u16::from(frame.code)),
        Some(frame) => format!("close code {}, `{}`", u16::from(frame.code), frame.reason),
    }
}

fn broken(error: &Error) -> ReadEnd {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { .. }) => ReadEnd::TooLarge(LARGEST_FRAME),
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Io(_)
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            ReadEnd::Broken("it closed the connection without a close frame".to_owned())
        }
        Error::Utf8(_) => ReadEnd::Broken("a text frame contains invalid UTF-8".to_owned()),
        error => ReadEnd::Broken(error.to_string()),
    }
}

impl From<Error> for SendError {
    fn from(error: Error) -> Self {
        match error {
            Error::Capacity(error) => Self::Unwritable(error.to_string()),
            _ => Self::Lost,
        }
    }
}

#[cfg(test)]
mod tests;
