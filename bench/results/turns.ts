/**
 * The order in which contenders take their turns in a round. It changes from round to round, so that none always
 * follows the same other or always comes first.
 */
export function turnsOf<Each>(contenders: readonly Each[], round: number): Each[] {
  const first = contenders.length === 0 ? 0 : (round * 2) % contenders.length;
  const rotated = [...contenders.slice(first), ...contenders.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}
