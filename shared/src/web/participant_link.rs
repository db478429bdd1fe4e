//! A participant's link in a browser: the cookies of the session that it opens, and where a request comes from.

use http::HeaderValue;

use crate::domain::participant::ParticipantLink;
use crate::domain::participant::receipt::Origin;
use crate::error::Error;
use crate::limits;
use crate::service::identity::participant_links::{LinkVisit, NotOpened, OpenedSession};
use crate::service::identity::participant_sessions::ParticipantSession;
use crate::web::client_address::ClientAddress;
use crate::web::participant_cookies;
use crate::web::request::Request;

impl Request {
    /// The visit of someone with a link.
    #[must_use]
    pub fn link_visit<'a>(&'a self, link: Option<&'a ParticipantLink>) -> LinkVisit<'a> {
        let participant = link.map(|link| link.part().participant_id);
        let own = participant.and_then(|id| participant_cookies::read(self.app(), self.headers(), id));
        LinkVisit { call: self.browser_call(), link, own, member: self.signed_in().ok() }
    }

    /// Goes on in the session that a link opened. The `Set-Cookie` headers to answer with, if it is new.
    pub fn enter(&mut self, opened: OpenedSession) -> Vec<HeaderValue> {
        let (participant, secret) = (opened.session.participant().id(), opened.session.secret());
        let set = || participant_cookies::set(self.app(), self.headers(), participant, secret);
        let cookies = if opened.is_new { set() } else { Vec::new() };
        self.set_participant_session(opened.session);
        cookies
    }

    /// Puts a refused try at a code on record in the link's organization.
    pub fn note_refused(&mut self, refused: &NotOpened) {
        if let NotOpened::NoCode(open) | NotOpened::WrongCode(open) = refused {
            let holder = open.scope_of_holder(&self.browser_call());
            self.set_link_holder(holder);
        }
    }

    /// The `Set-Cookie` header that ends the participant's session in the browser. [`Error::Unauthenticated`] without
    /// one.
    pub fn participant_cookie_removal(&self) -> Result<Option<HeaderValue>, Error> {
        Ok(participant_cookies::remove(self.app(), self.participant_session()?.participant().id()))
    }
}

/// Where a request comes from, for the receipt of an act.
#[must_use]
pub fn origin(request: &Request) -> Origin {
    Origin {
        address: request.client_address().map(|ClientAddress(address)| address.to_canonical().to_string()),
        browser: request.user_agent().map(|text| text.chars().take(limits::BROWSER_CHARS_MAX).collect()),
        in_person: request.participant_session().ok().and_then(ParticipantSession::in_person).cloned(),
    }
}
