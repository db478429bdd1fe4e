use crate::domain::agreement::Agreement;
use crate::domain::agreement::{ConversionTiming, ParticipantRole, SafeTerms};
use crate::domain::ledger::{LedgerPayment, amounts_of};
use crate::domain::money::in_app;
use crate::domain::typed_values::write_percentage;

/// A role, for display.
#[must_use]
pub fn role(role: ParticipantRole) -> &'static str {
    match role {
        ParticipantRole::Signer => "Signer",
        ParticipantRole::Funder => "Funder",
        ParticipantRole::Receiver => "Receiver",
        ParticipantRole::Approver => "Approver",
        ParticipantRole::Investor => "Investor",
        ParticipantRole::Issuer => "Issuer",
        ParticipantRole::Trustee => "Trustee",
        ParticipantRole::Contributor => "Contributor",
        ParticipantRole::Observer => "Observer",
    }
}

/// What a role means, in a line.
#[must_use]
pub fn role_about(role: ParticipantRole) -> &'static str {
    match role {
        ParticipantRole::Signer => "Signs documents",
        ParticipantRole::Funder => "Pays money in",
        ParticipantRole::Receiver => "Receives money",
        ParticipantRole::Approver => "Approves a step before the deal goes on",
        ParticipantRole::Investor => "Buys the security of a SAFE",
        ParticipantRole::Issuer => "Issues the security of a SAFE",
        ParticipantRole::Trustee => "Acts for a trust",
        ParticipantRole::Contributor => "Hands over assets, such as those of a trust",
        ParticipantRole::Observer => "Reads along, and is never asked to act",
    }
}

/// Whom the roles of a deal usually go to, and these roles. Together they have each role once.
pub const PARTIES: [(&str, &[ParticipantRole]); 4] = [
    ("Buyer or lender", &[ParticipantRole::Funder, ParticipantRole::Investor, ParticipantRole::Contributor]),
    ("Seller or borrower", &[ParticipantRole::Receiver, ParticipantRole::Issuer]),
    ("Counsel", &[ParticipantRole::Approver, ParticipantRole::Observer]),
    ("Anyone", &[ParticipantRole::Signer, ParticipantRole::Trustee]),
];

/// The name of the term for the amount of the deal.
pub const INVESTMENT: &str = "Investment";

/// An agreement's amount of money: the investment of a SAFE, or what its payments come to if they are of one currency.
/// Empty if no amount is known.
#[must_use]
pub fn agreement_amount(agreement: &Agreement, payments: &[LedgerPayment]) -> String {
    match amounts_of(agreement.lifecycle(), agreement.terms.as_ref().and_then(SafeTerms::investment), payments)[..] {
        [] => String::new(),
        [(currency, minor)] => in_app(minor, currency),
        _ => "Several currencies".to_owned(),
    }
}

/// The SAFE terms that are set, with their names.
#[must_use]
pub fn terms(terms: &SafeTerms) -> Vec<(&'static str, String)> {
    let currency = terms.currency.as_deref().unwrap_or_default();
    let mut list = Vec::new();
    list.extend(terms.investment_amount_minor.map(|minor| (INVESTMENT, in_app(minor, currency))));
    list.extend(terms.valuation_cap_minor.map(|minor| ("Valuation cap", in_app(minor, currency))));
    list.extend(terms.discount_rate.as_deref().map(|rate| ("Discount", write_percentage(rate))));
    if terms.mfn {
        list.push(("Most favored nation", "Yes".to_owned()));
    }
    if terms.pro_rata {
        list.push(("Pro-rata rights", "Yes".to_owned()));
    }
    list.extend(terms.conversion_timing.map(|timing| {
        let text = match timing {
            ConversionTiming::PostMoney => "Post-money",
            ConversionTiming::PreMoney => "Pre-money",
        };
        ("Conversion", text.to_owned())
    }));
    list.extend(terms.governing_law.clone().map(|law| ("Governing law", law)));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_goes_to_one_kind_of_party() {
        let mut listed: Vec<_> = PARTIES.iter().flat_map(|(_, roles)| *roles).copied().collect();
        listed.sort();
        let mut all = ParticipantRole::ALL.to_vec();
        all.sort();
        assert_eq!(listed, all);
    }
}
