//! Every public function has an example that runs.
//!
//! A function has one if an example in the documentation of its file names it: its own, or that of its type. Getters need
//! none: functions that take only `self`, and give something other than a fiber. Functions that are hidden from the
//! documentation need none either. The lint `unreachable_pub` ensures that `pub` means public.

use std::fs;
use std::path::{Path, PathBuf};

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The code of the examples that run.
fn examples(source: &str) -> String {
    let mut code = String::new();
    let (mut is_inside, mut runs) = (false, false);
    for line in source.lines().map(str::trim_start) {
        let prefixes = ["///", "//!", "#[doc = concat!("];
        let Some(doc) = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)) else { continue };
        if let Some(language) = doc.trim().strip_prefix("```") {
            is_inside = !is_inside;
            runs = matches!(language, "" | "rust" | "should_panic");
        } else if is_inside && runs {
            code.push_str(doc);
            code.push('\n');
        }
    }
    code
}

/// Whether `name` is in `code`, as a word.
fn names(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name)
        .any(|(at, _)| !code[..at].ends_with(is_part) && !code[at + name.len()..].starts_with(is_part))
}

/// The name of the public function that a line begins to declare.
fn declared(line: &str) -> Option<&str> {
    let mut rest = line.trim_start().strip_prefix("pub ")?;
    for word in ["const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let rest = rest.strip_prefix("fn ")?;
    rest.find(['(', '<']).map(|end| &rest[..end])
}

fn is_getter(signature: &str) -> bool {
    let takes_self =
        ["(&self) ->", "(&mut self) ->", "(self) ->"].iter().any(|self_| signature.contains(self_));
    takes_self && !signature.contains("Fiber<")
}

fn is_hidden(before: &[&str]) -> bool {
    let above = before.iter().rev().map(|line| line.trim());
    above
        .take_while(|line| line.starts_with("//") || line.starts_with("#["))
        .any(|line| line == "#[doc(hidden)]")
}

/// The functions of a file that lack an example, with their lines.
fn lacking(source: &str) -> Vec<String> {
    let (lines, examples) = (source.lines().collect::<Vec<_>>(), examples(source));
    let lacks = |(at, line): (usize, &&str)| {
        let name = declared(line)?;
        let signature = lines[at..].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let signature = signature.split(['{', ';']).next().unwrap();
        let needs_none = is_getter(signature) || is_hidden(&lines[..at]) || names(&examples, name);
        (!needs_none).then(|| format!("{}: {name}", at + 1))
    };
    lines.iter().enumerate().filter_map(lacks).collect()
}

#[test]
fn every_public_function_has_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let mut found = Vec::new();
    for package in ["fiber-core", "fiber-core/macros", "fiber-sched", "fiber-test"] {
        let mut files = files_below(&root.join(package).join("src"));
        files.sort();
        for file in files {
            let short = file.strip_prefix(root).unwrap().display().to_string();
            let lacking = lacking(&fs::read_to_string(&file).unwrap());
            found.extend(lacking.into_iter().map(|line| format!("{short}:{line}")));
        }
    }
    assert!(found.is_empty(), "{} public functions lack an example:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_function_without_an_example_is_found() {
    let source = "/// Shown.\n/// ```\n/// shown(1);\n/// ```\npub fn shown(n: u32) {}\n/// Not.\npub fn unshown(n: u32) {}\n\
                  /// A getter.\npub const fn size(&self) -> usize {\n/// Text:\n/// ```text\n/// textual()\n/// ```\npub fn textual() {}";
    assert_eq!(lacking(source), ["7: unshown", "14: textual"]);
}
