//! What can be chosen when the stack starts, and the command line that chooses it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use http::StatusCode;
use shared::crypto::keyring::Keyring;
use shared::crypto::signing_secret::{InvalidSecret, SigningSecret};

use crate::listen::Settings;

/// How a stack is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// Where everything is kept.
    pub data_dir: PathBuf,
    /// What a new data directory begins with. Ignored where data exist.
    pub seed: Seed,
    /// Where the ready file is written; in the data directory if not given.
    pub ready_file: Option<PathBuf>,
    /// What the service waits for is divided by this. At least 1.
    pub time_scale: u32,
    /// Where the records are.
    pub store: StoreAt,
    /// The keys of whoever wrote the records at that store; keys of the data directory's own if not given.
    pub keyring: Option<Keyring>,
    /// Whether the relay, the sender and the clock run. Only tests that count or break the calls of the store do without.
    pub has_background: bool,
    /// Whether a table elsewhere is made with a stream, which is then read for the relay as in the cloud. Otherwise the
    /// process itself tells what it writes, as with the embedded store, which has no stream.
    pub has_stream: bool,
}

impl Default for Options {
    /// What `local serve` does without options.
    fn default() -> Self {
        Options {
            port: 8080,
            data_dir: PathBuf::from(".local"),
            seed: Seed::Demo,
            ready_file: None,
            time_scale: 1,
            store: StoreAt::Embedded,
            keyring: None,
            has_background: true,
            has_stream: false,
        }
    }
}

/// What a new data directory begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seed {
    /// Organizations, members, tokens, and a deal to look at in the first organization
    Demo,
    /// Organizations, members and tokens, nothing else
    Empty,
}

/// Where the records are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreAt {
    /// In a file of the data directory, behind an endpoint inside this process.
    Embedded,
    /// At an endpoint that speaks DynamoDB. The table is created if it is missing.
    Endpoint {
        /// For instance `http://127.0.0.1:8000`.
        url: String,
        /// The table's name.
        table: String,
    },
}

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
    Serve(Serve),
    /// Be a subscriber: print the webhooks that arrive and whether they verify, until Ctrl-C
    Listen(Listen),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,

    /// Folder that holds everything; delete it to start anew
    #[arg(long, value_name = "FOLDER", default_value = ".local")]
    data_dir: PathBuf,

    /// What a new data folder begins with; ignored where data exist
    #[arg(long, value_enum, default_value_t = Seed::Demo)]
    seed: Seed,

    /// Where addresses, tokens and passwords are written once all is ready [default: ready.json in
    /// the data folder]
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,

    /// Divides what the service waits for (1 = true time): the 72 h of a proposal, and how often what
    /// is due is looked for
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    time_scale: u32,
}

impl From<Serve> for Options {
    fn from(serve: Serve) -> Self {
        Options {
            port: serve.port,
            data_dir: serve.data_dir,
            seed: serve.seed,
            ready_file: serve.ready_file,
            time_scale: serve.time_scale,
            store: StoreAt::Embedded,
            keyring: None,
            has_background: true,
            has_stream: false,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Listen {
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 9090)]
    port: u16,

    /// The endpoint's signing secret, as the app showed it
    #[arg(long, value_name = "SECRET")]
    secret: Typed,

    /// Answers this status to everything, for instance 500 [default: 204, or 401 to what does not verify]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(200..=599))]
    answer: Option<u16>,

    /// Waits this long before each answer
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    delay: u32,

    /// Answers 500 to the first N attempts at each event
    #[arg(long, value_name = "N", default_value_t = 0)]
    fail_first: u32,
}

/// What was typed as a secret. It is read later: clap's messages would repeat it.
#[derive(Clone)]
struct Typed(String);

impl From<String> for Typed {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}

impl TryFrom<Listen> for Settings {
    type Error = InvalidSecret;

    fn try_from(listen: Listen) -> Result<Self, InvalidSecret> {
        Ok(Self {
            port: listen.port,
            secret: SigningSecret::parse(listen.secret.0.trim())?,
            answer: listen.answer.and_then(|status| StatusCode::from_u16(status).ok()),
            delay: Duration::from_secs(listen.delay.into()),
            fail_first: listen.fail_first,
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        match Cli::try_parse_from(line.split(' '))?.command {
            Command::Serve(serve) => Ok(serve.into()),
            Command::Listen(listen) => panic!("{listen:?}"),
        }
    }

    fn listen(line: &str) -> Result<Settings, InvalidSecret> {
        match Cli::try_parse_from(line.split(' ')).unwrap().command {
            Command::Serve(serve) => panic!("{serve:?}"),
            Command::Listen(listen) => listen.try_into(),
        }
    }

    #[test]
    fn without_options_serve_has_the_documented_defaults() {
        let options = parse("local serve").unwrap();
        assert_eq!(options.port, 8080);
        assert_eq!(options.data_dir, PathBuf::from(".local"));
        assert_eq!(options.seed, Seed::Demo);
        assert_eq!(options.ready_file, None);
        assert_eq!(options.time_scale, 1);
        assert_eq!(options.store, StoreAt::Embedded);
    }

    #[test]
    fn the_defaults_of_the_library_are_those_of_the_command() {
        let (command, library) = (parse("local serve").unwrap(), Options::default());
        assert_eq!(format!("{command:?}"), format!("{library:?}"));
    }

    #[test]
    fn every_option_is_taken() {
        let options =
            parse("local serve --port 0 --data-dir /d --seed empty --ready-file /r.json --time-scale 3600").unwrap();
        assert_eq!(options.port, 0);
        assert_eq!(options.data_dir, PathBuf::from("/d"));
        assert_eq!(options.seed, Seed::Empty);
        assert_eq!(options.ready_file, Some(PathBuf::from("/r.json")));
        assert_eq!(options.time_scale, 3600);
    }

    #[test]
    fn listen_takes_its_options() {
        let secret = SigningSecret::generate().unwrap();
        let settings = listen(&format!("local listen --secret {}", secret.expose())).unwrap();
        assert_eq!(
            (settings.port, settings.answer, settings.delay, settings.fail_first),
            (9090, None, Duration::ZERO, 0)
        );
        assert_eq!(settings.secret, secret);

        let line = format!("local listen --port 0 --secret {} --answer 503 --delay 20 --fail-first 4", secret.expose());
        let settings = listen(&line).unwrap();
        assert_eq!(settings.port, 0);
        assert_eq!(settings.answer, Some(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!((settings.delay, settings.fail_first), (Duration::from_secs(20), 4));
    }

    #[test]
    fn a_secret_is_in_no_message() {
        assert!(listen("local listen --secret whsec_secret").is_err());
        let secret = SigningSecret::generate().unwrap().expose();
        let cli = Cli::try_parse_from(["local", "listen", "--secret", &secret]).unwrap();
        assert!(!format!("{cli:?}").contains(&secret));
        let error = Cli::try_parse_from(["local", "listen", "--secret", &secret, "--answer", "x"]).unwrap_err();
        assert!(!error.to_string().contains(&secret));
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
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
