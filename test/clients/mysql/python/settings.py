"""What the test says about the server, and what the checks have in common."""

import os

HOST = os.environ["CLIENT_HOST"]
PORT = int(os.environ["CLIENT_PORT"])
SOCKET = os.environ["CLIENT_SOCKET"]
USER = os.environ["CLIENT_USER"]
PASSWORD = os.environ["CLIENT_PASSWORD"]
DATABASE = os.environ["CLIENT_DATABASE"]
CA = os.environ["CLIENT_CA"]

PATIENCE = 60  # seconds that only a broken server needs
TEXT = "こんにちは 🚚 é"
BYTES = bytes(range(256))


def guarded():
    """Tells whether the server has users and a certificate."""
    return PASSWORD != ""
