//! Generated stacks.

use std::sync::Arc;

use plumb_deploy::request::RegisterRequest;
use plumb_resource::Urn;
use plumb_value::PropertyMap;

pub(crate) const STACK: &str = "dev";
pub(crate) const PROJECT: &str = "bench";
const THING: &str = "bench:index:Thing";
const GROUP: &str = "bench:index:Group";
/// Number of resources in a component.
const GROUP_SIZE: usize = 10;

/// Dependency structure of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// No dependencies.
    Wide,
    /// Each resource depends on the previous one.
    Chain,
    /// Components of ten resources, with three dependencies each.
    Realistic,
}

impl Shape {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Wide => "wide",
            Shape::Chain => "chain",
            Shape::Realistic => "realistic",
        }
    }
}

/// A program: registrations, with those that each waits for.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    pub(crate) requests: Vec<RegisterRequest>,
    pub(crate) needs: Vec<Vec<usize>>,
}

impl Stack {
    /// Stack without resources.
    pub fn empty() -> Self {
        Stack::default()
    }

    /// Stack with `count` resources; with `changed`, one in a hundred has a different input.
    pub fn new(shape: Shape, count: usize, changed: bool) -> Self {
        let mut stack = Stack::empty();
        let mut urns: Vec<Urn> = Vec::with_capacity(count);
        for index in 0..count {
            let is_changed = changed && index % 100 == 50;
            let (request, needs) = match shape {
                Shape::Wide => thing(index, None, &[], &urns, is_changed),
                Shape::Chain => {
                    let before: Vec<usize> = index.checked_sub(1).into_iter().collect();
                    thing(index, None, &before, &urns, is_changed)
                }
                Shape::Realistic if index % GROUP_SIZE == 0 => {
                    let name = format!("group-{index}");
                    (RegisterRequest::new(GROUP, &name, false), Vec::new())
                }
                Shape::Realistic => {
                    let group = index - index % GROUP_SIZE;
                    let near = [
                        index.checked_sub(1),
                        index.checked_sub(3),
                        index.checked_sub(17),
                    ];
                    let before: Vec<usize> = near
                        .into_iter()
                        .flatten()
                        .filter(|it| it % GROUP_SIZE != 0)
                        .collect();
                    thing(index, Some(group), &before, &urns, is_changed)
                }
            };
            urns.push(urn_of(&request));
            stack.requests.push(request);
            stack.needs.push(needs);
        }
        stack
    }

    /// URN of the last resource.
    pub fn last_urn(&self) -> String {
        let last = self.requests.last();
        urn_of(last.expect("a stack to be targeted is not empty")).to_string()
    }

    /// URNs of every second resource, the first among them.
    pub fn even_urns(&self) -> Vec<String> {
        let requests = self.requests.iter().step_by(2);
        requests
            .map(|request| urn_of(request).to_string())
            .collect()
    }

    /// Removes the dependencies of the resources that [`Stack::even_urns`] leaves out, parents aside.
    pub fn free_odd(&mut self) {
        for (request, needs) in self
            .requests
            .iter_mut()
            .zip(&mut self.needs)
            .skip(1)
            .step_by(2)
        {
            request.dependencies = [].into();
            request.property_dependencies = [].into();
            needs.truncate(usize::from(request.parent.is_some()));
        }
    }

    /// Property values of the inputs alone, for comparison with the memory of a run.
    pub fn properties(&self) -> Vec<Arc<PropertyMap>> {
        let fresh = |request: &RegisterRequest| Arc::new(request.properties.as_ref().clone());
        self.requests.iter().map(fresh).collect()
    }
}

fn urn_of(request: &RegisterRequest) -> Urn {
    let parent = request.parent.as_ref().map_or("", Urn::qualified_type);
    Urn::new(STACK, PROJECT, parent, &request.type_token, &request.name)
}

fn thing(
    index: usize,
    parent: Option<usize>,
    before: &[usize],
    urns: &[Urn],
    changed: bool,
) -> (RegisterRequest, Vec<usize>) {
    let size = if changed { 2.0 } else { 1.0 };
    let properties = PropertyMap::new()
        .with("name", format!("thing number {index}"))
        .with("size", size);
    let dependencies = || before.iter().map(|it| urns[*it].clone()).collect();
    let request = RegisterRequest {
        parent: parent.map(|parent| urns[parent].clone()),
        properties: Arc::new(properties),
        property_dependencies: [("name".into(), dependencies()), ("size".into(), [].into())].into(),
        dependencies: dependencies(),
        ..RegisterRequest::new(THING, &format!("thing-{index}"), true)
    };
    (
        request,
        parent.into_iter().chain(before.iter().copied()).collect(),
    )
}
