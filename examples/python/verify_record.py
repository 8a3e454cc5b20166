"""Verifies signed records, and proofs of `licenses watch --proof`: one line each.

    python3 verify_record.py record.jose jwks.json

jwks.json is a copy of the service's /.well-known/jwks.json, so the service is not needed. The exit code is 0 if all are
valid, else 2. Needs Python 3.10 or newer, and PyJWT: pip install "PyJWT[crypto]".
"""

import json
import sys

import jwt
from jwt.utils import base64url_decode, base64url_encode


def result_of(token, keys):
    try:
        key = keys[jwt.get_unverified_header(token)["kid"]]
        payload = jwt.PyJWS().decode(token, key, algorithms=["EdDSA"])
        signature = token.rpartition(".")[2].encode()
        # The last character of a signature has bits that decoders leave out.
        if base64url_encode(base64url_decode(signature)) == signature:
            return "VALID: " + json.dumps(json.loads(payload))
    except KeyError:
        return "UNKNOWN KEY: none of these keys signed it, or it was changed. Do not rely on it."
    except jwt.PyJWTError:
        pass
    return "CHANGED: the signature is not of this content. Do not rely on it."


if __name__ == "__main__":
    file, key_file = sys.argv[1:]
    with open(key_file) as lines:
        keys = {key["kid"]: jwt.PyJWK(key, algorithm="EdDSA") for key in json.load(lines)["keys"]}
    with open(file) as lines:
        results = [result_of(line.strip(), keys) for line in lines if line.strip()]
    print("\n".join(results))
    sys.exit(0 if results and all(each.startswith("VALID") for each in results) else 2)
