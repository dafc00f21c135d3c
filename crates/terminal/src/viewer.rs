//! A run on a terminal of the user's own: the program's screen beside what happened.

use std::io;
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Widget, Wrap};

use crate::screen::Screen;

/// The columns before what happened: when, and whether it was as it should be.
const HEADING: usize = 10;

/// What is shown.
pub struct View<'a> {
    /// The scenario.
    pub title: &'a str,
    /// How far it is, or how it ended.
    pub status: &'a str,
    /// The program's screen.
    pub screen: &'a Screen,
    /// What happened, in order.
    pub events: Vec<ViewEvent>,
    /// The event that is looked at.
    pub position: usize,
    /// The keys that can be pressed.
    pub help: &'a str,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub struct ViewEvent {
    /// When, from the start.
    pub at: Duration,
    /// What.
    pub what: String,
    /// Whether it was as it should be, if that was looked at.
    pub holds: Option<bool>,
}

/// A key of the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewerKey {
    /// One event further.
    Next,
    /// One event back.
    Previous,
    /// To the first.
    First,
    /// To the last.
    Last,
    /// To the next that failed.
    NextFailure,
    /// The end.
    Quit,
}

/// The user's terminal while something is shown on it. It is as it was once this is dropped.
pub struct Viewer(DefaultTerminal);

impl Viewer {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none.
    pub fn open() -> io::Result<Self> {
        ratatui::try_init().map(Self)
    }

    /// Shows a view.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, view: &View<'_>) -> io::Result<()> {
        self.0
            .draw(|frame| view.render(frame.area(), frame.buffer_mut()))
            .map(drop)
    }

    /// The next key, if one is pressed before `timeout`.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn key(&mut self, timeout: Duration) -> io::Result<Option<ViewerKey>> {
        if !event::poll(timeout)? {
            return Ok(None);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key),
            _ => None,
        })
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = ratatui::try_restore();
    }
}

fn key_of(key: KeyEvent) -> Option<ViewerKey> {
    Some(match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => ViewerKey::Quit,
        KeyCode::Char('q') | KeyCode::Esc => ViewerKey::Quit,
        KeyCode::Right | KeyCode::Down | KeyCode::Char('j' | 'l' | ' ') => ViewerKey::Next,
        KeyCode::Left | KeyCode::Up | KeyCode::Char('k' | 'h') => ViewerKey::Previous,
        KeyCode::Home | KeyCode::Char('g') => ViewerKey::First,
        KeyCode::End | KeyCode::Char('G') => ViewerKey::Last,
        KeyCode::Char('n') => ViewerKey::NextFailure,
        _ => return None,
    })
}

impl View<'_> {
    fn render(&self, area: Rect, buffer: &mut Buffer) {
        let [head, body, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(1),
        ])
        .areas(area);
        let title = Line::from(vec![
            Span::styled(" Cuecard  ", Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(self.title.to_owned()),
            Span::styled(
                format!("  {}", self.status),
                Style::new().add_modifier(Modifier::DIM),
            ),
        ]);
        title.render(head, buffer);
        let help = Span::styled(
            format!(" {}", self.help),
            Style::new().add_modifier(Modifier::DIM),
        );
        Line::from(help).render(foot, buffer);
        // Beside each other where there is room for the whole screen, else one above the other.
        let (columns, rows) = self.screen.size();
        let (left, right) = match area.width >= columns + 2 + 30 {
            true => {
                let [left, right] =
                    Layout::horizontal([Constraint::Length(columns + 2), Constraint::Min(30)])
                        .areas(body);
                (left, right)
            }
            false => {
                let [left, right] =
                    Layout::vertical([Constraint::Max(rows + 2), Constraint::Min(8)]).areas(body);
                (left, right)
            }
        };
        let frame = Block::bordered().title(" screen ");
        let inside = frame.inner(left);
        frame.render(left, buffer);
        draw_screen(self.screen, inside, buffer);
        let frame = Block::bordered().title(format!(
            " {} of {} ",
            (self.position + 1).min(self.events.len()),
            self.events.len()
        ));
        let inside = frame.inner(right);
        frame.render(right, buffer);
        // What doesn't fit into its line stands below the list, as much of it as there is room for.
        let chosen = self.events.get(self.position);
        let whole = Line::from(chosen.map_or("", |event| &event.what));
        let rows = match whole.width() + HEADING > usize::from(inside.width) {
            true => wrapped(whole, inside.width, inside.height.saturating_sub(1)),
            false => Buffer::default(),
        };
        let [inside, below] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(rows.area.height)])
                .areas(inside);
        for (row, shown) in rows.area.rows().zip(below.rows()) {
            for (from, to) in row.positions().zip(shown.positions()) {
                buffer[to] = rows[from].clone();
            }
        }
        let height = usize::from(inside.height).max(1);
        let first = self.position.saturating_sub(height / 2);
        let first = first.min(self.events.len().saturating_sub(height));
        let lines = self.events.iter().enumerate().skip(first).take(height);
        let lines: Vec<Line<'_>> = lines.map(|(nth, event)| self.line(nth, event)).collect();
        let is_cut = lines
            .iter()
            .map(|line| line.width() > usize::from(inside.width));
        let is_cut: Vec<bool> = is_cut.collect();
        Paragraph::new(lines).render(inside, buffer);
        for (row, _) in inside.rows().zip(is_cut).filter(|(_, is_cut)| *is_cut) {
            mark_as_cut(row, buffer);
        }
    }

    fn line(&self, nth: usize, event: &ViewEvent) -> Line<'static> {
        let (mark, style) = match event.holds {
            Some(true) => ("✓", Style::new().fg(Color::Green)),
            Some(false) => ("✗", Style::new().fg(Color::Red)),
            None => (" ", Style::new()),
        };
        let line = Line::from(vec![
            Span::styled(
                format!("{:>7.2} ", event.at.as_secs_f64()),
                Style::new().add_modifier(Modifier::DIM),
            ),
            Span::styled(format!("{mark} "), style),
            Span::raw(event.what.clone()),
        ]);
        match nth == self.position {
            true => line.style(Style::new().add_modifier(Modifier::REVERSED)),
            false => line,
        }
    }
}

/// A text on rows of its own, at most so many; the last one shows if there is more.
fn wrapped(text: Line<'_>, width: u16, most: u16) -> Buffer {
    let area = Rect::new(0, 0, width, most.saturating_add(1));
    let mut rows = Buffer::empty(area);
    let text = Paragraph::new(text).wrap(Wrap { trim: false });
    text.style(Modifier::BOLD).render(area, &mut rows);
    let is_blank = |row: &Rect| row.positions().all(|at| rows[at].symbol() == " ");
    let last = area.rows().rfind(|row| !is_blank(row));
    let n_rows = last.map_or(0, |row| row.y + 1);
    let shown = Rect {
        height: n_rows.min(most),
        ..area
    };
    rows.resize(shown);
    if n_rows > most
        && let Some(last) = shown.rows().next_back()
    {
        mark_as_cut(last, &mut rows);
    }
    rows
}

/// Ends a row with the sign that something is left out.
fn mark_as_cut(row: Rect, buffer: &mut Buffer) {
    if let Some(last) = row.right().checked_sub(1)
        && let Some(cell) = buffer.cell_mut((last, row.y))
    {
        cell.set_symbol("…");
    }
}

/// Draws the cells of a screen.
fn draw_screen(screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let snapshot = screen.snapshot();
    // Where there is no room for all of it, the part with the cursor.
    let above = (snapshot.cursor.1 + 1).saturating_sub(area.height);
    for (y, cells) in (area.top()..area.bottom()).zip(snapshot.rows().skip(above.into())) {
        for (x, cell) in (area.left()..area.right()).zip(cells) {
            if let Some(target) = buffer
                .cell_mut((x, y))
                .filter(|_| !cell.symbol().is_empty())
            {
                *target = cell.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cuecard_timeline::model::TerminalConfig;

    use super::*;

    fn shown(width: u16, height: u16, position: usize) -> String {
        shown_beside((20, 3), width, height, position)
    }

    fn shown_beside(screen: (u16, u16), width: u16, height: u16, position: usize) -> String {
        let mut screen = Screen::new(&TerminalConfig {
            width: screen.0,
            height: screen.1,
            ..TerminalConfig::default()
        });
        screen.print("\x1b[31mred\x1b[0m 日本".as_bytes());
        let events = (0..30).map(|nth| ViewEvent {
            at: Duration::from_millis(nth * 100),
            what: match nth {
                5 => "event 5 is longer than its line".to_owned(),
                6 => format!(
                    "assertion text.contains[0] fail: {:?}",
                    "word ".repeat(30) + "end"
                ),
                nth => format!("event {nth}"),
            },
            holds: (nth == 3).then_some(false),
        });
        let view = View {
            title: "scenario",
            status: "passed",
            screen: &screen,
            events: events.collect(),
            position,
            help: "q quit",
        };
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        view.render(area, &mut buffer);
        let rows = (0..height).map(|row| {
            let cells = (0..width).map(|column| buffer[(column, row)].symbol().to_owned());
            cells.collect::<String>().trim_end().to_owned()
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn screen_and_events_are_beside_each_other_where_there_is_room() {
        let wide = shown(80, 12, 3);
        let first = wide.lines().nth(1).expect("a line");
        assert!(
            first.contains("screen") && first.contains("4 of 30"),
            "{wide}"
        );
        assert!(wide.contains("red 日"), "{wide}");
        assert!(wide.contains("✗ event 3"), "{wide}");
        let narrow = shown(40, 14, 29);
        let first = narrow.lines().nth(1).expect("a line");
        assert!(
            !first.contains("of 30") && narrow.contains("event 29"),
            "{narrow}"
        );
        // What is cut in its line stands below as a whole.
        let below = shown(20, 16, 5);
        assert!(
            below.contains("event 5 is longer") && below.contains("than its line"),
            "{below}"
        );
        let expected = shown_beside((80, 24), 110, 30, 6);
        assert!(expected.contains("word end\""), "{expected}");
        // Where there is no room for all of it, a sign stands at the end.
        let no_room = shown(20, 16, 6);
        assert!(!no_room.contains("end\""), "{no_room}");
        let mut rows = no_room.lines().rev().skip(2);
        assert!(
            rows.next().is_some_and(|row| row.ends_with("…│")),
            "{no_room}"
        );
        assert!(no_room.contains("asserti…│"), "{no_room}");
        // Too little room is no reason to fail.
        shown(5, 4, 0);
    }
}
