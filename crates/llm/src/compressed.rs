//! Bodies that the other side has compressed.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use cuecard_wire::llm::errors::ApiError;
use futures::Stream;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio_util::io::{ReaderStream, StreamReader};

/// A body, part by part.
pub(super) type ByteStream = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The body as it was before it was compressed, at most `limit` bytes.
///
/// # Errors
/// 400 for what can't be decoded, 413 for what is too large, 415 for an encoding that nobody knows.
pub(super) async fn decoded<'b>(
    headers: &HeaderMap,
    body: &'b [u8],
    limit: usize,
) -> Result<Cow<'b, [u8]>, ApiError> {
    let Some(encodings) = headers.get(header::CONTENT_ENCODING) else {
        return Ok(Cow::Borrowed(body));
    };
    let encodings = String::from_utf8_lossy(encodings.as_bytes()).to_ascii_lowercase();
    let mut body = Cow::Borrowed(body);
    // What was applied last comes off first.
    for encoding in encodings.split(',').map(str::trim).rev() {
        let bytes = &body[..];
        let read = match encoding {
            "" | "identity" => continue,
            "gzip" | "x-gzip" => read(GzipDecoder::new(bytes), limit).await,
            // Some mean it with its frame, as the word says, and some without.
            "deflate" => match read(ZlibDecoder::new(bytes), limit).await {
                Err(error) if error.status == 400 => read(DeflateDecoder::new(bytes), limit).await,
                read => read,
            },
            "br" => read(BrotliDecoder::new(bytes), limit).await,
            "zstd" => read(ZstdDecoder::new(bytes), limit).await,
            other => {
                let message = format!("the content encoding `{other}` is not supported");
                return Err(ApiError::new(415, message));
            }
        };
        body = Cow::Owned(read?);
    }
    Ok(body)
}

async fn read(decoder: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    let most = limit as u64 + 1;
    match decoder.take(most).read_to_end(&mut bytes).await {
        Err(error) => {
            let message = format!("the compressed body can't be decoded: {error}");
            Err(ApiError::new(400, message))
        }
        Ok(_) if bytes.len() > limit => {
            let message = format!("the decoded body exceeds the limit of {limit} bytes");
            Err(ApiError::new(413, message))
        }
        Ok(_) => Ok(bytes),
    }
}

/// A body as it was before it was compressed, part by part, and whether it was. In an encoding that nobody knows it stays
/// as it is.
pub(super) fn decoded_stream(
    encoding: &str,
    bytes: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
) -> (ByteStream, bool) {
    fn parts(decoder: impl AsyncRead + Send + 'static) -> (ByteStream, bool) {
        (Box::pin(ReaderStream::new(decoder)), true)
    }
    match encoding.trim().to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => parts(GzipDecoder::new(StreamReader::new(bytes))),
        "deflate" => parts(ZlibDecoder::new(StreamReader::new(bytes))),
        "br" => parts(BrotliDecoder::new(StreamReader::new(bytes))),
        "zstd" => parts(ZstdDecoder::new(StreamReader::new(bytes))),
        _ => (Box::pin(bytes), false),
    }
}
