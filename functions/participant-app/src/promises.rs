//! A participant's promises, both ways, on the pages for consent, approval and signing, until they are in force.

use shared::domain::agreement::promise::{Promise, Side};
use shared::domain::ids::ParticipantId;
use shared::service::participants::ParticipantView;
use shared::text;

pub(super) struct PromiseRow {
    pub name: String,
    pub is_own: bool,
    pub parties: String,
    pub due: String,
}

/// The promises to which a participant is a party, in the agreement's order, their own first.
pub(super) fn promise_rows(view: &ParticipantView, by: ParticipantId) -> Vec<PromiseRow> {
    let agreement = &view.agreement;
    let row = |promise: &Promise| PromiseRow {
        name: promise.name.as_str().to_owned(),
        is_own: promise.parties.side(by) == Some(Side::Promisor),
        parties: text::promise_parties(&promise.parties, agreement, &view.contacts),
        due: text::promise_terms(&promise.terms),
    };
    let own = agreement.promises.iter().filter(|promise| promise.parties.side(by).is_some());
    let mut rows: Vec<PromiseRow> = own.map(row).collect();
    rows.sort_by_key(|row| !row.is_own);
    rows
}
