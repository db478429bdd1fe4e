//! The page where a document is signed: typed names and drawings are kept, and every page of the document is shown.

use std::fmt::Write as _;

use shared::domain::agreement::Agreement;
use tests::app::{Page, unescaped};
use tests::attending::{Attendee, Live, hidden};
use tests::pdf::pdf_of_pages;

fn one_step(draft: &mut Agreement) {
    draft.stages.drain(..1);
    draft.stages.truncate(1);
}

fn document(agreement: &Agreement) -> String {
    format!("/documents/{}", agreement.documents[0].id)
}

async fn receipt(attendee: &Attendee, done: &Page) -> Page {
    assert_eq!(done.status, 303, "{}", done.body);
    attendee.browser.get(done.location()).await
}

#[tokio::test]
async fn a_signature_given_when_the_session_has_ended_is_kept() {
    let live = Live::new(one_step).await;
    let ada = live.attend(live.ids()[0]).await;
    let (path, cookie) = (document(&live.agreement), format!("part-{}", ada.participant));
    let action = ada.at(&format!("{path}/sign"));
    let mut drawing = String::from("M0 0");
    for n in 1..10_000 {
        let _ = write!(drawing, "L{} {}", n % 1001, n % 301);
    }
    let shown = ada.get(&path).await;
    let form = |page: &Page, typed: &[(&str, &str)]| -> Vec<(String, String)> {
        let mut fields = hidden(page, &action);
        fields.retain(|(name, _)| typed.iter().all(|(own, _)| name != own));
        let typed = typed.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        fields.into_iter().chain(typed).collect()
    };
    let post = async |fields: &[(String, String)]| {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        ada.browser.post_in_parts(&action, &fields).await
    };
    let session = ada.browser.cookie(&cookie).expect("a session");
    for typed in [vec![("signature", "Ada O."), ("drawing", &drawing)], vec![("signature", "Ada O."), ("drawing", "")]]
    {
        ada.browser.set_cookie(&cookie, "");
        let kept = post(&form(&shown, &typed)).await;
        assert!(kept.status == 401 && kept.title().starts_with("Error: Your session ended"), "{}", kept.body);
        for text in ["Your signature is kept on this page", "nothing is signed yet", "Ada O.</dd>"] {
            assert!(unescaped(&kept.body).contains(text), "{text}: {}", kept.body);
        }
        assert_eq!(kept.says(&format!("<path d=\"{drawing}\"/>")), typed[1].1 == drawing, "{}", kept.body);
        assert!(!kept.says("Sha256") && !kept.says("Blocks"), "{}", kept.body);
        let early = post(&form(&kept, &[])).await;
        assert!(early.status == 401 && early.says("I’ve opened my link"), "{}", early.body);
        assert_eq!(ada.follow(&live.link(ada.participant).await).await.status, 303);
        assert_ne!(ada.browser.cookie(&cookie), Some(session.clone()));
        let back = post(&form(&early, &[])).await;
        assert!(back.status == 403 && back.says("alt=\"Page 1 of “Purchase agreement”"), "{}", back.body);
        assert!(back.says("Your signature is kept, and nothing is signed yet"), "{}", back.body);
        assert!(back.says("value=\"Ada O.\""), "{}", back.body);
        assert!(back.says(&format!("name=\"drawing\" value=\"{}\"", typed[1].1)), "{}", back.body);
        assert!(live.org.events().await.iter().all(|event| event["type"] != "signature.completed"));
        if typed[1].1.is_empty() {
            let done = post(&form(&back, &[("signature", "Ada O.")])).await;
            assert!(receipt(&ada, &done).await.says("Typed name"));
        } else {
            let both = post(&form(&back, &[("signature", "Ada O.")])).await;
            assert!(both.status == 422 && both.says("is typed and drawn"), "{}", both.body);
            assert!(both.says(&format!("name=\"drawing\" value=\"{drawing}\"")), "{}", both.body);
        }
    }
    // A form from another origin may be planted: no page shows it.
    let planted =
        ada.browser.post_with(&action, &[("signature", "Mallory")], &[("origin", "https://evil.example")]).await;
    assert!(planted.status == 403 && !planted.says("Mallory"), "{}", planted.body);
}

#[tokio::test]
async fn every_page_of_a_long_document_is_shown() {
    let live = Live::with_file(&pdf_of_pages(130), one_step).await;
    let ada = live.attend(live.ids()[0]).await;
    let path = document(&live.agreement);
    let mut seen = Vec::new();
    let mut at = Some(path.clone());
    while let Some(url) = at.take() {
        let page = ada.get(&url).await;
        assert!(page.says("130 pages") && page.says(">Sign</button>"), "{}", page.body);
        assert!(page.body.len() < 60_000, "{} bytes", page.body.len());
        let pictures = page.body.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default());
        seen.extend(pictures.map(str::to_owned));
        let next =
            page.body.split_once("rel=\"next\" href=\"").map(|(_, rest)| rest.split('"').next().unwrap_or_default());
        at = next.map(|next| next.strip_prefix(&ada.at("")).expect("an own page").to_owned());
    }
    let pictures = format!("/app/pictures/{}/{}", ada.participant, live.agreement.documents[0].id);
    let all: Vec<String> = (1..=130).map(|number| format!("{pictures}/{number}")).collect();
    assert_eq!(seen, all);
    let last = ada.get(&format!("{path}?from=101")).await;
    for text in ["Pages 101–130 of 130.", "<span aria-current=\"page\">Pages 101–130</span>", ">Pages 51–100</a>"]
    {
        assert!(last.says(text), "{text}: {}", last.body);
    }
    for (number, status) in [(101, 200), (130, 200), (131, 404)] {
        assert_eq!(ada.browser.get(&format!("{pictures}/{number}")).await.status, status, "{number}");
    }
    for wrong in ["x", "-1", "99999999999999999999"] {
        assert_eq!(ada.get(&format!("{path}?from={wrong}")).await.status, 422, "{wrong}");
    }
    for odd in ["0", "131"] {
        assert!(ada.get(&format!("{path}?from={odd}")).await.says("Pages 1–50 of 130."), "{odd}");
    }
    let signed = ada.send(&last, &format!("{path}/sign"), &[("signature", "Ada")]).await;
    assert!(receipt(&ada, &signed).await.says(&last.hidden("sha256")));
}
