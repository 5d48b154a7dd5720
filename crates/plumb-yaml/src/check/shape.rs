//! Checks of declarations that need no schema.

use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::syntax::program::{ResourceDecl, Syntax};

/// Errors in the declarations of `syntax`.
pub(crate) fn shape(syntax: &Syntax, graph: &Graph) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for resource in &syntax.resources {
        if resource.type_token.is_empty() {
            let summary = format!(
                "Required field 'type' is missing on resource {:?}",
                resource.key.text.as_str()
            );
            problems.push(Diagnostic::error(resource.span, summary));
        }
    }
    for resource in &syntax.resources {
        if let Some((_, span)) = resource.default_provider
            && !resource.type_token.starts_with("pulumi:providers:")
        {
            let summary = "cannot set defaultProvider on non-provider resource";
            problems.push(Diagnostic::error(span, summary));
        }
    }
    for resource in &syntax.resources {
        problems.extend(against_default(syntax, graph, resource));
    }
    problems
}

/// Errors for options of a resource that contradict its default provider.
fn against_default(syntax: &Syntax, graph: &Graph, resource: &ResourceDecl) -> Vec<Diagnostic> {
    let own = resource.options();
    let is_provider = resource.type_token.starts_with("pulumi:providers:");
    let default = graph.default_provider(resource.package());
    let Some(default) = default.filter(|_| !is_provider && own.provider.is_none()) else {
        return Vec::new();
    };
    let default = syntax.resources[default].options();
    let key = &resource.key;
    let conflict = |summary: &str| {
        let detail = format!("Try removing this option on resource \"{}\"", key.text);
        Diagnostic::error(key.span, summary).with_detail(detail)
    };
    let mut problems = Vec::new();
    if let (Some((own, _)), Some((version, _))) = (&own.version, &default.version)
        && own != version
    {
        problems.push(conflict(
            "Version conflicts with the default provider version",
        ));
    }
    if let (Some(own), Some(url)) = (&own.download_url, &default.download_url)
        && own != url
    {
        problems.push(conflict(
            "PluginDownloadURL conflicts with the default provider URL",
        ));
    }
    problems
}
