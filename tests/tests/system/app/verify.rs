//! The public page that verifies evidence bundles; the browser test checks bundles on it.

use tests::app::Browser;
use tests::{Needs, Stack};

const PROGRAM: &str = include_str!("../../../../events/verify/verify_bundle.py");

#[tokio::test]
async fn the_page_is_public_and_loads_nothing_but_its_own_scripts() {
    let stack = Stack::with(Needs::SHARED);
    let stranger = Browser::new(&stack.base_url);
    let page = stranger.get("/verify").await;
    assert_eq!((page.status, page.title()), (200, "Verify an evidence bundle"), "{}", page.body);
    let policy = page.headers["content-security-policy"].to_str().expect("a text");
    assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    let scripts: Vec<&str> = page.body.split("<script").skip(1).filter_map(|rest| rest.split('"').nth(1)).collect();
    let [app, verify] = scripts[..] else { panic!("{scripts:?}") };
    assert!(app.starts_with("/app/app.js?v=") && verify.starts_with("/app/verify.js?v="), "{scripts:?}");
    let script = stranger.get(verify).await;
    assert_eq!(
        (script.status, &script.headers["content-type"]),
        (200, &"text/javascript; charset=utf-8".parse().unwrap())
    );
    assert!(
        !script.says("eval(") && !script.says("WebAssembly") && !script.says("http://") && !script.says("https://")
    );
}

/// Without the script, the page says which command does the same; its program is that of the source.
#[tokio::test]
async fn the_page_says_which_command_does_the_same() {
    let stack = Stack::with(Needs::SHARED);
    let stranger = Browser::new(&stack.base_url);
    let page = stranger.get("/verify").await;
    assert!(
        page.says("Checking a bundle on this page needs JavaScript. The command below does the same."),
        "{}",
        page.body
    );
    for path in ["/app/verify_bundle.py", "/app/evidence-keys.json"] {
        assert!(page.says(&format!("curl -O {}{path}\n", stack.base_url)), "{path}: {}", page.body);
        assert_eq!(stranger.get(path).await.status, 200, "{path}");
    }
    assert!(page.says("python3 verify_bundle.py bundle.zip --keys evidence-keys.json"), "{}", page.body);
    assert!(stranger.get("/app/verify_bundle.py").await.body == PROGRAM);
    // Nothing is sent there.
    assert_eq!(stranger.post("/verify", &[("a", "b")]).await.status, 303, "a stranger's form leads to sign in");
}
