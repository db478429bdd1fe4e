//! The API reference: a page has everything that the API's description says of operations and events.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::Org;
use tests::app::{Browser, Page};

const PATH: &str = "/app/developers/reference";

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn targets<'a>(page: &'a Page, start: &str) -> BTreeSet<&'a str> {
    let targets = page.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    targets.filter(|target| target.starts_with(start)).collect()
}

fn assert_anchors(page: &Page, name: &str) {
    for target in targets(page, "#").into_iter().filter(|target| *target != "#main") {
        let id = format!("id=\"{}\"", &target[1..]);
        assert!(page.body.contains(&id), "{name}: nothing at {target}");
    }
}

fn words(document: &Value, operation: &Value) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    words.extend(parameters.map(|parameter| parameter["name"].as_str().expect("a name").to_owned()));
    words.extend(members(&operation["responses"]).map(|(status, _)| status.clone()));
    let mut open = vec![&operation["requestBody"]];
    open.extend(members(&operation["responses"]).filter(|(status, _)| status.starts_with('2')).map(|(_, value)| value));
    let mut known = BTreeSet::new();
    while let Some(value) = open.pop() {
        if let Some(reference) = value["$ref"].as_str() {
            if known.insert(reference) {
                open.extend(document.pointer(&reference[1..]));
            }
            continue;
        }
        words.extend(members(&value["properties"]).map(|(name, _)| name.clone()));
        words.extend(value["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned));
        for (key, value) in members(value) {
            match value {
                Value::Array(items) => open.extend(items),
                Value::Object(_) if !key.starts_with("example") => open.push(value),
                _ => {}
            }
        }
    }
    words
}

#[tokio::test]
async fn every_operation_and_event_has_its_page() {
    let org = Org::new().await;
    let browser = Browser::of(&org, &org.admin("Maren Holt").await).await;
    let document: Value = org.get("/openapi.json").send().await.ok(200);
    let list = browser.get(PATH).await;
    assert_eq!(list.status, 200);
    let mut linked = targets(&list, &format!("{PATH}/"));
    for (kind, is_event) in [("paths", false), ("webhooks", true)] {
        for (path, methods) in members(&document[kind]) {
            for (method, operation) in members(methods) {
                let name = operation["operationId"].as_str().expect("a name");
                let address = format!("{PATH}/{name}");
                assert!(linked.remove(address.as_str()), "{name} is not in the list");
                let page = browser.get(&address).await;
                assert_eq!(page.status, 200, "{name}");
                let summary = operation["summary"].as_str().expect("a summary");
                assert!(page.body.contains(&format!("<h1>{}</h1>", summary.replace('\'', "&#39;"))), "{name}");
                let route = format!("<code>{} {path}</code>", method.to_uppercase());
                assert_eq!(page.body.contains(&route), !is_event, "{name}");
                for word in words(&document, operation).into_iter().filter(|word| !word.is_empty()) {
                    assert!(page.body.contains(&format!("<code>{word}</code>")), "{name} without {word}");
                }
                assert_anchors(&page, name);
                for target in targets(&page, &format!("{PATH}/errors#")) {
                    let id = format!("id=\"{}\"", target.rsplit('#').next().expect("an anchor"));
                    assert!(browser.get(target).await.body.contains(&id), "{name}: nothing at {target}");
                }
            }
        }
    }
    assert_eq!(linked, BTreeSet::from([format!("{PATH}/errors").as_str()]));
    let errors = browser.get(&format!("{PATH}/errors")).await;
    assert_anchors(&errors, "errors");
    for code in document["components"]["schemas"]["ErrorCode"]["enum"].as_array().expect("codes") {
        assert!(errors.body.contains(&format!("<code>{}</code>", code.as_str().expect("a code"))), "{code}");
    }
}
