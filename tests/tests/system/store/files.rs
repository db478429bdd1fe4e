//! Stored files: what colliding calls, clocks and failures leave of them.

use aws_sdk_dynamodb::types::AttributeValue;
use bytes::Bytes;
use futures_util::future::{BoxFuture, join, join_all};
use shared::domain::agreement::DocumentContent;
use shared::domain::ids::OrgId;
use shared::domain::time::Timestamp;
use shared::error::Error;
use shared::limits;
use shared::platform::files::{FileStore, FilesError, Removed, keep_one, remove_unnamed};
use shared::service::system::SystemContext;
use shared::store::due::DueEntry;
use shared::store::files::Upload;
use shared::store::keys::{Due, Key};
use tests::stack::Needs;
use tests::wait::eventually;
use tests::{Org, rows};

const DEED: Bytes = Bytes::from_static(b"A deed");

async fn alone() -> Org {
    Org::with(Needs::OWN.without_background()).await
}

async fn upload(org: &Org) -> Result<SystemContext, Error> {
    let call = org.system();
    keep_one(&call, &**org.stack().files(), DEED).await.map(|_| call)
}

async fn end(org: &Org, call: &SystemContext, took_effect: bool) {
    let table = org.stack().table();
    let (partition, call) = (format!("ORG#{}#AUDIT#1", org.id), call.call().request_id().to_string());
    let put = table.client().put_item().table_name(&table.name);
    let put = put.item("pk", AttributeValue::S(partition)).item("sk", AttributeValue::S(call));
    let put = put.item("code", AttributeValue::S(if took_effect { "ok" } else { "conflict" }.to_owned()));
    let attempt = took_effect.then(|| ("attempt".to_owned(), AttributeValue::N("0".to_owned())));
    attempt.into_iter().fold(put, |put, (name, value)| put.item(name, value)).send().await.expect("a row");
}

async fn upload_in_vain(org: &Org) {
    end(org, &upload(org).await.expect("it is stored"), false).await;
}

async fn entries(org: &Org) -> Vec<DueEntry> {
    let items = rows::due_items(org.stack().table(), org.id, Due::Upload).await;
    items.iter().filter_map(Key::of).filter_map(DueEntry::of).collect()
}

async fn tick(org: &Org, files: &dyn FileStore) -> Vec<Result<Removed, Error>> {
    let mut done = Vec::new();
    for entry in entries(org).await {
        done.push(remove_unnamed(files, org.store(), &entry).await);
    }
    done
}

async fn is_stored(org: &Org) -> bool {
    org.stack().files().get(org.id, &DocumentContent::of(&DEED)).await.is_ok()
}

async fn the_clock_is_lost(org: &Org) {
    let table = org.stack().table();
    let partition = format!("ORG#{}#STOREDFILE#{}", org.id, DocumentContent::of(&DEED).sha256);
    let long_ago = Timestamp::now().plus_seconds(-limits::FILE_REMOVAL_S - 1).unix_ms().to_string();
    let update = table.client().update_item().table_name(&table.name);
    let update = update.key("pk", AttributeValue::S(partition)).key("sk", AttributeValue::S(".".to_owned()));
    let update = update.update_expression("SET removing = :at").condition_expression("attribute_exists(removing)");
    let update = update.expression_attribute_values(":at", AttributeValue::N(long_ago));
    update.send().await.expect("a clock began to remove it");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    Met,
    LostBefore,
    LostAfter,
}

#[derive(Debug)]
struct Meeting<'a> {
    org: &'a Org,
    on: Removal,
}

impl FileStore for Meeting<'_> {
    fn put<'a>(&'a self, upload: &'a Upload, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        self.org.stack().files().put(upload, file)
    }

    fn get<'a>(&'a self, org: OrgId, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        self.org.stack().files().get(org, content)
    }

    fn remove<'a>(&'a self, org: OrgId, sha256: &'a str) -> BoxFuture<'a, Result<(), FilesError>> {
        Box::pin(async move {
            let lost = Err(FilesError::Store("lost".to_owned()));
            match self.on {
                Removal::Met => {
                    let met = upload(self.org).await;
                    assert!(matches!(met, Err(Error::Conflict)), "it waits for the removal, in vain: {met:?}");
                }
                Removal::LostBefore => return lost,
                Removal::LostAfter => {}
            }
            self.org.stack().files().remove(org, sha256).await?;
            if self.on == Removal::LostAfter { lost } else { Ok(()) }
        })
    }

    fn hand_out<'a>(
        &'a self,
        org: OrgId,
        file: Bytes,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        self.org.stack().files().hand_out(org, file, name)
    }

    fn put_rows<'a>(&'a self, path: &'a str, file: Bytes) -> BoxFuture<'a, Result<(), FilesError>> {
        self.org.stack().files().put_rows(path, file)
    }

    fn get_rows<'a>(&'a self, path: &'a str, content: &'a DocumentContent) -> BoxFuture<'a, Result<Bytes, FilesError>> {
        self.org.stack().files().get_rows(path, content)
    }
}

#[tokio::test]
async fn an_upload_that_meets_the_removal_of_the_same_file_is_not_lost() {
    let org = alone().await;
    upload_in_vain(&org).await;
    let done = tick(&org, &Meeting { org: &org, on: Removal::Met }).await;
    assert_eq!(done.iter().filter(|done| done.as_ref().is_ok_and(|done| done.files == 1)).count(), 1, "{done:?}");
    assert!(!is_stored(&org).await);
    let call = upload(&org).await.expect("the removal is over");
    end(&org, &call, true).await;
    for _ in 0..2 {
        tick(&org, &**org.stack().files()).await;
        assert!(is_stored(&org).await);
    }
    // A call that waits only during the removal succeeds by itself.
    let org = alone().await;
    upload_in_vain(&org).await;
    let (_, met) = join(tick(&org, &**org.stack().files()), upload(&org)).await;
    end(&org, &met.expect("it is stored before or after the removal"), true).await;
    tick(&org, &**org.stack().files()).await;
    assert!(is_stored(&org).await);
}

#[tokio::test]
async fn a_removal_that_was_interrupted_is_ended_by_a_later_tick_and_no_upload_goes_between() {
    for on in [Removal::LostBefore, Removal::LostAfter] {
        let org = alone().await;
        upload_in_vain(&org).await;
        let lost = tick(&org, &Meeting { org: &org, on }).await;
        assert!(matches!(&*lost, [Err(_)]), "{on:?}: {lost:?}");
        let early = tick(&org, &**org.stack().files()).await;
        assert!(matches!(&*early, [Ok(Removed { files: 0, is_complete: false })]), "{on:?}: {early:?}");
        assert!(matches!(upload(&org).await, Err(Error::Conflict)), "{on:?}");
        the_clock_is_lost(&org).await;
        let later = tick(&org, &**org.stack().files()).await;
        assert_eq!(later.iter().flatten().map(|done| done.files).sum::<u32>(), 1, "{on:?}: {later:?}");
        assert!(!is_stored(&org).await, "{on:?}");
        end(&org, &upload(&org).await.expect("the removal is over"), true).await;
        tick(&org, &**org.stack().files()).await;
        assert!(is_stored(&org).await, "{on:?}");
    }
}

#[tokio::test]
async fn clocks_that_tick_at_once_remove_a_file_once() {
    let org = alone().await;
    upload_in_vain(&org).await;
    let ticks = join_all((0..4).map(|_| tick(&org, &**org.stack().files()))).await;
    let removed: u32 = ticks.iter().flatten().flatten().map(|done| done.files).sum();
    assert_eq!(removed, 1, "{ticks:?}");
    assert!(!is_stored(&org).await);
}

#[tokio::test]
async fn a_file_stays_while_a_call_may_name_it_and_for_good_once_one_did() {
    let org = alone().await;
    let files = &**org.stack().files();
    let (running, refused) = (upload(&org).await.expect("it is stored"), upload(&org).await.expect("it is stored"));
    end(&org, &refused, false).await;
    tick(&org, files).await;
    assert!(is_stored(&org).await, "the other call has not ended");
    end(&org, &running, true).await;
    upload_in_vain(&org).await;
    for _ in 0..2 {
        let done = tick(&org, files).await;
        assert!(done.iter().all(|done| done.as_ref().is_ok_and(|done| done.is_complete)), "{done:?}");
        assert!(is_stored(&org).await);
    }
    upload_in_vain(&org).await;
    tick(&org, files).await;
    assert!(is_stored(&org).await, "it was named once");
}

#[tokio::test]
async fn any_number_of_refused_calls_may_upload_the_same_file() {
    let org = alone().await;
    for _ in 0..=limits::UPLOADS_OF_FILE_MAX {
        upload_in_vain(&org).await;
    }
    let files = &**org.stack().files();
    assert_eq!(tick(&org, files).await.iter().flatten().map(|done| done.files).sum::<u32>(), 1);
    assert!(!is_stored(&org).await);
}

async fn make_due(org: &Org) {
    let (table, now) = (org.stack().table(), format!("{:015}", Timestamp::now().unix_ms()));
    for item in rows::due_items(table, org.id, Due::Upload).await {
        let [partition, sort] = ["pk", "sk"].map(|name| item[name].as_s().expect("a text").clone());
        let mut parts: Vec<&str> = sort.split('#').collect();
        parts[1] = &now;
        let mut due = item.clone();
        due.insert("sk".to_owned(), AttributeValue::S(parts.join("#")));
        let put = table.client().put_item().table_name(&table.name).set_item(Some(due));
        put.send().await.expect("the entry is put");
        let delete = table.client().delete_item().table_name(&table.name).key("pk", AttributeValue::S(partition));
        delete.key("sk", AttributeValue::S(sort)).send().await.expect("the entry is removed");
    }
}

/// By a stack's clock, with its function's role.
#[tokio::test]
async fn the_clock_removes_what_no_call_named() {
    // The clock ticks each second.
    let org = Org::with(Needs::OWN.time_scale(60)).await;
    upload_in_vain(&org).await;
    make_due(&org).await;
    eventually("the file is removed", async || (!is_stored(&org).await).then_some(())).await;
    eventually("nothing is left to do", async || entries(&org).await.is_empty().then_some(())).await;
}
