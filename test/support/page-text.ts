/** The text of a page or of a part of it. */
export function pageText(html: unknown): string {
  return String(html)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,?])/g, '')
    .trim();
}
