//! `package get-mapping`.

use clap::Args;
use plumb_operate::packages::mapping;
use plumb_operate::{Context, Error};

/// Get the mapping information for a given key from a package
///
/// Some providers tell how the packages of another ecosystem, the key, correspond to theirs; converters of programs use that.
/// The mapping is written as the provider gives it.
#[derive(Args, Debug)]
pub struct GetMappingArgs {
    /// The file to write the mapping to, instead of standard out
    #[arg(short, long)]
    pub out: Option<String>,
    /// The ecosystem, such as terraform
    pub key: String,
    /// The package
    pub source: String,
    /// The package of the other ecosystem; whichever there is by default
    pub provider_key: Option<String>,
    /// Parameters that make another package of it
    pub parameters: Vec<String>,
}

pub(super) fn run(args: GetMappingArgs, ctx: &Context) -> Result<(), Error> {
    let wanted = args.provider_key.as_deref().unwrap_or_default();
    let found = mapping(&args.key, &args.source, wanted, &args.parameters, ctx)?;
    let Some(found) = found else {
        return Err(Error::user(format!(
            "no mapping of {} packages to {} was found: the provider has none",
            args.key, args.source
        )));
    };
    ctx.printer.info(&format!(
        "{} maps to provider {}",
        found.plugin, found.provider
    ));
    if let Some(file) = &args.out {
        let path = ctx.environment.cwd.join(file);
        std::fs::write(&path, &found.data)
            .map_err(|error| Error::from(error).context(path.display()))?;
    } else {
        ctx.printer.data(&String::from_utf8_lossy(&found.data));
    }
    Ok(())
}
