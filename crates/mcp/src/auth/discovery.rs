//! Where a server's tokens come from: its own metadata (RFC 9728), then that of its authorization server
//! (RFC 8414, or OpenID Connect).

use reqwest::{StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::http::{body, is_loopback};
use super::super::text::{clean, cut, url as shown_url};
use super::{NoToken, parameter, send};

/// The largest document of metadata, and the largest answer with a token, in bytes.
pub(super) const LARGEST: usize = 256 * 1024;

/// Where to fetch a token, and how.
pub(super) struct TokenEndpoint {
    pub(super) url: Url,
    /// What the token is for.
    pub(super) resource: String,
    /// The scopes that the server names.
    pub(super) scope: Option<String>,
    /// The reader of a signed statement: the authorization server, else the endpoint.
    pub(super) audience: String,
    /// Whether the client's secret goes into the form, and not into a header, which is the default (RFC 8414).
    pub(super) takes_secret_in_body: bool,
}

/// The metadata of an MCP server.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ResourceMetadata {
    resource: Option<String>,
    authorization_servers: Vec<String>,
    scopes_supported: Vec<String>,
}

/// The metadata of an authorization server.
#[derive(Deserialize)]
struct ServerMetadata {
    issuer: String,
    token_endpoint: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

impl TokenEndpoint {
    /// The endpoint that the config names.
    pub(super) fn given(url: &str, resource: &Url) -> Result<Self, NoToken> {
        let url = guarded(url, "`token_url`", resource)?;
        Ok(Self {
            audience: url.to_string(),
            url,
            resource: resource.to_string(),
            scope: None,
            takes_secret_in_body: false,
        })
    }
}

/// Finds the token endpoint for the server at `resource`, which answered with the header `challenge`.
pub(super) async fn discover(
    http: &reqwest::Client,
    resource: &Url,
    challenge: &str,
) -> Result<TokenEndpoint, NoToken> {
    let advertised = parameter(challenge, "resource_metadata");
    let advertised = advertised.and_then(|url| Url::parse(&url).ok());
    let advertised = advertised.filter(|url| url.origin() == resource.origin());
    let places = advertised
        .into_iter()
        .chain(well_known(resource, &["oauth-protected-resource"]));
    let about: Option<ResourceMetadata> = first(http, places).await?;
    let about = about.unwrap_or_default();
    // Else a server could have tokens fetched that are meant for others.
    if let Some(named) = about
        .resource
        .as_deref()
        .filter(|named| !is_below(resource, named))
    {
        return Err(NoToken(format!(
            "its metadata is about another server, `{}`",
            shown(named)
        )));
    }
    // Before servers described themselves they were their own authorization servers.
    let origin = resource.origin().ascii_serialization();
    let issuer = about.authorization_servers.first().unwrap_or(&origin);
    let issuer_url = guarded(issuer, "its authorization server", resource)?;
    let names = ["oauth-authorization-server", "openid-configuration"];
    let mut places = well_known(&issuer_url, &names);
    let mut appended = issuer_url.clone();
    let path = issuer_url.path().trim_end_matches('/');
    appended.set_path(&format!("{path}/.well-known/openid-configuration"));
    places.insert(names.len(), appended);
    let Some(server) = first::<ServerMetadata>(http, places).await? else {
        return Err(NoToken(format!(
            "`{}` does not advertise a token endpoint; set \"token_url\" in `auth`",
            shown(issuer)
        )));
    };
    let [claimed, expected] = [&server.issuer, issuer].map(|url| url.trim_end_matches('/'));
    if claimed != expected && *issuer != origin {
        return Err(NoToken(format!(
            "the metadata of `{}` is that of another authorization server, `{}`",
            shown(issuer),
            shown(claimed)
        )));
    }
    let scopes = about.scopes_supported.join(" ");
    let methods = server.token_endpoint_auth_methods_supported;
    let has = |method: &str| methods.iter().any(|known| known == method);
    Ok(TokenEndpoint {
        url: guarded(&server.token_endpoint, "its token endpoint", resource)?,
        resource: about.resource.unwrap_or_else(|| resource.to_string()),
        scope: Some(scopes).filter(|scopes| !scopes.is_empty()),
        audience: issuer.clone(),
        takes_secret_in_body: has("client_secret_post") && !has("client_secret_basic"),
    })
}

/// Whether a server is the one at the URL `named`, or below it.
fn is_below(resource: &Url, named: &str) -> bool {
    let rest = resource.as_str().strip_prefix(named.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

/// Returns `/.well-known/NAME` of a host with the path of `url` behind it, then without.
fn well_known(url: &Url, names: &[&str]) -> Vec<Url> {
    let mut paths = vec![url.path().trim_end_matches('/'), ""];
    paths.dedup();
    let all = paths
        .iter()
        .flat_map(|path| names.iter().map(move |name| (path, name)));
    let urls = all.filter_map(|(path, name)| url.join(&format!("/.well-known/{name}{path}")).ok());
    urls.collect()
}

/// Returns the first of these documents that is there. A page for people is none.
async fn first<T: DeserializeOwned>(
    http: &reqwest::Client,
    places: impl IntoIterator<Item = Url>,
) -> Result<Option<T>, NoToken> {
    for url in places {
        let place = shown_url(url.as_str());
        let response = send(http.get(url), &place).await?;
        if response.status() != StatusCode::OK {
            continue;
        }
        let body = body(response, LARGEST).await.unwrap_or_default();
        if let Ok(document) = serde_json::from_slice(&body) {
            return Ok(Some(document));
        }
    }
    Ok(None)
}

/// Returns a URL to which a secret may be sent: encrypted, and on this machine only if the server runs here too.
fn guarded(url: &str, what: &str, resource: &Url) -> Result<Url, NoToken> {
    let place = shown(url);
    let url = Url::parse(url).map_err(|error| {
        NoToken(format!(
            "{what} is `{place}`, which is not a valid URL ({error})"
        ))
    })?;
    let is_here = is_loopback(&url);
    let is_safe = match url.scheme() {
        "https" => !is_here || is_loopback(resource),
        "http" => is_here && is_loopback(resource),
        _ => false,
    };
    match is_safe {
        true => Ok(url),
        false => Err(NoToken(format!(
            "{what} is `{place}`, where the client's secret would not be safe: it takes https, and no address of this machine",
        ))),
    }
}

fn shown(url: &str) -> String {
    shown_url(&cut(&clean(url), 200))
}
