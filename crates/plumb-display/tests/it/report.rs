//! Reports in files.

use plumb_display::{Action, ChangeReport, Options};
use plumb_events::{Diagnostic, Event, OperationResult, Severity, Summary};
use plumb_resource::StepOp;
use plumb_value::{PropertyMap, Value};

use crate::support::{Thing, done, error, metadata, pre, pre_of, stack, summary, thing};

fn report_of(options: Options, events: &[Event]) -> ChangeReport {
    let mut report = ChangeReport::new(options);
    for event in events {
        report.handle(event);
    }
    report
}

fn page_of(options: Options, events: &[Event]) -> String {
    report_of(options, events).to_html()
}

fn options() -> Options {
    Options::new(Action::Update, true, "dev", "shop")
}

fn of_preview(event: Event) -> Event {
    match event {
        Event::ResourcePre(mut step) => {
            step.planning = true;
            Event::ResourcePre(step)
        }
        Event::Summary(summary) => Event::Summary(Summary {
            is_preview: true,
            ..summary
        }),
        other => other,
    }
}

fn text(value: &str) -> PropertyMap {
    PropertyMap::new()
        .with("key", Value::secret(value.into()))
        .with("shown", value.len().to_string().as_str())
}

/// A component with a changed child, a new resource beside it, and an unchanged component.
fn events() -> Vec<Event> {
    let site = thing("site", "shop").component();
    let (old, new) = (
        thing("a:b:C", "page")
            .under(&site)
            .id("7")
            .inputs(text("one-secret")),
        thing("a:b:C", "page")
            .under(&site)
            .inputs(text("another-secret")),
    );
    let mut update = metadata(StepOp::Update, Some(&old), Some(&new));
    update.diffs = vec!["shown".into(), "key".into()];
    let same: Option<&Thing> = Some(&site);
    let other = thing("site", "unchanged").component();
    let fresh = thing("a:b:D", "fresh").inputs(PropertyMap::new().with("name", "<b>&"));
    [
        pre(StepOp::Same, Some(&stack()), Some(&stack())),
        pre(StepOp::Same, same, same),
        pre(StepOp::Same, Some(&other), Some(&other)),
        pre_of(update),
        pre(StepOp::Create, None, Some(&fresh)),
        summary(
            &[(StepOp::Update, 1), (StepOp::Create, 1)],
            OperationResult::Succeeded,
        ),
    ]
    .into_iter()
    .map(of_preview)
    .collect()
}

/// Body of the page without its head, which is the same in every page.
fn changes(page: &str) -> &str {
    let start = page.split("<div id=\"tree\">").nth(1).unwrap();
    start.split("</div></main>").next().unwrap()
}

#[test]
fn changes_stand_below_their_components() {
    let page = page_of(options(), &events());
    insta::assert_snapshot!(changes(&page));
    assert!(page.contains("<title>Previewing update (shop/dev)</title>"));
    assert!(page.contains("<input type=\"checkbox\" checked value=\"update\"> ~ update 1</label>"));
    assert!(!page.contains("unchanged</"), "{page}");
}

#[test]
fn secrets_are_masked_as_in_the_terminal() {
    let page = page_of(options(), &events());
    assert!(
        page.contains("[secret]") && !page.contains("one-secret"),
        "{page}"
    );
    let shown = Options {
        show_secrets: true,
        ..options()
    };
    let page = page_of(shown, &events());
    assert!(
        !page.contains("[secret]") && page.contains("-secret"),
        "{page}"
    );
}

#[test]
fn hostile_texts_stay_texts() {
    let hostile = "</pre></details><script>alert(1)</script><!--OUTPUTS--><!--CHANGES-->\u{1b}[31m";
    let fresh = thing("a:b:<script>", hostile).inputs(
        PropertyMap::new()
            .with("value", hostile)
            .with("<script>", "<{%fg \"><script>%}>"),
    );
    let events = [
        of_preview(pre(StepOp::Create, None, Some(&fresh))),
        error(Some(&fresh), hostile),
        Event::Stdout {
            message: hostile.into(),
            color: plumb_events::ColorMode::Raw,
        },
    ];
    let page = page_of(
        Options::new(Action::Update, true, hostile, hostile),
        &events,
    );
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert_eq!(page.matches("</script>").count(), 1);
    assert!(!page.contains("<!--") && !page.contains('\u{1b}'));
    assert_eq!(page.matches("<main").count(), 1);
}

#[test]
fn messages_and_failures_are_in_the_page() {
    let x = thing("a:b:C", "x");
    let quiet = Diagnostic {
        ephemeral: true,
        ..Diagnostic::new(Severity::Info, None, "passing\n")
    };
    let events = [
        Event::Diagnostic(Diagnostic::new(Severity::Info, None, "one \n")),
        Event::Diagnostic(Diagnostic::new(Severity::Info, None, "two\n")),
        Event::Diagnostic(quiet),
        error(Some(&x), "<{%fg 1%}>it <failed><{%reset%}>\n"),
        of_preview(summary(&[], OperationResult::Failed)),
    ];
    let page = page_of(options(), &events);
    assert!(
        page.contains("<div class=\"m info\"><pre>one \ntwo</pre></div>"),
        "{page}"
    );
    assert!(
        page.contains("<p>x <span class=\"t\">a:b:C</span></p><pre>error: it &lt;failed&gt;</pre>"),
        "{page}"
    );
    assert!(!page.contains("passing"));
    assert!(page.contains("<p class=\"failed\">The preview failed."));
    assert!(!page_of(options(), &self::events()).contains("<p class=\"failed\">"));
    assert!(page.contains("<p class=\"none\">No changes.</p>"));
}

#[test]
fn a_refresh_shows_what_it_found() {
    let inputs = |value: &str| PropertyMap::new().with("v", value);
    let (old, new) = (
        thing("a:b:C", "x")
            .id("7")
            .inputs(inputs("1"))
            .outputs(inputs("1")),
        thing("a:b:C", "x")
            .id("7")
            .inputs(inputs("1"))
            .outputs(inputs("2")),
    );
    let page = page_of(
        options(),
        &[
            pre(StepOp::Refresh, Some(&old), Some(&old)),
            done(StepOp::Update, Some(&old), Some(&new)),
        ],
    );
    assert_eq!(
        changes(&page).matches("data-op=\"update\"").count(),
        1,
        "{page}"
    );
    assert!(!changes(&page).contains("data-op=\"refresh\""));
}

/// Components nested more deeply than browsers can show are beside each other from some level on.
#[test]
fn deep_components_are_all_there() {
    let mut things = vec![thing("site", "c0").component()];
    for at in 1..200 {
        let parent = things.last().unwrap();
        things.push(thing("site", &format!("c{at}")).component().under(parent));
    }
    let events: Vec<Event> = things
        .iter()
        .map(|it| pre(StepOp::Create, None, Some(it)))
        .collect();
    let page = page_of(options(), &events);
    assert_eq!(changes(&page).matches("class=\"r\"").count(), 200);
    assert!(changes(&page).matches("class=\"g\"").count() < 30);
}

#[test]
fn markdown_has_a_table_and_the_differences_of_each_resource() {
    let mut events = events();
    let gone = thing("a:b:C", "gone").id("8");
    events.insert(2, of_preview(pre(StepOp::Delete, Some(&gone), None)));
    events.insert(3, error(Some(&gone), "one line\nanother ``` line"));
    insta::assert_snapshot!(report_of(options(), &events).to_markdown(60_000));
}

#[test]
fn markdown_cannot_be_broken_out_of() {
    let hostile = "````\n</details>@team [x](http://y) | a_b*c* `q <script>";
    let fresh = thing("a:b:<|`@team>", hostile).inputs(PropertyMap::new().with("value", hostile));
    let failed = error(Some(&fresh), hostile);
    let text = report_of(
        Options::new(Action::Update, true, "dev", "@team*"),
        &[of_preview(pre(StepOp::Create, None, Some(&fresh))), failed],
    )
    .to_markdown(60_000);
    insta::assert_snapshot!(text);
}

#[test]
fn reasons_with_markup_are_code() {
    let mut old = thing("a:b:C", "page").id("7");
    old.state.init_errors = vec!["ask @team at https://y or www.y, see #1".into()].into();
    let new = thing("a:b:C", "page");
    let update = metadata(StepOp::Update, Some(&old), Some(&new));
    let text = report_of(options(), &[of_preview(pre_of(update))]).to_markdown(60_000);
    let row = text.lines().find(|it| it.starts_with("| `~ update`"));
    assert_eq!(
        row,
        Some(
            "| `~ update` | `page` | `a:b:C` | `it was not ready when it was made: ask @team at https://y or www.y, see #1` |"
        )
    );
}

#[test]
fn markdown_keeps_its_limit_and_says_what_is_left_out() {
    let things: Vec<Thing> = (0..3_000)
        .map(|at| {
            thing("a:b:C", &format!("resource-{at}"))
                .inputs(PropertyMap::new().with("text", "x".repeat(at).as_str()))
        })
        .collect();
    let events: Vec<Event> = things
        .iter()
        .map(|it| of_preview(pre(StepOp::Create, None, Some(it))))
        .chain([of_preview(summary(
            &[(StepOp::Create, 3_000)],
            OperationResult::Succeeded,
        ))])
        .collect();
    let report = report_of(options(), &events);
    for most in [2_000, 60_000] {
        let text = report.to_markdown(most);
        assert!(text.len() <= most, "{} of {most}", text.len());
        assert!(text.contains("`+` 3000 to create"), "{text}");
        assert!(text.contains("more changes: see the log."), "{text}");
    }
}
