//! Files that jobs write: whole in place, or not there at all, and never a trace of the attempt.
#![cfg(not(any(downbeat_loom, downbeat_shuttle)))]

use std::fs;
use std::io::Write as _;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use downbeat_threading::{BoxError, CommitError, Job, JobContext, Outcome, OutputFile, StopSource, task};
use tempfile::{TempDir, tempdir};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempdir().expect("a temporary folder");
    let target = folder.path().join("arm.zip");
    (folder, target)
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A job that writes half of its content, says so, and then does `then`.
fn half_written(
    target: &Path,
    then: impl FnOnce(OutputFile, &JobContext) -> Result<(), BoxError> + Send + 'static,
) -> Job<(), BoxError> {
    let (target, written) = (target.to_owned(), StopSource::new());
    let says = written.clone();
    let job = Job::start(task("export", move |job: &JobContext| {
        let mut file = OutputFile::create(&target)?;
        file.write_all(b"half of ")?;
        file.flush()?;
        says.request_stop();
        then(file, job)
    }));
    written.token().wait();
    job.expect("a thread to spare")
}

#[test]
fn a_file_appears_whole_and_only_at_its_commit() {
    let (folder, target) = folder();
    fs::write(&target, "old").unwrap();
    let go_on = StopSource::new();
    let waits = go_on.token();
    let job = half_written(&target, move |mut file, job| {
        waits.wait();
        file.write_all(b"everything")?;
        Ok(file.commit(job)?)
    });
    assert_eq!(fs::read_to_string(&target).unwrap(), "old", "untouched while it is written");
    assert_eq!(names(folder.path()).len(), 2);
    go_on.request_stop();
    assert!(matches!(job.join(), Outcome::Done(())));
    assert_eq!(fs::read_to_string(&target).unwrap(), "half of everything");
    assert_eq!(names(folder.path()), ["arm.zip"]);
}

#[test]
fn a_cancel_leaves_the_target_as_it_was() {
    for old in [None, Some("old")] {
        let (folder, target) = folder();
        if let Some(old) = old {
            fs::write(&target, old).unwrap();
        }
        let job = half_written(&target, |file, job| {
            job.stop_token().wait();
            let refused = file.commit(job);
            assert!(matches!(refused, Err(CommitError::Stopped(_))), "{refused:?}");
            Ok(refused?)
        });
        assert!(job.cancel());
        assert!(matches!(job.join(), Outcome::Cancelled));
        assert_eq!(fs::read_to_string(&target).ok().as_deref(), old);
        assert_eq!(names(folder.path()).len(), usize::from(old.is_some()));
    }
}

#[test]
fn a_cancel_after_the_commit_changes_nothing() {
    let (folder, target) = folder();
    let (committed, go_on) = (StopSource::new(), StopSource::new());
    let (commit, waits) = (committed.clone(), go_on.token());
    let job = half_written(&target, move |file, job| {
        file.commit(job)?;
        commit.request_stop();
        waits.wait();
        Ok(())
    });
    committed.token().wait();
    assert!(!job.cancel());
    go_on.request_stop();
    assert!(matches!(job.join(), Outcome::Done(())));
    assert_eq!(names(folder.path()), ["arm.zip"]);
}

#[test]
fn a_failure_or_a_panic_leaves_nothing_behind() {
    let (folder, target) = folder();
    fs::write(&target, "old").unwrap();
    let failed = half_written(&target, |_file, _| Err("the source is broken".into()));
    assert!(matches!(failed.join(), Outcome::Failed(error) if error.to_string() == "the source is broken"));
    assert_eq!(names(folder.path()), ["arm.zip"]);
    let panicked = half_written(&target, |_file, _| resume_unwind(Box::new("no luck")));
    assert!(matches!(panicked.join(), Outcome::Panicked(_)));
    assert_eq!(names(folder.path()), ["arm.zip"]);
    assert_eq!(fs::read_to_string(&target).unwrap(), "old");
}

#[test]
fn a_file_is_gone_by_the_time_a_cancelled_job_is_done() {
    let (folder, target) = folder();
    for _ in 0..50 {
        // The file is the job's result, so it goes only after `run` has ended.
        let path = target.clone();
        let job = Job::start(task("export", move |job: &JobContext| {
            let mut file = OutputFile::create(&path)?;
            file.write_all(b"half of ")?;
            job.stop_token().wait();
            Ok::<_, std::io::Error>(file)
        }))
        .unwrap();
        assert!(job.cancel());
        while !job.is_done() {
            downbeat_threading::sync::thread::yield_now();
        }
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn a_target_that_cannot_be_written_is_an_error_that_names_it() {
    let (folder, _target) = folder();
    let missing = folder.path().join("nowhere").join("arm.zip");
    let error = OutputFile::create(&missing).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("nowhere"), "{error}");
    let error = OutputFile::create(folder.path()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains(&folder.path().display().to_string()), "{error}");
    for nameless in ["", "/", ".."] {
        assert!(OutputFile::create(Path::new(nameless)).is_err(), "{nameless:?}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_target_that_turns_into_a_folder_fails_the_job_and_leaves_nothing() {
    let (folder, target) = folder();
    let go_on = StopSource::new();
    let waits = go_on.token();
    let job = half_written(&target, move |file, job| {
        waits.wait();
        Ok(file.commit(job)?)
    });
    fs::create_dir(&target).unwrap();
    go_on.request_stop();
    assert!(matches!(job.join(), Outcome::Failed(error) if error.to_string().contains("cannot write")));
    assert_eq!(names(folder.path()), ["arm.zip"]);
    assert!(target.is_dir());
}

#[test]
#[cfg(unix)]
fn a_file_is_as_readable_as_any_new_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let (folder, target) = folder();
    let path = target.clone();
    let job = Job::start(task("write", move |job| OutputFile::create(&path)?.commit(job))).unwrap();
    assert!(matches!(job.join(), Outcome::Done(())));
    let plain = folder.path().join("plain.txt");
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&target), mode(&plain));
}
