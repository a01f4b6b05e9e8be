//! TLS by rustls over any stream, as a stream again. rustls processes bytes, and needs no runtime.

use std::sync::Arc;

use fiber_core::net::ByteStream;
use fiber_core::{Fiber, fiber};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The name in the certificate.
pub(crate) const NAME: &str = "localhost";

/// The certificate of the server, and the root that the client trusts.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A self-signed certificate, generated for this run.
    pub(crate) fn new() -> Self {
        // All signatures of this kind have the same length, so a test sends the same number of bytes in each run.
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
        let parameters = rcgen::CertificateParams::new(vec![NAME.to_owned()]).expect("a name");
        let certificate = parameters.self_signed(&key).expect("a certificate").der().clone();
        Identity { certificate, key: PrivateKeyDer::Pkcs8(key.serialize_der().into()) }
    }

    pub(crate) fn server(&self) -> Result<TlsAcceptor, rustls::Error> {
        let builder = ServerConfig::builder().with_no_client_auth();
        let config = builder.with_single_cert(vec![self.certificate.clone()], self.key.clone_key())?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    pub(crate) fn client(&self) -> Result<TlsConnector, rustls::Error> {
        let mut trusted = RootCertStore::empty();
        trusted.add(self.certificate.clone())?;
        let config = ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// The server's end of a connection.
pub(crate) fn accept(stream: &ByteStream, acceptor: &TlsAcceptor) -> Fiber<ByteStream> {
    let handshake = acceptor.accept(stream.asynchronous());
    fiber! {
        let! secure = Fiber::from_future(handshake);
        ByteStream::from_tokio_io(secure)
    }
}

/// The client's end.
pub(crate) fn connect(stream: &ByteStream, connector: &TlsConnector) -> Fiber<ByteStream> {
    let name = ServerName::try_from(NAME).expect("a name");
    let handshake = connector.connect(name, stream.asynchronous());
    fiber! {
        let! secure = Fiber::from_future(handshake);
        ByteStream::from_tokio_io(secure)
    }
}
