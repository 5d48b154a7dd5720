//! Several outputs as one.

use super::{Cell, Output, Resolved};
use crate::Error;

/// An output, by value or by reference.
pub trait IntoOutput {
    /// Type of the value.
    type Item;

    /// The output itself.
    fn into_output(self) -> Output<Self::Item>;
}

impl<T> IntoOutput for Output<T> {
    type Item = T;

    fn into_output(self) -> Output<T> {
        self
    }
}

impl<T> IntoOutput for &Output<T> {
    type Item = T;

    fn into_output(self) -> Output<T> {
        self.clone()
    }
}

/// A tuple of outputs.
///
/// ```
/// use plumb::{Join as _, Output};
/// let (host, port) = (Output::of("db".to_owned()), Output::of(5432));
/// let address = (&host, &port).join().map(|(host, port)| format!("{host}:{port}"));
/// ```
pub trait Join {
    /// The tuple of their values.
    type Values;

    /// One output of all values: known when all are, secret if one is, and as failed as the first that failed.
    ///
    /// ```
    /// use plumb::{Join as _, Output};
    /// let sum = (Output::of(1), Output::of(2)).join().map(|(a, b)| a + b);
    /// ```
    fn join(self) -> Output<Self::Values>;
}

macro_rules! join {
    ($($type:ident $name:ident),+) => {
        impl<$($type),+> Join for ($($type,)+)
        where
            $($type: IntoOutput, $type::Item: Clone + Send + Sync + 'static),+
        {
            type Values = ($($type::Item,)+);

            fn join(self) -> Output<Self::Values> {
                let ($($name,)+) = self;
                $(let $name = $name.into_output();)+
                let program = None$(.or($name.program()))+.cloned();
                Output::native(Cell::driven(program, async move {
                    let mut marks = Resolved::<()>::known(());
                    $(
                        let $name = $name.resolve().await?;
                        marks.absorb(&$name);
                    )+
                    let values = match ($($name.value,)+) {
                        ($(Some($name),)+) => Some(($($name,)+)),
                        _ => None,
                    };
                    Ok::<_, Error>(marks.with(values))
                }))
            }
        }
    };
}

join!(A a);
join!(A a, B b);
join!(A a, B b, C c);
join!(A a, B b, C c, D d);
join!(A a, B b, C c, D d, E e);
join!(A a, B b, C c, D d, E e, F f);
join!(A a, B b, C c, D d, E e, F f, G g);
join!(A a, B b, C c, D d, E e, F f, G g, H h);

impl<T: Clone + Send + Sync + 'static> Output<T> {
    /// One output of the values of many.
    ///
    /// ```
    /// use plumb::Output;
    /// let names = Output::join_all(["a", "b"].map(|name| Output::of(name.to_owned())));
    /// let line = names.map(|names| names.join(", "));
    /// ```
    pub fn join_all<I>(outputs: I) -> Output<Vec<T>>
    where
        I: IntoIterator,
        I::Item: IntoOutput<Item = T>,
    {
        let outputs: Vec<Output<T>> = outputs.into_iter().map(IntoOutput::into_output).collect();
        let program = outputs.iter().find_map(Output::program).cloned();
        Output::native(Cell::driven(program, async move {
            let mut marks = Resolved::<()>::known(());
            let mut values = Some(Vec::with_capacity(outputs.len()));
            for output in outputs {
                let state = output.resolve().await?;
                marks.absorb(&state);
                values = values.zip(state.value).map(|(mut values, value)| {
                    values.push(value);
                    values
                });
            }
            Ok(marks.with(values))
        }))
    }
}
