//! Pictures of a screen, with a font of their own: SVG, and PNG made of it.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use cuecard_timeline::model::TerminalTheme;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::screen::Snapshot;

/// The size of a cell in pixels, and of a font whose letters are as wide.
const WIDTH: u32 = 10;
const HEIGHT: u32 = 20;
const FONT_SIZE: f64 = 2048.0 / 1233.0 * WIDTH as f64;
/// How far below the top of a cell letters stand.
const BASELINE: u32 = 15;
const MARGIN: u32 = 12;
/// How much larger pictures of pixels are.
const SCALE: f32 = 2.0;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for font in [dejavu::sans_mono::regular(), dejavu::sans_mono::bold()] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
    }
    Arc::new(fonts)
});

/// The colours of a theme: background, text, and the sixteen that have numbers.
struct Palette {
    background: u32,
    text: u32,
    colours: [u32; 16],
}

const DEFAULT: Palette = Palette {
    background: 0x1a_1b1e,
    text: 0xd0_d0d0,
    colours: [
        0x28_2c34, 0xe0_6c75, 0x98_c379, 0xe5_c07b, 0x61_afef, 0xc6_78dd, 0x56_b6c2, 0xab_b2bf,
        0x6b_7280, 0xff_7b86, 0xb5_e890, 0xff_d68a, 0x7c_c3ff, 0xdd_8ff2, 0x6f_d0dc, 0xff_ffff,
    ],
};

const HIGH_CONTRAST: Palette = Palette {
    background: 0x00_0000,
    text: 0xff_ffff,
    colours: [
        0x00_0000, 0xff_5555, 0x50_ff50, 0xff_ff50, 0x60_a0ff, 0xff_70ff, 0x50_ffff, 0xe0_e0e0,
        0x90_9090, 0xff_8080, 0x80_ff80, 0xff_ff90, 0x90_c0ff, 0xff_a0ff, 0x90_ffff, 0xff_ffff,
    ],
};

impl Palette {
    fn of(theme: TerminalTheme) -> &'static Self {
        match theme {
            TerminalTheme::Default => &DEFAULT,
            TerminalTheme::HighContrast => &HIGH_CONTRAST,
        }
    }

    fn colour(&self, colour: Color, default: u32) -> u32 {
        match colour {
            Color::Rgb(red, green, blue) => u32::from_be_bytes([0, red, green, blue]),
            Color::Indexed(idx @ 0..=15) => self.colours[usize::from(idx)],
            Color::Indexed(idx @ 16..=231) => {
                let level = |nth: u8| match nth {
                    0 => 0,
                    nth => 55 + 40 * nth,
                };
                let idx = idx - 16;
                u32::from_be_bytes([0, level(idx / 36), level(idx / 6 % 6), level(idx % 6)])
            }
            Color::Indexed(idx) => {
                let grey = 8 + 10 * (idx - 232);
                u32::from_be_bytes([0, grey, grey, grey])
            }
            _ => default,
        }
    }
}

/// How a cell looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    text: u32,
    background: u32,
    is_bold: bool,
    is_italic: bool,
    is_underlined: bool,
}

impl Look {
    fn of(cell: &Cell, palette: &Palette) -> Self {
        let mut text = palette.colour(cell.fg, palette.text);
        let mut background = palette.colour(cell.bg, palette.background);
        let has = |modifier| cell.modifier.contains(modifier);
        if has(Modifier::REVERSED) {
            std::mem::swap(&mut text, &mut background);
        }
        if has(Modifier::DIM) {
            let half =
                |shift: u32| ((text >> shift & 0xff) * 3 + (background >> shift & 0xff) * 2) / 5;
            text = half(16) << 16 | half(8) << 8 | half(0);
        }
        Self {
            text,
            background,
            is_bold: has(Modifier::BOLD),
            is_italic: has(Modifier::ITALIC),
            is_underlined: has(Modifier::UNDERLINED),
        }
    }
}

/// A screen as SVG.
pub fn svg(snapshot: &Snapshot, theme: TerminalTheme) -> String {
    let palette = Palette::of(theme);
    let (columns, rows) = snapshot.size();
    let width = u32::from(columns) * WIDTH + 2 * MARGIN;
    let height = u32::from(rows) * HEIGHT + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#{:06x}\"/>\n\
         <g font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"{FONT_SIZE:.3}\" xml:space=\"preserve\">\n",
        palette.background
    );
    for (row, cells) in (0..).zip(snapshot.rows()) {
        let top = MARGIN + row * HEIGHT;
        let mut run: Option<Run> = None;
        for (column, cell) in (0..).zip(cells) {
            let look = Look::of(cell, palette);
            let x = MARGIN + column * WIDTH;
            let text = cell.symbol();
            if let (Some(open), true) = (run.as_mut(), text.is_empty()) {
                open.n_columns += 1;
                continue;
            }
            let is_drawn = !text.chars().all(has_letter);
            if let Some(open) = run
                .as_mut()
                .filter(|open| open.look == look && !is_drawn && !open.is_drawn)
            {
                open.text.push_str(text);
                open.n_columns += 1;
                continue;
            }
            let next = Run {
                x,
                n_columns: 1,
                look,
                text: text.to_owned(),
                is_drawn,
            };
            if let Some(done) = run.replace(next) {
                done.write(&mut svg, top, palette);
            }
        }
        if let Some(done) = run {
            done.write(&mut svg, top, palette);
        }
    }
    if snapshot.is_cursor_visible {
        let (column, row) = snapshot.cursor;
        let (x, y) = (
            MARGIN + u32::from(column) * WIDTH,
            MARGIN + u32::from(row) * HEIGHT,
        );
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#{:06x}\" fill-opacity=\"0.5\"/>",
            palette.text
        );
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Neighbouring cells that look the same.
struct Run {
    x: u32,
    n_columns: u32,
    look: Look,
    text: String,
    /// Whether the font has no letter for it, so that it is drawn.
    is_drawn: bool,
}

impl Run {
    fn write(&self, svg: &mut String, top: u32, palette: &Palette) {
        let Self { x, look, .. } = self;
        let width = self.n_columns * WIDTH;
        if look.background != palette.background {
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"#{:06x}\"/>",
                look.background
            );
        }
        if look.is_underlined {
            let y = top + HEIGHT - 3;
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"1\" fill=\"#{:06x}\"/>",
                look.text
            );
        }
        if self.is_drawn {
            return self.draw(svg, top);
        }
        let text = self.text.trim_end();
        if text.is_empty() {
            return;
        }
        let weight = if look.is_bold {
            " font-weight=\"bold\""
        } else {
            ""
        };
        let style = if look.is_italic {
            " font-style=\"italic\""
        } else {
            ""
        };
        let y = top + BASELINE;
        let length = text.chars().count() as u32 * WIDTH;
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" fill=\"#{:06x}\"{weight}{style} textLength=\"{length}\">{text}</text>",
            look.text
        );
    }

    /// Draws characters that the font does not have, dot by dot.
    fn draw(&self, svg: &mut String, top: u32) {
        let Some(glyph) = self.text.chars().next().and_then(unifont::get_glyph) else {
            return;
        };
        let size = WIDTH as f64 / 8.0;
        let mut path = String::new();
        for y in 0..16 {
            let mut x = 0;
            while x < glyph.get_width() {
                let n_dots = (x..glyph.get_width())
                    .take_while(|&at| glyph.get_pixel(at, y))
                    .count();
                if n_dots > 0 {
                    let _ = write!(path, "M{x} {y}h{n_dots}v1h-{n_dots}z");
                }
                x += n_dots.max(1);
            }
        }
        let _ = writeln!(
            svg,
            "<path transform=\"translate({} {top}) scale({size})\" fill=\"#{:06x}\" d=\"{path}\"/>",
            self.x, self.look.text
        );
    }
}

/// Whether the font has a letter for a character.
fn has_letter(character: char) -> bool {
    use skrifa::MetadataProvider as _;
    static LETTERS: LazyLock<Option<skrifa::FontRef<'static>>> =
        LazyLock::new(|| skrifa::FontRef::new(dejavu::sans_mono::regular()).ok());
    LETTERS
        .as_ref()
        .is_none_or(|font| font.charmap().map(character).is_some())
}

/// A picture of pixels of what [`svg`] gives.
///
/// # Errors
/// Why there is none.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let options = Options {
        fontdb: FONTS.clone(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let scaled = |length: u32| (length as f32 * SCALE) as u32;
    let mut pixmap = Pixmap::new(scaled(size.width()), scaled(size.height()))
        .ok_or("the picture would be too large")?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixmap.as_mut(),
    );
    pixmap.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use cuecard_timeline::model::TerminalConfig;

    use super::*;
    use crate::screen::Screen;

    #[test]
    fn a_screen_becomes_a_picture() {
        let mut screen = Screen::new(&TerminalConfig {
            width: 30,
            height: 4,
            ..TerminalConfig::default()
        });
        let text = "plain \x1b[1;31mred <&>\x1b[0m \x1b[7minverse\x1b[0m\r\n┌─┐ 日本 é \x1b[4;38;2;1;2;3munder\x1b[0m";
        screen.print(text.as_bytes());
        let svg = svg(&screen.snapshot(), TerminalTheme::Default);
        for part in [
            ">plain</text>",
            "font-weight=\"bold\"",
            "red &lt;&amp;&gt;",
            "#010203",
            "<path ",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert_eq!(svg.matches("<path ").count(), 2, "{svg}");
        let png = png(&svg).expect("a picture");
        assert!(png.starts_with(b"\x89PNG"));
        let width = u32::from_be_bytes(png[16..20].try_into().expect("four bytes"));
        assert_eq!(width, 2 * (30 * WIDTH + 2 * MARGIN));
    }
}
