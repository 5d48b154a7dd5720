//! Functions of Terraform and their counterparts.
//!
//! PCL has some of them; most others are in the package `std`; a few are written out.

use hcl_edit::expr::{Expression, FuncCall};
use plumb_eval::hcl;

use crate::convert::Converter;
use crate::dates;
use crate::scope::{Scope, Typed};
use crate::shape::Shape;

/// Counterpart of a function of Terraform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Becomes {
    /// A function of PCL with the same arguments.
    Builtin(&'static str),
    /// A function of the package `std`, with the names of its arguments.
    Std(&'static [&'static str]),
    /// A function of the package `std` that takes all arguments as one list, by its name.
    StdList(&'static str),
    /// A function of the package `std` that takes the arguments behind the first as a list.
    StdRest(&'static str, &'static str),
    /// Its only argument.
    Argument,
    /// An expression.
    Written,
    /// Nothing: it stays as a call that fails, with the reason.
    Nothing(&'static str),
}

use Becomes::{Argument, Builtin, Nothing, Std, StdList, StdRest, Written};

/// Functions of Terraform 1.11, by name.
pub const FUNCTIONS: &[(&str, Becomes)] = &[
    ("abs", Std(&["input"])),
    ("abspath", Std(&["input"])),
    ("alltrue", Std(&["input"])),
    ("anytrue", Std(&["input"])),
    ("base64decode", Builtin("fromBase64")),
    ("base64encode", Builtin("toBase64")),
    ("base64gzip", Std(&["input"])),
    ("base64sha256", Std(&["input"])),
    ("base64sha512", Std(&["input"])),
    ("basename", Std(&["input"])),
    ("bcrypt", Std(&["input", "cost"])),
    ("can", Builtin("can")),
    ("ceil", Std(&["input"])),
    ("chomp", Std(&["input"])),
    ("chunklist", Std(&["input", "size"])),
    ("cidrhost", Std(&["input", "host"])),
    ("cidrnetmask", Std(&["input"])),
    ("cidrsubnet", Std(&["input", "newbits", "netnum"])),
    ("cidrsubnets", StdRest("input", "newbits")),
    ("coalesce", Written),
    ("coalescelist", StdList("input")),
    ("compact", Std(&["input"])),
    ("concat", StdList("input")),
    ("contains", Std(&["input", "element"])),
    ("csvdecode", Std(&["input"])),
    ("dirname", Std(&["input"])),
    ("distinct", Std(&["input"])),
    ("element", Written),
    ("endswith", Std(&["input", "suffix"])),
    ("ephemeralasnull", Argument),
    ("file", Builtin("readFile")),
    ("filebase64", Builtin("filebase64")),
    ("filebase64sha256", Builtin("filebase64sha256")),
    ("filebase64sha512", Std(&["input"])),
    ("fileexists", Std(&["input"])),
    ("filemd5", Std(&["input"])),
    ("fileset", Written),
    ("filesha1", Std(&["input"])),
    ("filesha256", Std(&["input"])),
    ("filesha512", Std(&["input"])),
    ("flatten", Std(&["input"])),
    ("floor", Std(&["input"])),
    ("format", StdRest("input", "args")),
    ("formatdate", Written),
    ("formatlist", StdRest("input", "args")),
    ("indent", Std(&["spaces", "input"])),
    ("index", Std(&["input", "element"])),
    (
        "issensitive",
        Nothing("whether a value is secret is not known before it is there"),
    ),
    ("join", Builtin("join")),
    ("jsondecode", Std(&["input"])),
    ("jsonencode", Builtin("toJSON")),
    ("keys", Std(&["input"])),
    ("length", Builtin("length")),
    ("list", Written),
    ("log", Std(&["input", "base"])),
    ("lookup", Builtin("lookup")),
    ("lower", Std(&["input"])),
    ("map", StdList("args")),
    ("matchkeys", Written),
    ("max", Builtin("max")),
    ("md5", Std(&["input"])),
    ("merge", StdList("input")),
    ("min", Builtin("min")),
    ("nonsensitive", Builtin("unsecret")),
    ("one", Builtin("singleOrNone")),
    ("parseint", Std(&["input", "base"])),
    ("pathexpand", Std(&["input"])),
    ("plantimestamp", Std(&[])),
    ("pow", Std(&["base", "exponent"])),
    ("range", Written),
    ("regex", Written),
    ("regexall", Std(&["pattern", "string"])),
    ("replace", Std(&["text", "search", "replace"])),
    ("reverse", Std(&["input"])),
    ("rsadecrypt", Std(&["cipherText", "key"])),
    ("sensitive", Builtin("secret")),
    ("setintersection", StdList("input")),
    ("setproduct", Written),
    ("setsubtract", Written),
    ("setunion", Written),
    ("sha1", Builtin("sha1")),
    ("sha256", Std(&["input"])),
    ("sha512", Std(&["input"])),
    ("signum", Std(&["input"])),
    ("slice", Std(&["list", "from", "to"])),
    ("sort", Std(&["input"])),
    ("split", Builtin("split")),
    ("startswith", Std(&["input", "prefix"])),
    ("strcontains", Written),
    ("strrev", Std(&["input"])),
    ("substr", Std(&["input", "offset", "length"])),
    ("sum", Std(&["input"])),
    ("templatefile", Written),
    (
        "templatestring",
        Nothing("templates that are made by the program are not evaluated"),
    ),
    ("textdecodebase64", Written),
    ("textencodebase64", Written),
    ("timeadd", Std(&["timestamp", "duration"])),
    ("timecmp", Std(&["timestampa", "timestampb"])),
    ("timestamp", Std(&[])),
    ("title", Std(&["input"])),
    ("tobool", Std(&["input"])),
    ("tolist", Argument),
    ("tomap", Argument),
    ("tonumber", Std(&["input"])),
    ("toset", Written),
    ("tostring", Written),
    ("transpose", Std(&["input"])),
    ("trim", Std(&["input", "cutset"])),
    ("trimprefix", Std(&["input", "prefix"])),
    ("trimspace", Std(&["input"])),
    ("trimsuffix", Std(&["input", "suffix"])),
    ("try", Builtin("try")),
    ("type", Nothing("types of values are for the console only")),
    ("upper", Std(&["input"])),
    ("urlencode", Std(&["input"])),
    ("uuid", Std(&[])),
    ("uuidv5", Nothing("no function makes UUIDs of names")),
    ("values", Std(&["input"])),
    ("yamldecode", Written),
    ("yamlencode", Written),
    ("zipmap", Std(&["keys", "values"])),
];

/// The counterpart of the function `name`; `None` if Terraform has no such function.
pub fn becomes(name: &str) -> Option<Becomes> {
    let place = FUNCTIONS.binary_search_by_key(&name, |(name, _)| name);
    place.ok().map(|place| FUNCTIONS[place].1)
}

impl Converter<'_, '_> {
    pub(crate) fn call(&self, call: &FuncCall, wanted: &Shape, scope: &Scope) -> Typed {
        let name = call.name.name.as_str();
        if call.name.is_namespaced() {
            return self.missing(call, "functions of providers are not converted");
        }
        let args: Vec<&Expression> = call.args.iter().collect();
        let Some(becomes) = becomes(name) else {
            return self.missing(call, "Terraform has no such function");
        };
        let is_spread = call.args.expand_final();
        let takes_list = matches!(becomes, StdList(_) | StdRest(..)) || name == "setunion";
        if is_spread && !takes_list {
            return self.missing(
                call,
                "the list of the arguments is not known before the program runs",
            );
        }
        // Functions that give one of their arguments, or a list of the same things.
        let inner = match name {
            "try" | "coalesce" | "tolist" | "toset" | "tomap" | "merge" | "concat"
            | "sensitive" | "nonsensitive" | "distinct" | "compact" | "coalescelist"
            | "reverse" | "sort" => wanted.clone(),
            "jsonencode" | "yamlencode" | "zipmap" | "chunklist" | "setproduct" => Shape::Whole,
            _ => Shape::Unknown,
        };
        let typed: Vec<Typed> = args
            .iter()
            .map(|it| self.convert_to(it, &inner, scope))
            .collect();
        let shape = result_shape(name, &typed);
        let texts: Vec<String> = typed.iter().map(|it| it.text.clone()).collect();
        let text = match becomes {
            Builtin(name) => format!("{name}({})", texts.join(", ")),
            Std(names) => {
                if name == "plantimestamp" {
                    self.note(
                        call,
                        "the time of the program's run stands for the time of the plan",
                    );
                    std_call("timestamp", &[])
                } else {
                    let pairs = names.iter().zip(&texts);
                    let pairs = pairs.map(|(name, text)| ((*name).to_owned(), text.clone()));
                    std_call(name, &pairs.collect::<Vec<_>>())
                }
            }
            StdList(input) => std_call(name, &[(input.to_owned(), listed(&texts, is_spread))]),
            StdRest(first, rest) => {
                let Some((head, tail)) = texts.split_first() else {
                    return self.missing(call, "this function needs arguments");
                };
                let pairs = [
                    (first.to_owned(), head.clone()),
                    (rest.to_owned(), listed(tail, is_spread)),
                ];
                std_call(name, &pairs)
            }
            Argument => texts.into_iter().next().unwrap_or_default(),
            Written => return self.written(call, name, &args, &texts, shape, scope),
            Nothing(why) => return self.missing(call, why),
        };
        Typed::new(text, shape)
    }

    fn written(
        &self,
        call: &FuncCall,
        name: &str,
        args: &[&Expression],
        texts: &[String],
        shape: Shape,
        scope: &Scope,
    ) -> Typed {
        let text = match (name, texts) {
            ("list", _) => hcl::list(texts),
            ("range", [_] | [_, _]) => format!("range({})", texts.join(", ")),
            ("range", [from, to, step]) => {
                let pairs = [("start", from), ("limit", to), ("step", step)];
                std_call(
                    "range",
                    &pairs.map(|(name, it)| (name.to_owned(), it.clone())),
                )
            }
            // Terraform begins anew behind the last item, PCL does not.
            ("element", [list, index]) => {
                match args[1].as_number().and_then(hcl_edit::Number::as_u64) {
                    Some(0) => format!("element({list}, 0)"),
                    _ => format!("element({list}, {index} % length({list}))"),
                }
            }
            ("coalesce", [_, ..]) => self.coalesced(args, texts, scope),
            // The first of all matches; a text without one is an error in both.
            ("regex", [pattern, text]) => {
                let pairs = [("pattern", pattern), ("string", text)];
                let all = std_call(
                    "regexall",
                    &pairs.map(|(name, it)| (name.to_owned(), it.clone())),
                );
                format!("{all}[0]")
            }
            ("toset", [list]) => match texts_of(args[0]) {
                Some(items) => hcl::list(&items),
                None => std_call("toset", &[("input".to_owned(), list.clone())]),
            },
            ("setsubtract", [from, what]) => {
                let name = scope.fresh("item");
                let is_in = std_call(
                    "contains",
                    &[
                        ("input".to_owned(), what.clone()),
                        ("element".to_owned(), name.clone()),
                    ],
                );
                format!("[for {name} in {from} : {name} if !{is_in}]")
            }
            ("setproduct", [_, _, ..]) => product(texts, scope),
            ("matchkeys", [values, keys, wanted]) => {
                let (index, item) = (scope.fresh("index"), scope.fresh("item"));
                let is_wanted = std_call(
                    "contains",
                    &[
                        ("input".to_owned(), wanted.clone()),
                        ("element".to_owned(), format!("{keys}[{index}]")),
                    ],
                );
                format!("[for {index}, {item} in {values} : {item} if {is_wanted}]")
            }
            ("textdecodebase64", [text, _]) if is_utf8(args[1]) => format!("fromBase64({text})"),
            ("textencodebase64", [text, _]) if is_utf8(args[1]) => format!("toBase64({text})"),
            ("textdecodebase64" | "textencodebase64", _) => {
                return self.missing(call, "no function knows other encodings than UTF-8");
            }
            ("fileset", _) => match self.file_set(call) {
                Some(files) => files,
                None => return self.missing(call, "no function lists files by a pattern"),
            },
            ("yamldecode", _) => match self.yaml_value(call) {
                Some(value) => value,
                None => return self.missing(call, "no function reads YAML"),
            },
            ("formatdate", [_, timestamp]) => {
                let format = args[0].as_str();
                match format.and_then(|format| dates::formatted(format, timestamp)) {
                    Some(formatted) => formatted,
                    None => return self.missing(call, "no function formats dates like this"),
                }
            }
            ("setunion", _) => {
                let sets = listed(texts, call.args.expand_final());
                let all = std_call("concat", &[("input".to_owned(), sets)]);
                std_call("distinct", &[("input".to_owned(), all)])
            }
            ("strcontains", [text, part]) => format!("(length(split({part}, {text})) > 1)"),
            ("templatefile", [_, _]) => {
                let written = self.original(args[0]);
                let path = match args[0].as_str() {
                    Some(plain) => plain.to_owned(),
                    None => written.trim_matches('"').to_owned(),
                };
                let found = self.template_file(call, &path, args[1], scope);
                return found.unwrap_or_else(|| {
                    self.missing(
                        call,
                        "the template file is not there, or not known before the program runs",
                    )
                });
            }
            ("templatefile", _) => return self.missing(call, "a template file needs variables"),
            ("tostring", [text]) => match args[0] {
                Expression::String(_) | Expression::StringTemplate(_) => text.clone(),
                Expression::Number(_) | Expression::Bool(_) => hcl::quoted(text),
                _ => std_call("tostring", &[("input".to_owned(), text.clone())]),
            },
            // JSON is YAML.
            ("yamlencode", [text]) => format!("toJSON({text})"),
            _ => return self.missing(call, "this function has other arguments"),
        };
        Typed::new(text, shape)
    }
}

impl Converter<'_, '_> {
    /// The first argument that is not null; of texts, the first that is not empty either.
    fn coalesced(&self, args: &[&Expression], texts: &[String], scope: &Scope) -> String {
        let is_text = |it: &&Expression| match it {
            Expression::String(_) | Expression::StringTemplate(_) => true,
            Expression::Traversal(_) => self.is_text_variable(it) && scope.get("var").is_none(),
            _ => false,
        };
        if args.iter().any(is_text) {
            let all = std_call("compact", &[("input".to_owned(), hcl::list(texts))]);
            return format!("{all}[0]");
        }
        let (last, rest) = texts.split_last().expect("there is an argument");
        rest.iter().rev().fold(last.clone(), |behind, it| {
            format!("({it} != null ? {it} : {behind})")
        })
    }

    fn is_text_variable(&self, reference: &Expression) -> bool {
        let address = crate::module::address(reference);
        let Some(name) = address.strip_prefix("var.") else {
            return false;
        };
        let block = self.module.variables.get(name);
        let ty = block.and_then(|it| it.body.get_attribute("type"));
        ty.is_some_and(|it| crate::module::address(&it.value) == "string")
    }
}

/// Whether the name of an encoding is that of UTF-8.
fn is_utf8(encoding: &Expression) -> bool {
    encoding
        .as_str()
        .is_some_and(|name| name.eq_ignore_ascii_case("UTF-8"))
}

/// Arguments as a list. With `...` behind them, the last one is a list of further arguments.
fn listed(texts: &[String], is_spread: bool) -> String {
    match texts {
        _ if !is_spread => hcl::list(texts),
        // `merge(maps...)`: the argument is the list itself.
        [all] => all.clone(),
        [single @ .., rest] => {
            let lists = hcl::list(&[hcl::list(single), rest.clone()]);
            std_call("concat", &[("input".to_owned(), lists)])
        }
        [] => hcl::list(texts),
    }
}

/// All combinations of the items of some lists.
fn product(lists: &[String], scope: &Scope) -> String {
    let names: Vec<String> = (1..=lists.len())
        .map(|number| scope.fresh(&format!("item{number}")))
        .collect();
    let mut pairs = names.iter().zip(lists).rev();
    let Some((name, list)) = pairs.next() else {
        return "[]".to_owned();
    };
    let innermost = format!("[for {name} in {list} : {}]", hcl::list(&names));
    pairs.fold(innermost, |inner, (name, list)| {
        let lists = format!("[for {name} in {list} : {inner}]");
        std_call("concat", &[("input".to_owned(), lists)])
    })
}

/// The items of a list of plain texts in order, each once.
fn texts_of(list: &Expression) -> Option<Vec<String>> {
    let Expression::Array(items) = list else {
        return None;
    };
    let texts: Option<std::collections::BTreeSet<&str>> =
        items.iter().map(Expression::as_str).collect();
    Some(texts?.into_iter().map(hcl::quoted).collect())
}

/// A call of a function of the package `std`.
pub(crate) fn std_call(name: &str, arguments: &[(String, String)]) -> String {
    let text = match arguments {
        [] => "{}".to_owned(),
        [(key, value)] => format!("{{ {key} = {value} }}"),
        _ => hcl::object(arguments),
    };
    format!("invoke(\"std:index:{name}\", {text}).result")
}

fn result_shape(name: &str, args: &[Typed]) -> Shape {
    let first = args.first().map(|it| it.shape.clone()).unwrap_or_default();
    match name {
        "try" | "coalesce" | "merge" | "concat" | "coalescelist" | "tolist" | "toset" | "tomap"
        | "sensitive" | "nonsensitive" | "distinct" | "compact" | "reverse" | "sort" | "slice"
        | "setunion" | "setsubtract" | "setintersection" => args
            .iter()
            .map(|it| it.shape.clone())
            .fold(Shape::Unknown, crate::expression::better),
        "one" | "element" | "lookup" => first.element(),
        "values" => first.element().list_of(),
        "keys" | "split" | "formatlist" | "cidrsubnets" | "range" | "regexall" | "fileset" => {
            Shape::Scalar.list_of()
        }
        "matchkeys" => first,
        "setproduct" => Shape::Unknown.list_of().list_of(),
        "flatten" => match first.element() {
            Shape::List(inner) => inner.list_of(),
            other => other.list_of(),
        },
        "jsondecode" | "yamldecode" | "regex" | "csvdecode" | "chunklist" | "list" | "map"
        | "zipmap" | "transpose" | "ephemeralasnull" => Shape::Unknown,
        _ => Shape::Scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_in_order_and_each_once() {
        for pair in FUNCTIONS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{}", pair[1].0);
        }
        assert_eq!(becomes("jsonencode"), Some(Builtin("toJSON")));
        assert_eq!(becomes("no_such"), None);
    }
}
