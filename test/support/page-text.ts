/** The text of a page or of a part of it. */
export const pageText = (html: unknown): string =>
  String(html)
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,?])/g, '')
    .trim();
