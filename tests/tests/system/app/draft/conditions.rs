//! Steps and their conditions, with information requests' questions.

use serde_json::{Value, json};
use tests::app::FormCopy;

use super::{Desk, notice};

#[tokio::test]
async fn every_type_of_condition_is_added_set_and_removed() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let agreement = desk.agreement(&page).await;
    let step = agreement["stages"][0]["id"].as_str().expect("an id").to_owned();
    let participant = agreement["participants"][0]["id"].as_str().expect("an id").to_owned();
    let document = agreement["documents"][0]["id"].as_str().expect("an id").to_owned();
    let who = format!("participant.{participant}");
    let steps = format!("{page}/steps/{step}");
    let blocks = desk.browser.get(&format!("{steps}/conditions?type=signature_blocks")).await.body;
    for query in ["type=zz", "rule=zz", "type=countdown&zzz=1"] {
        let refused = desk.browser.get(&format!("{steps}/conditions?{query}")).await;
        assert_eq!(refused.status, 422, "{query}: {}", refused.body);
    }
    let block =
        blocks.split("name=\"block.").nth(1).and_then(|rest| rest.split('"').next()).expect("a block").to_owned();
    for (kind, fields) in [
        ("signature_blocks", vec![(format!("block.{block}"), "on")]),
        ("document_signed", vec![("document_id".to_owned(), document.as_str())]),
        ("participant_approval", vec![(who.clone(), "on")]),
        ("file_upload", vec![(who.clone(), "on"), ("title".to_owned(), "LLC resolution"), ("review".to_owned(), "on")]),
        ("countdown", vec![("wait".to_owned(), "3"), ("unit".to_owned(), "days")]),
        ("information_request", vec![(who.clone(), "on")]),
        ("identity_verified", vec![(who.clone(), "on")]),
        ("movement_authorized", vec![("movement_id".to_owned(), "")]),
        ("movement_reconciled", vec![("movement_id".to_owned(), "")]),
    ] {
        let form = desk.browser.get(&format!("{steps}/conditions?type={kind}")).await;
        let (FormCopy { name: copy, id }, kind) = (form.copy(), form.hidden("type"));
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let fields: Vec<_> = [("copy", copy.as_str()), ("type", &kind)].into_iter().chain(fields).collect();
        let added = desk.send(&format!("{steps}/conditions"), &fields).await;
        assert_eq!(added.status, 303, "{kind}: {}", added.body);
        assert_eq!(desk.send(&format!("{steps}/conditions"), &fields).await.status, 303);
        let gates = desk.agreement(&page).await["stages"][0]["gates"].as_array().cloned().expect("gates");
        let gate = gates.iter().filter(|gate| gate["id"] == json!(id)).collect::<Vec<_>>();
        assert_eq!((gate.len(), &gate[0]["type"]), (1, &json!(kind)));
        let settings = desk.browser.get(&format!("{page}/conditions/{id}")).await;
        assert!(settings.says("Save condition") && settings.says("Remove condition"), "{}", settings.body);
        let removed = desk.send(&format!("{page}/conditions/{id}"), &[("act", "remove")]).await;
        assert_eq!(removed.status, 303, "{}", removed.body);
        assert_eq!(desk.send(&format!("{page}/conditions/{id}"), &[("act", "remove")]).await.status, 303);
    }
    assert_eq!(desk.agreement(&page).await["stages"][0]["gates"].as_array().map(Vec::len), Some(1));
    let upload = desk.browser.get(&format!("{steps}/conditions?type=file_upload")).await;
    assert!(upload.says("name=\"review\" type=\"checkbox\""), "{}", upload.body);
    for (field, says) in [("title", "What they upload"), ("help", "Help text")] {
        let typed = [("type", "file_upload"), (field, "Voided check of DE89370400440532013000")];
        let refused = desk.send(&format!("{steps}/conditions"), &typed).await;
        assert!(refused.status == 422 && refused.says(&format!("{says} ")), "{field}: {}", refused.body);
    }

    let FormCopy { name: copy, id } = desk.copy();
    let until = [("copy", copy.as_str()), ("type", "countdown"), ("until", "2031-05-04T12:30")];
    assert_eq!(desk.send(&format!("{steps}/conditions"), &until).await.status, 303);
    assert!(desk.browser.get(&format!("{page}/conditions/{id}")).await.says("value=\"4 May 2031, 12:30\""));
    for (name, value) in [("wait", "0"), ("wait", "-1"), ("wait", "soon"), ("wait", "999999999"), ("until", "tomorrow")]
    {
        let wrong = desk.send(&format!("{steps}/conditions"), &[("type", "countdown"), (name, value)]).await;
        assert_eq!(wrong.status, 422, "{value}");
        assert!(
            wrong.says(&format!("id=\"{name}-error\"")) && wrong.says(value) && wrong.says("<title>Error: "),
            "{value}"
        );
    }
}

#[tokio::test]
async fn questions_are_added_edited_moved_and_removed() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let step = desk.agreement(&page).await["stages"][0]["id"].as_str().expect("an id").to_owned();
    let FormCopy { name: copy, id: gate } = desk.copy();
    let add = [("copy", copy.as_str()), ("type", "information_request")];
    desk.send(&format!("{page}/steps/{step}/conditions"), &add).await;
    let path = format!("{page}/conditions/{gate}");
    let mut ids = Vec::new();
    for (question, answer, options) in [("Which port?", "choice", "Kiel\nOslo"), ("Anything else?", "long_text", "")] {
        let FormCopy { name: copy, id } = desk.copy();
        let fields = [
            ("act", "add_question"),
            ("copy", &copy),
            ("question", question),
            ("answer", answer),
            ("options", options),
        ];
        let added = desk.send(&path, &fields).await;
        assert_eq!(added.status, 303, "{}", added.body);
        ids.push(id);
    }
    let fields = async || {
        let agreement = desk.agreement(&page).await;
        let gates = agreement["stages"][0]["gates"].as_array().cloned().expect("gates");
        gates.into_iter().find(|found| found["id"] == json!(gate)).expect("the gate")["fields"].clone()
    };
    assert_eq!(fields().await[0]["options"], json!(["Kiel", "Oslo"]));
    let order = desk.browser.get(&path).await;
    let seen_order = order.body.split("value=\"move_question\"").next().expect("a form").to_owned();
    let seen_order =
        seen_order.rsplit("name=\"seen\" value=\"").next().and_then(|rest| rest.split('"').next()).expect("seen");
    let moved = desk.send(&path, &[("act", "move_question"), ("id", &ids[1]), ("to", "0"), ("seen", seen_order)]).await;
    assert_eq!(moved.status, 303, "{}", moved.body);
    assert_eq!(fields().await[0]["label"], "Anything else?");
    let late = desk.send(&path, &[("act", "move_question"), ("id", &ids[1]), ("to", "1"), ("seen", seen_order)]).await;
    assert_eq!(late.status, 409, "{}", late.body);
    let wrong = [("act", "add_question"), ("question", "Which?"), ("answer", "choice"), ("options", "")];
    let wrong = desk.send(&path, &wrong).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.says("options-error") && wrong.says("value=\"Which?\""), "{}", wrong.body);
    let removed = desk.send(&path, &[("act", "remove_question"), ("id", &ids[0])]).await;
    assert_eq!(removed.status, 303);
    assert_eq!(fields().await.as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn steps_are_moved_by_the_order_that_was_shown() {
    let desk = Desk::new().await;
    let (other, other_token) = desk.colleague().await;
    let page = desk.begin("blank", &[]).await;
    for name in ["One", "Two", "Three"] {
        assert_eq!(desk.send(&format!("{page}/steps"), &[("act", "add"), ("step_name", name)]).await.status, 303);
    }
    let agreement = desk.agreement(&page).await;
    let ids: Vec<&str> =
        agreement["stages"].as_array().expect("stages").iter().filter_map(|stage| stage["id"].as_str()).collect();
    let order = desk.seen(&page).await;
    let path = format!("{page}/steps");
    let moved = desk.send(&path, &[("act", "move"), ("id", ids[2]), ("to", "0"), ("seen", &order)]).await;
    assert_eq!((moved.status, moved.location()), (303, format!("{page}#notice").as_str()), "{}", moved.body);
    let shown = desk.browser.get(&page).await;
    notice(&shown, "The step “Three” was moved up");
    let (above, steps) = shown.body.split_once("id=\"steps\"").expect("the section");
    assert!(!above.contains("id=\"notice\"") && steps.contains("id=\"notice\""), "it stands where the member acted");
    let twice = desk.send(&path, &[("act", "move"), ("id", ids[2]), ("to", "0"), ("seen", &order)]).await;
    assert_eq!(twice.status, 303, "the second press of a double click: {}", twice.body);
    let fields = [("form_token", other_token.as_str()), ("act", "move"), ("id", ids[0]), ("to", "2"), ("seen", &order)];
    let stale = other.post(&path, &fields).await;
    assert_eq!(stale.status, 409, "the order that the other member saw is no more");
    notice(&stale, "The steps were reordered by Maren Holt");
    assert!(stale.says("move it again if you still want to"), "{}", stale.body);
    let names = |agreement: &Value| {
        let stages = agreement["stages"].as_array().cloned().expect("stages");
        stages.iter().map(|stage| stage["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&desk.agreement(&page).await), ["Three", "One", "Two"]);
    let order = desk.seen(&page).await;
    for to in ["9", "-1", "x"] {
        let nowhere = desk.send(&path, &[("act", "move"), ("id", ids[0]), ("to", to), ("seen", &order)]).await;
        assert_eq!(nowhere.status, 422, "{to}");
    }
    for n in 3..50 {
        let added = desk.send(&path, &[("act", "add"), ("step_name", &format!("Step {n}"))]).await;
        assert_eq!(added.status, 303, "{}", added.body);
    }
    let full = desk.send(&path, &[("act", "add"), ("step_name", "One too many")]).await;
    assert!(full.status == 422 && full.says("At most 50"), "{}", full.body);
    assert!(full.says("An agreement has at most 50 steps."), "{}", full.body);
}

#[tokio::test]
async fn what_others_refer_to_stays() {
    let desk = Desk::new().await;
    let page = desk.two_party().await;
    let agreement = desk.agreement(&page).await;
    let participant = agreement["participants"][0]["id"].as_str().expect("an id").to_owned();
    let document = agreement["documents"][0]["id"].as_str().expect("an id").to_owned();
    let refused = desk.send(&format!("{page}/participants/{participant}"), &[("act", "remove")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("remove that signature block first"), "{}", refused.body);
    assert!(refused.says(&format!("href=\"{page}/documents/{document}#blocks\"")), "it links there: {}", refused.body);
    let refused = desk.send(&format!("{page}/documents/{document}"), &[("act", "remove")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("condition of the step “Signing”"), "{}", refused.body);
    assert_eq!(desk.agreement(&page).await["participants"].as_array().map(Vec::len), Some(2));

    // A participant named only by a condition: without a signature block, but with an approval.
    let blank = desk.begin("blank", &[]).await;
    let added = [("contact_id", desk.people[0].as_str()), ("role.approver", "on")];
    assert_eq!(desk.send(&format!("{blank}/participants"), &added).await.status, 303);
    assert_eq!(desk.send(&format!("{blank}/steps"), &[("act", "add"), ("step_name", "Approval")]).await.status, 303);
    let agreement = desk.agreement(&blank).await;
    let step = agreement["stages"][0]["id"].as_str().expect("an id");
    let named = agreement["participants"][0]["id"].as_str().expect("an id");
    let conditions = format!("{blank}/steps/{step}/conditions");
    let who = format!("participant.{named}");
    let fields = [("type", "participant_approval"), (&*who, "on")];
    let condition = desk.send(&conditions, &fields).await;
    assert_eq!(condition.status, 303, "{}", condition.body);
    let refused = desk.send(&format!("{blank}/participants/{named}"), &[("act", "remove")]).await;
    assert!(refused.status == 422 && refused.says("condition of the step “Approval”"), "{}", refused.body);
    assert_eq!(desk.agreement(&blank).await["participants"].as_array().map(Vec::len), Some(1));

    let path = format!("{page}/participants/{participant}");
    let seen = desk.seen(&path).await;
    let saved = desk.send(&path, &[("seen", &seen), ("role.approver", "on"), ("role.signer", "on")]).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    assert_eq!(desk.agreement(&page).await["participants"][0]["roles"], json!(["signer", "approver"]));
    let none = desk.send(&path, &[("seen", &desk.seen(&path).await)]).await;
    assert!(none.status == 422 && none.says("at least one choice"), "{}", none.body);
}

#[tokio::test]
async fn each_blocker_names_what_is_missing_and_where() {
    let desk = Desk::new().await;
    let page = desk.begin("blank-safe", &[]).await;
    let FormCopy { name: copy, id: step } = desk.copy();
    desk.send(&format!("{page}/steps"), &[("act", "add"), ("copy", &copy), ("step_name", "Closing")]).await;
    for (kind, lacking) in [
        ("document_signed", "choose the document of “Signed document” in “Closing”."),
        ("countdown", "set the waiting period of “Waiting period” in “Closing”."),
        ("information_request", "add questions to “Information request” in “Closing”."),
        ("participant_approval", "choose who must act in “Approval” in “Closing”."),
    ] {
        let fields = [("type", kind)];
        let added = desk.send(&format!("{page}/steps/{step}/conditions"), &fields).await;
        let shown = desk.browser.get(added.location().split('#').next().expect("a path")).await;
        assert!(shown.says("class=\"notice warn\"") && shown.says(lacking), "{kind}: {}", shown.body);
    }
    let shown = desk.browser.get(&page).await;
    for text in [
        "Choose the document of “Signed document” in “Closing”",
        "Set the waiting period of “Waiting period” in “Closing”",
        "Add questions to “Information request” in “Closing”",
        "Choose who must act in “Approval” in “Closing”",
        "Complete the SAFE terms: investment amount; currency; valuation cap, discount or most favored nation; conversion; governing law",
        "Give one participant the role Investor and one participant the role Issuer",
    ] {
        assert!(shown.says(text), "{text}: {}", shown.body);
    }
}
