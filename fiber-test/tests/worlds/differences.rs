//! What is deliberately different. `docs/testing.md` has the whole table; these are the rows that a program can observe.

use fiber_core::fiber;
use fiber_core::net::{TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream};

use crate::support::{LOCAL, Told, differ, fresh, seen};

#[test]
fn a_path_needs_no_folder() {
    let program = || {
        fiber! {
            let path = fresh().join("missing").join("socket");
            let! connects = UnixStream::connect(&path).done();
            let! binds = UnixListener::bind(&path).done();
            seen![connects, binds]
        }
    };
    differ(program, ["NotFound", "NotFound"], ["NotFound", "done"]);
}

#[test]
fn files_are_not_on_the_network() {
    let program = || {
        fiber! {
            let path = fresh();
            std::fs::write(&path, "a file")?;
            let! connects = UnixStream::connect(&path).done();
            let! binds = UnixListener::bind(&path).done();
            std::fs::remove_file(&path)?;
            seen![connects, binds]
        }
    };
    differ(program, ["ConnectionRefused", "AddrInUse"], ["NotFound", "done"]);
}

/// Of the addresses for documentation, no computer has one.
#[test]
fn localhost_has_all_addresses() {
    let program = || {
        fiber! {
            let! tcp = TcpListener::bind(([192, 0, 2, 1], 0)).done();
            let! udp = UdpSocket::bind(([192, 0, 2, 1], 0)).done();
            seen![tcp, udp]
        }
    };
    differ(program, ["AddrNotAvailable", "AddrNotAvailable"], ["done", "done"]);
}

#[test]
fn the_port_of_a_client_that_has_closed_is_free() {
    let program = || {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?) and! (server, _) = listener.accept();
            let at = client.local_addr()?;
            drop(client);
            let! _end = server.read([0]);
            drop(server);
            let! bound = TcpListener::bind(at).done();
            seen![bound]
        }
    };
    differ(program, ["AddrInUse"], ["done"]);
}
