use super::*;
use std::os::unix::fs::PermissionsExt;

#[test]
fn what_was_renamed_made_and_removed_is_taken_back() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| top.path().join(path);
    for directory in ["app/.git", ".agent-shadow"] {
        fs::create_dir_all(at(directory)).expect("directories");
    }
    fs::set_permissions(at("app"), Permissions::from_mode(0o750)).expect("a mode");
    let mut parking = Parking::new(top.path(), "s");
    parking.make(&at("home/place")).expect("it can be made");
    parking
        .park(Part::Git, &at("app/.git"), &at("home/place"))
        .expect("it can be renamed");
    assert!(parking.remove_empty(&at("app")).expect("it can be removed"));
    assert!(!parking.remove_empty(&at("home")).expect("it is not empty"));
    assert!(parking.remove_empty(&at("none")).expect("it is gone already"));
    parking.take_back().expect("it can be taken back");
    assert_eq!(kind(&at("app/.git")), Some(Kind::Directory));
    assert_eq!(kind(&at("home")), None);
    let mode = fs::metadata(at("app")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[test]
fn nothing_is_renamed_over_what_appeared() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let at = |path: &str| top.path().join(path);
    fs::create_dir_all(at("app/.git")).expect("directories");
    let mut parking = Parking::new(top.path(), "s");
    parking
        .park(Part::Git, &at("app/.git"), top.path())
        .expect("it can be renamed");
    fs::create_dir(at("app/.git")).expect("a directory");
    assert!(parking.take_back().is_err());
    assert_eq!(kind(&at("git")), Some(Kind::Directory));
}

#[test]
fn the_first_that_was_parked_in_a_state_is_found_and_then_the_newest() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let path = BStr::new("app");
    let park = |metas: &[&str]| {
        let metas: Vec<String> = metas.iter().map(ToString::to_string).collect();
        let place = make_place(top.path(), "s", path, &metas).expect("a place");
        fs::create_dir(place.join("git")).expect("a directory");
        place
    };
    let find = |meta: &str| find_place(top.path(), "s", path, meta);
    let places = [
        park(&["a"]),
        park(&["b", "a"]),
        park(&["b"]),
        park(&["c", "d"]),
        park(&["e", "d"]),
    ];
    assert_eq!(find("a").as_ref(), Some(&places[0]));
    assert_eq!(find("b").as_ref(), Some(&places[1]));
    assert_eq!(find("d").as_ref(), Some(&places[4]));
    assert_eq!(find("f"), None);
    leave_place(&places[1]).expect("it can be removed");
    assert_eq!(find("b").as_ref(), Some(&places[2]));
    fs::remove_dir(places[0].join("git")).expect("it is empty");
    assert_eq!(find("a"), None);
}
