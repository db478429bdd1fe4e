//! The command line, converted to the options of the two commands.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use http::StatusCode;
use shared::crypto::signing_secret::{InvalidSecret, SigningSecret};

use crate::listen::ListenOptions;
use crate::options::{Options, Seed};

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "local", version, about = "Countersign on your own machine")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole service in one process until Ctrl-C
    Serve(ServeArgs),
    /// Be a subscriber: print the webhooks that arrive and whether they verify, until Ctrl-C
    Listen(ListenArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,

    /// Folder that holds all data; delete it to start over
    #[arg(long, value_name = "FOLDER", default_value = ".local")]
    data_dir: PathBuf,

    /// Data that a new data folder starts with; ignored for an existing one
    #[arg(long, value_enum, default_value_t = Seed::Demo)]
    seed: Seed,

    /// Where addresses, tokens and passwords are written once everything is ready [default: ready.json in
    /// the data folder]
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,

    /// Divides every wait of the service (1 = real time), such as the 72 h of a proposal and the interval
    /// of the clock
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    time_scale: u32,

    /// Calls that each organization has per second, beyond which it gets 429; 0 is no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    calls_per_second: u32,
}

impl From<ServeArgs> for Options {
    fn from(args: ServeArgs) -> Self {
        Options {
            port: args.port,
            data_dir: args.data_dir,
            seed: args.seed,
            ready_file: args.ready_file,
            time_scale: args.time_scale,
            calls_per_second: args.calls_per_second,
            ..Self::default()
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListenArgs {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 9090)]
    port: u16,

    /// The endpoint's signing secret, as the app showed it
    #[arg(long, value_name = "SECRET")]
    secret: SecretArg,

    /// Answers every delivery with this status, for instance 500 [default: 204, or 401 if it does not verify]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(200..=599))]
    answer: Option<u16>,

    /// Waits this long before each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    delay: u32,

    /// Answers 500 to the first N attempts at each event
    #[arg(long, value_name = "N", default_value_t = 0)]
    fail_first: u32,
}

/// A secret as it was typed. It is parsed after clap is done, whose error messages would repeat it.
#[derive(Clone)]
struct SecretArg(String);

impl From<String> for SecretArg {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for SecretArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretArg")
    }
}

impl TryFrom<ListenArgs> for ListenOptions {
    type Error = InvalidSecret;

    fn try_from(args: ListenArgs) -> Result<Self, InvalidSecret> {
        Ok(Self {
            port: args.port,
            secret: SigningSecret::parse(args.secret.0.trim())?,
            fixed_status: args.answer.and_then(|status| StatusCode::from_u16(status).ok()),
            delay: Duration::from_secs(args.delay.into()),
            fail_first: args.fail_first,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.command {
            Command::Serve(args) => Ok(args.into()),
            Command::Listen(args) => panic!("{args:?}"),
        }
    }

    fn listen(line: &str) -> Result<ListenOptions, InvalidSecret> {
        match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Command::Serve(args) => panic!("{args:?}"),
            Command::Listen(args) => args.try_into(),
        }
    }

    #[test]
    fn serve_without_options_has_the_documented_defaults() {
        let options = parse("local serve").unwrap();
        assert_eq!(options.port, 8080);
        assert_eq!(options.data_dir, PathBuf::from(".local"));
        assert_eq!(options.seed, Seed::Demo);
        assert_eq!(options.ready_file, None);
        assert_eq!((options.time_scale, options.calls_per_second), (1, 0));
        assert_eq!(options.store, crate::options::StoreAt::Embedded);
    }

    #[test]
    fn the_library_has_the_defaults_of_the_command() {
        let (command, library) = (parse("local serve").unwrap(), Options::default());
        assert_eq!(format!("{command:?}"), format!("{library:?}"));
    }

    #[test]
    fn serve_takes_every_option() {
        let line = "local serve --port 0 --data-dir /d --seed empty --ready-file /r.json --time-scale 3600 --calls-per-second 50";
        let options = parse(line).unwrap();
        assert_eq!(options.port, 0);
        assert_eq!(options.data_dir, PathBuf::from("/d"));
        assert_eq!(options.seed, Seed::Empty);
        assert_eq!(options.ready_file, Some(PathBuf::from("/r.json")));
        assert_eq!((options.time_scale, options.calls_per_second), (3600, 50));
    }

    #[test]
    fn listen_takes_every_option() {
        let secret = SigningSecret::generate().unwrap();
        let options = listen(&format!("local listen --secret {}", secret.expose())).unwrap();
        assert_eq!(
            (options.port, options.fixed_status, options.delay, options.fail_first),
            (9090, None, Duration::ZERO, 0)
        );
        assert_eq!(options.secret, secret);

        let line = format!("local listen --port 0 --secret {} --answer 503 --delay 20 --fail-first 4", secret.expose());
        let options = listen(&line).unwrap();
        assert_eq!(options.port, 0);
        assert_eq!(options.fixed_status, Some(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!((options.delay, options.fail_first), (Duration::from_secs(20), 4));
    }

    #[test]
    fn no_message_contains_a_secret() {
        assert!(listen("local listen --secret whsec_secret").is_err());
        let secret = SigningSecret::generate().unwrap().expose();
        let cli = Cli::try_parse_from(["local", "listen", "--secret", &secret]).unwrap();
        assert!(!format!("{cli:?}").contains(&secret));
        let error = Cli::try_parse_from(["local", "listen", "--secret", &secret, "--answer", "x"]).unwrap_err();
        assert!(!error.to_string().contains(&secret));
    }

    #[test]
    fn an_invalid_command_line_is_a_usage_error() {
        for (line, kind) in [
            ("local", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
            ("local sing", ErrorKind::InvalidSubcommand),
            ("local serve --port 65536", ErrorKind::ValueValidation),
            ("local serve --port -1", ErrorKind::UnknownArgument),
            ("local serve --seed some", ErrorKind::InvalidValue),
            ("local serve --time-scale 0", ErrorKind::ValueValidation),
            ("local serve --time-scale 0.5", ErrorKind::ValueValidation),
            ("local serve --data", ErrorKind::UnknownArgument),
            ("local serve extra", ErrorKind::UnknownArgument),
            ("local listen", ErrorKind::MissingRequiredArgument),
            ("local listen --secret s --answer 99", ErrorKind::ValueValidation),
            ("local listen --secret s --answer 600", ErrorKind::ValueValidation),
            ("local listen --secret s --delay -1", ErrorKind::UnknownArgument),
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.kind(), kind, "{line}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
