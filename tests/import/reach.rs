//! Which files a model may name.

use std::fs;

use crate::folder::Folder;
use crate::program::{refuses, succeeds};

const MESH: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

fn urdf(mesh: &str) -> String {
    format!(
        "<robot name='r'><link name='base'><collision><geometry><mesh filename='{mesh}'/></geometry></collision>\
         </link></robot>"
    )
}

fn mjcf(directory: &str, mesh: &str) -> String {
    format!(
        "<mujoco><compiler meshdir='{directory}'/><asset><mesh name='m' file='{mesh}'/></asset><worldbody><body>\
         <freejoint/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
    )
}

fn toml(mesh: &str) -> String {
    format!(
        "[simulation]\ntime_step = 0.01\n[[body]]\nname = 'rock'\nmass = 1\nshape = {{ mesh = '{mesh}' }}\n"
    )
}

/// A folder with a secret beside the folders of models.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    for inner in ["plain", "sub/robots", "sub/meshes", "package/deep/er", "package/meshes"] {
        fs::create_dir_all(folder.path(inner)).unwrap();
    }
    for mesh in ["sub/meshes/rock.obj", "package/meshes/rock.obj", "plain/rock.obj", "secret.obj"] {
        folder.write(mesh, MESH);
    }
    folder.write("package/package.xml", "<package/>");
    folder
}

#[test]
fn models_do_not_read_beyond_their_package() {
    let folder = folder("reach");
    let secret = folder.path("secret.obj").display().to_string();
    let scheme = format!("file://{secret}");
    let include = "<mujoco><include file='../secret.xml'/></mujoco>".to_string();
    folder.write(
        "secret.xml",
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>",
    );
    for (name, text) in [
        ("plain/a.toml", toml("../secret.obj")),
        ("plain/b.toml", toml(&secret)),
        ("plain/c.toml", toml("../sub/../secret.obj")),
        ("plain/a.xml", mjcf("..", "secret.obj")),
        ("plain/b.xml", mjcf("", &secret)),
        ("plain/c.xml", include),
        ("plain/a.urdf", urdf("../secret.obj")),
        ("plain/b.urdf", urdf(&scheme)),
        ("package/deep/er/a.urdf", urdf("../../../secret.obj")),
        ("sub/robots/a.urdf", urdf("../../secret.obj")),
    ] {
        folder.write(name, &text);
        let output = folder.run(&["import", name]);
        refuses(&output, &["secret.", "lies outside of", "STICTION_PATH="]);
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_stiction"));
        let root = folder.path(".");
        let allowed =
            program.args(["import", name]).current_dir(folder.path(".")).env("STICTION_PATH", root);
        let allowed = allowed.output().unwrap();
        assert_eq!(allowed.status.code(), Some(0), "{name}: {allowed:?}");
    }
    for name in [
        "package://plain/../../x",
        "package://../secret.obj",
        "package://package/a/../../secret.obj",
    ] {
        folder.write("plain/d.urdf", &urdf(name));
        refuses(&folder.run(&["import", "plain/d.urdf"]), &["leads out of its package"]);
    }
}

#[test]
fn packages_are_read_as_people_lay_them_out() {
    let folder = folder("reach-packages");
    for (name, text) in [
        ("plain/a.toml", toml("rock.obj")),
        ("plain/b.toml", toml("../plain/rock.obj")),
        ("sub/robots/a.urdf", urdf("../meshes/rock.obj")),
        ("sub/robots/a.xml", mjcf("../meshes", "rock.obj")),
        ("package/deep/er/a.urdf", urdf("../../meshes/rock.obj")),
        ("package/deep/er/b.urdf", urdf("package://package/meshes/rock.obj")),
    ] {
        folder.write(name, &text);
        let output = folder.run(&["import", name]);
        let scene = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && scene.contains("rock.obj"), "{name}: {scene}");
    }
}

/// What is written is read again, wherever that is.
#[test]
fn scenes_written_elsewhere_have_hulls_in_the_place_of_meshes() {
    let folder = folder("reach-written");
    folder.write("plain/a.toml", &toml("rock.obj"));
    for (written, has) in
        [("plain/b.toml", "mesh = \"rock.obj\""), ("sub/robots/b.toml", "convex = [[")]
    {
        folder.write("plain/a.xml", &mjcf("", "rock.obj"));
        let output = folder.run(&["import", "plain/a.xml", "-o", written]);
        assert!(output.status.success(), "{output:?}");
        assert!(folder.read(written).contains(has), "{}", folder.read(written));
        succeeds(&folder.run(&["simulate", written, "--steps", "2"]));
    }
}

/// What `pip install` brings: data of a package of Python, in whatever folders.
#[test]
fn models_in_packages_of_python_read_the_whole_package() {
    let folder = folder("reach-python");
    for inner in ["site/robots/envs/assets/arm", "site/robots/envs/assets/stls"] {
        fs::create_dir_all(folder.path(inner)).unwrap();
    }
    folder.write("site/secret.obj", MESH);
    folder.write("site/robots/__init__.py", "");
    folder.write("site/robots/envs/__init__.py", "");
    folder.write("site/robots/rock.obj", MESH);
    folder.write("site/robots/envs/assets/stls/rock.obj", MESH);
    for (directory, reads) in [("../stls", true), ("../../..", true), ("../../../..", false)] {
        let mesh = if reads { "rock.obj" } else { "secret.obj" };
        folder.write("site/robots/envs/assets/arm/a.xml", &mjcf(directory, mesh));
        let output = folder.run(&[
            "simulate",
            "site/robots/envs/assets/arm/a.xml",
            "--steps",
            "1",
            "--json",
        ]);
        match reads {
            true => drop(succeeds(&output)),
            false => refuses(&output, &["secret.obj lies outside of ", "STICTION_PATH"]),
        }
    }
}
