//! What is compressed for whom: public pages and files, and nothing that has a secret (BREACH).

use reqwest::header::{ACCEPT_ENCODING, COOKIE, HeaderMap};
use tests::app::Browser;
use tests::{Needs, Org, Stack};

struct Got {
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("a text"))
    }

    fn is_compressed(&self) -> bool {
        self.header("content-encoding") == "gzip"
    }
}

async fn get(base_url: &str, path: &str, encoding: &str, cookie: &str) -> Got {
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let mut request = http.get(format!("{base_url}{path}"));
    for (name, value) in [(ACCEPT_ENCODING, encoding), (COOKIE, cookie)] {
        if !value.is_empty() {
            request = request.header(name, value);
        }
    }
    let response = request.send().await.expect("an answer");
    assert_eq!(response.status(), 200, "{path}");
    Got { headers: response.headers().clone(), bytes: response.bytes().await.expect("a body").to_vec() }
}

fn unpacked(file: &[u8]) -> Vec<u8> {
    miniz_oxide::inflate::decompress_to_vec(&file[10..file.len() - 8]).expect("compressed bytes")
}

#[tokio::test]
async fn public_pages_and_files_are_compressed_for_whoever_takes_it() {
    let base_url = &Stack::with(Needs::SHARED).base_url;
    for path in
        ["/docs", "/verify", "/app/sign-in", "/app/style.css", "/app/app.js", "/app/verify.js", "/app/verify_bundle.py"]
    {
        let plain = get(base_url, path, "", "").await;
        assert_eq!((plain.is_compressed(), plain.header("vary")), (false, "accept-encoding"), "{path}");
        for encoding in ["identity", "gzip;q=0", "br", "deflate"] {
            assert!(!get(base_url, path, encoding, "").await.is_compressed(), "{path}: {encoding}");
        }
        for encoding in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5"] {
            let got = get(base_url, path, encoding, "").await;
            assert_eq!((got.is_compressed(), got.header("vary")), (true, "accept-encoding"), "{path}: {encoding}");
            assert!(got.bytes.len() * 2 < plain.bytes.len() + 3000, "{path}: {}", got.bytes.len());
            for name in ["content-type", "cache-control", "etag", "content-security-policy"] {
                assert_eq!(got.header(name), plain.header(name), "{path}: {name}");
            }
            let same = ["/app/sign-in", "/verify"].contains(&path) || unpacked(&got.bytes) == plain.bytes;
            assert!(same, "{path}");
        }
    }
    let font = get(base_url, "/app/fonts/sans.woff2", "gzip", "").await;
    assert_eq!((font.is_compressed(), font.header("vary")), (false, ""), "a font is compressed already");
}

#[tokio::test]
async fn what_has_a_secret_is_never_compressed() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.member("Maren Holt").await).await;
    let session = format!("session={}", browser.cookie("session").expect("a session"));
    for path in ["/app", "/app/account", "/app/contacts", "/app/search?q=a"] {
        let got = get(org.base_url(), path, "gzip", &session).await;
        assert_eq!((got.is_compressed(), got.header("vary")), (false, ""), "{path}");
    }
    // The form of a browser that came before has the same token as then.
    let stranger = Browser::new(org.base_url());
    let token = stranger.get("/app/sign-in").await.hidden("form_token");
    let form = format!("form={}", stranger.cookie("form").expect("a form's secret"));
    let again = get(org.base_url(), "/app/sign-in", "gzip", &form).await;
    assert!(!again.is_compressed() && String::from_utf8_lossy(&again.bytes).contains(&token));
    // Whoever is signed in sees a page of strangers.
    let verify = get(org.base_url(), "/verify", "gzip", &session).await;
    let text = String::from_utf8(unpacked(&verify.bytes)).expect("text");
    assert!(!text.contains("Maren Holt") && !text.contains("form_token"), "{text}");
}
