//! Functions of PCL in TypeScript.

use super::expression::{Level, Printer, around, call};
use super::helpers::Helper;
use crate::layout::Doc;
use crate::tree::{Function, Tree};

impl Printer<'_> {
    pub(super) fn call(&mut self, function: Function, args: &[Tree]) -> (Doc, Level) {
        let atom = |doc: Doc| (doc, Level::Atom);
        match function {
            Function::Join => {
                let (separator, items) = (
                    self.arg(args, 0, Level::Loose),
                    self.arg(args, 1, Level::Atom),
                );
                atom(Doc::Row(vec![items, Doc::hugged(".join(", separator, ")")]))
            }
            Function::Split => {
                let (separator, text) = (
                    self.arg(args, 0, Level::Loose),
                    self.arg(args, 1, Level::Atom),
                );
                atom(Doc::Row(vec![text, Doc::hugged(".split(", separator, ")")]))
            }
            Function::ToJson { has_outputs } => {
                let outer = std::mem::replace(&mut self.is_json, true);
                let name = if has_outputs {
                    "pulumi.jsonStringify"
                } else {
                    "JSON.stringify"
                };
                let call = self.plain_call(name, args);
                self.is_json = outer;
                atom(call)
            }
            Function::ToBase64 => {
                let text = self.arg(args, 0, Level::Loose);
                atom(around("Buffer.from(", text, ").toString(\"base64\")"))
            }
            Function::FromBase64 => {
                let text = self.arg(args, 0, Level::Loose);
                atom(around(
                    "Buffer.from(",
                    text,
                    ", \"base64\").toString(\"utf8\")",
                ))
            }
            Function::Secret => atom(self.plain_call("pulumi.secret", args)),
            Function::Unsecret => atom(self.plain_call("pulumi.unsecret", args)),
            Function::ReadFile => {
                self.modules.insert("fs");
                let path = self.arg(args, 0, Level::Loose);
                atom(around("fs.readFileSync(", path, ", \"utf8\")"))
            }
            Function::FileBase64 => {
                self.modules.insert("fs");
                let path = self.arg(args, 0, Level::Loose);
                atom(around("fs.readFileSync(", path, ", \"base64\")"))
            }
            Function::FileBase64Sha256 => {
                self.modules.extend(["fs", "crypto"]);
                let path = self.arg(args, 0, Level::Loose);
                let open = "crypto.createHash(\"sha256\").update(fs.readFileSync(";
                atom(around(open, path, ")).digest(\"base64\")"))
            }
            Function::Sha1 => {
                self.modules.insert("crypto");
                let text = self.arg(args, 0, Level::Loose);
                atom(around(
                    "crypto.createHash(\"sha1\").update(",
                    text,
                    ").digest(\"hex\")",
                ))
            }
            Function::Length => {
                let list = self.arg(args, 0, Level::Atom);
                atom(around("", list, ".length"))
            }
            Function::LengthOfMap => {
                let map = self.arg(args, 0, Level::Loose);
                atom(around("Object.keys(", map, ").length"))
            }
            Function::LengthOfText => {
                let text = self.arg(args, 0, Level::Loose);
                atom(around(
                    "[...new Intl.Segmenter().segment(",
                    text,
                    ")].length",
                ))
            }
            Function::SingleOrNone => atom(self.helper(Helper::SingleOrNone, args)),
            Function::StringAsset => atom(self.plain_call("new pulumi.asset.StringAsset", args)),
            Function::FileAsset => atom(self.plain_call("new pulumi.asset.FileAsset", args)),
            Function::RemoteAsset => atom(self.plain_call("new pulumi.asset.RemoteAsset", args)),
            Function::FileArchive => atom(self.plain_call("new pulumi.asset.FileArchive", args)),
            Function::RemoteArchive => {
                atom(self.plain_call("new pulumi.asset.RemoteArchive", args))
            }
            Function::AssetArchive => atom(self.plain_call("new pulumi.asset.AssetArchive", args)),
            Function::ResourceName => atom(self.plain_call("pulumi.resourceName", args)),
            Function::ResourceType => atom(self.plain_call("pulumi.resourceType", args)),
            Function::Element => {
                let (list, index) = (
                    self.arg(args, 0, Level::Atom),
                    self.arg(args, 1, Level::Loose),
                );
                atom(Doc::Row(vec![list, Doc::hugged("[", index, "]")]))
            }
            Function::EntriesOfList => {
                let list = self.arg(args, 0, Level::Atom);
                atom(around("", list, ".map((value, key) => ({ key, value }))"))
            }
            Function::EntriesOfMap => {
                let map = self.arg(args, 0, Level::Loose);
                let close = ").sort().map(([key, value]) => ({ key, value }))";
                atom(around("Object.entries(", map, close))
            }
            Function::Lookup | Function::LookupInObject => {
                let (map, key) = (
                    self.arg(args, 0, Level::Atom),
                    self.arg(args, 1, Level::Loose),
                );
                let map = if function == Function::LookupInObject {
                    Doc::hugged("(", map, " as Record<string, any>)")
                } else {
                    map
                };
                let mut row = vec![map, Doc::hugged("[", key, "]")];
                if args.len() < 3 {
                    return atom(Doc::Row(row));
                }
                row.push(Doc::text(" ?? "));
                row.push(self.arg(args, 2, Level::Add));
                (Doc::Row(row), Level::Coalesce)
            }
            Function::Range => {
                let first = self.arg(args, 0, Level::Multiply);
                if args.len() < 2 {
                    return atom(around("Array.from({ length: ", first, " }, (_, i) => i)"));
                }
                let last = self.arg(args, 1, Level::Add);
                atom(Doc::Row(vec![
                    Doc::text("Array.from({ length: "),
                    last,
                    Doc::text(" - "),
                    first.clone(),
                    Doc::text(" }, (_, i) => i + "),
                    first,
                    Doc::text(")"),
                ]))
            }
            Function::Max => atom(self.plain_call("Math.max", args)),
            Function::Min => atom(self.plain_call("Math.min", args)),
            Function::Project => atom(Doc::text("pulumi.getProject()")),
            Function::Stack => atom(Doc::text("pulumi.getStack()")),
            Function::Organization => atom(Doc::text("pulumi.getOrganization()")),
            Function::RootDirectory => atom(Doc::text("pulumi.getRootDirectory()")),
            Function::Cwd => atom(Doc::text("process.cwd()")),
            Function::Try => atom(self.lazy_helper(Helper::Try, args)),
            Function::Can => atom(self.lazy_helper(Helper::Can, args)),
            Function::NotImplemented => atom(self.helper(Helper::NotImplemented, args)),
            Function::GetOutput => {
                let stack = self.arg(args, 0, Level::Atom);
                let name = self.arg(args, 1, Level::Loose);
                atom(Doc::Row(vec![stack, Doc::hugged(".getOutput(", name, ")")]))
            }
            Function::Recover => {
                let output = self.arg(args, 0, Level::Loose);
                let value = self.arg(args, 1, Level::Loose);
                atom(Doc::Row(vec![
                    Doc::text("pulumi.recover("),
                    output,
                    Doc::text(", (error) => "),
                    value,
                    Doc::text(")"),
                ]))
            }
        }
    }

    fn arg(&mut self, args: &[Tree], at: usize, level: Level) -> Doc {
        match args.get(at) {
            Some(arg) => self.at(arg, level),
            None => Doc::text("undefined"),
        }
    }

    fn plain_call(&mut self, name: &str, args: &[Tree]) -> Doc {
        let args = args.iter().map(|arg| self.value(arg)).collect();
        call(name, args)
    }

    fn helper(&mut self, helper: Helper, args: &[Tree]) -> Doc {
        self.helpers.insert(helper);
        self.plain_call(helper.name(), args)
    }

    /// Call of a helper whose arguments are evaluated lazily.
    fn lazy_helper(&mut self, helper: Helper, args: &[Tree]) -> Doc {
        self.helpers.insert(helper);
        let args = args.iter().map(|arg| {
            let arg = self.body(arg);
            Doc::Row(vec![Doc::text("() => "), arg])
        });
        let args = args.collect();
        call(helper.name(), args)
    }
}
