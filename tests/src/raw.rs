//! Sends requests, byte by byte, that no honest HTTP client sends.

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::Answer;

/// Sends head (lines without ends) and body unchanged, plus `Host` and `Connection: close`; reads the response.
pub async fn send(base_url: &str, head: &[&[u8]], body: &[u8]) -> Answer {
    let (status, headers, bytes) = exchange(base_url, head, body).await;
    let name = head.first().map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default();
    Answer::checked(name, status, headers, bytes)
}

/// Like [`send`], for requests that the HTTP server refuses before the service sees them. Returns only the status.
pub async fn status(base_url: &str, head: &[&[u8]], body: &[u8]) -> u16 {
    exchange(base_url, head, body).await.0
}

async fn exchange(base_url: &str, head: &[&[u8]], body: &[u8]) -> (u16, HeaderMap, Vec<u8>) {
    let mut socket = begin(base_url, head, body).await;
    parsed(&rest(&mut socket).await)
}

/// Begins a request like [`send`], whose body may continue or never end.
pub async fn begin(base_url: &str, head: &[&[u8]], body: &[u8]) -> TcpStream {
    let host = format!("host: {}", base_url.trim_start_matches("http://"));
    let lines = head.iter().copied().chain([host.as_bytes(), b"connection: close", b""]);
    let mut request: Vec<u8> = lines.flat_map(|line| [line, b"\r\n"].concat()).collect();
    request.extend_from_slice(body);
    let mut socket = connect(base_url).await;
    socket.write_all(&request).await.expect("the request is taken");
    socket
}

/// Opens a connection without sending anything.
pub async fn connect(base_url: &str) -> TcpStream {
    let address = base_url.strip_prefix("http://").expect("the local stack speaks plain HTTP");
    TcpStream::connect(address).await.expect("the stack listens")
}

/// Everything that a connection receives until the stack closes it.
pub async fn rest(socket: &mut TcpStream) -> Vec<u8> {
    let mut response = Vec::new();
    socket.read_to_end(&mut response).await.expect("an answer, or the end");
    response
}

/// The response on a connection from [`begin`].
pub async fn answer(mut socket: TcpStream) -> Answer {
    let (status, headers, bytes) = parsed(&rest(&mut socket).await);
    Answer::checked("a request that was begun".to_owned(), status, headers, bytes)
}

/// The stack's response to arbitrary bytes.
pub async fn answer_to(base_url: &str, bytes: &[u8]) -> (u16, HeaderMap, Vec<u8>) {
    let mut socket = connect(base_url).await;
    // The stack may answer before it has read everything.
    let _ = socket.write_all(bytes).await;
    parsed(&rest(&mut socket).await)
}

fn parsed(response: &[u8]) -> (u16, HeaderMap, Vec<u8>) {
    let end = response.windows(4).position(|window| window == b"\r\n\r\n").expect("the head of an answer");
    let head = std::str::from_utf8(&response[..end]).expect("a head of text");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').expect("a header");
        headers.append(
            name.parse::<HeaderName>().expect("a header's name"),
            HeaderValue::from_str(value.trim()).expect("a header's value"),
        );
    }
    let body = response[end + 4..].to_vec();
    let is_chunked = headers.get("transfer-encoding").is_some_and(|encoding| encoding == "chunked");
    (status.expect("a status"), headers, if is_chunked { joined(&body) } else { body })
}

fn joined(mut chunked: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = chunked.windows(2).position(|window| window == b"\r\n").expect("a chunk's length");
        let length = std::str::from_utf8(&chunked[..end]).expect("a chunk's length in text");
        let length = usize::from_str_radix(length, 16).expect("a chunk's length in hex");
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&chunked[end + 2..end + 2 + length]);
        chunked = &chunked[end + 2 + length + 2..];
    }
}
