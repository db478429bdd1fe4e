//! The page of an invitation, on which the link's recipient becomes a member. It requires no session.

use askama::Template;
use http::StatusCode;
use pages::fields::{Fields, form_secret};
use pages::form;
use pages::form::Field;
use pages::labels::role_label;
use pages::layout::{Layout, Link, Notice};
use pages::response::{MessagePage, PageResponse};
use shared::crypto::LinkSecret;
use shared::domain::second_factor::TypedCode;
use shared::error::Error;
use shared::service::identity::invitations::{self, Acceptance, Accepted, Needs, OpenInvitation, Proof};
use shared::web::cookies::Cookie;
use shared::web::{Form, Request};

use crate::home;
use crate::sign_in_code::{NO_CODE, WRONG_CODE};
use crate::signed_in::signed_in;

const PATH: &str = pages::urls::INVITATIONS;

form! {
    /// Who joins, and the proof that it is them.
    pub(crate) JOIN: JoinForm {
        name: Field::line("name", "Your name", 200)
            .called("The name")
            .autocomplete("name")
            .hint("Records of what you decide show it.")
            .required(),
        new_password: Field::new_password("password", "New password").called("The password"),
        password: Field::password("password", "Password").called("The password"),
        code: Field::code("code", "Code").hint("From your authenticator app, or a recovery code."),
    }
}

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage {
    layout: Layout,
    form_token: String,
    notice: Option<Notice>,
    action: String,
    organization: String,
    email: String,
    role: &'static str,
    asks_name: bool,
    asks: Asks,
    fields: Fields,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    NewPassword,
    Password,
    Code,
}

#[derive(Default)]
struct Refused {
    notice: Option<Notice>,
    fields: Fields,
    asks: Option<Asks>,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    invitation_page(request, Refused::default()).await
}

/// All invalid links look the same, so that only a valid one reveals the organization.
async fn invitation_page(request: &Request, refused: Refused) -> Result<PageResponse, Error> {
    let Ok(secret) = request.path_id::<LinkSecret>("secret") else { return gone(request) };
    let opened = invitations::open(&request.browser_call(), &secret).await?;
    let Some(OpenInvitation { organization, email, role, needs }) = opened else { return gone(request) };
    let is_code_next = request.second_step().await?.is_some_and(|step| *step.email() == email);
    let asks = refused.asks.unwrap_or(match needs {
        Needs::NewAccount => Asks::NewPassword,
        _ if is_code_next => Asks::Code,
        _ => Asks::Password,
    });
    let form_secret = form_secret(request)?;
    let page = InvitationPage {
        layout: Layout::signed_out(request),
        form_token: form_secret.form_token(),
        notice: refused.notice,
        action: format!("{PATH}{}", secret.reveal()),
        organization: organization.name.as_str().to_owned(),
        email: email.as_str().to_owned(),
        role: role_label(role),
        asks_name: needs != Needs::Password,
        asks,
        fields: refused.fields,
    };
    Ok(PageResponse::render(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&form_secret))))
}

fn gone(request: &Request) -> Result<PageResponse, Error> {
    let page = MessagePage {
        layout: Layout::signed_out(request),
        title: "This invitation no longer works",
        text: "It may have been used, revoked, replaced by a newer one, or have ended after 7 days. If you have joined, sign in. Otherwise, ask an admin of the organization for a new link.".into(),
        link: Link { url: "/app/sign-in".to_owned(), text: "Sign in".to_owned() },
        shows_request_id: false,
    };
    Ok(PageResponse::render(&page)?.refused(StatusCode::NOT_FOUND, "not_found"))
}

pub(crate) async fn accept(request: &mut Request) -> Result<PageResponse, Error> {
    let Ok(secret) = request.path_id::<LinkSecret>("secret") else { return gone(request) };
    let form = match request.cookie(Cookie::Form).map(|secret| request.verified_form(&secret).cloned()) {
        Some(Ok(form)) => form,
        Some(Err(Error::ForgedForm)) | None => {
            let line = "This form had expired, or your browser does not keep cookies. Nothing was changed.";
            let notice = Some(Notice::bad("Please try again", line));
            let fields = typed_name(&request.unverified_form());
            let page = invitation_page(request, Refused { notice, fields, ..Refused::default() }).await?;
            return Ok(page.refused(StatusCode::FORBIDDEN, "forbidden"));
        }
        Some(Err(error)) => return Err(error),
    };
    let wrong = |field: Field<'_>, error: &str| Refused {
        fields: Fields::wrong_one(field, error).over(typed_name(&form)),
        ..Refused::default()
    };
    let typed = TypedCode::parse(form.get(JOIN.code));
    if form.has(JOIN.code) && typed.is_none() {
        let refused = Refused { asks: Some(Asks::Code), ..wrong(JOIN.code, NO_CODE) };
        return refused_page(request, refused).await;
    }
    let step = request.second_step().await?;
    let proof = match &typed {
        Some(code) => Proof::Code(code, step.as_ref()),
        None => Proof::Password(form.get(JOIN.password)),
    };
    let acceptance = Acceptance { name: form.get(JOIN.name), proof };
    let refused = match invitations::accept(&request.browser_call(), &secret, &acceptance).await? {
        Accepted::SignedIn(login) => return Ok(signed_in(request, home::JOINED.to_owned(), *login)),
        Accepted::Gone => return gone(request),
        Accepted::Name(error) => wrong(JOIN.name, &error),
        Accepted::Weak(weak) => wrong(JOIN.new_password, &weak.message()),
        Accepted::CodeIsNext(step) => {
            let cookie = request.keep_second_step(&step).await?;
            let refused = Refused { fields: typed_name(&form), asks: Some(Asks::Code), notice: None };
            let page = invitation_page(request, refused).await?;
            return Ok(page.with_cookie(cookie));
        }
        Accepted::WrongCode => Refused { asks: Some(Asks::Code), ..wrong(JOIN.code, WRONG_CODE) },
        Accepted::PasswordIsNext => {
            let line = "Your code was not entered within 5 minutes, or your account has changed since.";
            let notice = Some(Notice::warn("Enter your password again", line));
            Refused { fields: typed_name(&form), notice, asks: Some(Asks::Password) }
        }
        Accepted::WrongPassword => {
            wrong(JOIN.password, "is not that of your account. After several tries, wait a few minutes")
        }
    };
    refused_page(request, refused).await
}

fn typed_name(form: &Form) -> Fields {
    Fields::of([(JOIN.name, form.get(JOIN.name))])
}

async fn refused_page(request: &Request, refused: Refused) -> Result<PageResponse, Error> {
    let page = invitation_page(request, refused).await?;
    // The invitation may have ended since.
    Ok(if page.is_refused() { page } else { page.unprocessable() })
}
