//! Lowering of function calls.

use ecow::EcoString;
use plumb_eval::builtins::Function as Computed;
use plumb_pcl::{Callee, Expr, ExprKind, Invoke, MethodCall, PackageFunction, Type};

use super::{Lowering, Target, length_of};
use crate::tree::{Function, InvokeTree, MethodTree, Tree};

impl Lowering<'_> {
    /// Whether a call needs the values of outputs in its arguments.
    pub(super) fn call_observes(&mut self, callee: Callee, args: &[Expr]) -> bool {
        match callee {
            Callee::Compute(_, Computed::ToJson) if self.dialect.has_plain_json => {
                args.iter().any(|arg| self.flow(arg).has_outputs())
            }
            Callee::GetOutput
            | Callee::Recover
            | Callee::Compute(
                _,
                Computed::Secret
                | Computed::Unsecret
                | Computed::ToJson
                | Computed::AssetArchive
                | Computed::ResourceName
                | Computed::ResourceType,
            ) => false,
            Callee::Element | Callee::Lookup => {
                args.iter().take(2).any(|arg| self.flow(arg).is_later())
            }
            Callee::Entries | Callee::Compute(_, Computed::Length | Computed::SingleOrNone) => {
                args.iter().any(|arg| self.flow(arg).is_later())
            }
            _ => args.iter().any(|arg| self.flow(arg).has_outputs()),
        }
    }

    pub(super) fn call(&mut self, callee: Callee, args: &[Expr]) -> Tree {
        let first = args.first();
        let first_type = first.map_or(Type::Dynamic, |it| it.ty.without_none());
        let in_callback = self.callback.is_some();
        let any_output = !in_callback && args.iter().any(|arg| self.flow(arg).has_outputs());
        let function = match callee {
            Callee::Compute(_, function) => match function {
                Computed::Join => Function::Join,
                Computed::Split => Function::Split,
                Computed::ToJson => Function::ToJson {
                    has_outputs: any_output,
                },
                Computed::ToBase64 => Function::ToBase64,
                Computed::FromBase64 => Function::FromBase64,
                Computed::Secret => Function::Secret,
                Computed::Unsecret => Function::Unsecret,
                Computed::ReadFile => Function::ReadFile,
                Computed::FileBase64 => Function::FileBase64,
                Computed::FileBase64Sha256 => Function::FileBase64Sha256,
                Computed::Sha1 => Function::Sha1,
                Computed::Length => length_of(&first_type),
                Computed::SingleOrNone => Function::SingleOrNone,
                Computed::StringAsset => Function::StringAsset,
                Computed::FileAsset => Function::FileAsset,
                Computed::RemoteAsset => Function::RemoteAsset,
                Computed::FileArchive => Function::FileArchive,
                Computed::RemoteArchive => Function::RemoteArchive,
                Computed::AssetArchive => Function::AssetArchive,
                Computed::ResourceName => Function::ResourceName,
                Computed::ResourceType => Function::ResourceType,
                Computed::Select => Function::Element,
            },
            Callee::Element => Function::Element,
            Callee::Entries => match first_type.expand() {
                Type::List(_) | Type::Tuple(_) => Function::EntriesOfList,
                _ => Function::EntriesOfMap,
            },
            Callee::Lookup => match first_type.expand() {
                Type::Object(_) => Function::LookupInObject,
                _ => Function::Lookup,
            },
            Callee::Range => Function::Range,
            Callee::Max => Function::Max,
            Callee::Min => Function::Min,
            Callee::Project => Function::Project,
            Callee::Stack => Function::Stack,
            Callee::Organization => Function::Organization,
            Callee::Cwd => Function::Cwd,
            Callee::RootDirectory => Function::RootDirectory,
            Callee::Try => Function::Try,
            Callee::Can => Function::Can,
            Callee::NotImplemented => Function::NotImplemented,
            Callee::GetOutput => Function::GetOutput,
            Callee::Recover => Function::Recover,
        };
        let args = match function {
            // Steps that may fail must be inside the expression that catches the failure.
            Function::Try | Function::Can => {
                let outer = std::mem::replace(&mut self.is_trying, true);
                let args = args.iter().map(|arg| self.to(arg, &Target::Any)).collect();
                self.is_trying = outer;
                args
            }
            _ => self.arguments(function, args),
        };
        Tree::Call(function, args)
    }

    fn arguments(&mut self, function: Function, args: &[Expr]) -> Vec<Tree> {
        let text = matches!(
            function,
            Function::Split
                | Function::ToBase64
                | Function::FromBase64
                | Function::ReadFile
                | Function::FileBase64
                | Function::FileBase64Sha256
                | Function::Sha1
                | Function::StringAsset
                | Function::FileAsset
                | Function::RemoteAsset
                | Function::FileArchive
                | Function::RemoteArchive
        );
        args.iter()
            .map(|arg| {
                let target = if text { Target::Text } else { Target::Any };
                let flow = self.flow(arg);
                // A conversion would have to wait for the output.
                if flow.is_later() && self.callback.is_none() {
                    self.to(arg, &Target::Any)
                } else {
                    self.to(arg, &target)
                }
            })
            .collect()
    }

    pub(super) fn invoke(&mut self, invoke: &Invoke) -> Tree {
        let mut variables = std::mem::take(&mut self.variables);
        let is_output = self.flows.is_output_invoke(invoke, &mut variables);
        self.variables = variables;
        let args = self.named_args(invoke.args.as_ref(), invoke.function.as_ref());
        let function = invoke.function.as_ref();
        let positional = function.map_or_else(Vec::new, |it| {
            let names = it.schema.positional_inputs.iter();
            names.map(|name| EcoString::from(name.as_str())).collect()
        });
        let option =
            |lowering: &mut Self, expr: &Option<Expr>| expr.as_ref().map(|expr| lowering.any(expr));
        // Calls in a component use the providers of the component, because resources in it do.
        let parent = match &invoke.parent {
            Some(parent) => Some(self.any(parent)),
            None => self.flows.is_component().then_some(Tree::OwnComponent),
        };
        Tree::Invoke(Box::new(InvokeTree {
            package: function.map(|it| it.package.clone()),
            token: invoke.token.clone(),
            positional,
            has_inputs: function.is_none_or(|it| it.schema.inputs.is_some()),
            args,
            is_output,
            provider: option(self, &invoke.provider),
            parent,
            depends_on: invoke.depends_on.as_ref().map(|it| self.resources(it)),
            version: invoke.version.clone(),
            download_url: invoke.download_url.clone(),
        }))
    }

    pub(super) fn method(&mut self, call: &MethodCall) -> Tree {
        let receiver = self.any(&call.receiver);
        let args = self.named_args(call.args.as_ref(), call.function.as_ref());
        Tree::Method(Box::new(MethodTree {
            receiver,
            function: call.function.clone(),
            method: call.method.clone(),
            args,
        }))
    }

    fn named_args(
        &mut self,
        args: Option<&Expr>,
        function: Option<&PackageFunction>,
    ) -> Vec<(EcoString, Tree)> {
        let Some(ExprKind::Object(entries)) = args.map(|args| &args.kind) else {
            return Vec::new();
        };
        let inputs = function.and_then(|it| Some((&it.package, it.schema.inputs.as_ref()?)));
        let mut named = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let ExprKind::String(name) = &key.kind else {
                continue;
            };
            let property = inputs.and_then(|(package, inputs)| {
                let property = inputs.properties.get(name.as_str())?;
                Some(Type::of_property(package, property))
            });
            let value = self.value(value, &property.unwrap_or(Type::Dynamic));
            named.push((name.clone(), value));
        }
        named
    }
}
