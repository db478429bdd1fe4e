//! The sources of evidence. The source determines side and assurance: nobody chooses a grade (contract, section 3).
//!
//! Decision: the two sides' sources are separate types. Only receiver-side sources can count as received.
//!
//! Decision: the source also tells typed facts from those read from a bank's file, which forms don't offer.

use serde::{Deserialize, Serialize};

use crate::wire::enums::text_enum;

text_enum! {
    /// How much evidence can be believed, the least first. The first two never reconcile.
    pub enum Assurance {
        /// The sender says so.
        Stated = "stated",
        /// A document of the sender's bank says so.
        SenderDocumented = "sender_documented",
        /// The recipient says so.
        RecipientConfirmed = "recipient_confirmed",
        /// A document of the receiving bank says so.
        BankDocumented = "bank_documented",
        /// Data from the receiving bank says so.
        BankVerified = "bank_verified",
    }
}

text_enum! {
    /// A source on the sender's side.
    pub enum SenderSource {
        /// The sender's word.
        SenderStatement = "sender_statement",
        /// A document from the sender's bank, such as a wire confirmation or an MT103.
        SenderBankDocument = "sender_bank_document",
    }
}

text_enum! {
    /// A receiver-side source, weakest first.
    pub enum ReceiverSource {
        /// The recipient's own confirmation.
        RecipientConfirmation = "recipient_confirmation",
        /// A notification from the receiving bank, as a document.
        BankNotification = "receiving_bank_notification",
        /// A statement from the receiving bank, as a document.
        BankStatement = "receiving_bank_statement",
        /// A parsed statement entry of an account other than the instructed one.
        EntryOfOtherAccount = "statement_entry_of_other_account",
        /// A parsed statement entry of an account that can't be attributed.
        EntryOfUnknownAccount = "statement_entry_of_unknown_account",
        /// A parsed entry of the receiving bank's statement file.
        StatementEntry = "receiving_bank_statement_entry",
        /// An entry of a feed of the receiving bank.
        BankFeed = "receiving_bank_feed",
    }
}

text_enum! {
    /// What a reconciliation rests on (contract, section 2).
    pub enum ConfirmationBasis {
        /// The recipient's own confirmation.
        RecipientConfirmation = "recipient_confirmation",
        /// A statement of the receiving bank.
        ReceivingBankStatement = "receiving_bank_statement",
        /// A notification of the receiving bank.
        ReceivingBankNotification = "receiving_bank_notification",
        /// A feed of the receiving bank.
        ReceivingBankFeed = "receiving_bank_feed",
    }
}

impl ReceiverSource {
    /// The assurance.
    #[must_use]
    pub fn assurance(self) -> Assurance {
        match self {
            Self::RecipientConfirmation => Assurance::RecipientConfirmed,
            Self::BankNotification | Self::BankStatement | Self::EntryOfOtherAccount | Self::EntryOfUnknownAccount => {
                Assurance::BankDocumented
            }
            Self::StatementEntry | Self::BankFeed => Assurance::BankVerified,
        }
    }

    /// Whether it is a statement entry.
    #[must_use]
    pub fn is_entry(self) -> bool {
        matches!(self, Self::EntryOfOtherAccount | Self::EntryOfUnknownAccount | Self::StatementEntry)
    }

    /// The basis of a reconciliation whose weakest evidence has this source.
    #[must_use]
    pub fn basis(self) -> ConfirmationBasis {
        match self {
            Self::RecipientConfirmation => ConfirmationBasis::RecipientConfirmation,
            Self::BankNotification => ConfirmationBasis::ReceivingBankNotification,
            Self::BankStatement | Self::EntryOfOtherAccount | Self::EntryOfUnknownAccount | Self::StatementEntry => {
                ConfirmationBasis::ReceivingBankStatement
            }
            Self::BankFeed => ConfirmationBasis::ReceivingBankFeed,
        }
    }
}

/// The source of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EvidenceSource {
    /// The sender's side.
    Sender(SenderSource),
    /// The receiving side.
    Receiver(ReceiverSource),
}

/// The side whose word evidence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The sender's.
    Sender,
    /// The receiver's.
    Receiver,
}

/// How facts of evidence were captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Typed by a person.
    Typed,
    /// Read from a bank's file or feed.
    Read,
}

impl EvidenceSource {
    /// The side.
    #[must_use]
    pub fn side(self) -> Side {
        match self {
            Self::Sender(_) => Side::Sender,
            Self::Receiver(_) => Side::Receiver,
        }
    }

    /// The assurance.
    #[must_use]
    pub fn assurance(self) -> Assurance {
        match self {
            Self::Sender(SenderSource::SenderStatement) => Assurance::Stated,
            Self::Sender(SenderSource::SenderBankDocument) => Assurance::SenderDocumented,
            Self::Receiver(source) => source.assurance(),
        }
    }

    /// Whether its facts were typed or read.
    #[must_use]
    pub fn origin(self) -> Origin {
        match self {
            Self::Receiver(source) if source.is_entry() || source == ReceiverSource::BankFeed => Origin::Read,
            Self::Sender(_) | Self::Receiver(_) => Origin::Typed,
        }
    }

    /// The text of the value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sender(source) => source.as_str(),
            Self::Receiver(source) => source.as_str(),
        }
    }

    /// The sources that forms offer: those with typed facts.
    pub fn choices() -> impl Iterator<Item = Self> {
        let receiver = ReceiverSource::ALL.into_iter().map(Self::Receiver);
        let all = SenderSource::ALL.into_iter().map(Self::Sender).chain(receiver);
        all.filter(|source| source.origin() == Origin::Typed)
    }

    /// Whether it is a document and so requires a file.
    #[must_use]
    pub fn needs_file(self) -> bool {
        match self {
            Self::Sender(source) => source == SenderSource::SenderBankDocument,
            Self::Receiver(source) => {
                matches!(source, ReceiverSource::BankNotification | ReceiverSource::BankStatement)
            }
        }
    }
}

/// A source that a person chose in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenSource(EvidenceSource);

impl ChosenSource {
    /// All sources that forms offer.
    pub fn all() -> impl Iterator<Item = Self> {
        EvidenceSource::choices().map(Self)
    }

    /// The source with this text, if a form offers it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        EvidenceSource::choices().find(|source| source.as_str() == text).map(Self)
    }

    /// The source.
    #[must_use]
    pub fn source(self) -> EvidenceSource {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_gives_the_side_the_assurance_and_the_basis() {
        for (text, side, assurance, origin) in [
            ("sender_statement", Side::Sender, Assurance::Stated, Origin::Typed),
            ("sender_bank_document", Side::Sender, Assurance::SenderDocumented, Origin::Typed),
            ("recipient_confirmation", Side::Receiver, Assurance::RecipientConfirmed, Origin::Typed),
            ("receiving_bank_notification", Side::Receiver, Assurance::BankDocumented, Origin::Typed),
            ("receiving_bank_statement", Side::Receiver, Assurance::BankDocumented, Origin::Typed),
            ("statement_entry_of_other_account", Side::Receiver, Assurance::BankDocumented, Origin::Read),
            ("statement_entry_of_unknown_account", Side::Receiver, Assurance::BankDocumented, Origin::Read),
            ("receiving_bank_statement_entry", Side::Receiver, Assurance::BankVerified, Origin::Read),
            ("receiving_bank_feed", Side::Receiver, Assurance::BankVerified, Origin::Read),
        ] {
            let source: EvidenceSource = serde_json::from_value(serde_json::json!(text)).unwrap();
            assert_eq!((source.side(), source.assurance(), source.origin()), (side, assurance, origin), "{text}");
            let is_offered = ChosenSource::parse(text).is_some();
            assert_eq!(is_offered, origin == Origin::Typed, "what is read is never typed: {text}");
        }
        assert!(Assurance::ALL.is_sorted() && ReceiverSource::ALL.is_sorted());
        let never = [SenderSource::SenderStatement, SenderSource::SenderBankDocument];
        assert!(
            never.into_iter().all(|source| EvidenceSource::Sender(source).assurance() < Assurance::RecipientConfirmed)
        );
    }
}
