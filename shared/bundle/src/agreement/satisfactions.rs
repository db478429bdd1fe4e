//! What people said about how something was done, in a bundle's receipts and obligations, and the files' paths.

use std::collections::BTreeMap;

use serde::Serialize;
use shared::domain::bundle::AgreementRecord;
use shared::domain::day::Day;
use shared::domain::file_type::FileType;
use shared::domain::ids::{OccurrenceId, TriggerId};
use shared::domain::movement::evidence::EvidenceFile;
use shared::domain::participant::receipt::ObligationAct;
use shared::domain::satisfaction::{Satisfaction, SatisfactionNote};

use super::paths;

pub(crate) type SatisfactionPaths = BTreeMap<String, String>;

pub(crate) fn satisfaction_paths(record: &AgreementRecord) -> SatisfactionPaths {
    let mut found = SatisfactionPaths::new();
    for EvidenceFile { name, content, file_type } in record.satisfaction_files() {
        if !found.contains_key(&content.sha256) {
            let ending = file_type.map_or("bin", FileType::extension);
            let path = paths::numbered("obligations", found.len() + 1, name.as_str(), ending);
            found.insert(content.sha256.clone(), path);
        }
    }
    found
}

#[derive(Serialize)]
pub(crate) struct HowLine {
    done_on: Day,
    note: Option<String>,
    file_name: Option<String>,
    file_sha256: Option<String>,
    size_bytes: Option<u64>,
    path: Option<String>,
}

impl HowLine {
    pub(crate) fn new(Satisfaction { done_on, note, file }: &Satisfaction, paths: &SatisfactionPaths) -> Self {
        let file = file.as_ref();
        Self {
            done_on: *done_on,
            note: note.as_ref().map(SatisfactionNote::as_str).map(str::to_owned),
            file_name: file.map(|file| file.name.as_str().to_owned()),
            file_sha256: file.map(|file| file.content.sha256.clone()),
            size_bytes: file.map(|file| file.content.size_bytes),
            path: file.and_then(|file| paths.get(&file.content.sha256).cloned()),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub(crate) enum ObligationActLine {
    DeclaredTrigger {
        trigger_id: TriggerId,
        happened_on: Day,
    },
    Satisfied {
        occurrence_id: OccurrenceId,
        #[serde(flatten)]
        how: HowLine,
    },
    Confirmed {
        occurrence_id: OccurrenceId,
    },
    Verified {
        occurrence_id: OccurrenceId,
    },
}

impl ObligationActLine {
    pub(crate) fn new(did: &ObligationAct, paths: &SatisfactionPaths) -> Self {
        match did {
            ObligationAct::DeclaredTrigger { trigger_id, happened_on } => {
                Self::DeclaredTrigger { trigger_id: *trigger_id, happened_on: *happened_on }
            }
            ObligationAct::Satisfied { occurrence_id, how } => {
                Self::Satisfied { occurrence_id: *occurrence_id, how: HowLine::new(how, paths) }
            }
            ObligationAct::Confirmed { occurrence_id } => Self::Confirmed { occurrence_id: *occurrence_id },
            ObligationAct::Verified { occurrence_id } => Self::Verified { occurrence_id: *occurrence_id },
        }
    }
}
