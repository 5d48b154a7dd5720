//! Methods of the class `Helpers`, which expressions call.

/// A helper method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Can,
    FirstOf,
    Member,
    NotImplemented,
    OutputOf,
    Plain,
}

impl Helper {
    pub(super) fn name(self) -> &'static str {
        match self {
            Helper::Can => "Can",
            Helper::FirstOf => "FirstOf",
            Helper::Member => "Member",
            Helper::NotImplemented => "NotImplemented",
            Helper::OutputOf => "OutputOf",
            Helper::Plain => "Plain",
        }
    }

    /// Namespaces that its text refers to.
    pub(super) fn usings(self) -> &'static [&'static str] {
        match self {
            Helper::Can | Helper::FirstOf | Helper::NotImplemented => &["System"],
            Helper::Member => &["System", "System.Collections.Generic"],
            Helper::OutputOf => &["Pulumi", "System.Collections.Generic", "System.Linq"],
            Helper::Plain => &["System.Linq", "System.Text.Json"],
        }
    }

    /// Lines of the method.
    pub(super) fn text(self) -> &'static str {
        match self {
            Helper::Can => CAN,
            Helper::FirstOf => FIRST_OF,
            Helper::Member => MEMBER,
            Helper::NotImplemented => NOT_IMPLEMENTED,
            Helper::OutputOf => OUTPUT_OF,
            Helper::Plain => PLAIN,
        }
    }
}

const CAN: &str = "\
/// <summary>Whether a value can be computed.</summary>
public static bool Can(Func<object?> value)
{
    try
    {
        value();
        return true;
    }
    catch (Exception)
    {
        return false;
    }
}
";

const FIRST_OF: &str = "\
/// <summary>The first value that can be computed.</summary>
public static T FirstOf<T>(params Func<T>[] values)
{
    for (var i = 0; i < values.Length - 1; i++)
    {
        try
        {
            return values[i]();
        }
        catch (Exception)
        {
            // The next value may do.
        }
    }
    return values[values.Length - 1]();
}
";

const MEMBER: &str = "\
/// <summary>An entry of a map, or an element of a list.</summary>
public static object? Member(object? value, object key) => (value, key) switch
{
    (IDictionary<string, object?> map, string name) => map[name],
    (IList<object?> list, int index) => list[index],
    _ => throw new InvalidOperationException($\"there is no member {key}\"),
};
";

const NOT_IMPLEMENTED: &str = "\
/// <summary>Stands for what could not be converted.</summary>
public static object? NotImplemented(string message) => throw new NotImplementedException(message);
";

const OUTPUT_OF: &str = "\
/// <summary>A part of a value that contains outputs, as an output.</summary>
public static Output<object?> OutputOf(object? value) => value switch
{
    Output<object?> output => output,
    Dictionary<string, object?> map => Output
        .All(map.Select(it => OutputOf(it.Value).Apply(value => KeyValuePair.Create(it.Key, value))))
        .Apply(it => (object?)new Dictionary<string, object?>(it)),
    List<object?> list => Output.All(list.Select(OutputOf)).Apply(it => (object?)it.ToList()),
    _ => Output.Create(value),
};
";

const PLAIN: &str = "\
/// <summary>A setting of any type as lists, dictionaries, texts, numbers and flags.</summary>
public static object? Plain(JsonElement value) => value.ValueKind switch
{
    JsonValueKind.Object => value.EnumerateObject().ToDictionary(it => it.Name, it => Plain(it.Value)),
    JsonValueKind.Array => value.EnumerateArray().Select(Plain).ToList(),
    JsonValueKind.String => value.GetString(),
    JsonValueKind.Number => value.TryGetInt32(out var whole) ? whole : value.GetDouble(),
    JsonValueKind.True => true,
    JsonValueKind.False => false,
    _ => null,
};
";
