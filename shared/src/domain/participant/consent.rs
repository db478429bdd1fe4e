//! The consent to electronic records, which comes before any other act of a participant. It can be withdrawn, and given
//! again; each leaves a receipt with the version and the hash of the text.

use super::receipt::{Receipt, ReceiptAct};
use super::{ActingParticipant, ByParticipant, Occasion};
use crate::crypto;
use crate::domain::ids::ReceiptId;
use crate::domain::moment::Moment;

/// The version of [`TEXT`]. Whoever changes the text gives it a new one: a consent is to the text that was shown.
pub const VERSION: &str = "2026-11";

/// What a participant consents to, a paragraph each.
pub const TEXT: [&str; 5] = [
    "You agree to receive the documents of this agreement electronically, and to sign, approve and answer on these pages instead of on paper. What you do here has the same effect as on paper, as far as the law allows.",
    "To take part you need a current browser, and a program that opens PDF files if you want to keep copies. You can download every document before you sign it and afterwards.",
    "You don’t have to agree. Ask the organization that sent you the link for paper copies, or for another way to sign.",
    "You can withdraw your consent at any time on these pages. What you did before stays valid. You can’t act here again until you give your consent again.",
    "Countersign records the time, your network address and your browser with each thing you do, and keeps them as evidence with the agreement.",
];

/// The SHA-256 of the text, its paragraphs joined by line feeds, in hexadecimal.
#[must_use]
pub fn sha256() -> String {
    crypto::sha256_hex(TEXT.join("\n").as_bytes())
}

/// A consent that was given or withdrawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsentChange {
    /// What it leaves behind.
    pub receipt: ByParticipant<Receipt>,
    /// The receipt of the consent that is in force from now on, if there is one.
    pub in_force: Option<ReceiptId>,
}

/// Gives the consent to [`TEXT`]. None if it is in force already.
#[must_use]
pub fn give(by: &ActingParticipant, occasion: Occasion, moment: Moment) -> Option<ConsentChange> {
    let act = ReceiptAct::Consented { version: VERSION.to_owned(), sha256: sha256() };
    let in_force = Some(occasion.id);
    by.access().consent.is_none().then(|| ConsentChange { receipt: receipt(by, occasion, act, moment), in_force })
}

/// Withdraws the consent. None if none is in force.
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
