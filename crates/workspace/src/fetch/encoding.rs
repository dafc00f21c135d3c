//! Bodies as they were before they were compressed for the way.

use std::io;

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder};
use futures::TryStreamExt as _;
use reqwest::Response;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio_util::io::StreamReader;

/// What a server may compress with.
pub(super) const ACCEPTED: &str = "gzip, deflate, br";

type Body = Box<dyn AsyncBufRead + Send + Unpin>;

/// Why a body can't be decompressed.
#[derive(Debug)]
pub(super) enum Problem {
    /// It was compressed with something else.
    Unknown,
    /// Its beginning did not arrive.
    Io(io::Error),
}

/// The body of `response`, whose `Content-Encoding` is `encoding`: names separated by commas, the last to be undone first.
pub(super) async fn decoder(response: Response, encoding: &str) -> Result<Body, Problem> {
    let bytes = response.bytes_stream().map_err(io::Error::other);
    let mut body: Body = Box::new(StreamReader::new(Box::pin(bytes)));
    for name in encoding.rsplit(',') {
        let start = body.fill_buf().await.map_err(Problem::Io)?;
        let Some(&first) = start.first() else {
            return Ok(body);
        };
        body = match name.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => body,
            "gzip" | "x-gzip" => {
                let mut decoder = GzipDecoder::new(body);
                decoder.multiple_members(true);
                buffered(decoder)
            }
            "deflate" if is_zlib(first) => buffered(ZlibDecoder::new(body)),
            // Some servers leave out the header that the standard asks for.
            "deflate" => buffered(DeflateDecoder::new(body)),
            "br" => buffered(BrotliDecoder::new(body)),
            _ => return Err(Problem::Unknown),
        };
    }
    Ok(body)
}

/// Whether a stream that begins with this byte has the header of zlib.
fn is_zlib(first: u8) -> bool {
    first & 0x0F == 8 && first >> 4 <= 7
}

fn buffered(decoder: impl AsyncRead + Send + Unpin + 'static) -> Body {
    Box::new(BufReader::new(decoder))
}
