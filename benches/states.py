"""States of any size, for benchmarks that read them."""


def deployment(listed):
    return {"manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""}, "resources": listed}


def resources(project, count, width):
    """The stack `dev` of a project: two outputs, a provider, and `count` resources with `width` characters of text each.

    The text is in the inputs and in the outputs.
    """
    prefix = f"urn:pulumi:dev::{project}::"
    root = f"{prefix}pulumi:pulumi:Stack::{project}-dev"
    provider = f"{prefix}pulumi:providers:lab::default"
    listed = [
        {"urn": root, "custom": False, "type": "pulumi:pulumi:Stack", "outputs": {"answer": 42, "name": "large"}},
        {"urn": provider, "custom": True, "type": "pulumi:providers:lab", "id": "0000-1", "inputs": {}, "outputs": {}},
    ]
    for number in range(count):
        text = f"value {number} " * (width // 12)
        properties = {"name": f"thing-{number}", "text": text, "tags": {"number": str(number), "kind": "thing"}}
        listed.append({
            "urn": f"{prefix}lab:index:Thing::thing-{number}",
            "custom": True,
            "id": f"id-{number}",
            "type": "lab:index:Thing",
            "inputs": properties,
            "outputs": {**properties, "state": "running"},
            "parent": root,
            "provider": f"{provider}::0000-1",
            "propertyDependencies": {"name": None, "text": None, "tags": None},
        })
    return listed
