import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SampleDataFiles } from '../write-sample-data.ts';

type DayFiles = Pick<SampleDataFiles, 'individual' | 'business'>;

const DAYS = ['2026-11-19', '2026-11-20'];

/** Nurses with the same surname in the same city, more than a search returns, and one in another city. */
const BAXTERS = Array.from({ length: 120 }, (_, at) => {
  const given = `GIVEN${String(at + 1).padStart(3, '0')} MARIE ELIZABETH`;
  const place = at === 76 ? 'MARIETTA,OH,Washington' : 'COLUMBUS,OH,Franklin';
  return (
    `"BAXTER, ${given}",Nursing Board,RN.${900_720_001 + at},Registered Nurse (RN),Active,No,` +
    `${place},2000-01-01,2027-10-31,,,,,,,`
  );
});

/**
 * Writes the State's files for two days with the licenses in the questions, all invented. The questions are asked on
 * the second day. In the data, a row without a run date appears on both days.
 */
export async function evaluationDays(folder: string): Promise<readonly DayFiles[]> {
  const read = async (name: string) =>
    (await readFile(join(import.meta.dirname, `${name}.csv`), 'utf8')).trimEnd().split('\n');
  const [individual, business] = [[...(await read('individual')), ...BAXTERS], await read('business')];
  return Promise.all(
    DAYS.map(async (date) => {
      const directory = join(folder, date);
      await mkdir(directory, { recursive: true });
      const files = {
        individual: join(directory, 'individual.csv'),
        business: join(directory, 'business.csv'),
      };
      await writeFile(files.individual, ofDay(individual, date));
      await writeFile(files.business, ofDay(business, date));
      return files;
    }),
  );
}

function ofDay([header = '', ...rows]: readonly string[], date: string): string {
  const lines = rows.flatMap((row) => {
    if (row.endsWith(',')) return [row + date];
    return row.endsWith(date) ? [row] : [];
  });
  return `${[header, ...lines].join('\n')}\n`;
}
