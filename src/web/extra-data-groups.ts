import { ENDORSED_LICENSE_LABELS, EXTRA_DATA_LABELS } from '../licenses/extra-data-labels.ts';
import { type Html, html, NOTHING } from './page.ts';
import { inWords } from './words.ts';

/** Shown elsewhere on the page. */
const SHOWN_APART: ReadonlySet<string> = new Set([
  EXTRA_DATA_LABELS.boardAction,
  EXTRA_DATA_LABELS.endorsedLicense,
  ...Object.values(ENDORSED_LICENSE_LABELS),
  'Issue Date',
  'County',
]);

/** The groups of attributes, by the beginning of their labels. Those of no group come last. */
const GROUPS: readonly { readonly heading: string; readonly labels: RegExp }[] = [
  { heading: 'Address', labels: /^(ZIP|County|Country|Street Address|Parcel )/ },
  { heading: 'Endorsements without a number', labels: /^Endorsement / },
  { heading: 'Medical specialties', labels: /^Medical / },
  { heading: 'National certifications', labels: /^National Certification/ },
];

/** Whether an attribute is of an endorsement with a number, which has a page of its own. */
function hasOwnPage(label: string, extra: Readonly<Record<string, string>>): boolean {
  const [, n] = /^Endorsement .* (\d+)$/.exec(label) ?? [];
  return n !== undefined && Object.hasOwn(extra, `Endorsement Number ${n}`);
}

const OTHER = 'Other details';

/** Every other attribute of a license, grouped under readable labels. */
export function extraDataGroups(extra: Readonly<Record<string, string>>): Html {
  const shown = Object.entries(extra).filter(
    ([label]) => !SHOWN_APART.has(label) && !hasOwnPage(label, extra),
  );
  const groups = Map.groupBy(
    shown,
    ([label]) => GROUPS.find(({ labels }) => labels.test(label))?.heading ?? OTHER,
  );
  const headings = [OTHER, ...GROUPS.map(({ heading }) => heading)];
  return html`${headings.map((heading) => group(heading, groups.get(heading) ?? []))}`;
}

function group(heading: string, attributes: readonly (readonly [string, string])[]): Html {
  if (attributes.length === 0) return NOTHING;
  return html`
<section><h2>${heading}</h2><dl class="facts">${attributes.map(
    ([label, value]) => html`<div><dt>${label}</dt><dd>${inWords(value)}</dd></div>`,
  )}</dl></section>`;
}
