use super::*;
use crate::domain::movement::evidence::EvidenceFile;
use crate::domain::movement::safe_text::SafeLine;
use crate::limits;

#[test]
fn a_withdrawn_claim_stays_in_the_history_and_no_event_tells_of_it() {
    use Try::{Claim, Paper, Publish, SortWhole, Withdraw};

    let mut world = World::new(1);
    for what in [SortWhole(0), Paper, Publish] {
        assert!(world.attempt(0, what).is_some(), "{what:?}");
    }
    let agreement = world.agreement_of(0).cloned();
    let context = FundingContext { agreement: agreement.as_ref(), moment: Moment::test(noon()) };
    let reason = SafeNote::parse("It is another account").unwrap();
    let nothing = withdraw_claim(&member("Maren"), &world.items[0], context, reason);
    assert_eq!(nothing, Err(NotDone::NothingClaimed));
    let before = FundingSummary::of(&world.items);
    for count in 1..=limits::CLAIMS_WITHDRAWN_MAX {
        assert_eq!(world.attempt(0, Claim), Some(Vec::new()));
        assert_eq!(world.attempt(0, Withdraw), Some(Vec::new()));
        let item = &world.items[0];
        assert_eq!((item.phase(), item.claim(), item.withdrawn_claims().len()), (Phase::InProgress, None, count));
        assert_eq!(FundingSummary::of(&world.items), before);
    }
    let last = record_claim(&member("Maren"), &world.items[0], context, None);
    assert_eq!(last, Err(NotDone::TooManyClaims));
}

#[test]
fn a_file_is_filed_once_and_again_only_after_it_was_rejected() {
    use Try::{Paper, Publish, Reject, SortWhole};

    let mut world = World::new(1);
    for what in [SortWhole(0), Paper, Publish] {
        assert!(world.attempt(0, what).is_some(), "{what:?}");
    }
    let agreement = world.agreement_of(0).cloned();
    let context = FundingContext { agreement: agreement.as_ref(), moment: Moment::test(noon()) };
    let letter = |name: &str| {
        let stored = DocumentContent { sha256: "5f".repeat(32), size_bytes: 9 };
        let file = EvidenceFile { name: SafeLine::parse(name).unwrap(), content: stored, file_type: None };
        NewProof { file: Some(file), ..proof() }
    };
    world.items[0] =
        file_proof(&member("Maren"), &world.items[0], context, letter("letter.pdf")).unwrap().item.into_inner();
    let again = file_proof(&member("Noah"), &world.items[0], context, letter("copy.pdf"));
    assert_eq!(again, Err(NotDone::SameFile));
    assert!(world.attempt(0, Reject).is_some());
    assert!(file_proof(&member("Noah"), &world.items[0], context, letter("copy.pdf")).is_ok());
}
