//! Pages that the agent reads.

use cuecard_source::value::Text;
use cuecard_workspace::fetch::{FetchRequest, PolicyGate, fetch};

use super::{Arguments, Done, TIMEOUT, Tools};

impl Tools {
    /// The text of a page, under the policy for hosts.
    pub(super) async fn fetch(&self, args: &Arguments<'_>) -> Done {
        let url = args.text("url")?;
        let grant = self
            .policy
            .url(&Text::from(url))
            .map_err(|refusal| refusal.message)?;
        let gate = PolicyGate::new(grant);
        let request = FetchRequest {
            timeout: TIMEOUT,
            ..FetchRequest::new(url)
        };
        let fetched = fetch(request, &gate)
            .await
            .map_err(|error| error.to_string())?;
        match fetched.status {
            400.. => Err(format!(
                "{} answered with status {}",
                fetched.url, fetched.status
            )),
            _ => Ok(fetched.content),
        }
    }
}
