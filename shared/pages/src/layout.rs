//! The layout of all pages, and parts that several pages use.

use shared::web::{FormKeys, Request};
use uuid::Uuid;

use crate::assets::{SCRIPT, STYLE};
use crate::theme::Theme;
use crate::urls::{AUDIT, part_url};

/// The layout's data.
pub struct Layout {
    /// The URL of the stylesheet.
    pub style: String,
    /// The URL of the script.
    pub script: String,
    /// The navigation's current page, if any.
    pub section: &'static str,
    /// The id of the request, for support.
    pub request_id: String,
    /// The audit log, of the page's record if it has one.
    pub trail: String,
    /// The theme chosen in the browser, if any.
    pub theme: Option<Theme>,
    /// The result of the act that led here, for the title.
    pub outcome: Option<String>,
    /// The signed-in member.
    pub member: Option<CurrentMember>,
    /// The participant whose page it is.
    pub participant: Option<CurrentParticipant>,
}

/// A page's participant.
pub struct CurrentParticipant {
    /// The name.
    pub name: String,
    /// The organization that invited them.
    pub organization: String,
    /// The path of their first page.
    pub path: String,
    /// The hidden fields of their forms.
    pub form_keys: FormKeys,
}

/// The signed-in member.
pub struct CurrentMember {
    /// The name.
    pub name: String,
    /// The organization.
    pub organization: String,
    /// The hidden fields of their forms.
    pub form_keys: FormKeys,
    /// Whether the member is an admin.
    pub is_admin: bool,
    /// Whether the account has other organizations to switch to.
    pub has_more_organizations: bool,
}

impl Layout {
    /// The layout of the requested page.
    pub fn new(request: &Request) -> Self {
        let member = request.signed_in().ok().map(|signed_in| CurrentMember {
            name: signed_in.member().name().as_str().to_owned(),
            organization: signed_in.organization().name.as_str().to_owned(),
            form_keys: FormKeys::new(signed_in.secret()),
            is_admin: signed_in.member().is_admin(),
            has_more_organizations: signed_in.has_more_organizations(),
        });
        let path = request.uri().path();
        Self {
            style: STYLE.url(),
            script: SCRIPT.url(),
            section: section_of(path),
            request_id: request.request_id().to_string(),
            trail: trail_of(path),
            theme: Theme::of(request.headers()),
            outcome: request.outcome().map(str::to_owned),
            member,
            participant: None,
        }
    }

    /// For a page that its link opens, with or without a session.
    pub fn signed_out(request: &Request) -> Self {
        Self { member: None, ..Self::new(request) }
    }

    /// For a participant's page.
    pub fn of_participant(request: &Request) -> Self {
        let participant = request.participant_session().ok().map(|session| CurrentParticipant {
            name: session.participant().name().as_str().to_owned(),
            organization: session.organization().name.as_str().to_owned(),
            path: part_url(session.participant().id()),
            form_keys: FormKeys::new(session.secret()),
        });
        Self { participant, ..Self::signed_out(request) }
    }

    /// Whether the browser has chosen this theme.
    #[must_use]
    pub fn has_theme(&self, name: &str) -> bool {
        self.theme.is_some_and(|theme| theme.as_str() == name)
    }

    /// The hidden fields that each form of the page begins with, as markup.
    pub fn form_fields(&self) -> String {
        let of_participant = self.participant.as_ref().map(|participant| &participant.form_keys);
        let keys = self.member.as_ref().map(|member| &member.form_keys).or(of_participant);
        keys.map(FormKeys::fields).unwrap_or_default()
    }
}

fn section_of(path: &str) -> &'static str {
    match path.trim_end_matches('/').strip_prefix("/app").map(|rest| rest.split('/').nth(1).unwrap_or_default()) {
        Some("") => "home",
        Some("account") => "account",
        Some("agreements") => "agreements",
        Some("audit") => "audit",
        Some("contacts" | "imports") => "contacts",
        Some("developers") => "developers",
        Some("funding" | "papers") => "funding",
        Some("money") => "money",
        Some("obligations") => "obligations",
        Some("organization") => "organization",
        Some("proposals") => "proposals",
        Some("trusts") => "trusts",
        Some("workspaces") => "workspaces",
        _ => "",
    }
}

/// The audit log of the record in the path, or the whole log without one.
fn trail_of(path: &str) -> String {
    let record = path.split('/').find_map(|part| part.parse::<Uuid>().ok());
    record.map_or_else(|| AUDIT.to_owned(), |id| format!("{AUDIT}?object={id}"))
}

/// A message on a page.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The CSS class of its color: `bad`, `warn`, `good`, or `plain` for mere claims.
    pub class: &'static str,
    /// The title.
    pub title: String,
    /// Details, one paragraph each.
    pub lines: Vec<String>,
    /// Links to what the lines ask for.
    pub links: Vec<Link>,
    /// The section that shows it: where the member acted. Empty for the top of the page.
    pub section: String,
    /// Whether it gets the focus, as the result of an act. A failed form focuses the wrong field instead.
    pub takes_focus: bool,
}

impl Notice {
    /// After a failure.
    pub fn bad(title: impl Into<String>, line: impl Into<String>) -> Self {
        Self::new("bad", title.into(), [line.into()])
    }

    /// Something to look at.
    pub fn warn(title: impl Into<String>, line: impl Into<String>) -> Self {
        Self::new("warn", title.into(), [line.into()])
    }

    /// After an act.
    pub fn good(title: impl Into<String>, line: impl Into<String>) -> Self {
        Self::new("good", title.into(), [line.into()])
    }

    /// After a claim or a pending decision: no success, so never green.
    pub fn plain(title: impl Into<String>, line: impl Into<String>) -> Self {
        Self::new("plain", title.into(), [line.into()])
    }

    /// Gives the notice the focus, where no wrong field takes it.
    #[must_use]
    pub fn focused(self) -> Self {
        Self { takes_focus: true, ..self }
    }

    /// Drops empty lines.
    pub fn new(class: &'static str, title: String, lines: impl IntoIterator<Item = String>) -> Self {
        let lines = lines.into_iter().filter(|line| !line.is_empty()).collect();
        Self { class, title, lines, links: Vec::new(), section: String::new(), takes_focus: class != "bad" }
    }
}

/// Whether this section shows the notice; the empty section is the page's top. `sections` are those with notices.
#[must_use]
pub fn shows_notice(notice: Option<&Notice>, sections: &[&str], section: &str) -> bool {
    let own = notice.map_or("", |notice| notice.section.as_str());
    let own = if sections.contains(&own) { own } else { "" };
    own == section
}

/// A link to a page of the app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its address.
    pub url: String,
    /// What it says.
    pub text: String,
}

/// For a page whose search form keeps nothing but the search.
pub const NOTHING_KEPT: [(&str, &str); 0] = [];
