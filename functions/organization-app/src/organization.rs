//! The organization's page: settings, own contacts, members and invitations. Other members see settings and members.

use std::collections::HashSet;

use askama::Template;
use http::StatusCode;
use pages::done::{notice_of_act, redirect_with_notice};
use pages::fields::{Choice, Fields};
use pages::form;
use pages::labels::{Badge, DisplayTime, actor_label, contact_kind_label, role_label};
use pages::layout::{Layout, Notice};
use pages::pager::{Pager, clamped_page, page_at};
use pages::response::PageResponse;
use pages::urls::{contact_url, members_query, members_url};
use shared::domain::contact::Contact;
use shared::domain::ids::{InvitationId, MemberId};
use shared::domain::invitation::Invitation;
use shared::domain::organization::{MemberRecord, Organization, OrganizationSettings, Role};
use shared::domain::time_zone::{SUGGESTED, TimeZone};
use shared::error::Error;
use shared::limits;
use shared::service::identity::{account, invitations, second_factors};
use shared::service::{members, organizations};
use shared::web::{Flash, Form, Request};
use shared::wire::fields::FieldErrors;
use shared::wire::page::{Filter, Offset, Page, Search};

use crate::own_account_rows::OwnAccounts;

const PATH: &str = pages::urls::ORGANIZATION;

/// The URL's query. Acts on members have the same, so that they lead back to where they began.
#[derive(Debug, Clone, Default, deserr::Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
struct Query {
    #[deserr(default)]
    search: Search<{ limits::SEARCH_CHARS_MAX }>,
    #[deserr(default)]
    offset: Offset,
    #[deserr(default)]
    invited: Filter<InvitationId>,
    #[deserr(default)]
    linked: Filter<MemberId>,
}

pub(crate) const OWN_PASSWORD: &str = "own_password";

pub(crate) async fn own_password_error(request: &Request, form: &Form) -> Result<Option<&'static str>, Error> {
    let typed = form.get(OWN_PASSWORD);
    if typed.is_empty() {
        return Ok(Some("is required"));
    }
    let is_right = account::knows_password(&request.browser_call(), request.signed_in()?, typed).await?;
    Ok((!is_right).then_some("is incorrect. After several tries, wait a few minutes"))
}

pub(crate) fn back_url(request: &Request) -> String {
    // The act is done, whatever else is in its URL.
    let Query { search, offset, .. } = request.read_query().unwrap_or_default();
    members_url(search.typed(), offset.get())
}

#[derive(Template)]
#[template(path = "organization.html")]
struct OrganizationPage {
    layout: Layout,
    notice: Option<Notice>,
    name: String,
    time_zone: String,
    asks_for_codes: bool,
    is_admin: bool,
    link: Option<LinkCard>,
    settings: Fields,
    zones: [&'static str; 32],
    own_contacts: Vec<OwnContactRow>,
    own_accounts: OwnAccounts,
    search: String,
    members: Vec<MemberRow>,
    pager: Option<Pager>,
    /// The query for members' forms, so that they lead back here.
    list_query: String,
    invitations: Vec<InvitationRow>,
    roles: Vec<Choice>,
    invite: Fields,
}

impl OrganizationPage {
    fn has_errors(&self) -> bool {
        self.settings.has_errors() || self.invite.has_errors() || self.own_accounts.fields.has_errors()
    }

    fn own_hint(&self) -> String {
        format!("Anyone who gets the link can act for {}, so confirm that it is you.", self.name)
    }

    fn has_search(&self) -> bool {
        self.pager.is_some() || !self.search.is_empty()
    }

    fn member_columns(&self) -> &'static [(&'static str, &'static str)] {
        if self.is_admin {
            &[("Member", ""), ("Second factor", ""), ("Since", ""), ("Role", "")]
        } else {
            &[("Member", ""), ("Since", ""), ("Role", "")]
        }
    }
}

struct LinkCard {
    title: String,
    label: &'static str,
    lifetime: &'static str,
    remedy: &'static str,
    /// The link. None if its keys can't be read now; the page can be reloaded.
    value: Option<String>,
}

/// The link named in the URL, if made in this session less than two minutes ago.
async fn link_card(
    request: &Request,
    query: &Query,
    pending: &[Invitation],
    members: &[MemberRecord],
) -> Result<Option<LinkCard>, Error> {
    let (invited, linked) = (query.invited.get(), query.linked.get());
    let invitation = invited.and_then(|id| pending.iter().find(|invitation| invitation.id == id));
    let member = linked.and_then(|id| members.iter().find(|member| member.id == id));
    let (flash, path, card) = if let Some(invitation) = invitation {
        let title = format!("Send this link to {}", invitation.email.as_str());
        let remedy = "Reload this page within two minutes of inviting; otherwise invite the address again.";
        let card = LinkCard { title, label: "Invitation link", lifetime: "7 days", remedy, value: None };
        (Flash::InvitationLink(invitation.id), pages::urls::INVITATIONS, card)
    } else if let Some(member) = member {
        let title = format!("Send this link to {}", member.name.as_str());
        let remedy = "Reload this page within two minutes of creating the link; otherwise create another.";
        let card = LinkCard { title, label: "Password link", lifetime: "24 hours", remedy, value: None };
        (Flash::PasswordLink(member.id), pages::urls::PASSWORD_LINKS, card)
    } else {
        return Ok(None);
    };
    match flash.read(request).await {
        Ok(None) => Ok(None),
        Ok(Some(secret)) => {
            let value = Some(format!("{}{path}{secret}", request.app().base_url));
            Ok(Some(LinkCard { value, ..card }))
        }
        Err(Error::Unavailable(_)) => Ok(Some(card)),
        Err(error) => Err(error),
    }
}

form! {
    /// The organization's settings.
    pub(crate) SETTINGS: SettingsForm {
        name: Field::line("name", "Organization name", 200)
            .called("The name")
            .autocomplete("organization")
            .required(),
        zone: Field::key("time_zone", "Time zone", 60)
            .called("The time zone")
            .required()
            .hint("A city, such as New York, or a zone, such as Europe/Berlin. Times are shown and typed in it, and dates are written as in that country."),
        codes: Field::tick("asks_for_codes", "Ask participants for a code")
            .hint("A participant’s link then opens their pages only with a code that a member reads out by phone."),
    }
}

form! {
    /// A member's new role, or another act on a member that the admin's own password confirms.
    pub(crate) MEMBER: MemberForm {
        role: Field::choice("role", "Role"),
        password: Field::password(OWN_PASSWORD, "Your password"),
    }
}

form! {
    /// Who is invited. The admin's own password confirms that it is them.
    pub(crate) INVITATION: InvitationForm {
        email: Field::email("email", "Email").called("The email address").required(),
        role: Field::choice("role", "Role")
            .called("The role")
            .required()
            .hint("Members decide. Admins also change settings and members."),
        password: Field::password(OWN_PASSWORD, "Your password"),
    }
}

fn zone_name(zone: &TimeZone) -> String {
    let called = zone.called();
    if called == zone.as_str() { called } else { format!("{} ({called})", zone.as_str()) }
}

fn settings_of(organization: &Organization) -> Fields {
    let (name, zone) = (organization.name.as_str(), organization.time_zone.as_str());
    let codes = organization.asks_for_codes.then_some((SETTINGS.codes, "on"));
    Fields::of([(SETTINGS.name, name), (SETTINGS.zone, zone)].into_iter().chain(codes))
}

/// The role with fewer rights comes first.
fn roles() -> Vec<Choice> {
    [Role::Member, Role::Admin].map(|role| Choice::new(role.as_str(), role_label(role))).into()
}

struct OwnContactRow {
    id: String,
    url: String,
    name: String,
    kind: &'static str,
}

impl OwnContactRow {
    fn new(contact: &Contact) -> Self {
        Self {
            id: contact.id.to_string(),
            url: contact_url(contact.id),
            name: contact.display_name.as_str().to_owned(),
            kind: contact_kind_label(contact.kind),
        }
    }
}

struct MemberRow {
    id: String,
    name: String,
    email: String,
    /// Whether they have a second factor; none for who may not know.
    has_second_factor: Option<bool>,
    role: Badge,
    own_role: &'static str,
    created_at: DisplayTime,
    is_you: bool,
}

impl MemberRow {
    /// A member's row. `with_factor` lists members with a second factor, for admins.
    fn new(member: &MemberRecord, you: MemberId, with_factor: Option<&HashSet<MemberId>>) -> Self {
        let class = if member.is_admin() { "blue" } else { "quiet" };
        Self {
            id: member.id.to_string(),
            name: member.name.as_str().to_owned(),
            email: member.email.as_str().to_owned(),
            has_second_factor: with_factor.map(|on| on.contains(&member.id)),
            role: Badge { text: role_label(member.role), class },
            own_role: member.role.as_str(),
            created_at: member.created_at.into(),
            is_you: member.id == you,
        }
    }
}

struct InvitationRow {
    id: String,
    email: String,
    role: &'static str,
    created_by: String,
    expires_at: DisplayTime,
}

impl InvitationRow {
    fn new(invitation: &Invitation) -> Self {
        Self {
            id: invitation.id.to_string(),
            email: invitation.email.as_str().to_owned(),
            role: role_label(invitation.role),
            created_by: invitation.created_by.as_ref().map_or_else(|| "The operator".to_owned(), actor_label),
            expires_at: invitation.expires_at.into(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Shown {
    pub notice: Option<Notice>,
    pub settings: Option<Fields>,
    pub invite: Option<Fields>,
    pub own_account: Fields,
}

impl From<Notice> for Shown {
    fn from(notice: Notice) -> Self {
        Self { notice: Some(notice), ..Self::default() }
    }
}

pub(crate) async fn organization_page(request: &Request, shown: Shown) -> Result<PageResponse, Error> {
    let signed_in = request.signed_in()?;
    let (scope, you) = (signed_in.scope(), signed_in.member().id());
    let organization = signed_in.organization();
    let all = members::list(scope).await?;
    let query: Query = request.read_query()?;
    let search = query.search.typed().to_owned();
    let found: Vec<&MemberRecord> = all.iter().filter(|member| members::is_found(member, &query.search)).collect();
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    let on_page = Page::slice(found, clamped_page(page_at(query.offset), total));
    // The role may have changed since the session was authenticated.
    let is_admin = all.iter().any(|member| member.id == you && member.is_admin());
    let (pending, own_contacts, with_factor) = if is_admin {
        let (pending, own_contacts, with_factor) = tokio::try_join!(
            invitations::pending(scope),
            organizations::own_contacts(scope, organization),
            second_factors::turned_on(scope, &on_page.data),
        )?;
        (pending, own_contacts, Some(with_factor))
    } else {
        (Vec::new(), Vec::new(), None)
    };
    let settings = shown.settings.unwrap_or_else(|| settings_of(organization));
    let page = OrganizationPage {
        layout: Layout::new(request),
        notice: shown.notice,
        name: organization.name.as_str().to_owned(),
        time_zone: zone_name(&organization.time_zone),
        asks_for_codes: organization.asks_for_codes,
        is_admin,
        link: if is_admin { link_card(request, &query, &pending, &all).await? } else { None },
        zones: SUGGESTED,
        settings,
        own_accounts: OwnAccounts::load(scope, organization, you, shown.own_account).await?,
        own_contacts: own_contacts.iter().map(OwnContactRow::new).collect(),
        members: on_page.data.iter().map(|member| MemberRow::new(member, you, with_factor.as_ref())).collect(),
        pager: Pager::new("members", on_page.pagination, |offset| members_url(&search, offset)),
        list_query: members_query(&search, on_page.pagination.offset),
        search,
        invitations: pending.iter().map(InvitationRow::new).collect(),
        roles: roles(),
        invite: shown.invite.unwrap_or_else(|| Fields::of([(INVITATION.role, Role::Member.as_str())])).within("invite"),
    };
    let members = on_page.data.iter().map(|member| member.id.uuid());
    let invitations = pending.iter().map(|invitation| invitation.id.uuid());
    Ok(PageResponse::render(&page)?.showing(members.chain(invitations)))
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    request.signed_in()?;
    let (notice, cookie) = notice_of_act(request).await;
    // The page also works when the flash's keys can't be read.
    let (name, removal) = Flash::RemovedMember.take(request).await.ok().flatten().unzip();
    let removed = name.map(|name| {
        let line = "They are signed out of this organization, and can’t sign in to it anymore.";
        let title = format!("{name} was removed");
        request.set_outcome(&title);
        Notice::good(title, line)
    });
    let shown = Shown { notice: removed.or(notice), ..Shown::default() };
    let page = organization_page(request, shown).await?;
    Ok(page.with_cookie(cookie).with_cookie(removal.flatten()))
}

pub(crate) async fn save(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?.require_admin()?;
    let settings: OrganizationSettings = match submitted.form().read_new(&[SETTINGS.name.name, SETTINGS.zone.name]) {
        Ok(settings) => settings,
        Err(errors) => return invalid(request, submitted.form(), errors).await,
    };
    let now_asks = submitted.form().has(SETTINGS.codes) && !request.signed_in()?.organization().asks_for_codes;
    let line = if now_asks {
        "Opening a participant’s link takes a code from now on. Those who already have their pages open stay there until their session ends.".to_owned()
    } else {
        format!(
            "Times are shown and typed in {} from now on, and dates like {}.",
            settings.time_zone.called(),
            settings.time_zone.dates().days()
        )
    };
    let redirect = redirect_with_notice(&submitted, PATH.to_owned(), "Organization saved", &line).await;
    let (scope, admin, asks) = (submitted.scope(), submitted.submitter(), submitted.form().has(SETTINGS.codes));
    match submitted.run(|| organizations::change_settings(scope, admin, &settings, asks)).await {
        Ok(()) => Ok(redirect.into()),
        Err(Error::Invalid(errors)) => invalid(request, submitted.form(), errors).await,
        Err(error) => Err(error),
    }
}

async fn invalid(request: &Request, form: &Form, errors: FieldErrors) -> Result<PageResponse, Error> {
    let settings = Some(Fields::submitted(form, errors));
    Ok(organization_page(request, Shown { settings, ..Shown::default() }).await?.unprocessable())
}

pub(crate) async fn refused_to_member(request: &Request, title: &str, line: &str) -> Result<PageResponse, Error> {
    let page = organization_page(request, Notice::bad(title, line).into()).await?;
    Ok(page.refused(StatusCode::FORBIDDEN, "forbidden"))
}
