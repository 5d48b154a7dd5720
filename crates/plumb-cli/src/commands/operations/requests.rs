//! Requests for operations, made of the flags of their commands (`cli.md` 3).
//!
//! Flags are checked before a stack is opened, in the order of the reference.

use plumb_operate::identity::Code;
use plumb_operate::json::wants_json;
use plumb_operate::operations::{
    Caller, Conversion, Debugged, DisplayFlags, Form, ImportRequest, ImportSource, InlineResource,
    Kind, OperationRequest, PackFlags, PendingCreates, ReportFiles, StackChoice, check_confirmed,
    prepare_output,
};
use plumb_operate::{Context, Error};

use super::args::{
    CommonArgs, DestroyArgs, DriftArgs, ImportArgs, PreviewArgs, ProgramArgs, RefreshArgs,
    ReportArgs, UpArgs, UpdateArgs, WatchArgs,
};

/// An update. The project is read first.
pub(super) fn up(args: UpArgs, ctx: &Context) -> Result<OperationRequest, Error> {
    args.program.remote.check()?;
    ctx.program_project()?.check_version()?;
    if args.strict && args.skip_preview {
        return Err(Error::user(
            "--strict cannot be used with --skip-preview; strict requires a preview",
        ));
    }
    check_confirmed(ctx, Kind::Up, args.yes || args.skip_preview)?;
    let mut request = of_program(Kind::Up, &args.common, args.program)?;
    add_update(&mut request, args.update)?;
    request.stack.secrets_provider = Some(args.secrets_provider);
    request.scope.excludes = args.exclude;
    request.form = form_of(&args.common, &request)?;
    Ok(OperationRequest {
        continue_on_error: args.continue_on_error,
        skip_preview: args.skip_preview,
        yes: args.yes,
        plan: args.plan,
        is_strict: args.strict,
        report: args.report.into(),
        ..request
    })
}

/// An update of `watch`, which prints less.
pub(super) fn watch(args: WatchArgs, ctx: &Context) -> Result<OperationRequest, Error> {
    let args = UpArgs {
        common: CommonArgs {
            stack: args.stack,
            config_file: args.config_file,
            message: args.message,
            debug: args.debug,
            output: "default".to_owned(),
            parallel: args.parallel,
            suppress_outputs: true,
            skip_plugin_pre_install: args.skip_plugin_pre_install,
            exec_kind: args.exec_kind,
            ..CommonArgs::default()
        },
        program: ProgramArgs {
            config: args.config,
            config_path: args.config_path,
            show_replacement_steps: args.show_replacement_steps,
            show_sames: args.show_sames,
            urns: args.urns,
            override_env: args.override_env,
            ..ProgramArgs::default()
        },
        update: UpdateArgs {
            policy_pack: args.policy_pack,
            policy_pack_config: args.policy_pack_config,
            refresh: args.refresh.then(|| "true".to_owned()),
            show_config: args.show_config,
            ..UpdateArgs::default()
        },
        secrets_provider: args.secrets_provider,
        skip_preview: true,
        yes: true,
        ..UpArgs::default()
    };
    Ok(OperationRequest {
        form: Form::Watch,
        ..up(args, ctx)?
    })
}

pub(super) fn preview(args: PreviewArgs, ctx: &Context) -> Result<OperationRequest, Error> {
    args.program.remote.check()?;
    ctx.program_project()?.check_version()?;
    if args.browse && !ctx.is_interactive() {
        let text = "`--browse` needs a terminal";
        return Err(Error::user(text).hint("`--html FILE` writes a page for a browser"));
    }
    let mut request = of_program(Kind::Preview, &args.common, args.program)?;
    Debugged::parse(&args.update.attach_debugger)?;
    request.form = form_of(&args.common, &request)?;
    add_update(&mut request, args.update)?;
    request.scope.excludes = args.exclude;
    Ok(OperationRequest {
        preview_only: true,
        import_file: args.import_file,
        browses: args.browse,
        report: args.report.into(),
        save_plan: args.save_plan,
        ..request
    })
}

pub(super) fn refresh(args: RefreshArgs, ctx: &Context) -> Result<OperationRequest, Error> {
    args.program.remote.check()?;
    if let Some(project) = ctx.find_project()? {
        project.check_version()?;
    }
    let is_sure = args.yes || args.skip_preview || args.preview_only;
    check_confirmed(ctx, Kind::Refresh, is_sure)?;
    let mut request = of_program(Kind::Refresh, &args.common, args.program)?;
    request.form = form_of(&args.common, &request)?;
    check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
    request.scope.excludes = args.exclude;
    request.scope.exclude_dependents = args.exclude_dependents;
    Ok(OperationRequest {
        expect_no_changes: args.expect_no_changes,
        preview_only: args.preview_only,
        skip_preview: args.skip_preview,
        yes: args.yes,
        pending_creates: PendingCreates::new(
            args.skip_pending_creates,
            args.clear_pending_creates,
            &args.import_pending_creates,
        ),
        report: args.report.into(),
        ..request
    })
}

pub(super) fn drift(args: DriftArgs) -> Result<OperationRequest, Error> {
    let mut request = of_program(Kind::Refresh, &args.common, args.program)?;
    request.form = if wants_json(args.common.json, &args.common.output)? {
        Form::Quiet
    } else {
        form_of(&args.common, &request)?
    };
    request.scope.excludes = args.exclude;
    Ok(OperationRequest {
        preview_only: true,
        is_drift: true,
        report: args.report.into(),
        ..request
    })
}

pub(super) fn destroy(args: DestroyArgs, ctx: &Context) -> Result<OperationRequest, Error> {
    let is_sure = args.yes || args.skip_preview || args.preview_only;
    check_confirmed(ctx, Kind::Destroy, is_sure)?;
    let mut request = of_program(Kind::Destroy, &args.common, args.program)?;
    request.form = form_of(&args.common, &request)?;
    check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
    request.scope.excludes = args.exclude;
    request.scope.exclude_protected = args.exclude_protected;
    request.display.show_config = args.show_config;
    request.display.show_full_output = args.show_full_output;
    Ok(OperationRequest {
        refresh: args.refresh,
        continue_on_error: args.continue_on_error,
        ignore_protect: args.ignore_protect,
        preview_only: args.preview_only,
        skip_preview: args.skip_preview,
        yes: args.yes,
        remove: args.remove,
        report: args.report.into(),
        ..request
    })
}

/// An import of the resources that `source` lists, or a converter. The list is read before anything else happens.
pub(super) fn import(
    args: ImportArgs,
    source: Option<ImportSource>,
    ctx: &Context,
) -> Result<OperationRequest, Error> {
    let mut request = of_common(Kind::Import, &args.common);
    request.form = form_of(&args.common, &request)?;
    ctx.program_project()?.check_version()?;
    let source = match source {
        Some(source) => Some(source),
        None => source_of(&args)?,
    };
    let listed = source.map(|source| source.list(&ctx.environment.cwd));
    let listed = listed.transpose()?.unwrap_or_default();
    if let Some(out) = &args.out {
        prepare_output(ctx, out, args.generate_code)?;
    }
    let is_sure = args.yes || args.skip_preview || args.preview_only;
    check_confirmed(ctx, Kind::Import, is_sure)?;
    check_preview_flags(args.yes, args.skip_preview, args.preview_only)?;
    Ok(OperationRequest {
        import: Some(ImportRequest {
            listed,
            conversion: args.from.map(|converter| Conversion {
                converter,
                arguments: args.arguments,
                file: args.generate_resources,
            }),
            protects: args.protect,
            declares: args.generate_code,
            out: args.out,
        }),
        preview_only: args.preview_only,
        skip_preview: args.skip_preview,
        yes: args.yes,
        ..request
    })
}

/// Source of the resources to import; `None` for a converter, which runs later.
fn source_of(args: &ImportArgs) -> Result<Option<ImportSource>, Error> {
    let inline = InlineResource {
        arguments: args.arguments.clone(),
        properties: args.properties.clone(),
        parent: args.parent.clone(),
        provider: args.provider.clone(),
    };
    match (&args.file, &args.from) {
        (Some(_), _) if !inline.is_empty() => Err(Error::user(
            "an inline resource may not be specified in conjunction with an import file",
        )),
        (Some(_), Some(_)) => Err(Error::user(
            "a converter may not be specified in conjunction with an import file",
        )),
        (Some(path), None) => Ok(Some(ImportSource::File(path.clone()))),
        (None, Some(_)) => Ok(None),
        (None, None) => Ok(Some(ImportSource::Inline(inline))),
    }
}

/// A request with the flags that every operation has.
fn of_common(kind: Kind, args: &CommonArgs) -> OperationRequest {
    OperationRequest {
        stack: StackChoice {
            name: args.stack.clone(),
            config_file: args.config_file.clone(),
            ..StackChoice::default()
        },
        message: args.message.clone(),
        parallel: args.parallel,
        display: DisplayFlags {
            diff: args.diff,
            debug: args.debug,
            suppress_outputs: args.suppress_outputs,
            suppress_progress: args.suppress_progress,
            all_rows: args.all_rows,
            show_permalink: args.suppress_permalink.as_deref() == Some("false"),
            ..DisplayFlags::default()
        },
        event_log: args.event_log.clone(),
        caller: Caller {
            kind: args.exec_kind.clone(),
            agent: args.exec_agent.clone(),
        },
        skips_plugin_install: args.skip_plugin_pre_install,
        is_locked: args.locked,
        ..OperationRequest::new(kind)
    }
}

/// A request with the flags of operations that can run the program.
fn of_program(
    kind: Kind,
    common: &CommonArgs,
    args: ProgramArgs,
) -> Result<OperationRequest, Error> {
    args.remote.check()?;
    if !args.override_env.is_empty() {
        let text = "`--override-env` is not supported: stores in files have no environments";
        return Err(Error::user(text)
            .hint("`--config KEY=VALUE` gives values to this stack, `plumb config cp --dest STACK` to another")
            .known(Code::NotSupported));
    }
    let mut request = of_common(kind, common);
    request.stack.config = args.config;
    request.stack.config_paths = args.config_path;
    request.stack.skips_config_check = args.skip_config_validation;
    request.stack.creates = args.create;
    request.language_host = args.client;
    request.runs_program = args.run_program;
    request.scope.targets = args.target;
    request.scope.target_dependents = args.target_dependents;
    request.display.show_replacement_steps = args.show_replacement_steps;
    request.display.show_sames = args.show_sames;
    request.display.show_urns = args.urns;
    Ok(request)
}

/// Adds the flags of `up` and `preview`.
fn add_update(request: &mut OperationRequest, args: UpdateArgs) -> Result<(), Error> {
    request.debugged = Debugged::parse(&args.attach_debugger)?;
    request.packs = pack_flags(&args);
    request.packs.check()?;
    request.refresh = args.refresh;
    request.expect_no_changes = args.expect_no_changes;
    request.ignore_protect = args.ignore_protect;
    request.scope.exclude_dependents = args.exclude_dependents;
    request.scope.replaces = args.replace;
    request.scope.target_replaces = args.target_replace;
    request.display.show_config = args.show_config;
    request.display.show_full_output = args.show_full_output;
    request.display.show_reads = args.show_reads;
    request.display.show_policy_remediations = args.show_policy_remediations;
    request.display.show_secrets = args.show_secrets;
    Ok(())
}

/// Policy packs of `--policy-pack`.
pub(super) fn pack_flags(args: &UpdateArgs) -> PackFlags {
    PackFlags {
        packs: args.policy_pack.clone(),
        configs: args.policy_pack_config.clone(),
    }
}

/// Form of the output, from `--json` and `--output`.
fn form_of(common: &CommonArgs, request: &OperationRequest) -> Result<Form, Error> {
    match common.output.as_str() {
        "default" if common.json => Ok(Form::EventLines),
        "default" => Ok(Form::Human),
        "json" => Ok(Form::ResultLine {
            show_sames: request.display.show_sames,
        }),
        other => Err(Error::user(format!(
            "invalid --output value \"{other}\" (expected \"default\" or \"json\")"
        ))),
    }
}

fn check_preview_flags(yes: bool, skip_preview: bool, preview_only: bool) -> Result<(), Error> {
    let other = if skip_preview {
        "--skip-preview"
    } else {
        "--yes"
    };
    if !preview_only || !(skip_preview || yes) {
        return Ok(());
    }
    Err(Error::user(format!(
        "{other} and --preview-only cannot be used together"
    )))
}

impl From<ReportArgs> for ReportFiles {
    fn from(args: ReportArgs) -> Self {
        ReportFiles {
            html: args.html,
            markdown: args.markdown,
            is_internal: args.is_internal,
        }
    }
}
