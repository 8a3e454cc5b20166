import topics from './requirements.json' with { type: 'json' };

type Topic = (typeof topics)[keyof typeof topics];
type KeysOf<Each> = Each extends unknown ? keyof Each : never;

export type RequirementId = KeysOf<Topic['requirements']>;

/** What the service must do, by subject. Every id has a test that names it with `verifies`. */
export const TOPICS = Object.entries<{ about: string; requirements: Readonly<Record<string, string>> }>(
  topics,
);

/** Every requirement's sentence by its id. */
export const REQUIREMENTS = Object.fromEntries(
  TOPICS.flatMap(([, { requirements }]) => Object.entries(requirements)),
);
