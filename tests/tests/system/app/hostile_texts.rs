//! Every text field of the app with what nobody should type: it is refused, or shown as the text that it is.

use std::collections::BTreeSet;

use tests::Org;
use tests::app::Page;
use tests::pages::{Form, Furnished, crawl, furnish, visit};

const MARKUP: &str = "<script>alert(1)</script>\"'&{{7*7}}<img src=x onerror=alert(2)>";
/// A name that would be read as another, such as a file's.
const RIGHT_TO_LEFT: &str = "Seed round \u{202E}fdp.exe";
/// 200 of the widest characters, without a place to break a line.
const WIDE: char = '\u{FDFD}';

fn has_only_text(page: &Page) -> bool {
    page.has_only_own_script() && !page.body.contains("<img") && !page.body.contains("\"'&{{")
}

#[tokio::test]
async fn text_is_refused_or_shown_as_text_wherever_it_is_typed() {
    let org = Org::new().await;
    let Furnished { subscriber, .. } = furnish(&org).await;
    let admin = &subscriber.admin;
    let visits = crawl(&org, admin).await;
    let forms: BTreeSet<Form> = visits.iter().flat_map(|visit| visit.forms.clone()).collect();
    let with_text: Vec<&Form> = forms.iter().filter(|form| !form.texts.is_empty()).collect();
    let names: BTreeSet<&String> = with_text.iter().flat_map(|form| &form.texts).collect();
    assert!(with_text.len() > 15 && names.len() > 10, "{names:?}");
    let token = admin.get("/app").await.hidden("form_token");
    let wide = WIDE.to_string().repeat(200);
    let mut kept = 0;
    for text in [MARKUP, RIGHT_TO_LEFT, &wide] {
        for form in &with_text {
            let answer = form.typed(text).send(admin, &token).await;
            assert!(answer.status < 500, "{text} in {form:?}: {}", answer.status);
            kept += usize::from(answer.status == 303);
            if !answer.body.is_empty() {
                assert!(has_only_text(&answer), "{text} in {form:?}: {}", answer.body);
            }
            if text == RIGHT_TO_LEFT && answer.status == 303 {
                let (shown, _) = visit(&org, admin, answer.location(), "a form").await;
                assert!(!shown.body.contains('\u{202E}'), "{form:?}: {}", answer.location());
            }
        }
    }
    assert!(kept > 10, "{kept} of the forms keep what was typed");
    for visit in crawl(&org, admin).await {
        let page = admin.get(&visit.path).await;
        assert!(has_only_text(&page), "{}: {}", visit.path, page.body);
        assert!(!page.body.contains('\u{202E}'), "{}: {}", visit.path, page.body);
    }
}
