//! Outputs: what is known, what is secret, what depends on what.

use plumb::prelude::*;
use plumb::testing::{MockState, Mocks, Outcome};

const PET: &str = "random:index/randomPet:RandomPet";

fn pets() -> Mocks {
    Mocks::new().resource(PET, |request| {
        MockState::new(format!("{}-id", request.name))
            .set("word", "dog")
            .set("parts", value!([{ "text": "a" }, { "text": "b" }]))
            .set("hidden", Secret::new("s3cret"))
            .set("count", 3)
    })
}

fn run(mocks: Mocks, body: impl Fn(&Ctx, AnyResource) + Send + Sync) -> Outcome {
    mocks.run(async |ctx| {
        let pet = AnyResource::new(&ctx, PET, "pet", value!({ "length": 2 }));
        body(&ctx, pet);
        Ok(())
    })
}

fn secret(text: &str) -> Value {
    value!(Secret::new(text))
}

#[test]
fn closures_see_values() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<String> = pet.output("word");
        let count: Output<i64> = pet.output("count");
        ctx.export("shout", word.map(|it| it.to_uppercase()));
        ctx.export(
            "both",
            (&word, &count)
                .join()
                .map(|(word, count)| word.repeat(usize::try_from(count).unwrap_or(0))),
        );
        ctx.export(
            "nested",
            word.and_then(move |word| count.map(move |count| format!("{word}{count}"))),
        );
        ctx.export("all", Output::join_all([&word, &pet.id()]));
        ctx.export("text", interpolate!("<{}> {{{word}}}", pet.id()));
        ctx.export(
            "lifted",
            pet.output::<Value>("parts")
                .at::<Value>(1)
                .key::<String>("text"),
        );
        ctx.export(
            "missing",
            pet.output::<Value>("parts")
                .at::<Value>(7)
                .key::<Option<String>>("text"),
        );
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("shout"), &value!("DOG"));
    assert_eq!(outcome.export("both"), &value!("dogdogdog"));
    assert_eq!(outcome.export("nested"), &value!("dog3"));
    assert_eq!(outcome.export("all"), &value!(["dog", "pet-id"]));
    assert_eq!(outcome.export("text"), &value!("<pet-id> {dog}"));
    assert_eq!(outcome.export("lifted"), &value!("b"));
    assert_eq!(outcome.export("missing"), &Value::Null);
}

#[test]
fn secrets_stay_secrets() {
    let outcome = run(pets(), |ctx, pet| {
        let hidden: Output<String> = pet.output("hidden");
        let word: Output<String> = pet.output("word");
        ctx.export("mapped", hidden.map(|it| it.len().to_string()));
        ctx.export(
            "joined",
            (&word, &hidden).join().map(|(word, hidden)| word + &hidden),
        );
        ctx.export("text", interpolate!("{word}-{hidden}"));
        ctx.export("inner", word.and_then(move |_| hidden));
        ctx.export("marked", word.secret());
        ctx.export("opened", word.secret().unsecret());
        ctx.export("deep", value!({ "a": [word.secret()] }));
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("mapped"), &secret("6"));
    assert_eq!(outcome.export("joined"), &secret("dogs3cret"));
    assert_eq!(outcome.export("text"), &secret("dog-s3cret"));
    assert_eq!(outcome.export("inner"), &secret("s3cret"));
    assert_eq!(outcome.export("marked"), &secret("dog"));
    assert_eq!(outcome.export("opened"), &value!("dog"));
    assert_eq!(
        outcome.export("deep"),
        &value!({ "a": [Secret::new("dog")] })
    );
}

#[test]
fn a_preview_runs_no_closure_on_unknown_values() {
    let outcome = run(pets().preview(), |ctx, pet| {
        let word: Output<String> = pet.output("word");
        let length: Output<i64> = pet.output("length");
        ctx.export(
            "unknown",
            word.map(|_| -> String { panic!("this must not run") }),
        );
        ctx.export("input", length.map(|it| it + 1));
        ctx.export("both", (&word, &length).join().map(|_| "never"));
        let partly = Output::from_value(value!({ "known": length, "unknown": word }));
        ctx.export("lifted", partly.key::<i64>("known"));
        ctx.export("other", partly.key::<String>("unknown"));
        ctx.export("partly", &partly);
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("unknown"), &Value::Unknown);
    assert_eq!(outcome.export("input"), &value!(3));
    assert_eq!(outcome.export("both"), &Value::Unknown);
    assert_eq!(outcome.export("lifted"), &value!(2));
    assert_eq!(outcome.export("other"), &Value::Unknown);
    assert_eq!(
        outcome.export("partly"),
        &value!({ "known": 2, "unknown": Value::Unknown })
    );
}

#[test]
fn dependencies_follow_values_at_any_depth() {
    let outcome = run(pets(), |ctx, pet| {
        let other = AnyResource::new(ctx, PET, "other", value!({}));
        let word: Output<String> = pet.output("word");
        let later = word.and_then(move |_| other.output::<String>("word"));
        AnyResource::new(
            ctx,
            PET,
            "user",
            value!({
                "one": { "deep": [interpolate!("{word}!")] },
                "two": later,
                "plain": 1,
            }),
        );
        let explicit = opts().depends_on([&pet]);
        AnyResource::with(ctx, PET, "explicit", value!({}), explicit);
        AnyResource::new(ctx, PET, "by-value", value!({ "pet": &pet }));
    });
    let outcome = outcome.expect_success();
    let pet = outcome.resource("pet").urn.clone();
    let other = outcome.resource("other").urn.clone();
    let user = outcome.resource("user");
    assert_eq!(
        user.property_dependencies["one"],
        std::slice::from_ref(&pet)
    );
    assert_eq!(
        user.property_dependencies["two"],
        [other.clone(), pet.clone()]
    );
    assert!(user.property_dependencies["plain"].is_empty());
    assert_eq!(user.dependencies, [other, pet.clone()]);
    assert_eq!(
        outcome.resource("explicit").dependencies,
        std::slice::from_ref(&pet)
    );
    assert_eq!(
        outcome.resource("by-value").property_dependencies["pet"],
        [pet]
    );
}

#[test]
fn failures_are_reported_once_with_the_line() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<String> = pet.output("word");
        let parsed = word.try_map(|it| it.parse::<u16>());
        ctx.export("parsed", &parsed);
        AnyResource::new(ctx, PET, "user", value!({ "port": parsed }));
    });
    assert_eq!(outcome.failures().len(), 1, "{}", outcome.report());
    let report = outcome.report();
    assert!(report.contains("invalid digit"), "{report}");
    assert!(report.contains("tests/outputs.rs:"), "{report}");
}

#[test]
fn a_failure_that_nobody_reads_fails_the_program() {
    let outcome = run(pets(), |_, pet| {
        let word: Output<String> = pet.output("word");
        let _ = word.map(|_| -> String { panic!("on purpose") });
    });
    let report = outcome.report();
    assert!(
        report.contains("the closure given to `map` panicked: on purpose"),
        "{report}"
    );
    assert!(report.contains("tests/outputs.rs:"), "{report}");
}

#[test]
fn a_value_of_another_type_names_the_resource() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<i64> = pet.output("word");
        ctx.export("word", word.map(|it| it + 1));
    });
    let report = outcome.report();
    assert!(
        report.contains("`pet` (random:index/randomPet:RandomPet)"),
        "{report}"
    );
    assert!(
        report.contains("expected an integer, found a string"),
        "{report}"
    );
}

#[test]
fn recover_replaces_a_failure() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<String> = pet.output("word");
        let port = word.try_map(|it| it.parse::<u16>()).recover(|_| 80);
        ctx.export("port", port);
    });
    assert_eq!(outcome.expect_success().export("port"), &value!(80));
}

#[test]
fn asynchronous_work_is_waited_for() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<String> = pet.output("word");
        let slow = word.map_async(|word| async move {
            let (sender, receiver) = std::sync::mpsc::channel();
            std::thread::spawn(move || sender.send(word.len()));
            receiver.recv().unwrap_or_default()
        });
        ctx.export("slow", slow);
    });
    assert_eq!(outcome.expect_success().export("slow"), &value!(3));
}

#[test]
fn json_goes_both_ways() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<String> = pet.output("word");
        let text = Output::from_value(value!({ "word": word, "n": 1 })).to_json();
        ctx.export("text", &text);
        ctx.export("back", text.parse_json::<Value>().key::<String>("word"));
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("text"), &value!(r#"{"n":1,"word":"dog"}"#));
    assert_eq!(outcome.export("back"), &value!("dog"));
}

#[test]
fn inputs_take_outputs_that_may_have_no_value() {
    let outcome = run(pets(), |ctx, pet| {
        let word: Output<Option<String>> = pet.output("word");
        let missing: Output<Option<String>> = pet.output("nothing");
        let mut inputs = plumb::Inputs::new();
        inputs.set::<String>("word", &word);
        inputs.set::<String>("missing", missing);
        inputs.set_secret::<String>("hidden", "s3cret");
        inputs.set_secret::<String>("unset", None::<String>);
        AnyResource::new(ctx, PET, "next", inputs);
    });
    let outcome = outcome.expect_success();
    let next = outcome.resource("next");
    assert_eq!(next.input("word"), &value!("dog"));
    assert_eq!(next.input("missing"), &Value::Null);
    assert_eq!(next.input("hidden"), &secret("s3cret"));
    assert_eq!(next.input("unset"), &Value::Null);
}

#[test]
fn closures_may_choose_another_output_or_fail() {
    let outcome = run(pets(), |ctx, pet| {
        let count: Output<i64> = pet.output("count");
        let id = pet.id();
        ctx.export(
            "id",
            count.try_and_then(move |count| {
                usize::try_from(count).map(|count| id.map(move |id| id.repeat(count)))
            }),
        );
        ctx.export(
            "only",
            Output::from_value(value!({ "res": count })).single::<i64>(),
        );
    });
    let outcome = outcome.expect_success();
    assert_eq!(outcome.export("id"), &value!("pet-idpet-idpet-id"));
    assert_eq!(outcome.export("only"), &value!(3));
    let outcome = run(pets(), |_, pet| {
        let word: Output<String> = pet.output("word");
        word.try_and_then(|word| word.parse::<u8>().map(Output::of));
    });
    let report = outcome.report();
    assert!(
        report.contains("invalid digit") && report.contains("outputs.rs"),
        "{report}"
    );
}
