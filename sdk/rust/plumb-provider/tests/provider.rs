//! A provider from schema to deletion, without an engine.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use plumb_provider::prelude::*;
use plumb_provider::testing::{Step, Tester};
use plumb_provider::{IntoValue as _, Output, Recorded};

/// What the service of the tests has: contents by ID.
static SHELF: Mutex<BTreeMap<String, Book>> = Mutex::new(BTreeMap::new());

fn shelf() -> MutexGuard<'static, BTreeMap<String, Book>> {
    SHELF
        .lock()
        .expect("no test panics while it holds the lock")
}

/// A way to bind a book.
#[derive(Clone, Copy, Debug, PartialEq, EnumType)]
enum Cover {
    /// Thick and stiff.
    Hard,
    /// Thin and soft.
    #[property(name = "soft-back")]
    Soft,
}

/// A part of a book.
#[derive(Clone, Debug, PartialEq, Properties)]
struct Chapter {
    title: String,
    #[property(default = 10)]
    pages: Option<i64>,
    #[property(replace)]
    language: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct BookArgs {
    /// Name on the shelf.
    #[property(replace)]
    shelf_mark: Option<String>,
    /// Parts, in their order.
    chapters: Vec<Chapter>,
    #[property(default = "soft-back")]
    cover: Option<Cover>,
    /// What only the author knows.
    #[property(secret)]
    draft: Option<String>,
    notes: Option<BTreeMap<String, String>>,
    /// Says how many copies are bad.
    #[deprecated = "nobody counts them"]
    bad_copies: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Properties)]
struct Book {
    #[property(flatten)]
    args: BookArgs,
    /// Pages of all chapters.
    #[property(follows = ["chapters"])]
    pages: i64,
    /// When it came to the shelf.
    #[property(follows = [])]
    edition: i64,
    /// How often it was changed.
    changes: i64,
}

#[allow(deprecated)]
fn printed(args: BookArgs, changes: i64) -> Book {
    let pages = args.chapters.iter().filter_map(|it| it.pages).sum();
    Book {
        args,
        pages,
        edition: 7,
        changes,
    }
}

impl Resource for BookType {
    const TOKEN: &'static str = "index:Book";
    const DESCRIPTION: &'static str = "A book.";
    const UPDATES: bool = true;
    const READS: bool = true;
    const PREVIEWS: bool = false;
    const DIFFS: bool = true;
    const LISTS: bool = true;

    type Args = BookArgs;
    type State = Book;
    type Query = ShelfQuery;

    fn upgrade(recorded: &mut Recorded) {
        recorded.rename("mark", "shelfMark");
        recorded
            .outputs
            .entry("changes".to_owned())
            .or_insert(number(0));
    }

    async fn check(_: &Cx, check: &mut Check) -> Result<()> {
        check.autoname("shelfMark")?;
        if check
            .get::<Vec<Chapter>>("chapters")
            .is_ok_and(|it| it.is_some_and(|it| it.is_empty()))
        {
            check.fail("chapters", "a book has chapters");
        }
        Ok(())
    }

    async fn diff(_: &Cx, diff: &mut Diff<BookType>) -> Result<()> {
        diff.ignore("notes.scratch");
        diff.replace_on("cover");
        Ok(())
    }

    async fn create(cx: &Cx, args: BookArgs) -> Result<Created<Book>> {
        assert!(args.chapters[0].title != "panic", "no paper");
        let book = printed(args, 0);
        let id = format!("book-{}", cx.name());
        shelf().insert(id.clone(), book.clone());
        let created = Created::new(id, book.clone());
        Ok(if book.args.chapters[0].title == "torn" {
            created.but("the first page is torn")
        } else {
            created
        })
    }

    async fn update(_: &Cx, update: Update<BookType>) -> Result<Updated<Book>> {
        assert!(update.old_args.is_some(), "the old inputs fit");
        let book = printed(update.args, update.state.changes + 1);
        shelf().insert(update.id, book.clone());
        Ok(book.into())
    }

    async fn read(_: &Cx, read: Read<BookType>) -> Result<Option<Found<BookType>>> {
        let book = shelf().get(&read.id).cloned();
        Ok(book.map(|book| Found::new(book.args.clone(), book)))
    }

    async fn delete(_: &Cx, delete: Delete<BookType>) -> Result<()> {
        shelf().remove(&delete.id);
        Ok(())
    }

    async fn list(_: &Cx, list: List<ShelfQuery>) -> Result<Listed> {
        let shelf = shelf();
        let after = list.after.unwrap_or_default();
        let ids: Vec<_> = shelf.keys().filter(|it| **it > after).collect();
        let wanted = ids.iter().filter(|it| it.contains(&list.query.contains));
        let page: Vec<_> = wanted.take(2).map(|it| (it.as_str(), "a book")).collect();
        let last = page.last().map(|(id, _)| (*id).to_owned());
        let listed: Listed = page.into_iter().collect();
        Ok(last.map_or(listed.clone(), |id| listed.and_more(id)))
    }
}

/// What is looked for on the shelf.
#[derive(Clone, Debug, Properties)]
struct ShelfQuery {
    /// Part of the ID.
    contains: String,
}

struct BookType;

#[derive(Clone, Debug, Properties)]
struct FindArgs {
    id: String,
    #[property(env = ["LIBRARY_DEPTH"], default = 3)]
    depth: Option<i64>,
}

#[derive(Clone, Debug, Properties)]
struct FindAnswer {
    #[property(secret)]
    place: String,
    library: String,
}

/// Finds a book.
#[plumb_provider::function]
async fn find_book(cx: &Cx, args: FindArgs) -> Result<FindAnswer> {
    let config = cx.config::<Config>()?;
    let depth = args.depth.unwrap_or_default();
    Ok(FindAnswer {
        place: format!("{} at {depth}", args.id),
        library: config.library.clone(),
    })
}

#[derive(Clone, Debug, Properties)]
struct Config {
    library: String,
    #[property(replace)]
    rooms: Option<Vec<String>>,
    #[property(default = true)]
    open: Option<bool>,
}

/// Nothing but a name.
#[plumb_provider::resource(token = "index:Card", aliases = ["index:Ticket"], delete_before_replace)]
impl Resource for Card {
    type Args = CardArgs;
    type State = CardArgs;

    async fn create(_: &Cx, args: CardArgs) -> Result<Created<CardArgs>> {
        Ok(Created::new("card", args))
    }
}

struct Card;

#[derive(Clone, Debug, Properties)]
struct CardArgs {
    owner: String,
}

fn library() -> Provider {
    Provider::new("library", "1.2.3")
        .description("Books on shelves")
        .config::<Config>()
        .resource::<BookType>()
        .resource::<Card>()
        .function(find_book)
}

fn tester() -> Tester {
    Tester::new(library()).expect("the schema is valid")
}

fn chapters(title: &str) -> Value {
    value!([{ "title": title }])
}

fn number(value: i32) -> Value {
    Value::Number(f64::from(value))
}

fn text(value: &str) -> Value {
    Value::String(value.to_owned())
}

#[test]
fn types_and_comments_are_the_schema() {
    let schema = Value::from_json(&library().schema().unwrap()).unwrap();
    let expected = Value::from_json(include_str!("library.json")).unwrap();
    assert_eq!(schema, expected, "{}", library().schema().unwrap());
}

#[test]
fn a_resource_lives_from_creation_to_deletion() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "life");
    assert_eq!(
        book.apply(value!({ "chapters": chapters("one") })).unwrap(),
        Step::Created
    );
    assert_eq!(book.id(), Some("book-life"));
    assert_eq!(
        book.output("pages"),
        &number(10),
        "defaults are set inside lists, too"
    );
    assert_eq!(book.input("cover"), &text("soft-back"));
    assert_eq!(
        book.apply(value!({ "chapters": chapters("one") })).unwrap(),
        Step::Same
    );
    let longer = value!([{ "title": "one", "pages": 3 }, { "title": "two", "pages": 4 }]);
    assert_eq!(
        book.apply(value!({ "chapters": longer })).unwrap(),
        Step::Updated
    );
    assert_eq!(book.output("pages"), &number(7));
    assert_eq!(book.output("changes"), &number(1));
    assert!(book.refresh().unwrap());
    book.delete().unwrap();
    assert_eq!(book.id(), None);
    assert!(!shelf().contains_key("book-life"));
}

#[test]
fn a_change_replaces_where_the_type_says_so_at_any_depth() {
    let tester = tester();
    for (changed, step) in [
        (
            value!({ "chapters": chapters("one"), "notes": {}, "shelfMark": "other" }),
            Step::Replaced,
        ),
        (
            value!({ "chapters": [{ "title": "one", "language": "fr" }], "notes": {} }),
            Step::Replaced,
        ),
        (
            value!({ "chapters": chapters("one"), "notes": {}, "cover": "Hard" }),
            Step::Replaced,
        ),
        (
            value!({ "chapters": chapters("one"), "notes": { "scratch": "x" } }),
            Step::Same,
        ),
        (
            value!({ "chapters": chapters("one"), "notes": { "a.b": "x" } }),
            Step::Updated,
        ),
    ] {
        let mut book = tester.resource("index:Book", "change");
        book.apply(value!({ "chapters": chapters("one"), "notes": {} }))
            .unwrap();
        assert_eq!(book.apply(changed.clone()).unwrap(), step, "{changed:?}");
    }
    let mut card = tester.resource("index:Card", "card");
    card.apply(value!({ "owner": "Ada" })).unwrap();
    assert_eq!(
        card.apply(value!({ "owner": "Bea" })).unwrap(),
        Step::Replaced,
        "it has no update"
    );
}

#[test]
fn wrong_inputs_are_named_by_their_paths() {
    let tester = tester();
    let book = tester.resource("index:Book", "wrong");
    let inputs = value!({
        "chapters": [{ "pages": 1.5, "titel": "x" }],
        "cover": "leather",
        "notes": { "a": 1 },
    });
    let failures = book.failures(inputs).unwrap();
    let expected = [
        ("chapters[0].title", "the property `title` is required"),
        ("chapters[0].pages", "expected an integer, found a number"),
        (
            "chapters[0].titel",
            "there is no property `titel`; there are: title, pages, language",
        ),
        ("cover", "expected one of Hard, soft-back, found `leather`"),
        ("notes.a", "expected a string, found a number"),
    ];
    let expected = expected.map(|(property, reason)| (property.to_owned(), reason.to_owned()));
    assert_eq!(failures, expected);
    let empty = book.failures(value!({ "chapters": [] })).unwrap();
    assert_eq!(
        empty,
        [("chapters".to_owned(), "a book has chapters".to_owned())]
    );
}

#[test]
fn a_preview_knows_what_follows_from_known_inputs() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "preview");
    let unknown = value!({ "chapters": Value::Unknown, "draft": "x" });
    let created = book.preview(unknown).unwrap();
    assert_eq!(created["pages"], Value::Unknown);
    assert_eq!(created["cover"], text("soft-back"));
    assert_eq!(created["draft"], Value::Secret(Box::new(text("x"))));
    book.apply(value!({ "chapters": chapters("one") })).unwrap();
    let noted = value!({ "chapters": chapters("one"), "notes": { "a": "b" } });
    let updated = book.preview(noted).unwrap();
    assert_eq!(updated["pages"], number(10), "no chapter changes");
    assert_eq!(updated["edition"], number(7), "it never changes");
    assert_eq!(updated["changes"], Value::Unknown, "it follows everything");
}

#[test]
fn a_preview_does_not_know_what_the_provider_fills_in() {
    #[derive(Clone, Debug, Properties)]
    struct TicketArgs {
        seat: Option<i64>,
        day: Option<String>,
    }
    #[derive(Clone, Debug, Properties)]
    struct Ticket {
        seat: i64,
        day: Option<String>,
    }
    struct TicketType;
    fn ticket(args: TicketArgs) -> Ticket {
        Ticket {
            seat: args.seat.unwrap_or(12),
            day: args.day,
        }
    }
    #[plumb_provider::resource(token = "index:Ticket")]
    impl Resource for TicketType {
        type Args = TicketArgs;
        type State = Ticket;

        async fn create(_: &Cx, args: TicketArgs) -> Result<Created<Ticket>> {
            Ok(Created::new("1", ticket(args)))
        }

        async fn update(_: &Cx, update: Update<TicketType>) -> Result<Updated<Ticket>> {
            Ok(ticket(update.args).into())
        }
    }
    let tester = Tester::new(Provider::new("tickets", "1.0.0").resource::<TicketType>()).unwrap();
    let mut ticket = tester.resource("index:Ticket", "one");
    let foretold = ticket.preview(value!({})).unwrap();
    assert_eq!(foretold.get("seat"), Some(&Value::Unknown));
    assert_eq!(foretold.get("day"), None);
    ticket.apply(value!({})).unwrap();
    // Nothing that the seat follows has changed.
    let foretold = ticket.preview(value!({ "day": "Monday" })).unwrap();
    assert_eq!(foretold.get("seat"), Some(&number(12)));
    ticket.apply(value!({ "seat": 7 })).unwrap();
    let foretold = ticket.preview(value!({})).unwrap();
    assert_eq!(foretold.get("seat"), Some(&Value::Unknown));
}

#[test]
fn secrets_stay_secrets() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "secrets");
    let hidden = Value::Secret(Box::new(text("hidden")));
    book.apply(value!({
        "chapters": [{ "title": hidden.clone() }],
        "draft": "plan",
        "notes": { "open": "yes", "closed": hidden.clone() },
    }))
    .unwrap();
    assert_eq!(
        book.output("draft"),
        &Value::Secret(Box::new(text("plan"))),
        "the type says so"
    );
    let notes = book.output("notes");
    assert_eq!(notes.get("closed"), Some(&hidden), "the input was a secret");
    assert_eq!(notes.get("open"), Some(&text("yes")));
    assert!(book.refresh().unwrap());
    assert_eq!(book.input("notes").get("closed"), Some(&hidden));
    assert_eq!(book.output("notes").get("closed"), Some(&hidden));
}

#[test]
fn no_message_shows_a_secret() {
    let tester = tester();
    let book = tester.resource("index:Book", "hidden");
    let hidden = |value: &str| Value::Secret(Box::new(text(value)));
    let inputs = value!({ "chapters": chapters("one"), "cover": hidden("s3cret") });
    let failures = book.failures(inputs).unwrap();
    let reason = "expected one of Hard, soft-back, found a string";
    assert_eq!(failures, [("cover".to_owned(), reason.to_owned())]);
    // A number that fits the schema but not the type is found later.
    #[derive(Clone, Debug, Properties)]
    struct Small {
        count: i8,
    }
    struct Counter;
    #[plumb_provider::resource]
    impl Resource for Counter {
        type Args = Small;
        type State = Small;

        async fn create(_: &Cx, args: Small) -> Result<Created<Small>> {
            Ok(Created::new("1", args))
        }
    }
    let tester = Tester::new(Provider::new("small", "0.1.0").resource::<Counter>()).unwrap();
    let mut counter = tester.resource("index:Counter", "counter");
    let error = counter.apply(value!({ "count": 4711 })).unwrap_err();
    assert!(error.to_string().contains("found 4711"), "{error}");
    let secret = Value::Secret(Box::new(number(4711)));
    let error = counter.apply(value!({ "count": secret })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the inputs do not fit: count: it has another type than expected"
    );
}

#[test]
fn an_id_is_kept_whatever_the_outputs_are() {
    #[derive(Clone, Debug, Properties)]
    struct Nothing {}
    #[derive(Clone, Debug, Properties)]
    struct Late {
        value: Value,
    }
    struct Promise;
    #[plumb_provider::resource]
    impl Resource for Promise {
        type Args = Nothing;
        type State = Late;

        async fn create(_: &Cx, _: Nothing) -> Result<Created<Late>> {
            let output = Output::of(1).map_async(|_| std::future::pending::<i64>());
            let value = output.into_value();
            Ok(Created::new("made", Late { value }))
        }
    }
    let tester = Tester::new(Provider::new("late", "0.1.0").resource::<Promise>()).unwrap();
    let mut promise = tester.resource("index:Promise", "promise");
    let error = promise.apply(value!({})).unwrap_err();
    assert!(error.to_string().contains("later"), "{error}");
    assert_eq!(promise.id(), Some("made"));
}

#[test]
fn names_come_from_the_resource_and_stay() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "named");
    book.apply(value!({ "chapters": chapters("one") })).unwrap();
    let name = book.output("shelfMark").clone();
    let digits = name.as_str().unwrap().strip_prefix("named-").unwrap();
    assert!(
        digits.len() == 7 && digits.chars().all(|it| it.is_ascii_hexdigit()),
        "{digits}"
    );
    book.apply(value!({ "chapters": chapters("two") })).unwrap();
    assert_eq!(book.output("shelfMark"), &name);
}

#[test]
fn a_resource_that_is_not_as_it_should_be_is_kept() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "torn");
    let error = book
        .apply(value!({ "chapters": chapters("torn") }))
        .unwrap_err();
    assert_eq!(error.to_string(), "the first page is torn");
    assert_eq!(book.id(), Some("book-torn"));
    assert_eq!(book.output("pages"), &number(10));
    assert_eq!(
        book.apply(value!({ "chapters": chapters("mended") }))
            .unwrap(),
        Step::Updated
    );
}

#[test]
fn a_panic_is_an_error() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "panic");
    let error = book
        .apply(value!({ "chapters": chapters("panic") }))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the code of the provider panicked: no paper"
    );
    assert_eq!(book.id(), None);
}

#[test]
fn existing_resources_are_listed_page_by_page() {
    let tester = tester();
    let chapters = value!([{ "title": "one" }]);
    for name in ["list-b", "list-a", "list-c"] {
        let mut book = tester.resource("index:Book", name);
        book.apply(value!({ "chapters": chapters.clone() }))
            .unwrap();
    }
    let listed = tester
        .list("index:Book", value!({ "contains": "list-" }))
        .unwrap();
    let ids: Vec<_> = listed.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["book-list-a", "book-list-b", "book-list-c"]);
    let error = tester.list("index:Book", value!({})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "contains: the property `contains` is required"
    );
    let error = tester.list("index:Pamphlet", value!({})).unwrap_err();
    assert!(error.to_string().contains("has no resource"), "{error}");
}

#[test]
fn an_existing_resource_is_imported_and_a_missing_one_is_not() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "import");
    book.apply(value!({ "chapters": chapters("one") })).unwrap();
    let mut other = tester.resource("index:Book", "imported");
    assert!(other.import("book-import").unwrap());
    assert_eq!(other.input("chapters").as_list().map(<[_]>::len), Some(1));
    assert_eq!(
        other
            .apply(value!({ "chapters": chapters("one") }))
            .unwrap(),
        Step::Same
    );
    assert!(!other.import("book-nowhere").unwrap());
    let mut card = tester.resource("index:Card", "card");
    let error = card.import("card").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("nothing of this type can be imported"),
        "{error}"
    );
}

#[test]
fn functions_have_defaults_secrets_and_the_configuration() {
    let tester = tester();
    let error = tester
        .invoke("index:findBook", value!({ "id": "b" }))
        .unwrap_err();
    assert!(
        error.to_string().contains("has not been configured"),
        "{error}"
    );
    let error = tester.configure(value!({ "rooms": "[1]" })).unwrap_err();
    assert_eq!(
        error.to_string(),
        "library: the property `library` is required; rooms[0]: expected a string, found a number"
    );
    // The engine sends configuration as texts.
    tester
        .configure(value!({ "library": "central", "rooms": "[\"a\"]", "version": "1.2.3" }))
        .unwrap();
    let answer = tester
        .invoke("index:findBook", value!({ "id": "b" }))
        .unwrap();
    assert_eq!(answer["place"], Value::Secret(Box::new(text("b at 3"))));
    assert_eq!(answer["library"], text("central"));
    let error = tester
        .invoke("index:findBook", value!({ "name": "b" }))
        .unwrap_err();
    assert!(
        error.to_string().contains("there is no property `name`"),
        "{error}"
    );
    let error = tester.invoke("index:nothing", value!({})).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("has no function `library:index:nothing`"),
        "{error}"
    );
}

#[test]
fn former_tokens_are_known() {
    let tester = tester();
    let mut ticket = tester.resource("index:Ticket", "old");
    assert_eq!(
        ticket.apply(value!({ "owner": "Ada" })).unwrap(),
        Step::Created
    );
}

#[test]
fn what_an_older_version_recorded_is_brought_to_the_new_shape() {
    let tester = tester();
    let mut book = tester.resource("index:Book", "old");
    let chapters = chapters("one");
    let inputs = value!({ "mark": "m", "chapters": [{ "title": "one", "pages": 10 }], "cover": "soft-back" });
    let outputs = value!({
        "mark": "m", "chapters": [{ "title": "one", "pages": 10 }], "cover": "soft-back", "pages": 10, "edition": 7,
    });
    book.recorded("book-old", inputs, outputs).unwrap();
    let same = book.apply(value!({ "chapters": chapters }));
    assert_eq!(same.unwrap(), Step::Same, "the name stays");
    let longer = value!({ "chapters": [{ "title": "one", "pages": 11 }] });
    assert_eq!(book.apply(longer).unwrap(), Step::Updated);
    assert_eq!(book.output("changes"), &number(1));
    assert_eq!(book.output("shelfMark"), &text("m"));
    book.delete().unwrap();
}

#[test]
fn a_schema_that_cannot_be_is_an_error() {
    #[derive(Clone, Debug, Properties)]
    struct Wrong {
        id: String,
    }
    struct Thing;
    #[plumb_provider::resource]
    impl Resource for Thing {
        type Args = Wrong;
        type State = Wrong;

        async fn create(_: &Cx, args: Wrong) -> Result<Created<Wrong>> {
            Ok(Created::new(args.id.clone(), args))
        }
    }
    let error = Tester::new(Provider::new("wrong", "0.1.0").resource::<Thing>()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`index:Thing` has the property `id`"),
        "{error}"
    );
}
