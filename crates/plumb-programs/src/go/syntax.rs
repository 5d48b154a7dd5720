//! Syntax trees of Go code, printed in the layout of `gofmt`.
//!
//! `gofmt` keeps line breaks, and decides about spaces: it aligns the values of consecutive keyed lines, and it leaves out
//! the spaces around operators that bind tighter than their neighbours. This module makes the same decisions, so that
//! `gofmt` changes nothing.

/// Maximum width of a line before literals are broken.
const WIDTH: usize = 100;
/// Width of a tab.
const TAB: usize = 4;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Code {
    /// An identifier, a literal or a qualified name.
    Word(String),
    Unary(&'static str, Box<Code>),
    Binary(Box<Code>, &'static str, Box<Code>),
    Paren(Box<Code>),
    Call(Box<Code>, Vec<Code>),
    /// An expression with a suffix that is no operator, like `.Name` or `.(string)`.
    Suffix(Box<Code>, String),
    Index(Box<Code>, Box<Code>),
    /// A composite literal.
    Literal {
        ty: String,
        entries: Vec<Entry>,
        /// Whether each entry has a line of its own.
        is_broken: bool,
    },
    /// A function literal: signature and body.
    Function(String, Vec<Statement>),
}

/// An entry of a composite literal.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) comments: Vec<String>,
    pub(super) key: Option<Code>,
    pub(super) value: Code,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    /// Text and an expression.
    Simple(String, Option<Code>),
    /// Assignment to a place.
    Assign(Code, Code),
    /// `if` or `for`: text before the expression, the expression, the body, and the alternative.
    Block {
        head: String,
        condition: Option<Code>,
        /// Text between the expression and the brace.
        tail: &'static str,
        body: Vec<Statement>,
        otherwise: Option<Vec<Statement>>,
    },
    /// Fields of a struct type, between a first and a last line; fields have names, types and tags.
    Fields(String, Vec<[String; 3]>),
    Comment(String),
    Blank,
}

impl Code {
    pub(super) fn word(text: impl Into<String>) -> Code {
        Code::Word(text.into())
    }

    pub(super) fn call(function: impl Into<String>, args: Vec<Code>) -> Code {
        Code::Call(Box::new(Code::word(function)), args)
    }

    /// Call of a method of this value.
    pub(super) fn method(self, name: &str, args: Vec<Code>) -> Code {
        Code::Call(Box::new(self.dot(name)), args)
    }

    /// Selection of a member.
    pub(super) fn dot(self, name: &str) -> Code {
        Code::Suffix(Box::new(self.operand()), format!(".{name}"))
    }

    /// Type assertion.
    pub(super) fn asserted(self, ty: &str) -> Code {
        Code::Suffix(Box::new(self.operand()), format!(".({ty})"))
    }

    pub(super) fn at(self, index: Code) -> Code {
        Code::Index(Box::new(self.operand()), Box::new(index))
    }

    /// The expression as an operand of a selector, an index or a sign.
    pub(super) fn operand(self) -> Code {
        match self {
            Code::Unary(..) | Code::Binary(..) => Code::Paren(Box::new(self)),
            Code::Literal { ref ty, .. } if ty.starts_with('&') => Code::Paren(Box::new(self)),
            other => other,
        }
    }

    /// A binary operation, with parentheses around operands that bind looser.
    pub(super) fn binary(left: Code, operator: &'static str, right: Code) -> Code {
        let own = precedence(operator);
        let wrap = |code: Code, least: u8| match &code {
            Code::Binary(_, inner, _) if precedence(inner) < least => Code::Paren(Box::new(code)),
            _ => code,
        };
        Code::Binary(
            Box::new(wrap(left, own)),
            operator,
            Box::new(wrap(right, own + 1)),
        )
    }

    pub(super) fn list(ty: impl Into<String>, items: Vec<Code>) -> Code {
        let ty = ty.into();
        let entries = items.into_iter().map(|value| Entry {
            comments: Vec::new(),
            key: None,
            value: value.into_element_of(&ty),
        });
        Code::Literal {
            entries: entries.collect(),
            ty,
            is_broken: false,
        }
    }

    pub(super) fn keyed(
        ty: impl Into<String>,
        entries: Vec<(Code, Code)>,
        is_broken: bool,
    ) -> Code {
        let ty = ty.into();
        let entries = entries.into_iter().map(|(key, value)| Entry {
            comments: Vec::new(),
            key: Some(key),
            value: value.into_element_of(&ty),
        });
        Code::Literal {
            entries: entries.collect(),
            ty,
            is_broken,
        }
    }

    /// The expression within a literal of the type `collection`: a literal of its element type needs no type of its own.
    fn into_element_of(mut self, collection: &str) -> Code {
        let element = collection.strip_prefix("[]");
        let element = element.or_else(|| collection.strip_prefix("map[string]"));
        if let Code::Literal { ty, .. } = &mut self
            && element == Some(ty)
        {
            ty.clear();
        }
        self
    }

    /// The composite literal as one of the type `ty`; `None` for other expressions.
    pub(super) fn retyped(self, ty: &str) -> Option<Code> {
        let Code::Literal {
            entries, is_broken, ..
        } = self
        else {
            return None;
        };
        let ty = ty.to_owned();
        Some(Code::Literal {
            ty,
            entries,
            is_broken,
        })
    }

    /// The expression as a value of the type `float64`, which a literal with a fraction has anyway.
    pub(super) fn into_float(self) -> Code {
        match &self {
            Code::Word(text) if text.contains('.') && text.parse::<f64>().is_ok() => self,
            _ => Code::call("float64", vec![self]),
        }
    }

    /// Whether the expression is a name or a literal without operators and calls.
    pub(super) fn is_word(&self) -> bool {
        matches!(self, Code::Word(_))
    }

    /// Calls `visit` for this expression and those in it, the outer ones first.
    pub(super) fn visit(&mut self, visit: &mut dyn FnMut(&mut Code)) {
        visit(self);
        match self {
            Code::Word(_) => {}
            Code::Unary(_, inner) | Code::Paren(inner) | Code::Suffix(inner, _) => {
                inner.visit(visit);
            }
            Code::Binary(left, _, right) | Code::Index(left, right) => {
                left.visit(visit);
                right.visit(visit);
            }
            Code::Call(function, args) => {
                function.visit(visit);
                for arg in args {
                    arg.visit(visit);
                }
            }
            Code::Literal { entries, .. } => {
                for entry in entries {
                    if let Some(key) = &mut entry.key {
                        key.visit(visit);
                    }
                    entry.value.visit(visit);
                }
            }
            Code::Function(_, body) => visit_all(body, visit),
        }
    }

    /// Text on one line, if the expression has one.
    fn flat(&self, depth: usize) -> String {
        let mut printer = Printer {
            text: String::new(),
            indent: 0,
            is_flat: true,
        };
        printer.code(self, depth);
        printer.text
    }
}

/// Calls `visit` for all expressions of statements.
pub(super) fn visit_all(statements: &mut [Statement], visit: &mut dyn FnMut(&mut Code)) {
    for statement in statements {
        match statement {
            Statement::Simple(_, code) => {
                if let Some(code) = code {
                    code.visit(visit);
                }
            }
            Statement::Assign(place, value) => {
                place.visit(visit);
                value.visit(visit);
            }
            Statement::Block {
                condition,
                body,
                otherwise,
                ..
            } => {
                if let Some(condition) = condition {
                    condition.visit(visit);
                }
                visit_all(body, visit);
                if let Some(otherwise) = otherwise {
                    visit_all(otherwise, visit);
                }
            }
            Statement::Fields(..) | Statement::Comment(_) | Statement::Blank => {}
        }
    }
}

fn precedence(operator: &str) -> u8 {
    match operator {
        "||" => 1,
        "&&" => 2,
        "+" | "-" => 4,
        "*" | "/" | "%" => 5,
        _ => 3,
    }
}

/// Text of statements with the indentation `indent`.
pub(super) fn print(statements: &[Statement], indent: usize) -> String {
    let mut printer = Printer {
        text: String::new(),
        indent,
        is_flat: false,
    };
    printer.statements(statements);
    printer.text
}

struct Printer {
    text: String,
    indent: usize,
    /// Whether literals are measured, and therefore not broken for their width.
    is_flat: bool,
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn new_line(&mut self) {
        self.text.push('\n');
        self.start();
    }

    fn start(&mut self) {
        self.text.extend(std::iter::repeat_n('\t', self.indent));
    }

    fn column(&self) -> usize {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        line.chars()
            .map(|it| if it == '\t' { TAB } else { 1 })
            .sum()
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if matches!(statement, Statement::Blank) {
            if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.text.ends_with("{\n")
            {
                self.push("\n");
            }
            return;
        }
        self.start();
        match statement {
            Statement::Simple(text, code) => {
                self.push(text);
                if let Some(code) = code {
                    self.code(code, 1);
                }
            }
            Statement::Assign(place, value) => {
                self.code(place, 1);
                self.push(" = ");
                self.code(value, 1);
            }
            Statement::Block {
                head,
                condition,
                tail,
                body,
                otherwise,
            } => {
                self.push(head);
                if let Some(condition) = condition {
                    self.code(condition, 1);
                }
                self.push(tail);
                self.push(" {\n");
                self.nested(body);
                if let Some(otherwise) = otherwise {
                    self.push("} else {\n");
                    self.nested(otherwise);
                }
                self.push("}");
            }
            Statement::Fields(head, fields) => self.fields(head, fields),
            Statement::Comment(text) => {
                let line = format!("// {text}");
                self.push(line.trim_end());
            }
            Statement::Blank => {}
        }
        self.push("\n");
    }

    fn nested(&mut self, body: &[Statement]) {
        self.indent += 1;
        self.statements(body);
        self.indent -= 1;
        self.start();
    }

    fn fields(&mut self, head: &str, fields: &[[String; 3]]) {
        self.push(head);
        self.push(" {\n");
        self.indent += 1;
        let width = |at: usize| {
            let named = fields.iter().filter(|field| !field[0].is_empty());
            let widths = named.map(|field| field[at].chars().count());
            widths.max().unwrap_or_default()
        };
        let (names, types) = (width(0), width(1));
        for [name, ty, tag] in fields {
            if ty.is_empty() {
                self.push("\n");
                continue;
            }
            self.start();
            let line = if name.is_empty() {
                ty.clone()
            } else {
                format!("{name:names$} {ty:types$} {tag}")
            };
            self.push(line.trim_end());
            self.push("\n");
        }
        self.indent -= 1;
        self.start();
        self.push("}");
    }

    fn code(&mut self, code: &Code, depth: usize) {
        match code {
            Code::Word(text) => self.push(text),
            Code::Unary(sign, operand) => {
                self.push(sign);
                self.code(operand, depth);
            }
            Code::Binary(left, operator, right) => {
                let own = precedence(operator);
                let is_same = matches!(&**left, Code::Binary(_, it, _) if precedence(it) == own);
                let has_spaces = own < cutoff(code, depth);
                self.code(left, depth + usize::from(!is_same));
                self.push(&if has_spaces {
                    format!(" {operator} ")
                } else {
                    (*operator).to_owned()
                });
                self.code(right, depth + 1);
            }
            Code::Paren(inner) => {
                self.push("(");
                self.code(inner, depth.saturating_sub(1).max(1));
                self.push(")");
            }
            Code::Call(function, args) => {
                let depth = depth + usize::from(args.len() > 1);
                self.code(function, depth);
                self.push("(");
                for (at, arg) in args.iter().enumerate() {
                    self.push(if at > 0 { ", " } else { "" });
                    self.code(arg, depth);
                }
                self.push(")");
            }
            Code::Suffix(inner, suffix) => {
                self.code(inner, depth);
                self.push(suffix);
            }
            Code::Index(inner, index) => {
                self.code(inner, depth);
                self.push("[");
                self.code(index, depth + 1);
                self.push("]");
            }
            Code::Literal {
                ty,
                entries,
                is_broken,
            } => self.literal(code, ty, entries, *is_broken),
            Code::Function(signature, body) => {
                self.push(signature);
                self.push(" {\n");
                self.nested(body);
                self.push("}");
            }
        }
    }

    fn literal(&mut self, code: &Code, ty: &str, entries: &[Entry], is_broken: bool) {
        let is_broken = !entries.is_empty()
            && (is_broken
                || !self.is_flat && {
                    let flat = code.flat(1);
                    flat.contains('\n') || self.column() + flat.chars().count() > WIDTH
                });
        self.push(ty);
        self.push("{");
        if is_broken {
            self.lines(entries);
        } else {
            for (at, entry) in entries.iter().enumerate() {
                self.push(if at > 0 { ", " } else { "" });
                if let Some(key) = &entry.key {
                    self.code(key, 1);
                    self.push(": ");
                }
                self.code(&entry.value, 1);
            }
        }
        self.push("}");
    }

    /// Entries on lines of their own, their values aligned.
    fn lines(&mut self, entries: &[Entry]) {
        self.indent += 1;
        let printed: Vec<[String; 2]> = entries.iter().map(|entry| self.entry(entry)).collect();
        let widths = widths(&printed);
        for ((entry, [key, value]), width) in entries.iter().zip(&printed).zip(widths) {
            for comment in &entry.comments {
                self.new_line();
                self.push(format!("// {comment}").trim_end());
            }
            self.new_line();
            if !key.is_empty() {
                self.push(&format!("{:width$} ", format!("{key}:")));
            }
            self.push(value);
            self.push(",");
        }
        self.indent -= 1;
        self.new_line();
    }

    /// Key and value of an entry at the current indentation.
    fn entry(&self, entry: &Entry) -> [String; 2] {
        let mut inner = Printer {
            text: String::new(),
            indent: self.indent,
            is_flat: false,
        };
        let key = entry.key.as_ref().map(|key| key.flat(1));
        let key = key.unwrap_or_default();
        inner.start();
        let start = inner.text.len();
        inner.push(&key);
        let value = inner.text.len();
        inner.code(&entry.value, 1);
        debug_assert!(start <= value, "the key follows the indentation");
        [key, inner.text.split_off(value)]
    }
}

/// Widths of the column of keys, by entry. Only consecutive entries on one line are aligned with each other, and only if
/// their keys have similar lengths.
fn widths(entries: &[[String; 2]]) -> Vec<usize> {
    const SMALL: usize = 40;
    const RATIO: f64 = 2.5;
    let mut widths = vec![0; entries.len()];
    let mut start = 0;
    let (mut logarithms, mut count) = (0.0_f64, 0_u32);
    let mut previous = 0;
    for (at, [key, value]) in entries.iter().enumerate() {
        let size = if value.contains('\n') {
            0
        } else {
            key.chars().count()
        };
        let is_new = if previous == 0 || size == 0 {
            true
        } else if count == 0 || previous <= SMALL && size <= SMALL {
            false
        } else {
            let mean = (logarithms / f64::from(count)).exp();
            let ratio = f64::from(u32::try_from(size).unwrap_or(u32::MAX)) / mean;
            RATIO * ratio <= 1.0 || RATIO <= ratio
        };
        if is_new {
            start = at;
            (logarithms, count) = (0.0, 0);
        }
        if size > 0 {
            logarithms += f64::from(u32::try_from(size).unwrap_or(u32::MAX)).ln();
            count += 1;
        }
        previous = size;
        let width = if size > 0 { size + 1 } else { 0 };
        let widest = widths[start..at].iter().copied().fold(width, usize::max);
        widths[start..=at].fill(widest);
    }
    widths
}

/// Precedence from which operators of an expression have no spaces.
fn cutoff(code: &Code, depth: usize) -> u8 {
    let uses = Uses::of(code);
    if uses.problem > 0 {
        return uses.problem + 1;
    }
    match (uses.sums && uses.products, depth) {
        (true, 1) => 5,
        (false, 1) => 6,
        _ => 4,
    }
}

/// Operators of an expression.
#[derive(Default)]
struct Uses {
    sums: bool,
    products: bool,
    /// Precedence of an operator that would merge with the sign of its operand.
    problem: u8,
}

impl Uses {
    fn of(code: &Code) -> Self {
        let Code::Binary(left, operator, right) = code else {
            return Uses::default();
        };
        let own = precedence(operator);
        let mut uses = Uses {
            sums: own == 4,
            products: own == 5,
            problem: 0,
        };
        for side in [left, right] {
            if matches!(&**side, Code::Binary(..)) {
                let inner = Uses::of(side);
                uses.sums |= inner.sums;
                uses.products |= inner.products;
                uses.problem = uses.problem.max(inner.problem);
            }
        }
        if let Code::Unary(sign, _) = &**right
            && sign == operator
        {
            uses.problem = uses.problem.max(4);
        }
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(code: &Code) -> String {
        print(&[Statement::Simple(String::new(), Some(code.clone()))], 0)
    }

    #[test]
    fn operators_have_spaces_by_precedence_and_depth() {
        let word = |name: &str| Code::word(name);
        let product = Code::binary(word("a"), "*", word("b"));
        let sum = Code::binary(product.clone(), "+", word("c"));
        assert_eq!(text(&product), "a * b\n");
        assert_eq!(text(&sum), "a*b + c\n");
        let call = Code::call("f", vec![Code::binary(word("a"), "+", word("b"))]);
        assert_eq!(text(&call), "f(a + b)\n");
        let call = Code::call("f", vec![Code::binary(word("a"), "+", word("b")), sum]);
        assert_eq!(text(&call), "f(a+b, a*b+c)\n");
    }

    #[test]
    fn values_of_consecutive_lines_are_aligned() {
        let inner = Code::keyed("T", vec![(Code::word("X"), Code::word("1"))], true);
        let entries = vec![
            (Code::word("A"), Code::word("1")),
            (Code::word("Long"), Code::word("2")),
            (Code::word("Nested"), inner),
            (Code::word("B"), Code::word("3")),
        ];
        let expected = "T{\n\tA:    1,\n\tLong: 2,\n\tNested: T{\n\t\tX: 1,\n\t},\n\tB: 3,\n}\n";
        assert_eq!(text(&Code::keyed("T", entries, true)), expected);
    }
}
