//! Inputs: values that may be there later.
//!
//! An [`Input`] of a type takes a plain value, an output, a secret, or a collection of any of them. [`Inputs`] are the
//! named inputs of a resource.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;

use crate::output::{Cell, Output, settle};
use crate::value::{Archive, Asset, AssetOrArchive, FromValue, IntoValue, Mismatch, Secret, Value};

/// A value of type `T` for a resource: plain, or an output, or with outputs inside.
///
/// Functions take `impl Into<Input<T>>`, so that callers write what they have:
///
/// ```
/// use plumb::{Input, Output};
/// fn bucket(name: impl Into<Input<String>>) { let _ = name.into(); }
/// bucket("logs");
/// bucket(String::from("logs"));
/// bucket(&Output::of(String::from("logs")));
/// ```
pub struct Input<T> {
    /// `None` leaves the input unset.
    value: Option<Value>,
    kind: PhantomData<fn() -> T>,
}

impl<T> Input<T> {
    /// An input from a value that is known to fit.
    pub fn from_value(value: Value) -> Self {
        Input {
            value: Some(value),
            kind: PhantomData,
        }
    }

    /// An input that is not there.
    pub fn unset() -> Self {
        Input {
            value: None,
            kind: PhantomData,
        }
    }

    /// The value; `None` if the input is not there.
    pub fn into_inner(self) -> Option<Value> {
        self.value
    }
}

impl<T: FromValue + Clone + Send + Sync + 'static> Input<T> {
    /// The input as an output, to make something else from it.
    pub fn to_output(&self) -> Output<T> {
        let value = self.value.clone().unwrap_or_default();
        Output::dynamic(Cell::lazy(crate::output::program_of(&value), settle(value)))
    }
}

impl<T> Clone for Input<T> {
    fn clone(&self) -> Self {
        Input {
            value: self.value.clone(),
            kind: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => value.fmt(f),
            None => f.write_str("unset"),
        }
    }
}

impl<T> FromValue for Input<T> {
    /// An input of a component that another program makes: what is inside is looked at when it is used.
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        Ok(match value {
            Value::Null => Input::unset(),
            value => Input::from_value(value),
        })
    }
}

impl<T> IntoValue for Input<T> {
    fn into_value(self) -> Value {
        self.value.unwrap_or_default()
    }
}

impl<T> IntoValue for &Input<T> {
    fn into_value(self) -> Value {
        self.value.clone().unwrap_or_default()
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> From<Output<T>> for Input<T> {
    fn from(output: Output<T>) -> Self {
        Input::from_value(output.into_value())
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> From<&Output<T>> for Input<T> {
    fn from(output: &Output<T>) -> Self {
        Input::from_value(output.into_value())
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> From<Output<Option<T>>> for Input<T> {
    /// An output without a value leaves the input unset.
    fn from(output: Output<Option<T>>) -> Self {
        Input::from_value(output.into_value())
    }
}

impl<T: IntoValue + Clone + Send + Sync + 'static> From<&Output<Option<T>>> for Input<T> {
    fn from(output: &Output<Option<T>>) -> Self {
        Input::from_value(output.into_value())
    }
}

impl<T> From<&Input<T>> for Input<T> {
    fn from(input: &Input<T>) -> Self {
        input.clone()
    }
}

impl<T, U: Into<Input<T>>> From<Option<U>> for Input<T> {
    fn from(value: Option<U>) -> Self {
        value.map_or_else(Input::unset, Into::into)
    }
}

impl<T, U: Into<Input<T>>> From<Secret<U>> for Input<T>
where
    U: Clone,
{
    fn from(secret: Secret<U>) -> Self {
        let inner: Input<T> = secret.expose().clone().into();
        Input::from_value(Value::Secret(Box::new(inner.into_value())))
    }
}

impl<T, U: Into<Input<T>>> From<&Secret<U>> for Input<T>
where
    U: Clone,
{
    fn from(secret: &Secret<U>) -> Self {
        secret.clone().into()
    }
}

impl<T, U: Into<Input<T>>> From<Vec<U>> for Input<Vec<T>> {
    fn from(values: Vec<U>) -> Self {
        let values = values.into_iter().map(|it| it.into().into_value());
        Input::from_value(Value::List(values.collect()))
    }
}

impl<T, U: Into<Input<T>>, const N: usize> From<[U; N]> for Input<Vec<T>> {
    fn from(values: [U; N]) -> Self {
        Vec::from(values).into()
    }
}

fn members<T, K: Into<String>, U: Into<Input<T>>>(
    values: impl IntoIterator<Item = (K, U)>,
) -> Input<BTreeMap<String, T>> {
    let values = values.into_iter();
    let members = values.map(|(key, value)| (key.into(), value.into().into_value()));
    Input::from_value(Value::Map(members.collect()))
}

impl<T, K: Into<String>, U: Into<Input<T>>, const N: usize> From<[(K, U); N]>
    for Input<BTreeMap<String, T>>
{
    fn from(values: [(K, U); N]) -> Self {
        members(values)
    }
}

impl<T, K: Into<String>, U: Into<Input<T>>> From<BTreeMap<K, U>> for Input<BTreeMap<String, T>> {
    fn from(values: BTreeMap<K, U>) -> Self {
        members(values)
    }
}

impl<T, K: Into<String>, U: Into<Input<T>>, H> From<HashMap<K, U, H>>
    for Input<BTreeMap<String, T>>
{
    fn from(values: HashMap<K, U, H>) -> Self {
        members(values)
    }
}

macro_rules! plain {
    ($($target:ty: $($source:ty),+;)+) => {$($(
        impl From<$source> for Input<$target> {
            fn from(value: $source) -> Self {
                Input::from_value(value.into_value())
            }
        }
    )+)+};
}

plain! {
    bool: bool;
    i64: i8, i16, i32, i64, u8, u16, u32, u64, usize;
    f64: i8, i16, i32, i64, u8, u16, u32, u64, usize, f32, f64;
    Asset: Asset;
    Archive: Archive;
    AssetOrArchive: AssetOrArchive;
    Value: Value, &Value, bool, i32, i64, u32, f64;
}

/// A type that texts are values of.
pub trait TextType {}

impl TextType for String {}
impl TextType for Value {}

impl<T: TextType> From<&str> for Input<T> {
    fn from(text: &str) -> Self {
        Input::from_value(text.into_value())
    }
}

impl<T: TextType> From<String> for Input<T> {
    fn from(text: String) -> Self {
        Input::from_value(text.into_value())
    }
}

impl<T: TextType> From<&String> for Input<T> {
    fn from(text: &String) -> Self {
        Input::from_value(text.into_value())
    }
}

impl From<Asset> for Input<AssetOrArchive> {
    fn from(asset: Asset) -> Self {
        Input::from_value(Value::Asset(asset))
    }
}

impl From<Archive> for Input<AssetOrArchive> {
    fn from(archive: Archive) -> Self {
        Input::from_value(Value::Archive(archive))
    }
}

/// A list of an input, of things that are not of one type: plain values, outputs, secrets.
///
/// ```
/// use plumb::{Input, Output, list};
/// fn subnets(ids: impl Into<Input<Vec<String>>>) { let _ = ids.into(); }
/// let subnet = Output::of(String::from("subnet-1"));
/// subnets(list![&subnet, "subnet-2"]);
/// ```
///
/// Values of one type need no macro: `subnets(["a", "b"])`.
#[macro_export]
macro_rules! list {
    ($($item:expr),* $(,)?) => {
        $crate::private::list(::std::vec![$(::std::convert::Into::<$crate::Input<_>>::into($item)),*])
    };
}

/// The list of [`list!`](crate::list!).
pub fn list<T>(items: Vec<Input<T>>) -> Input<Vec<T>> {
    items.into()
}

/// A map of an input, to things that are not of one type: plain values, outputs, secrets.
///
/// ```
/// use plumb::{Output, Input, map};
/// use std::collections::BTreeMap;
/// fn variables(map: impl Into<Input<BTreeMap<String, String>>>) { let _ = map.into(); }
/// let bucket = Output::of(String::from("logs"));
/// variables(map! { "BUCKET" => &bucket, "LEVEL" => "info" });
/// ```
///
/// Values of one type need no macro: `variables([("LEVEL", "info")])`.
#[macro_export]
macro_rules! map {
    ($($key:expr => $value:expr),* $(,)?) => {
        $crate::private::map(::std::vec![$((
            ::std::string::String::from($key),
            ::std::convert::Into::<$crate::Input<_>>::into($value),
        )),*])
    };
}

/// The map of [`map!`](crate::map!).
pub fn map<T>(members: Vec<(String, Input<T>)>) -> Input<BTreeMap<String, T>> {
    self::members(members)
}

/// Named inputs of a resource or a function.
///
/// ```
/// use plumb::{Inputs, Output, value};
/// let mut inputs = Inputs::from(value!({ "length": 8 }));
/// inputs.set::<String>("prefix", &Output::of("web".to_owned()));
/// inputs.set_secret::<String>("token", "t0p s3cret");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Inputs(BTreeMap<String, Value>);

impl Inputs {
    /// No inputs.
    pub fn new() -> Self {
        Inputs::default()
    }

    /// Sets an input; one that is not there stays unset.
    pub fn set<T>(&mut self, name: &str, value: impl Into<Input<T>>) {
        if let Some(value) = value.into().into_inner() {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Sets an input that is a secret, whatever the program passes; one that is not there stays unset.
    pub fn set_secret<T>(&mut self, name: &str, value: impl Into<Input<T>>) {
        match value.into().into_inner() {
            None => {}
            Some(Value::Null) => self.set_value(name, Value::Null),
            Some(value) => self.set_value(name, Value::Secret(Box::new(value))),
        }
    }

    /// Sets an input whatever its type.
    pub fn set_value(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    pub(crate) fn members(&self) -> &BTreeMap<String, Value> {
        &self.0
    }
}

impl IntoValue for Inputs {
    fn into_value(self) -> Value {
        Value::Map(self.0)
    }
}

impl From<Value> for Inputs {
    /// Inputs from [`value!`](crate::value!); a value that is no object has none.
    fn from(value: Value) -> Self {
        match value {
            Value::Map(members) => Inputs(members),
            _ => Inputs::default(),
        }
    }
}

impl<const N: usize> From<[(&str, Value); N]> for Inputs {
    fn from(members: [(&str, Value); N]) -> Self {
        let members = members.into_iter();
        Inputs(
            members
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }
}
