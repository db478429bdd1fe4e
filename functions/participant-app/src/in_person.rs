//! The question whether the participant is present, asked first in a browser that has or had a member's session.

use pages::done::redirect_with_notice;
use pages::response::PageResponse;
use pages::urls::part_url;
use shared::domain::ids::ParticipantId;
use shared::error::Error;
use shared::service::identity::participant_sessions::act_in_person;
use shared::web::Request;
use shared::web::next::safe_next;

pub(crate) async fn confirm(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.participant_form()?;
    let participant: ParticipantId = submitted.submitter().id();
    let own = part_url(participant);
    let next = safe_next(submitted.form().get("next")).filter(|next| next.starts_with(&own)).unwrap_or(&own);
    let session = submitted.participant_session()?;
    let host = session.to_ask_about();
    let line = host.map(|host| format!("What you do here is marked “{host}”.")).unwrap_or_default();
    let redirect = redirect_with_notice(&submitted, next.to_owned(), "You act in person", &line).await;
    submitted.run(|| std::future::ready(act_in_person(session))).await?;
    Ok(redirect.into())
}
