//! The imports between the files of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module, or a path from the root of the crate to an item: its names.
type Names = Vec<String>;

struct Source {
    /// The code outside of `use`.
    rest: String,
    /// All paths in `use`, as they are written.
    uses: Vec<Names>,
    /// Those that are passed on: `pub use`.
    passed_on: Vec<Names>,
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn names(path: &str) -> Names {
    path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str, prefix: &Names, into: &mut Vec<Names>) {
    let Some((before, inside)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap();
        into.push([prefix.clone(), names(path)].concat());
        return;
    };
    let prefix = [prefix.clone(), names(before)].concat();
    let (mut depth, mut start) = (0, 0);
    let inside = &inside[..inside.rfind('}').expect("braces come in pairs")];
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&inside[start..at], &prefix, into);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inside[start..].trim().is_empty() {
        expand(&inside[start..], &prefix, into);
    }
}

/// The code before a module of tests in the same file.
fn without_tests(code: &str) -> &str {
    let attributes = ["#[cfg(test)]\nmod ", "#[cfg(all(test, "];
    let mut modules = attributes.into_iter().flat_map(|attribute| code.match_indices(attribute));
    let is_here = |at: usize| code[at..].lines().nth(1).is_some_and(|line| line.ends_with('{'));
    modules.find(|(at, _)| is_here(*at)).map_or(code, |(at, _)| &code[..at])
}

fn read(code: &str) -> Source {
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let code = without_tests(&code);
    let mut source = Source { rest: String::new(), uses: Vec::new(), passed_on: Vec::new() };
    let mut left = code;
    while let Some(at) = left.find("use ") {
        let line = left[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = left[line..at].trim();
        source.rest.push_str(&left[..line]);
        let is_use = matches!(before, "" | "pub" | "pub(crate)" | "pub(super)");
        let end = left[at..].find(if is_use { ';' } else { ' ' }).map_or(left.len(), |end| at + end + 1);
        if is_use {
            let mut paths = Vec::new();
            expand(left[at + 4..end].trim_end_matches(';'), &Vec::new(), &mut paths);
            source.passed_on.extend(paths.iter().filter(|_| !before.is_empty()).cloned());
            source.uses.extend(paths);
        } else {
            source.rest.push_str(&left[line..end]);
        }
        left = &left[end..];
    }
    source.rest.push_str(left);
    source
}

/// The paths of several names in the code.
fn paths(code: &str) -> impl Iterator<Item = Names> {
    let is_of_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    code.split(move |letter| !is_of_path(letter)).filter(|path| path.contains("::")).map(names)
}

struct Crate(BTreeMap<Names, Source>);

/// The files that each file needs.
type Needs = BTreeMap<Names, BTreeSet<Names>>;

impl Crate {
    fn read(folder: &Path) -> Self {
        let module = |path: &Path| -> Names {
            let inside = path.strip_prefix(folder).unwrap().with_extension("");
            let mut module: Names = inside.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
            module.pop_if(|last| last == "mod" || last == "lib");
            module
        };
        let files = files_below(folder);
        let sources = files.iter().map(|path| (module(path), read(&fs::read_to_string(path).unwrap())));
        let is_test = |name: &String| ["tests", "loom_tests"].contains(&name.as_str());
        Crate(sources.filter(|(module, _)| !module.iter().any(is_test)).collect())
    }

    /// The path from the root. `None`: it leads out of the crate.
    fn absolute(&self, path: &Names, from: &Names) -> Option<Names> {
        let is_super = path.iter().take_while(|name| *name == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([from.clone(), path[1..].to_vec()].concat()),
            "super" => Some([&from[..from.len() - is_super], &path[is_super..]].concat()),
            first => {
                let child = [from.clone(), vec![first.to_owned()]].concat();
                self.0.contains_key(&child).then(|| [from.clone(), path.clone()].concat())
            }
        }
    }

    /// The file that has the item, however often it is passed on.
    fn home(&self, path: &Names) -> Names {
        let length = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]));
        let (module, item) = path.split_at(length.unwrap_or(0));
        let module = module.to_vec();
        let passed_on = item.first().and_then(|item| {
            let mut all = self.0.get(&module)?.passed_on.iter();
            let found = all.find(|path| path.last() == Some(item))?;
            self.absolute(found, &module).filter(|next| next != path)
        });
        passed_on.map_or(module, |next| self.home(&next))
    }

    /// The files that a file needs. What it only passes on, it does not need.
    fn needs(&self, from: &Names) -> BTreeSet<Names> {
        let Source { rest, uses, passed_on } = &self.0[from];
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words: BTreeSet<&str> = rest.split(|letter| !is_word(letter)).collect();
        let is_used =
            |path: &&Names| !passed_on.contains(path) || words.contains(path.last().unwrap().as_str());
        let all = uses.iter().filter(is_used).cloned().chain(paths(rest));
        let homes = all.filter_map(|path| Some(self.home(&self.absolute(&path, from)?)));
        homes.filter(|home| !home.is_empty()).collect()
    }

    fn all_needs(&self) -> Needs {
        let files = self.0.keys().filter(|module| !module.is_empty());
        files.map(|module| (module.clone(), self.needs(module))).collect()
    }
}

/// The files that import each other in circles, and those between two circles. The files of each knot count as one.
fn circles(all: &Needs, knots: &[Knot<'_>]) -> BTreeMap<String, BTreeSet<String>> {
    let name = |module: &Names| {
        let name = module.join("/");
        let knot = knots.iter().find(|knot| knot.contains(&name.as_str()));
        knot.map_or(name, |knot| format!("{}, and what belongs to it", knot[0]))
    };
    let mut left: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, needs) in all {
        let this = name(module);
        let needs = needs.iter().map(name).filter(|other| *other != this).collect::<Vec<_>>();
        left.entry(this).or_default().extend(needs);
    }
    let imports: usize = left.values().map(BTreeSet::len).sum();
    assert!(imports > 3 * left.len() / 2, "hardly any imports were found: {left:?}");
    // Takes away what needs nothing that is left, and what nothing that is left needs.
    loop {
        let needed: BTreeSet<String> = left.values().flatten().cloned().collect();
        let is_between = |(file, needs): (&String, &BTreeSet<String>)| {
            (needed.contains(file) && !needs.is_empty()).then(|| file.clone())
        };
        let stay: BTreeSet<String> = left.iter().filter_map(is_between).collect();
        let before = left.len();
        left.retain(|file, _| stay.contains(file));
        left.values_mut().for_each(|needs| needs.retain(|file| stay.contains(file)));
        if left.len() == before {
            return left;
        }
    }
}

/// Files that refer to each other, because their types do: `engine/task` is `src/engine/task.rs`, or `src/engine/task/mod.rs`.
pub(crate) type Knot<'a> = &'a [&'a str];

/// The files below `folder` import each other in one direction, apart from those of a knot, each of which has to be in a circle of it.
pub(crate) fn check(folder: &Path, knots: &[Knot<'_>]) {
    let all = Crate::read(folder).all_needs();
    let left = circles(&all, knots);
    assert!(left.is_empty(), "these import each other in circles: {left:#?}");
    for (at, knot) in knots.iter().enumerate() {
        let others = [&knots[..at], &knots[at + 1..]].concat();
        let circle: BTreeSet<String> = circles(&all, &others).into_keys().collect();
        let listed = knot.iter().map(|name| name.to_string()).collect();
        assert_eq!(circle, listed, "the files of the knot that are in circles, and those that are listed");
    }
}
