//! Consent to electronic records, before all other acts. Giving and withdrawing it leave receipts with the text's hash.
//!
//! Decision: a text that was shown never leaves [`TEXTS`], because receipts name it by hash. Append a new one instead.

use super::receipt::{Receipt, ReceiptAct};
use super::{ActingParticipant, ByParticipant, Occasion};
use crate::crypto;
use crate::domain::ids::ReceiptId;
use crate::domain::moment::Moment;

/// The version of [`TEXT`].
pub const VERSION: &str = "2026-11";

/// What a participant currently consents to, by paragraph.
pub const TEXT: [&str; 5] = [
    "You agree to receive the documents of this agreement electronically, and to sign, approve and answer on these pages instead of on paper. What you do here has the same effect as on paper, as far as the law allows.",
    "To take part you need a current browser, and a program that opens PDF files if you want to keep copies. You can download every document before you sign it and afterwards.",
    "You don’t have to agree. Ask the organization that sent you the link for paper copies, or for another way to sign.",
    "You can withdraw your consent at any time on these pages. What you did before stays valid. You can’t act here again until you give your consent again.",
    "Countersign records the time, your network address and your browser with each thing you do, and keeps them as evidence with the agreement.",
];

/// All texts ever used, current one last.
pub const TEXTS: [ConsentText; 1] = [ConsentText { version: VERSION, paragraphs: &TEXT }];

/// A text that participants consent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentText {
    /// Its unique version.
    pub version: &'static str,
    /// Its paragraphs.
    pub paragraphs: &'static [&'static str],
}

impl ConsentText {
    /// The text as hashed: paragraphs joined by line feeds.
    #[must_use]
    pub fn text(&self) -> String {
        self.paragraphs.join("\n")
    }

    /// The SHA-256 of the text, in hexadecimal.
    #[must_use]
    pub fn sha256(&self) -> String {
        crypto::sha256_hex(self.text().as_bytes())
    }
}

/// The SHA-256 of [`TEXT`], joined by line feeds, in hexadecimal.
#[must_use]
pub fn sha256() -> String {
    ConsentText { version: VERSION, paragraphs: &TEXT }.sha256()
}

/// A consent given or withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentChange {
    /// The act's receipt.
    pub receipt: ByParticipant<Receipt>,
    /// The receipt of the consent now in force, if any.
    pub in_force: Option<ReceiptId>,
}

/// Consents to [`TEXT`]. None if already in force.
#[must_use]
pub fn give(by: &ActingParticipant, occasion: Occasion, moment: Moment) -> Option<ConsentChange> {
    let act = ReceiptAct::Consented { version: VERSION.to_owned(), sha256: sha256() };
    let in_force = Some(occasion.id);
    by.access().consent.is_none().then(|| ConsentChange { receipt: receipt(by, occasion, act, moment), in_force })
}

/// Withdraws the consent. None if not in force.
#[must_use]
pub fn withdraw(by: &ActingParticipant, occasion: Occasion, moment: Moment) -> Option<ConsentChange> {
    let consent = by.access().consent?;
    let act = ReceiptAct::Withdrew { consent };
    Some(ConsentChange { receipt: receipt(by, occasion, act, moment), in_force: None })
}

fn receipt(
    by: &ActingParticipant,
    Occasion { id, origin }: Occasion,
    act: ReceiptAct,
    moment: Moment,
) -> ByParticipant<Receipt> {
    let receipt = Receipt { id, participant_id: by.id(), name: by.name().clone(), at: moment.at(), origin, act };
    ByParticipant::new(receipt, by, moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receipts and bundles name texts by these hashes. Shown texts never change; add a line for a new one.
    #[test]
    fn a_text_that_was_shown_stays_as_it_was() {
        let known = [("2026-11", "b01d19b18517e0356956c9629c30f045cdfafdc6683c9d6c7be6d3314c02864b")];
        let found = TEXTS.map(|text| (text.version, text.sha256()));
        assert_eq!(found.each_ref().map(|(version, sha256)| (*version, sha256.as_str())), known);
    }

    #[test]
    fn the_last_text_is_the_one_that_is_shown() {
        let last = TEXTS.last().unwrap();
        assert_eq!((last.version, last.paragraphs), (VERSION, &TEXT[..]));
        assert_eq!(last.sha256(), sha256());
        let versions: std::collections::BTreeSet<_> = TEXTS.iter().map(|text| text.version).collect();
        assert_eq!(versions.len(), TEXTS.len(), "two texts of one version");
    }
}
