"""The network of a simulated run: streams, datagrams, sockets and TLS between its hosts."""
