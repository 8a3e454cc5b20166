import refusals from '../../data/refusals.json' with { type: 'json' };

/** Whether an operator may accept this guard's refusal. @param accepted a guard, or `GUARD:COLUMN` */
export function isAcceptable(accepted: string): boolean {
  const [guard, column] = accepted.split(':', 2);
  const known = Object.entries(refusals).find(([name]) => name === guard && column !== '');
  return known !== undefined && !('isFinal' in known[1]);
}
