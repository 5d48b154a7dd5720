//! Arguments of a function, by name and type.

use plumb_value::{PropertyMap, Value};

/// The arguments of one call.
pub(super) struct Args<'a>(pub(super) &'a PropertyMap);

/// The result of a function, or why there is none.
pub(super) type Answer = Result<Value, String>;

static NULL: Value = Value::Null;

impl<'a> Args<'a> {
    /// An argument of any type; null if it is absent.
    pub(super) fn any(&self, name: &str) -> &'a Value {
        self.0.get(name).unwrap_or(&NULL)
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, String> {
        self.any(name)
            .as_str()
            .ok_or_else(|| wrong(name, "a string"))
    }

    pub(super) fn number(&self, name: &str) -> Result<f64, String> {
        number_of(self.any(name)).ok_or_else(|| wrong(name, "a number"))
    }

    pub(super) fn integer(&self, name: &str) -> Result<i64, String> {
        let number = self.number(name)?;
        if number.fract() == 0.0 && number.abs() < 9e15 {
            Ok(number as i64)
        } else {
            Err(wrong(name, "an integer"))
        }
    }

    /// An integer that may be absent.
    pub(super) fn optional_integer(&self, name: &str) -> Result<Option<i64>, String> {
        if self.any(name).is_null() {
            Ok(None)
        } else {
            self.integer(name).map(Some)
        }
    }

    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], String> {
        self.any(name)
            .as_array()
            .ok_or_else(|| wrong(name, "a list"))
    }

    pub(super) fn texts(&self, name: &str) -> Result<Vec<&'a str>, String> {
        let items = self.list(name)?.iter();
        let texts = items.map(|it| it.as_str().ok_or_else(|| wrong(name, "a list of strings")));
        texts.collect()
    }

    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f64>, String> {
        let items = self.list(name)?.iter();
        let numbers = items.map(|it| number_of(it).ok_or_else(|| wrong(name, "a list of numbers")));
        numbers.collect()
    }

    pub(super) fn map(&self, name: &str) -> Result<&'a PropertyMap, String> {
        self.any(name)
            .as_object()
            .ok_or_else(|| wrong(name, "a map"))
    }

    pub(super) fn lists(&self, name: &str) -> Result<Vec<&'a [Value]>, String> {
        let items = self.list(name)?.iter();
        let lists = items.map(|it| it.as_array().ok_or_else(|| wrong(name, "a list of lists")));
        lists.collect()
    }
}

fn number_of(value: &Value) -> Option<f64> {
    value
        .as_number()
        .or_else(|| value.as_str().and_then(|it| it.parse().ok()))
}

fn wrong(name: &str, wanted: &str) -> String {
    format!("the argument {name:?} must be {wanted}")
}
