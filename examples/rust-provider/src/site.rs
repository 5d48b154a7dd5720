//! A component of files.

use plumb::prelude::*;
use plumb_provider::{Described, Properties};

#[derive(Clone, Debug, ComponentArgs, Properties)]
pub struct SiteArgs {
    /// The heading of each page.
    heading: Input<String>,
    /// Names of the pages: these have to be known when the site is made.
    pages: Vec<String>,
}

/// Pages with one heading, and a list of them.
#[derive(Clone, Component, Described)]
#[component(token = "files:index:Site")]
pub struct Site {
    /// The path of the list.
    index: Output<String>,
    /// How many bytes the pages have together.
    size: Output<i64>,
}

impl BuildComponent for Site {
    type Args = SiteArgs;

    fn build(cx: &Ctx, args: SiteArgs) -> plumb::Result<Self> {
        let page = |name: &str, content: Output<String>| {
            AnyResource::new(
                cx,
                "files:index:File",
                &cx.name(name),
                value!({
                    "path": format!("{name}.txt"),
                    "content": content,
                }),
            )
        };
        let mut sizes = Vec::new();
        for name in &args.pages {
            let written = page(name, interpolate!("{}: {name}\n", &args.heading));
            sizes.push(written.output::<i64>("size"));
        }
        let names = args.pages.join("\n");
        let index = page("index", interpolate!("{}\n{names}\n", &args.heading));
        Ok(Site {
            index: index.id(),
            size: Output::join_all(sizes).map(|sizes| sizes.iter().sum()),
        })
    }
}

#[derive(Clone, Debug, Properties)]
pub struct LinkArgs {
    /// The text of the link.
    text: Input<String>,
    /// The name of the page.
    page: String,
}

#[derive(Clone, Debug, Properties)]
pub struct Link {
    /// The link, in Markdown.
    markdown: Input<String>,
}

/// A link to a page of the site.
#[plumb_provider::method]
pub fn link(_: &Ctx, site: Site, args: LinkArgs) -> plumb::Result<Link> {
    if args.page.is_empty() {
        plumb::bail!("a page has a name");
    }
    let markdown = interpolate!(
        "[{}]({}.txt), listed in {}",
        args.text,
        args.page,
        site.index
    );
    Ok(Link {
        markdown: markdown.into(),
    })
}
