//! Unknown routes: 404, and 405 with `Allow`, in the envelope too.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::{Value, json};
use tests::{Answer, Fixture, Org, raw, spec};

use crate::unknown_id;

fn allowed(answer: &Answer) -> BTreeSet<String> {
    answer.header("allow").split(',').map(|method| method.trim().to_owned()).filter(|method| method != "HEAD").collect()
}

#[tokio::test]
async fn there_is_nothing_at_other_paths() {
    let org = Org::new().await;
    for path in [
        "/",
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/me",
        "/api/v1/Me",
        "/api/v1/me/",
        "/api/v1//me",
        "/api/v1/contact",
        "/api/v1/contacts/",
        "/api/v1/contacts/x/y",
        "/api/v1/workspaces/x/people",
        "/api/v1/workspaces/x/contacts/y",
        "/favicon.ico",
        "/openapi.yaml",
        "/%00",
        "/api/v1/me%2F",
    ] {
        for method in [Method::GET, Method::POST, Method::PATCH, Method::DELETE] {
            org.call(method, path).send().await.refused(404);
        }
    }
}

#[tokio::test]
async fn a_letter_of_a_path_may_be_percent_encoded() {
    let org = Org::new().await;
    let contact = org.contact("Ada").await;
    let id = contact["id"].as_str().expect("an id");
    for path in [format!("/api/v1/cont%61cts/{id}"), format!("/%61pi/v%31/contacts/{}", id.replace('-', "%2D"))] {
        assert_eq!(org.get(&path).send().await.ok(200), contact, "{path}");
        let answer = org.call(Method::DELETE, &path).send().await;
        answer.refused(405);
        assert_eq!(allowed(&answer), ["GET".to_owned(), "PATCH".to_owned()].into(), "{path}");
    }
    let workspace = json!({"name": "Harbor"});
    let first = org.post("/api/v1/workspaces", &workspace).key("spelled").send().await;
    let again = org.post("/api/v1/w%6Frkspaces", &workspace).key("spelled").send().await;
    assert_eq!((first.ok(201), again.is_replay()), (again.ok(201), true), "the same path is the same request");
    assert_eq!(org.anonymous().get("/openapi%2Ejson").send().await.ok(200)["openapi"], "3.1.0");
    org.get(format!("/api/v1%2Fcontacts/{id}")).send().await.refused(404);
}

#[tokio::test]
async fn another_method_is_refused_with_those_that_are_allowed() {
    let org = Org::new().await;
    let mut methods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let id = unknown_id();
    for operation in spec::operations(&spec::description(org.base_url()).await) {
        methods.entry(operation.path_with(&id)).or_default().insert(operation.method.to_string());
    }
    for path in ["/openapi.json", "/docs"] {
        methods.insert(path.to_owned(), ["GET".to_owned()].into());
    }
    let before = org.state().await;
    for (path, known) in &methods {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
            if known.contains(method) {
                continue;
            }
            let answer = org.call(method.parse().expect("a method"), path).json(&json!({})).send().await;
            answer.refused(405);
            assert_eq!(&allowed(&answer), known, "{method} {path}");
            let answer = org.read_only().call(method.parse().expect("a method"), path).send().await;
            answer.refused(405);
        }
    }
    assert_eq!(org.state().await, before);
}

#[tokio::test]
async fn without_a_token_no_route_is_told_from_another() {
    let org = Org::new().await;
    let anonymous = org.anonymous();
    let like = anonymous.get("/api/v1/me").send().await;
    let operations = spec::operations(&spec::description(org.base_url()).await);
    let mut paths: BTreeSet<String> = operations.iter().map(|operation| operation.path_with(&unknown_id())).collect();
    paths.extend(["/api/v1/nowhere".to_owned(), "/api/v1/contacts/%ff".to_owned()]);
    for client in [&anonymous, &org.with_token("cs_nonsense")] {
        for path in &paths {
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"] {
                let answer = client.call(method.parse().expect("a method"), path).send().await;
                answer.refused(401);
                assert_eq!(answer.without_request_id(), like.without_request_id(), "{method} {path}");
                assert_eq!(answer.header("allow"), "", "{method} {path} tells that there is the path");
            }
        }
        // The description is public, but its other methods aren't.
        let answer = client.call(Method::DELETE, "/openapi.json").send().await;
        answer.refused(401);
        assert_eq!(answer.header("allow"), "");
    }
}

#[tokio::test]
async fn only_what_is_public_answers_head() {
    let org = Org::new().await;
    let authorization = format!("authorization: Bearer {}", org.token.value);
    let head = async |path: &str, header: &str| {
        let line = format!("HEAD {path} HTTP/1.1");
        raw::status(org.base_url(), &[line.as_bytes(), header.as_bytes()], b"").await
    };
    for path in ["/api/v1/me", "/api/v1/contacts"] {
        assert_eq!(head(path, &authorization).await, 405, "{path}");
        assert_eq!(head(path, "accept: */*").await, 401, "{path}");
    }
    for path in ["/openapi.json", "/docs"] {
        for header in ["accept: */*", "authorization: Bearer nonsense", &authorization] {
            assert_eq!(head(path, header).await, 200, "{path}");
        }
        let answered = org.anonymous().call(Method::HEAD, path).send().await;
        let got = org.anonymous().get(path).send().await;
        assert_eq!((answered.status, answered.bytes.len()), (200, 0), "{path}");
        for header in ["content-type", "etag", "vary", "content-length"] {
            assert_eq!(answered.header(header), got.header(header), "{path}: {header}");
        }
    }
    let audit = org.audit().await;
    let refused: Vec<&Value> = audit.iter().filter(|row| row["code"] == "method_not_allowed").collect();
    assert!(refused.len() == 2 && refused.iter().all(|row| row["operation"] == "wrong_method"), "{refused:?}");
}

#[tokio::test]
async fn what_is_no_http_harms_nobody() {
    let org = Org::new().await;
    let authorization = format!("authorization: Bearer {}", org.token.value);
    for line in ["GET /api/v1/contacts/<script> HTTP/1.1", "GET /api/v1/me HTTP/9.9", "\0 / HTTP/1.1", "GET  HTTP/1.1"]
    {
        let status = raw::status(org.base_url(), &[line.as_bytes(), authorization.as_bytes()], b"").await;
        assert!((400..500).contains(&status), "{line:?}: {status}");
    }
    org.get("/api/v1/me").send().await.ok(200);
}

#[tokio::test]
async fn a_created_record_is_at_its_location() {
    let fixture = Fixture::new().await;
    let posts: Vec<_> = fixture.writes().filter(|operation| operation.method == Method::POST).collect();
    assert!(!posts.is_empty());
    for post in posts {
        let mut body = fixture.body(post).expect("a body");
        if body["contact_id"].is_string() {
            body["contact_id"] = fixture.org.contact("Ben").await["id"].clone();
        }
        let answer = fixture.call(post).json(&body).send().await;
        if post.id == "park_funding_item" {
            // The one POST that changes a record and creates none.
            answer.ok(200);
            assert_eq!((answer.header("location"), &post.about["responses"]["201"]), (String::new(), &Value::Null));
            continue;
        }
        let created = answer.ok(201);
        let location = answer.header("location");
        assert!(location.starts_with("/api/v1/"), "{location} of {answer}");
        let found = fixture.org.get(&location).send().await.ok(200);
        let is_it = found["id"] == created["id"];
        let has_it = |list: &Value| list.as_array().is_some_and(|all| all.contains(&created));
        assert!(is_it || has_it(&found["participants"]) || has_it(&found["trusts"]), "{location} of {answer}: {found}");
        let headers = &post.about["responses"]["201"]["headers"];
        assert!(headers["location"].is_object(), "{} does not describe its location", post.id);
    }
    let read = fixture.org.get("/api/v1/me").send().await;
    assert_eq!(read.header("location"), "");
}

#[tokio::test]
async fn a_request_id_is_the_services_own() {
    let org = Org::new().await;
    let (one, other) = (org.get("/api/v1/me").send().await, org.get("/api/v1/me").send().await);
    assert_ne!(one.request_id(), other.request_id());
    let chosen = unknown_id();
    let answer = org.get("/api/v1/me").header("x-request-id", chosen.clone()).send().await;
    assert_ne!(answer.request_id(), chosen, "a caller must not choose the key of an audit row");
}
