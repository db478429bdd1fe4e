//! The README of a bundle.

use shared::domain::bundle::{AgreementRecord, HistoryPart, LaterActs};
use shared::domain::organization::Organization;
use shared::limits;
use shared::platform::config::BaseUrl;

const NOT_HERE: &str = "What is not here, and why
-------------------------
Payment instructions, and answers of participants with bank details or with what looks like the number of an
account or a card: whoever checks an agreement need not know it. Where a line leaves an answer out, it says so.
Bank statements as files: they name the account in full, and have entries about others. Those that prove an
accepted payment are in statement_extracts.jsonl, with the file's SHA-256 and the account's last characters.
Banks' references of what was filed: at some banks they are account numbers. Those of statement entries are
here without such numbers.
Drafts of answers, and what was typed and never sent: only its author has seen it.
Calls that only looked at the agreement: they are in the organization's audit log.";

pub(crate) fn text(
    record: &AgreementRecord,
    organization: &Organization,
    service: &BaseUrl,
    has_certificate: bool,
) -> String {
    let agreement = &record.agreement;
    let certificate = if has_certificate {
        "certificate.pdf      who signed what, how and when, with the SHA-256 of each document"
    } else {
        "                     (no certificate: the agreement is not completed)"
    };
    format!(
        "Evidence of an agreement
========================

Agreement     {name}
Id            {id}
Organization  {organization}
State         {state}, as of {as_of}
Service       {service}
{part}
What is here
------------
agreement.json       the agreement as recorded, with its parties, documents, steps and conditions
{certificate}
documents/           each document of the agreement, byte for byte as it was shown and signed
uploads/             the files that participants uploaded, if any
scans/               the scans of what was signed on paper, if anything was
sender_evidence/     the documents that were filed about money being sent, if any
receiver_evidence/   the documents that were filed about money arriving, if any
obligations/         the files that show that obligations are done, if any
answers/             the files among the answers to information requests, if any
consent/             each text that participants consented to, if any
timeline.jsonl       every act on the agreement: when, who, what
receipts.jsonl       what each act of a participant left behind
file_reviews.jsonl   what members decided about files that participants uploaded for a review, if any
verifications.jsonl  the identity checks that members recorded
paper_signatures.jsonl  the signatures on paper that members recorded, whether or not they count
movements.jsonl      the payments: what is due between whom, and whether it is confirmed received
claims.jsonl         what the senders of payments say. A claim proves nothing
sender_evidence.jsonl  what was filed on the sender's side of a payment. It never proves an arrival
receiver_evidence.jsonl  what was filed on the receiving side, and what members decided about it
statement_extracts.jsonl  the entries of bank statements that prove accepted payments, as they were read
obligations.jsonl    what is owed: what people say is done, and who confirmed it
answers.jsonl        what participants answered to information requests, without numbers of accounts and cards
audit.jsonl          the audit row of each call in the timeline

A .jsonl file has a JSON object in each line. The names and email addresses of participants in
agreement.json, and the name of the organization there and above, are those of the time of the export;
everything else is as it was recorded.
A document is as it was filed: one from a bank may name accounts. Evidence that was rejected or withdrawn
says so in its line.

{NOT_HERE}

{how}
The signature says that the service recorded this. It is not a signature of the PDF files
themselves (PAdES), and no time stamp authority has confirmed the times (RFC 3161).
",
        part = record.part.as_ref().map(line).unwrap_or_default(),
        how = how_to_check(service),
        name = agreement.name.as_str(),
        id = agreement.id(),
        organization = organization.name.as_str(),
        state = agreement.lifecycle(),
        as_of = record.as_of(),
    )
}

pub(crate) fn of_acts(later: &LaterActs, organization: &Organization, service: &BaseUrl) -> String {
    format!(
        "Evidence of an agreement: later acts
====================================

Agreement     {name}
Id            {id}
Organization  {organization}
Service       {service}
{part}
What is here
------------
timeline.jsonl       the acts on the agreement: when, who, what
audit.jsonl          the audit row of each call in the timeline

Part 1 has everything else: documents, signatures, payments, and what it says is not there.

{how}
The signature says that the service recorded this. No time stamp authority has confirmed the times (RFC 3161).
",
        name = later.agreement.name.as_str(),
        id = later.agreement.id(),
        organization = organization.name.as_str(),
        part = line(&later.part),
        how = how_to_check(service),
    )
}

fn line(part: &HistoryPart) -> String {
    let HistoryPart { number, of, newest } = part;
    let last = part.first_act() + limits::BUNDLE_ACTS_MAX - 1;
    let acts = if number < of {
        format!("acts {} to {last} of the history", part.first_act())
    } else {
        format!("the history from act {} on", part.first_act())
    };
    format!("Part          {number} of {of}, with {acts}, as of {newest}\n")
}

fn how_to_check(service: &BaseUrl) -> String {
    format!(
        "How to check
------------
manifest.json has the SHA-256 of each file, and manifest.sig is the service's signature of it.
Drop the zip on this page of the service, which checks it in your browser and sends it nowhere:

  {service}/verify

Or get the public keys and the program from the service, not from whoever gave you this file:

  pip install cryptography
  curl -O {service}/app/verify_bundle.py
  curl -O {service}/app/evidence-keys.json
  python3 verify_bundle.py bundle.zip --keys evidence-keys.json

Keep the zip as you received it. Once it is unpacked and packed again, both still say whether
the contents are whole.
"
    )
}
