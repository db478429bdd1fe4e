//! Recovery codes, for people whose authenticator app is out of reach.

use std::fmt;

use super::{base32, fingerprint, hex};

/// 80 bits in base32, such as `k7qf-2mzx-tjca-5wne`. Shown once; so many bits need no salt and no work factor.
#[derive(Clone)]
pub struct RecoveryCode([u8; RecoveryCode::BYTES]);

impl RecoveryCode {
    /// Random bytes of a code.
    pub const BYTES: usize = 10;

    /// As many codes as these random bytes suffice for.
    pub fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.as_chunks().0.iter().copied().map(Self)
    }

    /// Reads a typed code in any case, with or without blanks and hyphens.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base32::decode(text).map(Self)
    }

    /// The code in clear, for the page that shows it once.
    #[must_use]
    pub fn reveal(&self) -> String {
        base32::grouped(&base32::encode(&self.0).to_lowercase(), '-')
    }

    /// The hash for the store, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        hex(&fingerprint(&[b"recovery code", &self.0]))
    }
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCode")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_as_people_type_it() {
        let [code, other] = [RecoveryCode([1; RecoveryCode::BYTES]), RecoveryCode([2; RecoveryCode::BYTES])];
        let shown = code.reveal();
        assert_eq!((shown.len(), shown.matches('-').count()), (19, 3), "{shown}");
        for typed in [shown.clone(), shown.to_uppercase(), shown.replace('-', " "), shown.replace('-', "")] {
            assert_eq!(RecoveryCode::parse(&typed).map(|code| code.hash()), Some(code.hash()), "{typed}");
        }
        assert_ne!(other.hash(), code.hash());
        assert_eq!(format!("{code:?}"), "RecoveryCode");
        for text in ["", "123456", &shown[1..], &format!("{shown}a")] {
            assert!(RecoveryCode::parse(text).is_none(), "{text}");
        }
    }
}
