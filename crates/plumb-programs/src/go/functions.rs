//! Functions of PCL in Go.

use super::expression::Want;
use super::helpers::Helper;
use super::kinds::Kind;
use super::printer::{Form, Printer, Value};
use super::syntax::{Code, Statement};
use crate::tree::{Function, Tree};

impl Printer {
    pub(super) fn call(&mut self, function: Function, args: &[Tree]) -> Value {
        let text = |code: Code| Value::plain(code, Kind::Text);
        match function {
            Function::Join => {
                let items = self.arg(args, 1, Kind::Text.list());
                let separator = self.arg(args, 0, Kind::Text);
                self.import("strings");
                text(Code::call("strings.Join", vec![items, separator]))
            }
            Function::Split => {
                let separator = self.arg(args, 0, Kind::Text);
                let whole = self.arg(args, 1, Kind::Text);
                self.import("strings");
                let code = Code::call("strings.Split", vec![whole, separator]);
                Value::plain(code, Kind::Text.list())
            }
            Function::ToJson { has_outputs } => self.json(args, has_outputs),
            Function::ToBase64 => {
                let value = self.arg(args, 0, Kind::Text);
                text(self.base64(Code::call("[]byte", vec![value])))
            }
            Function::FromBase64 => {
                let value = self.arg(args, 0, Kind::Text);
                self.import("encoding/base64");
                let call = Code::call("base64.StdEncoding.DecodeString", vec![value]);
                let decoded = self.attempt("decoded", call);
                text(Code::call("string", vec![decoded]))
            }
            Function::Secret | Function::Unsecret => self.secrecy(function, args),
            Function::ReadFile => {
                let content = self.content(args);
                text(Code::call("string", vec![content]))
            }
            Function::FileBase64 => {
                let content = self.content(args);
                text(self.base64(content))
            }
            Function::FileBase64Sha256 => {
                let content = self.content(args);
                self.import("crypto/sha256");
                let sum = Code::call("sha256.Sum256", vec![content]);
                let sum = self.variable("sum", sum);
                text(self.base64(sum.at(Code::word(":"))))
            }
            Function::Sha1 => {
                let value = self.arg(args, 0, Kind::Text);
                self.import("crypto/sha1");
                self.import("fmt");
                let bytes = Code::call("[]byte", vec![value]);
                let sum = Code::call("sha1.Sum", vec![bytes]);
                text(Code::call("fmt.Sprintf", vec![Code::word("\"%x\""), sum]))
            }
            Function::LengthOfText => match args.first() {
                Some(Tree::Text(known)) if known.is_ascii() => {
                    let value = self.arg(args, 0, Kind::Text);
                    Value::plain(Code::call("len", vec![value]), Kind::Int)
                }
                _ => {
                    let value = self.arg(args, 0, Kind::Text);
                    let helper = self.help(Helper::LengthOfText);
                    Value::plain(Code::call(helper, vec![value]), Kind::Int)
                }
            },
            Function::Length | Function::LengthOfMap => {
                let value = self.first(args);
                // A list of resources or outputs has a length, too.
                if !matches!(value.kind, Kind::List(_) | Kind::Map(_)) || value.form == Form::Output
                {
                    return self.refuse("the length of such a value");
                }
                Value::plain(Code::call("len", vec![value.code]), Kind::Int)
            }
            Function::SingleOrNone => {
                let list = self.first(args);
                let (Kind::List(element), true) = (&list.kind, list.is_plain()) else {
                    return self.refuse("`singleOrNone` of such a value");
                };
                let kind = Kind::Pointer(element.clone());
                let helper = self.help(Helper::SingleOrNone);
                let call = Code::call(helper, vec![list.code]);
                Value::plain(self.attempt("single", call), kind)
            }
            Function::StringAsset => self.asset("pulumi.NewStringAsset", args, Kind::Asset),
            Function::FileAsset => self.asset("pulumi.NewFileAsset", args, Kind::Asset),
            Function::RemoteAsset => self.asset("pulumi.NewRemoteAsset", args, Kind::Asset),
            Function::FileArchive => self.asset("pulumi.NewFileArchive", args, Kind::Archive),
            Function::RemoteArchive => self.asset("pulumi.NewRemoteArchive", args, Kind::Archive),
            Function::AssetArchive => {
                let entries = self.arg(args, 0, Kind::Map(Box::new(Kind::Any)));
                let call = Code::call("pulumi.NewAssetArchive", vec![entries]);
                Value::plain(call, Kind::Archive)
            }
            Function::Element => self.element(args),
            Function::EntriesOfList | Function::EntriesOfMap => {
                self.entries(args, function == Function::EntriesOfMap)
            }
            Function::Lookup | Function::LookupInObject => self.lookup(args),
            Function::Range => self.numbers(args),
            Function::Max => self.extreme("max", args),
            Function::Min => self.extreme("min", args),
            Function::Project => text(Code::call("ctx.Project", Vec::new())),
            Function::Stack => text(Code::call("ctx.Stack", Vec::new())),
            Function::Organization => text(Code::call("ctx.Organization", Vec::new())),
            Function::RootDirectory => text(Code::call("ctx.RootDirectory", Vec::new())),
            Function::Cwd => {
                self.import("os");
                let call = Code::call("os.Getwd", Vec::new());
                text(self.attempt("folder", call))
            }
            Function::GetOutput => {
                let stack = self.first(args).code;
                let name = match args.get(1) {
                    Some(name) => self.expression(name, &Want::Input(Kind::Text)),
                    None => Code::word("nil"),
                };
                Value::output(stack.method("GetOutput", vec![name]), Kind::Any)
            }
            Function::Try => self.first_possible(args),
            Function::Can => self.is_possible(args),
            Function::Recover => self.refuse("`recover`"),
            Function::NotImplemented => {
                let message = self.arg(args, 0, Kind::Text);
                let helper = self.help(Helper::NotImplemented);
                Value::plain(Code::call(helper, vec![message]), Kind::Any)
            }
            Function::ResourceName => self.of_resource("PulumiResourceName", args),
            Function::ResourceType => self.of_resource("PulumiResourceType", args),
        }
    }

    /// Text that a resource knows of itself.
    fn of_resource(&mut self, method: &str, args: &[Tree]) -> Value {
        let resource = match args.first() {
            Some(arg) => self.any(arg),
            None => return self.refuse("a call without an argument"),
        };
        if !matches!(resource.kind, Kind::Resource(..) | Kind::Component(..)) {
            return self.refuse("the name of such a value");
        }
        Value::plain(resource.code.method(method, Vec::new()), Kind::Text)
    }

    fn arg(&mut self, args: &[Tree], at: usize, kind: Kind) -> Code {
        match args.get(at) {
            Some(arg) => self.plain(arg, kind),
            None => self.refuse("a call without an argument").code,
        }
    }

    fn first(&mut self, args: &[Tree]) -> Value {
        match args.first() {
            Some(arg) => self.any(arg),
            None => self.refuse("a call without arguments"),
        }
    }

    fn base64(&mut self, bytes: Code) -> Code {
        self.import("encoding/base64");
        Code::call("base64.StdEncoding.EncodeToString", vec![bytes])
    }

    /// Bytes of a file.
    fn content(&mut self, args: &[Tree]) -> Code {
        let path = self.arg(args, 0, Kind::Text);
        self.import("os");
        self.attempt("content", Code::call("os.ReadFile", vec![path]))
    }

    fn asset(&mut self, function: &str, args: &[Tree], kind: Kind) -> Value {
        let path = self.arg(args, 0, Kind::Text);
        Value::plain(Code::call(function, vec![path]), kind)
    }

    fn json(&mut self, args: &[Tree], has_outputs: bool) -> Value {
        let Some(arg) = args.first() else {
            return self.refuse("`toJSON` without an argument");
        };
        if has_outputs {
            let value = self.expression(arg, &Want::Input(Kind::Any));
            let call = Code::call("pulumi.JSONMarshal", vec![value]);
            return Value::output(call, Kind::Text);
        }
        let value = self.any(arg);
        if !value.is_plain() || matches!(value.kind, Kind::Object(..) | Kind::Result(_)) {
            return self.refuse("`toJSON` of such a value");
        }
        self.import("encoding/json");
        let call = Code::call("json.Marshal", vec![value.code]);
        let json = self.attempt("encoded", call);
        Value::plain(Code::call("string", vec![json]), Kind::Text)
    }

    fn secrecy(&mut self, function: Function, args: &[Tree]) -> Value {
        let value = self.first(args);
        let kind = match value.kind.clone() {
            Kind::Id => Kind::Text,
            Kind::Enum(_, _, underlying) => *underlying,
            Kind::Pointer(inner) if value.is_plain() => *inner,
            kind => kind,
        };
        let Some(output) = Self::core_output(&kind) else {
            return self.refuse("the secrecy of such a value");
        };
        let value = if function == Function::Unsecret {
            self.as_output(value)
        } else {
            self.converted(value, &Want::Input(kind.clone()))
        };
        let name = if function == Function::Unsecret {
            "pulumi.Unsecret"
        } else {
            "pulumi.ToSecret"
        };
        // An identifier stays one.
        let (output, kind) = match &value.kind {
            Kind::Id => ("pulumi.IDOutput".to_owned(), Kind::Id),
            _ => (output, kind),
        };
        let code = Code::call(name, vec![value.code]).asserted(&output);
        Value::output(code, kind)
    }

    fn element(&mut self, args: &[Tree]) -> Value {
        let list = self.first(args);
        let index = self.arg(args, 1, Kind::Int);
        match (list.kind.clone(), list.is_plain()) {
            (Kind::List(element), true) => {
                // The compiler refuses an index of a literal beyond its end.
                Value::plain(list.code.at(index), *element)
            }
            _ => self.refuse("an element of such a value"),
        }
    }

    fn entries(&mut self, args: &[Tree], is_map: bool) -> Value {
        let collection = self.first(args);
        let is_fit = match &collection.kind {
            Kind::List(_) => !is_map,
            Kind::Map(_) => is_map,
            _ => false,
        };
        if !is_fit || !collection.is_plain() {
            return self.refuse("`entries` of such a value");
        }
        let collection = self.as_word("items", collection.code);
        let name = self.fresh("entries");
        let kind = Kind::Map(Box::new(Kind::Any));
        let ty = self.plain_type(&kind);
        self.line(format!("{name} := []{ty}{{}}"), None);
        let entry = ["key", "value"].map(|key| (Code::word(format!("\"{key}\"")), Code::word(key)));
        let entry = Code::keyed(ty, entry.into(), false);
        let append = Code::call("append", vec![Code::word(name.clone()), entry]);
        let body = vec![Statement::Simple(format!("{name} = "), Some(append))];
        self.iterate(&collection, ["key", "value"], [true, true], is_map, body);
        Value::plain(Code::word(name), kind.list())
    }

    fn lookup(&mut self, args: &[Tree]) -> Value {
        let map = self.first(args);
        let (Kind::Map(element), true) = (map.kind.clone(), map.is_plain()) else {
            return self.refuse("`lookup` in such a value");
        };
        let key = self.arg(args, 1, Kind::Text);
        let Some(fallback) = args.get(2) else {
            return Value::plain(map.code.at(key), *element);
        };
        let fallback = self.plain(fallback, (*element).clone());
        let helper = self.help(Helper::Lookup);
        let code = Code::call(helper, vec![map.code, key, fallback]);
        Value::plain(code, *element)
    }

    /// The list of `range`.
    fn numbers(&mut self, args: &[Tree]) -> Value {
        let (from, to) = match args {
            [to] => (Code::word("0"), self.plain(to, Kind::Int)),
            [from, to] => (self.plain(from, Kind::Int), self.plain(to, Kind::Int)),
            _ => return self.refuse("`range` with such arguments"),
        };
        let name = self.fresh("numbers");
        self.line(format!("{name} := []int{{}}"), None);
        let append = Code::call(
            "append",
            vec![Code::word(name.clone()), Code::word("number")],
        );
        let body = vec![Statement::Simple(format!("{name} = "), Some(append))];
        let from = self.as_word("first", from);
        let Code::Word(from) = from else {
            return self.refuse("`range` with such arguments");
        };
        let condition = Code::binary(Code::word("number"), "<", to);
        self.emit(Statement::Block {
            head: format!("for number := {from}; "),
            condition: Some(condition),
            tail: "; number++",
            body,
            otherwise: None,
        });
        Value::plain(Code::word(name), Kind::Int.list())
    }

    fn extreme(&mut self, function: &str, args: &[Tree]) -> Value {
        let values: Vec<Value> = args.iter().map(|arg| self.any(arg)).collect();
        let is_fit = |it: &Value| it.is_plain() && it.kind.is_number();
        if values.is_empty() || !values.iter().all(is_fit) {
            return self.refuse(&format!("`{function}` of such values"));
        }
        let kinds = values.iter().map(|it| it.kind.clone());
        let kind = kinds.reduce(|a, b| a.or(&b)).unwrap_or(Kind::Int);
        let want = Want::Plain(kind.clone());
        let codes = values.into_iter().map(|it| self.converted(it, &want).code);
        let codes = codes.collect();
        Value::plain(Code::call(function, codes), kind)
    }
}
