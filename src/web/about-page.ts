import type { Config } from '../config.ts';
import { SAVED_RECORD_DAYS } from '../records/saved-records.ts';
import { type Html, html } from './page.ts';

/** The page about the operator, the reliability of answers, the stored data, and how to contact the operator. */
export function aboutBody({
  OPERATOR_NAME: name,
  OPERATOR_CONTACT: contact,
}: Pick<Config, 'OPERATOR_NAME' | 'OPERATOR_CONTACT'>): Html {
  const operator = name === undefined || contact === undefined ? undefined : { name, contact };
  return html`<p>Once a day, the State publishes the licenses of Ohio’s 24 licensing boards as one dataset. This service loads it and answers by license number, by person and by business.</p>
<h2 id="operator">Who runs this</h2>
<p>${operator && html`<strong>${operator.name}</strong> runs this installation. Write to ${contactLink(operator.contact)}. `}This service is not run by the State of Ohio, and no board has checked or approved it.</p>
<p>Questions about a license, a complaint or a renewal go to the board that issued it.</p>
<h2 id="worth">What an answer is worth</h2>
<p>Every answer is from the State’s data of one day, which the page names. It is not primary-source verification: the issuing board is the authority. Each license’s page links to the State’s own lookup, and to the board’s website where this service knows it.</p>
<p>A license that is not found here may exist. A name may belong to several people: compare the whole name, the place and the type.</p>
<p><strong>Decisions about jobs, housing, credit or insurance have rules of their own</strong>, such as the federal Fair Credit Reporting Act and Ohio’s laws. Before you decide against somebody because of a page here, ask the board, and give the person a chance to respond. This is not legal advice.</p>
<h2 id="privacy">Privacy</h2>
<ul>
<li>This website has no accounts, no cookies, and nothing from other websites. For a business with an API key, the service stores its details, its watched licenses and its request counts.</li>
<li>The log records which kind of page was shown and how long that took. It records neither what you searched for nor your network address.</li>
<li>Your network address is kept for at most a day, to limit the number of requests.</li>
<li>Lists that you check are read and forgotten, unless you save the check.</li>
<li>A saved check is online for ${SAVED_RECORD_DAYS} days and then deleted. Anyone with its link can read it, including who checked and the reference.</li>
</ul>
<h2 id="corrections">Corrections</h2>
<p>If the board’s data about you is wrong, ask the board to correct it. The correction appears here with the State’s next data, usually on the next day.${operator && ' If a page here differs from what the State publishes, write to the operator.'}</p>`;
}

function contactLink(contact: string): Html {
  return contact.includes('@')
    ? html`<a href="mailto:${contact}">${contact}</a>`
    : html`<a href="${contact}" rel="noreferrer">${contact}</a>`;
}
