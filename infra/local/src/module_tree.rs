//! Tests that the modules of this crate form a tree: no circle among the `crate::` and `super::` paths of their sources,
//! neither between files nor between the rooms (the modules directly below the crate).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The modules that each module uses. The crate root is the empty name.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The sources of a crate without their tests, by module, such as `seed::demo::drafts`.
fn read_sources(src: &Path) -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    let mut folders = vec![(src.to_owned(), Vec::new())];
    while let Some((folder, path)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let mut module: Vec<String> = path.clone();
            if file.is_dir() {
                // Each file in `bin` is a crate of its own.
                if name != "bin" {
                    module.push(name);
                    folders.push((file, module));
                }
                continue;
            }
            match name.as_str() {
                "main" | "module_tree" => continue,
                "lib" | "mod" => {}
                _ => module.push(name),
            }
            sources.insert(module.join("::"), std::fs::read_to_string(&file).unwrap());
        }
    }
    sources
}

/// The modules that each source uses: its child modules, and those that its paths name.
fn uses(sources: &BTreeMap<String, String>) -> Uses {
    let of = |(module, source): (&String, &String)| {
        let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let mut used: BTreeSet<String> = paths(code, module).iter().map(|path| module_of(path, sources)).collect();
        used.extend(sources.keys().filter(|child| !child.is_empty() && parent(child) == module).cloned());
        used.remove(module);
        (module.clone(), used)
    };
    sources.iter().map(of).collect()
}

/// Every path of the crate in some code, such as `store::Store`, wherever it stands: in a `use` or in an expression.
fn paths(code: &str, module: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let code: String = code.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect();
    for (start, base) in [("crate::", ""), ("super::", parent(module))] {
        for (at, _) in code.match_indices(start) {
            if !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':') {
                expand(base, &code[at + start.len()..], &mut paths);
            }
        }
    }
    paths
}

/// Adds the paths that begin here: one, or each of a list in braces. Returns the code after them.
fn expand<'a>(base: &str, code: &'a str, paths: &mut Vec<String>) -> &'a str {
    let code = code.trim_start();
    if let Some(mut list) = code.strip_prefix('{') {
        loop {
            list = list.trim_start().trim_start_matches(',').trim_start();
            if let Some(rest) = list.strip_prefix('}') {
                return rest;
            }
            if list.is_empty() {
                return list;
            }
            list = expand(base, list, paths);
        }
    }
    let end = code.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(code.len());
    let (name, rest) = code.split_at(end);
    let path = if base.is_empty() { name.to_owned() } else { format!("{base}::{name}") };
    if let Some(rest) = rest.strip_prefix("::") {
        return expand(&path, rest, paths);
    }
    paths.push(path);
    // Skips an alias or a glob, up to the next path of a list.
    &rest[rest.find([',', '}']).unwrap_or(rest.len())..]
}

/// The innermost module that a path leads through.
fn module_of(path: &str, sources: &BTreeMap<String, String>) -> String {
    let mut path = path;
    while !path.is_empty() && !sources.contains_key(path) {
        path = parent(path);
    }
    path.to_owned()
}

fn parent(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(parent, _)| parent)
}

/// The same, between rooms: every module counts as the one directly below the crate that it is in.
fn between_rooms(uses: &Uses) -> Uses {
    let room = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
    let mut rooms = Uses::new();
    for (module, used) in uses {
        let used_rooms = rooms.entry(room(module)).or_default();
        used_rooms.extend(used.iter().map(|used| room(used)).filter(|used| *used != room(module)));
    }
    rooms
}

/// A circle, if there is one: modules each of which uses the next, and the last of which is the first.
fn find_circle(uses: &Uses) -> Option<Vec<String>> {
    fn visit(module: &str, uses: &Uses, trail: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        let is_circle = trail.iter().any(|earlier| earlier == module);
        trail.push(module.to_owned());
        if is_circle {
            return true;
        }
        if !done.contains(module) {
            for used in uses.get(module).into_iter().flatten() {
                if visit(used, uses, trail, done) {
                    return true;
                }
            }
        }
        done.insert(module.to_owned());
        trail.pop();
        false
    }
    let mut done = BTreeSet::new();
    uses.keys().find_map(|module| {
        let mut trail = Vec::new();
        visit(module, uses, &mut trail, &mut done).then(|| {
            let first = trail.iter().position(|module| Some(module) == trail.last()).unwrap_or_default();
            trail.split_off(first)
        })
    })
}

#[test]
fn the_modules_of_this_crate_form_a_tree() {
    let sources = read_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(sources.len() > 20, "the sources are found: {:?}", sources.keys());
    let uses = uses(&sources);
    assert!(uses["stack"].contains("server"), "imports are found: {:?}", uses["stack"]);
    assert_eq!(find_circle(&uses), None, "between files");
    assert_eq!(find_circle(&between_rooms(&uses)), None, "between rooms");
}

fn sources(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    of.iter().map(|(module, source)| ((*module).to_owned(), (*source).to_owned())).collect()
}

#[test]
fn a_circle_is_found() {
    let made_up = [
        ("", "mod a; mod b; mod c;"),
        ("a", "use crate::b::B;\n"),
        ("b", "fn b() { crate::c::c() }\n"),
        ("c", "use std::fmt;\nuse crate::{b::B, a::{A, X}};\n"),
    ];
    assert_eq!(find_circle(&uses(&sources(&made_up))).unwrap(), ["a", "b", "c", "a"]);
}

#[test]
fn a_use_of_the_parent_or_of_the_crate_root_is_a_circle() {
    let parent_via_super = [("a", "mod b; use b::B;"), ("a::b", "use super::A;")];
    assert_eq!(find_circle(&uses(&sources(&parent_via_super))).unwrap(), ["a", "a::b", "a"]);
    let parent_via_crate = [("a", "mod b;"), ("a::b", "use crate::a::A;")];
    assert_eq!(find_circle(&uses(&sources(&parent_via_crate))).unwrap(), ["a", "a::b", "a"]);
    let root = [("", "mod a;"), ("a", "use crate::{\n    A,\n};")];
    assert_eq!(find_circle(&uses(&sources(&root))).unwrap(), ["", "a", ""]);
}

#[test]
fn a_circle_between_rooms_is_found_where_there_is_none_between_files() {
    let made_up = [
        ("a::one", "use crate::b::one::B;"),
        ("a::two", ""),
        ("b::one", ""),
        ("b::two", "use crate::a::two::A;"),
        ("a", "mod one; mod two;"),
        ("b", "mod one; mod two;"),
    ];
    let uses = uses(&sources(&made_up));
    assert_eq!(find_circle(&uses), None);
    assert_eq!(find_circle(&between_rooms(&uses)).unwrap(), ["a", "b", "a"]);
}

#[test]
fn comments_tests_and_other_crates_count_for_nothing() {
    let made_up = [
        ("a", "use crate::b::B;"),
        ("b", "// See crate::a::A.\nuse other_crate::a::A;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
    ];
    assert_eq!(find_circle(&uses(&sources(&made_up))), None);
}
