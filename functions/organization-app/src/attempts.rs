//! The outcome of delivery attempts, in words.

use pages::layout::Notice;
use shared::domain::delivery::{Attempt, FailureClass, Outcome};

pub(crate) fn failure_label(class: FailureClass) -> &'static str {
    match class {
        FailureClass::DnsError => "Name not found",
        FailureClass::AddressRefused => "Address refused",
        FailureClass::ConnectError => "No connection",
        FailureClass::TlsError => "TLS failed",
        FailureClass::Timeout => "Timed out",
        FailureClass::Redirect => "Redirect",
        FailureClass::HttpError => "Refused",
        FailureClass::InvalidResponse => "Not HTTP",
        FailureClass::ConnectionClosed => "Connection closed",
    }
}

pub(crate) fn outcome_notice(attempt: Option<&Attempt>) -> Notice {
    let took = |attempt: &Attempt| format!("{} ms", attempt.duration_ms);
    match attempt.map(|attempt| (attempt, attempt.outcome)) {
        None => Notice::warn("Test event sent, waiting for the outcome", "Reload this page to see it."),
        Some((attempt, Outcome::Delivered { status })) => {
            Notice::good("Test event delivered", format!("Your server answered {status} in {}.", took(attempt)))
        }
        Some((attempt, Outcome::Failed { class, status })) => {
            let line = format!("{} ({}).", sentence(&failure(class, status)), took(attempt));
            Notice::bad("Test event failed", line)
        }
    }
}

/// How an attempt failed, completing a sentence that begins with its number.
pub(crate) fn failure(class: FailureClass, status: Option<u16>) -> String {
    let description = match class {
        FailureClass::DnsError => "the host’s name could not be found",
        FailureClass::AddressRefused => "the host is not public",
        FailureClass::ConnectError => "the server could not be reached",
        FailureClass::TlsError => "the TLS connection failed, or the certificate is not the server’s",
        FailureClass::Timeout => "the server did not answer in time",
        FailureClass::Redirect => "the server redirects, which we don’t follow",
        FailureClass::HttpError => "the server refused it",
        FailureClass::InvalidResponse => "the response was not HTTP",
        FailureClass::ConnectionClosed => "the connection closed before the response",
    };
    match (class, status) {
        (FailureClass::HttpError, Some(status)) => format!("the server answered {status}"),
        (_, Some(status)) => format!("{description} ({status})"),
        (_, None) => description.to_owned(),
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
