//! The app as a person uses it: a browser with cookies and forms, signed-in members, and a ready draft.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;

use http::HeaderMap;
use ops::{NewMember, Role};
use serde_json::{Value, json};
use shared::domain::actor::Actor;
use shared::domain::agreement::gate::{Countdown, Gate, GateRule, GateState};
use shared::domain::agreement::{
    Agreement, AgreementKind, AgreementName, Document, DocumentContent, DocumentState, Label, NewAgreement,
    Participant, ParticipantRole, SignatureBlock, Stage, StageAction, StageState,
};
use shared::domain::ids::{ContactId, DocumentId, GateId, MemberId, ParticipantId, SignatureBlockId, StageId};
use shared::domain::time::Timestamp;
use shared::store::agreements;
use shared::wire::input::OrDefault;

use crate::org::Org;

/// A member who can sign in.
#[derive(Debug, Clone)]
pub struct Person {
    /// Their id in the organization.
    pub id: MemberId,
    /// For signing in.
    pub email: String,
    /// The password.
    pub password: String,
}

impl Org {
    /// A new member.
    pub async fn member(&self, name: &str) -> Person {
        let email = format!("m-{}@members.example", uuid::Uuid::now_v7().simple());
        let password = "correct horse battery".to_owned();
        let new = NewMember { name, email: &email, password: &password, role: Role::Member };
        let id = ops::create_member(&self.stack().table().store(), self.id, new).await.expect("a member");
        Person { id, email, password }
    }

    /// A draft with steps, documents and two participants, after `change`; it lacks only activation.
    pub async fn ready_draft(&self, name: &str, change: impl FnOnce(&mut Agreement)) -> Agreement {
        let workspace = self.workspace("Harbor Street").await;
        let mut people = Vec::new();
        for name in ["Ada Okafor", "Northwind Robotics, Inc."] {
            let contact = json!({"display_name": name, "kind": "person", "email": "ada@okafor.example"});
            people.push(self.post("/api/v1/contacts", &contact).send().await.ok(201));
        }
        let id = |value: &Value| value["id"].as_str().expect("an id").parse::<uuid::Uuid>().expect("a uuid");
        let new = NewAgreement {
            workspace_id: id(&workspace).into(),
            name: AgreementName::parse(name).expect("a name"),
            kind: OrDefault(AgreementKind::General),
        };
        let mut draft = Agreement::draft(new, Actor::system(), Timestamp::now());
        let counterpart = [ParticipantRole::Investor, ParticipantRole::Issuer];
        draft.participants =
            people.iter().zip(counterpart).map(|(person, role)| signer(id(person).into(), role)).collect();
        let blocks: Vec<SignatureBlock> = draft
            .participants
            .iter()
            .map(|participant| SignatureBlock {
                id: SignatureBlockId::new(),
                participant_id: participant.id,
                label: label("Signature"),
            })
            .collect();
        let document = Document {
            id: DocumentId::new(),
            name: label("Purchase agreement"),
            content: Some(DocumentContent { sha256: "5f".repeat(32), size_bytes: 184_320 }),
            state: DocumentState::Draft,
            blocks: blocks.clone(),
            is_for_reading: false,
        };
        draft.stages = vec![
            stage(
                "Approval",
                &[StageAction::OpenSigning],
                vec![GateRule::ParticipantApproval { participant_ids: [draft.participants[0].id].into() }],
            ),
            stage(
                "Signing",
                &[],
                vec![
                    GateRule::SignatureBlocks { block_ids: blocks.iter().map(|block| block.id).collect() },
                    GateRule::DocumentSigned { document_id: Some(document.id) },
                ],
            ),
            stage(
                "Closing",
                &[StageAction::ProjectObligations],
                vec![
                    GateRule::IdentityVerified { participant_ids: [draft.participants[1].id].into() },
                    GateRule::Countdown { until: Some(Countdown::AfterHours(48)) },
                ],
            ),
        ];
        draft.documents = vec![document];
        change(&mut draft);
        let kept = draft.as_draft().expect("a draft");
        self.load([agreements::create(self.system().call(), &kept).expect("an agreement as items")]).await;
        draft
    }

    /// Writes a changed draft, as an edit in the app does.
    pub async fn edit(&self, after: &Agreement) {
        let system = self.system();
        let before = system.store().agreement(after.id()).await.expect("the table answers").expect("a draft");
        let after = after.as_draft().expect("a draft");
        self.load([agreements::edit(system.call(), &before, &after).expect("an agreement as items")]).await;
    }

    /// Makes a proposal about an agreement.
    pub async fn propose(&self, action: &str, agreement: &Agreement) -> Value {
        let body = json!({"action": action, "agreement_id": agreement.id(), "note": "As agreed on Tuesday."});
        self.post("/api/v1/proposals", &body).send().await.ok(201)
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("a label")
}

fn signer(contact_id: ContactId, role: ParticipantRole) -> Participant {
    let roles = [ParticipantRole::Signer, role].into();
    Participant { id: ParticipantId::new(), contact_id, roles, contact_version: None }
}

fn stage(name: &str, actions: &[StageAction], rules: Vec<GateRule>) -> Stage {
    Stage {
        id: StageId::new(),
        name: label(name),
        state: StageState::Upcoming,
        actions: actions.iter().copied().collect(),
        gates: rules.into_iter().map(|rule| Gate { id: GateId::new(), rule, state: GateState::Locked }).collect(),
    }
}

/// A browser without JavaScript.
#[derive(Debug)]
pub struct Browser {
    http: reqwest::Client,
    base_url: String,
    cookies: Mutex<BTreeMap<String, String>>,
    seen: Option<Mutex<Vec<Seen>>>,
}

/// A response as a browser got it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The method, and the path with its query.
    pub request: String,
    /// The status.
    pub status: u16,
    /// Headers and body.
    pub text: String,
}

const BOUNDARY: &str = "----the-boundary";

fn parts(fields: &[(&str, &str)]) -> Vec<u8> {
    let part = |(name, value): &(&str, &str)| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    fields.iter().map(part).collect::<String>().into_bytes()
}

/// The body of a form.
#[must_use]
pub fn form(fields: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", crate::client::encoded(value));
    fields.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// Unescapes an attribute's value.
#[must_use]
pub fn unescaped(value: &str) -> String {
    value.replace("&#60;", "<").replace("&#62;", ">").replace("&#34;", "\"").replace("&#39;", "'").replace("&#38;", "&")
}

/// A page or a redirect.
#[derive(Debug, Clone)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The markup.
    pub body: String,
    /// The raw body, for files.
    pub bytes: Vec<u8>,
}

/// A copy of a form, as the pages of a session show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormCopy {
    /// Its name, the value of the field `copy`.
    pub name: String,
    /// Its id, which the record takes that the form makes.
    pub id: String,
}

impl FormCopy {
    /// The copy with a name.
    #[must_use]
    pub fn named(name: String) -> Self {
        let id = name.split('.').next().unwrap_or_default().to_owned();
        Self { name, id }
    }

    /// The id of a second record that the form makes.
    #[must_use]
    pub fn second_id(&self) -> String {
        let id: uuid::Uuid = self.id.parse().expect("an id");
        uuid::Uuid::from_u128(id.as_u128() ^ 1).to_string()
    }
}

impl Page {
    /// Its markup without the names of copies, which are others each time.
    #[must_use]
    pub fn without_copies(&self) -> String {
        let (head, forms) = self.body.split_once("name=\"copy\" value=\"").unwrap_or((&self.body, ""));
        let forms = forms.split("name=\"copy\" value=\"").filter_map(|form| form.split_once('"'));
        forms.fold(head.to_owned(), |body, (_, form)| body + form)
    }

    /// The copy of its first form.
    #[must_use]
    #[track_caller]
    pub fn copy(&self) -> FormCopy {
        FormCopy::named(self.hidden("copy"))
    }

    /// Where it leads.
    #[must_use]
    pub fn location(&self) -> &str {
        self.headers.get("location").map_or("", |value| value.to_str().expect("a location"))
    }

    /// The value of the first hidden field with this name.
    #[must_use]
    #[track_caller]
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("type=\"hidden\" name=\"{name}\" value=\"");
        let (_, rest) = self.body.split_once(&start).unwrap_or_else(|| panic!("no {name} in {}", self.body));
        unescaped(rest.split('"').next().unwrap_or_default())
    }

    /// The boxes to tick for warnings before publication.
    #[must_use]
    pub fn ticks(&self) -> Vec<String> {
        let names = self.body.split(" name=\"although.").skip(1).filter_map(|rest| rest.split('"').next());
        names.map(|kind| format!("although.{kind}")).collect()
    }

    /// Whether it contains a text.
    #[must_use]
    pub fn says(&self, text: &str) -> bool {
        self.body.contains(text)
    }

    /// Whether its only script is the app's own file.
    #[must_use]
    pub fn has_only_own_script(&self) -> bool {
        let mut scripts = self.body.split("<script").skip(1);
        scripts.next().is_some_and(|own| own.starts_with(" src=\"/app/app.js?v=")) && scripts.next().is_none()
    }

    /// Its title without the app's name.
    #[must_use]
    pub fn title(&self) -> &str {
        let title = self.body.split_once("<title>").and_then(|(_, rest)| rest.split_once(" · Countersign</title>"));
        title.map_or("", |(title, _)| title)
    }
}

impl Browser {
    /// A new browser without cookies.
    #[must_use]
    pub fn new(base_url: &str) -> Self {
        Self::at(base_url, IpAddr::from([127, 0, 0, 1]))
    }

    /// A new browser that connects from an address in `127.0.0.0/8`.
    #[must_use]
    pub fn at(base_url: &str, address: IpAddr) -> Self {
        let http = reqwest::Client::builder()
            .no_proxy()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .local_address(address)
            .build()
            .expect("an HTTP client");
        Self { http, base_url: base_url.to_owned(), cookies: Mutex::default(), seen: None }
    }

    /// Records all responses from now on.
    #[must_use]
    pub fn keeping(self) -> Self {
        Self { seen: Some(Mutex::default()), ..self }
    }

    /// The recorded responses, in order.
    pub fn seen(&self) -> Vec<Seen> {
        let seen = self.seen.as_ref().expect("a browser that keeps responses");
        seen.lock().expect("nobody has panicked with the responses").clone()
    }

    /// A browser that is signed in.
    pub async fn of(org: &Org, person: &Person) -> Self {
        let browser = Self::new(org.base_url());
        let page = browser.sign_in(&person.email, &person.password, "/app").await;
        assert_eq!((page.status, page.location()), (303, "/app"), "{}", page.body);
        browser
    }

    /// Opens the form and signs in.
    pub async fn sign_in(&self, email: &str, password: &str, next: &str) -> Page {
        let page = self.get(&format!("/app/sign-in?next={next}")).await;
        let token = page.hidden("form_token");
        let next = page.hidden("next");
        self.post("/app/sign-in", &[("form_token", &token), ("next", &next), ("email", email), ("password", password)])
            .await
    }

    /// The service's origin.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// A cookie's value.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.jar().get(name).cloned()
    }

    /// A new copy of a form for the session in a cookie, as one of its pages would show it.
    #[must_use]
    pub fn copy(&self, cookie: &str) -> FormCopy {
        let secret = self.cookie(cookie).as_deref().and_then(shared::crypto::CookieSecret::parse);
        FormCopy::named(secret.expect("a session").copy())
    }

    /// Sets a cookie.
    pub fn set_cookie(&self, name: &str, value: &str) {
        self.jar().insert(name.to_owned(), value.to_owned());
    }

    /// Expires flash cookies, as a browser does after two minutes.
    pub fn expire_flashes(&self) {
        self.jar().retain(|name, _| !name.starts_with("once-"));
    }

    fn jar(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.cookies.lock().expect("nobody has panicked with the cookies")
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Page {
        self.send(self.http.get(format!("{}{path}", self.base_url))).await
    }

    /// Sends a form.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_with(path, fields, &[]).await
    }

    /// Sends a form with headers.
    pub async fn post_with(&self, path: &str, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Page {
        let request = self.http.post(format!("{}{path}", self.base_url));
        let mut request = request.header("content-type", "application/x-www-form-urlencoded").body(form(fields));
        // Replaces a form's usual headers.
        let more = headers.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        request = request.headers(more.collect());
        self.send(request).await
    }

    /// Sends a form with a file: field, name and content.
    pub async fn upload(&self, path: &str, fields: &[(&str, &str)], file: (&str, &str, &[u8])) -> Page {
        let mut body = parts(fields);
        let (name, file_name, content) = file;
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file_name}\"\r\nContent-Type: application/pdf\r\n\r\n"
        );
        body.extend(head.into_bytes());
        body.extend(content);
        body.extend(format!("\r\n--{BOUNDARY}--\r\n").into_bytes());
        self.send_body(path, &format!("multipart/form-data; boundary={BOUNDARY}"), body).await
    }

    /// Sends a multipart form with an `Origin` header, as browsers do.
    pub async fn post_in_parts(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let body = [parts(fields), format!("--{BOUNDARY}--\r\n").into_bytes()].concat();
        let request = self.http.post(format!("{}{path}", self.base_url)).header("origin", self.base_url.as_str());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        self.send(request.header("content-type", content_type).body(body)).await
    }

    /// Sends a body of any content type.
    pub async fn send_body(&self, path: &str, content_type: &str, body: Vec<u8>) -> Page {
        let request = self.http.post(format!("{}{path}", self.base_url));
        self.send(request.header("content-type", content_type).body(body)).await
    }

    /// Opens a page, sends its form with every warning ticked, and follows the redirect.
    pub async fn decide(&self, path: &str, decision: &str, note: &str) -> Page {
        let page = self.get(path).await;
        let (token, version) = (page.hidden("form_token"), page.hidden("version"));
        let mut fields =
            vec![("form_token", token.as_str()), ("version", &version), ("note", note), ("decision", decision)];
        let ticks = page.ticks();
        fields.extend(ticks.iter().map(|name| (name.as_str(), "on")));
        self.post(path, &fields).await
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Page {
        let cookies: Vec<String> = self.jar().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = if cookies.is_empty() { request } else { request.header("cookie", cookies.join("; ")) };
        let request = request.build().expect("a request");
        let asked = format!("{} {}", request.method(), request.url().as_str().trim_start_matches(&self.base_url));
        let response = self.http.execute(request).await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for line in headers.get_all("set-cookie") {
            let line = line.to_str().expect("a cookie");
            let (name, value) = line.split(';').next().and_then(|pair| pair.split_once('=')).expect("a cookie's pair");
            if value.is_empty() {
                self.jar().remove(name);
            } else {
                self.jar().insert(name.to_owned(), value.to_owned());
            }
        }
        // A file may not be UTF-8.
        let bytes = response.bytes().await.expect("a page").to_vec();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        assert!(uuid::Uuid::try_parse(headers["x-request-id"].to_str().expect("an id")).is_ok(), "{headers:?}");
        if let Some(seen) = &self.seen {
            let text = format!("{headers:?} {}", unescaped(&body));
            let seen = &mut seen.lock().expect("nobody has panicked with the responses");
            seen.push(Seen { request: asked, status, text });
        }
        Page { status, headers, body, bytes }
    }
}
