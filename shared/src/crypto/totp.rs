//! Codes of authenticator apps: RFC 6238 with SHA-1, six digits and 30-second steps, which every app supports.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sha1::Sha1;
use subtle::ConstantTimeEq;

use super::{NoRandomness, base32, random_bytes};

const BYTES: usize = 20;
const DIGITS: usize = 6;

/// An authenticator app's secret of 160 bits. It suffices to make codes: shown only at setup, never logged.
#[derive(Clone)]
pub struct TotpSecret([u8; BYTES]);

/// A six-digit code.
#[derive(Clone, Copy)]
pub struct TotpCode([u8; DIGITS]);

impl TotpSecret {
    /// A new secret.
    pub fn generate() -> Result<Self, NoRandomness> {
        random_bytes().map(Self)
    }

    /// Reads a secret in base32, grouped or not.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        base32::decode(text).map(Self)
    }

    /// The secret in base32: for sealing, and for the setup page.
    #[must_use]
    pub fn expose(&self) -> String {
        base32::encode(&self.0)
    }

    /// The secret in groups of four characters, for typing.
    #[must_use]
    pub fn expose_grouped(&self) -> String {
        base32::grouped(&self.expose(), ' ')
    }

    /// The URI that an app scans.
    #[must_use]
    pub fn expose_as_address(&self, account: &str) -> String {
        let account = utf8_percent_encode(account, NON_ALPHANUMERIC);
        format!("otpauth://totp/Countersign:{account}?secret={}&issuer=Countersign", self.expose())
    }

    /// The code of a step.
    #[must_use]
    pub fn code_at(&self, step: u64) -> TotpCode {
        let mut rest = self.truncated(step);
        let mut digits = [b'0'; DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit += u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        TotpCode(digits)
    }

    /// A step's truncated HMAC (RFC 4226, section 5.3): 31 bits, whose last decimal digits are the code.
    fn truncated(&self, step: u64) -> u32 {
        // HMAC pads a short key with zeros.
        let mut key = [0; 64];
        key[..BYTES].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha1>::new(&key.into());
        mac.update(&step.to_be_bytes());
        let hash: [u8; 20] = mac.finalize().into_bytes().into();
        let offset = usize::from(hash[19] & 15);
        let word = [hash[offset], hash[offset + 1], hash[offset + 2], hash[offset + 3]];
        u32::from_be_bytes(word) & 0x7fff_ffff
    }
}

impl TotpCode {
    /// Reads a typed code, with or without blanks and hyphens.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let typed: Vec<u8> = text.bytes().filter(|byte| !b" -\t".contains(byte)).collect();
        let digits: [u8; DIGITS] = typed.try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// The digits, for a test that types them.
    #[must_use]
    pub fn reveal(&self) -> String {
        self.0.iter().copied().map(char::from).collect()
    }
}

impl PartialEq for TotpCode {
    /// Compares in constant time.
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for TotpCode {}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSecret")
    }
}

impl fmt::Debug for TotpCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpCode")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_6238() {
        let secret = TotpSecret(*b"12345678901234567890");
        for (seconds, code) in [
            (59, 94_287_082),
            (1_111_111_109, 7_081_804),
            (1_111_111_111, 14_050_471),
            (1_234_567_890, 89_005_924),
            (2_000_000_000, 69_279_037),
            (20_000_000_000, 65_353_130),
        ] {
            let step: u64 = seconds / 30;
            assert_eq!(secret.truncated(step) % 100_000_000, code, "{seconds}");
            assert_eq!(secret.code_at(step).reveal(), format!("{:06}", code % 1_000_000), "{seconds}");
        }
        // Appendix D of RFC 4226 has those of the first steps.
        let first = (0..5).map(|step| secret.code_at(step).reveal()).collect::<Vec<_>>();
        assert_eq!(first, ["755224", "287082", "359152", "969429", "338314"]);
    }

    #[test]
    fn a_secret_is_shown_in_base32_and_not_printed() {
        let secret = TotpSecret::generate().unwrap();
        assert_eq!(secret.expose().len(), 32);
        assert_ne!(TotpSecret::generate().unwrap().0, secret.0);
        assert_eq!(TotpSecret::parse(&secret.expose_grouped()).unwrap().0, secret.0);
        assert_eq!(format!("{secret:?} {:?}", secret.code_at(1)), "TotpSecret TotpCode");
        let known = TotpSecret(*b"12345678901234567890");
        assert_eq!(
            known.expose_as_address("ada&b@example.org"),
            "otpauth://totp/Countersign:ada%26b%40example%2Eorg?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Countersign"
        );
    }

    #[test]
    fn a_code_is_six_digits_however_they_are_grouped() {
        for text in ["012345", " 012 345 ", "012-345"] {
            assert_eq!(TotpCode::parse(text).map(|code| code.reveal()).as_deref(), Some("012345"), "{text}");
        }
        for text in ["", "01234", "0123456", "01234x", "0123４5", "+12345"] {
            assert!(TotpCode::parse(text).is_none(), "{text}");
        }
    }
}
