use fiber_core::net::{TcpListener, TcpStream};

fn main() {
    _ = TcpStream::connect(("example.org", 80));
    _ = TcpListener::bind("127.0.0.1:80");
}
