//! Lets each copy of a form act once. Each form on a page has a copy's name, which only the session's secret can make;
//! the act's transaction records it (`store::form_copies`). So a form submitted twice acts once, and does each of its
//! parts once.

use std::sync::atomic::Ordering;

use crate::error::Error;
use crate::service::form_copies::{FormAnswer, UsedCopy};
use crate::service::identity::participant_sessions::ParticipantSession;
use crate::service::identity::sessions::SignedIn;
use crate::web::redirect::Redirect;
use crate::web::request::Request;

/// A form whose copy was used before.
#[derive(Debug, Clone)]
pub enum Repeat {
    /// With the same content, and the answer if known.
    Same(Option<FormAnswer>),
    /// With other content, which had no effect.
    Other,
}

impl From<&Redirect> for FormAnswer {
    fn from(Redirect { location, cookie }: &Redirect) -> Self {
        let cookies = cookie.iter().filter_map(|cookie| cookie.to_str().ok()).map(str::to_owned).collect();
        Self { location: location.clone(), cookies }
    }
}

impl Request {
    /// How the form's copy was used before the request began, if it was and the form is the session's own. None if parts
    /// of the form may be left to do.
    #[must_use]
    pub fn repeat(&self) -> Option<Repeat> {
        self.repeat_of(self.used_copy.as_ref()?)
    }

    /// Makes the form a copy of its own, whatever copy it names.
    pub fn begin_copy(&mut self) {
        self.copy = None;
    }

    /// Whether this request has used the form's copy.
    #[must_use]
    pub fn has_used_copy(&self) -> bool {
        self.has_used_copy.load(Ordering::Relaxed)
    }

    /// How the form's copy has been used by now: another request may have used it since this one began.
    pub async fn repeat_by_now(&self) -> Option<Repeat> {
        // If the copy's record can't be read, the request's own answer stands.
        let used = self.record().used_copy(self.copy?).await.ok()??;
        self.repeat_of(&used)
    }

    fn repeat_of(&self, used: &UsedCopy) -> Option<Repeat> {
        let copy = self.copy?;
        let secret = self.signed_in().map(SignedIn::secret);
        let secret = secret.or_else(|_| self.participant_session().map(ParticipantSession::secret)).ok()?;
        self.verified_form(secret).ok()?;
        if used.is_begun_by(copy) {
            return None;
        }
        let is_same = used.fingerprint == copy.fingerprint;
        Some(if is_same { Repeat::Same(used.answer.clone()) } else { Repeat::Other })
    }

    /// Notes that a part of the form has used its copy, in this request or before.
    pub(super) fn note_parts(&self) {
        self.acts_in_parts.fetch_or(true, Ordering::Relaxed);
        self.has_used_copy.fetch_or(true, Ordering::Relaxed);
    }

    /// Goes on beside another request that has begun the parts of the same form with the same content. Fails with
    /// [`Error::FormUsed`] if the copy was used otherwise.
    pub(super) async fn check_copy_of_parts(&self) -> Result<(), Error> {
        let Some(copy) = self.copy.filter(|_| !self.has_used_copy()) else { return Ok(()) };
        match self.record().used_copy(copy).await? {
            Some(used) if used.is_begun_by(copy) => self.note_parts(),
            Some(_) => return Err(Error::FormUsed),
            None => {}
        }
        Ok(())
    }

    /// Fails with [`Error::FormUsed`] if another request has used the form's copy.
    pub(super) async fn check_copy(&self) -> Result<(), Error> {
        let Some(copy) = self.copy else { return Ok(()) };
        let used = self.record().used_copy(copy).await?;
        if used.is_some() { Err(Error::FormUsed) } else { Ok(()) }
    }

    /// Keeps the answer for repeats, unless the commit did. If that fails, a repeat leads to the form's own page, or does
    /// its parts again, each of which finds itself done.
    pub async fn keep_answer(&self, answer: FormAnswer) {
        let is_known = || self.redirect_if_committed.get().is_some_and(|kept| FormAnswer::from(kept) == answer);
        let is_kept = !self.acts_in_parts.load(Ordering::Relaxed) && is_known();
        if let Some(copy) = self.copy.filter(|_| self.has_used_copy() && !is_kept) {
            self.record().keep_answer(copy, &answer).await;
        }
    }
}
