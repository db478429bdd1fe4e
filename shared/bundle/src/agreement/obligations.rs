//! The obligations in a bundle: what is owed, what people said about it, and the files.
//!
//! Decision: an obligation has the occurrences with claims or confirmations. `agreement.json` implies the rest.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use serde::Serialize;
use shared::domain::actor::Actor;
use shared::domain::agreement::promise::PromiseKind;
use shared::domain::bundle::AgreementRecord;
use shared::domain::ids::{ObligationId, OccurrenceId, ParticipantId};
use shared::domain::obligation::{Obligation, ObligationState, Occurrence, OccurrenceState, Word};
use shared::domain::participant::session::InPerson;
use shared::domain::time::Timestamp;

use super::ExportError;
use super::files::{Files, file};
use super::lines::lines;
use super::satisfactions::{HowLine, SatisfactionPaths};

/// The bundle's files about obligations, by path. Fails if a file is missing from `files`.
pub(crate) fn contents(
    record: &AgreementRecord,
    paths: &SatisfactionPaths,
    files: &Files,
) -> Result<BTreeMap<String, Bytes>, ExportError> {
    let mut contents = BTreeMap::new();
    let of = |obligation| ObligationLine::new(obligation, record.as_of(), paths);
    contents.insert("obligations.jsonl".to_owned(), lines(record.obligations.iter().map(of))?.into());
    for found in record.satisfaction_files() {
        if let Some(path) = paths.get(&found.content.sha256) {
            contents.insert(path.clone(), file(files, &found.content)?);
        }
    }
    Ok(contents)
}

#[derive(Serialize)]
struct ObligationLine<'a> {
    obligation_id: ObligationId,
    name: &'a str,
    kind: PromiseKind,
    state: ObligationState,
    promisor_participant_ids: &'a BTreeSet<ParticipantId>,
    promisee_participant_ids: &'a BTreeSet<ParticipantId>,
    occurrences: Vec<OccurrenceLine>,
}

impl<'a> ObligationLine<'a> {
    fn new(obligation: &'a Obligation, as_of: Timestamp, paths: &SatisfactionPaths) -> Self {
        let said = |found: &Occurrence| found.satisfied.is_some() || found.confirmed.is_some();
        let occurrences = obligation.occurrences(as_of).into_iter().filter(said);
        Self {
            obligation_id: obligation.id(),
            name: obligation.name().as_str(),
            kind: obligation.kind(),
            state: obligation.state(),
            promisor_participant_ids: obligation.parties().promisors(),
            promisee_participant_ids: obligation.parties().promisees(),
            occurrences: occurrences.map(|found| OccurrenceLine::new(found, paths)).collect(),
        }
    }
}

#[derive(Serialize)]
struct OccurrenceLine {
    id: OccurrenceId,
    sequence: u32,
    due_at: Timestamp,
    state: OccurrenceState,
    satisfied_at: Option<Timestamp>,
    satisfied_by: Option<Actor>,
    satisfied_in_person: Option<InPerson>,
    #[serde(flatten)]
    how: Option<HowLine>,
    confirmed_at: Option<Timestamp>,
    confirmed_by: Option<Actor>,
    confirmed_in_person: Option<InPerson>,
}

impl OccurrenceLine {
    fn new(found: Occurrence, paths: &SatisfactionPaths) -> Self {
        let Occurrence { id, sequence, due_at, state, satisfied, how, confirmed, .. } = found;
        let how = how.as_ref().map(|how| HowLine::new(how, paths));
        let host = |word: &Option<Word>| word.as_ref().and_then(|word| word.in_person.clone());
        let (satisfied_in_person, confirmed_in_person) = (host(&satisfied), host(&confirmed));
        let (satisfied_at, satisfied_by) = satisfied.map(|word| (word.at, word.by)).unzip();
        let (confirmed_at, confirmed_by) = confirmed.map(|word| (word.at, word.by)).unzip();
        Self {
            id,
            sequence,
            due_at,
            state,
            satisfied_at,
            satisfied_by,
            satisfied_in_person,
            how,
            confirmed_at,
            confirmed_by,
            confirmed_in_person,
        }
    }
}
