//! The sentences above the buttons with which participants bind themselves, kept by receipts and certificates.
//!
//! Decision: by approving or signing, people agree to what they promise in the agreement and what they are promised,
//! whatever the documents say. So the sentence names those promises; their days are next to it on the page.

use crate::domain::agreement::Agreement;
use crate::domain::agreement::promise::{Promise, Side};
use crate::domain::ids::ParticipantId;

/// A participant signs a document.
#[must_use]
pub fn signing(agreement: &Agreement, by: ParticipantId, name: &str, document: &str) -> String {
    let promises = promises(agreement, by);
    format!(
        "I have read “{document}”, and I sign it as {name}. My electronic signature binds me as my signature on paper would.{promises}"
    )
}

/// A person signs a document for a participant that is not a person.
#[must_use]
pub fn signing_for(agreement: &Agreement, by: ParticipantId, name: &str, document: &str) -> String {
    let promises = promises(agreement, by);
    format!(
        "I have read “{document}”, and I sign it for {name}, which I am authorized to bind. My electronic signature binds {name} as a signature on paper would.{promises}"
    )
}

/// A participant approves a step.
#[must_use]
pub fn approval(agreement: &Agreement, by: ParticipantId, name: &str, step: &str) -> String {
    let (promises, agreement) = (promises(agreement, by), agreement.name.as_str());
    format!("As {name}, I approve the step “{step}” of the agreement “{agreement}”.{promises}")
}

/// What the participant promises and is promised, as the end of a sentence. Empty without promises.
fn promises(agreement: &Agreement, by: ParticipantId) -> String {
    let names = |side: Side| {
        let own = agreement.promises.iter().filter(|promise| promise.parties.side(by) == Some(side));
        let names: Vec<String> = own.map(|Promise { name, .. }| format!("“{}”", name.as_str())).collect();
        names.join(", ")
    };
    match (names(Side::Promisor), names(Side::Promisee)) {
        (made, received) if made.is_empty() && received.is_empty() => String::new(),
        (made, received) if received.is_empty() => format!(" In this agreement I promise: {made}."),
        (made, received) if made.is_empty() => format!(" In this agreement I am promised: {received}."),
        (made, received) => format!(" In this agreement I promise: {made}. I am promised: {received}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::fixtures::{Deal, noon, promise};

    #[test]
    fn whoever_binds_themselves_names_what_they_promise_and_are_promised() {
        let draft = Deal::complete().draft;
        let [ada, ben, eve] = [0, 1, 2].map(|n: usize| draft.participants[n].id);
        let plain = approval(&draft, ben, "Ben", "Closing");
        assert_eq!(plain, format!("As Ben, I approve the step “Closing” of the agreement “{}”.", draft.name.as_str()));
        let made = promise(&draft, "Insurance");
        assert_eq!(made.parties.side(ben), Some(Side::Promisor));
        let draft = draft.put_promise(made, noon()).unwrap();
        let draft = draft.put_promise(promise(&draft, "Quarterly report"), noon()).unwrap();
        assert_eq!(
            approval(&draft, ben, "Ben", "Closing"),
            format!("{plain} In this agreement I promise: “Insurance”, “Quarterly report”.")
        );
        let signed = signing(&draft, ada, "Ada", "Deed");
        assert!(signed.ends_with(" In this agreement I am promised: “Insurance”, “Quarterly report”."), "{signed}");
        assert!(signing(&draft, eve, "Eve", "Deed").ends_with("on paper would."), "who is no party of a promise");
    }
}
