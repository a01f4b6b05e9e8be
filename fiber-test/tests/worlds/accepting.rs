//! What comes to a listener, and when.

use std::time::Duration;

use fiber_core::net::{ByteStream, TcpListener, TcpStream, UnixListener, UnixStream};
use fiber_core::{Fiber, fiber};

use crate::support::{
    LOCAL, Seen, Told, agree, eventually, fails, fresh, meanwhile, next, rest, result, seen,
};

#[test]
fn a_client_is_connected_before_it_is_accepted() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?);
            do! client.write_all("early");
            drop(client);
            let! (server, _) = listener.accept();
            let! all = rest(&server);
            seen![all]
        }
    });
}

#[test]
fn a_client_at_a_path_is_connected_before_it_is_accepted() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! listener = UnixListener::bind(&path);
            let! client = UnixStream::connect(&path);
            do! client.write_all("early");
            drop(client);
            let! server = listener.accept();
            let! all = rest(&server);
            seen![all]
        }
    });
}

#[test]
fn clients_are_accepted_in_their_order() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let! first = TcpStream::connect(at);
            let! second = TcpStream::connect(at);
            let! third = TcpStream::connect(at);
            let mut seen = Seen::new();
            for client in [first, second, third] {
                let! (_server, from) = listener.accept();
                seen.push((client.local_addr()? == from).to_string());
            }
            seen
        }
    });
}

#[test]
fn a_client_that_has_left_is_accepted() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?);
            let at = client.local_addr()?;
            drop(client);
            let! (server, from) = listener.accept();
            let! read = rest(&server);
            seen![(at == from).to_string(), read]
        }
    });
}

#[test]
fn a_client_that_has_reset_is_accepted() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?);
            do! client.write_all("abc");
            client.set_linger(Some(Duration::ZERO))?;
            let at = client.local_addr()?;
            drop(client);
            let! (server, from) = listener.accept();
            let! read = rest(&server);
            let! after = next(&server);
            seen![(at == from).to_string(), read, after, result(server.peer_addr())]
        }
    });
}

#[test]
fn a_listener_that_ends_resets_who_was_not_accepted() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! client = TcpStream::connect(listener.local_addr()?);
            drop(listener);
            let! read = next(&client);
            let! after = next(&client);
            let! failed = fails(&client);
            seen![read, after, failed]
        }
    });
}

#[test]
fn a_listener_at_a_path_that_ends_resets_who_was_not_accepted() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! listener = UnixListener::bind(&path);
            let! client = UnixStream::connect(&path);
            drop(listener);
            let! read = next(&client);
            let! after = next(&client);
            let! failed = fails(&client);
            seen![read, after, failed]
        }
    });
}

#[test]
fn a_connection_outlives_its_listener() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let! client = TcpStream::connect(at) and! (server, _) = listener.accept();
            drop(listener);
            do! client.write_all("x");
            let! read = next(&server);
            let! refused = TcpStream::connect(at).done();
            seen![read, refused]
        }
    });
}

#[test]
fn a_clone_of_a_listener_listens() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let clone = listener.clone();
            drop(listener);
            let! client = TcpStream::connect(clone.local_addr()?).done() and! server = clone.accept().done();
            seen![client, server]
        }
    });
}

#[test]
fn a_listener_is_woken_by_a_client() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let accepts = listener.accept().done();
            let connects = Fiber::delay(Duration::from_millis(10)).bind(move |()| TcpStream::connect(at).done());
            let! accepted = accepts and! connected = connects;
            seen![accepted, connected]
        }
    });
}

#[test]
fn a_listener_without_a_client_waits() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let! late = listener.accept().timeout_option(Duration::from_millis(5));
            let! client = TcpStream::connect(listener.local_addr()?).done();
            let! accepted = listener.accept().done();
            seen![late.is_none().to_string(), client, accepted]
        }
    });
}

#[test]
fn a_client_talks_to_itself_by_two_connections() {
    agree(|| {
        fiber! {
            let! listener = TcpListener::bind(LOCAL);
            let at = listener.local_addr()?;
            let! one = TcpStream::connect(at) and! (of_one, _) = listener.accept();
            let! other = TcpStream::connect(at) and! (of_other, _) = listener.accept();
            do! one.write_all("a");
            do! other.write_all("b");
            let! first = next(&of_other);
            let! second = next(&of_one);
            seen![first, second, (one.local_addr()? == other.local_addr()?).to_string()]
        }
    });
}

#[test]
fn a_stream_of_a_path_has_both_directions() {
    agree(|| {
        fiber! {
            let path = fresh();
            let! listener = UnixListener::bind(&path);
            let! client = UnixStream::connect(&path) and! server = listener.accept();
            let (client, server): (ByteStream, ByteStream) = (client.into(), server.into());
            do! client.write_all("a");
            do! server.write_all("b");
            let! first = next(&server);
            let! second = next(&client);
            let! end = meanwhile(next(&client), move || drop(server));
            let! gone = eventually(move || client.try_write(b"x").err().map(|error| format!("{:?}", error.kind())));
            seen![first, second, end, gone]
        }
    });
}
