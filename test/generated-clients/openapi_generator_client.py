"""Verifies a license with the client of openapi-generator's Python: ADDRESS KEY."""

import sys

from openapi_client import ApiClient, Configuration, LookupsApi, VerifyRequest

address, key = sys.argv[1:]
with ApiClient(Configuration(host=address, api_key={"key": key})) as client:
    request = VerifyRequest(board="Nursing Board", license_number="RN.987654321")
    print(LookupsApi(client).verify(request).actual_instance.full_name)
