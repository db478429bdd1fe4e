//! An organization's own accounts: one member proposes, a second one agrees. A statement of an unknown account says so.

use tests::Org;
use tests::app::{Browser, Page};
use tests::attending::hidden;

use super::statements::{ACCOUNT, camt, entry, uploaded};
use super::{Deal, assert_says, text};

const PAGE: &str = "/app/organization";
const ACCOUNTS: &str = "/app/organization/accounts";
const UNKNOWN: &str = "Unknown account: …3000";

async fn say(by: &Browser, account: &str) -> Page {
    let page = by.get(PAGE).await;
    let own = hidden(&page, ACCOUNTS);
    let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    by.post(ACCOUNTS, &own.chain([("account", account)]).collect::<Vec<_>>()).await
}

async fn press(by: &Browser, act: &str) -> Page {
    let page = by.get(PAGE).await;
    let action = action(&page, act).unwrap_or_else(|| panic!("no {act}: {}", text(&page)));
    by.post(&action, &[("form_token", &page.hidden("form_token"))]).await
}

fn action(page: &Page, act: &str) -> Option<String> {
    let actions = page.body.split("action=\"").filter_map(|rest| rest.split('"').next());
    let mut own = actions.filter(|action| action.starts_with(ACCOUNTS) && action.ends_with(act));
    own.next().map(str::to_owned)
}

#[tokio::test]
async fn an_account_is_the_organizations_once_a_second_member_agrees() {
    let deal = Deal::new().await;
    let (maren, kim) = (&deal.maren, &deal.kim);
    let at = uploaded(maren, "march.xml", &camt("S-1", &[entry("1.00", "CRDT", "B-1", "Interest")])).await;
    assert_says(&maren.get(&at).await, &[UNKNOWN, "<a href=\"/app/organization#own-accounts\">Own accounts</a>"]);

    for (account, wrong) in [("", "The account must be typed"), ("XXXXXXXX3000", "with no digit hidden")] {
        let refused = say(maren, account).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert_says(&refused, &[wrong]);
    }
    let done = say(maren, "DE89 3704 0044 0532 0130 00").await;
    assert_eq!((done.status, done.location()), (303, "/app/organization#own-accounts"), "{}", done.body);
    let page = maren.get(PAGE).await;
    assert_says(&page, &["…3000", "Said by Maren Holt", "Waits for a second member", "Kim Sato can do it."]);
    assert!(action(&page, "/agree").is_none(), "nobody agrees with themselves: {}", text(&page));
    assert_says(&maren.get(&at).await, &[UNKNOWN]);
    let again = say(kim, "37040044/0532013000").await;
    assert_eq!(again.status, 409, "{}", again.body);
    assert_says(&again, &["The account is among your own already"]);
    let of_kim = kim.get(PAGE).await;
    let agree = action(&of_kim, "/agree").expect("Kim may agree");
    let forged = maren.post(&agree, &[("form_token", &page.hidden("form_token"))]).await;
    assert_eq!(forged.status, 409, "{}", forged.body);
    assert_says(&forged, &["You said so first, so another member has to agree."]);

    for _ in 0..2 {
        let agreed = kim.post(&agree, &[("form_token", &of_kim.hidden("form_token"))]).await;
        assert_eq!(agreed.status, 303, "{}", agreed.body);
    }
    assert_says(&maren.get(PAGE).await, &["Kim Sato agreed.", ">Own</span>"]);
    assert!(!maren.get(&at).await.says("Unknown account"), "it is known now");

    let audit = deal.org.audit().await;
    for operation in ["say_own_account", "agree_to_own_account"] {
        assert!(audit.iter().any(|row| row["operation"] == operation), "{operation}");
    }
    assert_eq!(press(maren, "/remove").await.status, 303);
    assert_says(&maren.get(&at).await, &[UNKNOWN]);
    assert_says(&maren.get(PAGE).await, &["No own accounts yet"]);
    let everything = format!("{:?}{:?}", deal.org.state().await, deal.org.audit().await);
    assert!(!everything.contains(ACCOUNT) && !everything.contains("0532013000"));
}

#[tokio::test]
async fn the_only_member_calls_an_account_their_own_at_once() {
    let org = Org::new().await;
    let maren = Browser::of(&org, &org.member("Maren Holt").await).await;
    assert_eq!(say(&maren, ACCOUNT).await.status, 303);
    assert_says(&maren.get(PAGE).await, &["No other member counted as a second one.", ">Own</span>"]);
}

#[tokio::test]
async fn an_account_that_instructions_name_is_known() {
    let deal = Deal::with_statements().await;
    let at = uploaded(&deal.maren, "march.xml", &camt("S-1", &[entry("1.00", "CRDT", "B-1", "Interest")])).await;
    assert!(!deal.maren.get(&at).await.says("Unknown account"));
}
