//! Situations that random choices rarely reach. Some stories are changed to include them, in one operation or in all.

use plumb_resource::HookType;

use crate::dice::Dice;
use crate::story::{
    Ask, CallKind, Fault, FaultKind, Hook, Method, Operation, Prop, Res, Story, Verb,
};

/// A name that no other resource has.
const NEW: &str = "k";
const PROVIDER: &str = "l";

/// Adds the situations for a seed to a story.
pub(super) fn add(seed: u64, story: &mut Story) {
    let mut dice = Dice::new(seed ^ 0x6169_6d73);
    match dice.below(24) {
        0 | 1 => try_again(&mut dice, story),
        2 => wait_for_a_trigger(&mut dice, story),
        3 => leave_a_configuration_open(&mut dice, story),
        _ => {}
    }
}

/// Makes calls fail once, with error hooks that retry them.
fn try_again(dice: &mut Dice, story: &mut Story) {
    let calls = [CallKind::Create, CallKind::Update, CallKind::Delete];
    let answers = ["again", "again", "again", "enough"];
    let answer = answers[dice.below(answers.len())];
    let mut names: Vec<String> = Vec::new();
    for operation in &mut story.operations {
        let mut resources = operation.program.resources.iter_mut();
        let able = |res: &&mut Res| res.is_managed() && res.read.is_none() && res.snippet.is_none();
        let mut present: Vec<String> = Vec::new();
        for res in resources.by_ref().filter(able) {
            let at = HookType::OnError;
            if !res.hooks.iter().any(|hook| hook.at == at) {
                let name = answer.to_owned();
                res.hooks.push(Hook { at, name });
            }
            present.push(res.name.clone());
        }
        names.extend(present);
        for _ in 0..2 {
            if let Some(name) = dice.pick(&names) {
                operation.faults.push(Fault {
                    call: calls[dice.below(calls.len())],
                    name: name.clone(),
                    kind: FaultKind::Once,
                });
            }
        }
    }
}

/// An update of the story other than the first operation.
fn later_update<'s>(dice: &mut Dice, story: &'s mut Story) -> Option<&'s mut Operation> {
    let at = 1 + dice.below(story.operations.len().max(2) - 1);
    let mut later = story.operations.iter_mut().skip(at);
    later.find(|operation| operation.verb == Verb::Up)
}

/// Whether the program itself registers a resource, which is managed and neither read nor imported.
fn is_plain(res: &Res) -> bool {
    let is_foreign = res.snippet.is_some() || res.by.is_some();
    res.is_managed() && res.read.is_none() && res.import.is_none() && !is_foreign
}

/// Gives a resource a trigger that depends on an untargeted one (RTRIG-04).
fn wait_for_a_trigger(dice: &mut Dice, story: &mut Story) {
    for _ in 0..4 {
        let Some(operation) = later_update(dice, story) else {
            return;
        };
        let resources = &mut operation.program.resources;
        let Some(at) = resources.iter().position(is_plain) else {
            continue;
        };
        let res = &mut resources[at];
        res.trigger = Some(Prop::output(NEW, "v"));
        let target = res.name.clone();
        let mut new = Res::new("Thing", NEW);
        new.properties.insert("v".to_owned(), Prop::text("1"));
        resources.insert(at, new);
        operation.flags.targets = vec![target];
        operation.flags.excludes.clear();
        operation.flags.target_dependents = false;
        operation.flags.exclude_dependents = false;
        operation.preview = false;
        operation.program.tidy();
    }
}

/// Makes a provider's configuration unknown in a preview, with a resource, a function and a method of that provider
/// (PULUMI-29).
fn leave_a_configuration_open(dice: &mut Dice, story: &mut Story) {
    let Some(operation) = later_update(dice, story) else {
        return;
    };
    operation.preview = true;
    let mut provider = Res::new("P.test", PROVIDER);
    let setting = Prop::output(NEW, "oid");
    provider.properties.insert("w".to_owned(), setting);
    let resources = &mut operation.program.resources;
    if let Some(res) = resources.iter_mut().find(|res| is_plain(res)) {
        res.provider = Some(PROVIDER.to_owned());
    }
    let mut user = Res::new("Thing", "user");
    user.provider = Some(PROVIDER.to_owned());
    let first = usize::from(resources.first().is_some_and(Res::is_stack));
    for res in [user, provider, Res::new("Thing", NEW)] {
        resources.insert(first, res);
    }
    operation.program.asks.push(Ask {
        package: "test".to_owned(),
        provider: Some(PROVIDER.to_owned()),
        ..Ask::default()
    });
    operation.program.methods.push(Method {
        name: "open".to_owned(),
        does: "echo".to_owned(),
        of: Some(PROVIDER.to_owned()),
        ..Method::default()
    });
    operation.program.tidy();
}
