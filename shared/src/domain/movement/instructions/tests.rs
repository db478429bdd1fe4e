use super::*;

fn read(kind: InstructionsKind, number: &str, code: &str) -> Result<BankInstructions, Vec<String>> {
    let typed = |part: &str| match part {
        "number" => number.to_owned(),
        "code" => code.to_owned(),
        "text" => format!("Pay {number} at {code}, branch 7"),
        _ => "Northwind Robotics".to_owned(),
    };
    let fields = |errors: FieldErrors| errors.into_list().into_iter().map(|error| error.field).collect();
    BankInstructions::read(kind, typed).map_err(fields)
}

#[test]
fn instructions_are_checked_by_their_kind() {
    let iban = read(InstructionsKind::Iban, "DE89 3704 0044 0532 0130 00", "DEUTDEFF").unwrap();
    assert_eq!((iban.kind(), iban.ending().as_str()), (InstructionsKind::Iban, "3000"));
    let aba = read(InstructionsKind::Aba, "000123456789", "021000021").unwrap();
    assert_eq!((aba.kind(), aba.ending().as_str()), (InstructionsKind::Aba, "6789"));
    for (kind, number, code, wrong) in [
        (InstructionsKind::Iban, "DE89 3704 0044 0532 0130 01", "", "number"),
        (InstructionsKind::Iban, "000123456789", "021000021", "number"),
        (InstructionsKind::Iban, "000123456789", "", "number"),
        (InstructionsKind::Aba, "DE89 3704 0044 0532 0130 00", "021000021", "number"),
        (InstructionsKind::Aba, "000123456789", "021000022", "code"),
        (InstructionsKind::Aba, "000123456789", "DEUTDEFF", "code"),
    ] {
        assert_eq!(read(kind, number, code).unwrap_err(), [wrong], "{number} {code}");
    }
    assert_eq!(read(InstructionsKind::Aba, "", "").unwrap_err(), ["number", "code"], "all at once");
    assert_eq!(read(InstructionsKind::Aba, "000123456789", "").unwrap_err(), ["code"]);
    let free = read(InstructionsKind::Other, "000123456789", "First Bank").unwrap();
    assert_eq!(
        (free.kind(), free.ending().as_str()),
        (InstructionsKind::Other, "6789"),
        "of a branch, too, there is a number"
    );
    for (text, ending) in [
        ("Account 000123456789, reference 2026", "6789"),
        ("Account 1234 5678 9012 at the branch in 10117 Berlin", "9012"),
        ("Phone 555-0100. Account NL-7731-00998877", "8877"),
    ] {
        let typed = |part: &str| if part == "text" { text.to_owned() } else { String::new() };
        assert_eq!(BankInstructions::read(InstructionsKind::Other, typed).unwrap().ending(), ending, "{text}");
    }
    assert_eq!(BankInstructions::read(InstructionsKind::Other, |_| String::new()).unwrap_err().into_list().len(), 1);
}

#[test]
fn every_number_of_a_free_text_is_an_account_to_compare() {
    let typed =
        |_: &str| "BSB 062-000, account 1234 5678, for further credit to DE89 3704 0044 0532 0130 00".to_owned();
    let free = BankInstructions::read(InstructionsKind::Other, typed).unwrap();
    let expected = ["062000", "12345678", "DE89370400440532013000"].map(|text| BankAccount::of_text(text).unwrap());
    assert!(free.accounts() == expected);
    for (text, wrong) in [
        ("Account ٠١٢٣٤٥٦٧٨".to_owned(), "digits"),
        ("account 六二二二八八一一, for credit of 12345678".to_owned(), "digits"),
        ("DЕ89 3704 0044 0532 0130 00".to_owned(), "letters A to Z"),
        ("routing 131000026, account 12345678".to_owned(), "routing number"),
        ("12345, ".repeat(21), "at most"),
        ("Pay at the counter of SWIFT DEUTDEFF, branch 7".to_owned(), "number of the account"),
        ("IBAN GB29 NWBK 6016 1331 9268 18, account 000123456789".to_owned(), "IBAN"),
    ] {
        let errors = BankInstructions::read(InstructionsKind::Other, |_| text.clone()).unwrap_err().into_list();
        assert!(errors[0].message.contains(wrong), "{errors:?}");
    }
}

#[test]
fn whoever_verifies_types_every_number_and_sees_none() {
    let typed = |_: &str| "BSB 062-000, account 1234 5678. For credit to DE89 3704 0044 0532 0130 00.".to_owned();
    let free = BankInstructions::read(InstructionsKind::Other, typed).unwrap();
    let to_type = free.to_type_again();
    let ToTypeAgain::Numbers { text, count } = &to_type else { panic!("{to_type:?}") };
    let expected = "BSB ▒▒▒▒ (number 1), account ▒▒▒▒ (number 2). For credit to ▒▒▒▒ (number 3).";
    assert_eq!((text.as_str(), *count), (expected, 3));
    let read = |numbers: [&'static str; 3]| {
        to_type.read(move |field: &str| match field {
            "number_1" => numbers[0],
            "number_2" => numbers[1],
            _ => numbers[2],
        })
    };
    assert!(read(["062000", "12345678", "IBAN DE89370400440532013000"]).unwrap() == free.accounts());
    let fields = |errors: FieldErrors| errors.into_list().into_iter().map(|error| error.field).collect::<Vec<_>>();
    assert_eq!(fields(read(["", "12345678", "*"]).unwrap_err()), ["number_1", "number_3"]);

    // A code without digits is typed too, and its placeholder says so.
    let typed = |_: &str| "SWIFT-BIC of bank FRAUDEFF, for credit of 12345678".to_owned();
    let code = BankInstructions::read(InstructionsKind::Other, typed).unwrap();
    let text = "SWIFT-BIC of bank ▒▒▒▒ (number 1: a code, or a word, of 8 letters), for credit of ▒▒▒▒ (number 2)";
    assert_eq!(code.to_type_again(), ToTypeAgain::Numbers { text: text.to_owned(), count: 2 });

    // However an account is written, none of its digits is shown, and each is typed.
    for written in [
        "account 1234.5678.9012",
        "account 1234/5678/9012",
        "account 1234  5678  9012",
        "account 1234\n5678\n9012",
        "account 1234 then 5678 then 9012",
        "IBAN DE89.3704.0044.0532.0130.00",
        "sort code 40.47.84",
    ] {
        for decoy in ["", ", for further credit 000123456789"] {
            let text = format!("{written}{decoy}");
            let free = BankInstructions::read(InstructionsKind::Other, |_| text.clone()).unwrap();
            let ToTypeAgain::Numbers { text: masked, count } = free.to_type_again() else { panic!("{text}") };
            let unnumbered = (1..=count).fold(masked, |text, at| text.replace(&format!("(number {at})"), ""));
            assert!(!unnumbered.contains(|letter: char| letter.is_ascii_digit()), "{text}: {unnumbered}");
            assert_eq!(free.accounts().len(), count, "{text}");
            let as_written = free.to_type_again().read(|field| {
                let at = field.trim_start_matches("number_").parse::<usize>().unwrap_or(1) - 1;
                numbers_in(&text).get(at).map_or("", |number| text.get(number.range.clone()).unwrap_or(""))
            });
            assert!(as_written.unwrap() == free.accounts(), "{text}");
        }
    }

    let aba = self::read(InstructionsKind::Aba, "000123456789", "021000021").unwrap();
    assert_eq!(aba.to_type_again().fields(), ["number", "code"]);
    let iban = self::read(InstructionsKind::Iban, "DE89 3704 0044 0532 0130 00", "").unwrap();
    assert_eq!(iban.to_type_again().fields(), ["number"]);
    // An impossible IBAN doesn't count as a try.
    let wrong = iban.to_type_again().read(|_| "DE89 3704 0044 0532 0130 01").unwrap_err();
    assert_eq!(fields(wrong), ["number"]);
}

#[test]
fn a_verification_says_who_read_out_and_where_the_number_is_from() {
    let read = |change: (&str, &'static str)| {
        NewVerification::read(move |part: &str| match part {
            part if part == change.0 => change.1,
            "read_out_by" => "Nora West",
            "method" => "call_back",
            "phone" => "+1 212 555 0100",
            "phone_source" => "earlier_dealings",
            _ => "",
        })
        .map_err(|errors| errors.into_list().into_iter().map(|error| error.field).collect::<Vec<_>>())
    };
    assert!(read(("", "")).is_ok());
    assert!(read(("phone", "(212) 555-0100")).is_ok());
    for (part, typed) in [
        ("read_out_by", " "),
        ("read_out_by", "000123456789"),
        ("method", ""),
        ("method", "signed_document"),
        ("phone", ""),
        ("phone", "reception"),
        ("phone", "000123456789"),
        ("phone_source", ""),
        ("phone_source", "the_message"),
    ] {
        assert_eq!(read((part, typed)), Err(vec![part.to_owned()]), "{typed}");
    }
    let in_person = NewVerification::read(|part| match part {
        "read_out_by" => "Nora West",
        "method" => "in_person",
        _ => "",
    });
    assert!(in_person.is_ok(), "{in_person:?}");
}

#[test]
fn what_is_kept_beside_the_ciphertext_tells_no_more_than_the_last_characters() {
    let keys = Keyring::new("one").unwrap();
    let movement = MovementId::new();
    let clear = read(InstructionsKind::Aba, "000123456789", "021000021").unwrap();
    let org = OrgId::new();
    let new = clear.sealed(&keys, org, movement, 1).unwrap();
    let stored = serde_json::to_string(&new.sealed).unwrap() + &serde_json::to_string(&new.accounts).unwrap();
    for said in [format!("{clear:?}"), format!("{new:?}"), stored] {
        assert!(!said.contains("12345") && !said.contains("021000021"), "{said}");
    }
    assert_eq!(new.sealed.opened(&keys).unwrap(), clear);
    assert!(keys.open(&new.sealed.sealed, &place(movement, 2)).is_err());
    assert!(keys.open(&new.sealed.sealed, &place(MovementId::new(), 1)).is_err());
    let full = clear.in_full();
    assert!(full.contains(&("Account number", "000123456789".to_owned())), "{full:?}");
}
