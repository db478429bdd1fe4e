//! Words for trusts and funding items, shared by all pages and files.

use crate::domain::funding::proof::ProofSource;
use crate::domain::funding::{AssetKind, CloseReason, FundingItem, FundingStatus, Phase, Verb, WaitingOn};
use crate::domain::member::funding::{ItemPart, ItemParts, NotDone};

/// A kind of asset.
#[must_use]
pub fn asset_kind(kind: AssetKind) -> &'static str {
    match kind {
        AssetKind::RealEstate => "Real estate",
        AssetKind::BankAccount => "Bank account",
        AssetKind::BrokerageAccount => "Brokerage account",
        AssetKind::RetirementAccount => "Retirement account",
        AssetKind::LifeInsurance => "Life insurance",
        AssetKind::Annuity => "Annuity",
        AssetKind::BusinessInterest => "Business interest",
        AssetKind::Vehicle => "Vehicle",
        AssetKind::PersonalProperty => "Personal property",
        AssetKind::DigitalAsset => "Digital asset",
        AssetKind::PromissoryNote => "Promissory note",
        AssetKind::IntellectualProperty => "Intellectual property",
        AssetKind::Other => "Other",
    }
}

/// What is to be done with an asset.
#[must_use]
pub fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Deed => "Deed",
        Verb::Retitle => "Retitle",
        Verb::ChangeBeneficiary => "Change beneficiary",
        Verb::Transfer => "Transfer",
        Verb::Assign => "Assign",
        Verb::LeaveOut => "Leave out",
    }
}

/// A phase, as in headings.
#[must_use]
pub fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Unsorted => "Unsorted",
        Phase::Gathering => "Gathering facts",
        Phase::Ready => "Ready",
        Phase::Papered => "Papered",
        Phase::InProgress => "In progress",
        Phase::Claimed => "Claimed",
        Phase::Done => "Done",
    }
}

/// An item's phase, or how it was closed.
#[must_use]
pub fn state(item: &FundingItem) -> &'static str {
    match item.funding_status() {
        FundingStatus::Funded => "Funded",
        FundingStatus::Unfunded => "Unfunded",
        FundingStatus::Open => phase(item.phase()),
    }
}

/// Whom an item on hold waits for.
#[must_use]
pub fn waiting_on(waiting_on: WaitingOn) -> &'static str {
    match waiting_on {
        WaitingOn::Settlor => "Settlor",
        WaitingOn::Trustee => "Trustee",
        WaitingOn::Institution => "Institution",
        WaitingOn::Recorder => "Recorder",
        WaitingOn::Counsel => "Counsel",
        WaitingOn::Beneficiary => "Beneficiary",
        WaitingOn::ThirdParty => "Third party",
    }
}

/// Why an item was closed as unfunded.
#[must_use]
pub fn close_reason(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::LeftOut => "Left out of the trust",
        CloseReason::Sold => "Sold",
        CloseReason::Duplicate => "Duplicate of another item",
        CloseReason::Refused => "Transfer refused",
        CloseReason::AlreadyInTrust => "Already in the trust",
    }
}

/// The source of proof.
#[must_use]
pub fn source(source: ProofSource) -> &'static str {
    match source {
        ProofSource::InstitutionConfirmation => "Institution’s confirmation",
        ProofSource::RecordedDeed => "Recorded deed",
        ProofSource::NewStatement => "New statement",
    }
}

/// What proof from a source shows.
#[must_use]
pub fn source_about(source: ProofSource) -> &'static str {
    match source {
        ProofSource::InstitutionConfirmation => "The institution confirms the new title, owner or beneficiary.",
        ProofSource::RecordedDeed => "The deed with the recorder’s stamp.",
        ProofSource::NewStatement => "A statement that names the trust as the holder.",
    }
}

/// What has changed about an item since a page showed it, as a sentence.
#[must_use]
pub fn changed(parts: ItemParts) -> String {
    let names: Vec<&str> = parts.iter().map(part).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("Changed: {one}."),
        [rest @ .., last] => format!("Changed: {} and {last}.", rest.join(", ")),
    }
}

fn part(part: ItemPart) -> &'static str {
    match part {
        ItemPart::Facts => "its facts",
        ItemPart::Hold => "its hold",
        ItemPart::Claim => "the claim",
        ItemPart::Proof => "the proof",
        ItemPart::Status => "its state",
        ItemPart::Agreement => "its agreement",
        ItemPart::Names => "the names of people, trust or workspace",
    }
}

/// Why an act on an item was refused: a title and details.
#[must_use]
pub fn refusal(refused: NotDone) -> (&'static str, &'static str) {
    match refused {
        NotDone::ChangedSinceShown(_) => (
            "This item has changed since you opened it",
            "Nothing was done. The page shows the item as it is now: look at it, then decide again.",
        ),
        NotDone::Papered(_) => {
            ("An agreement papers this item", "Cancel the agreement, or discard its draft, then close the item.")
        }
        NotDone::Closed => ("This item is closed already", "Nothing was recorded. The page shows how it was closed."),
        NotDone::NotClosed => ("This item is open", "There is nothing to reopen."),
        NotDone::NotInProgress => (
            "Nothing is under way for this item",
            "Nothing was recorded. Its agreement has to be published, and not cancelled.",
        ),
        NotDone::ClaimedAlready => ("A claim is on record already", "Nothing was recorded. Next: file proof."),
        NotDone::NothingClaimed => ("No claim is on record", "There is nothing to withdraw."),
        NotDone::TooManyClaims => {
            ("This item can take no more claims", "Many claims were recorded and withdrawn. Proof can still be filed.")
        }
        NotDone::SameFile => {
            ("This file is filed already", "The same file counts once. To file another one, choose it on the form.")
        }
        NotDone::UnknownProof => ("There is no such proof", "The page shows what was filed."),
        NotDone::DecidedAlready => ("This proof was decided already", "The page shows who decided it."),
        NotDone::FiledAlready => ("This form was sent before", "Open the page again to file other proof."),
        NotDone::NothingToSee => {
            ("Nothing was filed", "Add a file, or say in the note what was confirmed, by whom and how.")
        }
        NotDone::TooMuchProof => {
            ("This item can take no more proof", "Accept or reject what needs your decision first.")
        }
        NotDone::AgreementLive(_) => {
            ("Its agreement is not over", "Cancel or complete the agreement, then reopen the item.")
        }
    }
}
