"""Reads {"secret", "body", "headers"} and prints whether the package standardwebhooks verifies the message."""

import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

asked = json.load(sys.stdin)
try:
    verified = Webhook(asked["secret"]).verify(asked["body"], asked["headers"])
    print(json.dumps({"verified": True, "message": verified}))
except WebhookVerificationError as error:
    print(json.dumps({"verified": False, "error": str(error)}))
