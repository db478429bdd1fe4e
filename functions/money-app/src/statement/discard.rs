//! Discards a statement without filed entries, such as one exported wrongly.

use pages::done::{redirect_with_notice, with_notice};
use pages::layout::Notice;
use pages::response::PageResponse;
use pages::urls::{STATEMENTS, statement_url};
use shared::domain::ids::StatementId;
use shared::error::Error;
use shared::service::statements as stored;
use shared::web::Request;

pub(crate) async fn discard(request: &mut Request) -> Result<PageResponse, Error> {
    let submitted = request.submitted_form()?;
    let id: StatementId = request.path_id("id")?;
    let next = "Its file can be uploaded again.";
    let redirect = redirect_with_notice(&submitted, format!("{STATEMENTS}#notice"), "Statement discarded", next).await;
    let (scope, by) = (submitted.scope(), submitted.submitter());
    if submitted.run(|| stored::discard(scope, by, id)).await? {
        return Ok(redirect.into());
    }
    let notice = Notice::bad(
        "The statement stays",
        "An entry of it was filed as evidence, and that evidence names the statement.",
    );
    Ok(with_notice(&submitted, format!("{}#notice", statement_url(id)), &notice).await.into())
}
