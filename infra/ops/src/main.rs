//! The command `ops`: what an operator does, on the local stack and, with the same options, at any endpoint.
//!
//! Without the feature `aws`, it reaches emulators on this machine only.

mod cli;

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use ops::backup::Restored;
use ops::create_organization_with_invitation;
use ops::keyring::{RetiredKey, Retirement};
use ops::migration::Interrupted;
use shared::domain::time::Timestamp;
use shared::platform::aws::{self, AwsSettings};
use shared::platform::config::BaseUrl;
use shared::store::Store;
use shared::store::migrate::Migrated;
use shared::store::operator::Operator;

use cli::{
    Backup, Cli, Command, CreateOrganization, CreatePasswordLink, KeyringCommand, LinkOptions, Migrate,
    ResetSecondFactor, Retire, StoreOptions, VerifyBundle,
};

/// How often long work tells its progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

/// The table of the local stack.
const LOCAL_TABLE: &str = "countersign";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::CreateOrganization(options) => create_organization(&options).await,
        Command::CreatePasswordLink(options) => create_password_link(&options).await,
        Command::ResetSecondFactor(options) => reset_second_factor(&options).await,
        Command::VerifyBundle(options) => verify_bundle(&options),
        Command::Migrate(options) => migrate(&options).await,
        Command::Backup(options) => backup(&options).await,
        Command::Restore(options) => restore(&options).await,
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

/// Prints the invitation's link alone on standard output, so that scripts can pass it on.
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
    ops::reset_second_factor(&store, &options.email).await.map_err(|error| error.to_string())?;
    eprintln!("The second factor is off, and all sessions have ended. The password alone signs them in now.");
    Ok(())
}

/// Prints the link alone on standard output, so that scripts can pass it on.
async fn create_password_link(options: &CreatePasswordLink) -> Result<(), String> {
    let base_url = base_url(&options.link)?;
    let store = store(&options.store).await?;
    let path = ops::create_password_link(&store, &options.email).await.map_err(|error| error.to_string())?;
    eprintln!("Hand this link to the person whose account it is, once you are sure who asks for it:");
    println!("{}", base_url.link(&path));
    eprintln!("It works once, for 24 hours, and is not shown again.");
    Ok(())
}

/// Prints the counts on standard output, and the progress on standard error.
async fn migrate(options: &Migrate) -> Result<(), String> {
    let store = store(&options.store).await?;
    let migration = Operator::new(&store).migration(options.from.clone(), options.dry_run);
    let mut progress = Progress::begin();
    let ended = ops::migration::run(migration, |migration| {
        progress.tell(|| {
            let position = migration.position().map(ToString::to_string).unwrap_or_default();
            format!("{} (to go on from here: --from {position})", counts(&migration.done, options.dry_run))
        });
    })
    .await;
    match ended {
        Ok(migrated) => {
            println!("{}", counts(&migrated, options.dry_run));
            Ok(())
        }
        Err(Interrupted { cause, done, position }) => {
            println!("{}", counts(&done, options.dry_run));
            let from = position.map_or_else(String::new, |position| format!("; go on with --from {position}"));
            Err(format!("{cause}{from}"))
        }
    }
}

fn counts(migrated: &Migrated, is_dry: bool) -> String {
    let kinds: Vec<String> = migrated.older.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let rewritten = if is_dry { String::new() } else { format!(", {} rewritten", migrated.rewritten) };
    let (looked_at, older) = (migrated.looked_at, migrated.older());
    format!("{looked_at} items looked at, {older} records of an older version{kinds}{rewritten}")
}

async fn backup(options: &Backup) -> Result<(), String> {
    let store = store(&options.store).await?;
    let mut progress = Progress::begin();
    let items = ops::backup::backup(&store, &options.file, |items| progress.tell(|| format!("{items} items copied")));
    let items = items.await.map_err(|error| error.to_string())?;
    println!("{items} items copied");
    Ok(())
}

async fn restore(options: &Backup) -> Result<(), String> {
    let store = store(&options.store).await?;
    let mut progress = Progress::begin();
    let restored = ops::backup::restore(&store, &options.file, |done| progress.tell(|| told(done)));
    let restored = restored.await.map_err(|error| error.to_string())?;
    println!("{}", told(restored));
    if restored.different == 0 { Ok(()) } else { Err("the table differs from the backup".to_owned()) }
}

fn told(Restored { written, same, different }: Restored) -> String {
    format!("{written} items written, {same} were there already, {different} differ and were left as they are")
}

/// Tells on standard error how long work gets on, now and then.
struct Progress(Instant);

impl Progress {
    fn begin() -> Self {
        Self(Instant::now())
    }

    fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.0.elapsed() >= PROGRESS_INTERVAL {
            self.0 = Instant::now();
            eprintln!("{}", line());
        }
    }
}

/// Prints the report on standard output, whatever it says.
fn verify_bundle(options: &VerifyBundle) -> Result<(), String> {
    let report = ops::bundles::verify(&options.bundle, &options.keys).map_err(|error| error.to_string())?;
    println!("{report}");
    if report.is_verified() { Ok(()) } else { Err("the bundle is not verified".to_owned()) }
}

/// Writes the keyring on standard output, which is a pipe or a file: it has secret keys.
fn change_keyring(command: &KeyringCommand) -> Result<(), String> {
    if io::stdout().is_terminal() {
        return Err("the output has secret keys: send it to a pipe or a file, not to a terminal".to_owned());
    }
    let keyring = match command {
        KeyringCommand::New => ops::keyring::create(Timestamp::now()).map_err(|error| error.to_string())?,
        KeyringCommand::Rotate => {
            ops::keyring::rotate(&standard_input()?, Timestamp::now()).map_err(|error| error.to_string())?
        }
        KeyringCommand::Retire(Retire { name, compromised_since, lose_sealed }) => {
            let how = Retirement { compromised_since: *compromised_since, loses_sealed: *lose_sealed };
            let retired = ops::keyring::retire(&standard_input()?, name, how).map_err(|error| error.to_string())?;
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

/// Says what became of a key, and what is lost.
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
    ops::aws::settings_in(endpoint_url, region).await.map_err(|error| error.to_string())
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
