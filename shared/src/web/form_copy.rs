//! One use of each copy of a form. A page shows each of its forms with a copy's name, which only the session's secret can
//! make; the act of the form records the copy in its own transaction (`store::form_copies`). So a form that is submitted
//! twice, by a second press or another tab, acts once, whatever it does.

use std::sync::atomic::Ordering;

use http::HeaderValue;

use crate::crypto::CookieSecret;
use crate::error::Error;
use crate::store::form_copies::{FormAnswer, FormCopy, UsedCopy};
use crate::web::form::{COPY, FORM_TOKEN, Form};
use crate::web::redirect::Redirect;
use crate::web::request::Request;

/// The hidden fields that every form of a session's pages begins with.
#[derive(Debug, Clone)]
pub struct FormKeys(CookieSecret);

impl FormKeys {
    pub(super) fn new(secret: &CookieSecret) -> Self {
        Self(secret.clone())
    }

    /// The markup of the fields, for one copy of a form: another one at each call.
    #[must_use]
    pub fn fields(&self) -> String {
        let field = |name, value: String| format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        field(FORM_TOKEN, self.0.form_token()) + &field(COPY, self.0.copy())
    }
}

/// A form whose copy was used before.
#[derive(Debug, Clone)]
pub enum Repeat {
    /// With the same content. It was answered with this redirect, if that is known.
    Same(Option<Redirect>),
    /// With other content, of which nothing took effect.
    Other,
}

impl From<&Redirect> for FormAnswer {
    fn from(Redirect { location, cookie }: &Redirect) -> Self {
        let cookie = cookie.as_ref().and_then(|cookie| cookie.to_str().ok()).map(str::to_owned);
        Self { location: location.clone(), cookie }
    }
}

impl From<&FormAnswer> for Redirect {
    fn from(FormAnswer { location, cookie }: &FormAnswer) -> Self {
        let cookie = cookie.as_deref().and_then(|cookie| HeaderValue::from_str(cookie).ok());
        Self { location: location.clone(), cookie }
    }
}

/// The copy that a form names, if the secret has sealed the name.
pub(super) fn named(path: &str, form: &Form, secret: &CookieSecret) -> Option<FormCopy> {
    let id = secret.open_copy(form.get(COPY))?;
    let fields = form.typed().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    let files = form.files().flat_map(|(name, file)| [name.as_bytes(), file.name.as_bytes(), &*file.content]);
    let fingerprint = secret.fingerprint([path.as_bytes()].into_iter().chain(fields).chain(files));
    Some(FormCopy { id, fingerprint })
}

impl Request {
    /// How the form's copy was used before the request began, if it was and the form is the session's own.
    #[must_use]
    pub fn repeat(&self) -> Option<Repeat> {
        self.repeat_of(self.used_copy.as_ref()?)
    }

    /// Makes the form a copy of its own, whatever copy it names.
    pub fn begin_copy(&mut self) {
        self.copy = None;
    }

    /// How the form's copy has been used by now, if it was: another request may have used it since this one began.
    pub async fn repeat_by_now(&self) -> Option<Repeat> {
        // What the request was going to answer stands if the copy's record can't be read.
        let used = self.store().used_copy(self.copy?.id, self.now()).await.ok()??;
        self.repeat_of(&used)
    }

    fn repeat_of(&self, used: &UsedCopy) -> Option<Repeat> {
        let copy = self.copy?;
        let secret = self.signed_in().map(|signed_in| signed_in.secret());
        let secret = secret.or_else(|_| self.attending().map(|attending| attending.secret())).ok()?;
        self.verified_form(secret).ok()?;
        let is_same = used.fingerprint == copy.fingerprint;
        Some(if is_same { Repeat::Same(used.answer.as_ref().map(Redirect::from)) } else { Repeat::Other })
    }

    /// Checks that no other request has used the form's copy.
    ///
    /// # Errors
    /// [`Error::FormUsed`].
    pub(super) async fn check_copy(&self) -> Result<(), Error> {
        let Some(copy) = self.copy else { return Ok(()) };
        let used = self.store().used_copy(copy.id, self.now()).await?;
        if used.is_some() { Err(Error::FormUsed) } else { Ok(()) }
    }

    /// Keeps the answer to a form that was not known yet when its act was committed, for its repeats. A repeat leads to the
    /// form's own page if that fails.
    pub async fn keep_answer(&self, redirect: &Redirect) {
        if let Some(copy) = self.copy.filter(|_| self.has_used_copy.load(Ordering::Relaxed)) {
            let _ = self.store().keep_answer(copy.id, &redirect.into()).await;
        }
    }
}
