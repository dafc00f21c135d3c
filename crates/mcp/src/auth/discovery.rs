//! Where a server's tokens come from: its own metadata (RFC 9728), then that of its authorization server
//! (RFC 8414, or OpenID Connect).

use cuecard_runtime::provider::reason;
use reqwest::header::ACCEPT;
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;

use super::super::http::{HttpError, body, is_loopback};
use super::super::text::{clean, cut, url as shown_url};
use super::{Challenge, NoToken};

/// The largest document of metadata, and the largest answer with a token, in bytes.
const LARGEST: usize = 256 * 1024;

/// Where to fetch a token, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenEndpoint {
    pub(super) url: Url,
    /// What the token is for.
    pub(super) resource: String,
    /// The scopes that the server names.
    pub(super) scope: Option<String>,
    /// Whom a signed statement is for: the authorization server, else the endpoint.
    pub(super) audience: String,
    /// How clients may prove who they are, if the server says so.
    methods: Option<Vec<String>>,
}

impl TokenEndpoint {
    /// The one that the config names.
    pub(super) fn given(url: &str, resource: &Url) -> Result<Self, NoToken> {
        let parsed = Url::parse(url).map_err(|error| {
            NoToken(format!(
                "`token_url` is `{}`, which is not a valid URL ({error})",
                shown_url(url)
            ))
        })?;
        Ok(Self {
            audience: parsed.to_string(),
            url: guarded(parsed, "`token_url`", resource)?,
            resource: without_fragment(resource),
            scope: None,
            methods: None,
        })
    }

    /// Whether the client's secret goes into the form, and not into a header. Without a word about it, into a
    /// header (RFC 8414).
    pub(super) fn wants_secret_in_body(&self) -> Result<bool, NoToken> {
        match &self.methods {
            None => Ok(false),
            Some(_) if self.takes("client_secret_basic") => Ok(false),
            Some(_) if self.takes("client_secret_post") => Ok(true),
            Some(methods) => Err(NoToken(format!(
                "its authorization server does not accept a client secret, only: {}",
                short(&methods.join(", "))
            ))),
        }
    }

    /// Whether signed statements are taken. Without a word about it we try.
    pub(super) fn takes_statements(&self) -> Result<(), NoToken> {
        match &self.methods {
            Some(methods) if !self.takes("private_key_jwt") => Err(NoToken(format!(
                "its authorization server does not accept a `private_key`, only: {}",
                short(&methods.join(", "))
            ))),
            _ => Ok(()),
        }
    }

    fn takes(&self, method: &str) -> bool {
        let methods = self.methods.as_deref().unwrap_or_default();
        methods.iter().any(|name| name == method)
    }
}

/// Finds the token endpoint for the server at `resource`.
pub(super) async fn discover(
    http: &reqwest::Client,
    resource: &Url,
    challenge: &Challenge,
) -> Result<TokenEndpoint, NoToken> {
    let metadata = resource_metadata(http, resource, challenge).await?;
    let named = metadata.as_ref().and_then(|metadata| {
        let servers = metadata["authorization_servers"].as_array()?;
        servers.first()?.as_str()
    });
    // Before servers described themselves they were their own authorization servers.
    let origin = resource.origin().ascii_serialization();
    let issuer = named.unwrap_or(&origin);
    let issuer_url = Url::parse(issuer).map_err(|_| {
        NoToken(format!(
            "its authorization server `{}` is not a valid URL",
            short(issuer)
        ))
    })?;
    let issuer_url = guarded(issuer_url, "its authorization server", resource)?;
    let Some(server) = first(http, server_candidates(&issuer_url)).await? else {
        return Err(NoToken(format!(
            "`{}` does not advertise a token endpoint; set \"token_url\" in `auth`",
            shown_url(issuer)
        )));
    };
    if let Some(claimed) = server["issuer"].as_str()
        && claimed.trim_end_matches('/') != issuer.trim_end_matches('/')
        && named.is_some()
    {
        return Err(NoToken(format!(
            "the metadata of `{}` is that of another authorization server, `{}`",
            shown_url(issuer),
            shown_url(&short(claimed))
        )));
    }
    let endpoint = server["token_endpoint"].as_str().unwrap_or_default();
    let url = Url::parse(endpoint).map_err(|_| {
        NoToken(format!(
            "the metadata of `{}` has no `token_endpoint`",
            shown_url(issuer)
        ))
    })?;
    let scope = metadata.as_ref().and_then(|metadata| {
        let scopes = metadata["scopes_supported"].as_array()?;
        let scopes: Vec<&str> = scopes.iter().filter_map(Value::as_str).collect();
        (!scopes.is_empty()).then(|| scopes.join(" "))
    });
    let named_resource = metadata
        .as_ref()
        .and_then(|metadata| metadata["resource"].as_str());
    Ok(TokenEndpoint {
        url: guarded(url, "its token endpoint", resource)?,
        resource: named_resource.map_or_else(|| without_fragment(resource), str::to_owned),
        scope,
        audience: issuer.to_owned(),
        methods: server["token_endpoint_auth_methods_supported"]
            .as_array()
            .map(|methods| {
                let methods = methods.iter().filter_map(Value::as_str);
                methods.map(str::to_owned).collect()
            }),
    })
}

/// What the server says about itself; nothing if it says nothing.
async fn resource_metadata(
    http: &reqwest::Client,
    resource: &Url,
    challenge: &Challenge,
) -> Result<Option<Value>, NoToken> {
    let advertised = challenge
        .resource_metadata
        .as_deref()
        .and_then(|url| Url::parse(url).ok())
        .filter(|url| url.origin() == resource.origin());
    let well_known = ["oauth-protected-resource"];
    let mut candidates: Vec<Url> = advertised.into_iter().collect();
    candidates.extend(below_well_known(resource, &well_known));
    let Some(metadata) = first(http, candidates).await? else {
        return Ok(None);
    };
    // Else a server could have tokens fetched that are meant for others.
    let is_ours = metadata["resource"].as_str().is_none_or(|named| {
        Url::parse(named).is_ok_and(|named| {
            let folder = named.path().trim_end_matches('/');
            let rest = resource.path().strip_prefix(folder);
            named.origin() == resource.origin()
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    });
    match is_ours {
        true => Ok(Some(metadata)),
        false => Err(NoToken(format!(
            "its metadata is about another server, `{}`",
            shown_url(&short(metadata["resource"].as_str().unwrap_or_default()))
        ))),
    }
}

/// Where the metadata of the authorization server `issuer` may stand, the likeliest first.
fn server_candidates(issuer: &Url) -> Vec<Url> {
    let names = ["oauth-authorization-server", "openid-configuration"];
    let mut candidates: Vec<Url> = below_well_known(issuer, &names).collect();
    let path = issuer.path().trim_end_matches('/');
    if !path.is_empty() {
        let mut appended = issuer.clone();
        appended.set_path(&format!("{path}/.well-known/openid-configuration"));
        candidates.insert(2, appended);
    }
    candidates
}

/// `/.well-known/NAME` with the path of `url` behind it, then without.
fn below_well_known<'a>(url: &'a Url, names: &'a [&str]) -> impl Iterator<Item = Url> + 'a {
    let path = url.path().trim_end_matches('/');
    let paths = [path, ""];
    let paths = if path.is_empty() { &paths[1..] } else { &paths };
    let mut found = Vec::new();
    for path in paths {
        for name in names {
            let mut candidate = url.clone();
            candidate.set_path(&format!("/.well-known/{name}{path}"));
            candidate.set_query(None);
            candidate.set_fragment(None);
            found.push(candidate);
        }
    }
    found.into_iter()
}

/// The first of these documents that is there.
async fn first(
    http: &reqwest::Client,
    candidates: impl IntoIterator<Item = Url>,
) -> Result<Option<Value>, NoToken> {
    for url in candidates {
        if let Some(document) = get_json(http, url).await? {
            return Ok(Some(document));
        }
    }
    Ok(None)
}

/// The JSON object at `url`; nothing if there is none.
async fn get_json(http: &reqwest::Client, url: Url) -> Result<Option<Value>, NoToken> {
    let place = shown_url(url.as_str());
    let response = http
        .get(url)
        .header(ACCEPT, "application/json")
        .send()
        .await;
    let response = response.map_err(|error| {
        let reason = reason(&error);
        NoToken(format!("`{place}` can't be read: {reason}"))
    })?;
    if response.status() != StatusCode::OK {
        return Ok(None);
    }
    // A page for people says nothing to us.
    Ok(json_body(response).await.ok().filter(Value::is_object))
}

/// The body of a response as JSON.
///
/// # Errors
/// What is wrong with it, to follow its name.
pub(super) async fn json_body(response: Response) -> Result<Value, &'static str> {
    let body = body(response, LARGEST).await.map_err(|error| match error {
        HttpError::ResponseBodyTooLarge { .. } => "is larger than the limit of 256 KiB",
        _ => "ended unexpectedly",
    })?;
    serde_json::from_slice(&body).map_err(|_| "is not JSON")
}

/// A URL that a secret may be sent to: encrypted, and on this machine only if the server runs here too.
fn guarded(url: Url, what: &str, resource: &Url) -> Result<Url, NoToken> {
    let is_here = is_loopback(&url);
    let is_safe = match url.scheme() {
        "https" => !is_here || is_loopback(resource),
        "http" => is_here && is_loopback(resource),
        _ => false,
    };
    match is_safe {
        true => Ok(url),
        false => Err(NoToken(format!(
            "{what} is `{}`, where the client's secret would not be safe: it takes https, and no address of this machine",
            shown_url(url.as_str())
        ))),
    }
}

fn without_fragment(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.to_string()
}

fn short(text: &str) -> String {
    cut(&clean(text), 200)
}
