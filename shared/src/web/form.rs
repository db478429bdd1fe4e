//! Forms: what a person filled in, and what it takes to change anything with it.

use std::sync::atomic::Ordering;

use axum::body::Body;
use futures_util::StreamExt;
use http::header::{self, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use crate::domain::call_context::CallContext;
use crate::domain::member::{Admin, Member};
use crate::error::Error;
use crate::limits;
use crate::platform::app_state::AppState;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::change::Changes;
use crate::store::members;
use crate::web::request::Request;
use crate::web::session::SignedIn;
use crate::wire::fields::{BODY, FieldCode, FieldErrors};

/// The field of a form that says that it is this browser's.
pub const FORM_TOKEN: &str = "form_token";

/// What a form was filled in with, each field once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form(Vec<(String, String)>);

impl Form {
    fn parse(bytes: &[u8]) -> Result<Self, FieldErrors> {
        let fields: Vec<(String, String)> =
            form_urlencoded::parse(bytes).into_owned().take(limits::FORM_FIELDS_MAX + 1).collect();
        if fields.len() > limits::FORM_FIELDS_MAX {
            let message = format!("must have at most {} fields", limits::FORM_FIELDS_MAX);
            return Err(FieldErrors::one("body", FieldCode::LimitReached, message));
        }
        for (at, (name, _)) in fields.iter().enumerate() {
            if fields[..at].iter().any(|(earlier, _)| earlier == name) {
                return Err(FieldErrors::one(name.as_str(), FieldCode::InvalidValue, "may be given only once"));
            }
        }
        Ok(Self(fields))
    }

    /// Receives a form, but no more of it than one can have.
    pub(super) async fn receive(headers: &HeaderMap, body: Body) -> Result<Self, FieldErrors> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let message = "must be application/x-www-form-urlencoded";
            return Err(FieldErrors::one("header.content-type", FieldCode::InvalidValue, message));
        }
        let mut chunks = body.into_data_stream();
        let mut received = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let broke_off = |_| FieldErrors::one(BODY, FieldCode::InvalidFormat, "broke off before its end");
            received.extend_from_slice(&chunk.map_err(broke_off)?);
            if received.len() > limits::FORM_BYTES_MAX {
                return Err(FieldErrors::one(BODY, FieldCode::TooLong, "is more than a form can have"));
            }
        }
        Self::parse(&received)
    }

    /// A field's value; empty when it was not sent.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }
}

/// As what a person sent a form: a member, or an admin. What it changes takes effect only while they are that.
pub trait Sender: Copy {
    /// The check of their record that the transaction makes.
    fn still_holds(self, call: &CallContext) -> Changes;

    /// Looks whether they are that as the member who they are now.
    ///
    /// # Errors
    /// What those are told who are not.
    fn check(self, now: &Member) -> Result<(), Error>;
}

impl Sender for &Member {
    fn still_holds(self, call: &CallContext) -> Changes {
        members::check_member(call, self.id())
    }

    fn check(self, _: &Member) -> Result<(), Error> {
        Ok(())
    }
}

impl Sender for Admin<'_> {
    fn still_holds(self, call: &CallContext) -> Changes {
        members::check_admin(call, self.member().id())
    }

    fn check(self, now: &Member) -> Result<(), Error> {
        if now.is_admin() { Ok(()) } else { Err(Error::AdminsOnly) }
    }
}

/// A form that a person sent from a page of their own session. Only this can change anything. Taking it as an admin's
/// ([`SubmittedForm::by_admin`]) uses it up, so that no change is begun with it as a member's.
#[derive(Debug)]
pub struct SubmittedForm<'a, By = &'a Member> {
    request: &'a Request,
    signed_in: &'a SignedIn,
    form: &'a Form,
    by: By,
}

impl<'a> SubmittedForm<'a> {
    pub(super) fn new(request: &'a Request, signed_in: &'a SignedIn, form: &'a Form) -> Self {
        Self { request, signed_in, form, by: signed_in.member() }
    }

    /// The form as an admin's: for acts that change the organization's settings.
    ///
    /// # Errors
    /// [`Error::AdminsOnly`] when a member sent it who is no admin.
    pub fn by_admin(self) -> Result<SubmittedForm<'a, Admin<'a>>, Error> {
        let Self { request, signed_in, form, by } = self;
        let by = by.as_admin().ok_or(Error::AdminsOnly)?;
        Ok(SubmittedForm { request, signed_in, form, by })
    }
}

impl<'a, By: Sender> SubmittedForm<'a, By> {
    /// Who sent it.
    #[must_use]
    pub fn by(&self) -> By {
        self.by
    }

    /// What forms of the session carry.
    #[must_use]
    pub fn form_token(&self) -> String {
        self.signed_in.form_token()
    }

    /// What all functions share.
    #[must_use]
    pub fn app(&self) -> &'a AppState {
        self.request.app()
    }

    /// What use cases work in.
    #[must_use]
    pub fn scope(&self) -> &'a Scope {
        self.signed_in.scope()
    }

    /// What it was filled in with.
    #[must_use]
    pub fn form(&self) -> &'a Form {
        self.form
    }

    pub(super) fn signed_in(&self) -> &'a SignedIn {
        self.signed_in
    }

    /// Decides and commits until no other call is in the way, and gives the output. The commit holds only while the
    /// person who sent the form is a member, or an admin, still. A plan that changes nothing leaves only the call's audit
    /// row.
    ///
    /// # Errors
    /// Those of the last attempt; [`Error::Unauthenticated`] when the member has been removed or signed out everywhere
    /// meanwhile, [`Error::AdminsOnly`] when it was an admin's form and they are none any more.
    pub async fn run<T, F>(&self, mut decide: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Plan<T>, Error>>,
    {
        retry_on_conflict(Budget::until(self.request.write_deadline()), || {
            let decided = decide();
            async {
                let ended = match decided.await {
                    Ok(plan) => self.commit(plan).await,
                    Err(error) => Err(error),
                };
                if matches!(ended, Err(Error::Conflict)) {
                    self.by.check(&self.signed_in.member_now().await?)?;
                }
                ended
            }
        })
        .await
    }

    async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let scope = self.scope();
        let (commit, shown, output) = plan.into_commit(scope);
        commit.with([self.by.still_holds(scope.call())]).done(StatusCode::SEE_OTHER, &shown).await?;
        self.request.is_recorded.store(true, Ordering::Relaxed);
        Ok(output)
    }
}

impl<By: Sender> Writer for SubmittedForm<'_, By> {
    fn scope(&self) -> &Scope {
        self.signed_in.scope()
    }
}

/// Whether what the browser says about where a form comes from, if it says so, is this very host.
pub(super) fn is_from_here(app: &AppState, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let site_fits = text(header::HeaderName::from_static("sec-fetch-site")).is_none_or(|site| site == "same-origin");
    let origin_fits = text(header::ORIGIN).is_none_or(|origin| is_here(app, headers, origin));
    site_fits && origin_fits
}

/// Whether an origin is this host, under any of its names: a person may have opened the local stack under another.
pub(super) fn is_here(app: &AppState, headers: &HeaderMap, origin: &str) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| !host.is_empty());
    let is_host = host.is_some_and(|host| origin.split_once("://").is_some_and(|(_, authority)| authority == host));
    origin == app.base_url.to_string() || is_host
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_there_once() {
        let form = Form::parse(b"note=a+b%0D%0Ac&decision=confirm").unwrap();
        assert_eq!((form.get("note"), form.get("decision"), form.get("x")), ("a b\r\nc", "confirm", ""));
        assert!(Form::parse(b"decision=confirm&decision=decline").is_err());
    }
}
