//! `downbeat timeline` as a user meets it: its JSON to the byte, its page, its ends. Looks at no internals.

mod binary;

use binary::stdout_of;
use serde_json::Value;

/// The arguments of a timeline with these runners.
fn timeline<'a>(runners: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["timeline"];
    arguments.extend(runners.iter().flat_map(|runner| ["--runner", runner]));
    arguments.extend(more);
    arguments
}

/// The steps and the last line of a timeline in JSON.
fn json(runners: &[&str], more: &[&str]) -> (Vec<Value>, String) {
    let text = stdout_of(&[timeline(runners, more), vec!["--json"]].concat());
    let mut lines: Vec<&str> = text.lines().collect();
    let cycle = lines.pop().expect("a line for the cycle").to_owned();
    (lines.into_iter().map(|line| serde_json::from_str(line).expect("an object a line")).collect(), cycle)
}

fn times(steps: &[Value]) -> Vec<u64> {
    steps.iter().map(|step| step["t_ns"].as_u64().expect("whole nanoseconds")).collect()
}

#[test]
fn the_default_cycle_has_seven_steps_and_ends_in_a_shared_one() {
    let expected = r#"{"t_ns":20000000,"dt_ns":{"Robot":20000000},"fired":["Robot"],"shared":false}
{"t_ns":33333333,"dt_ns":{"Capture":33333333},"fired":["Capture"],"shared":false}
{"t_ns":40000000,"dt_ns":{"Robot":20000000},"fired":["Robot"],"shared":false}
{"t_ns":60000000,"dt_ns":{"Robot":20000000},"fired":["Robot"],"shared":false}
{"t_ns":66666666,"dt_ns":{"Capture":33333333},"fired":["Capture"],"shared":false}
{"t_ns":80000000,"dt_ns":{"Robot":20000000},"fired":["Robot"],"shared":false}
{"t_ns":100000000,"dt_ns":{"Robot":20000000,"Capture":33333334},"fired":["Robot","Capture"],"shared":true}
{"cycle_ns":100000000,"steps":7,"shared_steps":1}
"#;
    assert_eq!(stdout_of(&["timeline", "--json"]), expected);
    assert_eq!(stdout_of(&["timeline", "--for", "100ms", "--json"]), expected);
}

#[test]
fn names_are_printed_as_given_and_in_the_order_given() {
    let (steps, _) = json(&["z=50", "a \"b\"=50"], &[]);
    assert_eq!(
        steps[0].to_string(),
        r#"{"dt_ns":{"a \"b\"":20000000,"z":20000000},"fired":["z","a \"b\""],"shared":true,"t_ns":20000000}"#
    );
    let text = stdout_of(&timeline(&["z=50", "a=50"], &["--json"]));
    assert!(text.starts_with(r#"{"t_ns":20000000,"dt_ns":{"z":20000000,"a":20000000},"fired":["z","a"]"#));
}

#[test]
fn the_last_line_describes_the_cycle_and_not_the_window() {
    for span in ["1ns", "20ms", "1s"] {
        let (steps, cycle) = json(&[], &["--for", span]);
        assert_eq!(cycle, r#"{"cycle_ns":100000000,"steps":7,"shared_steps":1}"#, "{span}");
        assert_eq!(
            steps.len(),
            match span {
                "1ns" => 0,
                "20ms" => 1,
                _ => 70,
            },
            "{span}"
        );
    }
}

#[test]
fn durations_are_read_as_people_write_them() {
    for (span, steps) in
        [("100ms", 7), ("1s", 70), ("1m30s", 6_300), ("33333us 333ns", 2), ("33333us 332ns", 1)]
    {
        assert_eq!(json(&[], &["--for", span]).0.len(), steps, "{span}");
    }
}

#[test]
fn an_offset_shifts_the_grid_and_the_first_step_is_a_full_one() {
    let (steps, cycle) = json(&["Left=50", "Right=50@5000000"], &[]);
    assert_eq!(times(&steps), [20_000_000, 25_000_000]);
    assert_eq!(steps[1]["dt_ns"]["Right"], 20_000_000);
    assert_eq!(cycle, r#"{"cycle_ns":20000000,"steps":2,"shared_steps":0}"#);
}

#[test]
fn ratios_are_exact() {
    let (steps, cycle) = json(&["ntsc=30000/1001"], &[]);
    assert_eq!(times(&steps), [33_366_666, 66_733_333, 100_100_000]);
    assert_eq!(cycle, r#"{"cycle_ns":100100000,"steps":3,"shared_steps":0}"#);
    for spelling in ["v=29.97", "v=29.97Hz", "v=2997/100", "v= 29.97 hz "] {
        assert_eq!(times(&json(&[spelling], &["--for", "40ms"]).0), [33_366_700], "{spelling}");
    }
    assert_eq!(times(&json(&["fast=1000000000"], &["--for", "3ns"]).0), [1, 2, 3]);
}

#[test]
fn a_cycle_that_does_not_fit_is_null_and_a_second_is_shown() {
    let (steps, cycle) = json(&["odd=18446744073709551557/18446744073709551533", "b=30"], &[]);
    assert_eq!(cycle, r#"{"cycle_ns":null,"steps":null,"shared_steps":null}"#);
    assert_eq!((steps.len(), times(&steps).last().copied()), (31, Some(1_000_000_000)));
}

#[test]
fn a_cycle_too_long_to_walk_has_a_length_and_no_steps() {
    let (_, cycle) = json(&["a=30", "b=29.9999999"], &["--for", "1ms"]);
    assert_eq!(cycle, r#"{"cycle_ns":10000000000000000,"steps":null,"shared_steps":null}"#);
}

#[test]
fn a_cycle_that_starts_too_late_is_not_called_too_long() {
    let page = stdout_of(&timeline(&["a=50@18446744073709551614"], &[]));
    let headline = "1 runner · cycle 20 ms, which starts too late to end on the timeline (584 years)\n";
    assert!(page.starts_with(headline), "{page}");
    let page = stdout_of(&timeline(&["a=30", "b=29.9999999"], &["--for", "100ms"]));
    assert!(page.starts_with("2 runners · cycle 10000000 s, too long to count its steps\n"), "{page}");
}

const EIGHT: [&str; 8] = [
    "Physics=1000",
    "Control=500",
    "Lidar=400",
    "Imu=240",
    "Joint=120",
    "Video=60",
    "Robot=50",
    "Capture=30",
];

#[test]
fn eight_runners_meet_in_one_step() {
    let (steps, cycle) = json(&EIGHT, &[]);
    assert_eq!(cycle, r#"{"cycle_ns":100000000,"steps":136,"shared_steps":72}"#);
    let all = steps.iter().find(|step| step["fired"].as_array().unwrap().len() == 8).unwrap();
    assert_eq!(all["t_ns"], 100_000_000);
    assert_eq!(all["fired"][0], "Physics");
    assert_eq!(all["fired"][7], "Capture");
}

#[test]
fn the_page_of_the_default_runners() {
    let expected = "\
2 runners · cycle 100 ms · 7 steps, 1 shared

  Robot    50 Hz ├───────────●────────────●───────────●────────────●───────────◆
  Capture  30 Hz ├────────────────────●───────────────────●────────────────────◆
  shared                                                                       2
                 └───────────┴────────────┴───────────┴────────────┴───────────┘
              ms 0          20           40          60           80         100
  ● fires   ◆ fires with others   shared: how many fire

  steps: when each ends, and how long it was for the runners that fire
      t [ms]  Robot    Capture
   20            20
   33.333333         33.333333
   40            20
   60            20
   66.666666         33.333333
   80            20
◆ 100            20  33.333334
";
    assert_eq!(stdout_of(&["timeline"]), expected);
}

#[test]
fn the_page_of_eight_runners_keeps_its_columns() {
    let mut runners = EIGHT;
    (runners[2], runners[7]) = ("A lidar with a very long name=400", "Capture=30@50000000");
    let expected = "\
8 runners · cycle 100 ms · 136 steps, 72 shared
showing the first 9 ms · 13 steps, 6 shared

  Physics               1000 Hz ├────●────◆─────●────◆────◆────◆─────●────◆────●
  Control                500 Hz ├─────────◆──────────◆─────────◆──────────◆─────
  A lidar with a very…   400 Hz ├────────────●────────────◆────────────●────────
  Imu                    240 Hz ├─────────────────────●─────────────────────◆───
  Joint                  120 Hz ├───────────────────────────────────────────◆───
  Video                   60 Hz ├───────────────────────────────────────────────
  Robot                   50 Hz ├───────────────────────────────────────────────
  Capture                 30 Hz starts later, at 50 ms
  shared                                  2          2    2    2          2 2
                                └────┴────┴─────┴────┴────┴────┴─────┴────┴────┘
                             ms 0    1    2     3    4    5    6     7    8    9
  ● fires   ◆ fires with others   shared: how many fire

  steps: when each ends, and how long it was for the runners that fire
    t [ms]  Physics  Control  A lida…       Imu     Joint  Video  Robot  Capture
  1               1
◆ 2               1        2
  2.5                             2.5
  3               1
◆ 4               1        2
  4.166666                             4.166666
◆ 5               1               2.5
◆ 6               1        2
  7               1
  7.5                             2.5
◆ 8               1        2
◆ 8.333333                             4.166667  8.333333
  9               1
";
    let page = stdout_of(&timeline(&runners, &["--for", "9ms"]));
    assert_eq!(page, expected);
}

#[test]
fn a_shared_step_is_not_hidden_by_others_in_its_column() {
    let page = stdout_of(&timeline(&["fast=1000", "slow=10"], &["--for", "1s"]));
    let marks = |line: usize, mark: char| page.lines().nth(line).unwrap().matches(mark).count();
    assert_eq!((marks(3, '◆'), marks(4, '◆'), marks(5, '2')), (10, 10, 10), "{page}");
    assert!(marks(3, '●') > 40 && page.contains("(a mark may be several)"), "{page}");
}

#[test]
fn the_page_follows_the_width_of_the_terminal() {
    for (columns, width) in [("100", 100), ("20", 60), ("1000", 160), ("wide", 80)] {
        let output = binary::downbeat(&["timeline"]).env("COLUMNS", columns).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert_eq!(widest.map(|widest| widest.max(72)), Some(width.max(72)), "COLUMNS={columns}\n{page}");
    }
}

#[test]
fn a_page_that_would_take_too_long_shows_a_round_beginning() {
    let page = stdout_of(&timeline(&["a=1000000000", "b=50"], &["--for", "1h"]));
    assert!(page.contains("showing the first 1 ms of 3600 s · 1000000 steps, 0 shared\n"), "{page}");
    assert!(
        page.ends_with("  … the whole span holds about 3600000180000 firings; --json prints all\n"),
        "{page}"
    );
}

#[test]
fn a_long_table_says_how_much_it_leaves_out() {
    let page = stdout_of(&["timeline", "--for", "1s"]);
    assert!(page.ends_with("  … 30 more steps; --json prints all\n"), "{page}");
    let nothing = stdout_of(&["timeline", "--for", "1ms"]);
    assert!(nothing.ends_with("\n  no step ends in this span; ask for more with --for\n"), "{nothing}");
}

#[test]
fn a_pipe_has_no_colours() {
    for arguments in [&["timeline"][..], &[], &["--help"]] {
        assert!(!stdout_of(arguments).contains('\x1b'), "{arguments:?}");
    }
}
