use crate::domain::funding::proof::Proof;
use crate::domain::funding::{CloseReason, Fact, FundingItem, FundingStatus, Phase, Verb, WaitingOn};

/// The next step for an item, as a sentence.
#[must_use]
pub fn next_step_of_item(item: &FundingItem) -> String {
    let next = next_step(item);
    match item.hold() {
        Some(hold) => format!("On hold: waiting for {}. {next}", waited_for(hold.waiting_on)),
        None => next,
    }
}

fn next_step(item: &FundingItem) -> String {
    match item.phase() {
        Phase::Unsorted => "Decide what is to be done with it.".to_owned(),
        Phase::Gathering => {
            let missing: Vec<String> = item.missing_facts().into_iter().map(missing).collect();
            format!("Add what is missing: {}.", missing.join(", "))
        }
        Phase::Ready if item.verb() == Some(Verb::LeaveOut) => {
            "It stays out of the trust. A member closes it as unfunded.".to_owned()
        }
        Phase::Ready if item.hold().is_some() => "Then draft its agreement.".to_owned(),
        Phase::Papered if item.hold().is_some() => "Then publish its agreement.".to_owned(),
        Phase::Ready => "Nothing is missing. Draft its agreement.".to_owned(),
        Phase::Papered => "Its agreement is drafted. A member publishes it.".to_owned(),
        Phase::InProgress | Phase::Claimed if item.proofs().iter().any(Proof::is_undecided) => {
            "Proof was filed. It waits for a member to accept or reject it.".to_owned()
        }
        Phase::InProgress => "Its agreement is published. It waits for proof from the receiving side.".to_owned(),
        Phase::Claimed => "The owner says that it is done. It waits for proof from the receiving side.".to_owned(),
        Phase::Done => done(item).to_owned(),
    }
}

fn done(item: &FundingItem) -> &'static str {
    match (item.funding_status(), item.close_reason()) {
        (FundingStatus::Funded, _) => "Funded: the receiving side confirmed it.",
        (_, Some(CloseReason::LeftOut)) => "Closed: it stays out of the trust.",
        (_, Some(CloseReason::Sold)) => "Closed: it was sold.",
        (_, Some(CloseReason::Duplicate)) => "Closed: another item is the same asset.",
        (_, Some(CloseReason::Refused)) => "Closed: the transfer was refused.",
        (_, Some(CloseReason::AlreadyInTrust)) => "Closed: it was in the trust before.",
        (_, None) => "Closed.",
    }
}

fn missing(name: &str) -> String {
    match name {
        "trust_id" => "the trust".to_owned(),
        "owner_contact_ids" => "the owner".to_owned(),
        fact => Fact::parse(fact).map_or_else(|| fact.to_owned(), |fact| lower_first(fact.label())),
    }
}

/// A label within a sentence. Abbreviations keep their case.
fn lower_first(label: &str) -> String {
    let mut letters = label.chars();
    match (letters.next(), label.chars().nth(1)) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => label.to_owned(),
    }
}

fn waited_for(waiting_on: WaitingOn) -> &'static str {
    match waiting_on {
        WaitingOn::Settlor => "the settlor",
        WaitingOn::Trustee => "the trustee",
        WaitingOn::Institution => "the institution",
        WaitingOn::Recorder => "the recorder",
        WaitingOn::Counsel => "counsel",
        WaitingOn::Beneficiary => "a beneficiary",
        WaitingOn::ThirdParty => "someone else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::funding::AssetKind;
    use crate::domain::funding::fixtures::{item, ready_item, trust};

    #[test]
    fn a_sentence_names_what_is_missing_as_people_call_it() {
        let trust = trust();
        let vehicle = item(&trust, AssetKind::Vehicle);
        assert_eq!(next_step_of_item(&vehicle), "Decide what is to be done with it.");
        let changes = serde_json::json!({"verb": "retitle", "trust_id": trust.id, "detail": {"state": "Ohio"}});
        let sorted = vehicle.sort(crate::wire::input::read(changes).unwrap(), vehicle.updated_at()).unwrap();
        assert_eq!(next_step_of_item(&sorted), "Add what is missing: the owner, make, model and year, VIN.");
        let ready = ready_item(&trust, Verb::Assign);
        assert_eq!(next_step_of_item(&ready), "Nothing is missing. Draft its agreement.");
        let parking = crate::wire::input::read(serde_json::json!({"waiting_on": "counsel"})).unwrap();
        let waiting = ready.park(parking, crate::domain::actor::Actor::system(), ready.updated_at()).unwrap();
        assert_eq!(next_step_of_item(&waiting), "On hold: waiting for counsel. Then draft its agreement.");
        let left_out = ready_item(&trust, Verb::LeaveOut);
        assert_eq!(next_step_of_item(&left_out), "It stays out of the trust. A member closes it as unfunded.");
    }
}
