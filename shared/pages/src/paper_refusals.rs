//! Why a paper signature was not recorded.

use shared::domain::member::NotRecorded;
use shared::limits;

use crate::agreement_summary::size;
use crate::layout::Notice;

/// Says why a paper signature was not recorded, and what helps.
#[must_use]
pub fn refusal(refused: NotRecorded) -> Notice {
    let line = match refused {
        NotRecorded::NotActive(_) => "The agreement is no longer active.",
        NotRecorded::Unknown => "The agreement has no such document.",
        NotRecorded::Done => "The document is signed already.",
        NotRecorded::Declined => "A participant has declined. Reopen the condition first.",
        NotRecorded::NotAsked => "The agreement does not ask for this signature now.",
        NotRecorded::Replaced => "The document has changed since this page was shown. Compare the paper with it again.",
        NotRecorded::Unsigned => "The scan is the document itself, which nobody has signed.",
        NotRecorded::OtherBlocks => {
            "The places to sign have changed since this page was shown. Compare the paper with them again."
        }
        NotRecorded::Waiting => "Another paper signature for the same places needs confirmation first.",
        NotRecorded::TooMany => {
            "This participant has the most paper signatures that can be recorded, rejected ones included. They can still sign on screen."
        }
        NotRecorded::NoRoom => {
            let most = size(limits::BUNDLE_FILE_BYTES_MAX);
            let line = format!(
                "The files of this agreement would have more than {most} together, which its evidence can’t hold. Make the scan smaller."
            );
            return Notice::bad("Nothing was recorded", line);
        }
        NotRecorded::TooManyWaiting => {
            "Too many paper signatures in this agreement need confirmation. Confirm or reject some of them first."
        }
    };
    Notice::bad("Nothing was recorded", line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_says_what_helps() {
        let line = |refused| refusal(refused).lines.join(" ");
        assert!(line(NotRecorded::TooManyWaiting).contains("Confirm or reject"));
        let most = line(NotRecorded::TooMany);
        assert!(most.contains("rejected ones included") && !most.contains("Confirm"), "{most}");
    }
}
