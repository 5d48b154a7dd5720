//! `try` and `can`: expressions that may fail.
//!
//! Each argument that may fail becomes a function that returns an error. If it only makes one call, the call stands for it.

use super::apply::zero;
use super::expression::Want;
use super::kinds::Kind;
use super::printer::{Printer, Value, can_fail, with_result};
use super::syntax::{Code, Statement};
use crate::tree::Tree;

/// An argument: its value, and the statements before it.
struct Argument {
    value: Value,
    statements: Vec<Statement>,
}

impl Argument {
    /// The call that the argument consists of, if it is nothing else.
    fn single_call(&self) -> Option<&Code> {
        match (self.statements.as_slice(), &self.value.code) {
            ([Statement::Simple(text, Some(call)), Statement::Block { .. }], Code::Word(name))
                if *text == format!("{name}, err := ") =>
            {
                Some(call)
            }
            _ => None,
        }
    }
}

impl Printer {
    /// The first of several values that can be computed.
    pub(super) fn first_possible(&mut self, args: &[Tree]) -> Value {
        let mut arguments = self.arguments(args);
        let is_plain = arguments.iter().all(|it| it.value.is_plain());
        let Some(last) = arguments.pop().filter(|_| is_plain) else {
            return self.refuse("`try` of such values");
        };
        if arguments.is_empty() {
            for statement in last.statements {
                self.emit(statement);
            }
            return last.value;
        }
        let kinds = arguments.iter().map(|it| &it.value.kind);
        let kind = kinds.fold(last.value.kind.clone(), |a, b| a.or(b));
        let kind = match kind {
            Kind::Id => Kind::Text,
            kind if kind.core_stem().is_none() => Kind::Any,
            kind => kind,
        };
        let name = self.fresh("found");
        let mut rest = self.assigned(&name, last, &kind);
        let mut arguments = arguments.into_iter().rev().peekable();
        while let Some(argument) = arguments.next() {
            let assignment = if arguments.peek().is_none() {
                format!("{name}, err := ")
            } else {
                format!("{name}, err = ")
            };
            let call = self.attempted(argument, &kind);
            let otherwise = Statement::Block {
                head: "if err != nil".to_owned(),
                condition: None,
                tail: "",
                body: rest,
                otherwise: None,
            };
            rest = vec![Statement::Simple(assignment, Some(call)), otherwise];
        }
        for statement in rest {
            self.emit(statement);
        }
        self.declare_error();
        Value::plain(Code::word(name), kind)
    }

    /// Whether a value can be computed.
    pub(super) fn is_possible(&mut self, args: &[Tree]) -> Value {
        let mut arguments = self.arguments(args);
        let Some(argument) = arguments.pop().filter(|it| it.value.is_plain()) else {
            return self.refuse("`can` of such a value");
        };
        if !can_fail(&argument.statements) {
            for statement in argument.statements {
                self.emit(statement);
            }
            return Value::plain(Code::word("true"), Kind::Bool);
        }
        let call = match argument.single_call() {
            Some(call) => call.clone(),
            None => self.attempted(argument, &Kind::Any),
        };
        let name = self.fresh("failure");
        self.line(format!("_, {name} := "), Some(call));
        let is_possible = Code::binary(Code::word(name), "==", Code::word("nil"));
        Value::plain(is_possible, Kind::Bool)
    }

    fn arguments(&mut self, args: &[Tree]) -> Vec<Argument> {
        let last = args.len().saturating_sub(1);
        let mut arguments = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            let may_fail = at < last || last == 0;
            let outer = self.is_trying;
            self.is_trying |= may_fail;
            self.open(may_fail);
            let value = self.any(arg);
            let statements = self.close();
            self.is_trying = outer;
            arguments.push(Argument { value, statements });
        }
        arguments
    }

    /// Statements that assign a value to a variable.
    fn assigned(&mut self, name: &str, argument: Argument, kind: &Kind) -> Vec<Statement> {
        self.open(false);
        for statement in argument.statements {
            self.emit(statement);
        }
        let value = self.converted(argument.value, &Want::Plain(kind.clone()));
        self.line(format!("{name} = "), Some(value.code));
        self.close()
    }

    /// Expression with two results: the value and an error.
    fn attempted(&mut self, argument: Argument, kind: &Kind) -> Code {
        let ty = self.plain_type(kind);
        let own = self.plain_type(&argument.value.kind);
        if let Some(call) = argument.single_call().filter(|_| own == ty) {
            return call.clone();
        }
        self.open(true);
        for statement in argument.statements {
            self.emit(statement);
        }
        let value = self.converted(argument.value, &Want::Plain(kind.clone()));
        let mut statements = self.close();
        with_result(&mut statements, &zero(&ty));
        let code = Code::Suffix(Box::new(value.code), ", nil".to_owned());
        statements.push(Statement::Simple("return ".to_owned(), Some(code)));
        let function = Code::Function(format!("func() ({ty}, error)"), statements);
        Code::Call(Box::new(function), Vec::new())
    }
}
