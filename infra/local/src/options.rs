//! What can be chosen when the stack starts, and the command line that chooses it.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use shared::seal::Keyring;

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
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Options, clap::Error> {
        let Command::Serve(serve) = Cli::try_parse_from(line.split(' '))?.command;
        Ok(serve.into())
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
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.kind(), kind, "{line}");
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
