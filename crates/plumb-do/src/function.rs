//! Calls of functions.

use std::sync::Arc;

use plumb_operate::json::{Indent, pretty};
use plumb_operate::{Context, Error};
use plumb_resource::TypeToken;
use plumb_resource::provider::InvokeRequest;
use plumb_schema::{Function, Properties};

use super::ask::Asked;
use super::inputs::{Completeness, Format, Source, evaluate};
use super::package::Package;
use super::shape::Side;
use super::{Settings, outcome, provider};

/// Calls a function and prints its result as JSON.
pub(super) fn run(
    package: &mut Package,
    function: &Function,
    asked: &Asked,
    settings: Settings,
    ctx: &Context,
) -> Result<(), Error> {
    let source = Source {
        side: Side::Input,
        package: package.schema.name(),
        file: asked.input_file.as_deref(),
        format: Format::named(asked.format.as_deref())?,
        given: &asked.inputs,
    };
    let body = source.body(ctx)?;
    let none = Properties::default();
    let inputs = function.inputs.as_ref().map_or(&none, |it| &it.properties);
    source.check_complete(&body, inputs)?;
    let (schema, info) = (
        package.schema.clone(),
        package.standalone_host.info().clone(),
    );
    // Before the provider starts, so that errors in the inputs are reported immediately.
    let args = package.standalone_host.run(async {
        let whole = Completeness::Whole;
        evaluate(&body, Side::Input, &schema, inputs, whole, &info).await
    })?;
    package.standalone_host.secrets().learn(&args);
    let provider = provider::configured(package, asked, ctx)?;
    let request = InvokeRequest {
        token: TypeToken::new(function.token.as_str()),
        args: Arc::new(args),
        preview: settings.dry_run,
    };
    let answer = package
        .standalone_host
        .run(async { provider.invoke(request).await.map_err(provider::failed) })?;
    provider::invalid("function inputs", &answer.failures)?;
    let result = outcome::result(&package.schema, &answer.result, &function.returns)?;
    let json = outcome::json(&result, settings.secrets);
    ctx.printer.data(&pretty(&json, Indent::Two));
    Ok(())
}
