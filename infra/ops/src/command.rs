//! The command `ops`, for operators: for the local stack or any endpoint.
//!
//! Without the feature `aws`, it reaches only emulators on this machine.

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use clap::Parser;
use files::Files;
use shared::crypto::keyring::Keyring;
use shared::domain::organization::Organization;
use shared::domain::time::Timestamp;
use shared::platform::aws::{self, AwsSettings};
use shared::platform::config::BaseUrl;
use shared::platform::files::FileStore;
use shared::store::Store;
use shared::store::inspect::Repair;
use shared::store::keys::Key;
use shared::store::migrate::Migrated;

use crate::cli::{
    Cli, Command, CreateOrganization, CreatePasswordLink, Export, FilesOptions, KeyringCommand, LinkOptions, Migrate,
    OneOrganization, OrganizationsCommand, ReEncrypt, ResetSecondFactor, Retire, StoreOptions, Verify, VerifyBundle,
};
use crate::export::{self, Exported};
use crate::keyring::{RetiredKey, Retirement};
use crate::reencrypt::{self, Reencrypted};
use crate::verify::{self, Verification, Verified};
use crate::{create_organization_with_invitation, organizations};

const LOCAL_TABLE: &str = "countersign";

/// Runs this process's command line.
#[must_use]
pub fn main() -> ExitCode {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> ExitCode {
    let done = match Cli::parse().command {
        Command::CreateOrganization(options) => create_organization(&options).await,
        Command::CreatePasswordLink(options) => create_password_link(&options).await,
        Command::ResetSecondFactor(options) => reset_second_factor(&options).await,
        Command::VerifyBundle(options) => verify_bundle(&options),
        Command::Organizations(command) => organizations(&command).await,
        Command::Verify(options) => verify(&options).await,
        Command::Export(options) => export(&options).await,
        Command::ReEncrypt(options) => re_encrypt(&options).await,
        Command::Migrate(options) => migrate(&options).await,
        Command::Keyring(command) => change_keyring(&command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Prints only the invitation's link on standard output, for scripts.
async fn create_organization(options: &CreateOrganization) -> Result<(), String> {
    let base_url = base_url(&options.link)?;
    let store = store(&options.store).await?;
    let created = create_organization_with_invitation(&store, &options.name, &options.admin_email)
        .await
        .map_err(|error| error.to_string())?;
    eprintln!("Organization {} was created. Hand this link to its first admin:", created.id);
    println!("{}", base_url.link(&created.invitation_path));
    eprintln!("It works once, for 7 days, and is not shown again.");
    Ok(())
}

async fn reset_second_factor(options: &ResetSecondFactor) -> Result<(), String> {
    let store = store(&options.store).await?;
    crate::reset_second_factor(&store, &options.email).await.map_err(|error| error.to_string())?;
    eprintln!("The second factor is off, and all sessions have ended. The password alone signs them in now.");
    Ok(())
}

/// Prints only the link on standard output, for scripts.
async fn create_password_link(options: &CreatePasswordLink) -> Result<(), String> {
    let base_url = base_url(&options.link)?;
    let store = store(&options.store).await?;
    let path = crate::create_password_link(&store, &options.email).await.map_err(|error| error.to_string())?;
    eprintln!("Hand this link to the person whose account it is, once you are sure who asks for it:");
    println!("{}", base_url.link(&path));
    eprintln!("It works once, for 24 hours, and is not shown again.");
    Ok(())
}

async fn organizations(command: &OrganizationsCommand) -> Result<(), String> {
    match command {
        OrganizationsCommand::List(options) => {
            let found = organizations::list(&store(options).await?).await.map_err(|error| error.to_string())?;
            for Organization { id, name, created_at, suspended_at, .. } in found {
                let state = if suspended_at.is_some() { "suspended" } else { "active" };
                println!("{id}  {created_at}  {state:9}  {}", name.as_str());
            }
        }
        OrganizationsCommand::Suspend(OneOrganization { organization, store: options }) => {
            let suspended = organizations::suspend(&store(options).await?, *organization).await;
            suspended.map_err(|error| error.to_string())?;
            eprintln!("The organization is suspended. Calls that were under way end within 12 seconds.");
        }
        OrganizationsCommand::Resume(OneOrganization { organization, store: options }) => {
            let resumed = organizations::resume(&store(options).await?, *organization).await;
            resumed.map_err(|error| error.to_string())?;
            eprintln!("The organization is resumed. What was held is being delivered.");
        }
    }
    Ok(())
}

async fn export(options: &Export) -> Result<(), String> {
    let (store, files) = (store(&options.store).await?, files(&options.files, &options.store).await?);
    let exported =
        export::export(&store, files.as_ref().map(|files| files as &dyn FileStore), options.organization, &options.to);
    let Exported { records, files, missing } = exported.await.map_err(|error| error.to_string())?;
    eprintln!("{records} records and {files} files are exported. What is left out is in the manifest:");
    println!("{}", options.to.join(export::MANIFEST).display());
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("{} files that records name are missing or damaged: the manifest has their hashes", missing.len()))
}

async fn files(options: &FilesOptions, of: &StoreOptions) -> Result<Option<Files>, String> {
    if let Some(folder) = &options.dir {
        if !folder.is_dir() {
            return Err(format!("there is no folder {}", folder.display()));
        }
        return Files::in_folder(folder).map(Some).map_err(|error| error.to_string());
    }
    match options.bucket.clone().or_else(|| env("FILES_BUCKET")) {
        Some(bucket) => files_in_bucket(&bucket, options, of).await.map(Some),
        None => Ok(None),
    }
}

#[cfg(feature = "aws")]
async fn files_in_bucket(bucket: &str, options: &FilesOptions, of: &StoreOptions) -> Result<Files, String> {
    let endpoint_url = options.endpoint_url.clone();
    let endpoint_url = endpoint_url.or_else(|| env("AWS_ENDPOINT_URL_S3")).or_else(|| env("AWS_ENDPOINT_URL"));
    let settings = settings(endpoint_url.as_deref(), of.region.as_deref()).await?;
    Ok(Files::in_bucket(bucket, settings))
}

#[cfg(not(feature = "aws"))]
#[allow(clippy::unused_async, reason = "the same signature as with the feature")]
async fn files_in_bucket(_: &str, _: &FilesOptions, _: &StoreOptions) -> Result<Files, String> {
    Err("this build reads no bucket; build it with `--features aws`".to_owned())
}

/// Prints what doesn't open on standard output, one per line, and the rest on standard error.
async fn re_encrypt(options: &ReEncrypt) -> Result<(), String> {
    let keyring = Keyring::parse(&standard_input()?).map_err(|error| error.to_string())?;
    let store = store(&options.store).await?;
    let on = |key: &Key, why: &str, say: &dyn Fn(&str)| say(&format!("{key}: {why}"));
    let done = reencrypt::reencrypt(&store, &keyring, options.resume.resume.as_deref(), on).await;
    let done = done.map_err(|error| error.to_string())?;
    let Reencrypted { current, resealed, changed, lost } = done;
    eprintln!("Sealed anew with the key {}: {resealed}. With it already: {current}.", keyring.current());
    if done.needs_no_older_key() {
        eprintln!("Nothing needs an older key.");
        return Ok(());
    }
    if lost > 0 {
        return Err(format!("{lost} sealed values do not open with this keyring"));
    }
    if changed > 0 {
        eprintln!("Changed just then: {changed}.");
    }
    eprintln!("Run it again, five minutes after the rotation or later, until nothing needs an older key.");
    Ok(())
}

/// Prints problems on standard output, one per line, and the rest on standard error.
async fn verify(options: &Verify) -> Result<(), String> {
    let (store, files) = (store(&options.store).await?, files(&options.files, &options.store).await?);
    let how = Verification {
        organization: options.organization,
        repairs: options.repair,
        files: files.as_ref().map(|files| files as &dyn FileStore),
        resume: options.resume.resume.as_deref(),
    };
    let verified = verify::verify(&store, how, |finding, repair, say| {
        let became = match repair {
            Some(Repair::Done) => ": put right",
            Some(Repair::Changed) => ": changes just now, look again",
            Some(Repair::Impossible) => ": nothing says what it was",
            None if finding.is_repairable() => ": --repair puts it right",
            None => "",
        };
        say(&format!("{finding}{became}"));
    });
    let (items, verified) = verified.await.map_err(|error| error.to_string())?;
    match (verified.found, verified.is_whole()) {
        (0, _) if files.is_some() => {
            eprintln!("The table and its files are whole: {items} items, and nothing is wrong.");
        }
        (0, _) => eprintln!("The table is whole: {items} items, and nothing is wrong. No files were looked at."),
        (found, true) => {
            eprintln!("Of {items} items, {found} were wrong, and all are put right. Run it again to be sure.");
        }
        _ => {}
    }
    if verified.is_whole() {
        return Ok(());
    }
    let Verified { found, repaired, repairable } = verified;
    let put_right = if repaired > 0 { format!(", {repaired} put right") } else { String::new() };
    let can_be = if repairable > 0 { format!(", {repairable} can be put right with --repair") } else { String::new() };
    Err(format!("{found} things are wrong in {items} items{put_right}{can_be}"))
}

async fn migrate(options: &Migrate) -> Result<(), String> {
    let store = store(&options.store).await?;
    let migrated = crate::migration::rewrite(&store, options.dry_run, options.resume.resume.as_deref()).await;
    println!("{}", counts(&migrated.map_err(|error| error.to_string())?, options.dry_run));
    Ok(())
}

fn counts(migrated: &Migrated, is_dry: bool) -> String {
    let kinds: Vec<String> = migrated.older.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let rewritten = if is_dry { String::new() } else { format!(", {} rewritten", migrated.rewritten) };
    let (looked_at, older) = (migrated.looked_at, migrated.older());
    format!("{looked_at} items looked at, {older} records of an older version{kinds}{rewritten}")
}

fn verify_bundle(options: &VerifyBundle) -> Result<(), String> {
    let report = crate::bundles::verify(&options.bundle, &options.keys).map_err(|error| error.to_string())?;
    println!("{report}");
    if report.is_whole() { Ok(()) } else { Err("the bundle is not verified".to_owned()) }
}

/// Writes the keyring to standard output. It has secret keys, so a terminal is refused.
fn change_keyring(command: &KeyringCommand) -> Result<(), String> {
    if io::stdout().is_terminal() {
        return Err("the output has secret keys: send it to a pipe or a file, not to a terminal".to_owned());
    }
    let keyring = match command {
        KeyringCommand::New => crate::keyring::create(Timestamp::now()).map_err(|error| error.to_string())?,
        KeyringCommand::Rotate => {
            crate::keyring::rotate(&standard_input()?, Timestamp::now()).map_err(|error| error.to_string())?
        }
        KeyringCommand::Retire(Retire { name, compromised_since, lose_sealed }) => {
            let how = Retirement { compromised_since: *compromised_since, loses_sealed: *lose_sealed };
            let retired = crate::keyring::retire(&standard_input()?, name, how).map_err(|error| error.to_string())?;
            tell(name, &retired);
            retired.keyring
        }
    };
    writeln!(io::stdout(), "{}", keyring.reveal()).map_err(|error| error.to_string())
}

fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input can't be read: {error}"))?;
    Ok(text)
}

fn tell(name: &str, RetiredKey { evidence_key, compromised_since, opens, .. }: &RetiredKey) {
    eprintln!("The key {name} is retired. Participants' links and codes that it made no longer work: copy new links.");
    let key = evidence_key.id();
    match compromised_since {
        None => eprintln!("Bundles that it signed (key {key}) still verify."),
        Some(since) => eprintln!(
            "Bundles that it signed (key {key}) no longer verify: verifiers say that others may have had it since {since}. \
             Export those agreements again."
        ),
    }
    let sealed = "signing secrets of endpoints, secrets of second factors, bank details in answers and unsent answers";
    if *opens {
        eprintln!("It stays in the keyring only to open what it sealed: {sealed}.");
    } else {
        eprintln!("The key itself is gone. What it sealed and nothing sealed anew since is lost: {sealed}.");
    }
}

fn base_url(options: &LinkOptions) -> Result<BaseUrl, String> {
    let base_url = options.base_url.clone().or_else(|| env("BASE_URL"));
    let base_url = base_url.ok_or("no base URL: use --base-url or set BASE_URL, to the origin of the app's links")?;
    BaseUrl::parse(&base_url).map_err(|error| error.to_string())
}

async fn store(options: &StoreOptions) -> Result<Store, String> {
    let endpoint_url = options.endpoint_url.clone();
    let endpoint_url = endpoint_url.or_else(|| env("AWS_ENDPOINT_URL_DYNAMODB")).or_else(|| env("AWS_ENDPOINT_URL"));
    let table = options.table_name.clone().or_else(|| env("TABLE_NAME")).unwrap_or_else(|| LOCAL_TABLE.to_owned());
    let settings = settings(endpoint_url.as_deref(), options.region.as_deref()).await?;
    Ok(Store::new(aws::dynamodb(&settings), table))
}

#[cfg(feature = "aws")]
async fn settings(endpoint_url: Option<&str>, region: Option<&str>) -> Result<AwsSettings, String> {
    crate::aws::settings_in(endpoint_url, region).await.map_err(|error| error.to_string())
}

#[cfg(not(feature = "aws"))]
#[allow(clippy::unused_async, reason = "the same signature as with the feature")]
async fn settings(endpoint_url: Option<&str>, region: Option<&str>) -> Result<AwsSettings, String> {
    use shared::platform::aws::EndpointKind;
    match endpoint_url {
        Some(url) if EndpointKind::of(url) == EndpointKind::Loopback => {
            AwsSettings::at(url).map(|settings| settings.in_region(region)).map_err(|error| error.to_string())
        }
        _ => Err("this build reaches this machine only; build it with `--features aws` for other endpoints".to_owned()),
    }
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
