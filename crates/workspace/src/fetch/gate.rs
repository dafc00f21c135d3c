//! The way from a fetch to the policy.

use std::net::IpAddr;
use std::sync::Mutex;

use cuecard_runtime::policy::{Refusal, UrlGrant};
use reqwest::Url;

use super::FetchGate;

/// Asks the policy at every hop, and keeps its words: a refusal is not an error of the network.
#[derive(Debug)]
pub struct PolicyGate {
    grant: UrlGrant,
    refusal: Mutex<Option<Refusal>>,
}

impl PolicyGate {
    /// A gate for the URL of this grant, and for where it redirects to.
    pub fn new(grant: UrlGrant) -> Self {
        Self {
            grant,
            refusal: Mutex::new(None),
        }
    }

    /// What the policy refused, if it did.
    pub fn refusal(self) -> Option<Refusal> {
        self.refusal.into_inner().ok().flatten()
    }
}

impl FetchGate for PolicyGate {
    fn check(&self, url: &Url, addresses: &[IpAddr]) -> Result<(), String> {
        let is_redirect = url != self.grant.url();
        // Before the name is looked up there are no addresses.
        let judged = match addresses.is_empty() {
            true => self.grant.check_url(url),
            false => self.grant.check_addresses(url, addresses, is_redirect),
        };
        judged.map_err(|refusal| {
            let message = refusal.message.clone();
            if let Ok(mut kept) = self.refusal.lock() {
                *kept = Some(refusal);
            }
            message
        })
    }
}
