import type { FirstAnswers } from '../access/first-answers.ts';
import type { RateLimit } from '../access/rate-limit.ts';
import type { Changes } from '../changes/service.ts';
import type { RosterCost } from '../http/guard.ts';
import type { LicenseExports } from '../lookup/export.ts';
import type { Lookups } from '../lookup/service.ts';
import type { SavedRecords } from '../records/saved-records.ts';
import type { Rosters } from '../rosters/service.ts';
import type { Signing } from '../signing/keys.ts';
import type { WatchProofs } from '../subscriptions/proof.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import type { Webhooks } from '../subscriptions/webhook-service.ts';

/** The services that the endpoints use. */
export interface RestServices {
  readonly signing: Signing;
  readonly proofOf: WatchProofs;
  readonly firstAnswers: FirstAnswers;
  readonly lookups: Lookups;
  readonly rosters: Rosters;
  readonly changes: Changes;
  readonly subscriptions: Subscriptions;
  readonly exports: LicenseExports;
  readonly records: SavedRecords;
  readonly cost: RosterCost;
  /** `undefined` if the operator has not set WEBHOOK_SECRET_KEY. */
  readonly webhooks: Webhooks | undefined;
  /** The limit of an account's webhook tests. */
  readonly webhookTests: RateLimit;
  /** The number of exports per account and day. */
  readonly exportsPerDay: RateLimit;
  /** Ends running exports when the process stops. */
  readonly stopping: AbortSignal;
  /** The number of records that an account may save per day. */
  readonly savesPerDay: RateLimit;
}
