use proptest::prelude::*;

use super::*;

#[test]
fn numbers_of_accounts_and_cards_are_found() {
    for (text, kind) in [
        ("4111 1111 1111 1111", Sensitive::CardNumber),
        ("my card 5555-5555-5555-4444, thanks", Sensitive::CardNumber),
        ("VISA4111111111111111", Sensitive::CardNumber),
        ("Paid with 4111.1111.1111.1111.", Sensitive::CardNumber),
        ("3782.822463.10005", Sensitive::CardNumber),
        ("card4111-1111-1111-1111", Sensitive::CardNumber),
        ("Pay to DE89 3704 0044 0532 0130 00 please", Sensitive::Iban),
        ("de89370400440532013000", Sensitive::Iban),
        ("IBANGB29NWBK60161331926819", Sensitive::Iban),
        ("ibanDE89370400440532013000EUR", Sensitive::Iban),
        ("IBAN:GB29 NWBK 6016 1331 9268 19", Sensitive::Iban),
        ("toGB29NWBK60161331926819.pdf", Sensitive::Iban),
        ("\u{ff24}\u{ff25}89370400440532013000", Sensitive::Iban),
        ("Account 000123456789", Sensitive::AccountNumber),
        ("000123456789.", Sensitive::AccountNumber),
        ("(123456789)", Sensitive::AccountNumber),
        ("wire_000123456789.pdf", Sensitive::AccountNumber),
        ("61109010140000071219812874", Sensitive::AccountNumber),
        ("account 12345678", Sensitive::AccountNumber),
        ("Account: 12345678", Sensitive::AccountNumber),
        ("Bank account #1234567", Sensitive::AccountNumber),
        ("account number 20261124", Sensitive::AccountNumber),
        ("Acct 1234567", Sensitive::AccountNumber),
        ("acct. no. 1234-5678", Sensitive::AccountNumber),
        ("ACCT12345678", Sensitive::AccountNumber),
        ("acct_12345678.pdf", Sensitive::AccountNumber),
        ("Account12345678", Sensitive::AccountNumber),
        ("a/c 12345678", Sensitive::AccountNumber),
        ("A/C no: 12 34 56 78", Sensitive::AccountNumber),
        ("A/C12345678", Sensitive::AccountNumber),
        ("Konto 53201300", Sensitive::AccountNumber),
        ("Kontonummer 5320130", Sensitive::AccountNumber),
        ("Girokonto: 532 013 00", Sensitive::AccountNumber),
        ("Kto.-Nr. 532013000", Sensitive::AccountNumber),
        ("sort code 20-00-00 55779911", Sensitive::AccountNumber),
        ("Sort code: 200000, account: 55779911", Sensitive::AccountNumber),
        ("20-00-00 55779911", Sensitive::AccountNumber),
        ("routing 021000021 account 123456", Sensitive::AccountNumber),
        ("ABA 0210-0002-1, acct 654321", Sensitive::AccountNumber),
        ("BSB 062-000 a/c 1234567", Sensitive::AccountNumber),
        ("BLZ 370 400 44 Konto 532013", Sensitive::AccountNumber),
        ("cuenta \u{ff11}\u{ff12}\u{ff13}\u{ff14}\u{ff15}\u{ff16}\u{ff17}\u{ff18}", Sensitive::AccountNumber),
        ("4111\u{2011}1111\u{200b}-1111 1111", Sensitive::CardNumber),
        ("Order 7 to account 12345678", Sensitive::AccountNumber),
    ] {
        assert_eq!(find(text), Some(kind), "{text}");
    }
}

#[test]
fn ordinary_facts_are_not() {
    for text in [
        "",
        "Ada Okafor",
        "4111 1111 1111 1112",
        "4111.1111.1111.1112",
        "4.111.111.111.111.111",
        "41.11.11.11.11.11.11.11",
        "GB82 WEST 1234 5698 7654 33",
        "IBANGB82WEST12345698765433",
        "1HGCM82633A004352",
        "US0378331005",
        "ISIN US0378331005",
        "parcel 123-456-789-000",
        "1Z999AA10123456784",
        "RR123456785US",
        "+14155550100",
        "+1 415 555 0100",
        "+1 4155550100",
        "Phone 4155550100",
        "(415) 555-0100",
        "12/31/2026",
        "20261231",
        "20261124",
        "payment on account 20261124",
        "payment on account 2026-11-24",
        "On account, 24.11.2026",
        "Account statement 20261124",
        "account 2026-0117",
        "account ending in 6789",
        "acct ****6789",
        "account no. 1001",
        "Konto 4711",
        "Konto 4711 vom 20261124",
        "account 12 2026-11-24",
        "+6221612084760",
        "on account 12345678.90",
        "accounting 12345678",
        "Account manager +1 415 555 0100",
        "discount 12345678",
        "Invoice 2026-117",
        "INV-20261124-0001",
        "Invoice 202611240001",
        "invoice no. 1234567890",
        "INV202611240001",
        "Order 1234567890",
        "Order #112-1234567-1234567",
        "PO 4500012345",
        "PO4500012345",
        "Tracking 123456789012",
        "APN 123456789",
        "Lot 12345678",
        "USD 1,250,000.00",
        "12-11-26 20261124",
        "sort code 20-00-00",
        "wire-2026-03-14.pdf",
        "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35",
        "UETR 97ed4827-7b6f-4491-a06f-123456789012",
        "20260314B1QGC08C000123",
    ] {
        assert_eq!(find(text), None, "{text}");
    }
}

fn iban(account: u64) -> String {
    let bban = format!("{account:018}");
    // Followed by DE00 in numbers: D is 13 and E is 14.
    let number = format!("{bban}131400");
    let rest = number.bytes().fold(0_u32, |rest, digit| (rest * 10 + u32::from(digit - b'0')) % 97);
    format!("DE{:02}{bban}", 98 - rest)
}

fn day() -> impl Strategy<Value = (u32, u32, u32)> {
    (1990..2070_u32, 1..=12_u32, 1..=28_u32)
}

proptest! {
    #[test]
    fn an_iban_is_found_however_it_is_written(
        account in 0..1_000_000_000_000_000_000_u64,
        label in prop::sample::select(vec!["", "IBAN", "iban ", "IBAN: ", "Pay to ", "to", "ref-"]),
        end in prop::sample::select(vec!["", " please", ".", "EUR"]),
        is_grouped: bool,
    ) {
        let compact = iban(account);
        let groups: Vec<String> = compact.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into_owned()).collect();
        let (label, end) = if is_grouped { (format!("{label} "), format!(" {end}")) } else { (label.to_owned(), end.to_owned()) };
        let text = format!("{label}{}{end}", if is_grouped { groups.join(" ") } else { compact });
        prop_assert!(find(&text).is_some() && has_iban(&text), "{}", text);
    }

    #[test]
    fn digits_behind_a_word_for_accounts_are_found(
        label in prop::sample::select(vec![
            "acct", "Acct.", "ACCT", "account number", "account no.", "Account #", "a/c", "A/C no", "Konto-Nr.", "Kontonummer", "Kto",
        ]),
        between in prop::sample::select(vec!["", " ", ": ", " - ", "="]),
        digits in "[3-9][0-9]{6,17}",
        end in prop::sample::select(vec!["", " thanks", ".pdf", ", please"]),
    ) {
        let text = format!("Wire to {label}{between}{digits}{end}");
        prop_assert!(find(&text).is_some(), "{}", text);
    }

    #[test]
    fn long_numbers_that_stand_alone_are_found(digits in "[0-9]{9,20}", around in prop::sample::select(vec![" ", ".", "(", "_", "-", ", "])) {
        let text = format!("Rent{around}{digits}{around}");
        prop_assert!(find(&text).is_some(), "{}", text);
    }

    #[test]
    fn a_date_is_no_account(
        (year, month, day) in day(),
        label in prop::sample::select(vec!["", "Due ", "on account ", "Konto vom ", "Account: ", "Invoice ", "wire-"]),
        form in 0..7_usize,
    ) {
        let date = [
            format!("{year}{month:02}{day:02}"),
            format!("{year}-{month:02}-{day:02}"),
            format!("{day:02}.{month:02}.{year}"),
            format!("{month:02}/{day:02}/{year}"),
            format!("{day:02}-{month:02}-{year}"),
            format!("{day:02} {month:02} {year}"),
            format!("{day:02}{month:02}{year}"),
        ];
        let text = format!("{label}{}", date[form]);
        prop_assert_eq!(find(&text), None, "{}", text);
    }

    #[test]
    fn identifiers_of_other_things_are_no_accounts(
        uuid: u128,
        isin in "(US|DE|GB|FR)[0-9A-Z]{9}[0-9]",
        vin in "[1-5][A-HJ-NPR-Z]{2}[A-HJ-NPR-Z0-9]{5}[0-9X][A-HJ-NPR-Z][A-HJ-NPR-Z][0-9]{6}",
        phone in "\\+[1-9][0-9]{8,13}",
        invoice in "(INV|RE|PO)-?20[0-9]{2}-[0-9]{3,5}",
        order in "(Order|Invoice|Tracking|PO|Parcel) (no\\. |#|number )?[0-9]{9,12}",
    ) {
        let uetr = uuid::Uuid::from_u128(uuid).to_string();
        for text in [&uetr, &isin, &vin, &phone, &invoice, &order] {
            prop_assert_eq!(find(text), None, "{}", text);
        }
        prop_assert_eq!(find(&format!("Closing {uetr} of {invoice}, {isin}")), None);
    }
}
