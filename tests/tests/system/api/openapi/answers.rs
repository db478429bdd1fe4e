//! Answers and schemas fit each other.

use super::*;

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    found.insert(reference.to_owned());
                }
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let golden = golden();
    let mut found = BTreeSet::new();
    references(&golden, &mut found);
    assert!(!found.is_empty());
    for reference in &found {
        assert!(spec::resolve(&golden, reference).is_some(), "{reference} leads nowhere");
    }
    for kind in ["schemas", "responses", "headers"] {
        for name in members(&golden["components"][kind]) {
            assert!(found.contains(&format!("#/components/{kind}/{name}")), "{kind} {name} is not used");
        }
    }
}

#[tokio::test]
async fn answers_are_as_described() {
    let fixture = Fixture::new().await;
    let document = golden();
    for operation in fixture.operations() {
        let answer = fixture.call(operation).send().await;
        assert!(answer.status < 300, "{answer}");
        spec::assert_answer(operation, answer.status, &answer.json());
        let response = &operation.about["responses"][answer.status.to_string()];
        let described = &response["content"]["application/json"]["schema"];
        assert_like(&spec::example(&document, described), &answer.json(), &operation.id);
    }
    for list in fixture.lists() {
        let answer = fixture.call(list).send().await.ok(200);
        let rows = answer["data"].as_array().expect("rows");
        assert!(!rows.is_empty(), "{} has no row that is held to its description", list.id);
        assert_null_in_rows(&fixture, list, rows).await;
    }
}

/// A list's example has null exactly where list rows have null although the record doesn't; the description says so.
async fn assert_null_in_rows(fixture: &Fixture, list: &Operation, rows: &[Value]) {
    let document = golden();
    let page = &list.about["responses"]["200"]["content"]["application/json"]["schema"];
    let row = spec::example(&document, page)["data"][0].clone();
    let get =
        fixture.operations().find(|one| one.method == "GET" && one.path.starts_with(&format!("{}/{{", list.path)));
    let Some(get) = get.filter(|get| get.path.matches('/').count() == list.path.matches('/').count() + 1) else {
        return;
    };
    let record = spec::example(&document, &get.about["responses"]["200"]["content"]["application/json"]["schema"]);
    let shown_null: BTreeSet<&str> = members(&row).into_iter().filter(|name| row[*name].is_null()).collect();
    let left_out: BTreeSet<&str> = shown_null.iter().copied().filter(|name| !record[*name].is_null()).collect();
    let mut found = BTreeSet::new();
    for row in rows {
        let whole = fixture.org.get(get.path_with(row["id"].as_str().expect("an id"))).send().await.ok(200);
        assert!(left_out.iter().all(|name| row[*name].is_null()), "{}: {left_out:?} in {row}", list.id);
        found.extend(
            members(&whole)
                .into_iter()
                .filter(|name| row[*name].is_null() && !whole[*name].is_null())
                .map(str::to_owned),
        );
    }
    let is_shown = found.iter().all(|name| shown_null.contains(name.as_str()));
    assert!(is_shown, "{} answers null in {found:?}, and its example in {shown_null:?}", list.id);
    let unseen: Vec<&str> = left_out.into_iter().filter(|name| !found.contains(*name)).collect();
    assert!(unseen.is_empty(), "{} shows null in {unseen:?}, which no record has", list.id);
}

fn assert_like(example: &Value, answer: &Value, place: &str) {
    match (example, answer) {
        (Value::Object(_), Value::Object(_)) => {
            assert_eq!(members(example), members(answer), "{place}");
            for name in members(example) {
                // Each blocker and each asset has its own members.
                if ["publish_blockers", "detail"].contains(&name) {
                    continue;
                }
                assert_like(&example[name], &answer[name], &format!("{place}.{name}"));
            }
        }
        (Value::Array(example), Value::Array(answer)) => {
            if let (Some(example), Some(answer)) = (example.first(), answer.first()) {
                assert_like(example, answer, &format!("{place}[0]"));
            }
        }
        // An optional value may be absent in either.
        (_, Value::Null) | (Value::Null, _) => {}
        _ => assert_eq!(std::mem::discriminant(example), std::mem::discriminant(answer), "{place}: {example} {answer}"),
    }
}
