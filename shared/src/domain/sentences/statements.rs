//! The sentences above the buttons with which participants bind themselves. Their receipts, and so the certificate, keep them.

/// That a participant signs a document.
#[must_use]
pub fn signing(name: &str, document: &str) -> String {
    format!(
        "I have read “{document}”, and I sign it as {name}. My electronic signature binds me as my signature on paper would."
    )
}

/// That a person signs a document for a participant that is no person.
#[must_use]
pub fn signing_for(name: &str, document: &str) -> String {
    format!(
        "I have read “{document}”, and I sign it for {name}, which I am authorized to bind. My electronic signature binds {name} as a signature on paper would."
    )
}

/// That a participant approves a step.
#[must_use]
pub fn approval(name: &str, step: &str, agreement: &str) -> String {
    format!("As {name}, I approve the step “{step}” of the agreement “{agreement}”.")
}
