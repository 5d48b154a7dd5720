//! References to what a module declares.

use hcl_edit::Decorated;
use hcl_edit::expr::{Expression, TraversalOperator};

use crate::convert::Converter;
use crate::module::Many;
use crate::names::Declared;
use crate::scope::{Meaning, Scope, Typed};
use crate::shape::Shape;
use crate::statements::REMOTE_STATE;

/// Note on a reference to a resource or data source that is left out.
const LEFT_OUT: &str = "what this refers to is left out, because its type is not known";

/// Note on an argument of a module that depends on the module itself.
const CIRCLE: &str =
    "this needs the module that is called here, and a component cannot wait for itself";

type Steps<'e> = &'e [Decorated<TraversalOperator>];

impl Converter<'_, '_> {
    /// Converts a name, or a traversal.
    pub(crate) fn reference(&self, expression: &Expression, scope: &Scope) -> Typed {
        let (root, steps): (&str, Steps<'_>) = match expression {
            Expression::Variable(name) => (name.as_str(), &[]),
            Expression::Traversal(it) => match &it.expr {
                Expression::Variable(name) => (name.as_str(), &it.operators),
                _ => return self.other_traversal(it, scope),
            },
            other => return self.convert(other, scope),
        };
        if let Some(meaning) = scope.get(root) {
            return self.inner_name(expression, meaning, steps, scope);
        }
        if scope.is_closed {
            return self.missing(expression, "this name has no meaning in a template file");
        }
        let path = names(steps);
        if self.is_circle(root, &path) {
            return self.missing(expression, CIRCLE);
        }
        let found = match (root, path.split_first()) {
            ("var", Some((name, _))) => self.variable(name).map(|it| (it, 1)),
            ("local", Some((name, _))) => self.local_value(name).map(|it| (it, 1)),
            ("path", Some((name, _))) => self.path(name).map(|it| (it, 1)),
            ("terraform", Some((&"workspace", _))) => Some((Typed::scalar("stack()"), 1)),
            ("data", Some((&REMOTE_STATE, [name, "outputs", output, ..]))) => {
                let declared = Declared::Data(REMOTE_STATE.to_owned(), (*name).to_owned());
                self.module.names.get(&declared).map(|own| {
                    let output = plumb_eval::hcl::quoted(&crate::names::camel(output));
                    (Typed::unknown(format!("getOutput({own}, {output})")), 4)
                })
            }
            ("data", Some((kind, [name, ..]))) => {
                let block = self.module.data(kind, name);
                let declared = Declared::Data((*kind).to_owned(), (*name).to_owned());
                if block.is_some_and(|it| self.is_left_out(it)) {
                    return self.missing(expression, LEFT_OUT);
                }
                block.map(|block| (self.member(&declared, block), 2))
            }
            ("module", Some((name, _))) => {
                return self.module_output(expression, name, &steps[1..], scope);
            }
            (kind, Some((name, _))) => {
                let block = self.module.resource(kind, name);
                let declared = Declared::Resource(kind.to_owned(), (*name).to_owned());
                if block.is_some_and(|it| self.is_left_out(it)) {
                    return self.missing(expression, LEFT_OUT);
                }
                block.map(|block| (self.member(&declared, block), 1))
            }
            (_, None) => None,
        };
        match found {
            Some((value, taken)) => self.follow(value, &steps[taken..], scope),
            None => self.missing(expression, "this is declared nowhere in the module"),
        }
    }

    /// A name of the place, such as `each` or the variable of a `for` expression.
    fn inner_name(
        &self,
        expression: &Expression,
        meaning: &Meaning,
        steps: Steps<'_>,
        scope: &Scope,
    ) -> Typed {
        match (meaning, names(steps).first()) {
            (Meaning::Value(value) | Meaning::Itself(value), _) => {
                self.follow(value.clone(), steps, scope)
            }
            (Meaning::Entry { key, .. }, Some(&"key")) => {
                self.follow(Typed::scalar(key), &steps[1..], scope)
            }
            (Meaning::Entry { value, .. }, Some(&"value")) => {
                self.follow(value.clone(), &steps[1..], scope)
            }
            (Meaning::Index(index), Some(&"index")) => Typed::scalar(index),
            _ => self.missing(expression, "this cannot be converted"),
        }
    }

    fn variable(&self, name: &str) -> Option<Typed> {
        let declared = Declared::Variable(name.to_owned());
        let own = self.module.names.get(&declared)?;
        Some(Typed::new(
            own,
            Shape::Variable(self.type_in(self.module, name)),
        ))
    }

    fn local_value(&self, name: &str) -> Option<Typed> {
        let expression = self.module.locals.get(name)?;
        let declared = Declared::Local(name.to_owned());
        let name = self.module.names.get(&declared)?;
        Some(Typed::new(name, self.shape_of(self.module, expression)))
    }

    /// Folders. Programs run in the folder of their project, where the files of modules are too.
    fn path(&self, name: &str) -> Option<Typed> {
        let text = match name {
            "module" if self.module.target.is_empty() => "\".\"".to_owned(),
            "module" => format!("\"./{}\"", self.module.target),
            "root" => "\".\"".to_owned(),
            "cwd" => "cwd()".to_owned(),
            _ => return None,
        };
        Some(Typed::scalar(text))
    }

    /// An output of a called module: `steps` begin behind the module's name.
    fn module_output(
        &self,
        expression: &Expression,
        name: &str,
        steps: Steps<'_>,
        scope: &Scope,
    ) -> Typed {
        let declared = Declared::Call(name.to_owned());
        let (Some(own), Some(called)) = (
            self.module.names.get(&declared),
            self.module.source.calls.get(name),
        ) else {
            return self.missing(expression, "this module is called nowhere");
        };
        let Some(place) = called else {
            return self.missing(expression, "the module is not there, so it has no outputs");
        };
        let one = Shape::Module(*place);
        let block = self.module.calls.get(name);
        let shape = match block.map_or(Many::One, |it| Many::of(&it.body)) {
            Many::One => one,
            Many::Count => one.list_of(),
            Many::Each => one.map_of(),
        };
        self.follow(Typed::new(own, shape), steps, scope)
    }

    /// The shape of an output of a module.
    pub(crate) fn output_shape(&self, place: usize, output: &str) -> Shape {
        let module = &self.context.modules[place];
        let block = module.outputs.get(output);
        let value = block.and_then(|it| it.body.get_attribute("value"));
        value.map_or(Shape::Unknown, |it| self.shape_of(module, &it.value))
    }
}

/// The attributes that a traversal begins with.
fn names(steps: Steps<'_>) -> Vec<&str> {
    let names = steps.iter().map_while(|it| match it.value() {
        TraversalOperator::GetAttr(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}
