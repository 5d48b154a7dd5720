//! Random stories.
//!
//! A story first chooses the features that it uses, so that some stories explore few features in depth, and others mix
//! all of them.

mod aims;
mod extras;
mod functions;
mod identities;
mod methods;
mod options;
mod packages;

use crate::dice::Dice;
use crate::story::{
    CallKind, Fault, FaultKind, Flags, ImportDecl, Incident, Operation, Program, Prop, Res, Source,
    Stop, Story, Verb,
};
use identities::{drop_aliases, move_below, rename};
use options::{bind_hook, option};

/// Minimum number of operations of a story.
pub const OPERATIONS: usize = 20;

/// Number of objects that exist before every story: one for each name, and a few for imports.
pub const PLANTED: usize = NAMES.len() + 4;

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// Features used by a story.
#[derive(Clone, Copy, Debug)]
struct Features<'a> {
    /// Names of resources.
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

/// Story for a seed.
pub fn story(seed: u64) -> Story {
    story_on(seed, Program::default())
}

/// Story for a seed that begins with changes to `program`.
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

/// Import declaration, mostly with a name that no program uses.
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
        // Hooks can retry the call.
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

/// Changes a program slightly, or generates a new one.
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
