//! Systems without Unix processes: no bot can be started.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crownhead_play::StopFlag;

use super::{Interest, ReceiveError};
use crate::BotProgram;
use crate::log::Log;

/// A running bot; there is none on this system.
pub(crate) struct BotProcess {
    pub(crate) listener: Option<TcpListener>,
    pub(crate) log: Option<Log>,
    never: Infallible,
}

impl BotProcess {
    pub(crate) fn start(_: &BotProgram) -> io::Result<BotProcess> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "bots run on Unix systems only"))
    }

    pub(crate) fn start_build(program: &BotProgram, _: &[String]) -> io::Result<BotProcess> {
        BotProcess::start(program)
    }

    pub(crate) fn kill_reason(&self) -> Option<&str> {
        match self.never {}
    }

    pub(crate) fn expect_idle(&mut self) {
        match self.never {}
    }

    pub(crate) fn wake(&mut self) {
        match self.never {}
    }

    pub(crate) fn send(&mut self, _: &str, _: Option<Instant>, _: &StopFlag) {
        match self.never {}
    }

    pub(crate) fn send_newgame(&mut self, _: &str, _: Option<Instant>, _: &StopFlag) {
        match self.never {}
    }

    pub(crate) fn receive<T>(
        &mut self,
        _: Option<Instant>,
        _: &StopFlag,
        _: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<T, ReceiveError> {
        match self.never {}
    }

    pub(crate) fn drain_lines<T>(
        &mut self,
        _: impl FnMut(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, ReceiveError> {
        match self.never {}
    }

    pub(crate) fn wait_socket<S>(
        &mut self,
        _: &S,
        _: Interest,
        _: Option<Instant>,
        _: &StopFlag,
    ) -> Result<(), ReceiveError> {
        match self.never {}
    }

    pub(crate) fn start_wait(&mut self) {
        match self.never {}
    }

    pub(crate) fn is_isolated(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn time_away(&self) -> Duration {
        match self.never {}
    }

    pub(crate) fn start_game(&mut self) {
        match self.never {}
    }

    pub(crate) fn partial_line(&self) -> &[u8] {
        match self.never {}
    }

    pub(crate) fn stderr_tail(&self) -> Option<&[u8]> {
        match self.never {}
    }

    pub(crate) fn stderr_lines(&self, _: usize) -> Vec<String> {
        match self.never {}
    }

    pub(crate) fn stderr_excerpt(&self) -> Vec<u8> {
        match self.never {}
    }

    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        match self.never {}
    }

    pub(crate) fn has_exited(&self) -> bool {
        match self.never {}
    }

    pub(crate) fn wait_exit(&mut self, _: Instant) -> bool {
        match self.never {}
    }

    pub(crate) fn shutdown(&mut self, _: bool) -> bool {
        match self.never {}
    }
}

pub(crate) fn describe_exit(status: ExitStatus) -> String {
    format!("exited with {status}")
}

pub(crate) fn is_host_shortage(_: &io::Error) -> bool {
    false
}
