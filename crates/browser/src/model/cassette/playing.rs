//! A stage that is played from a cassette: neither browser nor clock.

use std::sync::Arc;

use cuecard_page::selector::Finder;
use cuecard_source::diagnostic::codes;
use cuecard_source::value::cut;

use super::Cassette;
use super::tape::{Call, Observed, RecordedCall};
use crate::WaitPolicy;
use crate::stage::{Deadline, Failure, Outcome, PageState, Performed, Stage, StageAction, Targets};

/// How much of a call is shown, in characters.
const SHOWN: usize = 300;

/// Answers as the page's side did in the recorded run: the same questions in the same order get the same answers, any
/// other one is an error.
#[derive(Debug)]
pub struct RecordedStage {
    calls: Vec<Call>,
    at: usize,
    name: String,
    test_id_attribute: String,
}

impl RecordedStage {
    /// Plays the run of a cassette. `test_id_attribute` is the attribute that tests name elements by.
    pub fn new(cassette: &Cassette, test_id_attribute: impl Into<String>) -> Self {
        let (calls, name) = cassette.take_run();
        Self {
            calls,
            at: 0,
            name,
            test_id_attribute: test_id_attribute.into(),
        }
    }

    /// What was answered to this question.
    fn next(&mut self, asked: &RecordedCall) -> Result<Observed, Failure> {
        let name = &self.name;
        let now = asked.words();
        let now = cut(&now, SHOWN);
        let miss = |message: String| {
            Err(Failure::new(codes::BROWSER_CASSETTE, message)
                .help("record it again with `--record`, where there are a browser and the model"))
        };
        let Some(call) = self.calls.get(self.at) else {
            return miss(format!(
                "the run recorded in `{name}` ended before this\n+ {now}"
            ));
        };
        if call.asked != *asked {
            let recorded = call.asked.words();
            let recorded = cut(&recorded, SHOWN);
            return miss(format!(
                "the run recorded in `{name}` took a different path\n- {recorded}\n+ {now}"
            ));
        }
        self.at += 1;
        call.came.clone().map_err(|failure| *failure)
    }
}

impl Stage for RecordedStage {
    async fn open(&mut self, url: &str, _: WaitPolicy, _: Deadline) -> Result<Outcome, Failure> {
        let seen = self.next(&RecordedCall::Open(url.to_owned()))?;
        Ok(seen.outcome.unwrap_or_default())
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        let seen = self.next(&RecordedCall::Look)?;
        seen.scene.ok_or_else(|| unread(&self.name))
    }

    async fn look_again(&mut self, _: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        Ok(self.next(&RecordedCall::LookAgain)?.scene)
    }

    async fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        let seen = self.next(&RecordedCall::Perform(deed.to_json()))?;
        if let Some(scene) = &seen.scene {
            // As live: what was found on the state that counted is what the caller goes on with.
            targets.find(Finder::new(&scene.state, &self.test_id_attribute));
        }
        Ok(Performed {
            outcome: seen.outcome.unwrap_or_default(),
            scene: seen.scene,
        })
    }
}

/// The reader lets no such line through.
fn unread(name: &str) -> Failure {
    Failure::new(
        codes::BROWSER_CASSETTE_INVALID,
        format!("`{name}` has a look without a page"),
    )
}
