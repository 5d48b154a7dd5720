//! Callbacks that wait for outputs.
//!
//! The outputs become parameters of the callback. An optional scalar of which the callback only needs the value is awaited
//! by way of `Elem`, so that the parameter is no pointer.

use ecow::EcoString;

use super::expression::Want;
use super::helpers::Helper;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value, can_fail, with_result};
use super::syntax::{Code, Statement, visit_all};
use crate::tree::Tree;

/// An output that a callback waits for.
struct Awaited {
    /// Name of the parameter.
    local: String,
    output: Code,
    kind: Kind,
}

/// Result of a callback: its type, the type of the output, its code and its kind.
struct Returned {
    ty: String,
    output: String,
    code: Code,
    kind: Kind,
}

impl Printer {
    pub(super) fn apply(&mut self, params: &[(EcoString, Tree)], body: &Tree) -> Value {
        let mut awaited: Vec<Awaited> = params
            .iter()
            .map(|(name, tree)| self.awaited(name, tree))
            .collect();
        let depth = self.variables.len();
        self.open(true);
        for (it, (name, _)) in awaited.iter().zip(params) {
            let value = Value::plain(Code::word(it.local.clone()), it.kind.clone());
            self.variables.push((name.clone(), value));
        }
        let result = self.any(body);
        let mut returned = self.returned(result);
        self.variables.truncate(depth);
        let mut statements = self.close();
        for it in &mut awaited {
            it.unwrap(&mut statements, &mut returned.code);
        }
        let signature = self.signature(&awaited, &mut statements);
        let function = function(signature, statements, &returned);
        let receiver = match <[Awaited; 1]>::try_from(awaited) {
            Ok([single]) => single.output,
            Err(several) => {
                let outputs = several.into_iter().map(|it| it.output);
                Code::call("pulumi.All", outputs.collect())
            }
        };
        let call = receiver.method("ApplyT", vec![function]);
        Value::output(call.asserted(&returned.output), returned.kind)
    }

    fn awaited(&mut self, name: &EcoString, tree: &Tree) -> Awaited {
        let value = self.any(tree);
        let value = self.as_output(value);
        let (output, kind) = match value.kind {
            Kind::Id => (value.code.method("ToStringOutput", Vec::new()), Kind::Text),
            kind => (value.code, kind),
        };
        Awaited {
            local: self.local(name),
            output,
            kind,
        }
    }

    /// Parameters of the callback. Several outputs come in a list, from which the statements take them.
    fn signature(&mut self, awaited: &[Awaited], statements: &mut Vec<Statement>) -> String {
        if let [single] = awaited {
            return format!("func({} {})", single.local, self.plain_type(&single.kind));
        }
        let mut assignments = Vec::with_capacity(awaited.len());
        for (at, it) in awaited.iter().enumerate() {
            let code = Code::word("args").at(Code::word(at.to_string()));
            let code = match &it.kind {
                Kind::Any => code,
                kind => code.asserted(&self.plain_type(kind)),
            };
            assignments.push(Statement::Simple(format!("{} := ", it.local), Some(code)));
        }
        statements.splice(..0, assignments);
        "func(args []interface{})".to_owned()
    }

    fn returned(&mut self, result: Value) -> Returned {
        let kind = match &result.kind {
            Kind::Null | Kind::Struct(_) => Kind::Any,
            Kind::Enum(_, _, underlying) if result.is_plain() => (**underlying).clone(),
            kind => kind.clone(),
        };
        let output = Self::core_output(&kind);
        match (output, result.form) {
            (Some(output), Form::Output) => Returned {
                ty: output.clone(),
                output,
                code: result.code,
                kind,
            },
            (_, Form::Output | Form::Input) => any(self.refuse("such a value in a callback").code),
            (Some(output), Form::Plain | Form::Constant) => Returned {
                ty: self.plain_type(&kind),
                output,
                code: self.converted(result, &Want::Plain(kind.clone())).code,
                kind,
            },
            (None, Form::Plain | Form::Constant) => any(result.code),
        }
    }
}

impl Awaited {
    /// Waits for the value of an optional scalar if the callback does not need to know whether it is missing.
    fn unwrap(&mut self, statements: &mut [Statement], result: &mut Code) {
        let Kind::Pointer(inner) = &self.kind else {
            return;
        };
        if !inner.is_scalar() {
            return;
        }
        let is_own = |code: &Code| matches!(code, Code::Word(name) if *name == self.local);
        let is_value = |code: &Code| match code {
            Code::Call(function, args) => {
                matches!(&**function, Code::Word(name) if name == Helper::ValueOf.name())
                    && args.iter().all(is_own)
            }
            _ => false,
        };
        let (mut mentions, mut values) = (0, 0);
        let mut count = |code: &mut Code| {
            mentions += usize::from(is_own(code));
            values += usize::from(is_value(code));
        };
        visit_all(statements, &mut count);
        result.visit(&mut count);
        if mentions != values {
            return;
        }
        let mut replace = |code: &mut Code| {
            if is_value(code) {
                *code = Code::word(self.local.clone());
            }
        };
        visit_all(statements, &mut replace);
        result.visit(&mut replace);
        let output = std::mem::replace(&mut self.output, Code::word(""));
        self.output = output.method("Elem", Vec::new());
        self.kind = (**inner).clone();
    }
}

/// A result of any type.
fn any(code: Code) -> Returned {
    Returned {
        ty: "interface{}".to_owned(),
        output: "pulumi.AnyOutput".to_owned(),
        code,
        kind: Kind::Any,
    }
}

fn function(signature: String, mut statements: Vec<Statement>, returned: &Returned) -> Code {
    let (ty, code) = (&returned.ty, returned.code.clone());
    if !can_fail(&statements) {
        statements.push(Statement::Simple("return ".to_owned(), Some(code)));
        return Code::Function(format!("{signature} {ty}"), statements);
    }
    with_result(&mut statements, &zero(ty));
    let code = Code::Suffix(Box::new(code), ", nil".to_owned());
    statements.push(Statement::Simple("return ".to_owned(), Some(code)));
    Code::Function(format!("{signature} ({ty}, error)"), statements)
}

/// Zero value of a type.
pub(super) fn zero(ty: &str) -> String {
    match ty {
        "string" => "\"\"".to_owned(),
        "int" | "float64" => "0".to_owned(),
        "bool" => "false".to_owned(),
        ty if ty.starts_with("pulumi.") && ty.ends_with("Output") => format!("{ty}{{}}"),
        _ => "nil".to_owned(),
    }
}
