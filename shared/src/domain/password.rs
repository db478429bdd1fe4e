//! Which new passwords are accepted.
//!
//! Decision: a minimum length and a list of what attackers try first, but no rules on kinds of characters (NIST SP
//! 800-63B, section 5.1.1.2), which make passwords harder to remember, not to guess.

use std::collections::BTreeSet;
use std::fmt;

use crate::limits;

/// An accepted new password, never shown or logged.
#[derive(Clone, PartialEq, Eq)]
pub struct NewPassword(String);

/// Why a password is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeakPassword {
    /// Too few characters.
    TooShort,
    /// Too many bytes to be hashed.
    TooLong,
    /// Too few different characters, such as a key held down.
    TooPlain,
    /// Among the passwords that attackers try first.
    Common,
    /// Only public knowledge: the email address or the organization's name.
    Known,
}

impl WeakPassword {
    /// The problem, completing "The password …".
    #[must_use]
    pub fn message(self) -> String {
        match self {
            Self::TooShort => format!("must have at least {} characters", limits::PASSWORD_CHARS_MIN),
            Self::TooLong => format!("must have at most {} bytes", limits::PASSWORD_BYTES_MAX),
            Self::TooPlain => {
                format!("must have at least {} different characters", limits::PASSWORD_DIFFERENT_CHARS_MIN)
            }
            Self::Common => "is one of the most common ones; choose another, such as four unrelated words".to_owned(),
            Self::Known => "must have more than your email address and the name of the organization".to_owned(),
        }
    }
}

impl NewPassword {
    /// Checks a person's password, given their address and their organization's name.
    pub fn check(text: &str, email: &str, organization: &str) -> Result<Self, WeakPassword> {
        if text.chars().count() < limits::PASSWORD_CHARS_MIN {
            return Err(WeakPassword::TooShort);
        }
        if text.len() > limits::PASSWORD_BYTES_MAX {
            return Err(WeakPassword::TooLong);
        }
        if text.chars().collect::<BTreeSet<_>>().len() < limits::PASSWORD_DIFFERENT_CHARS_MIN {
            return Err(WeakPassword::TooPlain);
        }
        if is_common(text) {
            return Err(WeakPassword::Common);
        }
        if has_only(text, &words_of([email, organization, "countersign"])) {
            return Err(WeakPassword::Known);
        }
        Ok(Self(text.to_owned()))
    }

    /// The password in clear, for hashing.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for NewPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewPassword")
    }
}

fn is_common(text: &str) -> bool {
    let lower: String = text.to_lowercase().split_whitespace().collect();
    let words: Vec<String> = COMMON_WORDS.split_whitespace().map(str::to_owned).collect();
    COMMON.split_whitespace().any(|common| common == lower) || is_run(&lower) || has_only(text, &words)
}

/// Whether a text runs along the keyboard, the alphabet or the digits, forward or backward, wrapping around at the end.
fn is_run(text: &str) -> bool {
    const RUNS: [&str; 6] = [
        "01234567890123456789012345678901234567890",
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
        "qwertyuiopasdfghjklzxcvbnmqwertyuiopasdfghjklzxcvbnm",
        "qwertyuiop1234567890qwertyuiop1234567890",
        "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p",
        "1q2w3e4r5t6y7u8i9o0p1q2w3e4r5t6y7u8i9o0p",
    ];
    RUNS.iter().any(|run| run.contains(text) || run.chars().rev().collect::<String>().contains(text))
}

fn words_of(texts: [&str; 3]) -> Vec<String> {
    const SHORTEST: usize = 3;
    let mut words: Vec<String> = Vec::new();
    for text in texts {
        let lower = text.to_lowercase();
        words.push(lower.chars().filter(|character| character.is_alphanumeric()).collect());
        words.extend(lower.split(|character: char| !character.is_alphanumeric()).map(str::to_owned));
    }
    words.retain(|word| word.chars().count() >= SHORTEST);
    words
}

/// Whether a text consists only of these words, digits and marks. Digits that stand for letters are read as letters.
fn has_only(text: &str, words: &[String]) -> bool {
    // More letters than this are the person's own.
    const OWN_LETTERS_MAX: usize = 3;
    let lower = text.to_lowercase();
    let plain: String = lower.chars().filter(|character| character.is_alphanumeric()).collect();
    // Digits at the ends are a number, not letters.
    let core = lower.trim_matches(|character: char| !character.is_alphabetic());
    let spelled: String = core.chars().map(letter_of).filter(|character| character.is_alphanumeric()).collect();
    // Longest first, so that no word hides inside a longer one.
    let mut words: Vec<&String> = words.iter().collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    [plain, spelled].into_iter().any(|text| {
        let rest = words.iter().fold(text.clone(), |rest, word| rest.replace(word.as_str(), " "));
        let letters = rest.chars().filter(|character| character.is_alphabetic()).count();
        letters <= OWN_LETTERS_MAX && rest != text
    })
}

fn letter_of(character: char) -> char {
    match character {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

/// Words that make up common passwords, alone or repeated, with digits and marks around them.
const COMMON_WORDS: &str = "
    password passwort passw0rd qwerty qwertz azerty asdfgh zxcvbn letmein welcome admin administrator changeme default
    iloveyou princess sunshine football baseball basketball superman batman spiderman dragon monkey master shadow
    michael jennifer jordan ashley jessica charlie daniel thomas liverpool chelsea arsenal manchester barcelona
    starwars pokemon trustno1 whatever computer internet samsung secret login access hello killer hunter soccer hockey
    mustang cheese summer winter spring autumn january february november december monday friday freedom flower
    butterfly chocolate cookie pepper ginger banana loveme lovely angel family forever mother father money test
    testing temp guest user root system server oracle google facebook linkedin microsoft company office
    abcdef abc123 qazwsx qweasd asdasd q1w2e3 zaqwsx
";

const COMMON: &str = "
    correcthorsebatterystaple thequickbrownfox tobeornottobe maytheforcebewithyou opensesame123 livelovelaugh
    openthedoor123 iamthebest123 onetwothreefour mypasswordis123 nopassword123 ihatepasswords letmeinplease
    letmeinnow123 ilovemyself123 ilovemyfamily iloveyouforever ineedapassword rememberthis1 dontforgetme1
    jesuschrist1 jesusislord123 allahuakbar123 inshallah1234 bismillah1234 godisgood1234 ireallyloveyou
    123456abcdef 123456789abc 123456789qwe 1234567890qwe 1234567890abc 12345qwert12345 qwert12345qwert
    a1b2c3d4e5f6 1a2b3c4d5e6f aa123456789a zxcvbnm123456 asdfghjkl123 asdfghjkl1234 qwertyuiop[] qwertyuiop123
    123qweasdzxc qweasdzxc123 zaq12wsxcde3 1qazxsw23edc 1qaz@wsx3edc !qaz2wsx#edc q1w2e3r4t5y6 1q2w3e4r5t6y
    123123123123 123456123456 112233445566 121212121212 147258369147 159753159753 987654321987 102030405060
    fuckyou12345 fuckyoufuckyou gfhjkm123456 qwer1234qwer asdf1234asdf zxcv1234zxcv 1234qwerasdf 1234qwerasdfzxcv
    abcd1234abcd abcd12345678 abc123456789 a123456789123 aaaa1111bbbb
";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) -> Result<NewPassword, WeakPassword> {
        NewPassword::check(text, "ada.okafor@harbor-pine.example", "Harbor & Pine Partners")
    }

    #[test]
    fn a_password_is_refused_for_what_is_wrong_with_it() {
        for (text, why) in [
            ("", WeakPassword::TooShort),
            ("hj7-Kd2.pQ9", WeakPassword::TooShort),
            (&"ab1-".repeat(300), WeakPassword::TooLong),
            ("aaaaaaaaaaaa", WeakPassword::TooPlain),
            ("abababababab", WeakPassword::TooPlain),
            ("123456789012", WeakPassword::Common),
            ("1234567890123", WeakPassword::Common),
            ("987654321098", WeakPassword::Common),
            ("qwertyuiopas", WeakPassword::Common),
            ("1qaz2wsx3edc", WeakPassword::Common),
            ("password1234", WeakPassword::Common),
            ("Password2026!", WeakPassword::Common),
            ("P@ssw0rd12345", WeakPassword::Common),
            ("passwordpassword", WeakPassword::Common),
            ("welcome-2026!", WeakPassword::Common),
            ("iloveyou12345", WeakPassword::Common),
            ("Correct Horse Battery Staple", WeakPassword::Common),
            ("ada.okafor@harbor-pine.example", WeakPassword::Known),
            ("okafor123456", WeakPassword::Known),
            ("HarborPine2026", WeakPassword::Known),
            ("Harbor & Pine Partners", WeakPassword::Known),
            ("H4rbor-P1ne!!", WeakPassword::Known),
            ("countersign1", WeakPassword::Known),
        ] {
            assert_eq!(check(text).err(), Some(why), "{text}");
        }
    }

    #[test]
    fn a_password_that_is_ones_own_is_accepted() {
        for text in [
            "tiger lamp orchid",
            "correct horse battery",
            "harbor mussels at dawn",
            "hj7-Kd2.pQ9x",
            "ключ-от-квартиры",
            "パスワードは秘密です、絶対に",
            "test drive a violet kayak",
        ] {
            assert_eq!(check(text).map(|password| password.reveal().to_owned()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn no_password_is_shown() {
        assert_eq!(format!("{:?}", check("tiger lamp orchid").unwrap()), "NewPassword");
    }

    proptest! {
        #[test]
        fn any_text_is_accepted_or_refused(text in "\\PC{0,40}") {
            let _ = check(&text);
        }
    }
}
