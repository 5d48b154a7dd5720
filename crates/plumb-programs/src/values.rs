//! Printed expressions with their kinds, for languages of classes with static types.

use ecow::EcoString;
use plumb_pcl::BinaryOperator;

use crate::kinds::Kind;
use crate::layout::Doc;
use crate::names::Names;

/// Precedence of an expression, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Callbacks and `?:`
    Loose,
    Or,
    And,
    Equality,
    Relation,
    Add,
    Multiply,
    /// Signs and casts.
    Sign,
    Atom,
}

/// Form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    /// A list or a map that contains outputs.
    Nested,
    /// An output.
    Output,
}

/// A printed expression.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) code: Doc,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    pub(crate) form: Form,
}

impl Value {
    pub(crate) fn plain(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Plain)
    }

    pub(crate) fn output(code: impl Into<Doc>, kind: Kind) -> Self {
        Value::new(code, kind, Form::Output)
    }

    pub(crate) fn new(code: impl Into<Doc>, kind: Kind, form: Form) -> Self {
        Value {
            code: code.into(),
            level: Level::Atom,
            kind,
            form,
        }
    }

    pub(crate) fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.form == Form::Plain
    }

    /// The code, with parentheses if its precedence is lower than `level`.
    pub(crate) fn at(&self, level: Level) -> Doc {
        if self.level < level {
            Doc::hugged("(", self.code.clone(), ")")
        } else {
            self.code.clone()
        }
    }

    /// Call of a method of the value.
    pub(crate) fn method(&self, name: &str, args: Vec<Doc>) -> Doc {
        let call = Doc::call(&format!(".{name}("), args);
        Doc::Row(vec![self.at(Level::Atom), call])
    }
}

impl From<&str> for Doc {
    fn from(text: &str) -> Doc {
        Doc::text(text)
    }
}

impl From<String> for Doc {
    fn from(text: String) -> Doc {
        Doc::text(text)
    }
}

/// Symbol of an operator with its precedence, and the lowest precedence of a right operand without parentheses. Equality is
/// not always an operator in these languages.
pub(crate) fn symbol(operator: BinaryOperator) -> Option<(&'static str, Level, Level)> {
    let (symbol, level) = match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual => return None,
        BinaryOperator::And => ("&&", Level::And),
        BinaryOperator::Or => ("||", Level::Or),
        BinaryOperator::Less => ("<", Level::Relation),
        BinaryOperator::LessOrEqual => ("<=", Level::Relation),
        BinaryOperator::Greater => (">", Level::Relation),
        BinaryOperator::GreaterOrEqual => (">=", Level::Relation),
        BinaryOperator::Add => ("+", Level::Add),
        BinaryOperator::Subtract => ("-", Level::Add),
        BinaryOperator::Multiply => ("*", Level::Multiply),
        BinaryOperator::Divide => ("/", Level::Multiply),
        BinaryOperator::Modulo => ("%", Level::Multiply),
    };
    // The right operand has parentheses even at the same precedence, because subtraction is not associative.
    let above = match level {
        Level::Or => Level::And,
        Level::And => Level::Equality,
        Level::Relation => Level::Add,
        Level::Add => Level::Multiply,
        _ => Level::Sign,
    };
    Some((symbol, level, above))
}

/// Variables of the loops and callbacks around an expression.
pub(crate) struct Scope<V = Value> {
    /// Values of variables of PCL, the innermost last.
    variables: Vec<(EcoString, V)>,
    /// Names of the parameters in the language.
    parameters: Vec<String>,
}

impl<V> Default for Scope<V> {
    fn default() -> Self {
        Scope {
            variables: Vec::new(),
            parameters: Vec::new(),
        }
    }
}

impl<V> Scope<V> {
    /// Position for [`Scope::close`].
    pub(crate) fn open(&self) -> [usize; 2] {
        [self.parameters.len(), self.variables.len()]
    }

    /// Removes what was added since [`Scope::open`].
    pub(crate) fn close(&mut self, [parameters, variables]: [usize; 2]) {
        self.parameters.truncate(parameters);
        self.variables.truncate(variables);
    }

    /// Reserves a name for a parameter: different from all variables in scope, and from all of the file.
    pub(crate) fn parameter(&mut self, wanted: &str, names: &Names) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while names.taken().contains(&name) || self.parameters.contains(&name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        self.parameters.push(name.clone());
        name
    }

    pub(crate) fn bind(&mut self, name: EcoString, value: V) {
        self.variables.push((name, value));
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&V> {
        let found = self.variables.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }
}

/// Values that are accepted where an expression stands.
#[derive(Clone, Debug)]
pub(crate) enum Want {
    /// Any value.
    Free,
    /// A plain value of a kind.
    Plain(Kind),
    /// A value of a kind, or its output.
    Input(Kind),
}

impl Want {
    pub(crate) fn element(&self) -> Want {
        let inner = |kind: &Kind| match kind {
            Kind::List(element) | Kind::Map(element) => (**element).clone(),
            _ => Kind::Any,
        };
        match self {
            Want::Free => Want::Free,
            Want::Plain(kind) => Want::Plain(inner(kind.present())),
            Want::Input(kind) => Want::Input(inner(kind.present())),
        }
    }
}

/// Common kind of values.
pub(crate) fn common(values: &[Value]) -> Kind {
    let mut kinds = values.iter().map(|it| it.kind.clone());
    let Some(first) = kinds.next() else {
        return Kind::Any;
    };
    let kind = kinds.fold(first, |a, b| if a.is(&b) { a } else { a.or(&b) });
    match kind {
        // Elements that may be missing have no common form.
        Kind::Null | Kind::Pointer(_) => Kind::Any,
        kind => kind,
    }
}

/// A number: an integer of 32 bits if that is exact.
pub(crate) fn number(value: f64) -> Value {
    let is_whole = value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX);
    let (text, kind) = if is_whole {
        (value.to_string(), Kind::Int)
    } else {
        (format!("{value:?}"), Kind::Float)
    };
    let level = if value < 0.0 {
        Level::Sign
    } else {
        Level::Atom
    };
    Value::plain(text, kind).at_level(level)
}
