use std::sync::Arc;
use std::time::{Duration, Instant};

use plumb_resource::{ResourceId, ResourceKind};
use plumb_value::{PropertyMap, Value};

use super::model::Drawing;
use super::*;

fn args() -> GraphArgs {
    GraphArgs {
        ignore_parent_edges: false,
        ignore_dependency_edges: false,
        dependency_edge_color: DEPENDENCY_COLOR.into(),
        parent_edge_color: String::new(),
        short_node_name: false,
        dot_fragment: String::new(),
        format: None,
        open: false,
        file: None,
    }
}

fn resource(type_text: &str, name: &str, kind: ResourceKind) -> ResourceState {
    let urn = Urn::new("dev", "proj", "", type_text, name);
    ResourceState::new(urn, kind)
}

fn snapshot(states: Vec<ResourceState>) -> Snapshot {
    Snapshot {
        resources: states.into_iter().map(Arc::new).collect(),
        ..Snapshot::default()
    }
}

/// A component with a child that depends on a resource outside.
fn small(name: &str) -> Snapshot {
    let component = resource("site", "shop", ResourceKind::Component);
    let mut key = resource(
        "random:index/randomPassword:RandomPassword",
        name,
        ResourceKind::Custom,
    );
    key.id = ResourceId::from_text("id-1");
    key.outputs = Arc::new(PropertyMap::from_iter([(
        "result".into(),
        Value::secret(Value::from("hush-hush")),
    )]));
    let mut page = resource(
        "aws:s3/bucketObject:BucketObject",
        "page",
        ResourceKind::Custom,
    );
    page.parent = Some(component.urn.clone());
    page.dependencies = vec![key.urn.clone()].into();
    page.property_dependencies
        .insert("content".into(), vec![key.urn.clone()].into());
    snapshot(vec![component, key, page])
}

fn texts(snapshot: &Snapshot) -> [String; 2] {
    [Format::Svg, Format::Html].map(|format| text(format, snapshot, "proj/dev", &args()))
}

#[test]
fn pictures_have_names_and_dependencies_and_no_properties() {
    for text in texts(&small("key")) {
        assert!(text.contains(">key</text>") && text.contains(">random:RandomPassword</text>"));
        assert!(
            text.contains("data-a=\"1\" data-b=\"2\"") && text.contains("<title>content</title>")
        );
        assert!(!text.contains("hush") && !text.contains("result"));
        assert!(
            !text.contains("http://")
                || text.matches("http://").count()
                    == text.matches("http://www.w3.org/2000/svg").count()
        );
        assert!(!text.contains("https://") && !text.contains(" src="));
    }
}

#[test]
fn hostile_names_stay_text() {
    let name = "</title></script><script>alert(1)</script><img src=x onerror='alert(2)'>\"&<!--/*DATA*/<!--GRAPH-->";
    let [svg, html] = texts(&small(name));
    assert!(!svg.contains("<script") && !svg.contains("<img"));
    assert_eq!(html.matches("<script").count(), 2);
    assert_eq!(html.matches("</script>").count(), 2);
    assert!(!html.contains("<img") && !html.contains("<!--"));
    let shown = "&lt;/title&gt;&lt;/script&gt;&lt;script&gt;";
    assert!(svg.contains(shown) && html.contains(shown));
    let json = html.split("type=\"application/json\">").nth(1).unwrap();
    let json = json.split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(data["nodes"][1]["name"], name);
    assert_eq!(data["edges"][0], serde_json::json!([1, 2, "content"]));
}

#[test]
fn a_stack_name_and_a_colour_cannot_end_their_place() {
    let hostile = GraphArgs {
        dependency_edge_color: "red;}</style><script>".into(),
        ..args()
    };
    for format in [Format::Svg, Format::Html] {
        let text = text(format, &small("key"), "<script>x</script>", &hostile);
        assert!(text.contains("stroke: redstylescript;"), "{text}");
        assert!(text.contains("Graph of &lt;script&gt;"));
    }
}

#[test]
fn edges_and_boxes_can_be_left_out() {
    let snapshot = small("key");
    let flat = GraphArgs {
        ignore_parent_edges: true,
        ..args()
    };
    assert!(
        Drawing::of(&snapshot, &flat)
            .nodes
            .iter()
            .all(|node| node.parent.is_none())
    );
    let bare = GraphArgs {
        ignore_dependency_edges: true,
        ..args()
    };
    assert!(Drawing::of(&snapshot, &bare).edges.is_empty());
    let drawing = Drawing::of(&snapshot, &args());
    assert_eq!(drawing.nodes[2].parent, Some(0));
    assert!(drawing.nodes[0].has_children && !drawing.nodes[1].has_children);
}

#[test]
fn the_name_of_the_file_and_the_flag_choose_the_format() {
    let chosen = |format: Option<&str>, file: Option<&str>| {
        let args = GraphArgs {
            format: format.map(Into::into),
            file: file.map(Into::into),
            ..args()
        };
        Format::chosen(&args).ok()
    };
    assert_eq!(chosen(None, Some("g.dot")), Some(Format::Dot));
    assert_eq!(chosen(None, Some("g.SVG")), Some(Format::Svg));
    assert_eq!(chosen(None, Some("g.html")), Some(Format::Html));
    assert_eq!(chosen(Some("dot"), Some("g.svg")), Some(Format::Dot));
    assert_eq!(chosen(None, None), Some(Format::Html));
    assert_eq!(chosen(Some("png"), Some("g")), None);
}

#[test]
fn five_thousand_resources_take_seconds_even_without_optimization() {
    let mut states: Vec<ResourceState> = Vec::new();
    for at in 0..5000 {
        let mut state = resource("t:index:T", &format!("r{at}"), ResourceKind::Custom);
        if at > 0 {
            state.parent = Some(states[at / 20].urn.clone());
            state.dependencies =
                vec![states[at / 3].urn.clone(), states[at - 1].urn.clone()].into();
        }
        states.push(state);
    }
    let snapshot = snapshot(states);
    let began = Instant::now();
    assert!(text(Format::Html, &snapshot, "proj/dev", &args()).len() > 1 << 20);
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
