//! `convert` (`cli.md`, `codegen.md` 14): programs from YAML, PCL or Terraform into the language of another runtime.
//!
//! 1. [`source`] reads the program as PCL; [`terraform`] makes PCL of a configuration, and [`plugin`] has a converter do it
//!    for other languages.
//! 2. `plumb-pcl` binds it with the schemas of the packages that it names; plugins that are missing are installed.
//! 3. `plumb-programs` or `plumb-yaml` makes the files, [`target`] writes them and what else the source has.
//! 4. The package manager of the language installs what the program needs.

mod export;
mod module_files;
mod plugin;
pub(crate) mod source;
mod target;
mod terraform;

use std::path::Path;

use clap::Args;
use plumb_operate::operations::{InfoStream, StandaloneHost};
use plumb_operate::{Context, Error, ExitStatus};
use plumb_pcl::{Leniency, Problem, Program, Sources};
use serde_json::Value as Json;

pub use export::{ExportProgramArgs, run as export};
use plumb_automation::hosting::Schemas;
use plumb_automation::values::Secrets;
use target::Target;

/// Convert programs from one language to another
///
/// Reads the program of the working directory, which is written in YAML, PCL, Terraform or a language of a converter plugin,
/// and writes it in python, typescript, go, java, csharp, rust, yaml or pcl. For Terraform, name the folder of the root module behind -- if it
/// uses modules beside its own folder. The parts that cannot be converted are listed, and stay as comments in the program.
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

/// Origin of a program in PCL.
enum Origin {
    /// Files in PCL or YAML.
    Files(Sources),
    Terraform(Box<terraform::ConvertedConfiguration>),
    Plugin(plugin::ConvertedProgram),
}

impl Origin {
    fn read(
        args: &ConvertArgs,
        folder: &Path,
        out: &Path,
        target: &Target,
        ctx: &Context,
    ) -> Result<Self, Error> {
        let (from, arguments) = (args.from.as_str(), &args.arguments[..]);
        if plumb_operate::terraform::is_named(from) {
            let read = terraform::ConvertedConfiguration::read;
            let configuration = read(folder, arguments, &args.mappings, target, ctx)?;
            Ok(Origin::Terraform(Box::new(configuration)))
        } else if source::is_known(from) {
            source::read(from, folder).map(Origin::Files)
        } else {
            let read = plugin::ConvertedProgram::read;
            read(from, folder, out, arguments, ctx).map(Origin::Plugin)
        }
    }

    fn sources(&self) -> &Sources {
        match self {
            Origin::Files(sources) => sources,
            Origin::Terraform(configuration) => &configuration.sources,
            Origin::Plugin(program) => &program.sources,
        }
    }

    /// Folder with the description of the project and the files that the program reads. A converter copies these itself.
    fn files_folder<'f>(&'f self, folder: &'f Path) -> &'f Path {
        match self {
            Origin::Files(_) | Origin::Terraform(_) => folder,
            Origin::Plugin(program) => program.folder.path(),
        }
    }
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
    let origin = Origin::read(args, &folder, &out, &target, ctx)?;
    let sources = origin.sources();
    let files_folder = origin.files_folder(&folder);
    let mut description = target::description(files_folder, &folder, args.name.as_deref())?;
    if let Origin::Terraform(configuration) = &origin {
        configuration.describe(&mut description);
    }
    let leniency = if args.strict {
        Leniency::NONE
    } else {
        Leniency::ALL
    };
    // The author of a program in PCL or YAML can change it. What is made of other files is written as far as it goes.
    let goes_on = !args.strict && !matches!(origin, Origin::Files(_));
    write_program(sources, leniency, &target, &description, &out, goes_on, ctx)?;
    if let Origin::Terraform(configuration) = &origin {
        let project = description["name"].as_str().unwrap_or_default();
        configuration.write(&out, project, ctx)?;
    } else {
        target::copy_rest(files_folder, &out)?;
    }
    let is_program = !matches!(target, Target::Pcl);
    if is_program || !matches!(origin, Origin::Files(_)) {
        target::write_description(&out, description, &target)?;
    }
    if let Origin::Terraform(configuration) = &origin {
        configuration.report(ctx);
    }
    if is_program && !args.generate_only {
        target::install(&out, ctx)?;
    }
    Ok(ExitStatus::Success)
}

/// Writes the files of a program in the language of the target, and the SDKs that it has beside it. If the conversion
/// `goes_on`, the program is written even if the language has no form for something in it, and fails there.
fn write_program(
    sources: &Sources,
    leniency: Leniency,
    target: &Target,
    description: &Json,
    out: &Path,
    goes_on: bool,
    ctx: &Context,
) -> Result<(), Error> {
    if let Target::Pcl = target {
        return target::write(out, &target::pcl_files(sources));
    }
    let (program, problems) = bind(sources, leniency, ctx)?;
    report(&problems, ctx)?;
    let local = target.local_packages(&program);
    let (files, problems) = target.files(&program, sources, description, &local)?;
    if goes_on {
        list(&problems, ctx);
    } else {
        report(&problems, ctx)?;
    }
    target::write(out, &files)?;
    target.write_sdks(&local, out, ctx)
}

fn bind(
    sources: &Sources,
    leniency: Leniency,
    ctx: &Context,
) -> Result<(Program, Vec<Problem>), Error> {
    let mut host = StandaloneHost::open(ctx, Vec::new(), Secrets::Hidden, InfoStream::Stderr)?;
    let schemas = Schemas(host.host());
    let loaded = host.run(async {
        let loaded = Program::load(sources, &schemas, leniency).await;
        Ok::<_, Error>(loaded)
    });
    host.close();
    let loaded = loaded?;
    Ok((loaded.program, loaded.problems))
}

/// Lists what the written program fails with. Each is shown with its text in PCL, because the user has no such file.
fn list(problems: &[Problem], ctx: &Context) {
    for problem in problems {
        let shown = problem.diagnostic.excerpt(&problem.source);
        ctx.printer.warning(shown.trim_end());
    }
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
