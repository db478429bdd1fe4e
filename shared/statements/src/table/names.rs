//! Banks' names for CSV columns: English, German and French.

use crate::model::ReferenceKind;

use super::rows::normalized;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    BookedOn,
    ValueOn,
    Amount,
    Credit,
    Debit,
    Side,
    Currency,
    Reference(ReferenceKind),
    Counterparty,
    Text,
    Status,
    Account,
}

const NAMES: &[(Meaning, &[&str])] = &[
    (
        Meaning::BookedOn,
        &[
            "booking date",
            "date",
            "transaction date",
            "posting date",
            "posted date",
            "posted on",
            "booked on",
            "date completed (utc)",
            "completed date",
            "buchungstag",
            "buchungsdatum",
            "buchung",
            "datum",
            "date opération",
            "date d'opération",
            "date de l'opération",
            "date operation",
            "date comptable",
            "date de comptabilisation",
        ],
    ),
    (
        Meaning::ValueOn,
        &["value date", "valuta", "valutadatum", "wertstellung", "wertstellungsdatum", "date de valeur", "date valeur"],
    ),
    (
        Meaning::Amount,
        &[
            "amount",
            "betrag",
            "umsatz",
            "montant",
            "betrag (eur)",
            "amount (eur)",
            "amount (usd)",
            "transaction amount",
        ],
    ),
    (
        Meaning::Credit,
        &["credit", "credit amount", "paid in", "money in", "deposits", "haben", "gutschrift", "crédit", "credits"],
    ),
    (
        Meaning::Debit,
        &[
            "debit",
            "debit amount",
            "paid out",
            "money out",
            "withdrawals",
            "soll",
            "belastung",
            "lastschrift",
            "débit",
            "debits",
        ],
    ),
    (
        Meaning::Side,
        &[
            "credit/debit",
            "debit/credit",
            "cr/dr",
            "dr/cr",
            "credit debit indicator",
            "soll/haben",
            "s/h",
            "sens",
            "direction",
            "débit/crédit",
        ],
    ),
    (Meaning::Currency, &["currency", "ccy", "currency code", "währung", "waehrung", "devise", "monnaie"]),
    (
        Meaning::Reference(ReferenceKind::EndToEndId),
        &[
            "end-to-end id",
            "end to end id",
            "endtoendid",
            "end-to-end reference",
            "ende-zu-ende-referenz",
            "kundenreferenz (end-to-end)",
            "référence de bout en bout",
        ],
    ),
    (Meaning::Reference(ReferenceKind::Uetr), &["uetr"]),
    (
        Meaning::Reference(ReferenceKind::MandateId),
        &["mandate reference", "mandate id", "mandatsreferenz", "référence du mandat"],
    ),
    (
        Meaning::Reference(ReferenceKind::CheckNumber),
        &["check number", "cheque number", "check #", "check or slip #", "numéro de chèque"],
    ),
    (
        Meaning::Reference(ReferenceKind::CustomerReference),
        &["customer reference", "payment reference", "kundenreferenz", "référence client"],
    ),
    (Meaning::Reference(ReferenceKind::TransactionId), &["transaction id", "transaction number", "transaktions-id"]),
    (Meaning::Reference(ReferenceKind::BankReference), &["bank reference", "bankreferenz", "référence banque"]),
    // These don't say whose: it may be what the payer wrote, or a row number.
    (
        Meaning::Reference(ReferenceKind::Other),
        &["reference", "referenz", "référence", "reference number", "ref", "id"],
    ),
    (
        Meaning::Counterparty,
        &[
            "counterparty",
            "counterparty name",
            "name",
            "payer",
            "payee",
            "sender",
            "beneficiary",
            "beneficiary/remitter",
            "from",
            "beguenstigter/zahlungspflichtiger",
            "begünstigter/zahlungspflichtiger",
            "auftraggeber/empfänger",
            "auftraggeber",
            "zahlungspflichtige*r",
            "zahlungsempfänger*in",
            "name zahlungsbeteiligter",
            "tiers",
            "contrepartie",
            "nom",
            "donneur d'ordre",
            "bénéficiaire",
        ],
    ),
    (
        Meaning::Text,
        &[
            "description",
            "details",
            "narrative",
            "memo",
            "purpose",
            "text",
            "remittance information",
            "payment details",
            "message",
            "verwendungszweck",
            "buchungstext",
            "zahlungsgrund",
            "libellé",
            "libelle",
            "motif",
            "communication",
            "détails",
        ],
    ),
    (Meaning::Status, &["status", "state", "info", "statut", "état"]),
    (
        Meaning::Account,
        &[
            "account",
            "account number",
            "iban",
            "kontonummer",
            "kontonummer/iban",
            "auftragskonto",
            "iban auftragskonto",
            "iban zahlungsbeteiligter",
            "counterparty account",
            "counterparty iban",
            "compte",
            "numéro de compte",
        ],
    ),
];

pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let name = normalized(name);
    NAMES.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(meaning, _)| *meaning)
}
