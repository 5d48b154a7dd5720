//! Functions and methods.

use plumb_schema::bound::{Function, Object, Returns};

use super::args::{Args, Parameters};
use super::model::Sdk;
use super::text;
use crate::writer::Writer;

impl<'d> Sdk<'_, 'd> {
    /// Writes a function, or the types around a method.
    pub(super) fn write_function(&self, writer: &mut Writer, function: &Function<'d>) {
        let Some(position) = self
            .package
            .functions
            .iter()
            .position(|it| std::ptr::eq(it, function))
        else {
            return;
        };
        if function.overlay.is_overlay {
            return;
        }
        let names = &self.functions[position];
        if let Returns::Object(object) = &function.returns {
            let class = format!("{}Result", names.class);
            self.write_view(writer, &class, object.description, &object.properties);
        }
        let inputs = arguments(function);
        if let Some(inputs) = &inputs {
            let args = Args {
                class: format!("{}Args", names.class),
                doc: format!("Arguments of `{}`.", names.function),
                object: None,
            };
            self.write_args(writer, &args, &inputs.properties);
        }
        if function.is_method {
            return;
        }
        let result = self.result_text(position, function);
        let (generics, parameter, argument) = self.signature(position, inputs.as_ref());
        let name = &names.function;
        let token = text::literal(function.token);
        let args = if argument.is_empty() {
            "::plumb::Inputs::new()"
        } else {
            argument
        };
        text::doc(
            writer,
            function.description,
            "Calls a function of the provider.",
        );
        text::deprecated(writer, function.deprecation);
        writer.line(&["#[track_caller]"]);
        let open = format!(
            "pub fn {name}{generics}(ctx: &::plumb::Ctx{parameter}) -> ::plumb::Output<{result}> {{"
        );
        let passed = if argument.is_empty() { "" } else { "args, " };
        let call = format!("{name}_with(ctx, {passed}::plumb::InvokeOptions::new())");
        writer.block(&[&open], "}", |writer| writer.line(&[&call]));
        writer.blank();
        writer.line(&["/// Calls the function with options."]);
        text::deprecated(writer, function.deprecation);
        writer.line(&["#[track_caller]"]);
        let open = format!(
            "pub fn {name}_with{generics}(ctx: &::plumb::Ctx{parameter}, options: ::plumb::InvokeOptions) -> ::plumb::Output<{result}> {{"
        );
        writer.block(&[&open], "}", |writer| {
            writer.line(&["let options = crate::invoke_options().merge(options);"]);
            let single = single(function);
            writer.line(&["ctx.invoke_with(", &token, ", ", args, ", options)", single]);
        });
        writer.blank();
        writer.line(&["/// Calls the function with plain values and waits for the answer."]);
        text::deprecated(writer, function.deprecation);
        writer.line(&["#[track_caller]"]);
        let open = format!(
            "pub fn {name}_plain{generics}(ctx: &::plumb::Ctx{parameter}) -> impl ::std::future::Future<Output = ::plumb::Result<{result}>> + Send + use<{}> {{",
            Self::captured(inputs.as_ref())
        );
        writer.block(&[&open], "}", |writer| {
            let is_single = !single(function).is_empty();
            let [start, ty] = if is_single {
                ["let answer = ", "::<::plumb::generated::Single<_>, _>"]
            } else {
                ["", ""]
            };
            let end = if is_single { ");" } else { ")" };
            writer.line(&[
                start,
                "ctx.invoke_plain",
                ty,
                "(",
                &token,
                ", ",
                args,
                ", crate::invoke_options()",
                end,
            ]);
            if is_single {
                writer.line(&["async move { answer.await.map(|it| it.0) }"]);
            }
        });
        writer.blank();
    }

    /// Type parameters that the plain form must name, although its answer does not use them.
    fn captured(inputs: Option<&Object<'d>>) -> String {
        let parameters = inputs.map(|it| Parameters::of(&it.properties).used());
        let parameters = parameters.unwrap_or_default();
        parameters
            .trim_start_matches('<')
            .trim_end_matches('>')
            .to_owned()
    }

    /// Type parameters, the parameter for the arguments, and the expression for them.
    fn signature(
        &self,
        position: usize,
        inputs: Option<&Object<'d>>,
    ) -> (String, String, &'static str) {
        let Some(inputs) = inputs else {
            return (String::new(), String::new(), "");
        };
        let parameters = Parameters::of(&inputs.properties);
        let class = self.function_path(position, "Args");
        let parameter = format!(", args: {class}{}", parameters.used());
        (parameters.bounded(), parameter, "args")
    }

    fn result_text(&self, position: usize, function: &Function<'d>) -> String {
        match &function.returns {
            Returns::Nothing => "()".to_owned(),
            Returns::Object(_) => self.function_path(position, "Result"),
            Returns::Value(ty) => self.type_text(ty),
        }
    }

    /// Writes a method of a resource.
    pub(super) fn write_method(&self, writer: &mut Writer, position: usize, name: &str) {
        let function = &self.package.functions[position];
        let inputs = arguments(function);
        let (generics, parameter, argument) = self.signature(position, inputs.as_ref());
        let result = self.result_text(position, function);
        text::doc(
            writer,
            function.description,
            "Calls a method of the resource.",
        );
        text::deprecated(writer, function.deprecation);
        writer.line(&["#[track_caller]"]);
        let open =
            format!("pub fn {name}{generics}(&self{parameter}) -> ::plumb::Output<{result}> {{");
        let args = if argument.is_empty() {
            "::plumb::Inputs::new()"
        } else {
            argument
        };
        let token = text::literal(function.token);
        writer.block(&[&open], "}", |writer| {
            let single = single(function);
            writer.line(&["self.0.call(", &token, ", ", args, ")", single]);
        });
    }
}

/// Call that reads the only member of an answer, for a function that returns no object.
fn single(function: &Function<'_>) -> &'static str {
    match function.returns {
        Returns::Value(_) => ".single()",
        Returns::Nothing | Returns::Object(_) => "",
    }
}

/// The arguments that the program gives: a method gets its resource from elsewhere.
fn arguments<'d>(function: &Function<'d>) -> Option<Object<'d>> {
    let mut inputs = function.inputs.clone()?;
    inputs.properties.retain(|it| it.name != "__self__");
    (!inputs.properties.is_empty()).then_some(inputs)
}
