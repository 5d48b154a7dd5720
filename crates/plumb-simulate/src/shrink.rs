//! Shrinking of failed stories.

use crate::coverage::Coverage;
use crate::simulate::{Care, Failed, run_observed};
use crate::story::{Flags, Method, Program, Res, Story};
use crate::world::World;

/// Limits of shrinking.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Maximum number of variants.
    pub tries: usize,
    /// Number of orders of events for each variant, in addition to its own.
    pub orders: u64,
}

const EFFORT: Effort = Effort {
    tries: 6_000,
    orders: 4,
};

/// Runs a variant of a story and returns the failed operation and the failure; `None` if it fails in another way, or
/// not at all.
type Attempt<'a, F> = dyn FnMut(&Story) -> Option<(usize, F)> + 'a;

struct Shrinker<'a, F> {
    attempt: &'a mut Attempt<'a, F>,
    effort: Effort,
    story: Story,
    failed: F,
    tries: usize,
}

/// Removes operations, resources, options and faults while the story still violates the same rule.
pub fn shrink(start: &World, story: Story, failed: Failed) -> (Story, Failed) {
    let rule = failed.violation.rule;
    let mut attempt = |candidate: &Story| {
        let coverage = &mut Coverage::default();
        let result = run_observed(start, candidate, Care::Full, coverage, |_, _| {});
        let failed = result.err().filter(|it| it.violation.rule == rule)?;
        Some((failed.operation, failed))
    };
    let operation = failed.operation;
    shrink_with(story, operation, failed, EFFORT, &mut attempt)
}

/// Shrinks a story; `attempt` decides whether a variant still fails, and in which operation.
pub fn shrink_with<'a, F>(
    mut story: Story,
    operation: usize,
    failed: F,
    effort: Effort,
    attempt: &'a mut Attempt<'a, F>,
) -> (Story, F) {
    story.operations.truncate(operation + 1);
    let mut shrinker = Shrinker {
        attempt,
        effort,
        story,
        failed,
        tries: 0,
    };
    loop {
        let before = shrinker.story.to_string().len();
        shrinker.drop_operations();
        shrinker.simplify_operations();
        shrinker.drop_resources();
        shrinker.drop_options();
        if shrinker.story.to_string().len() >= before || shrinker.tries > effort.tries {
            return (shrinker.story, shrinker.failed);
        }
    }
}

impl<F> Shrinker<'_, F> {
    /// Accepts a variant if it fails for the same reason in some order of events.
    fn accept(&mut self, mut variant: Story) -> bool {
        for operation in &mut variant.operations {
            operation.program.tidy();
        }
        if variant == self.story || variant.operations.is_empty() || self.tries > self.effort.tries
        {
            return false;
        }
        for order in 0..=self.effort.orders {
            self.tries += 1;
            let mut candidate = variant.clone();
            if order > 0 {
                for operation in &mut candidate.operations {
                    operation.seed = order;
                }
            }
            if let Some((operation, failed)) = (self.attempt)(&candidate) {
                candidate.operations.truncate(operation + 1);
                self.story = candidate;
                self.failed = failed;
                return true;
            }
        }
        false
    }

    fn drop_operations(&mut self) {
        let mut at = 0;
        while at < self.story.operations.len() {
            let mut variant = self.story.clone();
            variant.operations.remove(at);
            if !self.accept(variant) {
                at += 1;
            }
        }
    }

    fn simplify_operations(&mut self) {
        for at in 0..self.story.operations.len() {
            self.try_edit(at, |it| it.preview = false);
            self.try_edit(at, |it| it.parallel = 1);
            self.try_edit(at, |it| it.stop = None);
            self.try_edit(at, |it| it.flags = Flags::default());
            self.try_edit(at, |it| it.program.config.clear());
            self.try_edit(at, |it| it.program.transforms.clear());
            self.try_edit(at, |it| it.program.ask_transforms.clear());
            self.try_edit(at, |it| it.program.packages.clear());
            self.try_edit(at, |it| it.program.asks.clear());
            self.try_edit(at, |it| it.program.methods.clear());
            self.try_edit(at, |it| it.flags.stores.clear());
            self.try_edit(at, |it| it.flags.removes.clear());
            for edit in FLAG_EDITS {
                self.try_edit(at, |it| edit(&mut it.flags));
            }
            for index in (0..8).rev() {
                self.try_edit(at, |it| drop_at(&mut it.faults, index));
                self.try_edit(at, |it| drop_at(&mut it.before, index));
                self.try_edit(at, |it| drop_at(&mut it.flags.targets, index));
                self.try_edit(at, |it| drop_at(&mut it.flags.excludes, index));
                self.try_edit(at, |it| drop_at(&mut it.flags.policies, index));
                self.try_edit(at, |it| drop_at(&mut it.flags.stores, index));
                self.try_edit(at, |it| drop_at(&mut it.flags.removes, index));
                self.try_edit(at, |it| drop_at(&mut it.flags.target_snippets, index));
                self.try_edit(at, |it| drop_at(&mut it.program.transforms, index));
                self.try_edit(at, |it| drop_at(&mut it.program.ask_transforms, index));
                self.try_edit(at, |it| drop_at(&mut it.program.packages, index));
                self.try_edit(at, |it| drop_at(&mut it.program.asks, index));
                self.try_edit(at, |it| drop_at(&mut it.program.methods, index));
                self.simplify_method(at, index);
            }
        }
    }

    fn simplify_method(&mut self, at: usize, index: usize) {
        for edit in METHOD_EDITS {
            self.try_edit(at, |it| {
                if let Some(method) = it.program.methods.get_mut(index) {
                    edit(method);
                }
            });
        }
    }

    fn try_edit(&mut self, at: usize, edit: impl Fn(&mut crate::story::Operation)) -> bool {
        let mut variant = self.story.clone();
        let Some(operation) = variant.operations.get_mut(at) else {
            return false;
        };
        edit(operation);
        self.accept(variant)
    }

    /// Removes resources, in all operations or in one.
    fn drop_resources(&mut self) {
        let names: Vec<String> = self
            .story
            .operations
            .iter()
            .flat_map(|it| it.program.resources.iter().map(|res| res.name.clone()))
            .collect();
        let mut names = names;
        names.sort();
        names.dedup();
        for name in names {
            let mut variant = self.story.clone();
            for operation in &mut variant.operations {
                drop_resource(&mut operation.program, &name);
            }
            if !self.accept(variant) {
                for at in 0..self.story.operations.len() {
                    self.try_edit(at, |it| drop_resource(&mut it.program, &name));
                }
            }
        }
    }

    fn drop_options(&mut self) {
        for at in 0..self.story.operations.len() {
            let count = self
                .story
                .operations
                .get(at)
                .map_or(0, |it| it.program.resources.len());
            for index in 0..count {
                for edit in RES_EDITS {
                    self.try_edit(at, |it| {
                        if let Some(res) = it.program.resources.get_mut(index) {
                            edit(res);
                        }
                    });
                }
                self.drop_properties(at, index);
            }
        }
    }

    fn drop_properties(&mut self, at: usize, index: usize) {
        let res = |story: &Story| -> Option<Res> {
            story
                .operations
                .get(at)?
                .program
                .resources
                .get(index)
                .cloned()
        };
        let Some(present) = res(&self.story) else {
            return;
        };
        for key in present.properties.keys() {
            self.try_edit(at, |it| {
                if let Some(res) = it.program.resources.get_mut(index) {
                    res.properties.remove(key);
                }
            });
        }
    }
}

fn drop_at<T>(list: &mut Vec<T>, index: usize) {
    if index < list.len() {
        list.remove(index);
    }
}

fn drop_resource(program: &mut Program, name: &str) {
    program.resources.retain(|res| res.name != name);
}

const FLAG_EDITS: [fn(&mut Flags); 10] = [
    |flags| flags.refresh = false,
    |flags| flags.run_program = false,
    |flags| flags.continue_on_error = false,
    |flags| flags.ignore_protect = false,
    |flags| flags.legacy_diff = false,
    |flags| flags.legacy_refresh_diff = false,
    |flags| flags.target_dependents = false,
    |flags| flags.exclude_dependents = false,
    |flags| flags.replace.clear(),
    |flags| flags.naming = None,
];

const METHOD_EDITS: [fn(&mut Method); 5] = [
    |method| method.of = None,
    |method| method.provider = None,
    |method| method.wrapped = false,
    |method| method.arguments.clear(),
    |method| drop(method.arguments.pop_first()),
];

const RES_EDITS: [fn(&mut Res); 28] = [
    |res| *res = Res::new(&res.type_name, &res.name),
    |res| res.outputs.clear(),
    |res| res.read = None,
    |res| res.parent = None,
    |res| res.depends_on.clear(),
    |res| res.loose = false,
    |res| res.remote = false,
    |res| res.provider = None,
    |res| res.providers.clear(),
    |res| res.aliases.clear(),
    |res| res.protect = None,
    |res| res.retain = None,
    |res| res.deleted_with = None,
    |res| res.replace_with.clear(),
    |res| res.delete_before_replace = None,
    |res| res.ignore_changes.clear(),
    |res| res.replace_on_changes.clear(),
    |res| res.secret_outputs.clear(),
    |res| res.import = None,
    |res| res.trigger = None,
    |res| res.version = None,
    |res| res.snippet = None,
    |res| res.by = None,
    |res| res.package = None,
    |res| drop_at(&mut res.hooks, 0),
    |res| res.transforms.clear(),
    |res| drop_at(&mut res.transforms, 0),
    |res| {
        res.hide_diffs.clear();
        res.timeout = None;
    },
];
