//! The page of a link that sets a new password. It requires no session.

use askama::Template;
use http::StatusCode;
use pages::fields::{Fields, form_secret};
use pages::form;
use pages::layout::{Layout, Link, Notice};
use pages::response::{MessagePage, PageResponse};
use shared::crypto::LinkSecret;
use shared::error::Error;
use shared::service::identity::password_links::{self, OpenPasswordLink, PasswordSet};
use shared::web::Request;
use shared::web::cookies::Cookie;

const PATH: &str = pages::urls::PASSWORD_LINKS;

form! {
    /// The new password.
    pub(crate) NEW_PASSWORD: NewPasswordForm {
        password: Field::new_password("password", "New password").called("The password"),
    }
}

#[derive(Template)]
#[template(path = "password_link.html")]
struct PasswordLinkPage {
    layout: Layout,
    form_token: String,
    notice: Option<Notice>,
    action: String,
    organization: String,
    email: String,
    fields: Fields,
}

pub(crate) async fn show(request: &mut Request) -> Result<PageResponse, Error> {
    password_link_page(request, None, Fields::default()).await
}

async fn password_link_page(request: &Request, notice: Option<Notice>, fields: Fields) -> Result<PageResponse, Error> {
    let Ok(secret) = request.path_id::<LinkSecret>("secret") else { return gone(request) };
    let opened = password_links::open(&request.browser_call(), &secret).await?;
    let Some(OpenPasswordLink { organization, email }) = opened else { return gone(request) };
    let form_secret = form_secret(request)?;
    let page = PasswordLinkPage {
        layout: Layout::signed_out(request),
        form_token: form_secret.form_token(),
        notice,
        action: format!("{PATH}{}", secret.reveal()),
        organization: organization.name.as_str().to_owned(),
        email: email.as_str().to_owned(),
        fields,
    };
    Ok(PageResponse::render(&page)?.with_cookie(Cookie::Form.set(request.app(), Some(&form_secret))))
}

fn gone(request: &Request) -> Result<PageResponse, Error> {
    let page = MessagePage {
        layout: Layout::signed_out(request),
        title: "This password link no longer works",
        text: "It may have been used, or have ended after 24 hours. If you have set your password, sign in with it. Otherwise, ask an admin of your organization for a new link.".into(),
        link: Link { url: "/app/sign-in".to_owned(), text: "Sign in".to_owned() },
        shows_request_id: false,
    };
    Ok(PageResponse::render(&page)?.refused(StatusCode::NOT_FOUND, "not_found"))
}

pub(crate) async fn set(request: &mut Request) -> Result<PageResponse, Error> {
    let Ok(secret) = request.path_id::<LinkSecret>("secret") else { return gone(request) };
    let password = match request.cookie(Cookie::Form).map(|secret| request.verified_form(&secret)) {
        Some(Ok(form)) => form.get(NEW_PASSWORD.password).to_owned(),
        Some(Err(Error::ForgedForm)) | None => {
            let line = "This form had expired, or your browser does not keep cookies. Nothing was changed.";
            let notice = Some(Notice::bad("Please try again", line));
            let page = password_link_page(request, notice, Fields::default()).await?;
            return Ok(page.refused(StatusCode::FORBIDDEN, "forbidden"));
        }
        Some(Err(error)) => return Err(error),
    };
    match password_links::set_password(&request.browser_call(), &secret, &password).await? {
        PasswordSet::Done => {
            // The browser's own session may have ended too.
            let location = "/app/sign-in?password=saved";
            Ok(PageResponse::see_other(location).with_cookie(Cookie::Session.set(request.app(), None)))
        }
        PasswordSet::Gone => gone(request),
        PasswordSet::Weak(weak) => {
            let fields = Fields::wrong_one(NEW_PASSWORD.password, &weak.message());
            let page = password_link_page(request, None, fields).await?;
            Ok(if page.is_refused() { page } else { page.unprocessable() })
        }
    }
}
