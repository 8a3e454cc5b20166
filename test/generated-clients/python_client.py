"""Verifies a license with the client of openapi-python-client: ADDRESS KEY."""

import sys

from ohio_license_verification_service_client import AuthenticatedClient
from ohio_license_verification_service_client.api.lookups import verify, verify_roster
from ohio_license_verification_service_client.api.subscriptions import subscribe
from ohio_license_verification_service_client.models import BoardName, VerifyRequest

address, key = sys.argv[1:]
with AuthenticatedClient(address, key, prefix="", auth_header_name="X-API-Key") as client:
    request = VerifyRequest(board=BoardName("Nursing Board"), license_number="RN.987654321")
    print(verify.sync(client=client, body=request).full_name)
# Once left out, as their bodies could not be read.
assert subscribe and verify_roster
