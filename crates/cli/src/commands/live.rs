//! `--live`: a run on the user's terminal while it goes on.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use cuecard_runner::timeline::{RunNotice, RunScript};
use cuecard_terminal::{Screen, SharedScreen, View, ViewEvent, Viewer, ViewerKey};
use tokio_util::sync::CancellationToken;

/// How often it is drawn.
const DRAWN_EVERY: Duration = Duration::from_millis(50);

/// What is shown while a run goes on. The terminal is as it was once this is dropped.
pub(crate) struct LiveView {
    state: Arc<Mutex<State>>,
    drawing: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    screen: Option<SharedScreen>,
    next: String,
    events: Vec<ViewEvent>,
    is_over: bool,
}

impl LiveView {
    /// Takes the terminal; the user can end the run there.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn start(script: &RunScript, stop: &CancellationToken) -> io::Result<Self> {
        let viewer = Viewer::open()?;
        let state: Arc<Mutex<State>> = Arc::default();
        let (shown, stop, title) = (state.clone(), stop.clone(), script.name().to_owned());
        let drawing = std::thread::spawn(move || draw(viewer, &title, &shown, &stop));
        Ok(Self {
            state,
            drawing: Some(drawing),
        })
    }

    /// Takes note of what happens.
    pub(crate) fn notice(&self, notice: RunNotice<'_>) {
        let mut state = lock(&self.state);
        match notice {
            RunNotice::Started(screen) => state.screen = Some(screen),
            RunNotice::Next(event) => event.clone_into(&mut state.next),
            RunNotice::Event(event) => state.events.push(ViewEvent {
                at: event.at,
                what: event.what.clone(),
                holds: event.holds,
            }),
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        lock(&self.state).is_over = true;
        if let Some(drawing) = self.drawing.take() {
            let _ = drawing.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn draw(mut viewer: Viewer, title: &str, state: &Mutex<State>, stop: &CancellationToken) {
    let nothing = Screen::new(&cuecard_timeline::model::TerminalConfig::default());
    loop {
        let (screen, next, events, is_over) = {
            let state = lock(state);
            (
                state.screen.clone(),
                state.next.clone(),
                state.events.clone(),
                state.is_over,
            )
        };
        if is_over {
            return;
        }
        let locked = screen.as_ref().map(|screen| lock(screen));
        let view = View {
            title,
            status: &format!("next: {next}"),
            screen: locked.as_deref().unwrap_or(&nothing),
            position: events.len().saturating_sub(1),
            events,
            help: "q end the run",
        };
        let drawn = viewer.draw(&view);
        drop(locked);
        match drawn.and_then(|()| viewer.key(DRAWN_EVERY)) {
            Ok(Some(ViewerKey::Quit)) => stop.cancel(),
            Ok(_) => {}
            // Without a terminal the run goes on unseen.
            Err(_) => return,
        }
    }
}
