//! Fetching a page: every hop is judged before it is made, and goes where it was judged to go.

mod body;
mod encoding;
mod gate;
mod html;
mod tidy;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use cuecard_runtime::provider::reason;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
};
use reqwest::{Client, Response, Url};
use tokio::io::AsyncReadExt as _;

use super::WorkspaceError;
use encoding::Problem;

pub use gate::PolicyGate;

/// How much of a body is read unless a request says otherwise.
pub const DEFAULT_MAX_BYTES: usize = 5 * 1024 * 1024;
/// How many redirects are followed unless a request says otherwise.
pub const DEFAULT_MAX_REDIRECTS: usize = 10;
/// The most addresses of one host that are tried.
const MAX_ADDRESSES: usize = 32;

/// How far a fetch has come, in words.
const LOOKUP: &str = "while looking up its host";
const ANSWER: &str = "while waiting for its answer";
const BODY: &str = "while reading its body";

/// What to fetch.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// How long everything together may take: all hops, and the body.
    pub timeout: Duration,
    /// The most bytes read of the body, and the most given as content.
    pub max_bytes: usize,
    /// The most redirects followed.
    pub max_redirects: usize,
}

impl FetchRequest {
    /// A request with the usual bounds: a minute, 5 MiB, ten redirects.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            timeout: Duration::from_secs(60),
            max_bytes: DEFAULT_MAX_BYTES,
            max_redirects: DEFAULT_MAX_REDIRECTS,
        }
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fetched {
    /// The body as text, HTML as Markdown. Empty if an answer with an error status isn't text.
    pub content: String,
    /// The URL that answered, after redirects; without a password.
    pub url: String,
    /// The HTTP status, also of an error.
    pub status: u16,
    /// The `Content-Type` as sent, `None` if there was none.
    pub content_type: Option<String>,
    /// Whether `content` lacks the end of what was sent.
    pub truncated: bool,
    /// What of the body could not be kept.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Judges where a fetch may go.
pub trait FetchGate: Send + Sync {
    /// Called twice for each hop, redirects included: with no addresses before the host's name is looked
    /// up (looking it up tells its name server something already), and with all the addresses that may
    /// be connected to. The connection is made to one of these and to no other.
    ///
    /// # Errors
    /// Why not, as a lowercase fragment; the error of the fetch says it.
    fn check(&self, url: &Url, addresses: &[IpAddr]) -> Result<(), String>;
}

/// Gets a page. Redirects are followed, each after the gate has agreed to it; proxies from the
/// environment are not used, since they would connect where nobody judged. Nothing but the URL is sent:
/// no cookies, no referrer.
///
/// An answer with an error status is an answer. HTML becomes Markdown, other text is given as it is.
///
/// # Errors
/// A URL that can't be fetched, a gate that says no, a host that can't be reached, a body that isn't
/// text, too many redirects, or no answer in time.
pub async fn fetch(request: FetchRequest, gate: &dyn FetchGate) -> Result<Fetched, WorkspaceError> {
    cuecard_runtime::tls::install();
    let mut stage = LOOKUP;
    let mut at = parse(&request.url)?;
    let hops = follow(&request, gate, &mut at, &mut stage);
    match tokio::time::timeout(request.timeout, hops).await {
        Ok(result) => result,
        Err(_) => {
            let seconds = request.timeout.as_secs_f64();
            let problem = format!("`{}` timed out after {seconds} s, {stage}", shown(&at));
            Err(WorkspaceError {
                is_timeout: true,
                ..WorkspaceError::new(problem)
            })
        }
    }
}

/// `at` and `stage` tell, should this be dropped, how far it came.
async fn follow(
    request: &FetchRequest,
    gate: &dyn FetchGate,
    at: &mut Url,
    stage: &mut &str,
) -> Result<Fetched, WorkspaceError> {
    for _ in 0..=request.max_redirects {
        *stage = LOOKUP;
        let addresses = admitted_addresses(at, gate).await?;
        *stage = ANSWER;
        let response = send(at, &addresses).await?;
        match redirect_target(at, &response)? {
            Some(next) => *at = next,
            None => {
                *stage = BODY;
                return receive(request, at, response).await;
            }
        }
    }
    let (followed, next) = (request.max_redirects, shown(at));
    let problem = format!("too many redirects: {followed} followed, the next is to `{next}`");
    Err(WorkspaceError::new(problem))
}

/// The addresses of the URL's host, all of which the gate has admitted.
async fn admitted_addresses(
    url: &Url,
    gate: &dyn FetchGate,
) -> Result<Vec<SocketAddr>, WorkspaceError> {
    let refused =
        |reason| WorkspaceError::new(format!("`{}` may not be fetched: {reason}", shown(url)));
    let host = checked_host(url)?;
    gate.check(url, &[]).map_err(refused)?;
    let not_found =
        |reason: &str| WorkspaceError::new(format!("the host `{host}` was not found: {reason}"));
    let port = url.port_or_known_default().unwrap_or(80);
    let mut addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => tokio::net::lookup_host((host, port))
            .await
            .map_err(|source| not_found(&source.to_string()))?
            .collect(),
    };
    addresses.truncate(MAX_ADDRESSES);
    if addresses.is_empty() {
        return Err(not_found("it has no address"));
    }
    let judged: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
    gate.check(url, &judged).map_err(refused)?;
    Ok(addresses)
}

/// The host as a name or an address, without the brackets of an IPv6 address. The URL parser has brought
/// all the ways to write an IPv4 address into one.
fn checked_host(url: &Url) -> Result<&str, WorkspaceError> {
    if !matches!(url.scheme(), "http" | "https") {
        let problem = format!("`{}` has the scheme `{}`", shown(url), url.scheme());
        return Err(WorkspaceError::new(problem).with_help(match url.scheme() {
            "file" => "`claude__read` reads a file",
            _ => "only http and https URLs are fetched",
        }));
    }
    let host = url
        .host_str()
        .filter(|host| !host.is_empty())
        .ok_or_else(|| no_url(&shown(url), "it has no host"))?;
    Ok(host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host))
}

/// One request on a connection of its own. The client knows these addresses and nothing else: whatever
/// name it asks for, it is given them.
async fn send(url: &Url, addresses: &[SocketAddr]) -> Result<Response, WorkspaceError> {
    let unreachable = |error: reqwest::Error| {
        let reason = reason(&error);
        WorkspaceError::new(format!("no answer from `{}`: {reason}", shown(url)))
            .with_help("the connection is made directly: proxy environment variables are not used")
    };
    let client = Client::builder()
        .no_proxy()
        .dns_resolver(Pinned(addresses.to_vec()))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .pool_max_idle_per_host(0)
        .user_agent(concat!("cuecard/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(unreachable)?;
    client
        .get(url.clone())
        .header(ACCEPT_ENCODING, encoding::ACCEPTED)
        .send()
        .await
        .map_err(unreachable)
}

#[derive(Debug)]
struct Pinned(Vec<SocketAddr>);

impl reqwest::dns::Resolve for Pinned {
    fn resolve(&self, _name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let addresses = self.0.clone();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as reqwest::dns::Addrs) })
    }
}

fn redirect_target(from: &Url, response: &Response) -> Result<Option<Url>, WorkspaceError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = text_header(response.headers(), &LOCATION) else {
        return Ok(None);
    };
    let mut next = from.join(&location).map_err(|reason| {
        let from = shown(from);
        let what = format!("redirects to `{location}`, which is not a URL: {reason}");
        WorkspaceError::new(format!("`{from}` {what}"))
    })?;
    if next.fragment().is_none() {
        next.set_fragment(from.fragment());
    }
    Ok(Some(next))
}

async fn receive(
    request: &FetchRequest,
    url: &Url,
    response: Response,
) -> Result<Fetched, WorkspaceError> {
    let status = response.status();
    let content_type = text_header(response.headers(), &CONTENT_TYPE);
    let encoding = text_header(response.headers(), &CONTENT_ENCODING).unwrap_or_default();

    let kind = body::Kind::of(content_type.as_deref());
    let unreadable = status.is_client_error() || status.is_server_error();
    let fetched = |content, truncated| Fetched {
        content,
        url: shown(url),
        status: status.as_u16(),
        content_type: content_type.clone(),
        truncated,
        warnings: Vec::new(),
    };
    let binary = |size: Option<u64>| {
        let kind = content_type.as_ref().map(|kind| format!("`{kind}`"));
        let kind = kind.unwrap_or_else(|| "of an unknown type".to_owned());
        let size = size.map_or("of unknown size".to_owned(), |size| format!("{size} bytes"));
        WorkspaceError::new(format!("`{}` is not text but {kind}, {size}", shown(url)))
            .with_help("a command can download it: `curl -o FILE URL` with `claude__bash`")
    };
    if kind == body::Kind::Binary {
        // The body of an error page is of no importance, its status is.
        return if unreadable {
            Ok(fetched(String::new(), false))
        } else {
            Err(binary(response.content_length()))
        };
    }

    let announced = response.content_length();
    let is_encoded = !encoding.is_empty();
    let reader = encoding::decoder(response, &encoding)
        .await
        .map_err(|problem| match problem {
            Problem::Unknown => {
                let what = format!("is compressed as `{encoding}`, which was not requested");
                WorkspaceError::new(format!("`{}` {what}", shown(url)))
                    .with_help("a command can fetch and convert it, with `claude__bash`")
            }
            Problem::Io(error) => interrupted(url, 0, &error),
        })?;
    let mut bytes = Vec::new();
    // One byte more tells whether there is more; what is decoded counts.
    let mut reader = reader.take(request.max_bytes as u64 + 1);
    if let Err(error) = reader.read_to_end(&mut bytes).await {
        return Err(interrupted(url, bytes.len(), &error));
    }
    let truncated = bytes.len() > request.max_bytes;
    bytes.truncate(request.max_bytes);
    let size = match truncated {
        true => announced.filter(|_| !is_encoded),
        false => Some(bytes.len() as u64),
    };

    let (decoded, warning) = body::decode(&bytes, truncated, content_type.as_deref(), kind);
    let fetched = |content, truncated: bool| {
        let cut = || "the body is too long: its end was dropped".to_owned();
        let cut = truncated.then(cut);
        Fetched {
            warnings: warning.into_iter().chain(cut).collect(),
            ..fetched(content, truncated)
        }
    };
    match decoded {
        body::Decoded::Text(text) => {
            let (content, cut) = body::cut(text, request.max_bytes);
            Ok(fetched(content, truncated || cut))
        }
        body::Decoded::Html { text, xml } => {
            // Only the processor is needed for this, and it may be needed for a while.
            let converted = tokio::task::spawn_blocking(move || html::to_markdown(&text, xml));
            let (content, lost) = converted.await.map_err(|_| {
                WorkspaceError::new(format!(
                    "the HTML of `{}` could not be converted",
                    shown(url)
                ))
            })?;
            let (content, cut) = body::cut(content, request.max_bytes);
            Ok(fetched(content, truncated || lost || cut))
        }
        body::Decoded::Binary if unreadable => Ok(fetched(String::new(), truncated)),
        body::Decoded::Binary => Err(binary(size)),
    }
}

/// The connection broke, or what came over it can't be decompressed.
fn interrupted(url: &Url, received: usize, error: &std::io::Error) -> WorkspaceError {
    let (url, reason) = (shown(url), reason(error));
    let problem = format!("the response from `{url}` ended after {received} bytes: {reason}");
    WorkspaceError::new(problem)
}

fn parse(url: &str) -> Result<Url, WorkspaceError> {
    Url::parse(url).map_err(|source| {
        let problem = no_url(url, &source.to_string());
        match url.contains(':') {
            true => problem,
            false => problem.with_help(format!("write `https://{url}`")),
        }
    })
}

fn no_url(url: &str, reason: &str) -> WorkspaceError {
    WorkspaceError::new(format!("`{url}` is not a URL: {reason}"))
}

fn text_header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers
        .get(name)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// A URL as it may be shown: without the user's name and password.
fn shown(url: &Url) -> String {
    if url.username().is_empty() && url.password().is_none() {
        return url.as_str().to_owned();
    }
    let mut url = url.clone();
    // These fail for URLs that can't have a user, which were told apart above.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

#[cfg(test)]
mod tests;
