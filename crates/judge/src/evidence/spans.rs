//! What of a text can be compared to the letter: addresses, dates, times, numbers.

use std::ops::Range;

use crate::text::{
    FoundDate, FoundNumber, Identifier, Moment, NumberStyle, blank, dates, dois, emails,
    identifiers, moments, numbers, urls,
};

/// What can be compared exactly in a text.
#[derive(Debug)]
pub(crate) struct Spans<'a> {
    pub urls: Vec<&'a str>,
    /// The addresses with their places.
    pub url_ranges: Vec<(Range<usize>, &'a str)>,
    pub emails: Vec<(Range<usize>, &'a str)>,
    pub dois: Vec<String>,
    pub dates: Vec<FoundDate>,
    pub moments: Vec<Moment>,
    pub identifiers: Vec<Identifier>,
    pub numbers: Vec<FoundNumber>,
    /// The text without addresses.
    pub prose: String,
}

impl<'a> Spans<'a> {
    pub(crate) fn of(text: &'a str, style: NumberStyle) -> Self {
        let urls = urls(text);
        let emails = emails(text);
        let dois = dois(text);
        let addresses = urls
            .iter()
            .map(|(range, _)| range.clone())
            .chain(emails.iter().map(|(range, _)| range.clone()))
            .chain(dois.iter().map(|(range, _)| range.clone()));
        let prose = blank(text, addresses);
        let dates = dates(&prose);
        let undated = blank(&prose, dates.iter().map(|date| date.range.clone()));
        let moments = moments(&undated);
        let untimed = blank(&undated, moments.iter().map(|moment| moment.range.clone()));
        let identifiers = identifiers(&untimed);
        let rest = blank(
            &untimed,
            identifiers
                .iter()
                .map(|identifier| identifier.range.clone()),
        );
        let numbers = numbers(&rest, style);
        Self {
            numbers,
            urls: urls.iter().map(|(_, url)| *url).collect(),
            url_ranges: urls,
            emails,
            dois: dois.into_iter().map(|(_, doi)| doi).collect(),
            dates,
            moments,
            identifiers,
            prose,
        }
    }
}
