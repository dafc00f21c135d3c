//! The tabs of a browser, by the numbers that its server gives them.

/// A tab, by its place among the others, from 0, and by the number that it keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tab {
    pub(super) place: usize,
    pub(super) number: u64,
}

/// The tabs that are open, as far as steps tell: a new one comes last, and one that closes was the current one.
#[derive(Debug, Clone)]
pub(super) struct Tabs {
    /// The number of each in the order of the tabs. chrome-devtools-mcp counts from 1, and gives no number again.
    numbers: Vec<u64>,
    /// The number of the next one.
    next: u64,
    /// The place of the current one.
    current: usize,
}

impl Tabs {
    /// The first tab alone.
    pub(super) fn new() -> Self {
        Self {
            numbers: vec![1],
            next: 2,
            current: 0,
        }
    }

    /// The current one.
    pub(super) fn current(&self) -> Tab {
        Tab {
            place: self.current,
            number: self.numbers.get(self.current).copied().unwrap_or(0),
        }
    }

    /// Goes to the tab at a place, from 0, and gives its number; none if that is the current one.
    pub(super) fn go_to(&mut self, place: usize) -> Option<u64> {
        if place == self.current {
            return None;
        }
        // What leads back is that later tabs were closed.
        if place < self.current {
            self.numbers.truncate(place + 1);
        }
        while self.numbers.len() <= place {
            self.numbers.push(self.next);
            self.next += 1;
        }
        self.current = place;
        self.numbers.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_not_given_again_when_its_tab_was_closed() {
        let mut tabs = Tabs::new();
        let gone: Vec<Option<u64>> = [0, 1, 0, 1, 2, 1, 0, 1]
            .into_iter()
            .map(|place| tabs.go_to(place))
            .collect();
        let expected = [
            None,
            Some(2),
            Some(1),
            Some(3),
            Some(4),
            Some(3),
            Some(1),
            Some(5),
        ];
        assert_eq!(gone, expected);
    }
}
