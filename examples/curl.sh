#!/usr/bin/env bash
# Sends one request of each kind with curl, and prints each response and its status.
#
#   LICENSES_URL=http://127.0.0.1:8080 LICENSES_KEY=… bash curl.sh [NUMBER [SURNAME]]
#
# NUMBER is a license number of the Nursing Board. The default is a nurse in the sample data that npm start publishes.
set -euo pipefail

url=${LICENSES_URL:-http://127.0.0.1:8080}
key=${LICENSES_KEY:?must be an API key}
number=${1:-RN.987654321}
surname=${2:-Example}

get() {
  curl -sS -w '\n%{http_code}\n' -H "X-API-Key: $key" "$url$1"
}

verify() {
  curl -sS -w '\n%{http_code}\n' -H "X-API-Key: $key" -H 'Content-Type: application/json' \
    -d "$1" "$url/api/v1/lookup/verify"
}

echo '# How current is the data?'
get /status
echo '# The boards and their license types'
get /api/v1/lookup/boards
echo '# The license types of one board; its name is percent-encoded'
get '/api/v1/lookup/boards/Nursing%20Board/types'
echo '# A person, by surname and the beginning of the first name'
verify '{"board": "Nursing Board", "last_name": "'"$surname"'", "first_name": "P"}'
echo "# A number; name_match says whether the surname is the holder's"
verify '{"board": "Nursing Board", "license_number": "'"$number"'", "last_name": "'"$surname"'"}'
echo '# A mistyped number: 404, which does not mean "unlicensed"; did_you_mean lists similar numbers that exist'
verify '{"board": "Nursing Board", "license_number": "RN.987654312"}'
echo '# A business, by the beginning of a trade name'
verify '{"board": "Board of Pharmacy", "search_type": "business", "business_name": "Example Pharmacy"}'
echo '# A roster: many lookups in one request, each with its own result'
curl -sS -w '\n%{http_code}\n' -H "X-API-Key: $key" -H 'Content-Type: application/json' "$url/api/v1/lookup/batch" \
  -d '{"board": "Nursing Board", "items": [{"reference": "1", "license_number": "'"$number"'"}, {"last_name": "'"$surname"'"}]}'
echo '# The same as CSV: the response repeats the rows and adds columns'
curl -sS -w '\n%{http_code}\n' -H "X-API-Key: $key" -H 'Content-Type: text/csv' "$url/api/v1/lookup/batch" \
  --data-binary "$(printf 'license_number,board\n%s,Nursing Board\n' "$number")"
echo '# The cursor of now, with which a client that has a copy begins'
get '/api/v1/changes?since=latest'
echo '# What changed, from the oldest change: send the cursor in next as since the next time'
get '/api/v1/changes?limit=2'
echo '# What changed in one license'
get "/api/v1/history?board=Nursing%20Board&license_number=$number"
