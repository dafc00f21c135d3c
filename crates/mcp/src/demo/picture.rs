//! A PNG file of a chequered field.

use png::{BitDepth, ColorType, Encoder, EncodingError};

/// The largest width and height, in pixels.
pub(super) const MAX_SIDE: u32 = 512;

/// The colour names that are known beside `#rrggbb`.
const NAMED: &[(&str, [u8; 3])] = &[
    ("black", [0, 0, 0]),
    ("blue", [0x1f, 0x6f, 0xeb]),
    ("green", [0x2d, 0xa4, 0x4e]),
    ("grey", [0x8c, 0x95, 0x9f]),
    ("orange", [0xe3, 0x6b, 0x09]),
    ("purple", [0x82, 0x50, 0xdf]),
    ("red", [0xcf, 0x22, 0x2e]),
    ("teal", [0x1b, 0x7c, 0x83]),
    ("white", [255, 255, 255]),
    ("yellow", [0xbf, 0x87, 0x00]),
];

/// Red, green and blue of a name or of `#rrggbb`. The error lists what is known.
pub(super) fn colour(text: &str) -> Result<[u8; 3], String> {
    if let Some((_, rgb)) = NAMED
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text))
    {
        return Ok(*rgb);
    }
    let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6);
    let number = hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match number.and_then(|hex| u32::from_str_radix(hex, 16).ok()) {
        Some(number) => {
            let [_, red, green, blue] = number.to_be_bytes();
            Ok([red, green, blue])
        }
        None => {
            let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
            Err(format!(
                "a `color` is `#rrggbb` or one of {}",
                names.join(", ")
            ))
        }
    }
}

/// A field of `width` by `height` pixels, squares of `colour` and white by turns.
pub(super) fn png(
    width: u32,
    height: u32,
    [red, green, blue]: [u8; 3],
) -> Result<Vec<u8>, EncodingError> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::One);
    encoder.set_palette([red, green, blue, 255, 255, 255].to_vec());
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rows(width, height))?;
    writer.finish()?;
    Ok(file)
}

/// The pixels row by row, packed eight to a byte: indexes into the palette.
fn rows(width: u32, height: u32) -> Vec<u8> {
    let square = (width.min(height) / 8).max(1);
    let mut bytes = Vec::new();
    for y in 0..height {
        for start in (0..width).step_by(8) {
            let mut packed = 0_u8;
            for x in start..(start + 8).min(width) {
                if (x / square + y / square) % 2 == 1 {
                    packed |= 0x80 >> (x - start);
                }
            }
            bytes.push(packed);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_read_as_it_was_drawn() {
        let file = png(3, 2, [1, 2, 3]).expect("it is written");
        let decoder = png::Decoder::new(std::io::Cursor::new(file));
        let mut reader = decoder.read_info().expect("a PNG file");
        let info = reader.info();
        assert_eq!((info.width, info.height), (3, 2));
        assert_eq!(info.palette.as_deref(), Some(&[1, 2, 3, 255, 255, 255][..]));
        let mut pixels = [0; 2];
        reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!(pixels, [0b0100_0000, 0b1010_0000]);
    }

    #[test]
    fn colours_have_names_and_numbers() {
        assert_eq!(colour("#0a0B0c"), Ok([10, 11, 12]));
        assert_eq!(colour("White"), Ok([255; 3]));
        for wrong in ["", "#12345", "#+12345", "mauve", "112233"] {
            assert!(
                colour(wrong).expect_err("unknown").contains("teal"),
                "{wrong}"
            );
        }
    }
}
