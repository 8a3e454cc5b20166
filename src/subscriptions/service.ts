import { currentBoardName } from '../licenses/boards.ts';
import { distinctKeys, isExactNumber, numberKey } from '../licenses/fold.ts';
import { boardKey, type LicenseRecord, licenseId } from '../licenses/license.ts';
import type { NumberRequest } from '../licenses/lookup.ts';
import { countDocuments } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';
import { SUBSCRIPTIONS, type Subscription, subscriptionId, subscriptionsTo } from './subscription.ts';

/**
 * The number of licenses that an account may watch. Concurrent requests may each exceed it by the subscriptions they
 * add.
 */
export const MAX_SUBSCRIPTIONS = 100_000;

/** Thrown when an account would watch too many licenses. */
export class TooManySubscriptionsError extends Error {
  /** @param left how many more licenses the account may watch */
  constructor(left: number) {
    super(
      `An account watches at most ${MAX_SUBSCRIPTIONS.toLocaleString('en-US')} licenses; yours may watch ` +
        `${left.toLocaleString('en-US')} more. Delete subscriptions first.`,
    );
  }
}

/** A license to watch, with its board and number as in the dataset, and the account's reference for it. */
interface Wanted {
  readonly record: Pick<LicenseRecord, 'board' | 'license_number'>;
  readonly reference: string | null;
}

/** A subscription of an account, and whether it was just created. */
export type Watched = Subscription & { readonly isNew: boolean };

export type Subscriptions = ReturnType<typeof subscriptionsService>;

/** OpenSearch returns at most this many documents per search. */
const MAX_FOUND = 10_000;

const ID = /^sub_[0-9a-f]{24}$/;

/** The subscriptions of accounts. Every function throws `SearchUnavailableError` when OpenSearch does not answer. */
export function subscriptionsService(store: Store) {
  /** Creates subscriptions, unless another request has just created them. @returns the subscriptions that exist now */
  async function create(wanted: readonly Subscription[]): Promise<Watched[]> {
    if (wanted.length === 0) return [];
    const documents = wanted.map((each) => [each.id, each] as const);
    const isNew = await SUBSCRIPTIONS.createAll(store, documents);
    const created = wanted.filter((_, at) => isNew[at]).map((each) => ({ ...each, isNew: true }));
    const others = new Map(wanted.filter((_, at) => !isNew[at]).map((each) => [each.license, each]));
    const ids = Array.from(others.values(), ({ id }) => id);
    const there = (await SUBSCRIPTIONS.readAll(store, ids)).filter(({ license }) => others.delete(license));
    // A subscription that follows its license to another number keeps its id. If the account also watches the first
    // number again, that subscription needs another id.
    const renamed = Array.from(others.values(), (each) => ({
      ...each,
      id: subscriptionId(each.account, `${each.license} ${each.id}`),
    }));
    return [...created, ...there.map((each) => ({ ...each, isNew: false })), ...(await create(renamed))];
  }

  /** Returns a subscription by its id; `undefined` if the account has no such subscription. */
  async function find(account: string, id: string): Promise<Subscription | undefined> {
    const found = ID.test(id) ? (await SUBSCRIPTIONS.read(store, id))?.document : undefined;
    return found?.account === account ? found : undefined;
  }

  return {
    /**
     * Makes an account watch licenses. Existing subscriptions stay as they are. If a license is given several times,
     * the first one counts.
     *
     * @returns the subscription to each license, by the license's document id
     * @throws {TooManySubscriptionsError} when the account would watch too many licenses; nothing is written then
     */
    async watch(account: string, wanted: readonly Wanted[]): Promise<ReadonlyMap<string, Watched>> {
      const first = new Map(
        wanted.toReversed().map((each) => [licenseId(each.record.board, each.record.license_number), each]),
      );
      const watched = await subscriptionsTo(store, [...first.keys()], account);
      const created_at = new Date().toISOString();
      const added = [...first].flatMap(([license, { record, reference }]): Subscription[] => {
        if (watched.has(license)) return [];
        const { board, license_number } = record;
        const [id, number] = [subscriptionId(account, license), numberKey(license_number)];
        return [{ id, account, license, board, license_number, number, reference, created_at }];
      });
      const { client, names } = store;
      const count =
        added.length > 0 ? await countDocuments(client, names.subscriptions, { term: { account } }) : 0;
      const left = Math.max(0, MAX_SUBSCRIPTIONS - count);
      if (added.length > left) throw new TooManySubscriptionsError(left);
      const known = [...watched.values()].flat().map((each) => ({ ...each, isNew: false }));
      return new Map([...known, ...(await create(added))].map((each) => [each.license, each]));
    },
    /**
     * Finds the account's subscription for each requested number that is no longer in the dataset: the subscription
     * with exactly that number, or else the only one with the same number key at the board.
     */
    async meantBy(account: string, requests: readonly NumberRequest[]) {
      const keys = distinctKeys(requests.map(({ number }) => numberKey(number)));
      if (keys.length === 0) return new Map<NumberRequest, Subscription | undefined>();
      const { documents } = await SUBSCRIPTIONS.search(store, {
        query: { bool: { filter: [{ term: { account } }, { terms: { number: keys } }] } },
        sort: [{ id: 'asc' }],
        size: MAX_FOUND,
      });
      const byNumber = Map.groupBy(documents, ({ number }) => number);
      const meant = ({ number, board }: NumberRequest) => {
        const fitting = (byNumber.get(numberKey(number)) ?? []).filter(
          (each) => board !== undefined && boardKey(each.board) === boardKey(board.name),
        );
        const exact = fitting.find((each) => isExactNumber(number, each.license_number));
        return exact ?? (fitting.length === 1 ? fitting[0] : undefined);
      };
      return new Map(requests.map((request) => [request, meant(request)]));
    },
    /**
     * Returns some subscriptions of an account, in the order of their ids.
     *
     * @param after the id after which the page begins; blank for the first page
     * @returns the subscriptions, and the id after which the next page begins; `undefined` at the end
     */
    async page(account: string, after: string, size: number) {
      const { documents, count, last } = await SUBSCRIPTIONS.search(store, {
        query: { bool: { filter: [{ term: { account } }, { range: { id: { gt: after } } }] } },
        sort: [{ id: 'asc' }],
        size: size + 1,
      });
      const subscriptions = documents
        .slice(0, size)
        .map((each) => ({ ...each, board: currentBoardName(each.board) }));
      const next = count > size ? (subscriptions.at(-1)?.id ?? String(last?.[0])) : undefined;
      return { subscriptions, next };
    },
    find,
    /** @returns whether the account had this subscription */
    remove: async (account: string, id: string): Promise<boolean> =>
      (await find(account, id)) !== undefined && SUBSCRIPTIONS.remove(store, id),
  };
}
