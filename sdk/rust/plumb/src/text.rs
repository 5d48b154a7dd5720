//! Text from outputs: the pieces of [`interpolate!`](crate::interpolate!).

use crate::input::Input;
use crate::output::{Cell, Output, Resolved};
use crate::value::{FromValue, IntoValue, Secret, Value};

/// A part of a text: what `{}` in [`interpolate!`](crate::interpolate!) takes.
pub trait IntoText {
    /// The part as an output.
    fn into_text(self) -> Output<String>;
}

macro_rules! plain {
    ($($type:ty),+) => {$(
        impl IntoText for $type {
            fn into_text(self) -> Output<String> {
                Output::of(self.to_string())
            }
        }

        impl IntoText for &$type {
            fn into_text(self) -> Output<String> {
                Output::of(self.to_string())
            }
        }

        impl TextValue for $type {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

/// A type that has a text when it is known.
pub trait TextValue {
    /// The text.
    fn text(&self) -> String;
}

plain!(
    String, bool, char, i8, i16, i32, i64, u8, u16, u32, u64, usize, f32, f64
);

impl IntoText for &str {
    fn into_text(self) -> Output<String> {
        Output::of(self.to_owned())
    }
}

impl<'a, T: ?Sized> IntoText for &&'a T
where
    &'a T: IntoText,
{
    fn into_text(self) -> Output<String> {
        (*self).into_text()
    }
}

impl<T: TextValue + Clone + Send + Sync + 'static> IntoText for Output<T> {
    fn into_text(self) -> Output<String> {
        (&self).into_text()
    }
}

impl<T: TextValue + Clone + Send + Sync + 'static> IntoText for &Output<T> {
    fn into_text(self) -> Output<String> {
        self.map(|value| value.text())
    }
}

impl<T: TextValue + FromValue + Clone + Send + Sync + 'static> IntoText for Input<T> {
    fn into_text(self) -> Output<String> {
        self.to_output().into_text()
    }
}

impl<T: TextValue + FromValue + Clone + Send + Sync + 'static> IntoText for &Input<T> {
    fn into_text(self) -> Output<String> {
        self.to_output().into_text()
    }
}

impl<T: TextValue> IntoText for Secret<T> {
    fn into_text(self) -> Output<String> {
        Output::of(self.expose().text()).secret()
    }
}

impl<T: TextValue> IntoText for &Secret<T> {
    fn into_text(self) -> Output<String> {
        Output::of(self.expose().text()).secret()
    }
}

/// The parts one after the other: for the macro.
pub fn concat(parts: Vec<Output<String>>) -> Output<String> {
    let program = parts.iter().find_map(Output::program).cloned();
    Output::native(Cell::driven(program, async move {
        let mut marks = Resolved::<()>::known(());
        let mut text = Some(String::new());
        for part in parts {
            let state = part.resolve().await?;
            marks.absorb(&state);
            text = text.zip(state.value).map(|(text, part)| text + &part);
        }
        Ok(marks.with(text))
    }))
}

impl TextValue for Value {
    fn text(&self) -> String {
        match self {
            Value::String(text) => text.clone(),
            other => other.to_json().unwrap_or_else(|_| other.kind().to_owned()),
        }
    }
}

/// Something that becomes text when it is known; also used for values that are no outputs.
impl IntoText for Value {
    fn into_text(self) -> Output<String> {
        Output::from_value(self.into_value()).into_text()
    }
}
