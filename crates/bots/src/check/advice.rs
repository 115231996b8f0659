//! Advice for the author of a bot: what to do about a fault.

use crownhead_play::{Fault, FaultKind};

use crate::Protocol;

/// Returns what to do about a fault.
pub fn for_fault(protocol: Protocol, fault: &Fault) -> &'static str {
    match (protocol, fault.kind) {
        (Protocol::V1, _) | (_, FaultKind::Crash | FaultKind::OutputFlood) => for_bot(fault),
        (Protocol::CFunction | Protocol::CppFunction, FaultKind::Timeout) => {
            "Return sooner. The function is not given its time limit."
        }
        (Protocol::CFunction, _) => {
            "Return start*100+end, with rows and columns from 1. `crownhead moves GAME --position \
             P` lists the legal moves."
        }
        (Protocol::CppFunction, _) => {
            "Set row1, col1, row2 and col2 to the start and the final square, counted from 0. \
             Captures are mandatory. `crownhead moves GAME --position P` lists the legal moves."
        }
        (Protocol::CheckerBoard, FaultKind::Timeout) => {
            "Return within maxtime. Bit 1 of info says that it is exact."
        }
        (Protocol::CheckerBoard, _) => {
            "Change the board to the position after a legal move, and nothing else. `crownhead \
             moves GAME --position P` lists the legal moves."
        }
        (Protocol::TcpInt32, FaultKind::Timeout) => {
            "Answer each packet sooner. The client is not given its time limit."
        }
        (Protocol::TcpInt32, _) => {
            "Answer with 32-bit integers: (n, id) with the id of the packet, then n pairs (row, \
             column) from 0, the whole path from start to end. `crownhead moves GAME --position P` \
             lists the legal moves."
        }
    }
}

/// Returns what to do about a fault of a bot that speaks the bot protocol.
fn for_bot(fault: &Fault) -> &'static str {
    let received = fault.received.as_deref();
    match fault.kind {
        FaultKind::IllegalMove => {
            "Answer with one of the moves in moves=, exactly as written. `crownhead moves GAME \
             --position P` lists them."
        }
        FaultKind::Timeout if received.is_some_and(|line| !line.starts_with("\"move ")) => {
            "Answer each turn with a line that starts with the word move, in lower case, and a \
             space: move TEXT. Other lines are ignored."
        }
        FaultKind::Timeout if received.is_some_and(|line| line.contains(" ply=")) => {
            "Omit ply=, or answer with the ply= of the turn line."
        }
        FaultKind::Timeout => {
            "Flush standard output after each line (print(…, flush=True), fflush(stdout), \
             System.out.flush()), and think less when time= is small."
        }
        FaultKind::StartFailed => {
            "Check command and build in bot.toml, and whether everything they need is installed."
        }
        FaultKind::Crash => {
            "Reproduce the crash: `crownhead bot check … --log DIR`, then `crownhead bot replay \
             LOG`."
        }
        FaultKind::OutputClosed => "Keep standard output open until quit.",
        FaultKind::ProtocolError => "Answer each turn line with one line: move TEXT.",
        FaultKind::LimitExceeded => {
            "Use less: smaller tables, fewer threads, no thinking on the opponent's time. \
             docs/isolation.md lists the limits."
        }
        FaultKind::OutputFlood => {
            "Write debugging output to standard error, or in short lines that start with #."
        }
    }
}
