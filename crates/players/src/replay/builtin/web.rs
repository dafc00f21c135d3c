//! `claude__web_fetch`.

use std::net::IpAddr;
use std::time::Duration;

use cuecard_core::script::{Failure, FailureKind};
use serde_json::Value as Json;

use super::super::toolbox::{DEFAULT_TIMEOUT, Toolbox, timed_out};
use super::arguments::Arguments;
use super::files::to_json;
use super::refused;
use crate::runtime::policy::{Refusal, UrlGrant};
use crate::workspace::fetch::{
    FetchError, FetchGate, FetchRequest, fetch as fetch_url, is_private,
};

/// Asks the policy at every hop, and keeps its words: a refusal is not an error of the network.
struct Gate {
    grant: UrlGrant,
    refusal: std::sync::Mutex<Option<Refusal>>,
}

impl FetchGate for Gate {
    fn check(&self, url: &reqwest::Url, addresses: &[IpAddr]) -> Result<(), String> {
        // Before the name is looked up there are no addresses: then only the name is judged, with one that
        // belongs to nobody.
        let nobody = [IpAddr::from([192, 0, 2, 1])];
        let addresses = if addresses.is_empty() {
            &nobody
        } else {
            addresses
        };
        let is_redirect = url != self.grant.url();
        self.grant
            .check_addresses(url, addresses, is_redirect, is_private)
            .map_err(|refusal| {
                let message = refusal.message.clone();
                if let Ok(mut kept) = self.refusal.lock() {
                    *kept = Some(refusal);
                }
                message
            })
    }
}

pub(super) async fn fetch(
    toolbox: &Toolbox,
    arguments: &Arguments<'_>,
    timeout: Option<Duration>,
) -> Result<Json, Failure> {
    let text = arguments.required_text("url")?;
    let grant = toolbox.policy.url(&text).map_err(refused)?;
    let limit = timeout.or(toolbox.timeout).unwrap_or(DEFAULT_TIMEOUT);
    let request = FetchRequest {
        timeout: limit,
        ..FetchRequest::new(text.to_string())
    };
    let gate = Gate {
        grant,
        refusal: std::sync::Mutex::new(None),
    };
    match fetch_url(request, &gate).await {
        Ok(fetched) => {
            let result = to_json(&fetched)?;
            if fetched.status >= 400 {
                let mut failure = Failure::new(
                    FailureKind::ToolError,
                    format!("{} answered with status {}", fetched.url, fetched.status),
                );
                failure.result = Some(result);
                return Err(failure);
            }
            Ok(result)
        }
        Err(error) => {
            let refusal = gate.refusal.into_inner().ok().flatten();
            if let Some(refusal) = refusal {
                return Err(refused(refusal));
            }
            if matches!(error, FetchError::TimedOut { .. }) {
                return Err(timed_out(limit));
            }
            let mut failure = Failure::new(FailureKind::CallFailed, error.to_string());
            failure.help = error.help();
            Err(failure)
        }
    }
}
