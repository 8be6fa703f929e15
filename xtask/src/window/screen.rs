//! An X server without a screen, and what a user does to its windows: look, resize, close.
//! There is no window manager: its part of the talk is done here.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, ImageFormat,
};
use x11rb::rust_connection::RustConnection;

use super::picture::Picture;
use super::program::Program;

/// Xvfb on a display that was free, and our connection to it.
pub(super) struct Screen {
    connection: RustConnection,
    root: u32,
    display: String,
    /// Last: the connection is closed before the server ends.
    _server: Program,
}

impl Screen {
    pub(super) fn start() -> Result<Self> {
        let mut command = Command::new("Xvfb");
        // It looks for a free display, and writes its number once it takes connections.
        command.args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"]);
        let mut server = Program::start(command)?;
        let number = server.next_line()?.context("Xvfb ended before it had a display")?;
        let display = format!(":{number}");
        let (connection, screen) =
            x11rb::connect(Some(&display)).with_context(|| format!("cannot connect to display {display}"))?;
        let root = connection.setup().roots[screen].root;
        Ok(Self { connection, root, display, _server: server })
    }

    /// As in the variable `DISPLAY`.
    pub(super) fn display(&self) -> &str {
        &self.display
    }

    /// The window of this title, which is there.
    pub(super) fn window(&self, title: &str) -> Result<u32> {
        for window in self.connection.query_tree(self.root)?.reply()?.children {
            let name = self.connection.get_property(
                false,
                window,
                AtomEnum::WM_NAME,
                AtomEnum::ANY,
                0,
                title.len() as u32,
            )?;
            if name.reply()?.value == title.as_bytes() {
                return Ok(window);
            }
        }
        anyhow::bail!("no window is called `{title}`")
    }

    pub(super) fn resize(&self, window: u32, [width, height]: [u16; 2]) -> Result<()> {
        let size = ConfigureWindowAux::new().width(u32::from(width)).height(u32::from(height));
        self.connection.configure_window(window, &size)?.check().context("cannot resize the window")
    }

    /// What the server shows in the window.
    pub(super) fn picture(&self, window: u32, [width, height]: [u16; 2]) -> Result<Picture> {
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, window, 0, 0, width, height, !0)?;
        let image = image.reply().context("cannot look at the window")?;
        let (pixels, rest) = image.data.as_chunks::<4>();
        ensure!(
            image.depth == 24 && rest.is_empty() && pixels.len() == usize::from(width) * usize::from(height),
            "the window's pixels come in a form that is not known here: depth {}",
            image.depth
        );
        // The server was started with 24 bits, which it keeps as blue, green, red and nothing.
        let pixels = pixels.iter().map(|[blue, green, red, _]| [*red, *green, *blue]).collect();
        Ok(Picture { size: [width, height], pixels })
    }

    /// Asks the window to close, as a window manager does when its cross is clicked.
    pub(super) fn close(&self, window: u32) -> Result<()> {
        let atom = |name: &str| -> Result<u32> {
            Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
        };
        let (protocols, delete) = (atom("WM_PROTOCOLS")?, atom("WM_DELETE_WINDOW")?);
        let message = ClientMessageEvent::new(32, window, protocols, [delete, x11rb::CURRENT_TIME, 0, 0, 0]);
        let sent = self.connection.send_event(false, window, EventMask::NO_EVENT, message)?;
        sent.check().context("cannot ask the window to close")
    }
}
