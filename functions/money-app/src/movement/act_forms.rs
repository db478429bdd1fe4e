//! The forms of acts on a payment.

use pages::form;

form! {
    /// Why an act is done.
    pub(crate) REASON: ReasonForm {
        reason: Field::lines("reason", "Reason", 2000, 3),
    }
}

form! {
    /// What went wrong.
    pub(crate) EXCEPTION: ExceptionForm {
        reason: Field::choice("reason", "Reason"),
        note: Field::lines("note", "Note", 2000, 3).hint("Optional. Members read it."),
    }
}

form! {
    /// How an exception goes on, and what becomes of a surplus.
    pub(crate) RESOLUTION: ResolutionForm {
        resolution: Field::choice("resolution", "What happens next"),
        returned_on: Field::day("returned_on", "Returned on")
            .hint("If the surplus was returned: the day."),
        note: Field::lines("surplus_note", "Note on the surplus", 2000, 3).hint(
            "If it was returned: how, such as the reference of the transfer. If it is kept: who agreed to that, and how.",
        ),
    }
}

form! {
    /// What the sender says was sent.
    pub(crate) CLAIM: ClaimForm {
        sent_on: Field::day("sent_on", "Sent on"),
        reference_type: Field::choice("reference_type", "Reference type"),
        reference: Field::key("reference", "Reference", 200).hint("As the sender’s bank gave it. Optional."),
    }
}

form! {
    /// The second entry of instructions, and the call.
    pub(crate) VERIFICATION: VerificationForm {
        number: Field::key("number", "Account number", 60).secret(),
        code: Field::key("code", "Code", 60).secret(),
        numbers: Field::key("number_", "Number", 60).secret(),
        read_out_by: Field::line("read_out_by", "Read out by", 200).hint("The person at the payee who read them out."),
        method: Field::choice("method", "Method"),
        phone: Field::line("phone", "Number called", 60).hint("Such as +1 212 555 0100. Not needed in person."),
        phone_source: Field::choice("phone_source", "Where you have that number from")
            .hint("Never from the message that brought the instructions."),
    }
}

form! {
    /// Proof from the receiving side, or the sender’s paper.
    pub(crate) EVIDENCE: EvidenceForm {
        source: Field::choice("source", "Source"),
        amount: Field::line("amount", "Amount received", 60).hint("From the sender’s side, the amount sent."),
        currency: Field::line("currency", "Currency", 3),
        value_date: Field::day("value_date", "Value date")
            .hint("The day on which it counts at the bank."),
        bank_reference: Field::key("bank_reference", "Bank reference", 200).hint(
            "Optional. What the bank calls the transfer, such as an IMAD or a trace number. Never an account number.",
        ),
        account: Field::key("account", "Account", 100).secret().hint(
            "Optional. The account that the document says was credited: its number or IBAN. It is compared with the instructions; only its last characters are kept.",
        ),
        account_reason: Field::line("account_reason", "Why it counts", 2000)
            .hint("Only if it is not the account that the instructions name."),
        file: Field::document("file", "File")
            .hint("A PDF, JPEG or PNG of up to 4 MB. A bank’s document counts only with its file."),
    }
}

form! {
    /// What accepting evidence may ask.
    pub(crate) ACCEPTANCE: AcceptanceForm {
        another: Field::tick("another", "These are two arrivals: count both").called("These are two arrivals"),
    }
}
