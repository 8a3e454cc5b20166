import { type Html, html } from './page.ts';
import { count } from './words.ts';

/** A bar of a chart: its parts are stacked, in the order of the chart's series. */
export interface Bar {
  readonly label: string;
  readonly values: readonly number[];
}

interface BarChart {
  /** What the chart shows, for those who do not see it. The table beside it has the figures. */
  readonly label: string;
  /** The names of the parts of each bar. */
  readonly series: readonly string[];
  readonly bars: readonly Bar[];
}

const WIDTH = 320;
const HEIGHT = 180;
const BASE = 150;
const TOP = 18;
const MAX_BAR_WIDTH = 40;

/** A chart of vertical bars as SVG. The colors of its parts come from the style sheet. */
export function barChart({ label, series, bars }: BarChart): Html {
  const highest = bars.reduce((most, { values }) => Math.max(most, sum(values)), 1);
  const step = WIDTH / Math.max(1, bars.length);
  const width = Math.min(MAX_BAR_WIDTH, step * 0.7);
  return html`<figure class="chart"><svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<line class="axis" x1="0" y1="${BASE}" x2="${WIDTH}" y2="${BASE}"/>${bars.map((bar, at) =>
    barShape(bar, (at + 0.5) * step, width, (BASE - TOP) / highest),
  )}</svg>${
    series.length < 2
      ? ''
      : html`<ul class="legend">${series.map((name, at) => html`<li class="part-${at}">${name}</li>`)}</ul>`
  }</figure>`;
}

function barShape({ label, values }: Bar, center: number, width: number, scale: number): Html {
  const bottoms = values.map((_, at) => BASE - sum(values.slice(0, at)) * scale);
  const total = sum(values);
  return html`
<g>${values.map((value, at) => {
    const height = value * scale;
    return html`<rect class="part-${at}" x="${rounded(center - width / 2)}" y="${rounded((bottoms[at] ?? BASE) - height)}" width="${rounded(width)}" height="${rounded(height)}"/>`;
  })}<text x="${rounded(center)}" y="${rounded(BASE - total * scale - 4)}">${count(total)}</text><text x="${rounded(center)}" y="${BASE + 18}">${label}</text></g>`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}
