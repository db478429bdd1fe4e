//! The forms of a payment’s page.

use pages::form;

form! {
    /// What the payer says was sent.
    pub(crate) SENT: SentForm {
        sent_on: Field::day("sent_on", "Sent on").hint("The day on which your bank sent it."),
        reference_type: Field::choice("reference_type", "Reference type"),
        reference: Field::key("reference", "Reference", 200)
            .hint("By which banks find the transfer again. Never an account number."),
    }
}

form! {
    /// What a bank’s document says.
    pub(crate) EVIDENCE: EvidenceForm {
        amount: Field::line("amount", "Amount", 40),
        currency: Field::line("currency", "Currency", 3),
        value_date: Field::day("value_date", "Value date").hint("The day that your bank shows."),
        bank_reference: Field::key("bank_reference", "Bank reference", 200)
            .hint("Optional: the reference of your bank for it. Never an account number."),
        file: Field::document("file", "File"),
    }
}

form! {
    /// Why evidence is withdrawn.
    pub(crate) WITHDRAWAL: WithdrawalForm {
        reason: Field::lines("reason", "Reason", 2000, 2),
    }
}
