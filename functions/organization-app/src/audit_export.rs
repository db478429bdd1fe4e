//! The audit log as a file, as long as one response can be; its last record says where the next file continues.

use pages::audit_rows::caller_of;
use pages::csv::Csv;
use pages::response::PageResponse;
use pages::urls::AUDIT;
use shared::domain::audit::{AuditRow, Via};
use shared::error::Error;
use shared::limits;
use shared::service::audit;
use shared::text;
use shared::web::Request;

use crate::audit_query::{AuditQuery, Typed};

const HEAD: [&str; 12] = [
    "time",
    "request_id",
    "actor_type",
    "actor_id",
    "actor_name",
    "operation",
    "what",
    "outcome",
    "status",
    "code",
    "objects",
    "via",
];

pub(crate) async fn export(request: &mut Request) -> Result<PageResponse, Error> {
    let scope = request.signed_in()?.scope();
    let mut typed = Typed::read(request)?;
    let query = match AuditQuery::read(request, &mut typed)? {
        Ok(query) if query.object_name.is_none() => query,
        // The page shows the error, or finds the object by its name.
        _ => return Ok(PageResponse::see_other(typed.url(None))),
    };
    let found = audit::export(scope, query.days, &query.filter, query.before).await?;
    let mut csv = Csv::new();
    csv.push(HEAD);
    let mut next = found.next;
    let mut last = query.before;
    for row in &found.rows {
        if csv.size() > limits::AUDIT_EXPORT_BYTES_MAX {
            next = last;
            break;
        }
        push(&mut csv, row, &caller_of(row, &found.names));
        last = Some(row.request_id);
    }
    if let Some(next) = next {
        let base = &request.app().base_url;
        let note = format!("More rows follow. Get them at {base}{AUDIT}/export?{}", typed.to_query(Some(next)));
        csv.push(std::iter::once(note.as_str()).chain(std::iter::repeat_n("", HEAD.len() - 1)));
    }
    let name = format!("audit-{}-to-{}.csv", typed.from, typed.to);
    Ok(PageResponse::file(csv.into_string().into(), "text/csv; charset=utf-8", "attachment", &name))
}

fn push(csv: &mut Csv, row: &AuditRow, caller: &str) {
    let objects: Vec<String> = row.objects.iter().map(ToString::to_string).collect();
    csv.push([
        row.at.to_string().as_str(),
        &row.request_id.to_string(),
        row.caller.actor_type.as_str(),
        &row.caller.id.map_or_else(String::new, |id| id.to_string()),
        caller,
        &row.operation,
        &text::operation(&row.operation).did,
        row.outcome().as_str(),
        &row.status.to_string(),
        &row.code,
        &objects.join(" "),
        row.via.map_or("", Via::as_str),
    ]);
}
