//! Participants on their own pages, and the active agreements they take part in.

use shared::domain::agreement::Agreement;
use shared::domain::ids::{AgreementId, ParticipantId};

use crate::app::{Browser, Page, unescaped};
use crate::org::Org;
use crate::pdf::pdf;

/// An active agreement and the member who published it.
#[derive(Debug)]
pub struct Live {
    /// The organization.
    pub org: Org,
    /// The member's browser.
    pub member: Browser,
    /// As published.
    pub agreement: Agreement,
}

impl Live {
    /// Publishes the harness's draft, after `change`. Its document has a file.
    pub async fn new(change: impl FnOnce(&mut Agreement)) -> Self {
        Self::with_file(&pdf("A document to sign", ""), change).await
    }

    /// A published agreement whose documents have this file.
    pub async fn with_file(file: &[u8], change: impl FnOnce(&mut Agreement)) -> Self {
        let org = Org::new().await;
        let member = Browser::of(&org, &org.member("Maren Holt").await).await;
        let draft = org.ready_draft("Lease", change).await;
        Self::publish_with(org, member, draft, file).await
    }

    /// Publishes a draft of the organization.
    pub async fn publish(org: Org, member: Browser, draft: Agreement) -> Self {
        Self::publish_with(org, member, draft, &pdf("A document to sign", "")).await
    }

    async fn publish_with(org: Org, member: Browser, draft: Agreement, file: &[u8]) -> Self {
        for document in &draft.documents {
            let path = format!("/app/agreements/{}/documents/{}", draft.id(), document.id);
            let page = member.get(&path).await;
            let (token, seen) = (page.hidden("form_token"), page.hidden("seen"));
            let fields = [("form_token", token.as_str()), ("seen", &seen), ("name", document.name.as_str())];
            let saved = member.upload(&path, &fields, ("file", "lease.pdf", file)).await;
            assert_eq!(saved.status, 303, "{}", saved.body);
        }
        let proposal = org.propose("publish_agreement", &draft).await;
        let review = format!("/app/proposals/{}", proposal["id"].as_str().expect("an id"));
        assert_eq!(member.decide(&review, "confirm", "").await.status, 303);
        Self { org, member, agreement: draft }
    }

    /// The first two participants, Ada Okafor and Northwind Robotics.
    #[must_use]
    pub fn ids(&self) -> [ParticipantId; 2] {
        [self.agreement.participants[0].id, self.agreement.participants[1].id]
    }

    /// The agreement's page.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/app/agreements/{}", self.agreement.id())
    }

    /// The agreement as the API shows it.
    pub async fn read(&self) -> serde_json::Value {
        self.org.get(format!("/api/v1/agreements/{}", self.agreement.id())).send().await.ok(200)
    }

    /// The path of a participant's link, which a member's page shows on demand.
    pub async fn link(&self, participant: ParticipantId) -> String {
        link_of(&self.member, self.agreement.id(), participant).await
    }

    /// Presses `Create code` on a participant's page and returns the code.
    pub async fn code(&self, participant: ParticipantId) -> String {
        let at = format!("{}/participants/{participant}/access", self.path());
        let page = self.member.get(&at).await;
        let fields = hidden(&page, &format!("{at}/code"));
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let done = self.member.post(&format!("{at}/code"), &fields).await;
        assert_eq!(done.status, 303, "{}", done.body);
        let page = self.member.get(done.location()).await;
        shown_code(&page).unwrap_or_else(|| panic!("no code in {}", page.body))
    }

    /// A participant who has opened the link and consented to electronic records.
    pub async fn attend(&self, participant: ParticipantId) -> Attendee {
        let attendee = self.open(participant).await;
        let agreed = attendee.submit("", "/consent", &[]).await;
        assert_eq!(agreed.status, 303, "{}", agreed.body);
        attendee
    }

    /// A participant who has opened the link.
    pub async fn open(&self, participant: ParticipantId) -> Attendee {
        let attendee = Attendee { browser: Browser::new(self.org.base_url()), participant };
        let opened = attendee.follow(&self.link(participant).await).await;
        assert_eq!((opened.status, opened.location()), (303, attendee.at("").as_str()), "{}", opened.body);
        attendee
    }
}

/// Presses `Show link` on a participant's page and returns the link's path.
pub async fn link_of(member: &Browser, agreement: AgreementId, participant: ParticipantId) -> String {
    let page = shown_link(member, agreement, participant).await;
    let (_, rest) = page.body.split_once("readonly value=\"").unwrap_or_else(|| panic!("no link in {}", page.body));
    let link = unescaped(rest.split('"').next().unwrap_or_default());
    link.strip_prefix(member.base_url()).expect("a link to this service").to_owned()
}

/// A participant's page after pressing `Show link`.
pub async fn shown_link(member: &Browser, agreement: AgreementId, participant: ParticipantId) -> Page {
    let at = format!("/app/agreements/{agreement}/participants/{participant}/access");
    let page = member.get(&at).await;
    let generation = page.hidden("generation");
    let fields = [("form_token", page.hidden("form_token")), ("generation", generation)];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let done = member.post(&format!("{at}/link"), &fields).await;
    assert_eq!(done.status, 303, "{}", done.body);
    member.get(done.location()).await
}

/// The code on a member's page.
#[must_use]
pub fn shown_code(page: &Page) -> Option<String> {
    let (_, rest) = page.body.split_once("<input id=\"code\"")?;
    let (_, rest) = rest.split_once("value=\"")?;
    rest.split('"').next().map(str::to_owned)
}

/// A participant with their browser.
#[derive(Debug)]
pub struct Attendee {
    /// The browser.
    pub browser: Browser,
    /// The participant.
    pub participant: ParticipantId,
}

impl Attendee {
    /// The path of one of their pages.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("/app/parts/{}{path}", self.participant)
    }

    /// Follows a link and presses its page's button.
    pub async fn follow(&self, link: &str) -> Page {
        let page = self.browser.get(link).await;
        if page.status != 200 {
            return page;
        }
        self.browser.post(link, &[("form_token", &page.hidden("form_token"))]).await
    }

    /// Opens one of their pages.
    pub async fn get(&self, path: &str) -> Page {
        self.browser.get(&self.at(path)).await
    }

    /// Opens a page and submits one of its forms.
    pub async fn submit(&self, page: &str, action: &str, typed: &[(&str, &str)]) -> Page {
        let page = self.get(page).await;
        self.send(&page, action, typed).await
    }

    /// Submits a form of a page.
    pub async fn send(&self, page: &Page, action: &str, typed: &[(&str, &str)]) -> Page {
        let fields = hidden(page, action);
        let is_typed = |name: &str| typed.iter().any(|(typed, _)| *typed == name);
        let own = fields.iter().filter(|(name, _)| !is_typed(name));
        let own = own.map(|(name, value)| (name.as_str(), value.as_str()));
        self.browser.post(&self.at(action), &own.chain(typed.iter().copied()).collect::<Vec<_>>()).await
    }

    /// Opens a page and uploads a file with its form.
    pub async fn upload(&self, page: &str, action: &str, file: (&str, &[u8])) -> Page {
        let page = self.get(page).await;
        let fields = hidden(&page, action);
        let own: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.browser.upload(&self.at(action), &own, ("file", file.0, file.1)).await
    }

    /// Signs a document with a typed name.
    pub async fn sign(&self, agreement: &Agreement, name: &str) -> Page {
        let document = format!("/documents/{}", agreement.documents[0].id);
        self.submit(&document, &format!("{document}/sign"), &[("signature", name)]).await
    }

    /// Approves the condition at these indexes.
    pub async fn approve(&self, agreement: &Agreement, stage: usize, gate: usize) -> Page {
        let condition = format!("/conditions/{}", agreement.stages[stage].gates[gate].id);
        self.submit(&condition, &format!("{condition}/approve"), &[]).await
    }
}

/// The hidden fields of the form with this action, or of the whole page.
#[must_use]
pub fn hidden(page: &Page, action: &str) -> Vec<(String, String)> {
    let form = page.body.split("<form ").find(|form| form.contains(&format!("{action}\"")));
    let form = form.map_or(page.body.as_str(), |form| form.split("</form>").next().unwrap_or_default());
    let values = form.split("type=\"hidden\"").skip(1).filter_map(|field| {
        let (_, rest) = field.split_once("name=\"")?;
        let (name, rest) = rest.split_once('"')?;
        let (_, rest) = rest.split_once("value=\"")?;
        Some((name.to_owned(), unescaped(rest.split('"').next()?)))
    });
    let mut fields: Vec<(String, String)> = Vec::new();
    for (name, value) in values {
        if !fields.iter().any(|(known, _)| *known == name) {
            fields.push((name, value));
        }
    }
    fields
}
