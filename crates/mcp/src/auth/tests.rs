//! Client credentials against a server with an authorization server beside it, both of our own.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use cuecard_source::value::without_credentials;
use reqwest::StatusCode;
use reqwest::header::WWW_AUTHENTICATE;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, json};
use tokio::net::TcpListener;

use super::*;
use crate::test_server::Echo;
use crate::{ErrorKind, Protocol, ServerError, ServerSpec, Session, TransportSpec};

const LONG: Duration = Duration::from_secs(600);

/// How the two servers behave, and what reached them.
#[derive(Default)]
struct Servers {
    /// Documents by their paths; `ORIGIN` stands for the address.
    documents: Documents,
    /// What the token endpoint answers instead of a token.
    refusal: Option<Value>,
    /// The only token that is accepted is the one with this number; every one if absent.
    accepted: Option<usize>,
    /// The header and the body of each request for a token.
    asked: Vec<(String, String)>,
    /// Requests to the MCP server that were refused.
    unauthorized: usize,
}

/// Paths with their documents.
type Documents = Vec<(&'static str, Value)>;
type Shared = Arc<std::sync::Mutex<Servers>>;

fn described() -> Documents {
    vec![
        (
            "/.well-known/oauth-protected-resource/mcp",
            json!({"resource": "ORIGIN/mcp", "authorization_servers": ["ORIGIN/tenant"], "scopes_supported": ["a", "b"]}),
        ),
        (
            "/.well-known/oauth-authorization-server/tenant",
            json!({
                "issuer": "ORIGIN/tenant", "token_endpoint": "ORIGIN/token",
                "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_basic"],
            }),
        ),
    ]
}

async fn serve(servers: Servers) -> (SocketAddr, Shared) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let shared = Arc::new(std::sync::Mutex::new(servers));
    let mcp = StreamableHttpService::new(
        || Ok(Echo),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let state = Arc::clone(&shared);
    let gate = middleware::from_fn(move |request: Request, next: Next| {
        let state = Arc::clone(&state);
        async move { answer(&state, address, request, next).await }
    });
    let router = Router::new().nest_service("/mcp", mcp).layer(gate);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, shared)
}

async fn answer(state: &Shared, address: SocketAddr, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let authorization = request.headers().get(AUTHORIZATION);
    let authorization = authorization.map(|value| value.to_str().expect("text").to_owned());
    if path == "/mcp" {
        if !accepts(state, authorization.as_deref()) {
            let challenge = "Bearer error=\"invalid_token\", error_description=\"not today\"";
            return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response();
        }
        return next.run(request).await;
    }
    if path == "/token" {
        let body = axum::body::to_bytes(request.into_body(), 10_000).await;
        let body = String::from_utf8(body.expect("a body").to_vec()).expect("text");
        let mut servers = state.lock().expect("no test panics with it");
        servers
            .asked
            .push((authorization.unwrap_or_default(), body));
        if let Some(refusal) = &servers.refusal {
            return (StatusCode::BAD_REQUEST, Json(refusal.clone())).into_response();
        }
        let token = format!("issued-token-{}", servers.asked.len());
        return Json(json!({"access_token": token, "token_type": "Bearer", "expires_in": 3600}))
            .into_response();
    }
    let servers = state.lock().expect("no test panics with it");
    let document = servers.documents.iter().find(|(place, _)| *place == path);
    match document {
        Some((_, document)) => {
            let text = document.to_string();
            Body::from(text.replace("ORIGIN", &format!("http://{address}"))).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn accepts(state: &Shared, authorization: Option<&str>) -> bool {
    let mut servers = state.lock().expect("no test panics with it");
    let is_accepted = match (servers.accepted, authorization) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(wanted), Some(given)) => given == format!("Bearer issued-token-{wanted}"),
    };
    servers.unauthorized += usize::from(!is_accepted);
    is_accepted
}

fn spec(address: SocketAddr, token_url: Option<&str>) -> ServerSpec {
    ServerSpec {
        name: "remote".to_owned(),
        transport: TransportSpec::Http {
            or_sse: false,
            url: format!("http://{address}/mcp"),
            headers: Vec::new(),
            auth: Some(ClientCredentials {
                client_id: "me".to_owned(),
                proof: ClientProof::Secret("very: secret".to_owned()),
                scope: None,
                token_url: token_url.map(str::to_owned),
            }),
        },
        protocol: Protocol::Auto,
        start_timeout: LONG,
        allowed_tools: None,
        source: ".mcp.json".to_owned(),
    }
}

async fn start(spec: &ServerSpec) -> Result<Session, ServerError> {
    Session::start(spec, &[]).await
}

/// Why a server with these documents could not be authorized.
async fn no_token(servers: Servers) -> String {
    let (address, _) = serve(servers).await;
    let error = start(&spec(address, None)).await.expect_err("no token");
    let message = error.to_string();
    assert_eq!(
        without_credentials(&message),
        message,
        "nothing is redacted"
    );
    let ErrorKind::NoToken { text } = error.kind else {
        panic!("{error:?}")
    };
    assert!(!text.contains("very"), "{text}");
    text.replace(&format!("http://{address}"), "ORIGIN")
}

#[tokio::test]
async fn a_token_is_fetched_when_it_is_wanted_and_kept() {
    let (address, servers) = serve(Servers {
        documents: described(),
        ..Servers::default()
    })
    .await;
    let session = start(&spec(address, None)).await.expect("it starts");
    for _ in 0..3 {
        let reply = session.call("echo", Map::new(), LONG).await;
        reply.expect("a reply");
    }
    assert_eq!(session.take_secrets(), ["issued-token-1"]);
    session.stop().await;
    let servers = servers.lock().expect("not poisoned");
    assert_eq!(servers.unauthorized, 1, "only the first request had none");
    let [(header, form)] = servers.asked.as_slice() else {
        panic!("{:?}", servers.asked)
    };
    // `very: secret` is encoded as in a form before it is joined to the name (RFC 6749).
    let pair = base64::engine::general_purpose::STANDARD.encode("me:very%3A+secret");
    assert_eq!(*header, format!("Basic {pair}"));
    let resource = format!("http%3A%2F%2F127.0.0.1%3A{}%2Fmcp", address.port());
    assert_eq!(
        *form,
        format!("grant_type=client_credentials&resource={resource}&scope=a+b")
    );
}

#[tokio::test]
async fn a_rejected_token_is_replaced_once() {
    let (address, servers) = serve(Servers {
        documents: described(),
        ..Servers::default()
    })
    .await;
    let session = start(&spec(address, None)).await.expect("it starts");
    servers.lock().expect("not poisoned").accepted = Some(2);
    let reply = session.call("echo", Map::new(), LONG).await;
    reply.expect("a reply with the second token");
    servers.lock().expect("not poisoned").accepted = Some(99);
    let error = session.call("echo", Map::new(), LONG).await;
    let error = error.expect_err("no token is accepted");
    assert_eq!(
        error.kind,
        ErrorKind::Http {
            status: 401,
            text: "invalid_token, not today".to_owned(),
            to: crate::HttpRequest::Message,
        }
    );
    assert_eq!(servers.lock().expect("not poisoned").asked.len(), 3);
    session.stop().await;
}

#[tokio::test]
async fn a_given_address_takes_the_place_of_discovery_and_the_form_that_of_the_header() {
    let (address, servers) = serve(Servers::default()).await;
    let token_url = format!("http://{address}/token");
    let session = start(&spec(address, Some(&token_url))).await;
    session.expect("it starts").stop().await;
    assert_eq!(servers.lock().expect("not poisoned").asked.len(), 1);

    let mut documents = described();
    documents[1].1["token_endpoint_auth_methods_supported"] = json!(["client_secret_post"]);
    let (address, servers) = serve(Servers {
        documents,
        ..Servers::default()
    })
    .await;
    let session = start(&spec(address, None)).await;
    session.expect("it starts").stop().await;
    let servers = servers.lock().expect("not poisoned");
    let (header, form) = &servers.asked[0];
    assert_eq!(header, "");
    assert!(
        form.ends_with("&client_id=me&client_secret=very%3A+secret"),
        "{form}"
    );
}

#[tokio::test]
async fn what_keeps_a_token_away_is_told() {
    let with = |change: &dyn Fn(&mut Documents)| {
        let mut documents = described();
        change(&mut documents);
        Servers {
            documents,
            ..Servers::default()
        }
    };
    let refused = Servers {
        refusal: Some(json!({"error": "invalid_client", "error_description": "who?"})),
        ..with(&|_| {})
    };
    for (servers, text) in [
        (
            refused,
            "`ORIGIN/token` refused a token with HTTP 400: invalid_client, who?",
        ),
        (
            Servers::default(),
            "`ORIGIN/` does not advertise a token endpoint; set \"token_url\" in `auth`",
        ),
        (
            with(&|documents| documents[0].1["resource"] = json!("https://other.example/mcp")),
            "its metadata is about another server, `https://other.example/mcp`",
        ),
        (
            with(&|documents| documents[0].1["resource"] = json!("ORIGIN/mc")),
            "its metadata is about another server, `ORIGIN/mc`",
        ),
        (
            with(&|documents| documents[1].1["issuer"] = json!("https://other.example")),
            "the metadata of `ORIGIN/tenant` is that of another authorization server, `https://other.example/`",
        ),
        (
            with(&|documents| documents[1].1["token_endpoint"] = json!("http://other.example/t")),
            "its token endpoint is `http://other.example/t`, where the client's secret would not be safe: it takes \
             https, and no address of this machine",
        ),
    ] {
        assert_eq!(no_token(servers).await, text);
    }
}

#[test]
fn parameters_of_a_challenge_are_read_in_any_order_and_form() {
    let header = r#"Basic realm="x, error=y", bearer realm="a \"b\"", Error=invalid_token , error_description="no = good""#;
    for (name, value) in [
        ("error", Some("invalid_token")),
        ("error_description", Some("no = good")),
        ("scope", None),
    ] {
        assert_eq!(parameter(header, name).as_deref(), value, "{name}");
    }
    assert_eq!(parameter("Bearer", "error"), None);
}
