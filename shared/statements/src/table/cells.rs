//! Amounts, dates and words in cells.

use jiff::civil::Date;

use crate::amount::{GROUP, minor_units, without_separators};
use crate::currency::Currency;
use crate::dates;
use crate::problem::Problem;
use crate::text::quoted;

use super::mapping::{DateOrder, DecimalMark};

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Reads an amount as (has a minus, minor units): `1.250,50`, `-45`, `45-`, `(45)`, `$45.00`, `EUR 45`, `45 €`.
pub(super) fn amount(cell: &str, mark: DecimalMark, currency: Currency) -> Result<(bool, i64), Problem> {
    let not_an_amount = || Problem::NotAnAmount { value: quoted(cell), mark: mark.letter() };
    let (bare, in_brackets) = match cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(bare) => (bare, true),
        None => (cell, false),
    };
    let (bare, is_before) = without_sign(bare);
    let bare = without_currency(bare, currency);
    let (bare, is_inside) = if is_before.is_none() { without_sign(bare) } else { (bare, None) };
    if in_brackets && (is_before.is_some() || is_inside.is_some()) {
        return Err(not_an_amount());
    }
    let is_negative = in_brackets || is_before.or(is_inside).unwrap_or(false);
    let letter = mark.letter();
    let (whole, fraction) = bare.split_once(letter).unwrap_or((bare, ""));
    let whole = without_separators(whole, letter).ok_or_else(not_an_amount)?;
    // Three decimals in a currency with two look like a group of thousands, even if they are zeros.
    if fraction.len() == GROUP && currency.decimals() < GROUP {
        return Err(Problem::TooManyDecimals { value: quoted(cell), currency });
    }
    let number = format!("{whole}{letter}{fraction}");
    let minor = minor_units(&number, letter, currency).map_err(|problem| match problem {
        Problem::NotAnAmount { .. } => not_an_amount(),
        Problem::TooManyDecimals { currency, .. } => Problem::TooManyDecimals { value: quoted(cell), currency },
        other => other,
    })?;
    Ok((is_negative, minor))
}

/// Strips the sign before or after a number; true if it is a minus.
fn without_sign(text: &str) -> (&str, Option<bool>) {
    let text = text.trim();
    let minus = ['-', '−', '–'];
    if let Some(rest) = text.strip_prefix(minus).or_else(|| text.strip_suffix(minus)) {
        return (rest.trim(), Some(true));
    }
    text.strip_prefix('+').or_else(|| text.strip_suffix('+')).map_or((text, None), |rest| (rest.trim(), Some(false)))
}

/// Strips the currency's code and symbol, each once. Those of another currency stay, so that the number is refused.
fn without_currency(text: &str, currency: Currency) -> &str {
    let (code, symbol) = (currency.code(), currency.symbol());
    [code, symbol.as_str()]
        .into_iter()
        .fold(text, |text, mark| text.strip_prefix(mark).or_else(|| text.strip_suffix(mark)).map_or(text, str::trim))
}

/// Reads a date in this order, ignoring a time after it.
pub(super) fn date(cell: &str, order: DateOrder) -> Option<Date> {
    let parts = parts(cell)?;
    let [first, second, third] = parts.each_ref().map(String::as_str);
    let (year, month, day) = match order {
        DateOrder::DayMonthYear => (third, second, first),
        DateOrder::MonthDayYear => (third, first, second),
        DateOrder::YearMonthDay => (first, second, third),
    };
    let month = match MONTHS.iter().position(|name| month.to_ascii_lowercase().starts_with(name)) {
        Some(at) => (at + 1).to_string(),
        None => month.to_owned(),
    };
    dates::from_digits(year, &month, day)
}

pub(super) fn example(order: DateOrder) -> &'static str {
    match order {
        DateOrder::DayMonthYear => "31.01.2026",
        DateOrder::MonthDayYear => "01/31/2026",
        DateOrder::YearMonthDay => "2026-01-31",
    }
}

/// The orders in which a date can be read. A two-digit year can't come first: it would be taken for a day.
pub(super) fn orders(cell: &str) -> Vec<DateOrder> {
    let has_long_year = parts(cell).is_some_and(|[first, _, _]| first.len() == 4);
    [DateOrder::DayMonthYear, DateOrder::MonthDayYear, DateOrder::YearMonthDay]
        .into_iter()
        .filter(|order| (*order != DateOrder::YearMonthDay || has_long_year) && date(cell, *order).is_some())
        .collect()
}

fn parts(cell: &str) -> Option<[String; 3]> {
    let cell = cell.trim();
    let digits = cell.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 8 && (cell.len() == 8 || is_time(cell.get(8..)?)) {
        return Some([cell.get(..4)?.to_owned(), cell.get(4..6)?.to_owned(), cell.get(6..8)?.to_owned()]);
    }
    let separators = ['.', '/', '-', ' ', ','];
    let mut rest = cell;
    let mut found = Vec::new();
    for _ in 0..3 {
        rest = rest.trim_start_matches(separators);
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        // `2026-01-31T10:00:00`: the day ends at the time.
        let is_day = found.len() == 2;
        let end = if is_day { rest.find('T').map_or(end, |at| at.min(end)) } else { end };
        let (part, after) = rest.split_at_checked(end)?;
        found.push(part.to_owned());
        rest = after;
    }
    let [first, second, third] = <[String; 3]>::try_from(found).ok()?;
    let are_parts = !first.is_empty() && !second.is_empty() && !third.is_empty();
    (are_parts && (rest.is_empty() || is_time(rest))).then_some([first, second, third])
}

/// Recognizes a time after a date: `T10:00:00`, ` 10:00`, `, 9:05 AM`.
fn is_time(rest: &str) -> bool {
    let time = rest.trim_start_matches([',', ' ', 'T']);
    let allowed =
        |letter: char| letter.is_ascii_digit() || matches!(letter, ':' | '.' | '+' | '-' | ' ' | 'Z' | 'A' | 'P' | 'M');
    time.len() < rest.len()
        && time.starts_with(|letter: char| letter.is_ascii_digit())
        && time.contains(':')
        && time.chars().all(allowed)
}

/// True for one of the first words, false for one of the second, `None` for any other.
pub(super) fn is_first(cell: &str, words: [&[&str]; 2]) -> Option<bool> {
    let word = cell.trim().to_lowercase();
    let [first, second] = words.map(|words| words.contains(&word.as_str()));
    (first || second).then_some(first)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date as day;

    use super::*;

    fn read(cell: &str, mark: DecimalMark, code: &str) -> Result<(bool, i64), Problem> {
        amount(cell, mark, Currency::parse(code).unwrap())
    }

    #[test]
    fn amounts_are_read_as_banks_write_them() {
        use DecimalMark::{Comma, Period};
        for (cell, mark, code, expected) in [
            ("1.250,50", Comma, "EUR", (false, 125_050)),
            ("1250,5", Comma, "EUR", (false, 125_050)),
            ("-1 250,50", Comma, "EUR", (true, 125_050)),
            ("1.250", Comma, "EUR", (false, 125_000)),
            ("1,250.50", Period, "USD", (false, 125_050)),
            ("1'250.50", Period, "CHF", (false, 125_050)),
            ("45.00-", Period, "USD", (true, 4_500)),
            ("(45.00)", Period, "USD", (true, 4_500)),
            ("$45.00", Period, "USD", (false, 4_500)),
            ("-$45.00", Period, "USD", (true, 4_500)),
            ("$-45.00", Period, "USD", (true, 4_500)),
            ("€ 45", Period, "EUR", (false, 4_500)),
            ("45,00 EUR", Comma, "EUR", (false, 4_500)),
            ("45 €", Comma, "EUR", (false, 4_500)),
            ("$45.00 USD", Period, "USD", (false, 4_500)),
            ("−45", Comma, "EUR", (true, 4_500)),
            ("+45", Comma, "EUR", (false, 4_500)),
            ("1,250", Period, "JPY", (false, 1_250)),
            ("1250.00", Period, "JPY", (false, 1_250)),
            ("1.250", Period, "KWD", (false, 1_250)),
            ("12,500.125", Period, "BHD", (false, 12_500_125)),
            ("0,00", Comma, "EUR", (false, 0)),
        ] {
            assert_eq!(read(cell, mark, code), Ok(expected), "{cell}");
        }
    }

    #[test]
    fn what_could_be_another_amount_is_refused() {
        use DecimalMark::{Comma, Period};
        for (cell, mark, code) in [
            ("", Comma, "EUR"),
            ("-", Comma, "EUR"),
            ("1.250,50", Period, "EUR"),
            ("1,250.50", Comma, "EUR"),
            ("1.250", Period, "EUR"),
            ("1.000", Period, "EUR"),
            ("1.500", Period, "JPY"),
            ("1,5", Comma, "JPY"),
            ("12,50,00", Period, "INR"),
            ("1.25.0", Comma, "EUR"),
            ("--45", Comma, "EUR"),
            ("-45-", Comma, "EUR"),
            ("(-45)", Comma, "EUR"),
            ("£45", Comma, "EUR"),
            ("€45", Period, "USD"),
            ("45 €", Period, "USD"),
            ("$45", Comma, "EUR"),
            ("45 USD", Comma, "EUR"),
            ("=1+1", Comma, "EUR"),
            ("1e3", Comma, "EUR"),
            ("twelve", Comma, "EUR"),
        ] {
            assert!(read(cell, mark, code).is_err(), "{cell}: {:?}", read(cell, mark, code));
        }
    }

    #[test]
    fn dates_are_read_in_their_order_only() {
        use DateOrder::{DayMonthYear, MonthDayYear, YearMonthDay};
        let expected = Some(day(2026, 2, 3));
        for (cell, order) in [
            ("03.02.2026", DayMonthYear),
            ("3/2/26", DayMonthYear),
            ("3 Feb 2026", DayMonthYear),
            ("03-February-2026", DayMonthYear),
            ("02/03/2026", MonthDayYear),
            ("Feb 3, 2026", MonthDayYear),
            ("2026-02-03", YearMonthDay),
            ("20260203", YearMonthDay),
            ("2026-02-03T23:59:59Z", YearMonthDay),
            ("2026-02-03 09:00", YearMonthDay),
            ("03.02.2026, 9:05 AM", DayMonthYear),
        ] {
            assert_eq!(date(cell, order), expected, "{cell}");
        }
        for cell in [
            "",
            "31.02.2026",
            "03.13.2026",
            "3.2",
            "3.2.2026 rent",
            "3.2.2026.1",
            "=3.2.2026",
            "03.02.0026",
            "é.2.2026",
        ] {
            assert_eq!(date(cell, DayMonthYear), None, "{cell}");
        }
    }

    #[test]
    fn the_order_is_known_only_where_it_is_clear() {
        use DateOrder::{DayMonthYear, MonthDayYear, YearMonthDay};
        assert_eq!(orders("31.01.2026"), [DayMonthYear]);
        assert_eq!(orders("01/31/2026"), [MonthDayYear]);
        assert_eq!(orders("01/02/2026"), [DayMonthYear, MonthDayYear]);
        assert_eq!(orders("2026-01-02"), [YearMonthDay]);
        assert_eq!(orders("26-01-02"), [DayMonthYear]);
        assert!(orders("pending").is_empty());
    }
}
