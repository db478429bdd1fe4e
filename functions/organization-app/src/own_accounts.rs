//! An organization's own accounts on its page: members mark, agree to and remove them.

use pages::done::redirect_with_notice;
use pages::fields::Fields;
use pages::form;
use pages::layout::Notice;
use pages::response::PageResponse;
use shared::domain::bank_account::BankAccount;
use shared::domain::ids::OwnAccountId;
use shared::domain::own_account::agreeing::NotOwned;
use shared::error::Error;
use shared::limits;
use shared::service::own_accounts;
use shared::web::{Request, SubmittedForm};

use crate::organization::{Shown, organization_page};

form! {
    /// An account that is the organization’s.
    pub(crate) OWN_ACCOUNT: OwnAccountForm {
        account: Field::key("account", "Account", 100).called("The account").secret().required().hint(
            "Its account number or IBAN, or the bank’s code and the number, such as 021000021/123456789. Only the last characters are kept, and a digest to compare statements with.",
        ),
    }
}

const SECTION: &str = "/app/organization#own-accounts";

pub(crate) async fn say(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let typed = submitted.form().get(OWN_ACCOUNT.account);
    let Some(account) = BankAccount::named(typed).filter(|account| !account.ending().is_empty()) else {
        let error = if typed.trim().is_empty() {
            "must be typed"
        } else {
            "must be an account number or an IBAN, with no digit hidden. It is never shown again, so type it once more"
        };
        let shown = Shown { own_account: Fields::wrong_one(OWN_ACCOUNT.account, error), ..Shown::default() };
        return Ok(organization_page(request, shown).await?.unprocessable());
    };
    let id = submitted.new_id::<OwnAccountId>();
    let keys = request.app().webhooks()?.keys.keyring().await?;
    let line = "It counts once a second member agrees, or at once if no other member counts as one.";
    let redirect = redirect_with_notice(&submitted, SECTION.to_owned(), "Own account added", line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| own_accounts::say(scope, by, &keys, id, &account)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => refuse(request, refused).await,
    }
}

pub(crate) async fn agree(request: &mut Request) -> Result<PageResponse, Error> {
    let (submitted, id): (SubmittedForm<'_>, OwnAccountId) = (request.submitted_form()?, request.path_id("id")?);
    let line = "A statement of it is known as your organization’s from now on.";
    let redirect = redirect_with_notice(&submitted, SECTION.to_owned(), "Own account confirmed", line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| own_accounts::agree(scope, by, id)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => refuse(request, refused).await,
    }
}

pub(crate) async fn remove(request: &mut Request) -> Result<PageResponse, Error> {
    let (submitted, id): (SubmittedForm<'_>, OwnAccountId) = (request.submitted_form()?, request.path_id("id")?);
    let line = "A statement of it is of an unknown account again. What was filed before stays as it is.";
    let redirect = redirect_with_notice(&submitted, SECTION.to_owned(), "Own account removed", line).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    match submitted.run(|| own_accounts::remove(scope, by, id)).await? {
        Ok(()) => Ok(redirect.into()),
        Err(refused) => refuse(request, refused).await,
    }
}

async fn refuse(request: &Request, refused: NotOwned) -> Result<PageResponse, Error> {
    let line = match refused {
        NotOwned::Unknown => "The account is not among your own anymore.".to_owned(),
        NotOwned::SaidAlready => "The account is among your own already, or waits there for a second member.".to_owned(),
        NotOwned::Full => {
            format!("{} accounts are your own, the most that an organization can have.", limits::OWN_ACCOUNTS_MAX)
        }
        NotOwned::Own => "You said so first, so another member has to agree.".to_owned(),
        NotOwned::OneSelf => {
            "You and the member who said so first count as one person: one of you invited the other, or reset the other’s password or second factor, in the last 7 days. Another member has to agree.".to_owned()
        }
    };
    let shown = Shown::from(Notice::bad("Nothing was changed", line));
    Ok(organization_page(request, shown).await?.conflicting())
}
