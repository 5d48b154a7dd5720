//! Canonical formatting of PCL: indentation by two, a blank line around blocks, comments on lines of their own or after
//! an entry.
//!
//! Formatting is idempotent. Lists and objects on one line stay there if they are short enough; blank lines between
//! attributes are kept, but reduced to one. Comments inside expressions other than lists and objects are dropped.

use std::fmt::Write as _;

use hcl_edit::Decorate;
use hcl_edit::RawString;
use hcl_edit::expr::{
    Expression, ForExpr, FuncCall, ObjectKey, ObjectValueAssignment, Traversal, TraversalOperator,
};
use hcl_edit::structure::{Block, BlockLabel, Body, Structure};
use hcl_edit::template::{Element, StringTemplate, Template};
use plumb_eval::diagnostic::Diagnostic;
use plumb_eval::hcl;
use plumb_eval::source::SourceFile;

use crate::load::comments;
use crate::syntax::Parsed;

/// Maximum width of a line with a list or an object.
const WIDTH: usize = 100;

/// Formats `text`; `name` is its name in diagnostics.
pub fn format(name: &str, text: &str) -> Result<String, Diagnostic> {
    let source = std::sync::Arc::new(SourceFile::new(name, name.into(), text));
    let parsed = Parsed::read(source)?;
    let mut printer = Printer {
        text: String::new(),
        depth: 0,
    };
    printer.body(&parsed.body);
    let rest = parsed.body.decor().suffix();
    for comment in comments(rest) {
        printer.comment(&comment);
    }
    Ok(printer.text)
}

struct Printer {
    text: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{text}");
    }

    fn comment(&mut self, comment: &str) {
        let line = format!("# {comment}");
        self.line(line.trim_end());
    }

    fn body(&mut self, body: &Body) {
        let mut last: Option<&Structure> = None;
        for structure in body {
            let prefix = match structure {
                Structure::Attribute(it) => it.decor().prefix(),
                Structure::Block(it) => it.decor().prefix(),
            };
            let is_apart = last.is_some_and(|last| {
                last.is_block() || structure.is_block() || has_blank_line(prefix)
            });
            if is_apart {
                self.text.push('\n');
            }
            for comment in comments(prefix) {
                self.comment(&comment);
            }
            match structure {
                Structure::Attribute(it) => {
                    let value = self.expression(&it.value);
                    let behind = behind(it.value.decor().suffix(), it.decor().suffix());
                    self.line(&format!("{} = {value}{behind}", it.key.as_str()));
                }
                Structure::Block(it) => self.block(it),
            }
            last = Some(structure);
        }
    }

    fn block(&mut self, block: &Block) {
        let mut head = block.ident.as_str().to_owned();
        for label in &block.labels {
            let text = match label {
                BlockLabel::Ident(name) => name.as_str().to_owned(),
                BlockLabel::String(text) => hcl::quoted(text.as_str()),
            };
            let _ = write!(head, " {text}");
        }
        let rest = comments(block.body.decor().suffix());
        if block.body.is_empty() && rest.is_empty() {
            return self.line(&format!("{head} {{}}"));
        }
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.body(&block.body);
        for comment in rest {
            self.comment(&comment);
        }
        self.depth -= 1;
        self.line("}");
    }

    /// Formats an expression; lines after the first are already indented.
    fn expression(&mut self, expression: &Expression) -> String {
        match expression {
            Expression::Null(_) => "null".to_owned(),
            Expression::Bool(value) => value.value().to_string(),
            Expression::Number(number) => number.value().to_string(),
            Expression::String(text) => hcl::quoted(text.value()),
            Expression::Array(items) => self.array(items),
            Expression::Object(object) => self.object(object),
            Expression::StringTemplate(template) => {
                let inner = self.template(template);
                format!("\"{inner}\"")
            }
            Expression::HeredocTemplate(heredoc) => {
                let mut bare = (**heredoc).clone();
                bare.decor_mut().clear();
                Expression::from(bare).to_string().trim_end().to_owned()
            }
            Expression::Parenthesis(inner) => format!("({})", self.expression(inner.inner())),
            Expression::Variable(name) => name.as_str().to_owned(),
            Expression::Conditional(it) => {
                let parts = [&it.cond_expr, &it.true_expr, &it.false_expr];
                let [condition, yes, no] = parts.map(|it| self.expression(it));
                format!("{condition} ? {yes} : {no}")
            }
            Expression::FuncCall(call) => self.call(call),
            Expression::Traversal(traversal) => self.traversal(traversal),
            Expression::UnaryOp(it) => {
                format!("{}{}", it.operator.value(), self.expression(&it.expr))
            }
            Expression::BinaryOp(it) => {
                let left = self.expression(&it.lhs_expr);
                let right = self.expression(&it.rhs_expr);
                format!("{left} {} {right}", it.operator.value())
            }
            Expression::ForExpr(it) => self.for_expression(it),
        }
    }

    fn call(&mut self, call: &FuncCall) -> String {
        let args: Vec<String> = call.args.iter().map(|it| self.expression(it)).collect();
        let dots = if call.args.expand_final() { "..." } else { "" };
        format!("{}({}{dots})", call.name.name.as_str(), args.join(", "))
    }

    fn array(&mut self, items: &hcl_edit::expr::Array) -> String {
        let is_long = has_lines(items.clone().into());
        if !is_long {
            let parts: Vec<String> = items.iter().map(|it| self.expression(it)).collect();
            let line = format!("[{}]", parts.join(", "));
            if self.fits(&line) || items.is_empty() {
                return line;
            }
        }
        if items.is_empty() && comments(Some(items.trailing())).is_empty() {
            return "[]".to_owned();
        }
        self.depth += 1;
        let indent = "  ".repeat(self.depth);
        let mut text = "[\n".to_owned();
        for (at, item) in items.iter().enumerate() {
            for comment in comments(item.decor().prefix()) {
                let _ = writeln!(text, "{indent}# {comment}");
            }
            let comma = if at + 1 == items.len() { "" } else { "," };
            let value = self.expression(item);
            let behind = behind(item.decor().suffix(), None);
            let _ = writeln!(text, "{indent}{value}{comma}{behind}");
        }
        for comment in comments(Some(items.trailing())) {
            let _ = writeln!(text, "{indent}# {comment}");
        }
        self.depth -= 1;
        let _ = write!(text, "{}]", "  ".repeat(self.depth));
        text
    }

    fn object(&mut self, object: &hcl_edit::expr::Object) -> String {
        let rest = comments(Some(object.trailing()));
        if object.is_empty() && rest.is_empty() {
            return "{}".to_owned();
        }
        let is_long = has_lines(object.clone().into());
        if !is_long {
            let parts: Vec<String> = object
                .iter()
                .map(|(key, value)| {
                    format!("{} = {}", self.key(key), self.expression(value.expr()))
                })
                .collect();
            let line = format!("{{ {} }}", parts.join(", "));
            if self.fits(&line) {
                return line;
            }
        }
        self.depth += 1;
        let indent = "  ".repeat(self.depth);
        let mut text = "{\n".to_owned();
        for (key, value) in object {
            for comment in comments(key.decor().prefix()) {
                let _ = writeln!(text, "{indent}# {comment}");
            }
            let colon = matches!(value.assignment(), ObjectValueAssignment::Colon);
            let name = self.key(key);
            let name = if colon && matches!(key, ObjectKey::Expression(Expression::Parenthesis(_)))
            {
                name
            } else {
                name.trim().to_owned()
            };
            let written = self.expression(value.expr());
            let behind = behind(value.expr().decor().suffix(), None);
            let _ = writeln!(text, "{indent}{name} = {written}{behind}");
        }
        for comment in rest {
            let _ = writeln!(text, "{indent}# {comment}");
        }
        self.depth -= 1;
        let _ = write!(text, "{}}}", "  ".repeat(self.depth));
        text
    }

    fn key(&mut self, key: &ObjectKey) -> String {
        match key {
            ObjectKey::Ident(name) => name.as_str().to_owned(),
            ObjectKey::Expression(key) => self.expression(key),
        }
    }

    fn fits(&self, line: &str) -> bool {
        !line.contains('\n') && self.depth * 2 + line.len() <= WIDTH
    }

    fn template(&mut self, template: &Template) -> String {
        let mut text = String::new();
        for element in template {
            match element {
                Element::Literal(literal) => text.push_str(&hcl::escaped(literal.value())),
                Element::Interpolation(it) => {
                    use hcl_edit::template::Strip;
                    let open = matches!(it.strip, Strip::Start | Strip::Both);
                    let close = matches!(it.strip, Strip::End | Strip::Both);
                    let inner = self.expression(&it.expr);
                    let (open, close) = (if open { "~" } else { "" }, if close { "~" } else { "" });
                    let _ = write!(text, "${{{open}{inner}{close}}}");
                }
                Element::Directive(_) => {
                    let alone = StringTemplate::from(vec![element.clone()]);
                    let written = Expression::from(alone).to_string();
                    text.push_str(written.trim().trim_matches('"'));
                }
            }
        }
        text
    }

    fn traversal(&mut self, traversal: &Traversal) -> String {
        let mut text = self.expression(&traversal.expr);
        for operator in &traversal.operators {
            match operator.value() {
                TraversalOperator::GetAttr(name) => {
                    let _ = write!(text, ".{}", name.as_str());
                }
                TraversalOperator::LegacyIndex(index) => {
                    let _ = write!(text, ".{}", index.value());
                }
                TraversalOperator::Index(index) => {
                    let index = self.expression(index);
                    let _ = write!(text, "[{index}]");
                }
                TraversalOperator::AttrSplat(_) => text.push_str(".*"),
                TraversalOperator::FullSplat(_) => text.push_str("[*]"),
            }
        }
        text
    }

    fn for_expression(&mut self, it: &ForExpr) -> String {
        let key = it
            .intro
            .key_var
            .as_ref()
            .map(|name| format!("{}, ", name.as_str()));
        let key = key.unwrap_or_default();
        let collection = self.expression(&it.intro.collection_expr);
        let value = self.expression(&it.value_expr);
        let condition = it.cond.as_ref().map(|it| self.expression(&it.expr));
        let condition = condition.map(|it| format!(" if {it}")).unwrap_or_default();
        let intro = format!("for {key}{} in {collection}", it.intro.value_var.as_str());
        match &it.key_expr {
            Some(result_key) => {
                let result_key = self.expression(result_key);
                let dots = if it.grouping { "..." } else { "" };
                format!("{{ {intro} : {result_key} => {value}{dots}{condition} }}")
            }
            None => format!("[{intro} : {value}{condition}]"),
        }
    }
}

/// Whether an expression is written in several lines, whatever stands around it.
fn has_lines(mut expression: Expression) -> bool {
    expression.decor_mut().clear();
    expression.to_string().contains('\n')
}

/// Comment after an item on its line.
fn behind(inner: Option<&RawString>, outer: Option<&RawString>) -> String {
    let words: Vec<String> = comments(inner).into_iter().chain(comments(outer)).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" # {}", words.join(" "))
    }
}

fn has_blank_line(above: Option<&RawString>) -> bool {
    let text = above.map(|it| it.to_string()).unwrap_or_default();
    let first_comment = text.find(['#', '/']).unwrap_or(text.len());
    text[..first_comment].matches('\n').count() > 0
}

#[cfg(test)]
mod tests {
    use super::format;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let once = format("it.pp", text).unwrap();
        assert_eq!(once, expected);
        assert_eq!(format("it.pp", &once).unwrap(), once);
    }

    #[test]
    fn blocks_stand_apart_and_attributes_as_they_were() {
        check(
            "a=1\nb =  2 # two\n\n\nc = [1,2]\nresource  x \"a:b:C\" {\nv=1\n}\n// last\nd=null",
            "a = 1\nb = 2 # two\n\nc = [1, 2]\n\nresource x \"a:b:C\" {\n  v = 1\n}\n\n# last\nd = null\n",
        );
    }

    #[test]
    fn expressions_have_one_form() {
        check(
            "a={x:1,\"y z\"=2}\nb = \"p${ x }q$${r}\"\nc = x[*].y[\"z\"]\nd=[for k,v in m:v if k!=\"a\"]\ne = f( 1,2 )",
            "a = { x = 1, \"y z\" = 2 }\nb = \"p${x}q$${r}\"\nc = x[*].y[\"z\"]\nd = [for k, v in m : v if k != \"a\"]\ne = f(1, 2)\n",
        );
    }

    #[test]
    fn items_of_long_lists_keep_their_lines() {
        let one = format!("[\"{}\", {{ a = 1 }}]", "x".repeat(100));
        let wanted = format!("it = [\n  \"{}\",\n  {{ a = 1 }}\n]\n", "x".repeat(100));
        check(&format!("it = {one}\n"), &wanted);
        check(&wanted, &wanted);
    }

    #[test]
    fn long_objects_keep_their_comments() {
        check(
            "a = {\n  # about x\n  x = [\n    1, # one\n    2\n  ]\n  y = -(1 + 2) * 3\n}\n",
            "a = {\n  # about x\n  x = [\n    1,\n    # one\n    2\n  ]\n  y = -(1 + 2) * 3\n}\n",
        );
    }
}
