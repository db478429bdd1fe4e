use proptest::prelude::*;

use super::*;

const HEX: &str = "e9873d79c6d87dc0fb6a5778633389f4453213303da61f20bd67fc233aa33262";

/// Checksums are valid.
const REFUSED_KINDS: [(&str, &[&str]); 5] = [
    (
        "account",
        &[
            "Checking 000123456789",
            "acct. 1234567",
            "IBAN DE89 3704 0044 0532 0130 00",
            "DE89370400440532013000",
            "CLABE 032180000118359719",
            // Each happens to have a valid CUSIP check digit.
            "account 037833100",
            "Savings at First National, 037833100",
            "Call the bank about 4155550100",
            "Contact: account 4155550100",
            "Call Jane or anyone else of hers at 4155550100",
            "Contact: 1155550100",
        ],
    ),
    (
        "card",
        &[
            "4111 1111 1111 1111",
            "4111111111111111",
            "5555-5555-5555-4444",
            "3782 822463 10005",
            "visa 2223003122003222",
            "4111.1111.1111.1111",
            "4111 - 1111 - 1111 - 1111",
        ],
    ),
    (
        "taxpayer",
        &[
            "123-45-6789",
            "SSN 123 45 6789",
            "Revocable trust, Tax ID 123-45-6789",
            "tax identification number 123-45-6789",
            "Tax ID 123456789",
            "document 123-45-6789",
            "ITIN 912-72-1234.",
            "123\u{2011}45\u{2011}6789",
            "SSN123-45-6789",
            "123 - 45 - 6789",
            "123.45.6789",
            "SSN: 078051120",
        ],
    ),
    (
        "key",
        &[
            "5Kb8kLf9zgWQnogidDA76MzPL6TsZZY36hWXMssSzNydYXYB9KF",
            "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1",
            HEX,
            "-----BEGIN EC PRIVATE KEY-----",
            "AKIAIOSFODNN7EXAMPLE",
        ],
    ),
    (
        "words of a wallet",
        &[
            "legal winner thank year wave sausage worth useful legal winner thank yellow",
            "Legal Winner Thank Year Wave Sausage Worth Useful Legal Winner Thank Yellow",
            "LEGAL WINNER THANK YEAR WAVE SAUSAGE WORTH USEFUL LEGAL WINNER THANK YELLOW",
            "legal, winner, thank, year, wave, sausage, worth, useful, legal, winner, thank, yellow",
            "The wallet: legal winner thank year wave sausage worth useful legal winner thank yellow, in the safe",
            "coin wallet legal winner thank year wave sausage worth useful legal winner thank yellow paper safe",
            "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal will",
            "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner \
             thank year wave sausage worth title",
            "letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount doctor acoustic avoid letter always",
            "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group space point ten exist slush involve unfold",
            "1. letter 2. advice 3. cage 4. absurd 5. amount 6. doctor 7. acoustic 8. avoid 9. letter 10. advice 11. cage 12. above",
        ],
    ),
];

const ORDINARY: [(&str, &[&str]); 10] = [
    (
        "vehicle",
        &["1HGCM82633A004352", "1M8GDM9AXKP042788", "VIN 5YJSA1E26HF000337", "2019 Honda CR-V", "WP0ZZZ99ZTS392124"],
    ),
    (
        "parcel",
        &[
            "APN 264-14-015",
            "Parcel no. 0610020310",
            "Folio 30-4021-001-0010",
            // This one would pass a card's check digit.
            "Folio 30-4021-001-0008",
            "parcel 123-45-6789",
            "Tax ID 12-34-567-890",
            "tax parcel 123-45-6789",
            "Tax lot 123456789",
            "Parcel tax ID 123456789",
            "PIN 14-28-322-038-1001",
            "264-14-015-0000",
            "Parcel Identification Number 061002031000",
            "Parcel ID: 061002031000",
            "A.P.N. 264140150001",
            "A.P.N.: 264140150001",
            "Parcel - 264140150001",
        ],
    ),
    (
        "record",
        &[
            "recorded as Instrument No. 20260112345678",
            "Book 1204, Page 88",
            "Document 2026-0098123",
            "Docket 1234567890",
        ],
    ),
    (
        "security",
        &[
            "US0378331005",
            "ISIN DE0007164600",
            "CH0038863350",
            "CUSIP 037833100",
            "037833100",
            "38259P508",
            "912828U81",
            "SEDOL 0263494",
        ],
    ),
    (
        "phone",
        &[
            "+1 415 555 0100",
            "(415) 555-0100",
            "415-555-0100",
            "415.555.0100",
            "phone 4155550100",
            "+44 20 7946 0958",
            "+4989123456789",
            "Call Jane at 4155550100",
            "Contact: 4155550100",
            "Reach her under 4155550100 in the morning",
        ],
    ),
    ("date", &["2026-11-24", "11/24/2026", "20261124", "24.11.2026", "November 24, 2026", "2026-11-24T09:26:53Z"]),
    (
        "policy",
        &[
            "Policy 8123456789",
            "policy no. 000123456789",
            "Policy number LN-0048213377",
            "certificate no. 1002003004",
            "Certificate No. 0001234567",
            "Certificate Number: 0001234567",
        ],
    ),
    ("money", &["USD 1,250,000.00", "5,123,456", "33.25"]),
    (
        "place",
        &[
            "Lot 7, Block 3, Pine Hills, according to Plat Book 12, Page 88",
            "1600 Pine Street, Unit 12, Miami, FL 33131-1234",
            "sofa, chairs, tables, lamps, rugs, books, china, silver, jewelry, watches, clothing, tools",
            "table chair lamp rug mirror piano bicycle camera guitar clock sofa desk bed shelf",
            "beginning at an iron pin thence north forty rods along stone wall thence east along brook thence south along road",
            "all the furniture and household goods that are in the main residence of the settlor at the time of signing",
        ],
    ),
    (
        "other",
        &[
            "EIN 12-3456789",
            "0xde0B295669a9FD93d5F28D9Ec85E40f4cb697BAe",
            "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
            "12345678",
            "4411",
            "01980a3e-5f10-7c44-9a6b-2f1d8e0c7b35",
            "חשבון אצל הבנק הראשון",
        ],
    ),
];

#[test]
fn numbers_and_keys_are_refused() {
    for (kind, texts) in REFUSED_KINDS {
        for text in texts {
            assert_eq!(check(text).map_err(|(code, _)| code), Err(FieldCode::SensitiveValue), "{kind}: {text}");
        }
    }
    assert!(check(&format!("the key is 0x{HEX}")).is_err());
    for text in ["4111111111111111", "4111.1111.1111.1111", "DE89370400440532013000", "123-45-6789", "SSN123-45-6789"] {
        assert!(check_identifier(text).is_err(), "{text}");
    }
}

#[test]
fn ordinary_facts_pass() {
    for (kind, texts) in ORDINARY {
        for text in texts {
            assert_eq!(check(text), Ok(()), "{kind}: {text}");
        }
    }
    for text in ["018234567", "5,123,456", "1HGCM82633A004352", "US 11,234,567 B2"] {
        assert_eq!(check_identifier(text), Ok(()), "{text}");
    }
}

/// With one digit more or fewer the checksum fails: texts too short for an account pass.
#[test]
fn a_checksum_decides_where_there_is_one() {
    assert!(check("5Kb8kLf9zgWQnogidDA76MzPL6TsZZY36hWXMssSzNydYXYB9KF").is_err());
    assert_eq!(check("5Kb8kLf9zgWQnogidDA76MzPL6TsZZY36hWXMssSzNydYXYB9KG"), Ok(()));
    assert!(check("DE89 3704 0044 0532 0130 00").is_err());
    assert_eq!(check("DE88 3704 0044 0532 0130 00"), Ok(()));
    assert!(check_identifier("4111111111111111").is_err());
    assert_eq!(check_identifier("4111111111111112"), Ok(()));
    assert_eq!(check("037833100"), Ok(()));
    assert!(check("037833101").is_err(), "no CUSIP");
    assert!(check("legal winner thank year wave sausage worth useful legal winner thank yellow").is_err());
    assert_eq!(check("legal winner thank year wave sausage worth useful legal winner thank winner"), Ok(()));
}

#[test]
fn a_word_names_the_number_that_follows_it_and_no_other() {
    assert!(check("Parcel 0610020310, paid from account 000123456789").is_err());
    assert!(check("parcel is bought with 000123456789").is_err());
    assert!(check("parcel 4111 1111 1111 1111").is_err(), "a card has a checksum");
    assert!(check("folio 4111-1111-1111-1111").is_err(), "in the groups of a card");
    assert!(check("policy 4111111111111111").is_err());
}

fn card(digits: &[u8]) -> String {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(*digit);
            if at % 2 == 1 {
                digit
            } else if digit > 4 {
                digit * 2 - 9
            } else {
                digit * 2
            }
        })
        .sum();
    let text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    format!("{text}{}", (10 - sum % 10) % 10)
}

fn grouped(digits: &str, groups: &[usize], by: &str) -> String {
    let mut rest = digits;
    let mut parts = Vec::new();
    for group in groups {
        let (part, behind) = rest.split_at(*group);
        parts.push(part);
        rest = behind;
    }
    parts.join(by)
}

proptest! {
    #[test]
    fn ordinary_facts_pass_whatever_their_digits(
        vin in "[1-5][A-HJ-NPR-Z]{2}[A-HJ-NPR-Z0-9]{5}[0-9X][A-HJ-NPR-Z][A-HJ-NPR-Z][0-9]{6}",
        isin in "(US|DE|GB|FR|CH)[0-9]{10}",
        phone in "\\+1 [2-9][0-9]{2} [2-9][0-9]{2} [0-9]{4}",
        folio in "[0-9]{13}",
        policy in "[0-9]{8,12}",
        date in "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])",
    ) {
        let folio = grouped(&folio, &[2, 4, 3, 4], "-");
        for text in [vin, isin, phone, format!("Folio {folio}"), format!("Policy no. {policy}"), date] {
            prop_assert_eq!(check(&text), Ok(()), "{}", text);
        }
    }

    #[test]
    fn cards_and_taxpayers_are_found_whatever_their_digits(
        first in prop::sample::select(vec![3_u8, 4, 5, 6]),
        digits in prop::collection::vec(0..10_u8, 14),
        area in (1..899_u16).prop_filter("issued", |area| *area != 666),
        (group, serial) in (1..100_u16, 1..10_000_u16),
        before in prop::sample::select(vec!["", "paid with ", "Card: ", "parcel "]),
    ) {
        let number = card(&std::iter::once(first).chain(digits).collect::<Vec<_>>());
        for text in [number.clone(), grouped(&number, &[4, 4, 4, 4], " "), grouped(&number, &[4, 4, 4, 4], "-")] {
            prop_assert!(check(&format!("{before}{text}")).is_err(), "{}{}", before, text);
        }
        let taxpayer = format!("{area:03}-{group:02}-{serial:04}");
        prop_assert!(check(&taxpayer).is_err() && check(&format!("SSN {taxpayer}.")).is_err(), "{}", taxpayer);
    }
}
