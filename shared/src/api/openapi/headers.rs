//! The headers of responses.

use serde_json::{Value, json};

pub(super) fn headers() -> Value {
    let text = |example: &str| json!({"type": "string", "examples": [example]});
    let all = [
        (
            "x-request-id",
            "The id of this call. Quote it to support.",
            json!({"type": "string", "format": "uuid", "examples": ["01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"]}),
        ),
        ("etag", "The version of the record, for `If-Match`.", text("\"3\"")),
        (
            "location",
            "The path of the record, or of the record that it is a part of.",
            text("/api/v1/contacts/01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35"),
        ),
        (
            "ignored-fields",
            "The fields that were sent with other values than the record has, and were not stored: names with commas between them. Absent if there are none.",
            text("display_name, email"),
        ),
        (
            "idempotent-replayed",
            "`true` when this response was given before, to the same key. Absent otherwise.",
            json!({"type": "string", "const": "true"}),
        ),
        ("www-authenticate", "How to authenticate.", json!({"type": "string", "const": "Bearer"})),
        ("allow", "The methods that the path answers, with commas between them.", text("GET, POST")),
        (
            "retry-after",
            "How many seconds to wait before the next attempt. Present when the service was too busy.",
            json!({"type": "string", "pattern": "^[0-9]+$", "examples": ["2"]}),
        ),
        (
            "content-encoding",
            "`gzip` when the body is compressed. Absent otherwise.",
            json!({"type": "string", "const": "gzip"}),
        ),
        (
            "vary",
            "The header of the request that the form of the body depends on.",
            json!({"type": "string", "const": "accept-encoding"}),
        ),
    ];
    let component = |(name, description, schema): (&str, &str, Value)| {
        let mut header = json!({"description": description, "schema": schema});
        if name == "x-request-id" {
            header["required"] = json!(true);
        }
        (header_component(name), header)
    };
    Value::Object(all.into_iter().map(component).collect())
}

/// A header's component, such as `RequestId` for `x-request-id`.
fn header_component(name: &str) -> String {
    let name = name.strip_prefix("x-").unwrap_or(name);
    let capitalized =
        |word: &str| word.chars().take(1).map(|first| first.to_ascii_uppercase()).chain(word.chars().skip(1)).collect();
    name.split('-').map(capitalized).collect::<Vec<String>>().concat()
}

pub(super) fn header_reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{}", header_component(name))})
}
