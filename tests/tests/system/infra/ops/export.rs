//! `ops export`: everything of an organization, nothing secret, also after an interruption.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use aws_sdk_dynamodb::types::AttributeValue;
use files::Files;
use ops::export::{ExportError, FILES, MANIFEST, RECORDS, export};
use serde_json::Value;
use shared::crypto::sha256_hex;
use shared::domain::ids::OrgId;
use shared::platform::files::FileStore;
use tempfile::TempDir;

use super::items::{Items, text};
use super::verify::demo;

fn lines(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(RECORDS)).expect("the records");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn manifest(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join(MANIFEST)).expect("the manifest")).expect("JSON")
}

#[tokio::test]
async fn an_export_has_the_records_and_files_of_one_organization_and_no_secret() {
    let dir = TempDir::new().expect("a folder");
    let (_stack, table) = demo(&dir).await;
    let (store, items) = (table.store(), Items::of(&table).await);
    let files = Files::in_folder(&dir.path().join("files")).expect("the files of the demo");
    let partition = text(items.first("#CONTACTS", ""), "pk").to_owned();
    let prefix = partition.trim_end_matches("CONTACTS");
    let org: OrgId = prefix.trim_start_matches("ORG#").trim_end_matches('#').parse().expect("an id");
    let to = dir.path().join("export");
    let exported = export(&store, Some(&files as &dyn FileStore), org, &to).await.expect("an export");
    assert!(exported.files > 0 && exported.missing.is_empty(), "{exported:?}");

    let (lines, manifest) = (lines(&to), manifest(&to));
    assert_eq!(lines.len() as u64, exported.records);
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).count();
    let stored = |part: &str| items.all(&format!("{prefix}{part}"), ".").count();
    for (kind, part) in [("contact", "CONTACT#"), ("agreement", "AGREEMENT#"), ("movement", "MOVEMENT#")] {
        assert_eq!((of(kind), of(kind) > 0), (stored(part), true), "{kind}");
        assert_eq!(manifest["records"]["kinds"][kind], of(kind), "{kind}");
    }
    assert_eq!(of("audit row"), items.all(&format!("{prefix}AUDIT#1"), "").count());
    assert_eq!((of("organization"), of("token") > 0, of("account"), of("row of a list")), (1, true, 0, 0));

    let all = fs::read_to_string(to.join(RECORDS)).expect("the records");
    assert_eq!(manifest["records"]["sha256"], sha256_hex(all.as_bytes()));
    for file in manifest["files"].as_array().expect("files") {
        let bytes = fs::read(to.join(file["path"].as_str().expect("a path"))).expect("the file");
        assert_eq!((&file["sha256"], &file["size_bytes"]), (&sha256_hex(&bytes).into(), &bytes.len().into()));
    }
    for token in items.all("TOKEN#", ".") {
        let hash = text(token, "pk").trim_start_matches("TOKEN#");
        assert!(!all.contains(hash), "the hash of a token");
    }
    let sealed: BTreeSet<&str> = items.0.values().flat_map(HashMap::values).flat_map(sealed_texts).collect();
    assert!(!sealed.is_empty() && sealed.iter().all(|text| !all.contains(*text)), "what is sealed");
    assert!(!all.contains("argon2") && !all.contains("secret_hash"));

    // The same again after an interruption: lines that a crash left behind are truncated.
    fs::write(to.join(RECORDS), format!("{all}{{\"half\": ")).expect("a torn line");
    let position = serde_json::json!({
        "walk": format!("export of the organization {org} in the table {}", store.table()),
        "behind": null, "items": 0, "counts": {"bytes": 0, "kinds": {}},
    });
    fs::write(to.join("position.json"), position.to_string()).expect("a position");
    let again = export(&store, Some(&files as &dyn FileStore), org, &to).await.expect("an export");
    assert_eq!((again, fs::read_to_string(to.join(RECORDS)).expect("the records")), (exported, all));
    assert!(!to.join("position.json").exists());

    let one = fs::read_dir(to.join(FILES)).expect("files").next().expect("a file").expect("a file").path();
    fs::remove_file(&one).expect("it is gone");
    let without = export(&store, None, org, &to).await.expect("an export");
    let name = one.file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(without.missing, [name]);
    let other = items.find("#ORGANIZATION", ".", |item| text(item, "pk") != format!("{prefix}ORGANIZATION"));
    let other: OrgId = text(other, "id").parse().expect("an id");
    let refused = export(&store, None, other, &to).await;
    assert!(matches!(refused, Err(ExportError::OtherOrganization)), "{refused:?}");
    let nobody = export(&store, None, OrgId::new(), &to).await;
    assert!(matches!(nobody, Err(ExportError::NoSuchOrganization)), "{nobody:?}");
}

fn sealed_texts(value: &AttributeValue) -> Vec<&str> {
    match value {
        AttributeValue::M(members) => {
            let is_sealed = members.len() == 2 && members.contains_key("key");
            let own = members.get("text").filter(|_| is_sealed).and_then(|text| text.as_s().ok());
            let digest = members.get("exact").and_then(|digest| digest.as_s().ok());
            let own = own.into_iter().chain(digest).map(String::as_str);
            own.chain(members.values().flat_map(sealed_texts)).collect()
        }
        AttributeValue::L(list) => list.iter().flat_map(sealed_texts).collect(),
        _ => Vec::new(),
    }
}
