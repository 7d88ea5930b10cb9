"""A time-stamping authority for tests: a root, a certificate for stamping, and OpenSSL that answers over HTTP."""

from __future__ import annotations

import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

CONFIGURATION = """\
[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[root]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
[stamping]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[serving]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, serverAuth
[tsa]
default_tsa = tsa_1
[tsa_1]
serial = {folder}/serial
signer_cert = {folder}/stamping.pem
certs = {folder}/root.pem
signer_key = {folder}/stamping.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


class Authority:
    """Stamps what it is asked to stamp. `purpose` is what its certificate is for; a true one is for stamping."""

    def __init__(self, folder: Path, purpose: str = "stamping") -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "configuration").write_text(CONFIGURATION.format(folder=folder, name=folder.name))
        (folder / "serial").write_text("01\n")
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        request = ["req", "-config", str(folder / "configuration"), *curve]
        self._openssl(*request, "-x509", "-days", "30", "-extensions", "root", "-keyout", "root.key", "-out", "root.pem")
        self._openssl(*request, "-keyout", "stamping.key", "-out", "stamping.csr")
        self._openssl(
            "x509", "-req", "-in", "stamping.csr", "-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "30",
            "-extfile", "configuration", "-extensions", purpose, "-out", "stamping.pem",
        )  # fmt: skip

    @property
    def root(self) -> Path:
        """The certificate that whoever checks must bring."""
        return self.folder / "root.pem"

    def _openssl(self, *words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=self.folder)

    def answer(self, request: bytes) -> bytes:
        """The answer to a request."""
        (self.folder / "asked.tsq").write_bytes(request)
        self._openssl("ts", "-reply", "-config", "configuration", "-queryfile", "asked.tsq", "-out", "answered.tsr")
        return (self.folder / "answered.tsr").read_bytes()

    def serve(self) -> tuple[HTTPServer, str]:
        """Answer over HTTP on this machine; returns the server and its address."""
        authority = self

        class Desk(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/timestamp-query"
                self.send_response(200)
                self.send_header("Content-Type", "application/timestamp-reply")
                self.end_headers()
                self.wfile.write(authority.answer(asked))

            def log_message(self, *unused: object) -> None:
                """Say nothing."""

        server = HTTPServer(("127.0.0.1", 0), Desk)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server, f"http://127.0.0.1:{server.server_port}/"
