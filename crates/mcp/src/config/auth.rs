//! `auth`: how to get an access token for a server.

use cuecard_source::diagnostic::did_you_mean;

use super::entry::EntryReader;
use super::fields::{Field, cut};
use super::findings::Located;

/// The keys of `auth`.
const KEYS: &[&str] = &[
    "type",
    "client_id",
    "client_secret",
    "private_key",
    "scope",
    "token_url",
];
const SHAPE: &str =
    r#"write { "type": "client_credentials", "client_id": "…", "client_secret": "${SECRET}" }"#;

/// Client credentials, as written.
pub(super) struct Auth<'n> {
    pub client_id: Field<'n>,
    pub proof: Proof<'n>,
    pub scope: Option<Field<'n>>,
    pub token_url: Option<Field<'n>>,
}

/// What proves the client's identity, as written.
pub(super) enum Proof<'n> {
    /// `client_secret`.
    Secret(Field<'n>),
    /// `private_key`.
    Key(Field<'n>),
}

impl<'n> EntryReader<'_, '_, 'n> {
    /// `None` if there is none, or a problem with it.
    pub(super) fn auth(&mut self, headers: &[(&str, Field<'n>)]) -> Option<Auth<'n>> {
        let auth = self.here.get("auth")?;
        if auth.node.as_object().is_none() {
            self.wrong_kind(&auth, "auth", "an object", Some(SHAPE.to_owned()));
            return None;
        }
        for member in auth.node.members() {
            if !KEYS.contains(&member.key.as_str()) {
                let message = format!(
                    "unknown key `{}` in `auth` of {}",
                    cut(&member.key),
                    self.whose()
                );
                let mut warning = self.warning_at(member, message);
                match did_you_mean(&member.key, KEYS.iter().copied()) {
                    Some(key) => warning.label = Some(format!("did you mean `{key}`?")),
                    None => warning.help = Some(format!("the keys are {}", KEYS.join(", "))),
                }
                self.warn(warning);
            }
        }
        let kind = auth.get("type").and_then(|kind| kind.node.as_str());
        if kind != Some("client_credentials") {
            let message = format!(
                "the `type` of `auth` of {} must be `client_credentials`",
                self.whose()
            );
            let help = "if you already have a token: \"headers\": { \"Authorization\": \"Bearer ${TOKEN}\" }";
            self.error(self.findings.invalid(&auth, message).with_help(help));
            return None;
        }
        if let Some((_, header)) = headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        {
            let message = format!("{} has `auth` and the header `Authorization`", self.whose());
            self.error(self.found(header, message).with_help("remove one of them"));
        }
        let client_id = self.auth_text(&auth, "client_id");
        let secret = self.auth_text(&auth, "client_secret");
        let key = self.auth_text(&auth, "private_key");
        let has = |key: &str| auth.get(key).is_some();
        let missing = match (has("client_secret"), has("private_key")) {
            _ if !has("client_id") => Some("no `client_id`"),
            (false, false) => Some("neither `client_secret` nor `private_key`"),
            (true, true) => Some("both `client_secret` and `private_key`"),
            _ => None,
        };
        if let Some(missing) = missing {
            let message = format!("`auth` of {} has {missing}", self.whose());
            self.error(self.findings.invalid(&auth, message).with_help(SHAPE));
        }
        Some(Auth {
            client_id: client_id?,
            proof: match key {
                Some(key) => Proof::Key(key),
                None => Proof::Secret(secret?),
            },
            scope: self.auth_text(&auth, "scope"),
            token_url: self.auth_text(&auth, "token_url"),
        })
    }

    fn auth_text(&mut self, auth: &Located<'n>, key: &str) -> Option<Field<'n>> {
        let value = auth.get(key)?;
        self.field(&value, format!("auth.{key}"))
    }
}
