//! Random expressions: formatting is idempotent, and generators do not panic.

use plumb_pcl::{Leniency, Sources};
use plumb_programs::{ProgramLanguage, generate};
use proptest::prelude::*;

use super::corpus::load;

fn expressions() -> impl Strategy<Value = String> {
    let leaves = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("secret(1)".to_owned()),
        Just("size".to_owned()),
        Just("pet.id".to_owned()),
        Just("pet.keepers".to_owned()),
        Just("pets[*].id".to_owned()),
        Just("items".to_owned()),
        (0..100_u32).prop_map(|number| number.to_string()),
        "[a-z`'${}\\\\ ]{0,6}".prop_map(|text| plumb_eval::hcl::quoted(&text)),
    ];
    leaves.prop_recursive(4, 24, 4, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            two.clone()
                .prop_map(|(a, b)| format!("{{ x = {a}, \"y z\" = {b} }}")),
            two.clone().prop_map(|(a, b)| format!("({a}) == ({b})")),
            two.clone().prop_map(|(a, b)| format!("try({a}, {b})")),
            two.clone()
                .prop_map(|(a, b)| format!("\"<${{{a}}}${{{b}}}>\"")),
            two.clone()
                .prop_map(|(a, b)| format!("[for k, v in [{a}] : {{ k = k, v = v, b = {b} }}]")),
            two.clone()
                .prop_map(|(a, b)| format!("element([{a}], {b})")),
            inner.clone().prop_map(|a| format!("toJSON({a})")),
            inner.clone().prop_map(|a| format!("join(\",\", [{a}])")),
            inner.clone().prop_map(|a| format!("entries({a})")),
            inner.clone().prop_map(|a| format!("length({a})")),
            (inner.clone(), two).prop_map(|(c, (a, b))| format!("({c}) ? ({a}) : ({b})")),
        ]
    })
}

const AROUND: &str = "config size int { default = 2 }\nitems = [1, size]\nresource pet \"random:index/randomPet:RandomPet\" {\n}\nresource pets \"random:index/randomPet:RandomPet\" {\n  options {\n    range = size\n  }\n}\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_expression_is_printed_stably_and_generated_without_panic(expression in expressions()) {
        let text = format!("{AROUND}output it {{\n  value = {expression}\n}}\n");
        let once = plumb_pcl::format("main.pp", &text).unwrap();
        prop_assert_eq!(&plumb_pcl::format("main.pp", &once).unwrap(), &once);
        let sources = |text: &str| Sources::new([("main.pp".to_owned(), text.to_owned())]);
        let (first, second) = (sources(&text), sources(&once));
        for language in [
            ProgramLanguage::Python,
            ProgramLanguage::Nodejs,
            ProgramLanguage::Go,
            ProgramLanguage::Java,
            ProgramLanguage::Csharp,
            ProgramLanguage::Rust,
        ] {
            let first = generate(&load(&first, Leniency::ALL).program, language);
            let second = generate(&load(&second, Leniency::ALL).program, language);
            prop_assert_eq!(first.files, second.files);
        }
    }
}
