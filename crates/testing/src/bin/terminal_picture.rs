//! Draws what a terminal shows: ANSI text on standard input, an SVG picture with a window frame on standard output.
//!
//! ```sh
//! cuecard play examples/quickstart.json --color always 2>&1 | terminal_picture 'cuecard play quickstart.json' >docs/play.svg
//! ```
//!
//! The arguments are the title of the window. The same text gives the same bytes.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use anstyle::{Color, RgbColor};
use anstyle_svg::{Palette, Term};

/// More text than this is no picture for a page.
const MAX_INPUT: u64 = 1 << 20;

/// Columns to the next tab stop.
const TAB: usize = 8;

const TITLE_BAR: u32 = 32;
const MARGIN: u32 = 1;

fn main() -> ExitCode {
    match draw_standard_input() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "terminal_picture: {error}");
            ExitCode::FAILURE
        }
    }
}

fn draw_standard_input() -> io::Result<()> {
    let title = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let mut bytes = Vec::new();
    io::stdin().take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(io::Error::other(
            "the text on standard input is larger than 1 MiB",
        ));
    }
    let picture = draw(&String::from_utf8_lossy(&bytes), &title)
        .ok_or_else(|| io::Error::other("the drawing has no size; this is a defect"))?;
    io::stdout().write_all(picture.as_bytes())
}

/// The picture, or nothing should the drawing come without a size.
fn draw(text: &str, title: &str) -> Option<String> {
    let text = printable(text);
    let screen = Term::new()
        .background(false)
        .fg_color(Color::Rgb(RgbColor(0xd6, 0xdb, 0xe2)))
        .bg_color(Color::Rgb(RgbColor(0x16, 0x1b, 0x22)))
        .palette(PALETTE)
        .render_svg(text.trim_end_matches('\n'));
    let screen_width = size(&screen, "width")?;
    let screen_height = size(&screen, "height")?;
    let width = screen_width + 2 * MARGIN;
    let height = screen_height + TITLE_BAR + 2 * MARGIN;
    let inner_width = width - 2 * MARGIN;
    let inner_height = height - 2 * MARGIN;
    let middle = width / 2;
    let title = escape(title);
    let top = TITLE_BAR + MARGIN;
    let mut picture = format!(
        r##"<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" xmlns="http://www.w3.org/2000/svg">
<title>{title}</title>
<rect x="{MARGIN}" y="{MARGIN}" width="{inner_width}" height="{inner_height}" rx="8" fill="#161b22" stroke="#3d444d"/>
<circle cx="20" cy="17" r="5.5" fill="#f0635a"/>
<circle cx="38" cy="17" r="5.5" fill="#f2bd42"/>
<circle cx="56" cy="17" r="5.5" fill="#53c05b"/>
<text x="{middle}" y="21.5" text-anchor="middle" fill="#9198a1" font-family="system-ui, sans-serif" font-size="13">{title}</text>
<svg x="{MARGIN}" y="{top}" width="{screen_width}" height="{screen_height}">
"##
    );
    // The screen is a picture of its own: its first line, with the size, is replaced by the line above.
    let (_, screen) = screen.split_once('\n')?;
    picture.push_str(screen);
    picture.push_str("</svg>\n");
    Some(picture)
}

/// The number of pixels in the attribute `name` of the drawing's first tag.
fn size(drawing: &str, name: &str) -> Option<u32> {
    let tag = drawing.lines().next()?;
    let (_, value) = tag.split_once(&format!("{name}=\""))?;
    value.split_once("px\"")?.0.parse().ok()
}

/// The text without what an SVG can't hold or would show wrongly: tabs become spaces, other control characters
/// than the start of a style go.
fn printable(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut column = 0;
        let mut in_style = false;
        for c in line.chars() {
            match c {
                '\t' => {
                    let spaces = TAB - column % TAB;
                    result.extend(std::iter::repeat_n(' ', spaces));
                    column += spaces;
                }
                '\u{1b}' => {
                    in_style = true;
                    result.push(c);
                }
                '\n' => result.push(c),
                c if c.is_control() => {}
                c => {
                    result.push(c);
                    if !in_style {
                        column += 1;
                    } else if c.is_ascii_alphabetic() {
                        in_style = false;
                    }
                }
            }
        }
    }
    result
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Sixteen colours that read well on the window's background.
const PALETTE: Palette = Palette([
    RgbColor(0x48, 0x4f, 0x58),
    RgbColor(0xff, 0x7b, 0x72),
    RgbColor(0x56, 0xd3, 0x64),
    RgbColor(0xe3, 0xb3, 0x41),
    RgbColor(0x79, 0xc0, 0xff),
    RgbColor(0xd2, 0xa8, 0xff),
    RgbColor(0x56, 0xd4, 0xdd),
    RgbColor(0xd6, 0xdb, 0xe2),
    RgbColor(0x91, 0x98, 0xa1),
    RgbColor(0xff, 0xa1, 0x98),
    RgbColor(0x7e, 0xe7, 0x87),
    RgbColor(0xf2, 0xcc, 0x60),
    RgbColor(0xa5, 0xd6, 0xff),
    RgbColor(0xe2, 0xc5, 0xff),
    RgbColor(0xb3, 0xf0, 0xff),
    RgbColor(0xff, 0xff, 0xff),
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_frame_a_title_and_the_text_with_its_colours() {
        let picture =
            draw("\u{1b}[31mred\u{1b}[0m & <plain>\n", "cuecard play a<b").expect("drawn");
        assert!(picture.starts_with("<svg width=\""), "{picture}");
        assert!(
            picture.contains("<title>cuecard play a&lt;b</title>"),
            "{picture}"
        );
        assert!(picture.contains("fill: #FF7B72"), "{picture}");
        assert!(picture.contains(">red<"), "{picture}");
        assert!(picture.contains("&amp; &lt;plain&gt;"), "{picture}");
        assert_eq!(picture.matches("<svg").count(), 2);
        assert_eq!(picture.matches("</svg>").count(), 2);
        assert_eq!(draw("x", "t"), draw("x\n\n", "t"));
    }

    #[test]
    fn a_longer_line_and_more_lines_make_a_larger_picture() {
        let size_of = |text: &str| {
            let picture = draw(text, "").expect("drawn").replace("\" ", "px\" ");
            (
                size(&picture, "width").expect("w"),
                size(&picture, "height").expect("h"),
            )
        };
        let small = size_of("x");
        let wide = size_of(&"x".repeat(200));
        let high = size_of("x\nx\nx");
        assert!(wide.0 > small.0 && wide.1 == small.1, "{small:?} {wide:?}");
        assert!(high.1 > small.1 && high.0 == small.0, "{small:?} {high:?}");
    }

    #[test]
    fn control_characters_go_and_tabs_line_up() {
        assert_eq!(
            printable("a\tb\r\n\u{7}\u{1b}[1mx\u{1b}[0m\ty"),
            "a       b\n\u{1b}[1mx\u{1b}[0m       y"
        );
        assert_eq!(printable("\u{9b}31m"), "31m");
    }
}
