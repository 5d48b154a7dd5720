//! Stories by chance.
//!
//! A story draws the features that it plays with first, so that some stories are about few things and go deep, and
//! others mix everything.

mod aims;
mod extras;
mod functions;
mod methods;
mod packages;

use plumb_resource::HookType;

use crate::dice::Dice;
use crate::story::{
    AliasDecl, CallKind, Fault, FaultKind, Flags, Hook, ImportDecl, Incident, Operation, Program,
    Prop, Res, Source, Stop, Story, Verb, path_of_urn,
};

/// How many operations a story has at least.
pub const OPERATIONS: usize = 20;

/// Objects that are there before every story: one for each name, and a few for imports.
pub const PLANTED: usize = NAMES.len() + 4;

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// What a story plays with.
#[derive(Clone, Copy, Debug)]
struct Features<'a> {
    /// Names that resources have, or may get.
    names: &'a [String],
    size: usize,
    stack: bool,
    components: bool,
    providers: bool,
    two_packages: bool,
    versions: bool,
    aliases: bool,
    reads: bool,
    imports: bool,
    secrets: bool,
    links: bool,
    protect: bool,
    oddities: bool,
    faults: bool,
    stops: bool,
    refresh: bool,
    run_program: bool,
    targets: bool,
    replace: bool,
    continues: bool,
    legacy: bool,
    incidents: bool,
    import_operation: bool,
    hooks: bool,
}

impl<'a> Features<'a> {
    fn draw(dice: &mut Dice, names: &'a [String]) -> Self {
        let mut likely = |n: usize| dice.below(10) < n;
        Features {
            names,
            stack: likely(5),
            components: likely(5),
            providers: likely(4),
            two_packages: likely(3),
            versions: likely(2),
            aliases: likely(4),
            reads: likely(2),
            imports: likely(2),
            secrets: likely(4),
            links: likely(6),
            protect: likely(3),
            oddities: likely(5),
            faults: likely(6),
            stops: likely(4),
            refresh: likely(4),
            run_program: likely(3),
            targets: likely(3),
            replace: likely(3),
            continues: likely(3),
            legacy: likely(2),
            incidents: likely(4),
            import_operation: likely(1),
            hooks: likely(2),
            size: 1 + dice.below(NAMES.len()),
        }
    }
}

/// The story of a seed.
pub fn story(seed: u64) -> Story {
    story_on(seed, Program::default())
}

/// The story of a seed, which begins with changes to `program`.
pub fn story_on(seed: u64, mut program: Program) -> Story {
    let mut dice = Dice::new(seed);
    let mut names: Vec<String> = NAMES.map(str::to_owned).into();
    names.extend(program.resources.iter().map(|res| res.name.clone()));
    let mut features = Features::draw(&mut dice, &names);
    features.size = features.size.max(program.resources.len());
    let mut story = Story::default();
    let count = OPERATIONS + dice.below(5);
    for _ in 0..count {
        let operation = operation(&mut dice, features, &mut program);
        story.operations.push(operation);
    }
    extras::add(seed, &mut story);
    packages::add(seed, &mut story);
    methods::add(seed, &mut story);
    functions::add(seed, &mut story);
    aims::add(seed, &mut story);
    story
}

fn operation(dice: &mut Dice, features: Features<'_>, program: &mut Program) -> Operation {
    let mut operation = Operation {
        seed: dice.number() % 100_000,
        parallel: [1, 2, 3, 16][dice.below(4)],
        preview: dice.one_in(6),
        ..Operation::default()
    };
    operation.verb = match dice.below(12) {
        0 if dice.one_in(2) => Verb::Destroy,
        1 | 2 if features.refresh => Verb::Refresh,
        3 if features.import_operation => Verb::Import,
        _ => Verb::Up,
    };
    if operation.verb == Verb::Up {
        edit(dice, features, program);
    }
    operation.flags = flags(dice, features, operation.verb);
    let runs = operation.verb == Verb::Up || operation.flags.run_program;
    if runs {
        operation.program = program.clone();
        if operation.verb != Verb::Up && dice.one_in(3) {
            edit(dice, features, &mut operation.program);
        }
    }
    if operation.verb == Verb::Import {
        for number in 0..=dice.below(3) {
            let id = format!("planted-{}", NAMES.len() + number);
            operation.imports.push(adoption(dice, id));
        }
    }
    if features.faults && dice.one_in(3) {
        for _ in 0..=dice.below(3) {
            operation.faults.push(fault(dice, features));
        }
    }
    if features.stops && dice.one_in(5) {
        let at = dice.below(40) as u32;
        operation.stop = Some(match dice.below(8) {
            0 | 1 => Stop::Interrupt(at),
            2 if runs => Stop::ProgramFails(at),
            3 if !operation.preview => Stop::JournalFails(at),
            _ => Stop::Crash(at),
        });
    }
    if features.incidents && dice.one_in(3) {
        for _ in 0..=dice.below(2) {
            operation.before.push(incident(dice, features));
        }
    }
    if dice.one_in(3) {
        operation.before.push(Incident::ClearPending);
    }
    operation
}

/// Mostly under a name that no program uses.
fn adoption(dice: &mut Dice, id: String) -> ImportDecl {
    let name = NAMES[dice.below(NAMES.len())];
    ImportDecl {
        name: if dice.one_in(4) {
            name.to_owned()
        } else {
            format!("n{name}-{id}")
        },
        id,
        type_name: ["Thing", "Thing", "Other", "Two"][dice.below(4)].to_owned(),
    }
}

fn name(dice: &mut Dice, features: Features<'_>) -> String {
    features.names[dice.below(features.names.len())].clone()
}

fn incident(dice: &mut Dice, features: Features<'_>) -> Incident {
    let name = name(dice, features);
    match dice.below(6) {
        0 if features.protect => Incident::Protect(name),
        0 | 1 => Incident::Unprotect(name),
        2 => Incident::Taint(name),
        3 => Incident::Vanish(name),
        _ => Incident::Drift(name, dice.below(4).to_string()),
    }
}

fn fault(dice: &mut Dice, features: Features<'_>) -> Fault {
    let call = [
        CallKind::Create,
        CallKind::Update,
        CallKind::Delete,
        CallKind::Create,
        CallKind::Update,
        CallKind::Delete,
        CallKind::Read,
        CallKind::Check,
        CallKind::Diff,
    ][dice.below(9)];
    let is_change = matches!(call, CallKind::Create | CallKind::Update | CallKind::Delete);
    let kind = match (call, dice.below(8)) {
        (CallKind::Create | CallKind::Update | CallKind::Read, 0 | 1) => FaultKind::Partial,
        (CallKind::Create | CallKind::Update | CallKind::Delete, 2) => FaultKind::Unknown,
        (CallKind::Create | CallKind::Update | CallKind::Delete, 3) => FaultKind::Hang,
        (CallKind::Create | CallKind::Update | CallKind::Delete, 4) => FaultKind::Once,
        _ => FaultKind::Clean,
    };
    Fault {
        call,
        name: name(dice, features),
        // Hooks may try again.
        kind: if features.hooks && dice.one_in(3) && kind != FaultKind::Hang && is_change {
            FaultKind::Once
        } else {
            kind
        },
    }
}

fn flags(dice: &mut Dice, features: Features<'_>, verb: Verb) -> Flags {
    let mut flags = Flags {
        refresh: features.refresh
            && verb != Verb::Import
            && verb != Verb::Refresh
            && dice.one_in(4),
        run_program: features.run_program && verb != Verb::Import && dice.one_in(3),
        continue_on_error: features.continues && dice.one_in(2),
        ignore_protect: features.protect && dice.one_in(5),
        legacy_diff: features.legacy && dice.one_in(3),
        legacy_refresh_diff: features.legacy && dice.one_in(3),
        ..Flags::default()
    };
    if features.targets && verb != Verb::Import && dice.one_in(3) {
        let pick = |dice: &mut Dice| -> Vec<String> {
            let mut names: Vec<String> =
                (0..=dice.below(3)).map(|_| name(dice, features)).collect();
            if dice.one_in(10) {
                names.push(format!("**{}", name(dice, features)));
            }
            names.sort();
            names.dedup();
            names
        };
        if dice.one_in(3) {
            flags.excludes = pick(dice);
            flags.exclude_dependents = dice.one_in(2);
        } else {
            flags.targets = pick(dice);
            flags.target_dependents = dice.one_in(2);
        }
    }
    if features.replace && verb == Verb::Up && dice.one_in(5) {
        flags.replace = vec![name(dice, features)];
    }
    flags
}

/// Changes a program a little, or makes another one.
fn edit(dice: &mut Dice, features: Features<'_>, program: &mut Program) {
    if dice.one_in(12) {
        program.resources.clear();
    }
    let edits = 1 + dice.below(3);
    if program.resources.is_empty() {
        grow(dice, features, program, features.size);
    } else if dice.one_in(5) {
        return;
    }
    for _ in 0..edits {
        match dice.below(10) {
            0 => {
                let at = dice.below(program.resources.len());
                program.resources.remove(at);
            }
            1 | 2 => grow(dice, features, program, 1),
            3 if features.aliases => rename(dice, features, program),
            4 if features.aliases => move_below(dice, program),
            5 if program.resources.len() > 1 => {
                let at = dice.below(program.resources.len());
                let res = program.resources.remove(at);
                let at = dice.below(program.resources.len() + 1);
                program.resources.insert(at, res);
            }
            6 if features.aliases => drop_aliases(dice, program),
            _ => change(dice, features, program),
        }
        program.tidy();
        if program.resources.is_empty() {
            break;
        }
    }
    if features.providers && dice.one_in(8) {
        let key = ["test:v", "test:r", "test:dbr", "two:v"][dice.below(4)];
        let value = dice.below(3).to_string();
        program.config.insert(key.to_owned(), value);
    }
}

fn grow(dice: &mut Dice, features: Features<'_>, program: &mut Program, count: usize) {
    if features.stack && !program.resources.iter().any(Res::is_stack) && dice.one_in(2) {
        let mut stack = Res::new("Stack", "stack");
        if dice.one_in(2) {
            stack
                .outputs
                .insert("x".to_owned(), prop(dice, features, program));
        }
        program.resources.insert(0, stack);
    }
    for _ in 0..count {
        let name = name(dice, features);
        if program.get(&name).is_some() || program.resources.len() > features.size {
            continue;
        }
        let res = fresh(dice, features, &name, program);
        program.resources.push(res);
    }
}

fn fresh(dice: &mut Dice, features: Features<'_>, name: &str, program: &Program) -> Res {
    let type_name = match dice.below(12) {
        0 | 1 if features.components => "Group",
        2 if features.components => "Pack",
        3 if features.providers => "P.test",
        4 if features.providers && features.two_packages => "P.two",
        5 | 6 if features.two_packages => "Two",
        7 | 8 => "Other",
        _ => "Thing",
    };
    let mut res = Res::new(type_name, name);
    for _ in 0..dice.below(4) {
        option(dice, features, &mut res, program);
    }
    if !res.is_component() {
        res.properties
            .insert("v".to_owned(), prop(dice, features, program));
    }
    if res.is_managed() && features.hooks && dice.one_in(3) {
        bind_hook(dice, &mut res);
    }
    res
}

fn prop(dice: &mut Dice, features: Features<'_>, program: &Program) -> Prop {
    let mut value = Prop::text(dice.below(4).to_string());
    let givers: Vec<&Res> = program
        .resources
        .iter()
        .filter(|res| res.is_managed())
        .collect();
    if let (true, Some(res)) = (dice.one_in(2), dice.pick(&givers)) {
        let key = ["v", "oid", "r"][dice.below(3)];
        value.source = Source::Output {
            name: res.name.clone(),
            key: key.to_owned(),
        };
    }
    value.secret = features.secrets && dice.one_in(4);
    value
}

fn change(dice: &mut Dice, features: Features<'_>, program: &mut Program) {
    if program.resources.is_empty() {
        return;
    }
    let at = dice.below(program.resources.len());
    let earlier = Program {
        resources: program.resources[..at].to_vec(),
        ..Program::default()
    };
    let res = &mut program.resources[at];
    if res.is_stack() {
        if dice.one_in(2) {
            let all = Program {
                resources: program.resources.clone(),
                ..Program::default()
            };
            let value = prop(dice, features, &all);
            program.resources[at].outputs.insert("x".to_owned(), value);
        }
        return;
    }
    if dice.one_in(3) {
        let value = prop(dice, features, &earlier);
        if !res.is_component() || dice.one_in(4) {
            let key = ["v", "w", "r"][dice.below(3)];
            res.properties.insert(key.to_owned(), value);
        }
        return;
    }
    if dice.one_in(8) && !res.properties.is_empty() {
        let keys: Vec<String> = res.properties.keys().cloned().collect();
        res.properties.remove(&keys[dice.below(keys.len())]);
        return;
    }
    option(dice, features, res, &earlier);
}

/// Sets, or takes back, one option of a resource.
fn option(dice: &mut Dice, features: Features<'_>, res: &mut Res, earlier: &Program) {
    let others: Vec<&Res> = earlier
        .resources
        .iter()
        .filter(|other| !other.is_stack())
        .collect();
    let other = dice.pick(&others).map(|res| res.name.clone());
    let managed = res.is_managed();
    let odd = [
        "always", "vague", "detail", "dbr", "named", "fresh", "q", "rr", "blind",
    ];
    match dice.below(26) {
        0..=2 if features.links => res.parent = other,
        3 if features.links => res.depends_on.extend(other),
        4 if features.links && managed => res.deleted_with = other,
        5 if features.links && managed => res.replace_with.extend(other),
        6 => res.delete_before_replace = [None, Some(true), Some(false), Some(true)][dice.below(4)],
        7 if features.protect => res.protect = [None, Some(true), Some(false)][dice.below(3)],
        8 => res.retain = [None, Some(true), Some(false)][dice.below(3)],
        9 if managed => {
            res.ignore_changes = toggled(dice, &res.ignore_changes, &["v", "r", "w", "*"]);
        }
        10 if managed => {
            res.replace_on_changes = toggled(
                dice,
                &res.replace_on_changes,
                &["v", "w", "*", "#initerror"],
            );
        }
        11 if managed && features.secrets => {
            res.secret_outputs = toggled(dice, &res.secret_outputs, &["v", "oid"]);
        }
        12 => res.hide_diffs = toggled(dice, &res.hide_diffs, &["v"]),
        13 if managed => {
            let value = prop(dice, features, earlier);
            res.trigger = if dice.one_in(3) { None } else { Some(value) };
        }
        14 if features.providers && !res.is_provider() => {
            let providers: Vec<&&Res> = others.iter().filter(|res| res.is_provider()).collect();
            let provider = dice.pick(&providers).map(|res| res.name.clone());
            if res.type_name == "Group" && dice.one_in(2) {
                res.providers.extend(provider);
                res.providers.dedup();
            } else {
                res.provider = provider;
            }
        }
        15 if features.versions && managed => {
            res.version = ["1.0.0", "2.0.0"]
                .get(dice.below(3))
                .map(|it| (*it).to_owned());
        }
        16 if managed && features.imports && res.read.is_none() => {
            res.import = if dice.one_in(3) {
                None
            } else {
                planted(&res.name)
            };
        }
        17 if managed && features.reads => {
            res.read = if res.read.is_some() && dice.one_in(2) {
                None
            } else {
                planted(&res.name)
            };
        }
        18 => res.timeout = [None, Some(5)][dice.below(2)],
        19 => res.loose = !res.loose,
        20..=22 if features.oddities && !res.is_component() => {
            let key = odd[dice.below(odd.len())].to_owned();
            if res.properties.remove(&key).is_none() {
                res.properties
                    .insert(key, Prop::text(dice.below(3).to_string()));
            }
        }
        23 | 24 if managed && features.hooks => bind_hook(dice, res),
        _ if res.is_component() => {
            let value = prop(dice, features, earlier);
            res.outputs.insert("x".to_owned(), value);
        }
        _ => {
            let value = prop(dice, features, earlier);
            res.properties.insert("w".to_owned(), value);
        }
    }
    if res.import.is_some() && res.read.is_some() {
        res.import = None;
    }
}

/// Binds a hook, or takes it back.
fn bind_hook(dice: &mut Dice, res: &mut Res) {
    let at = if dice.one_in(3) {
        HookType::OnError
    } else {
        HookType::ALL[dice.below(HookType::ALL.len())]
    };
    let names: &[&str] = match at {
        HookType::OnError => &["again", "again", "enough"],
        HookType::BeforeCreate | HookType::BeforeUpdate | HookType::BeforeDelete => {
            &["fine", "fine", "fine", "lenient", "bad", "missing"]
        }
        _ => &["fine", "fine", "fine", "lenient", "bad"],
    };
    let name = names[dice.below(names.len())].to_owned();
    let before = res.hooks.len();
    res.hooks.retain(|hook| hook.at != at || hook.name != name);
    if res.hooks.len() == before {
        res.hooks.push(Hook { at, name });
    }
}

/// The object that a resource may adopt: each its own.
fn planted(name: &str) -> Option<String> {
    let number = NAMES.iter().position(|other| *other == name)?;
    Some(format!("planted-{number}"))
}

fn toggled(dice: &mut Dice, present: &[String], choices: &[&str]) -> Vec<String> {
    let choice = choices[dice.below(choices.len())].to_owned();
    if present.contains(&choice) {
        return present
            .iter()
            .filter(|it| **it != choice)
            .cloned()
            .collect();
    }
    let mut all = present.to_vec();
    all.push(choice);
    all
}

fn follow(program: &mut Program, from: &str, to: &str) {
    let rename = |name: &mut String| {
        if name == from {
            to.clone_into(name);
        }
    };
    for res in &mut program.resources {
        for prop in res
            .properties
            .values_mut()
            .chain(res.outputs.values_mut())
            .chain(&mut res.trigger)
        {
            if let Source::Output { name, .. } = &mut prop.source {
                rename(name);
            }
        }
        res.parent.iter_mut().for_each(rename);
        res.depends_on.iter_mut().for_each(rename);
        res.provider.iter_mut().for_each(rename);
        res.providers.iter_mut().for_each(rename);
        res.deleted_with.iter_mut().for_each(rename);
        res.replace_with.iter_mut().for_each(rename);
    }
}

/// Gives a resource another name, mostly with an alias.
fn rename(dice: &mut Dice, features: Features<'_>, program: &mut Program) {
    let at = dice.below(program.resources.len());
    let to = name(dice, features);
    let res = &program.resources[at];
    if res.is_stack() || program.get(&to).is_some() {
        return;
    }
    let from = res.name.clone();
    let path = path_of_urn(&program.urn_of(res));
    follow(program, &from, &to);
    let res = &mut program.resources[at];
    to.clone_into(&mut res.name);
    res.import = None;
    res.read = None;
    match dice.below(8) {
        0 => {}
        1 | 2 => res.aliases.push(AliasDecl {
            urn: Some(path),
            ..AliasDecl::default()
        }),
        _ => res.aliases.push(AliasDecl {
            name: Some(from),
            ..AliasDecl::default()
        }),
    }
}

/// Gives a resource another parent or type, mostly with an alias.
fn move_below(dice: &mut Dice, program: &mut Program) {
    let at = dice.below(program.resources.len());
    let res = &program.resources[at];
    if res.is_stack() {
        return;
    }
    let path = path_of_urn(&program.urn_of(res));
    let parent_path = program
        .parent_of(res)
        .and_then(|name| program.get(name))
        .map(|parent| path_of_urn(&program.urn_of(parent)));
    let earlier: Vec<String> = program.resources[..at]
        .iter()
        .map(|res| res.name.clone())
        .collect();
    let other = dice.pick(&earlier).filter(|name| *name != "stack").cloned();
    let res = &mut program.resources[at];
    let alias = if dice.one_in(4) {
        let other_type = match res.type_name.as_str() {
            "Thing" => "Other",
            "Other" => "Thing",
            "Group" => "Pack",
            "Pack" => "Group",
            _ => return,
        };
        let former = std::mem::replace(&mut res.type_name, other_type.to_owned());
        AliasDecl {
            type_name: Some(former),
            ..AliasDecl::default()
        }
    } else {
        res.parent = if dice.one_in(3) { None } else { other };
        let former = parent_path.filter(|path| !path.starts_with("Stack"));
        AliasDecl {
            parent: Some(former.unwrap_or_else(|| "none".to_owned())),
            ..AliasDecl::default()
        }
    };
    match dice.below(6) {
        0 => {}
        1 => res.aliases.push(AliasDecl {
            urn: Some(path),
            ..AliasDecl::default()
        }),
        _ => res.aliases.push(alias),
    }
}

fn drop_aliases(dice: &mut Dice, program: &mut Program) {
    let at = dice.below(program.resources.len());
    program.resources[at].aliases.clear();
}
