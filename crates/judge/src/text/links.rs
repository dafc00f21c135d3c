//! Addresses: URLs, domains, DOIs, e-mail addresses.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The URLs of a text, bare or in Markdown, as they stand there.
pub(crate) fn urls(folded: &str) -> Vec<(Range<usize>, &str)> {
    static URL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)\b(?:(?:https?|ftps?)://|www\.)[^\s<>"'`|\\^{}\[\]\u{201c}\u{201d}\u{ab}\u{bb}\u{3000}-\u{303f}\u{ff00}-\u{ff0f}]+"#)
            .expect("a fixed pattern")
    });
    URL.find_iter(folded)
        .map(|found| {
            let text = without_tail(found.as_str());
            (found.start()..found.start() + text.len(), text)
        })
        .filter(|(_, text)| host_of(text).contains('.') || text.contains("://"))
        .collect()
}

/// Without the punctuation of the sentence around it.
fn without_tail(url: &str) -> &str {
    let mut opened = url.bytes().filter(|byte| *byte == b'(').count();
    let mut closed = url.bytes().filter(|byte| *byte == b')').count();
    let mut end = url.len();
    while let Some(last) = url[..end].chars().next_back() {
        let is_tail = match last {
            ')' => closed > opened,
            '.' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '~' | '…' => true,
            _ => false,
        };
        if !is_tail {
            break;
        }
        closed -= usize::from(last == ')');
        opened = opened.min(url.len());
        end -= last.len_utf8();
    }
    // `[text](url)` followed by more text without a space.
    let mut depth = 0_usize;
    for (at, byte) in url[..end].bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return &url[..at],
            b')' => depth -= 1,
            _ => {}
        }
    }
    &url[..end]
}

/// A URL as it is compared: without scheme, fragment, default port and the last slash, its host in lower case.
pub(crate) fn normal_url(url: &str) -> String {
    let host = host_of(url);
    let rest = without_scheme(url);
    let rest = rest.split('#').next().unwrap_or_default();
    let authority = rest.find(['/', '?']).unwrap_or(rest.len());
    let path = &rest[authority..];
    let (path, query) = path
        .split_once('?')
        .map_or((path, None), |(path, query)| (path, Some(query)));
    let mut normal = host;
    normal.push_str(path.trim_end_matches('/'));
    // What says where a visitor came from is no part of the address.
    let query = query.unwrap_or_default().split('&');
    let query: Vec<&str> = query.filter(|part| !part.starts_with("utm_")).collect();
    if query.iter().any(|part| !part.is_empty()) {
        normal.push('?');
        normal.push_str(&query.join("&"));
    }
    normal
}

fn without_scheme(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest)
}

/// The host of a URL or a domain, in lower case, without `www.`, user and port.
pub(crate) fn host_of(url: &str) -> String {
    let rest = without_scheme(url);
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host
        .rsplit_once(':')
        .filter(|(_, port)| matches!(*port, "80" | "443" | ""))
        .map_or(host, |(host, _)| host)
        .to_lowercase();
    host.strip_prefix("www.")
        .unwrap_or(&host)
        .trim_end_matches('.')
        .to_owned()
}

/// The domains that a text names outside of URLs and addresses, which the caller has blanked.
pub(crate) fn domains(folded: &str) -> Vec<(Range<usize>, &str)> {
    // Endings that are as good as never the ending of a file or the beginning of a sentence.
    static DOMAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:[a-z0-9](?:[a-z0-9-]{0,62})\.)+(?:com|org|net|edu|gov|mil|int|io|ai|dev|app|co|uk|de|fr|es|it|nl|eu|ch|at|be|se|no|dk|fi|cz|pt|br|mx|ar|ca|us|au|nz|jp|cn|kr|in|ru|ua|tr|za|info|biz|news|blog|example|tech|cloud|tv|xyz|online|site|store)\b")
            .expect("a fixed pattern")
    });
    DOMAIN
        .find_iter(folded)
        .filter(|found| !folded[..found.start()].ends_with(['@', '/', '.', '-', '_']))
        // A full stop without its space ends a sentence: "growth.In", "it.No".
        .filter(|found| {
            let last = found.as_str().rsplit('.').next().unwrap_or_default();
            !last.starts_with(char::is_uppercase) || found.as_str().to_uppercase() == found.as_str()
        })
        .map(|found| (found.range(), found.as_str()))
        .collect()
}

/// The DOIs of a text, in lower case.
pub(crate) fn dois(folded: &str) -> Vec<(Range<usize>, String)> {
    static DOI: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\b10\.[0-9]{4,9}/[^\s"'<>\[\]]+"#).expect("a fixed pattern")
    });
    DOI.find_iter(folded)
        .map(|found| {
            let text = without_tail(found.as_str());
            (
                found.start()..found.start() + text.len(),
                text.to_lowercase(),
            )
        })
        .collect()
}

/// The e-mail addresses of a text.
pub(crate) fn emails(folded: &str) -> Vec<(Range<usize>, &str)> {
    static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b[a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}\b")
            .expect("a fixed pattern")
    });
    EMAIL
        .find_iter(folded)
        .map(|found| (found.range(), found.as_str()))
        .collect()
}
