use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use shared::domain::ids::OrgId;
use shared::domain::time::Timestamp;

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "ops", version, about = "What operators of Countersign do")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create an organization, and print the invitation link of its first admin, once
    CreateOrganization(CreateOrganization),
    /// List organizations, suspend and resume them
    #[command(subcommand)]
    Organizations(OrganizationsCommand),
    /// Print a link with which a person sets a new password, once
    CreatePasswordLink(CreatePasswordLink),
    /// Reset the second factor of a person who has lost both phone and recovery codes: their password alone signs them in
    ResetSecondFactor(ResetSecondFactor),
    /// Verify an evidence bundle, offline: print what became of each file, and succeed only if all is as it was signed
    VerifyBundle(VerifyBundle),
    /// Rewrite records that earlier releases wrote in the layout of this one, while the service runs. Run again, it goes on
    /// with what is left
    Migrate(Migrate),
    /// Walk over the table and check that it is whole, and, where they are named, that its files are: print what is wrong, in
    /// plain words, and succeed only if nothing is
    Verify(Verify),
    /// Export one organization: its records as newline-delimited JSON, its files, and a manifest with the hash of each. An
    /// export that was interrupted goes on
    Export(Export),
    /// After `keyring rotate`, seal with the current key what older keys sealed. The keyring is read from standard input
    ReEncrypt(ReEncrypt),
    /// Make, rotate or trim the keyring: it is read from standard input and written to standard output, never to a terminal
    #[command(subcommand)]
    Keyring(KeyringCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrganizationsCommand {
    /// Print a line for each organization: its id, since when it is there, active or suspended, and its name. Reads the whole
    /// table
    List(StoreOptions),
    /// Suspend an organization: its tokens, sessions and links are refused, and its deliveries are held. Nothing is lost
    Suspend(OneOrganization),
    /// Resume an organization: its tokens, sessions and links work again, and what was held is delivered
    Resume(OneOrganization),
}

/// An organization, and the table that it is in.
#[derive(Debug, Args)]
pub(crate) struct OneOrganization {
    /// Id of the organization
    #[arg(value_name = "ID")]
    pub(crate) organization: OrgId,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyringCommand {
    /// Write a new keyring with one key
    New,
    /// Add a new key as the current one; the others stay
    Rotate,
    /// End what an old key makes: participants' links and codes, and signatures of bundles. Bundles that it signed before
    /// stay checkable
    Retire(Retire),
}

#[derive(Debug, Args)]
pub(crate) struct Retire {
    /// Name of the key, not the current one
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Since when others may have had the key, such as 2026-11-20T09:00:00Z: no bundle that it signed verifies anymore, and
    /// verifiers say why
    #[arg(long, value_name = "TIME")]
    pub(crate) compromised_since: Option<Timestamp>,

    /// Also drop the key itself, without which nobody can ever open what it sealed: signing secrets of endpoints, secrets
    /// of second factors, bank details in answers and unsent answers. Else it stays, to open those and nothing more
    #[arg(long)]
    pub(crate) lose_sealed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateOrganization {
    /// Name of the organization
    #[arg(long)]
    pub(crate) name: String,

    /// Email address of its first admin
    #[arg(long, value_name = "EMAIL")]
    pub(crate) admin_email: String,

    #[command(flatten)]
    pub(crate) link: LinkOptions,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CreatePasswordLink {
    /// Email address with which they sign in
    #[arg(long)]
    pub(crate) email: String,

    #[command(flatten)]
    pub(crate) link: LinkOptions,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

/// Where a link leads.
#[derive(Debug, Args)]
pub(crate) struct LinkOptions {
    #[arg(
        long,
        value_name = "URL",
        help = "Origin of the link, such as https://countersign.example [default: $BASE_URL]"
    )]
    pub(crate) base_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResetSecondFactor {
    /// Email address with which they sign in
    #[arg(long)]
    pub(crate) email: String,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyBundle {
    /// The bundle, a zip file
    #[arg(value_name = "FILE")]
    pub(crate) bundle: PathBuf,

    /// Key document, from the service's /app/evidence-keys.json
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Only count what is to be rewritten
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) resume: ResumeOptions,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Check the items of this organization only
    #[arg(long, value_name = "ID")]
    pub(crate) organization: Option<OrgId>,

    /// Put right what derives from records: rows of lists, pointers, unique items and due entries. Records themselves are
    /// never changed. Without it, nothing is written
    #[arg(long)]
    pub(crate) repair: bool,

    #[command(flatten)]
    pub(crate) files: FilesOptions,

    #[command(flatten)]
    pub(crate) resume: ResumeOptions,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Organization to export
    #[arg(long, value_name = "ID")]
    pub(crate) organization: OrgId,

    /// Folder to write to. It is created if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,

    #[command(flatten)]
    pub(crate) files: FilesOptions,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

/// Where the files are.
#[derive(Debug, Args)]
pub(crate) struct FilesOptions {
    /// Folder with the files of the local stack, such as .local/files
    #[arg(long = "files-dir", id = "files_dir", value_name = "DIR", conflicts_with = "files_bucket")]
    pub(crate) dir: Option<PathBuf>,

    #[arg(
        long = "files-bucket",
        id = "files_bucket",
        value_name = "NAME",
        help = "Bucket with the files [default: $FILES_BUCKET]"
    )]
    pub(crate) bucket: Option<String>,

    #[arg(
        long = "files-endpoint-url",
        id = "files_endpoint_url",
        value_name = "URL",
        help = "Endpoint of the bucket [default: $AWS_ENDPOINT_URL_S3, $AWS_ENDPOINT_URL, AWS itself]"
    )]
    pub(crate) endpoint_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReEncrypt {
    #[command(flatten)]
    pub(crate) resume: ResumeOptions,

    #[command(flatten)]
    pub(crate) store: StoreOptions,
}

/// How a long walk goes on after an interruption.
#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// File with how far it has got: after an interruption, the same command goes on from there. It is removed at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
}

/// Where the table is.
#[derive(Debug, Args)]
pub(crate) struct StoreOptions {
    #[arg(
        long,
        value_name = "URL",
        help = "Endpoint of DynamoDB [default: $AWS_ENDPOINT_URL_DYNAMODB, $AWS_ENDPOINT_URL, AWS itself]"
    )]
    pub(crate) endpoint_url: Option<String>,

    #[arg(long, value_name = "NAME", help = "Name of the table [default: $TABLE_NAME, or countersign]")]
    pub(crate) table_name: Option<String>,

    #[arg(long, help = "AWS region [default: $AWS_REGION, or the profile's]")]
    pub(crate) region: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Ok(Cli::try_parse_from(line.split(' '))?.command)
    }

    #[test]
    fn create_organization_takes_every_option() {
        let line = "ops create-organization --name Harbor --admin-email ada@okafor.example --base-url http://h \
                    --endpoint-url http://127.0.0.1:8000 --table-name t --region eu-central-1";
        let line = line.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ");
        let Command::CreateOrganization(options) = parse(&line).unwrap() else { panic!("another command") };
        assert_eq!((options.name.as_str(), options.admin_email.as_str()), ("Harbor", "ada@okafor.example"));
        assert_eq!(options.link.base_url.as_deref(), Some("http://h"));
        let StoreOptions { endpoint_url, table_name, region } = options.store;
        assert_eq!(endpoint_url.as_deref(), Some("http://127.0.0.1:8000"));
        assert_eq!((table_name.as_deref(), region.as_deref()), (Some("t"), Some("eu-central-1")));
    }

    #[test]
    fn a_second_factor_is_reset_by_its_address() {
        let line = "ops reset-second-factor --email ada@okafor.example --table-name t";
        let Command::ResetSecondFactor(options) = parse(line).unwrap() else { panic!("another command") };
        assert_eq!((options.email.as_str(), options.store.table_name.as_deref()), ("ada@okafor.example", Some("t")));
    }

    #[test]
    fn a_password_link_is_for_an_address() {
        let line = "ops create-password-link --email ada@okafor.example --base-url http://h";
        let Command::CreatePasswordLink(options) = parse(line).unwrap() else { panic!("another command") };
        assert_eq!(
            (options.email.as_str(), options.link.base_url.as_deref()),
            ("ada@okafor.example", Some("http://h"))
        );
    }

    #[test]
    fn a_bundle_is_verified_with_keys() {
        let Command::VerifyBundle(options) = parse("ops verify-bundle bundle.zip --keys keys.json").unwrap() else {
            panic!("another command")
        };
        assert_eq!((options.bundle, options.keys), (PathBuf::from("bundle.zip"), PathBuf::from("keys.json")));
    }

    #[test]
    fn a_migration_can_be_dry_or_go_on() {
        let Command::Migrate(Migrate { dry_run, resume, .. }) = parse("ops migrate").unwrap() else {
            panic!("another command")
        };
        assert_eq!((dry_run, resume.resume), (false, None));
        let line = "ops migrate --dry-run --resume migrate.json";
        let Command::Migrate(Migrate { dry_run, resume, .. }) = parse(line).unwrap() else { panic!("another command") };
        assert_eq!((dry_run, resume.resume), (true, Some(PathBuf::from("migrate.json"))));
    }

    #[test]
    fn a_key_is_retired_by_its_name() {
        let Command::Keyring(KeyringCommand::Retire(Retire { name, compromised_since, lose_sealed })) =
            parse("ops keyring retire 2026-11 --compromised-since 2026-11-20T09:00:00Z").unwrap()
        else {
            panic!("another command")
        };
        let since = compromised_since.map(|since| since.to_string());
        assert_eq!(
            (name.as_str(), since.as_deref(), lose_sealed),
            ("2026-11", Some("2026-11-20T09:00:00.000Z"), false)
        );
        let line = "ops keyring retire 2026-11 --lose-sealed";
        assert!(matches!(parse(line), Ok(Command::Keyring(KeyringCommand::Retire(Retire { lose_sealed: true, .. })))));
    }

    #[test]
    fn a_name_and_an_address_are_required() {
        for line in [
            "ops",
            "ops reset-second-factor",
            "ops create-password-link",
            "ops create-organization",
            "ops create-organization --name x",
            "ops verify-bundle bundle.zip",
            "ops remove",
            "ops migrate --resume",
            "ops keyring",
            "ops keyring retire",
            "ops keyring retire 2026-11 --compromised-since yesterday",
        ] {
            assert_eq!(parse(line).expect_err(line).exit_code(), 2, "{line}");
        }
    }
}
