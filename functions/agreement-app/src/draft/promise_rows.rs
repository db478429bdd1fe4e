use pages::shelves::Tab;
use pages::urls::{agreement_url, promise_url};
use shared::domain::agreement::promise::{Promise, PromiseKind};
use shared::domain::agreement::{Agreement, Stage, StageAction};
use shared::domain::contact::Contact;
use shared::domain::ids::{AgreementId, PromiseId};
use shared::text;

pub(super) struct PromiseRow {
    pub id: PromiseId,
    pub url: String,
    pub name: String,
    pub text: String,
    pub up: Option<usize>,
    pub down: Option<usize>,
}

pub(super) fn promise_rows(agreement: &Agreement, contacts: &[Contact]) -> Vec<PromiseRow> {
    let last = agreement.promises.len().saturating_sub(1);
    let row = |(n, promise): (usize, &Promise)| PromiseRow {
        id: promise.id,
        url: promise_url(agreement.id(), promise.id),
        name: promise.name.as_str().to_owned(),
        text: format!(
            "{}, {}",
            text::promise_parties(&promise.parties, agreement, contacts),
            text::promise_terms(&promise.terms)
        ),
        up: n.checked_sub(1),
        down: (n < last).then_some(n + 1),
    };
    agreement.promises.iter().enumerate().map(row).collect()
}

pub(super) fn in_force_text(agreement: &Agreement) -> String {
    let projects = |stage: &&Stage| stage.actions.contains(&StageAction::ProjectObligations);
    match agreement.stages.iter().find(projects) {
        Some(stage) => format!("They are in force once the step “{}” is done.", stage.name.as_str()),
        None => "They are in force once the agreement is completed, or with the step whose settings say so.".to_owned(),
    }
}

pub(super) fn kinds(agreement: AgreementId, current: PromiseKind) -> Vec<Tab> {
    let tab = |kind| Tab {
        url: new_promise_url(agreement, kind),
        name: kind_label(kind),
        count: None,
        is_current: kind == current,
    };
    PromiseKind::ALL.into_iter().map(tab).collect()
}

pub(super) fn new_promise_url(agreement: AgreementId, kind: PromiseKind) -> String {
    format!("{}/promises?kind={}", agreement_url(agreement), kind.as_str())
}

pub(super) fn kind_label(kind: PromiseKind) -> &'static str {
    match kind {
        PromiseKind::Scheduled => "Scheduled",
        PromiseKind::Triggered => "Triggered",
        PromiseKind::Standing => "Standing",
    }
}
