"""The certificate of the node `server`, and the contexts of TLS that use it."""

import os
import ssl
from pathlib import Path

#: Where the driver has put both files.
FOLDER = "ORDEAL_PROBES_CERTIFICATE"


def paths():
    folder = Path(os.environ[FOLDER])
    return str(folder / "certificate.pem"), str(folder / "key.pem")


def server_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*paths())
    return context


def client_context():
    return ssl.create_default_context(cafile=paths()[0])
