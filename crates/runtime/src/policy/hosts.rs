//! Which hosts and addresses a URL may reach.

use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;

use super::addresses::is_private;
use super::source::{is_like, name, shown};
use super::{Refusal, RefusalKind};
use cuecard_source::value::Text;

/// More bytes than any server takes.
const MAX_URL: usize = 64 * 1024;

/// The host patterns of the policy.
#[derive(Debug, Clone)]
pub(super) struct HostLists {
    allowed: Arc<[HostPattern]>,
    only: Arc<[HostPattern]>,
}

impl HostLists {
    pub(super) fn new(allowed: &[String], only: &[String]) -> Result<Self, Refusal> {
        let read = |patterns: &[String], flag: &str| -> Result<Arc<[HostPattern]>, Refusal> {
            patterns
                .iter()
                .map(|pattern| HostPattern::new(pattern, flag))
                .collect()
        };
        Ok(Self {
            allowed: read(allowed, "--allow-host")?,
            only: read(only, "--only-hosts")?,
        })
    }

    /// Whether only certain hosts may be reached.
    pub(super) fn limits(&self) -> bool {
        !self.only.is_empty()
    }

    /// A host for each pattern, with its port.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        self.allowed.iter().chain(&*self.only).flat_map(|pattern| {
            let host = pattern.host.replace('*', "a");
            let port = pattern.port.map(|port| port.to_string());
            let both = port.as_ref().map(|port| format!("{host}:{port}"));
            [Some(host), port, both].into_iter().flatten()
        })
    }

    pub(super) fn grant(&self, text: &Text) -> Result<UrlGrant, Refusal> {
        let written = text.to_string();
        if written.len() > MAX_URL {
            return Err(refusal(
                format!("the URL `{}` is too long", shown(text)),
                "use a shorter URL",
            ));
        }
        let url = Url::parse(&written).map_err(|error| {
            refusal(
                format!("`{}` is not a URL: {error}", shown(text)),
                "write it with scheme and host: `https://example.com/path`",
            )
        })?;
        check_scheme(&url, || shown(text))?;
        check_credentials(text, &url)?;
        let grant = UrlGrant {
            is_from_data: !text.is_trusted() && !has_trusted_host(text, &url),
            url,
            source: text.untrusted().map(name),
            lists: self.clone(),
        };
        grant.check_only(&grant.url)?;
        Ok(grant)
    }
}

/// A URL that may be fetched, as long as each address it leads to passes [`UrlGrant::check_addresses`].
#[derive(Debug, Clone)]
pub struct UrlGrant {
    url: Url,
    /// Whether a peer's answer decides where it leads.
    is_from_data: bool,
    /// The first reference whose data is in it, for messages.
    source: Option<String>,
    lists: HostLists,
}

impl UrlGrant {
    /// The URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// To be asked before the host of `url` is resolved. `url` is the granted one, or where an answer sent us.
    ///
    /// # Errors
    /// [`RefusalKind::Host`].
    pub fn check_url(&self, url: &Url) -> Result<(), Refusal> {
        check_scheme(url, || url.to_string())?;
        self.check_only(url)?;
        let credentials =
            |url: &Url| (url.username().to_owned(), url.password().map(str::to_owned));
        let is_same = self.is_same_place(url) && credentials(url) == credentials(&self.url);
        if has_credentials(url) && !is_same {
            let host = host(&self.url);
            return Err(refusal(
                format!("`{host}` returned a URL with a user name or a password"),
                "fetch that URL in a step of its own",
            ));
        }
        Ok(())
    }

    /// To be asked before each request with the addresses that the host of `url` was resolved to; the connection then
    /// goes to these and to no others.
    ///
    /// A URL whose host or port has data in it must not lead to a private address. Another may; a redirect is a peer's
    /// answer, so it may only if it stays on the same host and port (or steps up from http to https there).
    ///
    /// # Errors
    /// [`RefusalKind::Host`].
    pub fn check_addresses(
        &self,
        url: &Url,
        addresses: &[IpAddr],
        is_redirect: bool,
    ) -> Result<(), Refusal> {
        self.check_url(url)?;
        let is_same_place = self.is_same_place(url);
        let is_data = self.is_from_data || !is_same_place;
        if !is_data || matches_any(&self.lists.allowed, url) {
            return Ok(());
        }
        let (from, host) = (host(&self.url), host(url));
        let mut private = addresses.iter().filter(|address| is_private(**address));
        let message = match private.next() {
            None if addresses.is_empty() => format!("`{host}` could not be resolved"),
            None => return Ok(()),
            Some(address) => {
                let why = match &self.source {
                    _ if is_redirect && !is_same_place => format!("`{from}` redirects to"),
                    Some(source) => format!("the URL built from {source} leads to"),
                    None => "the URL built from an answer leads to".to_owned(),
                };
                format!("{why} `{host}` at `{address}`, an address of this machine or its network")
            }
        };
        let help = format!("allow it with `--allow-host {}`", host_and_port(url));
        Err(refusal(message, help))
    }

    fn is_same_place(&self, url: &Url) -> bool {
        let is_upgrade = self.url.scheme() == "http"
            && url.scheme() == "https"
            && self.url.port().is_none()
            && url.port().is_none();
        self.url.host_str() == url.host_str()
            && (self.url.port_or_known_default() == url.port_or_known_default() || is_upgrade)
    }

    fn check_only(&self, url: &Url) -> Result<(), Refusal> {
        if self.lists.only.is_empty() || matches_any(&self.lists.only, url) {
            return Ok(());
        }
        let host = host_and_port(url);
        Err(refusal(
            format!("`{host}` is not among the hosts of `--only-hosts`"),
            format!("add it with `--only-hosts {host}`"),
        ))
    }
}

fn matches_any(patterns: &[HostPattern], url: &Url) -> bool {
    patterns.iter().any(|pattern| pattern.matches(url))
}

fn refusal(message: impl Into<String>, help: impl Into<String>) -> Refusal {
    Refusal::new(RefusalKind::Host, message, help)
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

fn host_and_port(url: &Url) -> String {
    match url.port() {
        Some(port) => format!("{}:{port}", host(url)),
        None => host(url).to_owned(),
    }
}

fn check_scheme(url: &Url, shown: impl FnOnce() -> String) -> Result<(), Refusal> {
    if matches!(url.scheme(), "http" | "https") && url.has_host() {
        return Ok(());
    }
    Err(refusal(
        format!("`{}` is not an http or https URL", shown()),
        "only `http://` and `https://` URLs can be fetched",
    ))
}

/// Whether scheme, host and port are those of the text before the first data.
fn has_trusted_host(text: &Text, url: &Url) -> bool {
    let pieces = text.pieces().iter();
    let before: String = pieces
        .take_while(|piece| piece.origin.is_trusted())
        .map(|piece| piece.text.as_str())
        .collect();
    Url::parse(&before).is_ok_and(|before| {
        before.authority() == url.authority() && before.scheme() == url.scheme()
    })
}

/// Data may not be in the host beside credentials: these would go to whomever the data names.
fn check_credentials(text: &Text, url: &Url) -> Result<(), Refusal> {
    match text.untrusted() {
        Some(piece) if has_credentials(url) && !has_trusted_host(text, url) => Err(refusal(
            format!(
                "{} is used in the host of a URL with a user name or a password",
                name(piece)
            ),
            "write the host literally, or remove the credentials",
        )),
        _ => Ok(()),
    }
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// `host`, `*.domain`, each with an optional `:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HostPattern {
    /// As URLs write it: lower case, ASCII, IPv6 in brackets, no final dot. It may begin with `*.`.
    host: String,
    port: Option<u16>,
}

impl HostPattern {
    fn new(pattern: &str, flag: &str) -> Result<Self, Refusal> {
        Self::read(pattern.trim()).ok_or_else(|| {
            refusal(
                format!("`{pattern}` is not a host"),
                format!("write `{flag} example.com`, `*.example.com` or `example.com:8080`"),
            )
        })
    }

    fn read(pattern: &str) -> Option<Self> {
        let (sub, rest) = pattern.split_at(if pattern.starts_with("*.") { 2 } else { 0 });
        let is_host = !rest.contains(['/', '\\', '@', '?', '#', '*']) && !rest.ends_with(':');
        let rest = match rest.parse::<std::net::Ipv6Addr>() {
            Ok(_) => format!("[{rest}]"),
            Err(_) => rest.to_owned(),
        };
        // The parser that reads the URLs says how the host is spelled. It leaves out the port of the scheme.
        let read = |scheme: &str| Url::parse(&format!("{scheme}://{rest}/")).ok();
        let (http, https) = (read("http").filter(|_| is_host)?, read("https")?);
        Some(Self {
            host: format!("{sub}{}", host(&http).trim_end_matches('.')),
            port: http.port().or(https.port()),
        })
    }

    fn matches(&self, url: &Url) -> bool {
        let host = host(url).trim_end_matches('.');
        is_like(&[&self.host], host)
            && (self.port.is_none() || self.port == url.port_or_known_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::text;
    use super::*;
    use cuecard_source::value::{Origin, Piece};

    fn lists(allowed: &[&str], only: &[&str]) -> HostLists {
        let owned = |list: &[&str]| {
            list.iter()
                .map(|&entry| entry.to_owned())
                .collect::<Vec<_>>()
        };
        HostLists::new(&owned(allowed), &owned(only)).expect("host patterns")
    }

    fn check(grant: &UrlGrant, url: &str, address: &str, is_redirect: bool) -> Result<(), Refusal> {
        let url = Url::parse(url).expect("a URL");
        let address = address.parse().expect("an address");
        grant.check_addresses(&url, &[address], is_redirect)
    }

    fn data(value: &str) -> Text {
        text("{{x.url}}", &[("x.url", value)])
    }

    #[test]
    fn data_reaches_public_addresses_only() {
        let lists = lists(&[], &[]);
        let grant = lists.grant(&data("https://example.com/a")).expect("a URL");
        assert!(grant.is_from_data);
        assert!(check(&grant, "https://example.com/a", "93.184.215.14", false).is_ok());
        for private in [
            "127.0.0.1",
            "10.0.0.8",
            "169.254.169.254",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "0.0.0.0",
            "::",
            "198.18.0.1",
            "192.0.2.1",
        ] {
            let refusal =
                check(&grant, "https://example.com/a", private, false).expect_err(private);
            assert_eq!(refusal.kind, RefusalKind::Host);
            assert_eq!(refusal.help, "allow it with `--allow-host example.com`");
            assert!(refusal.message.contains("`{{x.url}}`"), "{refusal}");
        }
        // One private address among public ones is enough.
        let url = grant.url().clone();
        let addresses =
            ["93.184.215.14", "127.0.0.1"].map(|address| address.parse().expect("an address"));
        assert!(grant.check_addresses(&url, &addresses, false).is_err());
        assert!(grant.check_addresses(&url, &[], false).is_err());
    }

    #[test]
    fn behind_a_host_that_the_author_wrote_data_may_stand() {
        for (template, value) in [
            ("http://localhost:3000/users/{{x}}", "7"),
            ("http://localhost:3000/{{x}}", "@example.com/"),
            ("http://localhost:3000/{{x}}", "../../:80@[::1]/"),
            ("http://localhost:3000/{{x}}", "\\\\example.com"),
            ("http://localhost:3000?q={{x}}", "/x"),
            ("http://localhost:3000/#{{x}}", "//10.0.0.1"),
            ("http:\\\\localhost:3000\\{{x}}", "a"),
            ("http:localhost:3000/{{x}}", "a"),
            ("http://localhost:3000{{x}}", "/users"),
            ("http://localhost:3000{{x}}/", ""),
        ] {
            let grant = lists(&[], &[])
                .grant(&text(template, &[("x", value)]))
                .expect(template);
            assert!(!grant.is_from_data, "{template}");
            assert_eq!(grant.url().authority(), "localhost:3000", "{template}");
            assert!(check(&grant, grant.url().as_str(), "127.0.0.1", false).is_ok());
            assert!(
                check(&grant, "http://10.0.0.1/", "10.0.0.1", true).is_err(),
                "a redirect"
            );
        }
    }

    #[test]
    fn data_that_may_change_the_host_or_port_counts() {
        for (template, value) in [
            ("http://localhost:300{{x}}/", "0"),
            ("http://localhost{{x}}/", ".example"),
            ("http://localhost{{x}}", "@localhost:1"),
            ("http://localhost:3000{{x}}", "@localhost"),
            ("http://{{x}}/a", "localhost"),
            ("http:///{{x}}/a", "localhost"),
            ("http:/\t/{{x}}/a", "localhost"),
            ("http:{{x}}", "//localhost/"),
            ("http://a@{{x}}/", "localhost"),
            ("{{x}}/a/b", "http://localhost"),
            ("http://local{{x}}/", "host"),
        ] {
            let grant = match lists(&[], &[]).grant(&text(template, &[("x", value)])) {
                Ok(grant) => grant,
                Err(refusal) => {
                    assert_eq!(refusal.kind, RefusalKind::Host);
                    continue;
                }
            };
            assert!(grant.is_from_data, "{template}");
            let refusal =
                check(&grant, grant.url().as_str(), "127.0.0.1", false).expect_err("local");
            assert!(
                refusal
                    .help
                    .starts_with("allow it with `--allow-host localhost")
            );
        }
    }

    #[test]
    fn allowed_hosts_may_be_anywhere() {
        let lists = lists(&["localhost:3000", "*.corp.example"], &[]);
        let grant = lists
            .grant(&data("http://localhost:3000/x"))
            .expect("a URL");
        assert!(check(&grant, "http://localhost:3000/x", "127.0.0.1", false).is_ok());
        assert!(check(&grant, "http://localhost:3001/x", "127.0.0.1", true).is_err());
        assert!(check(&grant, "http://git.corp.example/x", "10.0.0.1", true).is_ok());
        assert!(check(&grant, "http://corp.example/x", "10.0.0.1", true).is_err());
        assert!(check(&grant, "http://evilcorp.example/x", "10.0.0.1", true).is_err());
    }

    #[test]
    fn a_trusted_url_may_be_local_and_a_redirect_from_it_may_not() {
        let grant = lists(&[], &[])
            .grant(&"http://localhost:8080/".into())
            .expect("a URL");
        assert!(!grant.is_from_data);
        assert!(check(&grant, "http://localhost:8080/", "127.0.0.1", false).is_ok());
        assert!(check(&grant, "http://localhost:8080/login", "127.0.0.1", true).is_ok());
        assert!(check(&grant, "https://example.com/", "93.184.215.14", true).is_ok());
        let refusal =
            check(&grant, "http://localhost:9200/", "127.0.0.1", true).expect_err("another port");
        assert!(
            refusal
                .message
                .starts_with("`localhost` redirects to `localhost` at `127.0.0.1`"),
            "{refusal}"
        );
        assert!(check(&grant, "http://169.254.169.254/", "169.254.169.254", true).is_err());
        assert!(check(&grant, "ftp://example.com/", "93.184.215.14", true).is_err());
        let plain = lists(&[], &[])
            .grant(&"http://intranet/".into())
            .expect("a URL");
        assert!(check(&plain, "https://intranet/", "10.0.0.1", true).is_ok());
        assert!(check(&plain, "https://intranet:8443/", "10.0.0.1", true).is_err());
    }

    #[test]
    fn only_hosts_hold_at_every_hop() {
        let lists = lists(&[], &["example.com", "*.example.org:8443"]);
        let grant = lists.grant(&"https://example.com/".into()).expect("listed");
        let refusal =
            check(&grant, "https://example.net/", "93.184.215.14", true).expect_err("not listed");
        assert_eq!(refusal.help, "add it with `--only-hosts example.net`");
        assert!(check(&grant, "https://EXAMPLE.com./", "93.184.215.14", true).is_ok());
        assert!(check(&grant, "https://a.example.org:8443/", "93.184.215.14", true).is_ok());
        assert!(check(&grant, "https://a.example.org/", "93.184.215.14", true).is_err());
        assert!(lists.grant(&"https://sub.example.com/".into()).is_err());
    }

    #[test]
    fn only_http_can_be_fetched() {
        let lists = lists(&[], &[]);
        for bad in [
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/plain,x",
            "/relative",
            "example.com",
            "",
        ] {
            let refusal = lists.grant(&bad.into()).expect_err(bad);
            assert_eq!(refusal.kind, RefusalKind::Host, "{bad}");
            assert!(lists.grant(&data(bad)).is_err(), "{bad}");
        }
        assert!(
            lists
                .grant(&format!("http://h/{}", "x".repeat(MAX_URL)).as_str().into())
                .is_err()
        );
    }

    #[test]
    fn data_in_the_scheme_decides_where_the_url_leads() {
        for (template, value) in [
            ("{{s}}://localhost/", "http"),
            ("http{{s}}://localhost/", "s"),
            (" {{s}}", "http://localhost"),
        ] {
            let grant = lists(&[], &[]).grant(&text(template, &[("s", value)]));
            assert!(grant.expect(template).is_from_data, "{template}");
        }
        let file = text("{{s}}:///etc/passwd", &[("s", "file")]);
        assert!(lists(&[], &[]).grant(&file).is_err());
    }

    #[test]
    fn credentials_never_go_where_data_says() {
        let lists = lists(&[], &[]);
        assert!(
            lists
                .grant(&"https://user:pass@example.com/".into())
                .is_ok()
        );
        assert!(
            lists
                .grant(&text(
                    "https://user:pass@example.com/{{x}}",
                    &[("x", "@evil.com")]
                ))
                .is_ok()
        );
        for (template, value) in [
            ("https://user:pass@{{x}}/", "evil.com"),
            ("https://user:pass@example.com{{x}}", ".evil.com"),
            ("https://example.com{{x}}", "@evil.com"),
            ("https://example.com{{x}}", ":pass@evil.com/"),
            ("https:\\\\user@{{x}}\\", "evil.com"),
            ("{{x}}", "https://user:pass@evil.com/"),
        ] {
            let refusal = lists
                .grant(&text(template, &[("x", value)]))
                .expect_err(template);
            assert!(refusal.message.contains("user name"), "{refusal}");
        }
        let secret = Text::new(vec![
            Piece::author("https://bot:"),
            Piece {
                text: "hunter2".into(),
                origin: Origin::Secret,
                is_string: true,
                reference: Some("PW".into()),
            },
            Piece::author("@example.com/"),
        ]);
        let grant = lists.grant(&secret).expect("trusted");
        assert!(
            check(
                &grant,
                "https://bot:hunter2@example.com/x",
                "93.184.215.14",
                true
            )
            .is_ok()
        );
        assert!(
            check(
                &grant,
                "https://bot:hunter2@example.net/x",
                "93.184.215.14",
                true
            )
            .is_err()
        );
        assert!(
            check(
                &grant,
                "https://other:pw@example.com/x",
                "93.184.215.14",
                true
            )
            .is_err()
        );
    }

    #[test]
    fn patterns_are_read_as_urls_spell_hosts() {
        let read = |pattern: &str| {
            HostPattern::read(pattern).map(|read| {
                let host = read.host.trim_start_matches("*.").to_owned();
                (host, read.host.starts_with('*'), read.port)
            })
        };
        assert_eq!(
            read("Example.COM."),
            Some(("example.com".into(), false, None))
        );
        assert_eq!(
            read("*.bücher.example:81"),
            Some(("xn--bcher-kva.example".into(), true, Some(81)))
        );
        assert_eq!(read("::1"), Some(("[::1]".into(), false, None)));
        assert_eq!(read("[::1]:80"), Some(("[::1]".into(), false, Some(80))));
        assert_eq!(read("127.1"), Some(("127.0.0.1".into(), false, None)));
        for bad in [
            "",
            "*",
            "*.",
            "https://example.com",
            "a/b",
            "a@b",
            "host:",
            "host:99999",
            "a b",
            "a*.b",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!(HostLists::new(&["*".into()], &[]).is_err());
    }
}
