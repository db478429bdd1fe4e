//! Bad bodies and fields: a clear refusal names every field, and nothing changes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::{Fixture, Org, raw};

use crate::api::input::refused;

const CONTACTS: &str = "/api/v1/contacts";
const WORKSPACES: &str = "/api/v1/workspaces";
const MIB: usize = 1024 * 1024;

#[tokio::test]
async fn a_body_is_a_json_object() {
    let fixture = Fixture::new().await;
    let deep = format!("{{\"name\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let deep_objects = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let mut cases = Vec::new();
    for write in fixture.writes() {
        let with = |body: &[u8]| fixture.call(write).body("application/json", body);
        cases.push((with(b""), vec![("body", "required")]));
        for body in [
            &b"{"[..],
            b"{}}",
            b"{} {}",
            b"{'name': 1}",
            b"{\"name\": NaN}",
            b"{\"a\": 1,}",
            b"// none\n{}",
            b"\xef\xbb\xbf{}",
            b"hello",
        ] {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [&b"{\"name\": \"\xff\"}"[..], b"\xff\xfe{\0}\0", b"{\"name\": \"\xc3\"}", b"{\"\xed\xa0\x80\": 1}"]
        {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [&b"{\"name\": \"a\nb\"}"[..], b"{\"name\": \"\\ud800\"}", b"{\"name\": \"\\x41\"}"] {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [deep.as_bytes(), deep_objects.as_bytes(), "[".repeat(100_000).as_bytes()] {
            cases.push((with(body), vec![("body", "malformed_json")]));
        }
        for body in [&b"[]"[..], b"[{\"name\": \"a\"}]", b"\"text\"", b"1", b"true"] {
            cases.push((with(body), vec![("body", "invalid_type")]));
        }
    }
    refused(&fixture.org, cases).await;
}

#[tokio::test]
async fn null_is_no_body() {
    let fixture = Fixture::new().await;
    let before = fixture.org.state().await;
    for write in fixture.writes() {
        let answer = fixture.call(write).json(&Value::Null).send().await;
        assert_eq!((answer.status, answer.errors().len()), (422, 1), "{answer}");
        assert_eq!(answer.errors()[0].0, "body", "{answer}");
    }
    assert_eq!(fixture.org.state().await, before);
}

#[tokio::test]
async fn a_body_has_at_most_a_mebibyte() {
    let fixture = Fixture::new().await;
    let body = |write| fixture.body(write).expect("a body");
    // Blanks count as part of the body.
    let padded = |body: &Value, length: usize| {
        let body = body.to_string();
        format!("{}{body}", " ".repeat(length - body.len()))
    };
    let mut cases = Vec::new();
    for write in fixture.writes() {
        for length in [MIB + 1, 3 * MIB] {
            let too_long = fixture.call(write).body("application/json", padded(&body(write), length));
            cases.push((too_long, vec![("body", "too_long")]));
        }
    }
    refused(&fixture.org, cases).await;
    for write in fixture.writes() {
        let answer = fixture.call(write).body("application/json", padded(&body(write), MIB)).send().await;
        assert!(answer.status < 300, "{answer}");
    }
}

#[tokio::test]
async fn a_body_of_unannounced_length_is_measured_too() {
    let org = Org::new().await;
    let token = &org.token.value;
    let authorization = format!("authorization: Bearer {token}");
    let head: [&[u8]; 4] = [
        b"POST /api/v1/workspaces HTTP/1.1",
        authorization.as_bytes(),
        b"content-type: application/json",
        b"transfer-encoding: chunked",
    ];
    let chunk = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
    let mut body = chunk.repeat(17);
    body.extend_from_slice(b"c\r\n{\"name\":\"A\"}\r\n0\r\n\r\n");
    raw::send(org.base_url(), &head, &body).await.refused_for(422, &[("body", "too_long")]);
    assert_eq!(org.total(WORKSPACES).await, 0);

    let mut body = chunk.repeat(3);
    body.extend_from_slice(b"c\r\n{\"name\":\"A\"}\r\n0\r\n\r\n");
    raw::send(org.base_url(), &head, &body).await.ok(201);
    assert_eq!(org.total(WORKSPACES).await, 1);
}

#[tokio::test]
async fn a_body_says_that_it_is_json() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for write in fixture.writes() {
        let body = fixture.body(write).expect("a body").to_string();
        for content_type in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "json",
            "text/json",
            "multipart/form-data; boundary=x",
        ] {
            let wrong = fixture.call(write).body(content_type, body.clone());
            cases.push((wrong, vec![("header.content-type", "invalid_value")]));
        }
        let missing = fixture.call(write).without("content-type");
        cases.push((missing, vec![("header.content-type", "required")]));
    }
    refused(&fixture.org, cases).await;
    for content_type in ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"] {
        let fixture = Fixture::new().await;
        for write in fixture.writes() {
            let body = fixture.body(write).expect("a body").to_string();
            let answer = fixture.call(write).body(content_type, body).send().await;
            assert!(answer.status < 300, "{content_type}: {answer}");
        }
    }
}

#[tokio::test]
async fn an_encoded_body_is_refused() {
    let fixture = Fixture::new().await;
    let mut cases = Vec::new();
    for write in fixture.writes() {
        for coding in ["gzip", "br", "deflate, identity", "aws-chunked"] {
            cases.push((fixture.call(write).header("content-encoding", coding), vec![("body", "invalid_format")]));
        }
        let compressed = fixture.call(write).body("application/json", &b"\x1f\x8b\x08\0"[..]);
        cases.push((compressed.header("content-encoding", "gzip"), vec![("body", "invalid_format")]));
    }
    refused(&fixture.org, cases).await;
    let plain = fixture.org.post(WORKSPACES, &json!({"name": "Harbor"})).header("content-encoding", "identity");
    plain.send().await.ok(201);
}

#[tokio::test]
async fn a_body_of_nothing_but_errors_gets_a_short_answer() {
    const LISTED: usize = 100;
    let fixture = Fixture::new().await;
    let before = fixture.org.state().await;
    for write in fixture.writes() {
        for count in [LISTED, LISTED + 1, 5_000] {
            let mut body = fixture.body(write).expect("a body");
            for n in 0..count {
                body[format!("unknown-{n}")] = json!(n);
            }
            let answer = fixture.call(write).json(&body).send().await;
            assert_eq!(answer.status, 422, "{answer}");
            assert!(answer.bytes.len() < 64 * 1024, "{} bytes", answer.bytes.len());
            let errors = answer.json()["error"]["errors"].as_array().expect("field errors").clone();
            let (listed, more) = errors.split_at(LISTED);
            for error in listed {
                assert!(error["field"].as_str().is_some_and(|field| field.starts_with("unknown-")), "{error}");
                assert_eq!(error["code"], "unknown_field", "{error}");
            }
            if count == LISTED {
                assert_eq!(more, [] as [Value; 0]);
                continue;
            }
            assert_eq!(more.len(), 1);
            assert_eq!((&more[0]["field"], &more[0]["code"]), (&json!("body"), &json!("limit_reached")));
            let message = more[0]["message"].as_str().expect("a message");
            let number: String = message.chars().filter(char::is_ascii_digit).collect();
            assert_eq!(number, (count - LISTED).to_string(), "how many more there are: {message}");
        }
    }
    assert_eq!(fixture.org.state().await, before);
}

#[tokio::test]
async fn a_name_of_half_a_megabyte_is_cut_where_it_is_told() {
    const CUT: usize = 200;
    let fixture = Fixture::new().await;
    let before = fixture.org.state().await;
    for write in fixture.writes() {
        for character in ["n", "日", "\u{1F58B}"] {
            let name = character.repeat(500_000 / character.len());
            let with = |text: String| fixture.call(write).body("application/json", text);
            let inner = fixture.body(write).expect("a body").to_string();
            let inner = inner.trim_end_matches('}');
            let doubled = format!(r#"{inner}, "{name}": 1, "{name}": 2}}"#);
            for (request, code) in
                [(with(format!(r#"{inner}, "{name}": 1}}"#)), "unknown_field"), (with(doubled), "malformed_json")]
            {
                let answer = request.send().await;
                assert_eq!((answer.status, answer.errors().len()), (422, 1), "{}", answer.bytes.len());
                assert!(answer.bytes.len() < 4 * 1024, "{} bytes", answer.bytes.len());
                let (field, told) = answer.errors().remove(0);
                assert_eq!((told.as_str(), field.chars().take(CUT).collect()), (code, character.repeat(CUT)));
                assert!(field.chars().count() <= CUT + 1, "{field}");
            }
        }
    }
    assert_eq!(fixture.org.state().await, before);
}

/// This process's CPU time, which includes the service and, unlike wall-clock time (the fallback), no other processes.
fn processor_time(started: Instant) -> Duration {
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    Some(threads.filter_map(of_thread).sum()).filter(|sum: &Duration| !sum.is_zero()).unwrap_or(started.elapsed())
}

async fn cost(org: &Org, body: &str) -> Duration {
    let (mut cost, started) = (Duration::MAX, Instant::now());
    for _ in 0..5 {
        let before = processor_time(started);
        let answer = org.post(CONTACTS, &json!({})).body("application/json", body).send().await;
        // A thread that ended meanwhile took its time with it.
        cost = processor_time(started).checked_sub(before).map_or(cost, |used| cost.min(used));
        assert_eq!(answer.status, 422, "{}", answer.bytes.len());
    }
    cost
}

/// Bodies of the same length, with long names or with long text: a parent's name isn't written out for each child.
#[tokio::test]
async fn a_long_name_costs_no_more_than_a_long_text() {
    let org = Org::new().await;
    let numbers = format!("[{}0]", "0,".repeat(MIB / 4));
    let members: Vec<String> = (0..20_000).map(|n| format!("\"k{n}\":0")).collect();
    let members = format!("{{{}}}", members.join(","));
    let nested = format!("{}0{}", "[".repeat(100), "]".repeat(100));
    // Each is an error, of which the response lists a hundred.
    let doubled = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(3_000));
    for (what, children) in [("numbers", numbers), ("members", members), ("nested", nested), ("doubled", doubled)] {
        let rest = "x".repeat(MIB - children.len() - 64);
        let long_name = format!(r#"{{"{rest}": {children}, "text": ""}}"#);
        let long_text = format!(r#"{{"": {children}, "text": "{rest}"}}"#);
        assert_eq!(long_name.len(), long_text.len());
        let (name, text) = (cost(&org, &long_name).await, cost(&org, &long_text).await);
        println!("{what}: {name:?} with a long name, {text:?} with a long text");
        assert!(
            name < text.max(Duration::from_millis(10)) * 6,
            "{what}: {name:?} with a long name, {text:?} with a long text"
        );
    }
}
