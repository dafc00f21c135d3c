//! A PNG file of a chequered field, written without compressing: one bit per pixel is small enough.

/// The largest width and height, in pixels. The whole picture then fits in one stored block.
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

/// A field of `width` by `height` pixels, squares of `colour` and white by turns. The sides must be
/// within 1 and [`MAX_SIDE`].
pub(super) fn png(width: u32, height: u32, colour: [u8; 3]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::with_capacity(13);
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // One bit per pixel, an index into the palette; deflate, no filter choice, not interlaced.
    header.extend([1, 3, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &header);
    let [red, green, blue] = colour;
    chunk(&mut file, *b"PLTE", &[red, green, blue, 255, 255, 255]);
    chunk(&mut file, *b"IDAT", &stored(&rows(width, height)));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// The pixels row by row, each row after a byte for its filter (none), packed eight to a byte.
fn rows(width: u32, height: u32) -> Vec<u8> {
    let square = (width.min(height) / 8).max(1);
    let mut bytes = Vec::new();
    for y in 0..height {
        bytes.push(0);
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

/// `data` as a zlib stream of one stored block, which holds up to 65,535 bytes.
fn stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
    let data = &data[..usize::from(length)];
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend_from_slice(data);
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    file.extend(length.to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend_from_slice(data);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |mut sum, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
        sum
    })
}

fn adler32(data: &[u8]) -> u32 {
    let (low, high) = data.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    (high << 16) | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_the_standards() {
        assert_eq!(crc32(b"IEND"), 0xae42_6082);
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn a_small_picture_is_this_file() {
        // Made with another zlib: 3 by 2 pixels, rows 010 and 101, the colour 1, 2, 3 and white.
        let expected = [
            &b"\x89\x50\x4e\x47\x0d\x0a\x1a\x0a"[..],
            &b"\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x03\x00\x00\x00\x02\x01\x03\x00\x00\x00\xa7\xba\xf4\x59"[..],
            &b"\x00\x00\x00\x06\x50\x4c\x54\x45\x01\x02\x03\xff\xff\xff\x06\xf0\xb0\xf6"[..],
            &b"\x00\x00\x00\x0f\x49\x44\x41\x54\x78\x01\x01\x04\x00\xfb\xff\x00\x40\x00\xa0\x01\x64\x00\xe1\x01\x04\x67\xb2"[..],
            &b"\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82"[..],
        ]
        .concat();
        assert_eq!(png(3, 2, [1, 2, 3]), expected);
    }

    #[test]
    fn the_largest_picture_fits_in_its_one_block() {
        let pixels = rows(MAX_SIDE, MAX_SIDE);
        assert_eq!(pixels.len(), 512 * 65);
        assert_eq!(stored(&pixels).len(), pixels.len() + 11);
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
