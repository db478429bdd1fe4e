//! The layers of the crate: each uses only those below it, and no two files use each other in a circle.

#![allow(clippy::expect_used, reason = "a test that can't read the sources fails there and then")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use shared::platform::telemetry::LOGGED;

/// The layers from the top down. A file of one may use those that come after it, and files of its own.
const LAYERS: [&str; 13] = [
    "lambda", "api", "web", "platform", "service", "webhook", "store", "error", "text", "domain", "wire", "crypto",
    "retry",
];

/// The sources that name use cases only; other functions move data between the table, its stream and the queues.
const ENTRANCES: [&str; 13] = [
    "functions/read-api/src",
    "functions/write-api/src",
    "functions/proposals/src",
    "functions/member-app/src",
    "functions/agreement-app/src",
    "functions/money-app/src",
    "functions/funding-app/src",
    "functions/organization-app/src",
    "functions/participant-app/src",
    "functions/pictures/src",
    "functions/documents/src",
    "shared/pages/src",
    "shared/src/web",
];

/// What every layer may use.
const BELOW_ALL: &str = "limits";

fn rank(layer: &str) -> Option<usize> {
    if layer == BELOW_ALL { Some(LAYERS.len()) } else { LAYERS.iter().position(|known| *known == layer) }
}

/// A file's module path, such as `store::commit`; a folder's `mod.rs` is the folder.
fn module(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).expect("below the sources").with_extension("");
    let parts: Vec<&str> = relative.iter().map(|part| part.to_str().expect("UTF-8")).collect();
    let parts = parts.strip_suffix(&["mod"]).unwrap_or(&parts);
    parts.join("::")
}

/// The code of a file without comments and without its tests, which may use anything.
fn code(source: &str) -> String {
    let before_tests = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = before_tests.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths of the crate that code names, relative ones spelled out, each up to its last lower-case part.
fn used(module: &str, code: &str) -> BTreeSet<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut found = BTreeSet::new();
    for (keyword, base) in [("crate::", ""), ("super::", parent)] {
        for (at, _) in code.match_indices(keyword) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let rest = &code[at + keyword.len()..];
            for path in expanded(rest) {
                let path = if base.is_empty() { path } else { format!("{base}::{path}") };
                let parts = path.split("::").take_while(|part| part.starts_with(|c: char| c.is_ascii_lowercase()));
                found.insert(parts.filter(|part| *part != "self").collect::<Vec<_>>().join("::"));
            }
        }
    }
    found
}

/// The paths that begin here: one, or those of a list in braces, one level deep.
fn expanded(rest: &str) -> Vec<String> {
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
    let (path, after) = rest.split_at(end);
    let path = path.trim_end_matches(':');
    let Some(list) = after.strip_prefix('{').filter(|_| end == 0 || rest[..end].ends_with("::")) else {
        return vec![path.to_owned()];
    };
    let list = list.split('}').next().unwrap_or_default();
    let separator = if path.is_empty() { "" } else { "::" };
    list.split(',').map(|name| format!("{path}{separator}{}", name.trim())).collect()
}

/// The upward uses among files, each with the file that has it.
fn upward(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (module, source) in files {
        let Some(own) = rank(module.split("::").next().unwrap_or_default()) else { continue };
        for path in used(module, &code(source)) {
            match rank(path.split("::").next().unwrap_or_default()) {
                Some(other) if other >= own => {}
                Some(_) => found.push(format!("{module} uses {path}, which is above it")),
                None if path.is_empty() => {}
                None => found.push(format!("{module} uses {path}, which is in no layer")),
            }
        }
    }
    found
}

fn circles(files: &BTreeMap<String, String>) -> Vec<String> {
    let target = |path: &str| {
        let mut path = path;
        loop {
            if files.contains_key(path) {
                return Some(path.to_owned());
            }
            path = path.rsplit_once("::")?.0;
        }
    };
    let arrows: BTreeMap<&String, BTreeSet<String>> = files
        .iter()
        .map(|(module, source)| {
            let used = used(module, &code(source)).iter().filter_map(|path| target(path)).collect::<BTreeSet<_>>();
            // A folder and what is in it belong together.
            let is_other = |other: &String| other != module && !module.starts_with(&format!("{other}::"));
            (module, used.into_iter().filter(is_other).collect())
        })
        .collect();
    let reaches_itself = |start: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start.clone()]);
        while let Some(module) = open.pop() {
            for next in arrows.get(&module).into_iter().flatten() {
                if next == start {
                    return true;
                }
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        false
    };
    files.keys().filter(|module| reaches_itself(module)).cloned().collect()
}

/// The lines of code that name the store: its module, a field or method that gives it, or a commit.
fn lines_that_name_the_store(code: &str) -> Vec<&str> {
    let continues_a_name = |c: char| c.is_alphanumeric() || c == '_';
    let names_it = |line: &&str| {
        line.match_indices("store").any(|(at, name)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            let is_whole = !before.ends_with(continues_a_name) && !after.starts_with(continues_a_name);
            let is_module = after.starts_with("::") || after.starts_with(" as ") || before.ends_with("::");
            is_whole && (is_module || before.ends_with('.'))
        })
    };
    let commits = |line: &&str| line.contains("Commit::new") || line.contains("into_commit");
    code.lines().filter(|line| names_it(line) || commits(line)).collect()
}

fn sources() -> BTreeMap<String, String> {
    sources_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The sources below a folder, with their modules. Modules of tests may use anything, and are left out.
fn sources_below(root: &Path) -> BTreeMap<String, String> {
    let mut files = Vec::new();
    walk(root, &mut files);
    let read = |file: &PathBuf| (module(root, file), fs::read_to_string(file).expect("a source"));
    let mut files: BTreeMap<_, _> = files.iter().map(read).filter(|(module, _)| module != "lib").collect();
    let tests: Vec<String> = files.iter().flat_map(|(module, source)| test_modules(module, source)).collect();
    let is_below = |module: &str, test: &String| module == test || module.starts_with(&format!("{test}::"));
    files.retain(|module, _| !tests.iter().any(|test| is_below(module, test)));
    files
}

/// The modules in other files that a file declares for tests only.
fn test_modules(module: &str, source: &str) -> Vec<String> {
    let declared = source.split("#[cfg(test)]\n").skip(1).filter_map(|rest| rest.lines().next());
    let names = declared.filter_map(|line| line.split("mod ").nth(1)?.strip_suffix(';'));
    names.map(|name| format!("{module}::{name}")).collect()
}

#[test]
fn a_layer_uses_only_those_below_it() {
    let files = sources();
    assert!(files.len() > 50, "the sources are found");
    for layer in LAYERS {
        assert!(files.keys().any(|module| module.split("::").next() == Some(layer)), "{layer} is there");
    }
    let found = upward(&files);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The folders of crates below these: those with sources.
fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let below = ["functions", "shared", "infra"].map(|folder| root.join(folder));
    let inside = below.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let inside = inside.map(|entry| entry.expect("an entry").path());
    inside.chain([root.join("shared")]).map(|path| path.join("src")).filter(|sources| sources.is_dir()).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let crates = crates();
    assert!(crates.len() > 20, "the crates are found: {crates:?}");
    let found: Vec<String> = crates
        .iter()
        .flat_map(|root| {
            circles(&sources_below(root)).into_iter().map(move |file| format!("{}: {file}", root.display()))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Only the agents' endpoint has other functions inside: it runs their operations.
#[test]
fn no_function_depends_on_another() {
    let functions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../functions");
    let names: BTreeSet<String> = fs::read_dir(&functions)
        .expect("the functions")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    for name in names.iter().filter(|name| *name != "mcp") {
        let manifest = fs::read_to_string(functions.join(name).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split_once("dependencies]").map_or("", |(_, after)| after);
        let used = dependencies.lines().filter_map(|line| line.split(['.', ' ']).next());
        let found: Vec<&str> = used.filter(|used| names.contains(*used)).collect();
        assert!(found.is_empty(), "{name} depends on {found:?}");
    }
}

/// Where a manifest builds no tests, one would never run; where it builds some for nothing, CI waits.
#[test]
fn tests_are_built_where_there_are_any() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let apart = ["tests", "tests/fuzz", "tests/hello"].map(|folder| root.join(folder).join("src"));
    for sources in crates().into_iter().chain(apart) {
        let name = sources.display();
        let manifest = fs::read_to_string(sources.with_file_name("Cargo.toml")).expect("a manifest");
        let sections =
            |kind: &str| manifest.split("\n[").filter(|section| section.starts_with(kind)).collect::<Vec<_>>();
        let leaves_out = |section: &&&str, what: &str| section.contains(&format!("\n{what} = false"));
        let mut files = Vec::new();
        walk(&sources, &mut files);
        let read = |file: &PathBuf| fs::read_to_string(file).expect("a source");
        let is_program = |file: &PathBuf| *file == sources.join("main.rs") || file.starts_with(sources.join("bin"));
        let mains: Vec<String> = files.iter().filter(|file| is_program(file)).map(read).collect();
        let of_main = |file: &PathBuf| {
            let module = file.file_stem().and_then(OsStr::to_str).map(|stem| format!("mod {stem};"));
            is_program(file) || mains.iter().any(|main| main.lines().any(|line| Some(line) == module.as_deref()))
        };
        let (of_programs, of_library): (Vec<_>, Vec<_>) = files.iter().partition(|file| of_main(file));
        let has_test = |file: &&PathBuf| {
            read(file).lines().map(str::trim_start).any(|line| line == "#[test]" || line.starts_with("#[tokio::test"))
        };
        let has_example = |file: &&PathBuf| read(file).lines().any(|line| line.trim_start().starts_with("/// ```"));

        let is_root =
            |file: &&PathBuf| file.ends_with("main.rs") || file.parent() == Some(sources.join("bin").as_path());
        let programs = of_programs.iter().filter(|file| is_root(file)).count();
        let without_tests = sections("[bin]]").iter().filter(|section| leaves_out(section, "test")).count();
        assert_eq!(programs, without_tests, "{name}: each program has a section with `test = false`");
        assert!(!of_programs.iter().any(&has_test), "{name}: a program has a test, which never runs");
        if sources.join("lib.rs").is_file() {
            let builds = |what| !sections("lib]").iter().any(|section| leaves_out(&section, what));
            let has_tests = of_library.iter().any(has_test);
            assert_eq!(builds("test"), has_tests, "{name}: `test = false` is set if the library has no tests");
            let has_examples = of_library.iter().any(has_example);
            assert_eq!(builds("doctest"), has_examples, "{name}: `doctest = false` is set if it has no examples");
        }
    }
}

/// One that is missing compiles for much longer.
#[test]
fn our_crates_are_compiled_without_optimization_or_for_speed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let (_, members) = manifest.split_once("members = [").expect("members");
    let (_, levels) = manifest.split_once("[profile.dev.package]").expect("levels");
    let levels: Vec<&str> = levels.lines().take_while(|line| !line.starts_with('[')).collect();
    let members: Vec<&str> =
        members.lines().skip(1).map_while(|line| line.trim().strip_prefix('"')?.strip_suffix("\",")).collect();
    assert!(members.len() > 20, "the members are found: {members:?}");
    for member in members {
        let name = member.rsplit('/').next().unwrap_or_default();
        assert!(levels.iter().any(|line| line.starts_with(&format!("{name} = "))), "{name} has a level");
    }
}

/// Lines of other crates would vanish.
#[test]
fn crates_that_write_lines_are_logged() {
    let writers: Vec<String> = crates()
        .iter()
        .filter(|sources| {
            let root = fs::read_to_string(sources.join("lib.rs")).unwrap_or_default();
            sources_below(sources).values().chain([&root]).any(|source| source.contains("tracing::"))
        })
        .map(|sources| {
            sources.parent().and_then(Path::file_name).and_then(OsStr::to_str).expect("a name").replace('-', "_")
        })
        .collect();
    assert_eq!(writers.iter().collect::<BTreeSet<_>>(), LOGGED.map(str::to_owned).iter().collect());
}

#[test]
fn operations_pages_and_web_do_not_name_the_store() {
    for entrance in ENTRANCES {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(entrance);
        let files = sources_below(&root);
        assert!(files.len() > 1, "the sources of {entrance} are found");
        for (module, source) in files {
            let code = code(&source);
            let found = lines_that_name_the_store(&code);
            assert!(found.is_empty(), "{entrance}, {module} names the store:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn code_that_names_the_store_is_found() {
    for line in [
        "use shared::store::list::Order;",
        "use shared::store;",
        "use shared::{domain, store::Versioned};",
        "use shared::store as table;",
        "let page = caller.store().list_contacts(&query).await?;",
        "let table = request.app().store.clone();",
        "Commit::new(table, call).with(changes)",
        "let (commit, shown, output) = plan.into_commit(scope);",
    ] {
        assert_eq!(lines_that_name_the_store(line), [line]);
    }
    for line in ["use shared::service::contacts;", "let stored = delivery.stored();", "let value = \"no-store\";"] {
        assert_eq!(lines_that_name_the_store(line), [""; 0], "{line}");
    }
}

#[test]
fn what_goes_up_or_around_is_found() {
    let files = |sources: &[(&str, &str)]| -> BTreeMap<String, String> {
        sources.iter().map(|(module, source)| ((*module).to_owned(), (*source).to_owned())).collect()
    };
    for (module, source, count) in [
        ("store::commit", "use crate::api::caller::WriteCaller;", 1),
        ("domain::time", "use crate::{store, wire};", 1),
        ("domain::time", "use crate::store::{self, Store};", 1),
        ("domain::time", "fn f() -> crate::error::Error {}", 1),
        ("wire::page", "use super::domain_of_none;", 0),
        ("wire::page", "use crate::nowhere::Thing;", 1),
        ("api::caller", "use crate::store::commit::Commit;\nuse crate::limits;", 0),
        ("domain::time", "// use crate::api;\n//! crate::api\nfn f() {}", 0),
        ("domain::time", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::api::caller::Caller;\n}", 0),
        ("limits", "use crate::store::Store;", 1),
    ] {
        assert_eq!(upward(&files(&[(module, source)])).len(), count, "{module}: {source}");
    }
    let around = [
        ("web::a", "use super::b::B;"),
        ("web::b", "use crate::web::c::C;"),
        ("web::c", "use crate::web::a::A;"),
        ("web::d", "use super::a::A;"),
    ];
    assert_eq!(circles(&files(&around)), ["web::a", "web::b", "web::c"]);
    assert!(circles(&files(&around[1..])).is_empty());
}
