import { writeFile } from 'node:fs/promises';
import { JOSE } from '../signing/keys.ts';
import { grouped, print, printError } from './output.ts';
import { type RosterWork, sendRows } from './roster-client.ts';
import { openService, type ServiceOptions } from './service-client.ts';

type Service = RosterWork['service'];

/** `licenses watch --proof FILE`: writes the signed proof of each license that is watched, one a line. */
export async function writeProofs(
  options: ServiceOptions,
  file: string,
  listWatched: (service: Service) => Promise<readonly { readonly subscription_id: string }[]>,
): Promise<void> {
  const { signal } = new AbortController();
  const service = Object.assign(openService(options, { needsKey: true }), { signal, onWait: printError });
  const watched = await listWatched(service);
  const ids = watched.map(({ subscription_id: id }) => id);
  await writeFile(file, proofs(service, ids));
  print(`${grouped(ids.length)} proofs in ${file}.`);
}

async function* proofs(service: Service, ids: readonly string[]): AsyncGenerator<string> {
  for (const id of ids) {
    const request = { path: `/api/v1/subscriptions/${id}/proof`, accept: JOSE };
    for (const { text } of await sendRows(service, [id], () => request)) yield `${text}\n`;
  }
}
