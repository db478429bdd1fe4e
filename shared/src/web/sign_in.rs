//! The cookies of a sign-in: of the session that begins, and of the step between password and code.

use http::HeaderValue;

use crate::crypto::CookieSecret;
use crate::error::Error;
use crate::service::identity::SecondStep;
use crate::service::identity::sessions::SignedIn;
use crate::service::identity::sign_in::NewLogin;
use crate::web::cookies::Cookie;
use crate::web::flash::Flash;
use crate::web::request::Request;

impl Request {
    /// Goes on as a person who has just signed in. The `Set-Cookie` headers to answer with.
    pub fn sign_in(&mut self, login: NewLogin) -> [Option<HeaderValue>; 4] {
        let device = Cookie::Device.set(self.app(), Some(&login.device));
        let session = self.switch_session(login.signed_in);
        [session, device, Cookie::Form.set(self.app(), None), Flash::SecondStep.removal(self)]
    }

    /// Goes on in another session. The `Set-Cookie` header to answer with.
    pub fn switch_session(&mut self, signed_in: SignedIn) -> Option<HeaderValue> {
        let cookie = Cookie::Session.set(self.app(), Some(signed_in.secret()));
        self.set_signed_in(signed_in);
        cookie
    }

    /// The `Set-Cookie` header that keeps a step for five minutes, sealed for this browser, if it has a form's cookie:
    /// a form without it is not accepted.
    pub async fn keep_second_step(&self, step: &SecondStep) -> Result<Option<HeaderValue>, Error> {
        let Some(form) = self.cookie(Cookie::Form) else { return Ok(None) };
        Flash::SecondStep.set_for(self.app(), &form.form_token(), &step.to_text()?, self.now()).await
    }

    /// The step that this browser has begun, unless it has expired.
    pub async fn second_step(&self) -> Result<Option<SecondStep>, Error> {
        let form_token = self.cookie(Cookie::Form).as_ref().map(CookieSecret::form_token);
        let Some(form_token) = form_token else { return Ok(None) };
        Ok(Flash::SecondStep.read_for(self, &form_token).await?.as_deref().and_then(SecondStep::from_text))
    }
}
