//! Leaves lines out until the text is within its budget.

use super::lines::{Kind, Line, Zone};
use super::render::render;
use super::{Cut, TextOptions, TextTooLarge};
use crate::dom::DomState;
use crate::words::cut_graphemes;

/// Texts in view that are longer are shortened to so many graphemes when space is short.
const SHORT_TEXT: usize = 80;

/// So many siblings of one shape stay.
const SHOWN_SIBLINGS: usize = 3;

/// The longest line that says what was left out, in characters.
const LONGEST_CUT_LINE: usize = 60;

/// Leaves out, in a fixed order, what counts least.
pub(super) fn fit(
    state: &DomState,
    lines: &mut [Line],
    options: &TextOptions<'_>,
) -> Result<Option<Cut>, TextTooLarge> {
    let mut fitter = Fitter {
        state,
        lines,
        budget: options.budget,
        cut: Cut::default(),
        size: 0,
    };
    if fitter.fits() {
        return Ok(None);
    }
    let stages: [fn(&mut Fitter<'_>); 6] = [
        |fitter| fitter.farthest(&|line| line.kind == Kind::Text && is_away(line)),
        |fitter| fitter.farthest(&|line| line.zone == Zone::Covered),
        |fitter| fitter.repeated(),
        |fitter| fitter.attributes(),
        |fitter| fitter.shorten(),
        |fitter| fitter.farthest(&|line| line.kind != Kind::Text && is_away(line)),
    ];
    for stage in stages {
        stage(&mut fitter);
        if fitter.fits() {
            return Ok(Some(fitter.cut));
        }
    }
    // What is left may go too, but for what is kept.
    fitter.farthest(&|_| true);
    match fitter.fits() {
        true => Ok(Some(fitter.cut)),
        false => Err(TextTooLarge {
            characters: fitter.size,
            budget: options.budget,
        }),
    }
}

fn is_away(line: &Line) -> bool {
    matches!(line.zone, Zone::Above | Zone::Below)
}

struct Fitter<'a> {
    state: &'a DomState,
    lines: &'a mut [Line],
    budget: usize,
    cut: Cut,
    /// How many characters the text has as it is.
    size: usize,
}

impl Fitter<'_> {
    fn fits(&mut self) -> bool {
        let text = render(self.state, self.lines, Some(&self.cut));
        self.size = text.chars().count();
        self.size <= self.budget
    }

    /// How many characters are too many, with space for the line that says what was left out.
    fn excess(&self) -> usize {
        (self.size + LONGEST_CUT_LINE).saturating_sub(self.budget)
    }

    /// Leaves out lines of one sort until the rest fits, the farthest from the viewport first.
    fn farthest(&mut self, sort: &dyn Fn(&Line) -> bool) {
        let mut places: Vec<usize> = (0..self.lines.len())
            .filter(|&place| {
                let line = &self.lines[place];
                !line.is_out && !line.is_kept && line.kind != Kind::Region && sort(line)
            })
            .collect();
        // Of equally far ones the last.
        places.sort_by(|&one, &other| {
            let (one_far, other_far) = (self.lines[one].distance, self.lines[other].distance);
            other_far.total_cmp(&one_far).then(other.cmp(&one))
        });
        let excess = self.excess();
        let mut saved = 0;
        for place in places {
            if saved >= excess {
                return;
            }
            saved += self.leave_out(place);
        }
    }

    /// Leaves out a line; gives about how many characters that saves.
    fn leave_out(&mut self, place: usize) -> usize {
        let line = &mut self.lines[place];
        line.is_out = true;
        match line.kind {
            Kind::Text => self.cut.texts += 1,
            _ => self.cut.elements += 1,
        }
        line.head.chars().count() + line.attributes.chars().count() + 1
    }

    /// Of siblings of one shape out of view, leaves out those after the third, with all that is in them.
    fn repeated(&mut self) {
        let mut place = 0;
        while place < self.lines.len() {
            let Line { parent, shape, .. } = self.lines[place];
            let is_one = |line: &Line| {
                line.parent == parent && line.shape == shape && line.kind == Kind::Element
            };
            if !is_one(&self.lines[place]) {
                place += 1;
                continue;
            }
            let (mut siblings, mut next) = (vec![place], place + 1);
            while let Some(line) = self.lines.get(next) {
                let is_inside = line.parent.is_some_and(|outer| outer >= place);
                if is_one(line) {
                    siblings.push(next);
                } else if !is_inside && line.kind != Kind::Text {
                    break;
                }
                next += 1;
            }
            self.leave_out_repeated(&siblings, next);
            place = next;
        }
    }

    fn leave_out_repeated(&mut self, siblings: &[usize], end: usize) {
        let Some(like) = siblings.first().and_then(|&first| self.lines[first].index) else {
            return;
        };
        let mut left_out: Vec<usize> = Vec::new();
        for (nth, &sibling) in siblings.iter().enumerate().skip(SHOWN_SIBLINGS) {
            let next = siblings.get(nth + 1).copied().unwrap_or(end);
            let is_free = self.lines[sibling..next]
                .iter()
                .all(|line| !line.is_kept && is_away(line));
            if !is_free || self.lines[sibling].is_out {
                continue;
            }
            for inner in sibling..next {
                let is_inside = inner == sibling
                    || self.lines[inner]
                        .parent
                        .is_some_and(|outer| outer >= sibling);
                if is_inside && !self.lines[inner].is_out {
                    self.leave_out(inner);
                }
            }
            left_out.push(sibling);
        }
        if let Some(&first) = left_out.first() {
            self.lines[first].more = Some((left_out.len(), like));
        }
    }

    fn attributes(&mut self) {
        for line in self.lines.iter_mut() {
            if is_away(line) && !line.is_out && !line.is_kept && !line.attributes.is_empty() {
                line.attributes.clear();
                self.cut.attributes += 1;
            }
        }
    }

    fn shorten(&mut self) {
        for line in self.lines.iter_mut() {
            if line.kind == Kind::Text && !line.is_out {
                let short = cut_graphemes(&line.head, SHORT_TEXT).into_owned();
                if short != line.head {
                    line.head = short;
                    self.cut.shortened += 1;
                }
            }
        }
    }
}
