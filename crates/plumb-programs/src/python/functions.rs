//! Functions of PCL in Python.

use super::expression::{Level, Printer, Written, around};
use super::helpers::Helper;
use crate::layout::Doc;
use crate::tree::{Function, Tree};

impl Printer<'_> {
    pub(super) fn call(&mut self, function: Function, args: &[Tree]) -> (Doc, Level) {
        let atom = |doc: Doc| (doc, Level::Atom);
        let first = args.first();
        match function {
            Function::Join => {
                let (separator, items) = (
                    self.arg(args, 0, Level::Atom),
                    self.arg(args, 1, Level::Lambda),
                );
                atom(Doc::Row(vec![separator, Doc::hugged(".join(", items, ")")]))
            }
            Function::Split => {
                let (separator, text) = (
                    self.arg(args, 0, Level::Lambda),
                    self.arg(args, 1, Level::Atom),
                );
                atom(Doc::Row(vec![text, Doc::hugged(".split(", separator, ")")]))
            }
            Function::ToJson { has_outputs: true } => {
                atom(self.plain_call("pulumi.Output.json_dumps(", args))
            }
            Function::ToJson { has_outputs: false } => {
                self.needs("json");
                atom(self.plain_call("json.dumps(", args))
            }
            Function::ToBase64 => {
                self.needs("base64");
                let text = self.arg(args, 0, Level::Atom);
                atom(around("base64.b64encode(", text, ".encode()).decode()"))
            }
            Function::FromBase64 => {
                self.needs("base64");
                let text = self.arg(args, 0, Level::Lambda);
                atom(around("base64.b64decode(", text, ").decode()"))
            }
            Function::Secret => atom(self.plain_call("pulumi.Output.secret(", args)),
            Function::Unsecret => atom(self.plain_call("pulumi.Output.unsecret(", args)),
            Function::ReadFile => {
                self.needs("pathlib");
                let path = self.arg(args, 0, Level::Lambda);
                atom(around("pathlib.Path(", path, ").read_text()"))
            }
            Function::FileBase64 => {
                self.needs("base64");
                self.needs("pathlib");
                let path = self.arg(args, 0, Level::Lambda);
                atom(around(
                    "base64.b64encode(pathlib.Path(",
                    path,
                    ").read_bytes()).decode()",
                ))
            }
            Function::FileBase64Sha256 => {
                for module in ["base64", "hashlib", "pathlib"] {
                    self.needs(module);
                }
                let path = self.arg(args, 0, Level::Lambda);
                let open = "base64.b64encode(hashlib.sha256(pathlib.Path(";
                atom(around(open, path, ").read_bytes()).digest()).decode()"))
            }
            Function::Sha1 => {
                self.needs("hashlib");
                let text = self.arg(args, 0, Level::Atom);
                atom(around("hashlib.sha1(", text, ".encode()).hexdigest()"))
            }
            Function::LengthOfText if !matches!(first, Some(Tree::Text(text)) if text.is_ascii()) =>
            {
                self.needs("unicodedata");
                atom(self.helper(Helper::LengthOfText, args))
            }
            Function::LengthOfText | Function::Length | Function::LengthOfMap => {
                atom(self.plain_call("len(", args))
            }
            Function::SingleOrNone => atom(self.helper(Helper::SingleOrNone, args)),
            Function::StringAsset => atom(self.plain_call("pulumi.StringAsset(", args)),
            Function::FileAsset => atom(self.plain_call("pulumi.FileAsset(", args)),
            Function::RemoteAsset => atom(self.plain_call("pulumi.RemoteAsset(", args)),
            Function::FileArchive => atom(self.plain_call("pulumi.FileArchive(", args)),
            Function::RemoteArchive => atom(self.plain_call("pulumi.RemoteArchive(", args)),
            Function::AssetArchive => atom(self.plain_call("pulumi.AssetArchive(", args)),
            Function::ResourceName => {
                let resource = self.arg(args, 0, Level::Atom);
                atom(around("", resource, ".pulumi_resource_name"))
            }
            Function::ResourceType => {
                let resource = self.arg(args, 0, Level::Atom);
                atom(around("", resource, ".pulumi_resource_type"))
            }
            Function::Element => {
                let (list, index) = (
                    self.arg(args, 0, Level::Atom),
                    self.arg(args, 1, Level::Lambda),
                );
                atom(Doc::Row(vec![list, Doc::hugged("[", index, "]")]))
            }
            Function::EntriesOfList => {
                let list = self.arg(args, 0, Level::Lambda);
                let open = "[{\"key\": k, \"value\": v} for k, v in enumerate(";
                atom(around(open, list, ")]"))
            }
            Function::EntriesOfMap => {
                let map = self.arg(args, 0, Level::Atom);
                let open = "[{\"key\": k, \"value\": v} for k, v in sorted(";
                atom(around(open, map, ".items())]"))
            }
            Function::Lookup | Function::LookupInObject => {
                let map = self.arg(args, 0, Level::Atom);
                let rest: Vec<Doc> = args.iter().skip(1).map(|arg| self.value(arg)).collect();
                atom(Doc::Row(vec![map, Doc::list(".get(", rest, ")")]))
            }
            Function::Range => {
                let range = self.plain_call("range(", args);
                atom(Doc::hugged("list(", range, ")"))
            }
            Function::Max => atom(self.plain_call("max(", args)),
            Function::Min => atom(self.plain_call("min(", args)),
            Function::Project => atom(Doc::text("pulumi.get_project()")),
            Function::Stack => atom(Doc::text("pulumi.get_stack()")),
            Function::Organization => atom(Doc::text("pulumi.get_organization()")),
            Function::RootDirectory => atom(Doc::text("pulumi.get_root_directory()")),
            Function::Cwd => {
                self.needs("os");
                atom(Doc::text("os.getcwd()"))
            }
            Function::Try => atom(self.lazy_helper(Helper::Try, args)),
            Function::Can => atom(self.lazy_helper(Helper::Can, args)),
            Function::NotImplemented => atom(self.helper(Helper::NotImplemented, args)),
            Function::GetOutput => {
                let stack = self.arg(args, 0, Level::Atom);
                let name = self.arg(args, 1, Level::Lambda);
                atom(Doc::Row(vec![
                    stack,
                    Doc::hugged(".get_output(", name, ")"),
                ]))
            }
            Function::Recover => {
                let output = first.map_or(Doc::text("None"), |it| self.at(it, Level::Atom));
                self.params
                    .push(("error".into(), Written::Plain("str(error)".to_owned())));
                let (value, captured) = self.callback(args.get(1).unwrap_or(&Tree::Null));
                self.params.pop();
                atom(Doc::Row(vec![
                    output,
                    Doc::text(format!(".recover(lambda error{captured}: ")),
                    value,
                    Doc::text(")"),
                ]))
            }
        }
    }

    fn arg(&mut self, args: &[Tree], at: usize, level: Level) -> Doc {
        match args.get(at) {
            Some(arg) => self.at(arg, level),
            None => Doc::text("None"),
        }
    }

    fn plain_call(&mut self, open: &str, args: &[Tree]) -> Doc {
        let args = args.iter().map(|arg| self.value(arg)).collect();
        Doc::list(open, args, ")")
    }

    fn helper(&mut self, helper: Helper, args: &[Tree]) -> Doc {
        self.helpers.insert(helper);
        self.plain_call(&format!("{}(", helper.name()), args)
    }

    /// Call of a helper whose arguments are evaluated lazily.
    fn lazy_helper(&mut self, helper: Helper, args: &[Tree]) -> Doc {
        self.helpers.insert(helper);
        let args = args.iter().map(|arg| {
            let arg = self.value(arg);
            Doc::Row(vec![Doc::text("lambda: "), arg])
        });
        let args = args.collect();
        Doc::list(&format!("{}(", helper.name()), args, ")")
    }
}
