//! The deal that `--seed demo` adds: made through the API itself, in process and with a real token, so that it is
//! checked, audited and stored like anything else.

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::error::in_one_line;

/// The people and entities of the deal: name, kind, e-mail, and the firm's own number for them.
const CONTACTS: &[(&str, &str, Option<&str>, &str)] = &[
    ("Northwind Robotics, Inc.", "corporation", Some("legal@northwind.example"), "CRM-1001"),
    ("Priya Raman", "person", Some("priya@northwind.example"), "CRM-1002"),
    ("Tomás Álvarez", "person", Some("tomas@northwind.example"), "CRM-1003"),
    ("Juniper Seed Fund II, LP", "partnership", Some("deals@juniper.example"), "CRM-1004"),
    ("Hana Weiß", "person", Some("hana.weiss@juniper.example"), "CRM-1005"),
    ("Cobalt Angels LLC", "llc", Some("hello@cobalt.example"), "CRM-1006"),
    ("The Ellery Household", "household", Some("ellery@mail.example"), "CRM-1007"),
    ("Ellery Family Trust", "trust", None, "CRM-1008"),
    ("Riverside Makers Foundation", "nonprofit", Some("grants@riverside.example"), "CRM-1009"),
];

/// The deals: name, and the numbers of those who take part.
const WORKSPACES: &[(&str, &[&str])] = &[
    ("Northwind Robotics: seed round", &["CRM-1001", "CRM-1002", "CRM-1003", "CRM-1004", "CRM-1005", "CRM-1006"]),
    ("Ellery family trust funding", &["CRM-1007", "CRM-1008"]),
];

/// Adds the deal to the organization that the token belongs to.
pub(crate) async fn add(api: &Router, token: &str) -> Result<(), String> {
    let mut ids = std::collections::HashMap::new();
    for &(display_name, kind, email, reference) in CONTACTS {
        let contact = json!({
            "display_name": display_name, "kind": kind, "email": email, "external_reference": reference,
        });
        ids.insert(reference, id(&post(api, token, "/api/v1/contacts", &contact).await?)?);
    }
    for &(name, people) in WORKSPACES {
        let workspace = id(&post(api, token, "/api/v1/workspaces", &json!({ "name": name })).await?)?;
        for reference in people {
            let path = format!("/api/v1/workspaces/{workspace}/contacts");
            post(api, token, &path, &json!({ "contact_id": ids.get(reference) })).await?;
        }
    }
    Ok(())
}

async fn post(api: &Router, token: &str, path: &str, body: &Value) -> Result<Value, String> {
    let request = Request::post(path)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .map_err(|error| in_one_line(&error))?;
    let response = match api.clone().oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let status = response.status();
    let bytes = response.into_body().collect().await.map_err(|error| in_one_line(&error))?.to_bytes();
    if status != StatusCode::CREATED {
        return Err(format!("POST {path} answered {status}: {}", String::from_utf8_lossy(&bytes)));
    }
    serde_json::from_slice(&bytes).map_err(|error| in_one_line(&error))
}

fn id(record: &Value) -> Result<String, String> {
    record["id"].as_str().map(str::to_owned).ok_or_else(|| format!("a record without an id: {record}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_part_is_a_contact() {
        for (workspace, people) in WORKSPACES {
            for reference in *people {
                assert!(CONTACTS.iter().any(|contact| contact.3 == *reference), "{reference} in {workspace}");
            }
        }
    }
}
