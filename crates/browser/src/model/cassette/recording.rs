//! A stage whose answers are written into a cassette.

use std::sync::Arc;

use cuecard_page::dom::DomState;
use cuecard_source::value::Json;

use super::Cassette;
use super::line::{Line, StageResult, masked};
use crate::WaitPolicy;
use crate::stage::{Deadline, Failure, Outcome, PageState, Performed, Stage, StageAction, Targets};

/// Wraps a stage: passes on what it is asked, and writes the answers into a cassette.
///
/// Who asks gets the pages as they can be read from the cassette, so that the same comes of the recording.
#[derive(Debug)]
pub struct RecordingStage<S> {
    stage: S,
    cassette: Cassette,
    /// The page that was seen last: as it is written, and as it is read.
    last: Option<(Json, Arc<PageState>)>,
}

impl<S> RecordingStage<S> {
    /// Records what `stage` answers.
    pub fn new(stage: S, cassette: Cassette) -> Self {
        Self {
            stage,
            cassette,
            last: None,
        }
    }

    /// The stage below.
    pub fn into_inner(self) -> S {
        self.stage
    }

    /// What was seen, for the cassette and for who asked.
    fn seen(&mut self, scene: &Arc<PageState>) -> (StageResult, Arc<PageState>) {
        let state = scene.state.to_recorded();
        if let Some((last, known)) = &self.last
            && *last == state
        {
            let came = StageResult {
                is_same: true,
                ..StageResult::default()
            };
            return (came, known.clone());
        }
        // Through text: numbers come back as a reader gets them.
        let read = serde_json::from_str::<Json>(&state.to_string())
            .map_err(|error| error.to_string())
            .and_then(|read| DomState::from_recorded(&read).map_err(|error| error.to_string()));
        let shown = match read {
            Ok(state) => Arc::new(PageState { state }),
            Err(reason) => {
                self.cassette.give_up(&reason);
                scene.clone()
            }
        };
        self.last = Some((state.clone(), shown.clone()));
        let came = StageResult {
            state: Some(state),
            ..StageResult::default()
        };
        (came, shown)
    }

    /// The answer of a look; no answer if the time was over.
    fn looked(
        &mut self,
        answer: Result<Option<Arc<PageState>>, Failure>,
        line: impl FnOnce(StageResult) -> Line,
    ) -> Result<Option<Arc<PageState>>, Failure> {
        match answer {
            Ok(None) => {
                self.cassette.add_call(&line(StageResult::default()));
                Ok(None)
            }
            Ok(Some(scene)) => {
                let (came, shown) = self.seen(&scene);
                self.cassette.add_call(&line(came));
                Ok(Some(shown))
            }
            Err(failure) => {
                self.cassette.add_call(&line(self.failed(&failure)));
                Err(failure)
            }
        }
    }

    fn failed(&self, failure: &Failure) -> StageResult {
        StageResult {
            failure: Some(masked(failure.clone(), &self.cassette.secrets())),
            ..StageResult::default()
        }
    }

    fn came(&self, outcome: &Outcome) -> StageResult {
        StageResult {
            outcome: Some(masked(outcome.clone(), &self.cassette.secrets())),
            ..StageResult::default()
        }
    }
}

impl<S: Stage> Stage for RecordingStage<S> {
    async fn open(
        &mut self,
        url: &str,
        settling: WaitPolicy,
        deadline: Deadline,
    ) -> Result<Outcome, Failure> {
        let answer = self.stage.open(url, settling, deadline).await;
        let came = match &answer {
            Ok(outcome) => self.came(outcome),
            Err(failure) => self.failed(failure),
        };
        let url = masked(url.to_owned(), &self.cassette.secrets());
        self.cassette.add_call(&Line::Open { url, came });
        answer
    }

    async fn look(&mut self) -> Result<Arc<PageState>, Failure> {
        let answer = self.stage.look().await;
        match answer {
            Ok(scene) => {
                let (came, shown) = self.seen(&scene);
                self.cassette.add_call(&Line::Look { came });
                Ok(shown)
            }
            Err(failure) => {
                let came = self.failed(&failure);
                self.cassette.add_call(&Line::Look { came });
                Err(failure)
            }
        }
    }

    async fn look_again(&mut self, deadline: Deadline) -> Result<Option<Arc<PageState>>, Failure> {
        let answer = self.stage.look_again(deadline).await;
        self.looked(answer, |came| Line::LookAgain { came })
    }

    async fn perform(
        &mut self,
        deed: &StageAction<'_>,
        targets: &mut (dyn Targets + Send),
    ) -> Result<Performed, Failure> {
        let told = masked(deed.to_json(), &self.cassette.secrets());
        match self.stage.perform(deed, targets).await {
            Ok(Performed { outcome, scene }) => {
                let mut came = self.came(&outcome);
                let scene = scene.map(|scene| {
                    let (seen, shown) = self.seen(&scene);
                    (came.state, came.is_same) = (seen.state, seen.is_same);
                    shown
                });
                self.cassette.add_call(&Line::Perform { deed: told, came });
                Ok(Performed { outcome, scene })
            }
            Err(failure) => {
                let came = self.failed(&failure);
                self.cassette.add_call(&Line::Perform { deed: told, came });
                Err(failure)
            }
        }
    }
}
