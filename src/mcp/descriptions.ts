/** The descriptions of this server and its tools, written for a model that knows nothing about Ohio's boards. */

export const INSTRUCTIONS = `Tells whether a person or a business holds an Ohio professional license, until when, and whether the board has acted on it, from the State's daily dataset of its 24 licensing boards.
- A license number is known: verify_license, for persons and businesses alike.
- Only a person's name is known: search_licenses_by_name, at the board of the profession (list_ohio_boards tells which).
- Several people or businesses at once, from a list or a table: verify_roster.
- When and how a license changed: license_history.
- A salon, pharmacy, firm, funeral home or repair shop: verify_business_license.
Several people share a name, and one person may hold several licenses: compare city, county and license type with what you were told, and ask which one is meant rather than choose. not_found never means that somebody is unlicensed. With whatever a tool told you, tell its data_as_of date, and that the issuing board is the authority.`;

/** What a search by name returns. Several descriptions share this sentence. */
const SEVERAL =
  'Returns up to 100 licenses (or limit), exact names first; total and by_status count all that match, so limit 1 tells how many. in_common has the fields that all listed share; they are not repeated in each. A long list comes as groups with the same status and type instead of licenses: columns names what each row of a group has. A single match comes with its whole record; of several, verify_license gives the rest.';

/** The descriptions, by the name of the tool. */
export const DESCRIPTIONS = {
  verify_license: `Looks up one Ohio license by its number and returns the whole record: holder, board, type, status, expiry date, place, board_action (whether the board has acted on it; null: the State does not say, which does not mean No), cautions (what must be told; the message says how), and in extra_data all else that the State publishes of it, such as the ZIP, a nurse's compact eligibility, specialties, or the license that an advanced-practice number endorses. raw_status is the status to tell: "Active - Probation" is not just active.
Use it whenever a license number is known, of a person or a business; one call for each number.
Send the number as it was given to you, with its prefix: case, blanks and "/" for "." do not matter, but do not shorten it or pad it. Put a prefix before a bare number only if you were told the license type (list_ohio_boards has a number of each). Leave out board unless the answer asks for it: nearly every number is of one board alone. Send the name too where you know whose it should be: name_match then tells whether it is that holder's.
Returns found with one license, not_found (did_you_mean may offer numbers that exist; ask before you use one), or ambiguous (the number fits several licenses: none is returned, the message says how to ask again).
Example: {"license_number": "RN.987654321", "last_name": "Example"}`,
  search_licenses_by_name: `Finds the licenses of persons at one Ohio board by surname and, optionally, the beginning of the given name.
Use it when no license number is known. The board is the one that licenses the profession: nurses "Nursing Board"; physicians, physician assistants, massage therapists and dietitians "Medical Board"; pharmacists "Board of Pharmacy"; barbers and manicurists "Cosmetology and Barber Board"; list_ohio_boards tells of the others. Not for establishments: use verify_business_license.
The surname must be whole, or either half of a hyphenated one (of two surnames without a hyphen send both); case, accents, apostrophes, blanks and hyphens do not matter, and JR, SR and the like are no part of it. Narrow common names with first_name, city, county, license_type or status.
${SEVERAL} A match of the name is not proof that it is the person meant. did_you_mean offers surnames spelled nearly alike, or "SURNAME, GIVEN NAME" where another given name may be meant (ROBERT for BOB); ask before you use one.
Example: {"board": "Nursing Board", "last_name": "Smith", "first_name": "Mary", "city": "Columbus"}`,
  verify_business_license: `Finds the licenses of Ohio establishments (pharmacies, which are "Terminal Distributor of Dangerous Drugs", salons, barber shops, engineering and accounting firms, funeral homes, crematories, repair shops) by trade name or by number.
Use it for a business. Give business_name, the beginning of the trade name or of the name after "D.B.A.", or license_number, which is taken first and alone. The board may be left out. Not for a person's own license: use verify_license or search_licenses_by_name.
A chain has a license for each place: narrow with city or county, and ask which one is meant.
${SEVERAL} did_you_mean offers names or numbers written nearly alike; ask before you use one.
Example: {"business_name": "Example Pharmacy", "city": "Dayton"}`,
  verify_roster: `Looks up a list of 1 to 50 Ohio licenses at once, persons and businesses mixed, all in the same day's dataset.
Use it for two or more lookups, such as a staff list, instead of one call for each. For the whole record of a single license use verify_license.
Each item is looked up by license_number if it has one (send last_name too: name_match tells whether it is that holder's), else by last_name at a board (with first_name where known), else by business_name, which is ignored beside a last_name. Send numbers as they were given. Give each item a reference to tell the results apart.
Returns a result for each item, in their order: found with one license, ambiguous (several match: compare city, county and type, and ask which one is meant), not_found (did_you_mean may offer numbers or names; ask before you use one) or invalid (the message says what to send). A message of an item must be told. Licenses come in a short form: verify_license with the number gives the rest.
Example: {"items": [{"reference": "1", "license_number": "RN.987654321", "last_name": "Example"}, {"reference": "2", "board": "Medical Board", "last_name": "Jones", "first_name": "Ann"}]}`,
  license_history: `Tells what changed in one Ohio license, and when: renewals, status, board action, name, place; also that it was added or removed.
Use it when a license was verified before, or when somebody asks since when something is so. For the license as it is now use verify_license: this returns only a short form of it.
Send license_number as it was given, with its prefix. Send board for a license that is no longer in the dataset.
Returns the changes, newest first, each with the dataset's date and the fields before and after. cause data is the State's; rejected_row (its row could not be read, or can be again), rollback and release come from this service alone. coverage_start tells since when changes are known: what happened before is not in the result, so never say that nothing happened before. A removed license is not proof of anything: ask the board.
Example: {"license_number": "RN.987654321"}`,
  list_ohio_boards: `Lists the 24 Ohio licensing boards with their exact names, and the license types of each with the number of some license, to show what such numbers look like.
Use it to find the board of a profession before search_licenses_by_name, the exact name of a license type to narrow by, or the prefix of its numbers. Not needed for a lookup by number. A profession that is under none of them (lawyers, teachers, real estate agents, electricians) is not licensed by these boards, so its licenses are not here.
Takes no parameters: {}`,
};
