//! The page on which anyone verifies an evidence bundle. Its script reads the zip in the browser, and sends it nowhere.
//!
//! Decision: the browser verifies with `WebCrypto` and plain script. The service's own verifier, compiled to WebAssembly,
//! would need `wasm-unsafe-eval` in the policy of a page that people are to trust.

use askama::Template;
use pages::assets::{VERIFIER, VERIFY_SCRIPT};
use pages::layout::Layout;
use pages::response::PageResponse;
use shared::error::Error;
use shared::web::Request;

#[derive(Template)]
#[template(path = "verify.html")]
struct VerifyPage {
    layout: Layout,
    script: String,
    service: String,
    verifier: &'static str,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    let page = VerifyPage {
        layout: Layout::signed_out(request),
        script: VERIFY_SCRIPT.url(),
        service: request.app().base_url.to_string(),
        verifier: VERIFIER.path,
    };
    Ok(PageResponse::render(&page)?.public())
}
