//! What messages of ROS 2 are columns of, in CDR of either order of bytes, and in JSON.

use stiction::Error;
use stiction::trajectory::RecordingFile;

use super::mcap_writer::{
    Bag, Cdr, HEADER, POSE, QUATERNION, TIME, VECTOR, definition, joint_state, pose_stamped,
    wrench_stamped,
};
use crate::fixtures::folder::Folder;

/// A file of one topic with one message, which was recorded at 12 s, sent at 11 s.
fn one(
    folder: &Folder,
    encodings: (&str, &str),
    (kind, definition): (&str, &str),
    bytes: Vec<u8>,
) -> Result<RecordingFile, Error> {
    let mut bag = Bag::new(None);
    let topic = bag.channel("/a/b", encodings, kind, definition);
    bag.message(topic, [12_000_000_000, 11_000_000_000], bytes);
    let path = folder.path("one.mcap");
    std::fs::write(&path, bag.finish()).unwrap();
    RecordingFile::load(path)
}

/// The columns of such a file but for the times of the record, without the topic, by name; and where the row is.
fn columns(file: &RecordingFile) -> (Vec<(String, f64)>, f64) {
    let names: Vec<&str> = file.columns().collect();
    let rows = file.numbers(&names).unwrap();
    assert_eq!(rows.len(), 1);
    let mut found = Vec::new();
    let mut time = f64::NAN;
    for (name, number) in names.into_iter().zip(&rows[0]) {
        let number = number.unwrap_or(f64::NAN);
        match name.strip_prefix("/a/b.") {
            Some("log_time") => assert_eq!(number, 12.0),
            Some("publish_time") => assert_eq!(number, 11.0),
            Some(field) => found.push((field.to_string(), number)),
            None => {
                assert_eq!(name, "t");
                time = number;
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    (found, time)
}

fn ros(kind: &str, definition: &str, bytes: Vec<u8>) -> (Vec<(String, f64)>, f64) {
    let folder = Folder::new(&format!("mcap-{}", kind.replace('/', "-")));
    let file = one(&folder, ("cdr", "ros2msg"), (kind, definition), bytes);
    columns(&file.unwrap_or_else(|error| panic!("{error}")))
}

/// Names as they are, or `name.{a,b}` for `name.a` and `name.b`, with numbers in that order.
fn expected(names: &[&str], numbers: &[f64]) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for name in names {
        match name.split_once('{') {
            None => all.push(name.to_string()),
            Some((begin, ends)) => {
                all.extend(ends.trim_end_matches('}').split(',').map(|end| format!("{begin}{end}")))
            }
        }
    }
    assert_eq!(all.len(), numbers.len(), "{all:?}");
    let mut all: Vec<(String, f64)> = all.into_iter().zip(numbers.iter().copied()).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

const STAMP: i64 = 8_250_000_000;

#[test]
fn messages_of_ros_are_columns() {
    let standard = [
        ("geometry_msgs/Pose", POSE),
        ("geometry_msgs/Point", VECTOR),
        ("geometry_msgs/Quaternion", QUATERNION),
    ];
    let header = [("std_msgs/Header", HEADER), ("builtin_interfaces/Time", TIME)];
    let twist = [
        ("geometry_msgs/msg/Twist", "Vector3 linear\nVector3 angular"),
        ("geometry_msgs/Vector3", VECTOR),
    ];
    let covariance = "Pose pose\nfloat64[36] covariance\n";
    let of_36: Vec<f64> = (0..36).map(|k| 0.5 * f64::from(k)).collect();
    let names_36: Vec<String> = (0..36).map(|k| format!("covariance.{k}")).collect();
    let names_36: Vec<&str> = names_36.iter().map(String::as_str).collect();
    let pose = [1.0, -2.0, 3.5, 0.5, -0.5, 0.5, 0.5];
    let pose_names = ["position.{x,y,z}", "orientation.{x,y,z,w}"];
    let six = [0.1, 0.2, 0.3, -1.0, -2.0, -3.0];
    for big in [false, true] {
        let cdr = || Cdr::new(big);
        let found = ros(
            "geometry_msgs/msg/Pose",
            &definition(POSE, &standard[1..]),
            cdr().f64s(&pose).bytes(),
        );
        assert_eq!(found, (expected(&pose_names, &pose), 12.0));

        // After an odd length the numbers of eight bytes are aligned; the frame is no number.
        let bytes = cdr().header(STAMP).f64s(&pose).bytes();
        let found = ros("geometry_msgs/msg/PoseStamped", &pose_stamped(), bytes);
        let names = ["header.stamp", "pose.position.{x,y,z}", "pose.orientation.{x,y,z,w}"];
        assert_eq!(found, (expected(&names, &[&[8.25], &pose[..]].concat()), 8.25));

        let text = definition(covariance, &standard);
        let found = ros(
            "geometry_msgs/msg/PoseWithCovariance",
            &text,
            cdr().f64s(&pose).f64s(&of_36).bytes(),
        );
        let names =
            [&["pose.position.{x,y,z}", "pose.orientation.{x,y,z,w}"], &names_36[..]].concat();
        assert_eq!(found.0, expected(&names, &[&pose[..], &of_36].concat()));

        let text = definition(
            "Vector3 translation\nQuaternion rotation",
            &[("geometry_msgs/Vector3", VECTOR), standard[2]],
        );
        let found = ros("geometry_msgs/msg/Transform", &text, cdr().f64s(&pose).bytes());
        assert_eq!(found.0, expected(&["translation.{x,y,z}", "rotation.{x,y,z,w}"], &pose));

        let found = ros(
            "geometry_msgs/msg/Twist",
            &definition(twist[0].1, &twist[1..]),
            cdr().f64s(&six).bytes(),
        );
        assert_eq!(found.0, expected(&["linear.{x,y,z}", "angular.{x,y,z}"], &six));

        let found = ros(
            "geometry_msgs/msg/WrenchStamped",
            &wrench_stamped(),
            cdr().header(STAMP).f64s(&six).bytes(),
        );
        let names = ["header.stamp", "wrench.force.{x,y,z}", "wrench.torque.{x,y,z}"];
        assert_eq!(found.0, expected(&names, &[&[8.25], &six[..]].concat()));

        let own = "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist";
        let others = [
            ("geometry_msgs/PoseWithCovariance", covariance),
            ("geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance"),
        ];
        let text = definition(own, &[&others, &twist[..], &standard, &header].concat());
        let bytes = cdr()
            .header(STAMP)
            .text("base")
            .f64s(&pose)
            .f64s(&of_36)
            .f64s(&six)
            .f64s(&of_36)
            .bytes();
        let found = ros("nav_msgs/msg/Odometry", &text, bytes);
        assert_eq!(found.1, 8.25);
        let of = |name: &str| found.0.iter().find(|(own, _)| own == name).unwrap().1;
        assert_eq!(found.0.len(), 1 + 7 + 36 + 6 + 36);
        assert_eq!(
            [of("pose.pose.orientation.y"), of("twist.twist.angular.z"), of("twist.covariance.35")],
            [-0.5, -3.0, 17.5]
        );

        let own = "std_msgs/Header header\nQuaternion orientation\nfloat64[9] c\nVector3 angular_velocity\nVector3 linear_acceleration";
        let own = own
            .replace("Quaternion", "geometry_msgs/Quaternion")
            .replace("Vector3", "geometry_msgs/Vector3");
        let text = definition(&own, &[("geometry_msgs/Vector3", VECTOR), standard[2], header[0]]);
        let bytes = cdr().header(STAMP).f64s(&pose[3..]).f64s(&of_36[..9]).f64s(&six).bytes();
        let found = ros("sensor_msgs/msg/Imu", &text, bytes);
        let names = [
            "header.stamp",
            "orientation.{x,y,z,w}",
            "c.{0,1,2,3,4,5,6,7,8}",
            "angular_velocity.{x,y,z}",
            "linear_acceleration.{x,y,z}",
        ];
        assert_eq!(found.0, expected(&names, &[&[8.25], &pose[3..], &of_36[..9], &six].concat()));

        // By joint; without velocities, and efforts of another number of joints have no names.
        let bytes = cdr()
            .header(STAMP)
            .texts(&["elbow", "wrist 2"])
            .list(&[0.5, -1.5])
            .list(&[])
            .list(&[7.0])
            .bytes();
        let found = ros("sensor_msgs/msg/JointState", &joint_state(), bytes);
        let names = ["header.stamp", "position.{elbow,wrist 2}", "effort.0"];
        assert_eq!(found.0, expected(&names, &[8.25, 0.5, -1.5, 7.0]));

        // By the frame that a transform is of, with a stamp each.
        let transform = "std_msgs/Header header\nstring child_frame_id\nTransform transform";
        let others = [
            ("geometry_msgs/TransformStamped", transform),
            ("geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation"),
            ("geometry_msgs/Vector3", VECTOR),
        ];
        let text = definition(
            "geometry_msgs/TransformStamped[] transforms",
            &[&others, &standard[2..], &header].concat(),
        );
        let bytes = cdr()
            .u32(2)
            .header(STAMP)
            .text("box")
            .f64s(&pose)
            .header(STAMP + 1_000_000_000)
            .text("lid")
            .f64s(&pose);
        let found = ros("tf2_msgs/msg/TFMessage", &text, bytes.bytes());
        let names: Vec<String> = ["box", "lid"]
            .iter()
            .flat_map(|child| {
                ["header.stamp", "transform.translation.{x,y,z}", "transform.rotation.{x,y,z,w}"]
                    .map(|rest| format!("transforms.{child}.{rest}"))
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(found.0, expected(&names, &[&[8.25], &pose[..], &[9.25], &pose].concat()));
    }
}

#[test]
fn all_types_of_fields_are_read() {
    let own = "# All of them.
uint8 KIND=3        # constants take no bytes
string NAME = \"a # b\"
bool yes
byte small
char letter
int8 down
uint16 wide
int16 below
string<=5 short \"abc\"   # a default
uint32 large
int32 negative
uint64 huge
int64 least
float32 single 1.5
float64 double
builtin_interfaces/Duration wait
float32[3] three
int16[<=4] few
uint8[] many
Empty nothing
Pair[2] pairs
string[] words
bool last
";
    let text =
        definition(own, &[("a_msgs/Empty", "# nothing"), ("a_msgs/Pair", "uint8 a\nfloat64 b")]);
    for big in [false, true] {
        let cdr = Cdr::new(big).u8(1).u8(2).u8(65).u8(0xfe).u16(60_000).u16(0x8000).text("abc");
        let cdr = cdr.u32(4_000_000_000).u32(0xffff_fffe).u64(u64::MAX).u64(1 << 63);
        let cdr = cdr.f32(0.1).f64(-0.1).time(-1_500_000_000);
        let cdr = [1.0, 2.0, 4.0].iter().fold(cdr, |cdr, &x| cdr.f32(x));
        let cdr = cdr.u32(2).u16(5).u16(0xffff).u32(0).u8(0).u8(9).f64(0.25).u8(8).f64(0.75);
        let cdr = cdr.texts(&["", "ab"]).u8(1);
        // Padding at the end.
        let mut bytes = cdr.bytes();
        bytes.extend([0; 3]);
        let (found, _) = ros("a_msgs/msg/All", &text, bytes);
        let names = [
            "yes",
            "small",
            "letter",
            "down",
            "wide",
            "below",
            "large",
            "negative",
            "huge",
            "least",
            "single",
            "double",
            "wait",
            "three.{0,1,2}",
            "few.{0,1}",
            "pairs.0.{a,b}",
            "pairs.1.{a,b}",
            "last",
        ];
        let numbers = [
            1.0,
            2.0,
            65.0,
            -2.0,
            60_000.0,
            -32_768.0,
            4e9,
            -2.0,
            18_446_744_073_709_551_615.0,
            -9_223_372_036_854_775_808.0,
            f64::from(0.1_f32),
            -0.1,
            -1.5,
            1.0,
            2.0,
            4.0,
            5.0,
            -1.0,
            9.0,
            0.25,
            8.0,
            0.75,
            1.0,
        ];
        assert_eq!(found, expected(&names, &numbers));
    }
}

#[test]
fn json_is_read_by_paths() {
    let folder = Folder::new("mcap-json");
    let text = r#"{"timestamp": {"sec": 8, "nsec": 250000000}, "frame_id": "world", "ok": true, "lost": null,
        "pose": {"position": {"x": 1, "y": -2.5e-3}}, "data": [4, [5], 6], "name": ["elbow", "wrist"], "position": [0.5, 0.25]}"#;
    let file = one(&folder, ("json", "jsonschema"), ("foxglove.Pose", "{}"), text.into()).unwrap();
    let (found, time) = columns(&file);
    assert_eq!(time, 8.25);
    let named: Vec<String> =
        found.iter().filter(|(_, x)| !x.is_nan()).map(|(name, x)| format!("{name} {x}")).collect();
    assert_eq!(
        named,
        [
            "data.0 4",
            "data.1.0 5",
            "data.2 6",
            "ok 1",
            "pose.position.x 1",
            "pose.position.y -0.0025",
            "position.elbow 0.5",
            "position.wrist 0.25",
            "timestamp 8.25"
        ]
    );
    let error =
        one(&folder, ("json", ""), ("a", "{}"), b"{\"x\": ".to_vec()).unwrap_err().to_string();
    assert!(error.contains("one.mcap:1: /a/b: the message is no JSON"), "{error}");
}

/// What is wrong is said with the file and the topic.
#[test]
fn messages_that_are_not_what_they_claim_are_told() {
    let folder = Folder::new("mcap-wrong");
    let ros2 = ("cdr", "ros2msg");
    let double = "float64 x";
    let good = || Cdr::new(false).f64(1.0).bytes();
    let mut other = good();
    other[1] = 7;
    let claims = Cdr::new(false).u32(u32::MAX).bytes();
    let ask = |encodings, definition: &str, bytes: Vec<u8>| {
        let file = one(&folder, encodings, ("a/msg/A", definition), bytes)?;
        file.numbers(&["/a/b.x"]).map(|_| ())
    };
    ask(ros2, double, good()).unwrap();
    for (encodings, definition, bytes, message) in [
        (
            ros2,
            double,
            good()[..10].to_vec(),
            ":1: /a/b: the message is shorter than its definition",
        ),
        (ros2, double, vec![0, 1], ":1: /a/b: the message is shorter than its definition"),
        (
            ros2,
            double,
            [good(), vec![0; 8]].concat(),
            ":1: /a/b: the message has 8 bytes more than its definition",
        ),
        (
            ros2,
            double,
            other,
            ":1: /a/b: the message is of the kind 0x0007: only plain CDR of the first version",
        ),
        (ros2, "float64[] x", claims.clone(), "or has a list longer than its bytes"),
        (ros2, "string[] x", claims.clone(), "or has a list longer than its bytes"),
        (ros2, "string x", claims, "or has a list longer than its bytes"),
        (ros2, "float64[1000000000000] x", good(), "or has a list longer than its bytes"),
        (
            ros2,
            "float64\n",
            good(),
            "/a/b.x: the definition of a/msg/A is wrong: line 1: must be a type and a name",
        ),
        (
            ros2,
            "float64 x\nfloat64[k] y",
            good(),
            "line 2: must be a type and a name, found \"float64[k] y\"",
        ),
        (ros2, "Other x", good(), "line 1: Other is not defined"),
        (ros2, "wstring x", good(), "line 1: is of wstring"),
        (ros2, "A x", good(), "is wrong: has itself in it"),
        (
            ros2,
            "float64 x\n===\nMSG:\n",
            good(),
            "line 3: must be MSG: and the name of a message, found \"MSG:\"",
        ),
        (
            ("cdr", "ros2idl"),
            double,
            good(),
            "/a/b.x: its messages are defined in \"ros2idl\", and of cdr only those in ros2msg",
        ),
        (
            ("protobuf", "protobuf"),
            double,
            good(),
            "/a/b.x: its messages are of the encoding \"protobuf\": only cdr",
        ),
        (
            ros2,
            "float64 y",
            good(),
            "/a/b.x: the column is missing; its topic begins with /a/b.log_time,/a/b.publish_time,/a/b.y",
        ),
    ] {
        let error = ask(encodings, definition, bytes).unwrap_err().to_string();
        assert!(error.contains("one.mcap") && error.contains(message), "{definition}: {error}");
    }
    // Nested too deep for the stack of a program, and too long for columns.
    let deep: String = (0..5000).map(|k| format!("\n===\nMSG: a/B{k}\nB{} x\n", k + 1)).collect();
    let error = ask(ros2, &format!("B0 x{deep}"), good()).unwrap_err().to_string();
    assert!(error.contains("has more than 1000 messages in it"), "{error}");
    let nest = |levels: usize, field: &dyn Fn(usize) -> String| -> String {
        let inner =
            (1..levels).map(|k| format!("\n===\nMSG: a/B{k}\n{}", field(k))).collect::<String>();
        format!("{}{inner}", field(0))
    };
    let own = |last: usize| {
        move |k: usize| if k + 1 < last { format!("B{} x", k + 1) } else { "float64 x".into() }
    };
    let error = ask(ros2, &nest(51, &own(51)), good()).unwrap_err().to_string();
    assert!(error.contains("more than 50 messages in each other"), "{error}");
    let path = format!("/a/b{}", ".x".repeat(50));
    let file = one(&folder, ros2, ("a/msg/A", &nest(50, &own(50))), good()).unwrap();
    assert_eq!(file.numbers(&[&path]).unwrap(), [[Some(1.0)]]);
    // Lists in lists, each of which is looked ahead into for a name that comes after what it holds: once, not twice a level.
    let listed = |k: usize| {
        let inner = if k < 44 { format!("B{}[1] x", k + 1) } else { "float64 x".to_string() };
        format!("{inner}\nstring child_frame_id")
    };
    let texts = (0..45).fold(Cdr::new(false).f64(2.0), |cdr, _| cdr.text(""));
    let path = format!("/a/b{}.x", ".x.0".repeat(44));
    let file = one(&folder, ros2, ("a/msg/A", &nest(45, &listed)), texts.bytes()).unwrap();
    assert_eq!(file.numbers(&[&path]).unwrap(), [[Some(2.0)]]);
    let list = Cdr::new(false).list(&[1.0; 1001]).f64(3.0).bytes();
    let file = one(&folder, ros2, ("a/msg/A", "float64[] data\nfloat64 x"), list).unwrap();
    assert_eq!(columns(&file).0, [("x".to_string(), 3.0)]);
}
