//! Texts with interpolations and directives, and template files.

use hcl_edit::expr::Expression;
use hcl_edit::structure::Structure;
use hcl_edit::template::{Directive, Element, ForTemplateExpr, HeredocTemplate, Strip, Template};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::names::camel;
use crate::scope::{Meaning, Scope, Typed};
use crate::shape::Shape;

/// A token of a text, in the order in which they stand.
enum Token<'e> {
    Literal(String),
    Interpolation(&'e Expression, Strip),
    If(&'e Expression, Strip),
    Else(Strip),
    EndIf(Strip),
    For(&'e ForTemplateExpr, Strip),
    EndFor(Strip),
}

impl Token<'_> {
    /// Whether the token drops whitespace in front of it, and behind.
    fn strips(&self) -> (bool, bool) {
        match self {
            Token::Literal(_) => (false, false),
            Token::Interpolation(_, strip)
            | Token::If(_, strip)
            | Token::Else(strip)
            | Token::EndIf(strip)
            | Token::For(_, strip)
            | Token::EndFor(strip) => match strip {
                Strip::None => (false, false),
                Strip::Start => (true, false),
                Strip::End => (false, true),
                Strip::Both => (true, true),
            },
        }
    }
}

/// Division of literals into tokens. A marker drops whitespace of the neighbouring token only, so the lines of a heredoc
/// must be tokens of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Together,
    Apart,
    /// Apart, and without the indentation that all share.
    Flush,
}

impl Converter<'_, '_> {
    pub(crate) fn template<'e>(
        &self,
        elements: impl Iterator<Item = &'e Element>,
        wanted: &Shape,
        scope: &Scope,
    ) -> Typed {
        let elements: Vec<&Element> = elements.collect();
        // What is nothing but an interpolation is the value itself.
        if let [Element::Interpolation(it)] = elements[..] {
            return self.convert_to(&it.expr, wanted, scope);
        }
        let tokens = tokens(elements.into_iter(), Lines::Together);
        Typed::scalar(self.quoted(tokens, scope))
    }

    pub(crate) fn heredoc(&self, heredoc: &HeredocTemplate, scope: &Scope) -> Typed {
        let original = self.original(heredoc);
        let (text, lines) = match original.strip_prefix("<<-") {
            Some(text) => (text, Lines::Flush),
            None => (
                original.strip_prefix("<<").unwrap_or_default(),
                Lines::Apart,
            ),
        };
        // Read again, because the parser takes away indentation by a rule of its own.
        match read_heredoc(&ended(text)) {
            Some(plain) => self.elsewhere(heredoc, || self.heredoc_text(&plain, lines, scope)),
            None => self.heredoc_text(heredoc, Lines::Apart, scope),
        }
    }

    fn heredoc_text(&self, heredoc: &HeredocTemplate, lines: Lines, scope: &Scope) -> Typed {
        let tokens = tokens(heredoc.template.iter(), lines);
        Typed::scalar(self.quoted(tokens, scope))
    }

    fn quoted(&self, tokens: Vec<Token<'_>>, scope: &Scope) -> String {
        let mut rest = tokens.into_iter();
        format!("\"{}\"", self.inside(&mut rest, scope).0)
    }

    /// The text up to the token that ends the part, and that token.
    fn inside<'e>(
        &self,
        tokens: &mut std::vec::IntoIter<Token<'e>>,
        scope: &Scope,
    ) -> (String, Option<Token<'e>>) {
        let mut text = String::new();
        while let Some(token) = tokens.next() {
            match token {
                Token::Literal(literal) => text.push_str(&hcl::escaped(&literal)),
                Token::Interpolation(expression, _) => {
                    let code = self.text(expression, scope);
                    match literal(&code) {
                        Some(inner) => text.push_str(inner),
                        None => push_code(&mut text, &code),
                    }
                }
                Token::If(condition, _) => {
                    let condition = self.text(condition, scope);
                    let (yes, end) = self.inside(tokens, scope);
                    let no = match end {
                        Some(Token::Else(_)) => self.inside(tokens, scope).0,
                        _ => String::new(),
                    };
                    push_code(&mut text, &format!("{condition} ? \"{yes}\" : \"{no}\""));
                }
                Token::For(it, _) => {
                    let (intro, inside) = self.for_directive(it, scope);
                    let (item, _) = self.inside(tokens, &inside);
                    push_code(&mut text, &format!("join(\"\", [{intro} : \"{item}\"])"));
                }
                end @ (Token::Else(_) | Token::EndIf(_) | Token::EndFor(_)) => {
                    return (text, Some(end));
                }
            }
        }
        (text, None)
    }

    fn for_directive(&self, it: &ForTemplateExpr, scope: &Scope) -> (String, Scope) {
        let collection = self.convert(&it.collection_expr, scope);
        let name = it.value_var.as_str();
        let value = scope.fresh(&camel(name));
        let meaning = Meaning::Value(Typed::new(value.clone(), collection.shape.element()));
        let mut inside = scope.with(name, meaning);
        let mut names = value;
        if let Some(key) = &it.key_var {
            let name = inside.fresh(&camel(key.as_str()));
            let meaning = Meaning::Value(Typed::scalar(name.clone()));
            inside = inside.with(key.as_str(), meaning);
            names = format!("{name}, {names}");
        }
        (format!("for {names} in {}", collection.text), inside)
    }

    /// A template file with its variables put in; `None` if it is not there, or not of the configuration.
    pub(crate) fn template_file(
        &self,
        node: &impl hcl_edit::Span,
        path: &str,
        variables: &Expression,
        scope: &Scope,
    ) -> Option<Typed> {
        let folder = &self.module.source.folder;
        let rest = path
            .strip_prefix("${path.module}/")
            .or_else(|| path.strip_prefix("./"));
        let text = self
            .context
            .configuration
            .text(&format!("{folder}/{}", rest.unwrap_or(path)))?;
        let Expression::Object(variables) = variables else {
            return None;
        };
        let mut inside = Scope::closed();
        for (key, value) in variables {
            let name = key
                .as_ident()
                .map(hcl_edit::Ident::as_str)
                .or_else(|| key.as_expr()?.as_str())?;
            let value = self.convert(value.expr(), scope);
            let text = if value.text.contains([' ', '\n']) {
                format!("({})", value.text)
            } else {
                value.text
            };
            inside = inside.with(name, Meaning::Value(Typed::new(text, value.shape)));
        }
        // Read as a heredoc, because quotes and backslashes mean nothing in a template file.
        let mut ends = (0..text.len()).map(|at| format!("END{at}"));
        let end = ends.find(|it| !text.contains(it.as_str()))?;
        let ends_with_line = text.ends_with('\n');
        let wrapped = format!("{end}\n{}\n{end}", text.trim_end_matches('\n'));
        let heredoc = read_heredoc(&wrapped)?;
        let mut result =
            self.elsewhere(node, || self.heredoc_text(&heredoc, Lines::Apart, &inside));
        if !ends_with_line && let Some(start) = result.text.strip_suffix("\\n\"") {
            result.text = format!("{start}\"");
        }
        Some(result)
    }
}

/// Reads a heredoc from what stands behind its mark.
fn read_heredoc(text: &str) -> Option<HeredocTemplate> {
    let body = hcl_edit::parser::parse_body(&format!("it = <<{text}\n")).ok()?;
    let Some(Structure::Attribute(attribute)) = body.into_iter().next() else {
        return None;
    };
    match attribute.value {
        Expression::HeredocTemplate(heredoc) => Some(*heredoc),
        _ => None,
    }
}

/// The text of a heredoc behind its mark, with the word that ends it at the beginning of its line.
fn ended(text: &str) -> String {
    match text.trim_end().rsplit_once('\n') {
        Some((lines, end)) => format!("{lines}\n{}", end.trim()),
        None => text.to_owned(),
    }
}

/// The inside of a quoted text, if that is all there is.
fn literal(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let expression: Expression = text.parse().ok()?;
    let is_text = matches!(
        expression,
        Expression::String(_) | Expression::StringTemplate(_)
    );
    is_text.then_some(inner)
}

fn push_code(text: &mut String, code: &str) {
    text.push_str("${");
    text.push_str(code);
    text.push('}');
}

/// The tokens of a text, without the whitespace that markers drop.
fn tokens<'e>(elements: impl Iterator<Item = &'e Element>, lines: Lines) -> Vec<Token<'e>> {
    let mut tokens = Vec::new();
    for element in elements {
        add(element, lines, &mut tokens);
    }
    let strips: Vec<(bool, bool)> = tokens.iter().map(Token::strips).collect();
    for (at, token) in tokens.iter_mut().enumerate() {
        let Token::Literal(text) = token else {
            continue;
        };
        if at > 0 && strips[at - 1].1 {
            *text = text.trim_start().to_owned();
        }
        if strips.get(at + 1).is_some_and(|it| it.0) {
            *text = text.trim_end().to_owned();
        }
    }
    if lines == Lines::Flush {
        flush(&mut tokens);
    }
    tokens
}

fn add<'e>(element: &'e Element, lines: Lines, tokens: &mut Vec<Token<'e>>) {
    let add_all = |template: &'e Template, tokens: &mut Vec<Token<'e>>| {
        for element in template {
            add(element, lines, tokens);
        }
    };
    match element {
        Element::Literal(text) if lines == Lines::Together => {
            tokens.push(Token::Literal(text.value().clone()));
        }
        Element::Literal(text) => {
            let lines = text.value().split_inclusive('\n');
            tokens.extend(lines.map(|it| Token::Literal(it.to_owned())));
        }
        Element::Interpolation(it) => tokens.push(Token::Interpolation(&it.expr, it.strip)),
        Element::Directive(directive) => match &**directive {
            Directive::If(it) => {
                tokens.push(Token::If(&it.if_expr.cond_expr, it.if_expr.strip));
                add_all(&it.if_expr.template, tokens);
                if let Some(no) = &it.else_expr {
                    tokens.push(Token::Else(no.strip));
                    add_all(&no.template, tokens);
                }
                tokens.push(Token::EndIf(it.endif_expr.strip));
            }
            Directive::For(it) => {
                tokens.push(Token::For(&it.for_expr, it.for_expr.strip));
                add_all(&it.for_expr.template, tokens);
                tokens.push(Token::EndFor(it.endfor_expr.strip));
            }
        },
    }
}

/// Takes away the indentation that all lines share. What stands behind a dropped line ending begins no line.
fn flush(tokens: &mut [Token<'_>]) {
    let indent = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let mut is_start = true;
    let mut starts = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Literal(text) = token else {
            if is_start {
                // A line that begins with code has no indentation.
                starts.push((at, 0));
            }
            is_start = false;
            continue;
        };
        if is_start && text.trim_start_matches([' ', '\t']) != "\n" {
            starts.push((at, indent(text)));
        }
        is_start = text.ends_with('\n');
    }
    let shared = starts.iter().map(|(_, indent)| *indent).min();
    for (at, _) in starts {
        if let Token::Literal(text) = &mut tokens[at] {
            text.drain(..shared.unwrap_or_default());
        }
    }
}
