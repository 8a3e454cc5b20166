/** Requirements about one subject. */
interface Topic {
  readonly title: string;
  /** What the subject is, in a sentence. */
  readonly about: string;
  /** What the service must do: one sentence for each id. */
  readonly requirements: Readonly<Record<string, string>>;
}

const SERVICE = {
  'SERVICE-01': 'A lookup returns the record of a licensed person or business.',
  'SERVICE-02': 'Every answer comes from the live publication. No answer is cached.',
  'SERVICE-03': 'Every answer without a license refers the user to the issuing board as the authority.',
  'SERVICE-04': 'The service lists the 24 boards with their license types.',
  'SERVICE-05': 'The REST API requires an API key.',
  'SERVICE-06':
    'The MCP server speaks the Model Context Protocol over Streamable HTTP and requires no API key.',
  'SERVICE-07': 'No request of a user changes a license record.',
} as const;

const HTTPS = {
  'HTTPS-01': 'The REST API is reachable over HTTPS only.',
  'HTTPS-02':
    'A response to a request that reached the proxy over https has the header Strict-Transport-Security.',
  'HTTPS-03':
    'A request under /api/v1 that reached the nearest trusted proxy over http gets 403 with the reason.',
} as const;

const BOARDS = {
  'BOARDS-01': 'The service knows 24 boards, each by one exact name.',
  'BOARDS-02': 'A board name with another case or spelling is not accepted.',
  'BOARDS-03':
    'The details of a board are its short code (a string) and the names of its license types (an array of strings).',
  'BOARDS-04':
    'GET /lookup/boards returns 200 with boards (the 24 names) and board_details (an object by name).',
  'BOARDS-05': 'GET /lookup/boards/{board}/types returns the license types of the board in the path.',
  'BOARDS-06': 'GET /lookup/boards/{board}/types returns {board, code, license_types}.',
  'BOARDS-07': 'An unknown board in the path gets 400.',
  'BOARDS-08': 'The board in the path is percent-decoded.',
  'BOARDS-09':
    'The license types of a board are those in the live publication. A board without licenses has those of the catalog.',
} as const;

const RECORD = {
  'RECORD-01':
    'A record has found (true), license_number, full_name, board, license_type, status, expiry_date, issue_date, days_until_expiry, city, county, state, raw_status, extra_data, source and last_scraped, each of its type.',
  'RECORD-02': "license_number is the board's own number, with its prefix.",
  'RECORD-03': 'full_name is the name of the holder, that of a person as "LAST, FIRST MIDDLE".',
  'RECORD-04': "board is the name of a board, and license_type one of that board's license types.",
  'RECORD-05': 'status is the primary status in upper case.',
  'RECORD-06': 'expiry_date and issue_date are dates as YYYY-MM-DD.',
  'RECORD-07': 'days_until_expiry is the whole number of days from today to expiry_date.',
  'RECORD-08': 'city, county and state (two letters) say where the holder is.',
  'RECORD-09': 'raw_status is the primary status and the sub-status as "<Primary> - <Sub-status>".',
  'RECORD-10': 'extra_data is an object of further attributes by name, such as County, ZIP and Issue Date.',
  'RECORD-11': 'source is "dataset".',
  'RECORD-12':
    'last_scraped is the date of the publication that the answer comes from, as ISO 8601 time without a zone.',
  'RECORD-13':
    'days_until_expiry counts calendar days in America/New_York. It is negative after the expiry date, and null without one.',
  'RECORD-14': 'A field without a value in the dataset is present and null, never an empty string.',
  'RECORD-15':
    'extra_data has County, ZIP, Issue Date and every other attribute with a value, each under a readable name.',
  'RECORD-16': 'A value of a row that no field takes is in extra_data, also if its column is unknown.',
} as const;

const STATUS = {
  'STATUS-01': 'Any primary status is returned as the board gives it, also one that is in no list.',
  'STATUS-02': 'Any sub-status is in raw_status, after the primary status.',
  'STATUS-03': 'A record whose raw_status is "Active" has the status "ACTIVE".',
  'STATUS-04': 'raw_status is "<Primary>" without a sub-status, and "<Primary> - <Sub-status>" with one.',
} as const;

const REST = {
  'REST-01': 'Every path of the REST API requires the header X-API-Key.',
  'REST-02': 'A request body is JSON with the Content-Type application/json.',
} as const;

const LOOKUP = {
  'LOOKUP-01': 'POST /lookup/verify requires board.',
  'LOOKUP-02': 'A board that is not exactly the name of a board gets 400.',
  'LOOKUP-03': 'board and license_number look up a license by number.',
  'LOOKUP-04': 'board and last_name search for a person; a search for a person requires last_name.',
  'LOOKUP-05': 'first_name is optional, and its first letters are enough.',
  'LOOKUP-06': 'board, search_type "business" and business_name search for a business.',
  'LOOKUP-07': 'board, search_type "business" and license_number look up a business by number.',
  'LOOKUP-08': 'search_type is "business" or absent. Without it, the search is for a person.',
  'LOOKUP-09': 'A search with search_type "business" requires business_name or license_number.',
  'LOOKUP-10':
    'A lookup by number that finds a license, and a search with one match, return 200 with the record.',
  'LOOKUP-11': 'A search with several matches returns 200 with an array, multiple.',
  'LOOKUP-12': 'A number that no license has gets 404.',
} as const;

const NUMBER = {
  'NUMBER-01': 'A 404 has detail and did_you_mean (an array of numbers), and never names a holder.',
  'NUMBER-02': 'A number is found whatever its case and blanks, and with "/" in place of ".".',
  'NUMBER-03': 'A number that consists of digits is also found with a hyphen after the first two.',
  'NUMBER-04': 'A spelling that fits the numbers of two licenses returns neither.',
  'NUMBER-05':
    'A number of a license at another board gets 404, and detail names that board but not the holder.',
  'NUMBER-06': 'A lookup by number accepts filters, such as license_type, and ignores them.',
} as const;

const SEARCH = {
  'SEARCH-01': 'A search for a person or business with several matches returns them in multiple.',
  'SEARCH-02': 'A search without a match returns 200 with found false, count 0, source and last_scraped.',
  'SEARCH-03': 'A search with one match returns its record.',
  'SEARCH-04':
    'A search with several matches returns found, count, truncated, multiple (whole records), source and last_scraped.',
  'SEARCH-05':
    'A search returns at most 100 matches. If there are more, truncated is true, and message says how to narrow the search.',
  'SEARCH-06': 'Matches are in order: exact names first, then by name, then by number.',
} as const;

const PERSON = {
  'PERSON-01':
    'last_name is a whole surname. Case, accents, apostrophes, periods, blanks and hyphens do not matter.',
  'PERSON-02': 'A generational suffix, such as JR, is not part of the surname.',
  'PERSON-03': 'Each half of a hyphenated surname finds it.',
  'PERSON-04': 'first_name matches the beginning of the given names. They are folded as surnames are.',
} as const;

const BUSINESS = {
  'BUSINESS-01': 'business_name matches the beginning of the name before D.B.A. or of that after it.',
  'BUSINESS-02': 'THE, case and punctuation in a business name do not matter.',
  'BUSINESS-03': 'business_name without search_type gets 400, and detail says what to add.',
  'BUSINESS-04': 'A lookup by number with search_type "business" finds only businesses.',
} as const;

const FILTERS = {
  'FILTERS-01': 'license_type, status, city and county filter a search, in REST and in MCP alike.',
  'FILTERS-02': 'A license_type that the board does not have gets 400, and detail lists those that it has.',
} as const;

const INPUT = {
  'INPUT-01': 'Wildcards and quotes in a searched value have no special meaning.',
  'INPUT-02': 'A blank string and null count as absent, in REST and in MCP.',
  'INPUT-03': 'Unknown fields of a body are ignored.',
  'INPUT-04': 'A field of the wrong type gets 400.',
  'INPUT-05': 'A name or filter without a letter or digit gets 400.',
  'INPUT-06': 'A body that is not valid UTF-8 gets 400. The case of Content-Encoding does not matter.',
  'INPUT-07': 'A value that has more than 200 characters after folding matches nothing.',
} as const;

const MISS = {
  'MISS-01':
    'A miss never says "unlicensed". It says what was searched in which publication, and that the issuing board is the authority.',
} as const;

const MCP = {
  'MCP-01': 'The MCP server is at /mcp, over Streamable HTTP, and checks no API key.',
  'MCP-02':
    'The MCP server has the tools verify_license, search_licenses_by_name, verify_business_license and list_ohio_boards.',
  'MCP-03': 'verify_license finds the board of a number. The parameter board is optional.',
  'MCP-04': 'search_licenses_by_name searches for holders by name and requires board.',
  'MCP-05': 'search_licenses_by_name returns all matches, up to 100.',
  'MCP-06': 'verify_business_license verifies businesses.',
  'MCP-07': 'list_ohio_boards lists the 24 boards and their license types.',
  'MCP-08': 'Every tool result says in data_as_of how current its data is.',
  'MCP-09':
    'A tool result has the same data as structured content and as text, and conforms to the output schema.',
  'MCP-10': 'A Host or Origin that is not allowed is refused.',
  'MCP-11': 'The MCP server is stateless: it opens no session and accepts only POST.',
} as const;

const KEYS = {
  'KEYS-01': 'The API key is read from the header X-API-Key.',
  'KEYS-02': "A key begins with the service's prefix and an underscore.",
  'KEYS-03': 'A request without a valid, active key gets 401 with {"detail": "Invalid or inactive API key"}.',
  'KEYS-04': 'A key belongs to a verified account, and is shown only once, when it is created.',
  'KEYS-05': 'The MCP server accepts requests that have no API key.',
  'KEYS-06': 'A key is the prefix (olv_ by default), 256 random bits in base62 and a checksum.',
  'KEYS-07': 'Only the SHA-256 of a key is stored.',
  'KEYS-08': 'A revoked key stops working within 10 seconds.',
  'KEYS-09': 'The keys of a deactivated account stop working within 10 seconds.',
} as const;

const ERRORS = {
  'ERRORS-01': 'A request that succeeds gets 200.',
  'ERRORS-02': 'A body that cannot be used gets 400.',
  'ERRORS-03': 'A missing, invalid or inactive API key gets 401.',
  'ERRORS-04': 'A lookup by a number that no license has gets 404.',
  'ERRORS-05': 'Too many requests get 429.',
  'ERRORS-06': 'A failure of the service itself gets 500.',
  'ERRORS-07':
    'The body of every error is {"detail": string}. It says what to do, and nothing about the inside of the service.',
  'ERRORS-08': 'A 400 for an unknown board names the board with the nearest name.',
  'ERRORS-09': 'A wrong method gets 405 with the header Allow.',
  'ERRORS-10': 'A body that is too large gets 413, and one of another media type 415.',
  'ERRORS-11':
    'While OpenSearch does not answer, or nothing is published yet, a lookup gets 503 with the header Retry-After.',
} as const;

const LIMITS = {
  'LIMITS-01': "Requests are limited by the client's address.",
  'LIMITS-02': 'The REST API and the MCP server have separate limits.',
  'LIMITS-03': 'A request over the limit gets 429.',
  'LIMITS-04': 'search_licenses_by_name never returns more than 100 matches.',
  'LIMITS-05':
    'The headers X-RateLimit-* tell the limit, what is left and when it resets. A 429 has Retry-After.',
  'LIMITS-06': 'A request is counted before its key is checked.',
  'LIMITS-07':
    'Bad keys have a smaller limit of their own, and do not block good keys from the same address.',
  'LIMITS-08':
    "The client's address is that of the socket. With TRUSTED_PROXIES, it is the one that so many proxies report.",
  'LIMITS-09':
    'RATE_LIMIT_RANGES sets other limits for ranges of addresses, and MCP_RATE_LIMIT_RANGES the same for MCP.',
  'LIMITS-10': 'While Redis does not answer, lookups continue and limits still apply.',
} as const;

const VERSIONS = {
  'VERSIONS-01': 'The version is part of the base path: /api/v1.',
  'VERSIONS-02': 'POST /lookup/cached returns what POST /lookup/verify returns.',
  'VERSIONS-03':
    'POST /lookup/cached accepts the earlier body (board, license_number, license_type), and returns 404 for a missing license.',
  'VERSIONS-04':
    'A response of /lookup/cached has the same bytes as that of /lookup/verify, and the headers Deprecation and Link to its successor.',
} as const;

const DATE = {
  'DATE-01': 'last_scraped is the QUERY_RUN_DATE of the files, at midnight.',
  'DATE-02': 'Files whose dates differ are refused, and the earlier publication stays live.',
  'DATE-03': 'A date given with the publication is used only for files that have none.',
  'DATE-04': 'A publication of generated sample data is marked as such in its metadata and at /status.',
} as const;

/** What the service must do, by subject. Every id has a test that names it with `verifies`. */
export const TOPICS = [
  { title: 'Service', about: 'What the service is for.', requirements: SERVICE },
  { title: 'HTTPS', about: 'How requests are encrypted.', requirements: HTTPS },
  { title: 'Boards', about: 'The licensing boards of Ohio.', requirements: BOARDS },
  { title: 'Record', about: 'The fields of a license.', requirements: RECORD },
  { title: 'Status', about: 'What the board has done about a license.', requirements: STATUS },
  { title: 'REST', about: 'Requests of the REST API.', requirements: REST },
  { title: 'Lookup', about: 'What `POST /lookup/verify` accepts and returns.', requirements: LOOKUP },
  { title: 'Numbers', about: 'Lookups by license number.', requirements: NUMBER },
  { title: 'Searches', about: 'Lookups by name.', requirements: SEARCH },
  { title: 'Persons', about: 'How names of persons are matched.', requirements: PERSON },
  { title: 'Businesses', about: 'How names of businesses are matched.', requirements: BUSINESS },
  { title: 'Filters', about: 'How a search is narrowed.', requirements: FILTERS },
  { title: 'Input', about: 'How values of a request are read.', requirements: INPUT },
  { title: 'Misses', about: 'What is said when nothing is found.', requirements: MISS },
  { title: 'MCP', about: 'The server for assistants.', requirements: MCP },
  { title: 'API keys', about: 'Who may use the REST API.', requirements: KEYS },
  { title: 'Errors', about: 'Statuses and bodies.', requirements: ERRORS },
  { title: 'Limits', about: 'How many requests a client may send.', requirements: LIMITS },
  { title: 'Versions', about: 'Paths that stay, and the deprecated one.', requirements: VERSIONS },
  { title: 'Date', about: 'Which day the data is from.', requirements: DATE },
] as const satisfies readonly Topic[];

type KeysOf<Each> = Each extends unknown ? keyof Each : never;

export type RequirementId = KeysOf<(typeof TOPICS)[number]['requirements']>;

/** Every requirement's sentence by its id. */
export const REQUIREMENTS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...TOPICS.map(({ requirements }) => requirements),
);

/** The requirement's sentence. @throws {Error} when no requirement has this id */
export function requirement(id: string): string {
  const sentence = REQUIREMENTS[id];
  if (sentence !== undefined) return sentence;
  throw new Error(`There is no requirement ${id}; test/requirements.ts has all.`);
}
