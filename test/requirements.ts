/** A sentence that the service must keep, and where it stands. */
export interface Requirement {
  /** The behavior, in one sentence. */
  readonly text: string;
  /** The specification's section, or the design's rule where the specification is silent. */
  readonly source: string;
}

const design = (rule: string) => `design, where the specification is silent: ${rule}`;

/**
 * What specification.md says of the service's behavior (`SPEC-<section>-<n>`), and what the design answers
 * where it is silent (`DESIGN-<RULE>-<n>`). Each has a test that says so with `verifies`.
 */
export const REQUIREMENTS = {
  'SPEC-introduction-01': { text: 'All REST traffic is HTTPS only.', source: 'introduction' },
  'SPEC-1-01': {
    text: 'A license of a person or of a business is answered with its record: status, expiry date, place and type.',
    source: '1',
  },
  'SPEC-1-02': {
    text: 'Answers come from the most recent daily publication; none is served from a cache of earlier answers.',
    source: '1',
  },
  'SPEC-1-03': {
    text: 'Who needs primary-source verification is referred to the issuing board.',
    source: '1',
  },
  'SPEC-1-04': { text: 'The 24 boards are listed with the license types of each.', source: '1' },
  'SPEC-1-05': { text: 'The REST API answers only requests with an API key.', source: '1' },
  'SPEC-1-06': {
    text: 'The tool server speaks the Model Context Protocol over Streamable HTTP and needs no key.',
    source: '1',
  },

  'SPEC-2.1-01': { text: 'There are 24 boards, each known by its exact name.', source: '2.1' },
  'SPEC-2.1-02': {
    text: 'A board name with other case or spelling is not taken for the board.',
    source: '2.1',
  },
  'SPEC-2.1-03': {
    text: "A board's details are its short code, a string, and the names of its license types, an array of strings.",
    source: '2.1',
  },
  'SPEC-2.2-01': {
    text: 'A found record has every field of the table, each of its type, and found is true.',
    source: '2.2',
  },
  'SPEC-2.2-02': { text: "license_number is the board's own number, prefix included.", source: '2.2' },
  'SPEC-2.2-03': { text: 'full_name is the holder as "LAST, FIRST MIDDLE".', source: '2.2' },
  'SPEC-2.2-04': {
    text: "board is a board's name and license_type one of that board's license types.",
    source: '2.2',
  },
  'SPEC-2.2-05': { text: 'status is the normalized primary status in upper case.', source: '2.2' },
  'SPEC-2.2-06': { text: 'expiry_date and issue_date are dates as YYYY-MM-DD.', source: '2.2' },
  'SPEC-2.2-07': {
    text: 'days_until_expiry is the whole number of days from the current date to expiry_date.',
    source: '2.2',
  },
  'SPEC-2.2-08': { text: 'city, county and the two-letter state say where the holder is.', source: '2.2' },
  'SPEC-2.2-09': {
    text: 'raw_status joins the primary status and the sub-status as "<Primary> - <Sub-status>".',
    source: '2.2',
  },
  'SPEC-2.2-10': {
    text: 'extra_data is an object of further attributes by name, County, ZIP and Issue Date among them.',
    source: '2.2',
  },
  'SPEC-2.2-11': { text: 'source is "dataset".', source: '2.2' },
  'SPEC-2.2-12': {
    text: 'last_scraped is an ISO 8601 time without a zone: the date of the publication that answered.',
    source: '2.2',
  },
  'SPEC-2.3-01': {
    text: 'A name or business search with more than one match answers them in the array multiple.',
    source: '2.3',
  },
  'SPEC-2.4-01': {
    text: 'Every primary status comes through as the board gives it, one that nobody has listed too.',
    source: '2.4',
  },
  'SPEC-2.5-01': { text: 'Every sub-status stands in raw_status after the primary status.', source: '2.5' },

  'SPEC-3-01': { text: 'No operation changes a record.', source: '3' },
  'SPEC-3-02': { text: 'A record whose raw_status is Active has the status ACTIVE.', source: '3' },

  'SPEC-4-01': { text: 'Every REST path needs the X-API-Key header.', source: '4' },
  'SPEC-4-02': { text: 'Request bodies are JSON with Content-Type application/json.', source: '4' },
  'SPEC-4.1-01': {
    text: 'GET /lookup/boards answers 200 with boards, the 24 names, and board_details, keyed by name.',
    source: '4.1',
  },
  'SPEC-4.2-01': {
    text: 'GET /lookup/boards/{board}/types answers the license types of the board in the path.',
    source: '4.2',
  },
  'SPEC-4.3-01': { text: 'board is always required.', source: '4.3' },
  'SPEC-4.3-02': { text: 'A board that does not equal a board name exactly gives 400.', source: '4.3' },
  'SPEC-4.3-03': { text: 'Mode (a) looks up by board and license_number.', source: '4.3' },
  'SPEC-4.3-04': {
    text: 'Mode (b) looks up by board and last_name, which a name search requires.',
    source: '4.3',
  },
  'SPEC-4.3-05': { text: 'first_name is optional and its beginning is enough.', source: '4.3' },
  'SPEC-4.3-06': {
    text: 'Mode (c) looks up by board, search_type "business" and business_name.',
    source: '4.3',
  },
  'SPEC-4.3-07': {
    text: 'Mode (c) looks up by board, search_type "business" and license_number.',
    source: '4.3',
  },
  'SPEC-4.3-08': {
    text: 'search_type takes only the value "business" and is omitted to look for a person.',
    source: '4.3',
  },
  'SPEC-4.3-09': {
    text: 'Business mode requires business_name unless license_number is given.',
    source: '4.3',
  },
  'SPEC-4.3-10': {
    text: 'A single match, and any lookup by number that finds one, answers 200 with the license record.',
    source: '4.3',
  },
  'SPEC-4.3-11': {
    text: 'A search with more than one match answers 200 with them in the array multiple.',
    source: '4.3',
  },
  'SPEC-4.3-12': { text: 'A number that no license has gives 404.', source: '4.3' },
  'SPEC-4.4-01': {
    text: 'The tool server is reached over Streamable HTTP without an API key.',
    source: '4.4',
  },
  'SPEC-4.4-02': {
    text: 'Its tools are verify_license, search_licenses_by_name, verify_business_license and list_ohio_boards.',
    source: '4.4',
  },
  'SPEC-4.4-03': { text: 'verify_license finds the board by itself; naming it is optional.', source: '4.4' },
  'SPEC-4.4-04': {
    text: 'search_licenses_by_name finds holders by name and requires a board.',
    source: '4.4',
  },
  'SPEC-4.4-05': { text: 'search_licenses_by_name returns up to 100 matches.', source: '4.4' },
  'SPEC-4.4-06': { text: 'verify_business_license verifies establishments.', source: '4.4' },
  'SPEC-4.4-07': { text: 'list_ohio_boards lists the 24 boards and their license types.', source: '4.4' },
  'SPEC-4.4-08': { text: 'Every tool result says in data_as_of how current the record is.', source: '4.4' },

  'SPEC-5-01': { text: 'The API key comes in the header X-API-Key.', source: '5' },
  'SPEC-5-02': { text: 'Keys begin with a fixed prefix of the service and an underscore.', source: '5' },
  'SPEC-5-03': {
    text: 'Without a valid, active key the answer is 401 and {"detail": "Invalid or inactive API key"}.',
    source: '5',
  },
  'SPEC-5-04': {
    text: 'A key is issued to a verified business account and shown only once, when it is made.',
    source: '5',
  },
  'SPEC-5-05': { text: 'The tool server takes requests without a key.', source: '5' },

  'SPEC-7-01': { text: 'Success is 200.', source: '7' },
  'SPEC-7-02': { text: 'A body that can not be used is 400.', source: '7' },
  'SPEC-7-03': { text: 'A missing, invalid or inactive API key is 401.', source: '7' },
  'SPEC-7-04': { text: 'No license with the number provided is 404.', source: '7' },
  'SPEC-7-05': { text: 'Too many requests are 429.', source: '7' },
  'SPEC-7-06': { text: 'A failure of the service itself is 500.', source: '7' },

  'SPEC-8-01': { text: "Requests are limited by the client's address.", source: '8' },
  'SPEC-8-02': { text: 'The REST API and the tool server each have their own limit.', source: '8' },
  'SPEC-8-03': { text: 'A request over the limit gives 429.', source: '8' },
  'SPEC-8-04': { text: 'search_licenses_by_name returns at most 100 matches.', source: '8' },

  'SPEC-9-01': { text: 'The version is part of the base path: /api/v1.', source: '9' },
  'SPEC-9-02': { text: 'POST /lookup/cached answers exactly as POST /lookup/verify.', source: '9' },
  'SPEC-9-03': {
    text: 'A request of the earlier form (board, license_number and perhaps license_type) is still answered, with 404 for a missing license.',
    source: '9',
  },

  'DESIGN-ERRORS-01': {
    text: 'The body of every error is {"detail": string}, in words that say what to do and nothing of the inside.',
    source: design('error bodies'),
  },
  'DESIGN-ERRORS-02': {
    text: 'A 400 for a board that does not match names the nearest board.',
    source: design('error bodies'),
  },
  'DESIGN-ERRORS-03': { text: 'A wrong method gives 405 with Allow.', source: design('error bodies') },
  'DESIGN-ERRORS-04': {
    text: 'A body that is too large gives 413, one of another media type 415.',
    source: design('error bodies'),
  },
  'DESIGN-ERRORS-05': {
    text: 'While OpenSearch is away, or nothing is published yet, lookups give 503 with Retry-After.',
    source: design('error bodies'),
  },

  'DESIGN-NUMBER-01': {
    text: 'A 404 has detail and did_you_mean, an array of numbers, and never a holder.',
    source: design('number lookups'),
  },
  'DESIGN-NUMBER-02': {
    text: 'Case, blanks and "/" for "." do not matter in a license number.',
    source: design('number lookups'),
  },
  'DESIGN-NUMBER-03': {
    text: 'A number of digits alone may be written with a hyphen after the first two.',
    source: design('number lookups'),
  },
  'DESIGN-NUMBER-04': {
    text: 'Where a way of writing fits two licenses, neither is answered.',
    source: design('number lookups'),
  },
  'DESIGN-NUMBER-05': {
    text: 'A license at another board than the one given is a 404 whose detail says so without naming the holder.',
    source: design('number lookups'),
  },
  'DESIGN-NUMBER-06': {
    text: 'Narrowing fields, license_type among them, are accepted and ignored in number lookups.',
    source: design('number lookups'),
  },

  'DESIGN-SEARCH-01': {
    text: 'A search without a match is 200 with found false, count 0, source and last_scraped.',
    source: design('searches'),
  },
  'DESIGN-SEARCH-02': {
    text: 'A search with exactly one match answers its record.',
    source: design('searches'),
  },
  'DESIGN-SEARCH-03': {
    text: 'A search with more answers found, count, truncated, multiple (whole records), source and last_scraped.',
    source: design('searches'),
  },
  'DESIGN-SEARCH-04': {
    text: 'At most 100 matches are answered; truncated says that there were more, and a message how to narrow.',
    source: design('searches'),
  },
  'DESIGN-SEARCH-05': {
    text: 'Matches stand in order: exact names first, then by name, then by number.',
    source: design('searches'),
  },

  'DESIGN-PERSON-01': {
    text: 'last_name is a whole surname; case, accents, apostrophes, periods, blanks and hyphens do not matter.',
    source: design('names of persons'),
  },
  'DESIGN-PERSON-02': {
    text: 'A generational suffix is not part of the surname.',
    source: design('names of persons'),
  },
  'DESIGN-PERSON-03': {
    text: 'Either half of a hyphenated surname finds it.',
    source: design('names of persons'),
  },
  'DESIGN-PERSON-04': {
    text: 'first_name is a prefix of all given names taken together, folded the same way.',
    source: design('names of persons'),
  },

  'DESIGN-BUSINESS-01': {
    text: 'business_name is a prefix of either trade name, before or after D.B.A.',
    source: design('names of businesses'),
  },
  'DESIGN-BUSINESS-02': {
    text: 'THE, case and punctuation do not matter in a business name.',
    source: design('names of businesses'),
  },
  'DESIGN-BUSINESS-03': {
    text: 'business_name without search_type is 400 and says what to add.',
    source: design('names of businesses'),
  },
  'DESIGN-BUSINESS-04': {
    text: 'A business search by number finds businesses only.',
    source: design('names of businesses'),
  },

  'DESIGN-INPUT-01': {
    text: 'Wildcards and quotes in what is searched have no power.',
    source: design('input'),
  },
  'DESIGN-INPUT-02': {
    text: 'Blank strings and null count as absent, in REST as in MCP.',
    source: design('input'),
  },
  'DESIGN-INPUT-03': { text: 'Unknown body fields are ignored.', source: design('input') },
  'DESIGN-INPUT-04': { text: 'Fields of a wrong type are 400.', source: design('input') },
  'DESIGN-INPUT-05': {
    text: 'A name or a filter with neither a letter nor a digit is 400.',
    source: design('input'),
  },
  'DESIGN-INPUT-06': {
    text: 'A body that is not valid UTF-8 is 400; Content-Encoding is case-insensitive.',
    source: design('input'),
  },
  'DESIGN-INPUT-07': {
    text: 'A typed value whose folded form has more than 200 characters matches nothing.',
    source: design('input'),
  },
  'DESIGN-NARROWING-02': {
    text: 'A filter by a license type that the board does not have is 400 and names those that it has.',
    source: design('narrowing'),
  },
  'DESIGN-NARROWING-01': {
    text: 'license_type, status, city and county narrow a search, the same in all interfaces.',
    source: design('narrowing'),
  },
  'DESIGN-CACHED-01': {
    text: '/lookup/cached answers byte for byte as /lookup/verify, plus Deprecation and Link to its successor.',
    source: design('the deprecated alias'),
  },

  'DESIGN-DATE-01': {
    text: "last_scraped is the files' QUERY_RUN_DATE at midnight.",
    source: design('the date of the data'),
  },
  'DESIGN-DATE-02': {
    text: "The two files' dates must agree, or nothing goes live.",
    source: design('the date of the data'),
  },
  'DESIGN-DATE-03': {
    text: 'A date given with the publication serves only files without one.',
    source: design('the date of the data'),
  },
  'DESIGN-DATE-04': {
    text: 'Generated sample data says so in the metadata and at /status.',
    source: design('the date of the data'),
  },
  'DESIGN-STATUS-01': {
    text: 'status is the primary status in upper case; raw_status is "<Primary>" or "<Primary> - <Sub>".',
    source: design('status'),
  },
  'DESIGN-DAYS-01': {
    text: 'days_until_expiry counts calendar days in America/New_York, negative once past, null without a date.',
    source: design('days until expiry'),
  },
  'DESIGN-NULLS-01': {
    text: 'What the dataset lacks is null, never an empty string, and the field is there.',
    source: design('missing values'),
  },
  'DESIGN-EXTRA-01': {
    text: 'extra_data has County, ZIP, Issue Date and every other non-empty attribute under its readable name.',
    source: design('extra data'),
  },
  'DESIGN-EXTRA-02': {
    text: 'Nothing of a row is dropped in silence: what no field takes, unknown columns too, stands in extra_data.',
    source: design('extra data'),
  },

  'DESIGN-BOARDS-01': {
    text: 'GET /lookup/boards/{board}/types answers {board, code, license_types}.',
    source: design('boards'),
  },
  'DESIGN-BOARDS-02': { text: 'An unknown board in the path is 400.', source: design('boards') },
  'DESIGN-BOARDS-03': { text: 'The board in the path is percent-decoded.', source: design('boards') },
  'DESIGN-BOARDS-04': {
    text: "License types are those of the live publication; the catalog's for a board without rows.",
    source: design('boards'),
  },
  'DESIGN-MISS-01': {
    text: 'A miss is never worded as "unlicensed": it says what was searched, in which publication, and that the issuing board is the authority.',
    source: design('misses'),
  },

  'DESIGN-LIMITS-01': {
    text: 'Answers say the limit, what is left and when it is whole again in X-RateLimit-*; a 429 has Retry-After.',
    source: design('rate limits'),
  },
  'DESIGN-LIMITS-02': { text: 'Requests count before the key is looked at.', source: design('rate limits') },
  'DESIGN-LIMITS-03': {
    text: 'Bad keys have a smaller limit of their own and do not lock out good ones from the same address.',
    source: design('rate limits'),
  },
  'DESIGN-LIMITS-04': {
    text: "The client's address is the socket's, unless TRUSTED_PROXIES says how many proxies to believe.",
    source: design('rate limits'),
  },
  'DESIGN-LIMITS-05': {
    text: 'RATE_LIMIT_RANGES gives address ranges limits of their own; MCP_RATE_LIMIT_RANGES those of MCP.',
    source: design('rate limits'),
  },
  'DESIGN-LIMITS-06': {
    text: 'While Redis is away lookups go on and the limits still hold.',
    source: design('rate limits'),
  },

  'DESIGN-KEYS-01': {
    text: 'A key is olv_, 256 random bits in base62 and a checksum.',
    source: design('API keys'),
  },
  'DESIGN-KEYS-02': { text: 'Only the SHA-256 of a key is stored.', source: design('API keys') },
  'DESIGN-KEYS-03': { text: 'A revoked key stops within 10 seconds.', source: design('API keys') },
  'DESIGN-KEYS-04': {
    text: 'The keys of a deactivated account stop within 10 seconds.',
    source: design('API keys'),
  },
  'DESIGN-HTTPS-01': {
    text: 'Strict-Transport-Security is sent when the proxy says that the request came by https.',
    source: design('HTTPS'),
  },
  'DESIGN-HTTPS-02': {
    text: 'A request under /api/v1 that came by http, as the nearest trusted proxy says, gets 403 that says why.',
    source: design('HTTPS'),
  },

  'DESIGN-MCP-01': {
    text: 'A tool result has the same as structured content and as text, after the output schema.',
    source: design('the tool server'),
  },
  'DESIGN-MCP-02': {
    text: 'A Host or Origin that is not allowed is refused.',
    source: design('the tool server'),
  },
  'DESIGN-MCP-03': {
    text: 'The tool server is stateless: no session, and POST alone.',
    source: design('the tool server'),
  },
} as const satisfies Record<string, Requirement>;

export type RequirementId = keyof typeof REQUIREMENTS;

/** The requirement of this id. @throws {Error} when there is none */
export function requirement(id: string): Requirement {
  for (const [known, value] of Object.entries<Requirement>(REQUIREMENTS)) if (known === id) return value;
  throw new Error(`There is no requirement ${id}; test/requirements.ts has all.`);
}
