//! Turns a tool call into a request to its operation, and the response into a result.

use axum::body::Body;
use axum::response::Response;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::BodyExt;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use shared::api::entrance::Misread;
use shared::domain::audit::Via;
use shared::limits;
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::protocol::Revision;
use crate::tools::Tool;

pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency_key";
pub(crate) const IF_MATCH: &str = "if_match";
const HEADERS: [(&str, &str); 2] = [(IDEMPOTENCY_KEY, "idempotency-key"), (IF_MATCH, "if-match")];
/// The member that wraps lists, since results are objects.
pub(crate) const LIST: &str = "data";

const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The request for a call, with the caller's token. The operation reports wrong arguments. It is told separately of
/// errors that the request can't express: paths and headers are text, and `null` may pass where the schema forbids it.
pub(crate) fn request(
    tool: &Tool,
    mut arguments: Map<String, Value>,
    headers: &HeaderMap,
) -> Result<Request<Body>, http::Error> {
    let mut path = String::new();
    for segment in tool.path.split('/').skip(1) {
        path.push('/');
        match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => {
                // Paths contain only ids, and no other type has an id's text.
                let value = arguments.remove(name).map(text).filter(|value| !value.is_empty());
                // "-" is not an id; an empty segment would be another path.
                let value = value.unwrap_or_else(|| "-".to_owned());
                path.extend(utf8_percent_encode(&value, PLAIN));
            }
            None => path.push_str(segment),
        }
    }
    let mut misread = Misread(FieldErrors::default());
    remove_misfits(tool, &mut arguments, &mut misread.0);
    let mut request = Request::builder().method(&tool.method);
    for (argument, header) in HEADERS {
        // An argument unknown to the tool stays, and its operation refuses it.
        if !tool.takes(argument) {
            continue;
        }
        if let Some(value) = arguments.remove(argument) {
            // Bytes invalid in headers are refused like any malformed key.
            let value = HeaderValue::from_str(&text(value)).unwrap_or_else(|_| HeaderValue::from_static(""));
            request = request.header(HeaderName::from_static(header), value);
        }
    }
    for token in headers.get_all(AUTHORIZATION) {
        request = request.header(AUTHORIZATION, token);
    }
    let body = if tool.method == Method::GET {
        let query = query(tool, arguments);
        if !query.is_empty() {
            path = format!("{path}?{query}");
        }
        Body::empty()
    } else {
        request = request.header(CONTENT_TYPE, "application/json");
        Body::from(Value::Object(arguments).to_string())
    };
    request.uri(path).extension(Via::Mcp).extension(misread).body(body)
}

/// Removes what the operation would accept against the tool's schema: valid text of a wrong type, and `null`.
fn remove_misfits(tool: &Tool, arguments: &mut Map<String, Value>, misread: &mut FieldErrors) {
    let schema = &tool.shown["inputSchema"];
    arguments.retain(|name, value| {
        let Some(expected) = schema["properties"].get(name) else { return true };
        let header = HEADERS.iter().find(|(argument, _)| argument == name).map(|(_, header)| *header);
        let is_text = tool.method == Method::GET || header.is_some();
        let is_required = schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
        if fits(expected, value) || !(is_text || (value.is_null() && !is_required)) {
            return true;
        }
        let field = header.map_or_else(|| name.clone(), |header| format!("header.{header}"));
        let (code, message) = misfit(expected, value);
        misread.extend(FieldErrors::one(field, code, message));
        false
    });
}

fn fits(schema: &Value, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    let has_type = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    has_type && schema["enum"].as_array().is_none_or(|values| values.contains(value))
}

fn misfit(schema: &Value, value: &Value) -> (FieldCode, String) {
    if value.is_null() {
        return (FieldCode::InvalidType, "must not be null; leave it out instead".to_owned());
    }
    match (schema["type"].as_str().unwrap_or_default(), schema["enum"].as_array()) {
        ("string", Some(values)) if value.is_string() => {
            let known: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            (FieldCode::InvalidValue, format!("must be one of {}", known.join(", ")))
        }
        (kind @ "integer", _) => (FieldCode::InvalidType, format!("must be an {kind}")),
        (kind, _) => (FieldCode::InvalidType, format!("must be a {kind}")),
    }
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn query(tool: &Tool, mut arguments: Map<String, Value>) -> String {
    if tool.takes("limit") {
        arguments.entry("limit").or_insert_with(|| json!(limits::AGENT_PAGE_LIMIT_DEFAULT));
    }
    let encoded = |text: &str| utf8_percent_encode(text, PLAIN).to_string();
    let pairs = arguments.into_iter().map(|(name, value)| format!("{}={}", encoded(&name), encoded(&text(value))));
    pairs.collect::<Vec<_>>().join("&")
}

pub(crate) struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

const TOLD: [&str; 5] = ["x-request-id", "etag", "location", "ignored-fields", "idempotent-replayed"];

impl Answered {
    pub(crate) async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        // Bodies are in memory: collecting can't fail.
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        Self { status: parts.status, headers: parts.headers, body: body.into() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Its text repeats its structured content, unless large. Without structured content, a large result can't be told.
    pub(crate) fn result(&self, tool: &Tool, revision: Revision, is_brief: bool) -> Value {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let told = TOLD.iter().filter_map(|name| Some(((*name).to_owned(), json!(self.header(name)?))));
        let mut meta: Map<String, Value> = told.collect();
        meta.insert("status".to_owned(), json!(self.status.as_u16()));
        let meta = json!({"countersign/response": meta});
        if !self.status.is_success() {
            let content = [value.to_string(), advice(tool, self.status, &value)];
            return json!({"content": content.map(|text| json!({"type": "text", "text": text})), "isError": true, "_meta": meta});
        }
        let value = if value.is_array() { json!({LIST: value}) } else { value };
        let is_lost = is_brief && !revision.is_structured();
        let text = match (is_brief, is_lost) {
            (false, _) => value.to_string(),
            (true, false) => "The result is large: it is in structuredContent only.".to_owned(),
            (true, true) => {
                "The call was done, but its result is too large for this revision of the protocol. Next: ask \
                 for fewer rows with `limit`, or connect with the revision 2025-06-18 or a later one."
                    .to_owned()
            }
        };
        let content: Vec<Value> =
            [Some(text), self.note()].into_iter().flatten().map(|text| json!({"type": "text", "text": text})).collect();
        json!({"content": content, "structuredContent": value, "isError": is_lost, "_meta": meta})
    }

    fn note(&self) -> Option<String> {
        let etag = self
            .header(ETAG.as_str())
            .map(|tag| format!("etag: {tag}. To change this version only, send it as `if_match`."));
        let ignored = self.header("ignored-fields").map(|names| {
            format!("This existed already and came back unchanged. Not stored, because it has other values: {names}.")
        });
        let replayed = self.header("idempotent-replayed").map(|_| {
            "This `idempotency_key` was used before: this is the first result again, and nothing was done twice."
                .to_owned()
        });
        let all: Vec<String> = [etag, ignored, replayed].into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join(" "))
    }
}

/// What to do about an error, for an agent that sees only this answer.
fn advice(tool: &Tool, status: StatusCode, envelope: &Value) -> String {
    match status {
        StatusCode::FORBIDDEN => format!(
            "Next: `{}` writes, and this token has the scope `read`. Ask the human for a token with the scope \
             `read_write` (in the app: Developers, Access tokens). Tools that read go on working.",
            tool.name
        ),
        StatusCode::TOO_MANY_REQUESTS => {
            "Next: wait a second, then send the same call again. Send fewer calls at once.".to_owned()
        }
        StatusCode::NOT_FOUND => {
            "Next: check the id. Nothing in this organization has it; look it up with the `list_` tool of its kind."
                .to_owned()
        }
        StatusCode::CONFLICT if tool.method == Method::PATCH => {
            "Next: the record has changed since that `if_match`. Read it again, decide anew, and send its new etag."
                .to_owned()
        }
        StatusCode::CONFLICT => {
            "Next: that `idempotency_key` belongs to another request. Send a fresh one; nothing was done.".to_owned()
        }
        StatusCode::UNPROCESSABLE_ENTITY => {
            let errors = envelope["error"]["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
            // Errors past a limit are only counted, in one at `body` whose code says nothing about them.
            let codes =
                errors.iter().filter(|error| error["field"] != "body").filter_map(|error| error["code"].as_str());
            let mut texts: Vec<&str> = Vec::new();
            for text in codes.filter_map(FieldCode::parse).map(|code| about(code).unwrap_or(CORRECT)) {
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            let told = if texts.is_empty() { CORRECT.to_owned() } else { texts.join(" ") };
            format!("Next: nothing was changed. {told}")
        }
        _ if tool.method == Method::GET => {
            "Next: try again in a few seconds. If it goes on, tell the human the `request_id`.".to_owned()
        }
        _ if tool.method == Method::PATCH => {
            "Next: it may have been done. Read the record again, and repeat the change if it is missing. If it goes on, tell \
             the human the `request_id`."
                .to_owned()
        }
        _ => format!(
            "Next: it may have been done. With an `idempotency_key`, call again in a few seconds with the same key: \
             nothing is done twice. Without one, look first, with {}, and repeat the call only if it was not done. If it \
             goes on, tell the human the `request_id`.",
            where_to_look(tool.name)
        ),
    }
}

fn where_to_look(name: &str) -> &'static str {
    match name {
        "paper_funding_items" => "`list_funding_items` or `get_funding_item` (`agreement_id` of the items)",
        _ => "the `get_` or `list_` tool of its kind",
    }
}

const CORRECT: &str = "Correct what `errors` names and call again. `path.x` is the argument `x`, `header.idempotency-key` is \
     `idempotency_key`, `header.if-match` is `if_match`.";

const SET_UP: &str = "Steps, documents, payments and terms a person sets up at the agreement's `app_url` (`get_agreement`, \
     whose `publish_blockers` say the same, each with a link). Then propose again.";

/// The advice for a refusal. None if the request has to be corrected.
fn about(code: FieldCode) -> Option<&'static str> {
    Some(match code {
        FieldCode::Required
        | FieldCode::InvalidType
        | FieldCode::InvalidFormat
        | FieldCode::InvalidValue
        | FieldCode::TooShort
        | FieldCode::TooLong
        | FieldCode::OutOfRange
        | FieldCode::UnknownField
        | FieldCode::UnknownParameter
        | FieldCode::MalformedJson => return None,
        FieldCode::NotFound => "Check the id: look it up with the `list_` tool of its kind.",
        FieldCode::Taken => {
            "Another record has that `external_reference`: find it with the `list_` tool, or send another reference."
        }
        FieldCode::WrongWorkspace => {
            "Use records of one workspace: compare their `workspace_id` with the `get_` and `list_` tools. No record \
             moves to another workspace."
        }
        FieldCode::WrongState => {
            "No other argument helps while the record is in this state. Read it with its `get_` tool, and tell the human \
             what has happened to it: it was decided, papered, published or closed already."
        }
        FieldCode::LimitReached => {
            "A limit is reached, as `errors` says. Send fewer at once where it is about a list; otherwise no repeat \
             helps: tell the human what is full."
        }
        FieldCode::MovementInFlight => {
            "Money is on its way: `list_movements` of this agreement shows the payment. Try again once it has arrived or \
             was returned; a person sees to that in the app."
        }
        FieldCode::ProposalPending => {
            "Such a proposal waits already. Find it with `list_proposals` (`state`: `pending`, this `agreement_id`) and \
             give its `confirm_url` to the human."
        }
        FieldCode::VerbNotAllowed => {
            "The verb does not fit this asset. `errors` lists those that do: set one with `update_funding_item`. An asset \
             whose verb is `leave_out` is never papered; leave it out of the call."
        }
        FieldCode::MissingFacts => {
            "Read `missing_facts` with `get_funding_item`, and set them with `update_funding_item`. If the trust has no \
             trustee, name one with `create_trust` and the same `external_reference`, or ask the human. Then call again."
        }
        FieldCode::OnHold => {
            "Ask the human whether the hold may go. If so, clear it with `park_funding_item` and `waiting_on`: null, and \
             call again; or leave the item out."
        }
        FieldCode::SensitiveValue => {
            "Never send full account numbers, card numbers or keys: send the last four digits, or leave it out."
        }
        FieldCode::WorkspaceNotActivated
        | FieldCode::NoParticipants
        | FieldCode::SafePartiesMissing
        | FieldCode::ParticipantEmailMissing
        | FieldCode::NoStages
        | FieldCode::StageEmpty
        | FieldCode::GateIncomplete
        | FieldCode::GateParticipantMissing
        | FieldCode::DocumentMissing
        | FieldCode::PaymentIncomplete
        | FieldCode::PaymentPartiesMissing
        | FieldCode::SafeTermsIncomplete
        | FieldCode::ExpiryInPast
        | FieldCode::FundingItemChanged => about_blocker(code),
    })
}

/// The advice for a draft that can't be proposed or published yet.
fn about_blocker(code: FieldCode) -> &'static str {
    match code {
        FieldCode::WorkspaceNotActivated => {
            "The workspace is not activated: a person activates it in the app, at the workspace's `app_url`."
        }
        FieldCode::NoParticipants => "Add the participants with `add_agreement_participant`, then propose again.",
        FieldCode::SafePartiesMissing => {
            "Add the investor and the issuer with `add_agreement_participant`, then propose again."
        }
        FieldCode::ParticipantEmailMissing => {
            "Add a missing email address with `update_contact`: ask the human for it. Then propose again."
        }
        FieldCode::FundingItemChanged => {
            "An asset or its trust has changed since the documents were written. A person discards this draft in the app; \
             then paper the items again with `paper_funding_items`."
        }
        _ => SET_UP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::REVISIONS;

    fn advised(codes: &[(&str, FieldCode)]) -> String {
        let errors: Vec<Value> = codes.iter().map(|(field, code)| json!({"field": field, "code": code})).collect();
        let tool = Tool::find("create_proposal").unwrap();
        advice(tool, StatusCode::UNPROCESSABLE_ENTITY, &json!({"error": {"errors": errors}}))
    }

    #[test]
    fn there_is_advice_on_each_code_and_it_names_tools_that_there_are() {
        for code in FieldCode::ALL {
            // Agents correct malformed requests; every other refusal needs its own advice.
            assert_eq!(about(code).is_none(), FieldCode::OF_FORM.contains(&code), "{code}");
            let text = advised(&[("agreement_id", code)]);
            assert!(text.starts_with("Next: nothing was changed. ") && text.len() < 500, "{code}: {text}");
            assert_eq!(text.contains("Correct what `errors` names"), about(code).is_none(), "{code}: {text}");
            for word in text.split('`').skip(1).step_by(2).filter(|word| {
                ["get_", "list_", "create_", "update_", "add_", "park_", "paper_"]
                    .iter()
                    .any(|begin| word.len() > begin.len() && word.starts_with(begin))
            }) {
                assert!(Tool::find(word).is_some(), "{code}: {word}");
            }
        }
    }

    #[test]
    fn a_large_result_is_in_its_structured_content_only_where_there_is_one() {
        let answered = Answered { status: StatusCode::OK, headers: HeaderMap::new(), body: br#"{"data":[]}"#.to_vec() };
        let tool = Tool::find("list_contacts").unwrap();
        for revision in REVISIONS {
            let whole = answered.result(tool, revision, false);
            assert_eq!((&whole["content"][0]["text"], &whole["isError"]), (&json!(r#"{"data":[]}"#), &json!(false)));
            let brief = answered.result(tool, revision, true);
            let text = brief["content"][0]["text"].as_str().unwrap();
            assert_eq!(brief["isError"], !revision.is_structured(), "{brief}");
            assert_eq!(text.contains("structuredContent only"), revision.is_structured(), "{text}");
            assert_eq!(text.contains("fewer rows with `limit`"), !revision.is_structured(), "{text}");
        }
    }

    #[test]
    fn several_refusals_have_the_advice_on_each_once() {
        let text = advised(&[
            ("agreement_id", FieldCode::NoStages),
            ("agreement_id", FieldCode::DocumentMissing),
            ("agreement_id", FieldCode::ParticipantEmailMissing),
            ("note", FieldCode::TooLong),
            ("body", FieldCode::LimitReached),
        ]);
        assert_eq!(text.matches("a person sets up").count(), 1, "{text}");
        assert!(text.contains("`update_contact`") && text.contains("Correct what") && !text.contains("full"), "{text}");
    }
}
