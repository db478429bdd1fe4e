//! Files that a participant uploads: checked, counted and stored.

use pages::tasks::find_gate;
use pages::uploads::{Checked, Kept, check_file, store_file};
use shared::domain::agreement::Lifecycle;
use shared::domain::agreement::gate::GateStatus;
use shared::domain::ids::GateId;
use shared::domain::participant::NotActed;
use shared::error::Error;
use shared::service::participants;
use shared::web::Request;
use shared::web::form::UploadedFile;
use shared::wire::fields::{FieldCode, FieldErrors};

use crate::{PartForm, load, needs_consent};

/// Why a condition takes no file now. Checked before a file is stored; recording it decides.
pub(crate) async fn not_asked(request: &Request, id: GateId) -> Result<Option<NotActed>, Error> {
    let (session, view) = load(request).await?;
    if needs_consent(session, &view) {
        return Ok(Some(NotActed::NoConsent));
    }
    let by = session.participant().id();
    let gate = find_gate(&view.agreement, id).map(|(_, gate)| gate);
    let gate = gate.filter(|gate| gate.rule.named(&view.agreement).contains(&by));
    Ok(match gate.map(|gate| gate.state.status()) {
        Some(GateStatus::Open) if view.agreement.has_accepted(id, by) => Some(NotActed::Done),
        Some(GateStatus::Open) if view.agreement.lifecycle() == Lifecycle::Active => None,
        Some(GateStatus::Declined) => Some(NotActed::Declined),
        Some(GateStatus::Cleared) => Some(NotActed::Done),
        _ => Some(NotActed::NotAsked),
    })
}

pub(crate) async fn keep_own_file(
    submitted: &PartForm<'_>,
    file: Option<&UploadedFile>,
    field: &str,
) -> Result<Kept, Error> {
    let counted = match check_file(file, field) {
        Ok(checked) => count_file(submitted, &checked, field).await?.map(|()| checked),
        Err(errors) => Err(errors),
    };
    store_file(submitted, counted).await
}

/// Counts a file to be stored, if the link has room. Files of drafts and refused forms count too.
pub(crate) async fn count_file(
    submitted: &PartForm<'_>,
    checked: &Checked<'_>,
    field: &str,
) -> Result<Result<(), FieldErrors>, Error> {
    let bytes = checked.file.content.len();
    if participants::count_file(submitted.scope(), submitted.submitter(), bytes).await? {
        return Ok(Ok(()));
    }
    let message = "can’t be stored: your link has used up its space, drafts included. Ask the organization that sent you the link for a new one";
    Ok(Err(FieldErrors::one(field, FieldCode::LimitReached, message)))
}
