//! Texts: names, notes, addresses and what is searched for.

/// Names and labels, in characters (contract, section 1).
pub const NAME_CHARS_MAX: usize = 200;
/// Agreement names, in characters (contract, section 1).
pub const AGREEMENT_NAME_CHARS_MAX: usize = 250;
/// Notes and other long texts, in characters (contract, section 1).
pub const NOTE_CHARS_MAX: usize = 2000;
/// External references, in characters (contract, section 1).
pub const REFERENCE_CHARS_MAX: usize = 200;
/// Email addresses, in characters: what SMTP can carry (RFC 5321, section 4.5.3.1.3).
pub const EMAIL_CHARS_MAX: usize = 254;
/// The part of an email address before the `@`, in bytes (RFC 5321, section 4.5.3.1.1).
pub const EMAIL_LOCAL_BYTES_MAX: usize = 64;
/// A label of a domain, in characters (RFC 1035, section 2.3.4).
pub const DOMAIN_LABEL_CHARS_MAX: usize = 63;
/// `search` in contacts and workspaces, in characters as sent (specification, "Limits").
pub const SEARCH_CHARS_MAX: usize = 200;
/// `search` in agreements, in characters as sent (specification, "Limits").
pub const AGREEMENT_SEARCH_CHARS_MAX: usize = 250;
