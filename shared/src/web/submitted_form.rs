//! A form that a person sent from a page of their own session: what it takes to change anything in the app.

use std::sync::atomic::Ordering;

use http::StatusCode;

use crate::domain::call_context::CallContext;
use crate::domain::member::{Admin, Member};
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::retry::{Budget, retry_on_conflict};
use crate::service::scope::{Plan, Scope, Writer};
use crate::store::change::Changes;
use crate::store::members;
use crate::web::form::Form;
use crate::web::request::Request;
use crate::web::session::SignedIn;

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

impl Request {
    /// The form, if a member sent it from a page of their own session.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`], [`Error::ForgedForm`], or what is wrong with it.
    pub fn submitted(&self) -> Result<SubmittedForm<'_>, Error> {
        let signed_in = self.signed_in()?;
        Ok(SubmittedForm::new(self, signed_in, self.form_of(signed_in.secret())?))
    }
}
