//! A form submitted with its session's CSRF token, by a member or participant. Only such a form can change anything.

use std::sync::atomic::Ordering;

use http::StatusCode;
use tokio::time::Instant;
use tracing::Instrument;
use uuid::Uuid;

use crate::crypto;
use crate::domain::member::{Admin, Member};
use crate::domain::participant::ActingParticipant;
use crate::error::Error;
use crate::platform::app_state::AppState;
use crate::retry::retry_on_conflict;
use crate::service::call_record::CallRecord;
use crate::service::form_copies::{CopyUse, FormAnswer};
use crate::service::identity::participant_sessions::ParticipantSession;
use crate::service::identity::sessions::SignedIn;
use crate::service::scope::{Plan, Scope, Writer};
use crate::service::submitter::Submitter;
use crate::web::form::Form;
use crate::web::redirect::Redirect;
use crate::web::request::Request;

#[derive(Debug, Clone, Copy)]
enum FormSession<'a> {
    Member(&'a SignedIn),
    Participant(&'a ParticipantSession),
}

/// A form that a member or a participant submitted from a page of their own session.
///
/// [`SubmittedForm::require_admin`] consumes the form: no change of an admin's form runs with the member's role.
#[derive(Debug)]
pub struct SubmittedForm<'a, S = &'a Member> {
    request: &'a Request,
    session: FormSession<'a>,
    form: &'a Form,
    submitter: S,
}

impl<'a> SubmittedForm<'a> {
    pub(super) fn signed_in(&self) -> Result<&'a SignedIn, Error> {
        self.request.signed_in()
    }

    /// The form as an admin's, for changes of the organization's settings.
    pub fn require_admin(self) -> Result<SubmittedForm<'a, Admin<'a>>, Error> {
        let Self { request, session, form, submitter } = self;
        let submitter = submitter.as_admin().ok_or(Error::AdminsOnly)?;
        Ok(SubmittedForm { request, session, form, submitter })
    }
}

impl<'a> SubmittedForm<'a, &'a ActingParticipant> {
    /// The session of the participant who submitted the form. It never fails: such a form has one.
    pub fn participant_session(&self) -> Result<&'a ParticipantSession, Error> {
        self.request.participant_session()
    }
}

impl<'a, S: Submitter> SubmittedForm<'a, S> {
    /// The member, admin or participant who submitted the form.
    #[must_use]
    pub fn submitter(&self) -> S {
        self.submitter
    }

    /// The CSRF token of the session's forms.
    #[must_use]
    pub fn form_token(&self) -> String {
        match self.session {
            FormSession::Member(signed_in) => signed_in.form_token(),
            FormSession::Participant(session) => session.form_token(),
        }
    }

    /// The state that all functions share.
    #[must_use]
    pub fn app(&self) -> &'a AppState {
        self.request.app()
    }

    /// When the request must stop reading files, to answer in time.
    #[must_use]
    pub fn reading_deadline(&self) -> Instant {
        self.request.reading_deadline()
    }

    /// The scope of the request's use cases.
    #[must_use]
    pub fn scope(&self) -> &'a Scope {
        match self.session {
            FormSession::Member(signed_in) => signed_in.scope(),
            FormSession::Participant(session) => session.scope(),
        }
    }

    /// The form's fields.
    #[must_use]
    pub fn form(&self) -> &'a Form {
        self.form
    }

    fn copy_id(&self) -> Uuid {
        self.request.copy.map_or(self.request.unnamed_copy, |copy| copy.id)
    }

    /// The id of the record that the form makes: the same each time that this copy of the form is submitted.
    #[must_use]
    pub fn new_id<T: From<Uuid>>(&self) -> T {
        self.copy_id().into()
    }

    /// The id of a second record that the form makes.
    #[must_use]
    pub fn second_id<T: From<Uuid>>(&self) -> T {
        Uuid::from_u128(self.copy_id().as_u128() ^ 1).into()
    }

    /// The id of what a part of the form makes: the same each time that this copy is submitted with this content, and
    /// only then.
    #[must_use]
    pub fn id_of_part<T: From<Uuid>>(&self, part: &[&[u8]]) -> T {
        let id = self.copy_id();
        let content = self.request.copy.map_or([0; 32], |copy| copy.fingerprint);
        let hash = crypto::fingerprint(&[&[id.as_bytes().as_slice(), &content], part].concat());
        let mut bytes = id.into_bytes();
        // The time stays; the rest has the form of a `UUIDv7`.
        for (byte, hashed) in bytes.iter_mut().zip(hash).skip(6) {
            *byte = hashed;
        }
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        Uuid::from_bytes(bytes).into()
    }

    /// Sets the answer if a commit seems to fail but took effect. Call it before [`SubmittedForm::run`], at most once.
    pub fn redirect_if_committed(&self, redirect: &Redirect) {
        // A second redirect is ignored.
        let _ = self.request.redirect_if_committed.set(redirect.clone());
    }

    /// Runs a use case and commits its plan, again after each conflict until the write deadline, and returns the
    /// output. The commit checks that the person still has their role. An unchanging plan leaves only the audit row.
    pub async fn run<T, F>(&self, mut decide: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Plan<T>, Error>>,
    {
        retry_on_conflict(self.request.write_budget(), || {
            let plan = decide();
            async {
                let result = match plan.await {
                    Ok(plan) => Box::pin(self.commit(plan)).await,
                    Err(error) => Err(error),
                };
                if matches!(result, Err(Error::Conflict)) {
                    match self.session {
                        FormSession::Member(signed_in) => {
                            self.submitter.check_role(&signed_in.reload_member().await?)?;
                        }
                        FormSession::Participant(session) => session.check_session().await?,
                    }
                    self.request.check_copy().await?;
                }
                result
            }
        })
        .await
    }

    async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let scope = self.scope();
        let copy = self.request.copy.filter(|_| plan.is_act() && !self.request.has_used_copy());
        let answer = self.request.redirect_if_committed.get().map(FormAnswer::from);
        let using = copy.map(|copy| (copy, CopyUse::Act(answer.as_ref())));
        let plan = plan.under(self.submitter.role_check(scope.call()));
        let output = self.request.record().commit(scope, plan, using).await?;
        self.request.has_used_copy.fetch_or(copy.is_some(), Ordering::Relaxed);
        Ok(output)
    }
}

/// A part of a member's form that is a call of its own, with its own transaction, audit row and log line: a form that
/// acts on several records has one part for each. What was done before a part failed stays done. The first part that
/// changes something records the form's copy, so the others don't begin before it: they would write the same item.
#[derive(Debug)]
pub struct FormPart<'a> {
    form: &'a SubmittedForm<'a>,
    record: CallRecord,
    scope: Scope,
}

impl<'a> SubmittedForm<'a> {
    /// A part of the form that names these records. It never fails: a member submitted the form.
    pub fn part(&'a self, operation: &'static str, named: &[Uuid]) -> Result<FormPart<'a>, Error> {
        let signed_in = self.signed_in()?;
        let record = self.app().begin_call(operation);
        let named = named.iter().flat_map(Uuid::as_bytes).copied().collect();
        let scope = record.scope(signed_in.organization().id, signed_in.member().actor(), named);
        Ok(FormPart { form: self, record, scope })
    }
}

impl FormPart<'_> {
    /// The scope of the part's use case.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Like [`SubmittedForm::run`]. A plan that changes nothing leaves no trace, and neither does a part of a form whose
    /// copy another request used first: its attempts all ended. Any other failed part can't take effect later.
    pub async fn run<T, F>(&self, mut decide: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Plan<T>, Error>>,
    {
        let result = retry_on_conflict(self.form.request.write_budget(), || {
            let plan = decide();
            async {
                let result = match plan.await {
                    Ok(plan) => Box::pin(self.commit(plan)).await,
                    Err(error) => Err(error),
                };
                if matches!(result, Err(Error::Conflict)) {
                    self.form.signed_in()?.reload_member().await?;
                    self.form.request.check_copy_of_parts().await?;
                }
                result
            }
        })
        .instrument(self.record.span().clone())
        .await;
        if let Err(error) = &result
            && !matches!(error, Error::FormUsed)
        {
            let (status, code) = error.status();
            // The audit row keeps an attempt whose response was lost from taking effect after this.
            let audited = self.record.audit(Some(&self.scope), status, code.as_str(), &[]).await;
            self.record.log(Some(&self.scope), status, code.as_str(), error.cause());
            audited?;
        }
        result
    }

    async fn commit<T>(&self, plan: Plan<T>) -> Result<T, Error> {
        if plan.is_empty() {
            return Ok(plan.into_output());
        }
        let request = self.form.request;
        let copy = request.copy.filter(|_| !request.has_used_copy());
        let plan = plan.under(self.form.submitter.role_check(self.scope.call()));
        let using = copy.map(|copy| (copy, CopyUse::FirstPart));
        let output = self.record.commit(&self.scope, plan, using).await?;
        if copy.is_some() {
            request.note_parts();
        }
        self.record.log(Some(&self.scope), StatusCode::SEE_OTHER, "ok", None);
        Ok(output)
    }
}

impl Writer for FormPart<'_> {
    fn scope(&self) -> &Scope {
        FormPart::scope(self)
    }
}

impl<S: Submitter> Writer for SubmittedForm<'_, S> {
    fn scope(&self) -> &Scope {
        SubmittedForm::scope(self)
    }
}

impl Request {
    /// The form, if a member submitted it with their session's CSRF token.
    pub fn submitted_form(&self) -> Result<SubmittedForm<'_>, Error> {
        let signed_in = self.signed_in()?;
        let (form, submitter) = (self.form_of_session(signed_in.secret())?, signed_in.member());
        Ok(SubmittedForm { request: self, session: FormSession::Member(signed_in), form, submitter })
    }

    /// The form, if a participant submitted it with their session's CSRF token.
    pub fn participant_form(&self) -> Result<SubmittedForm<'_, &ActingParticipant>, Error> {
        let session = self.participant_session()?;
        let (form, submitter) = (self.form_of_session(session.secret())?, session.participant());
        Ok(SubmittedForm { request: self, session: FormSession::Participant(session), form, submitter })
    }
}
