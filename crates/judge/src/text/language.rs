//! Which language a text is in.

use whatlang::Lang;

/// So much of a text, in characters, tells its language.
const SAMPLE: usize = 4000;

/// The language of a text, and whether that is certain; absent if nothing tells.
pub(crate) fn detect(text: &str) -> Option<(Lang, bool)> {
    let end = text.char_indices().nth(SAMPLE);
    let sample = &text[..end.map_or(text.len(), |(end, _)| end)];
    let found = whatlang::detect(sample)?;
    Some((found.lang(), found.is_reliable()))
}

/// The language that a word names in English, in German or in itself: `Spanish`, `Spanisch`, `Español`.
pub(crate) fn language_called(word: &str) -> Option<Lang> {
    const OTHERS: &str = "englisch:eng französisch:fra spanisch:spa italienisch:ita portugiesisch:por niederländisch:nld \
        schwedisch:swe dänisch:dan norwegisch:nob norwegian:nob norsk:nob finnisch:fin polnisch:pol türkisch:tur \
        russisch:rus griechisch:ell arabisch:ara chinesisch:cmn chinese:cmn 中文:cmn japanisch:jpn koreanisch:kor";
    let word = word.to_lowercase();
    let is_called = |lang: &&Lang| {
        [lang.eng_name(), lang.name()]
            .iter()
            .any(|name| name.to_lowercase() == word)
    };
    let other = || {
        let mut names = OTHERS
            .split_whitespace()
            .filter_map(|name| name.split_once(':'));
        let (_, code) = names.find(|(name, _)| *name == word)?;
        Lang::from_code(code)
    };
    Lang::all().iter().find(is_called).copied().or_else(other)
}
