//! Long work shows its progress on a terminal, and nothing elsewhere.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tempfile::TempDir;
use tests::Org;
use tests::stack::Needs;

const OPS: &str = env!("CARGO_BIN_EXE_operator");

/// Both ends of an 80-column terminal. No other test's command gets them: the terminal would not end with this one's.
fn terminal() -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    fcntl_setfd(&ours, FdFlags::CLOEXEC).expect("it is kept to this process");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("its other end");
    let name = ptsname(&ours, Vec::new()).expect("the name of its other end");
    let theirs =
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("its other end");
    tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).expect("its size");
    (File::from(ours), theirs)
}

fn shown_by(command: &mut Command) -> String {
    let (mut ours, theirs) = terminal();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(theirs).spawn().expect("the command");
    // Closes this process's other end: the terminal ends with the command's.
    command.stderr(Stdio::null());
    let mut shown = Vec::new();
    // Linux reports a closed terminal as an error.
    let _ = ours.read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(child.wait().expect("the command ends").success(), "{shown}");
    shown
}

/// The last item count of a progress bar in a text: before the total and the elapsed time.
fn items(text: &str) -> Option<u64> {
    let bars = text.split(" items, ").filter_map(|bar| {
        let bar = bar.rsplit([' ', '\r', '\n', '\u{1b}']).collect::<Vec<_>>();
        // `█░ 21 of about 40`, `█░ 21 of 40`, or a spinner and `21`.
        let position = bar.iter().position(|word| *word == "of").map_or(bar.first(), |of| bar.get(of + 1));
        position?.replace(',', "").parse().ok()
    });
    bars.max()
}

#[tokio::test]
async fn long_work_shows_how_far_it_is_at_a_terminal_only() {
    let org = Org::with(Needs::OWN.without_background()).await;
    let table = org.stack().table().clone();
    let dir = TempDir::new().expect("a folder");
    let organization = org.id.to_string();
    for words in [vec!["verify"], vec!["migrate", "--dry-run"], vec!["export", "--organization", &organization, "--to"]]
    {
        let has_file = !["verify", "migrate"].contains(&words[0]);
        let command = |file: &str| {
            let mut command = Command::new(OPS);
            command.args(&words).args(has_file.then(|| dir.path().join(format!("{}.{file}", words.len()))));
            command.args(["--table-name", &table.name]).env("AWS_ENDPOINT_URL_DYNAMODB", &table.endpoint);
            command
        };
        let quiet = command("quiet").output().expect("the command");
        let said = String::from_utf8_lossy(&quiet.stderr).into_owned();
        assert!(quiet.status.success() && !said.contains('\r'), "{said}");
        let mut command = command("shown");
        let shown = tokio::task::spawn_blocking(move || shown_by(&mut command)).await.expect("the command runs");
        assert!(items(&shown) > Some(0), "{words:?}: {shown:?}");
    }
}
