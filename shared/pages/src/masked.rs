//! Texts of banks and payers as pages show them: only the last characters of account and card numbers.
//!
//! Decision: entries are compared in full and masked for display only, except an offered payment's reference.

use shared::domain::sensitive::has_account_number;

const ENDING_CHARS: usize = 4;
/// Fewest characters of a number whose ending may be kept.
const NUMBER_CHARS_MIN: usize = 6;
/// Most characters of a number, with blanks between all of them.
const NUMBER_CHARS_MAX: usize = 70;
/// Replaces finished parts while looking for more. No number has it.
const DONE: &str = "\u{e000}";

/// A run of letters and digits, or one other character.
struct Piece {
    shown: String,
    seen: String,
}

/// Shortens a text to `most` characters and hides account and card numbers, except in the references `kept`.
#[must_use]
pub fn masked(text: &str, most: usize, kept: &[String]) -> String {
    // Looks at a long text only as far as it shows, plus one number, which a cut at the end might split.
    let looked_at = most.saturating_mul(2).saturating_add(NUMBER_CHARS_MAX);
    let is_long = text.chars().nth(looked_at).is_some();
    let begins: String = text.chars().take(looked_at).collect();
    let masked = without_numbers(&begins, kept);
    let length = masked.chars().count();
    let room = if is_long { most.min(length.saturating_sub(NUMBER_CHARS_MAX)) } else { most };
    if length <= room { masked } else { masked.chars().take(room).chain(['…']).collect() }
}

fn without_numbers(text: &str, kept: &[String]) -> String {
    let mut pieces = pieces(text);
    // Each round hides one number, which has at least one piece.
    for _ in 0..pieces.len() {
        if !has_number(&pieces) {
            return pieces.iter().map(|piece| piece.shown.as_str()).collect();
        }
        let (mut least, mut end) = (1, pieces.len());
        while least < end {
            let middle = usize::midpoint(least, end);
            if has_number(pieces.get(..middle).unwrap_or_default()) { end = middle } else { least = middle + 1 }
        }
        let is_whole = |start: &usize| has_number(pieces.get(*start..end).unwrap_or_default());
        let start = (0..end).rev().find(is_whole).unwrap_or_default();
        hide(pieces.get_mut(start..end).unwrap_or_default(), kept);
    }
    if has_number(&pieces) { "…".to_owned() } else { pieces.iter().map(|piece| piece.shown.as_str()).collect() }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<String> = Vec::new();
    let mut was_word = false;
    for letter in text.chars() {
        let is_word = letter.is_alphanumeric();
        match pieces.last_mut().filter(|_| is_word && was_word) {
            Some(word) => word.push(letter),
            None => pieces.push(letter.to_string()),
        }
        was_word = is_word;
    }
    pieces.into_iter().map(|text| Piece { shown: text.clone(), seen: text }).collect()
}

fn has_number(pieces: &[Piece]) -> bool {
    has_account_number(&pieces.iter().map(|piece| piece.seen.as_str()).collect::<String>())
}

fn hide(found: &mut [Piece], kept: &[String]) {
    let has_digit = |piece: &Piece| piece.seen.chars().any(|letter| letter.is_ascii_digit());
    let start = found.iter().position(has_digit).unwrap_or_default();
    let number = found.get_mut(start..).unwrap_or_default();
    let written = compact(&number.iter().map(|piece| piece.shown.as_str()).collect::<String>());
    let is_kept = kept.iter().any(|reference| compact(reference).contains(&written));
    let hides = written.chars().count().checked_sub(ENDING_CHARS).filter(|_| written.len() >= NUMBER_CHARS_MIN);
    let ending: String = hides.map(|count| written.chars().skip(count).collect()).unwrap_or_default();
    for (at, piece) in number.iter_mut().enumerate() {
        piece.seen = if at == 0 { DONE.to_owned() } else { String::new() };
        if !is_kept {
            piece.shown = if at == 0 { format!("…{ending}") } else { String::new() };
        }
    }
}

/// The number's letters and digits, however grouped.
fn compact(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_only_their_ending_wherever_they_stand() {
        for (text, expected) in [
            ("", ""),
            ("Closing INV-117, unit 4B", "Closing INV-117, unit 4B"),
            ("Pay to 000123456789 and 987654321.", "Pay to …6789 and …4321."),
            ("card 4111 1111 1111 1111, thanks", "card …1111, thanks"),
            ("5555-5555-5555-4444", "…4444"),
            ("from GB82 WEST 1234 5698 7654 32 (Ada)", "from …5432 (Ada)"),
            ("+14155550100 rang about 2026-03-18", "+14155550100 rang about 2026-03-18"),
            ("000123456789 000123456789", "…6789 …6789"),
        ] {
            assert_eq!(masked(text, 160, &[]), expected);
        }
    }

    #[test]
    fn the_reference_of_an_offered_payment_stays_and_nothing_else_does() {
        let kept = ["2026-123456789".to_owned(), "INV-117".to_owned()];
        let text = "INV-117 ref 2026-123456789 from 000123456789";
        assert_eq!(masked(text, 160, &kept), "INV-117 ref 2026-123456789 from …6789");
        assert_eq!(masked("123456789", 160, &kept), "123456789", "a part of it is known as well");
        assert_eq!(masked("1234567890", 160, &kept), "…7890");
    }

    #[test]
    fn a_long_text_ends_visibly_and_no_number_is_cut_in_two() {
        for before in 0..600 {
            let text = format!("{}{}", "w ".repeat(before), "000123456789 ".repeat(60));
            let shown = masked(&text, 40, &[]);
            assert!(shown.chars().count() <= 41 && shown.ends_with('…'), "{before}: {shown}");
            assert!(!shown.contains("0123"), "{before}: {shown}");
        }
        assert_eq!(masked(&"w".repeat(41), 40, &[]), format!("{}…", "w".repeat(40)));
    }
}
