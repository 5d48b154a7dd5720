//! `convert` (`cli.md`, `codegen.md` 14): programs from YAML, PCL or Terraform into the language of another runtime.
//!
//! 1. [`source`] reads the program as PCL; [`terraform`] makes PCL of a configuration, and [`plugin`] has a converter do it
//!    for other languages.
//! 2. `plumb-pcl` binds it with the schemas of the packages that it names; plugins that are missing are installed.
//! 3. `plumb-programs` or `plumb-yaml` makes the files, [`target`] writes them and what else the source has.
//! 4. The package manager of the language installs what the program needs.

mod plugin;
pub(crate) mod source;
mod target;
mod terraform;

use clap::Args;
use plumb_pcl::{Leniency, Problem, Program, Sources};

use crate::commands::stack::values::Secrets;
use crate::operate::{Schemas, StandaloneHost};
use crate::{Context, Error, ExitStatus};
use target::Target;

/// Convert programs from one language to another
///
/// The program of the working directory, written in YAML, PCL, Terraform or a language that a converter plugin reads, is
/// written in the language named: python, typescript, go, yaml or pcl. Of a Terraform configuration, the root module may be in a folder named behind --, so that
/// modules beside it are converted too; what cannot be converted is listed, and stands as a comment in the program.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    /// Which language plugin to use to generate the project
    #[arg(long)]
    pub language: Option<String>,
    /// Which converter plugin to use to read the source program
    #[arg(long, default_value = "yaml")]
    pub from: String,
    /// The output directory to write the converted project to
    #[arg(long, default_value = ".")]
    pub out: String,
    /// Generate the converted program only; do not install dependencies
    #[arg(long)]
    pub generate_only: bool,
    /// Any mapping files to use in the conversion
    #[arg(long, action = clap::ArgAction::Append, value_delimiter = ',')]
    pub mappings: Vec<String>,
    /// Fail the conversion on errors such as missing variables
    #[arg(long)]
    pub strict: bool,
    /// The name to use for the converted project
    #[arg(long)]
    pub name: Option<String>,
    /// Arguments for the converter
    pub arguments: Vec<String>,
}

/// Runs `convert`.
pub fn run(args: &ConvertArgs, ctx: &Context) -> Result<ExitStatus, Error> {
    let language = args
        .language
        .as_deref()
        .ok_or_else(|| Error::user("required flag(s) \"language\" not set"))?;
    let target = Target::named(language)?;
    let folder = ctx.environment.cwd.clone();
    let out = folder.join(&args.out);
    let (mut arrived, mut told) = (None, None);
    let sources = if crate::terraform::is_named(&args.from) {
        let read = terraform::Arrived::read(&folder, &args.arguments, &args.mappings, ctx)?;
        arrived.insert(read).sources.clone()
    } else if source::is_known(&args.from) {
        source::read(&args.from, &folder)?
    } else {
        let read = plugin::Arrived::read(&args.from, &folder, &out, &args.arguments, ctx)?;
        told.insert(read).sources.clone()
    };
    let described = told.as_ref().map_or(&*folder, |it| it.folder.path());
    let mut description = target::description(described, &folder, args.name.as_deref())?;
    if let Some(arrived) = &arrived {
        arrived.describe(&mut description);
    }
    let files = if let Target::Pcl = target {
        target::pcl_files(&sources)
    } else {
        let leniency = if args.strict {
            Leniency::NONE
        } else {
            Leniency::ALL
        };
        let (program, problems) = bind(&sources, leniency, ctx)?;
        report(&problems, ctx)?;
        let (files, problems) = target.files(&program, &sources, &description)?;
        report(&problems, ctx)?;
        files
    };
    target::write(&out, &files)?;
    match &arrived {
        Some(arrived) => {
            let project = description["name"].as_str().unwrap_or_default();
            arrived.write(&out, project)?;
        }
        // Of a program that a converter read, it says which files are needed: those that it wrote.
        None => target::copy_rest(described, &out)?,
    }
    let is_program = !matches!(target, Target::Pcl);
    if is_program || arrived.is_some() || told.is_some() {
        target::write_description(&out, description, &target)?;
    }
    if let Some(arrived) = &arrived {
        arrived.report(ctx);
    }
    if is_program && !args.generate_only {
        target::install(&out, ctx)?;
    }
    Ok(ExitStatus::Success)
}

fn bind(
    sources: &Sources,
    leniency: Leniency,
    ctx: &Context,
) -> Result<(Program, Vec<Problem>), Error> {
    let mut host = StandaloneHost::open(ctx, Vec::new(), Secrets::Hidden)?;
    let schemas = Schemas(host.host());
    let loaded = host.run(async {
        let loaded = Program::load(sources, &schemas, leniency).await;
        Ok::<_, Error>(loaded)
    });
    host.close();
    let loaded = loaded?;
    Ok((loaded.program, loaded.problems))
}

/// Shows problems; errors end the conversion.
fn report(problems: &[Problem], ctx: &Context) -> Result<(), Error> {
    let mut is_error = false;
    for problem in problems {
        if problem.diagnostic.is_error() {
            is_error = true;
            ctx.printer.error(&problem.one_line());
        } else {
            ctx.printer.warning(&problem.one_line());
        }
    }
    if is_error {
        Err(Error::user("conversion failed"))
    } else {
        Ok(())
    }
}
