//! A draft's promises: added, changed, moved and removed in forms.

use serde_json::{Value, json};
use tests::app::FormCopy;

use super::{Desk, notice};

struct Boxes {
    promisor: String,
    promisee: String,
}

impl Boxes {
    async fn of(desk: &Desk, page: &str) -> Self {
        let agreement = desk.agreement(page).await;
        let id = |n: usize| agreement["participants"][n]["id"].as_str().expect("an id").to_owned();
        Self { promisor: format!("promisor.{}", id(1)), promisee: format!("promisee.{}", id(0)) }
    }

    fn with<'a>(&'a self, fields: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        fields.iter().copied().chain([(self.promisor.as_str(), "on"), (self.promisee.as_str(), "on")]).collect()
    }
}

impl Desk {
    async fn promises(&self, page: &str) -> Vec<Value> {
        self.agreement(page).await["promises"].as_array().cloned().expect("promises")
    }
}

#[tokio::test]
async fn each_kind_of_promise_is_added_changed_moved_and_removed() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let boxes = Boxes::of(&desk, &page).await;
    let path = format!("{page}/promises");
    let copies = [0; 4].map(|_| desk.copy());
    let [report, notice_of_round, insurance, fee] = copies.each_ref().map(|copy| copy.id.clone());
    for (id, fields) in [
        (
            &report,
            vec![
                ("kind", "scheduled"),
                ("name", "Quarterly report"),
                ("first", "31/3/2031"),
                ("every", "1"),
                ("unit", "quarter"),
                ("times", "8"),
            ],
        ),
        (
            &notice_of_round,
            vec![
                ("kind", "triggered"),
                ("name", "Notice"),
                ("trigger-1", "The company is sold"),
                ("after-1", "30"),
                ("trigger-2", ""),
                ("after-2", ""),
                ("trigger-3", "It raises a round"),
                ("after-3", "0"),
            ],
        ),
        (&insurance, vec![("kind", "standing"), ("name", "Insurance"), ("days", "90")]),
        (&fee, vec![("kind", "scheduled"), ("name", "Fee"), ("dates", "Jun 30, 2031\n\n2031-03-31")]),
    ] {
        let form = desk.browser.get(&format!("{path}?{}={}", fields[0].0, fields[0].1)).await;
        assert!(form.says("Add obligation") && form.says("Which kind") && form.says("Who owes it"), "{}", form.body);
        let copy = copies.iter().find(|copy| copy.id == *id).expect("its copy");
        let fields = boxes.with(&[&[("copy", copy.name.as_str())], &fields[..]].concat());
        for _ in 0..2 {
            let added = desk.send(&path, &fields).await;
            assert_eq!(added.status, 303, "{}", added.body);
        }
    }
    let shown = desk.browser.get(&page).await;
    notice(&shown, "The obligation “Fee” was added");
    for text in [
        "Due on 31 Mar 2031 and 30 Jun 2031.",
        "Ben to Ada, every quarter from 31 Mar 2031, 8 times",
        "Ben to Ada, within 30 days of “The company is sold”, or on the day of “It raises a round”",
        "Ben to Ada, at all times, verified every 90 days",
        "They are in force once the agreement is completed",
    ] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
    let promises = desk.promises(&page).await;
    let names: Vec<&str> = promises.iter().filter_map(|promise| promise["name"].as_str()).collect();
    assert_eq!(names, ["Quarterly report", "Notice", "Insurance", "Fee"]);
    assert_eq!(
        (&promises[1]["triggers"][1]["due_after_days"], &promises[2]["reverify_every_days"]),
        (&json!(0), &json!(90))
    );
    assert_eq!(promises[3]["days"], json!(["2031-03-31", "2031-06-30"]));

    let edit = desk.browser.get(&format!("{path}/{report}")).await;
    for text in ["value=\"31 Mar 2031\"", "value=\"quarter\" selected", "value=\"8\"", " checked"] {
        assert!(edit.says(text), "{text}: {}", edit.body);
    }
    let edit = desk.browser.get(&format!("{path}/{notice_of_round}")).await;
    assert!(edit.says("value=\"The company is sold\"") && edit.says("name=\"trigger-4\""), "{}", edit.body);
    let triggers = &promises[1]["triggers"];
    let keeps = [
        ("seen", edit.hidden("seen")),
        ("kind", "triggered".to_owned()),
        ("name", "Notice".to_owned()),
        ("trigger-id-1", triggers[0]["id"].as_str().expect("an id").to_owned()),
        ("trigger-1", "The company is sold".to_owned()),
        ("after-1", "10".to_owned()),
    ];
    let keeps: Vec<_> = keeps.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(desk.send(&format!("{path}/{notice_of_round}"), &boxes.with(&keeps)).await.status, 303);
    let changed = desk.promises(&page).await[1]["triggers"].clone();
    assert_eq!(changed.as_array().map(Vec::len), Some(1), "an emptied row removes its trigger");
    assert_eq!((&changed[0]["id"], &changed[0]["due_after_days"]), (&triggers[0]["id"], &json!(10)));

    let order = desk.browser.get(&page).await.body;
    let order = order.split("/promises\"").nth(1).and_then(|form| form.split("name=\"seen\" value=\"").nth(1));
    let order = order.and_then(|rest| rest.split('"').next()).expect("the order").to_owned();
    let move_up = [("act", "move"), ("id", fee.as_str()), ("to", "0"), ("seen", &order)];
    assert_eq!(desk.send(&path, &move_up).await.status, 303);
    notice(&desk.browser.get(&page).await, "The obligation “Fee” was moved up");
    let late = [("act", "move"), ("id", report.as_str()), ("to", "3"), ("seen", &order)];
    let late = desk.send(&path, &late).await;
    assert!(late.status == 409 && late.says("The obligations were reordered by you"), "{}", late.body);

    for _ in 0..2 {
        assert_eq!(desk.send(&format!("{path}/{insurance}"), &[("act", "remove")]).await.status, 303);
    }
    let promises = desk.promises(&page).await;
    let names: Vec<&str> = promises.iter().filter_map(|promise| promise["name"].as_str()).collect();
    assert_eq!(names, ["Fee", "Quarterly report", "Notice"]);
    let history = desk.browser.get(&page).await;
    for act in ["Removed the obligation “Insurance”", "Moved the obligation “Fee”", "Changed the obligation “Notice”"]
    {
        assert!(history.says(act), "{act}: {}", history.body);
    }

    let agreement = desk.agreement(&page).await;
    let step = format!("{page}/steps/{}", agreement["stages"][0]["id"].as_str().expect("an id"));
    let form = desk.browser.get(&step).await;
    assert!(form.says("Countersign records the obligations"), "{}", form.body);
    let fields = [
        ("seen", form.hidden("seen")),
        ("name", "Signing".to_owned()),
        ("action.project_obligations", "on".to_owned()),
    ];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(desk.send(&step, &fields).await.status, 303);
    assert!(desk.browser.get(&page).await.says("They are in force once the step “Signing” is done."));
    let ben = format!("{page}/participants/{}", agreement["participants"][1]["id"].as_str().expect("an id"));
    let refused = desk.send(&ben, &[("act", "remove")]).await;
    assert!(refused.says("is a party of the obligation “Fee”") || refused.says("Is a party of the obligation “Fee”"));
    assert!(refused.says(&format!("<a href=\"{path}/{fee}\">Open “Fee”</a>")), "{}", refused.body);
    let FormCopy { name: form, id: copy } = desk.copy();
    assert_eq!(desk.send(&format!("{page}/duplicate"), &[("copy", &form)]).await.status, 303);
    assert_eq!(desk.promises(&format!("/app/agreements/{copy}")).await.len(), 3, "copies have the promises");
}

#[tokio::test]
async fn what_is_wrong_with_a_promise_is_said_at_its_field() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let boxes = Boxes::of(&desk, &page).await;
    let path = format!("{page}/promises");
    let nobody = desk.send(&path, &[("kind", "standing"), ("name", "Insurance <b>"), ("days", "90")]).await;
    assert_eq!(nobody.status, 422);
    for text in ["Who owes it must have one participant or more", "To whom must have one", "Insurance &#60;b&#62;"] {
        assert!(nobody.says(text), "{text}: {}", nobody.body);
    }
    let both = format!("promisee.{}", boxes.promisor.split('.').nth(1).expect("an id"));
    let fields = boxes.with(&[("kind", "standing"), ("name", "Insurance"), ("days", "90"), (&both, "on")]);
    let own = desk.send(&path, &fields).await;
    assert!(own.status == 422 && own.says("nobody confirms their own word"), "{}", own.body);
    for (fields, reason) in [
        (vec![("kind", "standing"), ("days", "0")], "days-error"),
        (vec![("kind", "standing"), ("days", "ninety")], "must be a whole number from 1 to 3660"),
        (vec![("kind", "scheduled")], "must have one date or more"),
        (vec![("kind", "scheduled"), ("dates", "30/2/2031")], "must be a day that exists"),
        (vec![("kind", "scheduled"), ("dates", "1/1/2031"), ("first", "1/1/2031")], "fill in one of the two"),
        (vec![("kind", "scheduled"), ("first", "1/1/2031"), ("every", "0"), ("unit", "month")], "every-error"),
        (vec![("kind", "scheduled"), ("first", "1/1/2031"), ("every", "1"), ("unit", "day")], "unit-error"),
        (
            vec![("kind", "scheduled"), ("first", "2/1/2031"), ("every", "1"), ("unit", "week"), ("last", "1/1/2031")],
            "must not be before the first day",
        ),
        (vec![("kind", "triggered")], "must have one trigger or more"),
        (vec![("kind", "triggered"), ("trigger-1", "A sale"), ("after-1", "")], "after-1-error"),
        (vec![("kind", "triggered"), ("trigger-1", ""), ("after-1", "4000")], "trigger-1-error"),
    ] {
        let fields = boxes.with(&[&fields[..], &[("name", "Books")]].concat());
        let refused = desk.send(&path, &fields).await;
        assert_eq!(refused.status, 422, "{fields:?}");
        for text in [reason, "value=\"Books\"", "<title>Error: ", "aria-invalid=\"true\"", " checked"] {
            assert!(refused.says(text), "{fields:?}, {text}: {}", refused.body);
        }
    }
    assert_eq!(desk.promises(&page).await, Vec::<Value>::new());
}

#[tokio::test]
async fn two_members_who_edit_one_promise_are_told_of_each_other() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.two_party().await;
    let boxes = Boxes::of(&desk, &page).await;
    let FormCopy { name: copy, id } = desk.copy();
    let add = boxes.with(&[("kind", "scheduled"), ("copy", &copy), ("name", "Fee"), ("dates", "30/6/2031")]);
    assert_eq!(desk.send(&format!("{page}/promises"), &add).await.status, 303);
    let path = format!("{page}/promises/{id}");
    let seen = desk.seen(&path).await;
    let theirs = [("form_token", other_token.as_str()), ("seen", &seen), ("kind", "scheduled"), ("name", "Dues")];
    let theirs = boxes.with(&[&theirs[..], &[("dates", "30/6/2031\n30/9/2031")]].concat());
    assert_eq!(other.post(&path, &theirs).await.status, 303);
    let own = boxes.with(&[("seen", &seen), ("kind", "scheduled"), ("name", "Charge"), ("dates", "30/6/2031")]);
    let stale = desk.send(&path, &own).await;
    assert_eq!(stale.status, 409);
    for text in [
        "Ines Duarte changed this while you were typing",
        "Name: now “Dues”; you typed “Charge”.",
        "Dates: now “30 Jun 2031; 30 Sep 2031”; you typed “30 Jun 2031”.",
        "value=\"Charge\"",
    ] {
        assert!(stale.says(text), "{text}: {}", stale.body);
    }
}
