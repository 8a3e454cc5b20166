import { strToU8, zipSync } from 'fflate';

/** The parts of a workbook that differ between tests. */
export interface WorkbookParts {
  /** The content of `sheetData` for each sheet. */
  readonly sheets: readonly string[];
  /** The state of each sheet; `visible` by default. */
  readonly states?: readonly string[];
  readonly workbookPr?: string;
  readonly sharedStrings?: string;
  readonly styles?: string;
  /** Additional entries of the zip file, or replacements for existing entries. */
  readonly others?: Readonly<Record<string, string | Uint8Array>>;
  /** Entries that are referenced but left out. */
  readonly missing?: readonly string[];
}

export const RELATIONSHIP = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

function mediaTypes({ sheets, sharedStrings, styles }: WorkbookParts): string[] {
  const ofPart = (path: string, type: string) =>
    `<Override PartName="/xl/${path}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
  return [
    ofPart('workbook', 'sheet.main'),
    ...sheets.map((_, at) => ofPart(`worksheets/sheet${at + 1}`, 'worksheet')),
    ...(sharedStrings === undefined ? [] : [ofPart('sharedStrings', 'sharedStrings')]),
    ...(styles === undefined ? [] : [ofPart('styles', 'styles')]),
  ];
}

/** A minimal Excel workbook. */
export function workbook(parts: WorkbookParts): Buffer {
  const { sheets, states = [], workbookPr = '', sharedStrings, styles, others = {}, missing = [] } = parts;
  const sheetTags = sheets.map(
    (_, at) => `<sheet name="S${at}" sheetId="${at + 1}" state="${states[at] ?? 'visible'}" r:id="r${at}"/>`,
  );
  const links = sheets.map(
    (_, at) =>
      `<Relationship Id="r${at}" Type="${RELATIONSHIP}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
  );
  if (sharedStrings !== undefined) {
    links.push(
      `<Relationship Id="strings" Type="${RELATIONSHIP}/sharedStrings" Target="sharedStrings.xml"/>`,
    );
  }
  if (styles !== undefined)
    links.push(`<Relationship Id="styles" Type="${RELATIONSHIP}/styles" Target="styles.xml"/>`);
  const entries: Record<string, string | Uint8Array> = {
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types">${mediaTypes(parts).join('')}</Types>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIP}">${workbookPr}<sheets>${sheetTags.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships">${links.join('')}</Relationships>`,
    ...Object.fromEntries(
      sheets.map((cells, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `<worksheet xmlns="${MAIN}"><sheetData>${cells}</sheetData></worksheet>`,
      ]),
    ),
    ...(sharedStrings !== undefined && {
      'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${sharedStrings}</sst>`,
    }),
    ...(styles !== undefined && { 'xl/styles.xml': `<styleSheet xmlns="${MAIN}">${styles}</styleSheet>` }),
    ...others,
  };
  return Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(entries)
          .filter(([path]) => !missing.includes(path))
          .map(([path, content]) => [path, typeof content === 'string' ? strToU8(content) : content]),
      ),
    ),
  );
}

/** A row of text cells. */
export const textRow = (...cells: readonly string[]): string =>
  `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`;
