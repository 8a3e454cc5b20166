import type { Judgement } from '../../workers/publish/judgement.ts';

/** The reasons of those guards that do not pass, as the ledger has them. */
export function reasonsOf(judgements: readonly Judgement[]): string[] {
  return judgements.filter(({ passed }) => !passed).map(({ check, sentence }) => `${check}: ${sentence}`);
}
