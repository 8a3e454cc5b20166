import { strToU8, zipSync } from 'fflate';

/** The parts of a workbook that differ between tests. */
export interface WorkbookParts {
  /** What is inside `sheetData` of each sheet. */
  readonly sheets: readonly string[];
  /** Of each sheet: `visible` unless said otherwise. */
  readonly states?: readonly string[];
  readonly workbookPr?: string;
  readonly sharedStrings?: string;
  readonly styles?: string;
  /** Other entries of the zip file, or other content of these. */
  readonly others?: Readonly<Record<string, string | Uint8Array>>;
}

const RELATIONSHIP = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** An Excel workbook, as small as a program may write it. */
export function workbook(parts: WorkbookParts): Buffer {
  const { sheets, states = [], workbookPr = '', sharedStrings, styles, others = {} } = parts;
  const sheetTags = sheets.map(
    (_, at) => `<sheet name="S${at}" sheetId="${at + 1}" state="${states[at] ?? 'visible'}" r:id="r${at}"/>`,
  );
  const links = sheets.map(
    (_, at) =>
      `<Relationship Id="r${at}" Type="${RELATIONSHIP}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
  );
  const entries: Record<string, string | Uint8Array> = {
    'xl/workbook.xml': `<workbook xmlns:r="${RELATIONSHIP}">${workbookPr}<sheets>${sheetTags.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${links.join('')}</Relationships>`,
    ...Object.fromEntries(
      sheets.map((cells, at) => [
        `xl/worksheets/sheet${at + 1}.xml`,
        `<worksheet><sheetData>${cells}</sheetData></worksheet>`,
      ]),
    ),
    ...(sharedStrings !== undefined && { 'xl/sharedStrings.xml': `<sst>${sharedStrings}</sst>` }),
    ...(styles !== undefined && { 'xl/styles.xml': `<styleSheet>${styles}</styleSheet>` }),
    ...others,
  };
  return Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(entries).map(([path, content]) => [
          path,
          typeof content === 'string' ? strToU8(content) : content,
        ]),
      ),
    ),
  );
}

/** A row of texts. */
export function textRow(...cells: readonly string[]): string {
  return `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`;
}
