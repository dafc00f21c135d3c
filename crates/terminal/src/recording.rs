//! A recorded terminal, to be looked at again at any moment.

use std::time::Duration;

use cuecard_source::value::Json;
use cuecard_timeline::model::TerminalConfig;
use cuecard_timeline::model::keys::MAX_SIZE;

use crate::screen::Screen;

/// What a terminal printed, and when.
pub struct Recording {
    config: TerminalConfig,
    frames: Vec<(Duration, Frame)>,
    n_unread: usize,
    /// The screen after so many frames.
    screen: Screen,
    n_drawn: usize,
}

enum Frame {
    Printed(String),
    /// So many columns and rows.
    Resized(u16, u16),
}

impl Recording {
    /// Reads an asciicast of version 2. Lines that are none are left out: a run that was killed ends within one.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let header: Json = serde_json::from_str(lines.next()?).ok()?;
        let is_size = |size: &u16| (1..=MAX_SIZE).contains(size);
        let size = |key: &str| {
            let size = u16::try_from(header[key].as_u64()?).ok();
            size.filter(is_size)
        };
        let config = TerminalConfig {
            width: size("width")?,
            height: size("height")?,
            ..TerminalConfig::default()
        };
        let mut n_unread = 0;
        let read = |line: &str| {
            let frame: Json = serde_json::from_str(line).ok()?;
            let at = Duration::try_from_secs_f64(frame[0].as_f64()?).ok()?;
            let data = frame[2].as_str()?;
            let frame = match frame[1].as_str()? {
                "r" => {
                    let (columns, rows) = data.split_once('x')?;
                    let size = |number: &str| number.parse().ok().filter(is_size);
                    Frame::Resized(size(columns)?, size(rows)?)
                }
                _ => Frame::Printed(data.to_owned()),
            };
            Some((at, frame))
        };
        let mut frames = Vec::new();
        for line in lines {
            match read(line) {
                Some(frame) => frames.push(frame),
                None => n_unread += 1,
            }
        }
        Some(Self {
            frames,
            n_unread,
            screen: Screen::new(&config),
            config,
            n_drawn: 0,
        })
    }

    /// The screen as it was at a moment, counted from the start of the run.
    pub fn screen_at(&mut self, at: Duration) -> &Screen {
        let wanted = self.frames.partition_point(|(frame, _)| *frame <= at);
        if wanted < self.n_drawn {
            self.screen = Screen::new(&self.config);
            self.n_drawn = 0;
        }
        for (_, frame) in &self.frames[self.n_drawn..wanted] {
            match frame {
                Frame::Printed(text) => drop(self.screen.print(text.as_bytes())),
                Frame::Resized(columns, rows) => self.screen.resize((*columns, *rows)),
            }
        }
        self.n_drawn = wanted;
        &self.screen
    }

    /// How many lines are no events.
    pub fn n_unread(&self) -> usize {
        self.n_unread
    }

    /// When something was printed last.
    pub fn end(&self) -> Duration {
        self.frames.last().map_or(Duration::ZERO, |(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_moment_can_be_looked_at_forward_and_back() {
        let cast = "{\"version\":2,\"width\":20,\"height\":3}\n[0.5,\"o\",\"one\"]\n[1.5,\"o\",\" two\"]\n[1.5,\"r\",\"30x5\"]\n[2.0,\"o\",\"\\r\\nthr";
        let mut recording = Recording::read(cast).expect("a recording");
        let second = Duration::from_secs(1);
        assert_eq!(recording.screen_at(second).rows()[0], "one");
        assert_eq!(recording.screen_at(second * 2).rows()[0], "one two");
        assert_eq!(recording.screen_at(second * 2).size(), (30, 5));
        assert_eq!(recording.screen_at(second / 4).rows()[0], "");
        assert_eq!(recording.screen_at(second).size(), (20, 3));
        assert_eq!(recording.screen_at(second).rows()[0], "one");
        // The line that the run was killed in is not there.
        assert_eq!(recording.n_unread(), 1);
        assert_eq!(recording.end(), Duration::from_millis(1500));
        assert!(Recording::read("no recording").is_none());
        assert!(Recording::read(r#"{"version":2,"width":65535,"height":65535}"#).is_none());
        let resized = "{\"version\":2,\"width\":20,\"height\":3}\n[0.5,\"r\",\"60000x60000\"]";
        assert_eq!(Recording::read(resized).expect("a recording").n_unread(), 1);
    }
}
