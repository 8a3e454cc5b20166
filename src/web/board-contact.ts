import type { Board } from '../licenses/boards.ts';
import { type Html, html, NOTHING } from './page.ts';

/** The State's own lookup of all boards, which is primary-source. */
const STATE_LOOKUP = 'https://elicense.ohio.gov/oh_verifylicense';

/** Who the authority is on a license and how to reach it. */
export function boardContact({ name, website }: Board): Html {
  return html`<section><h2>The authority</h2>
<p>The ${name} is the authority on its licenses. Ask it before a decision that depends on the answer.</p>
<ul class="usa-list">${website === undefined ? NOTHING : html`<li><a href="${website}" rel="noreferrer">${new URL(website).host}</a>, the board’s website</li>`}<li><a href="${STATE_LOOKUP}" rel="noreferrer">elicense.ohio.gov</a>, the State’s own license lookup</li></ul></section>`;
}
