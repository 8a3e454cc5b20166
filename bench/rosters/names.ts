/** The names of the contenders, in the order of the report. */
export const NUMBER_BARE = 'numbers, bare `_search`, 64 connections';
export const NUMBER_BARE_MGET = 'numbers, bare `_mget` of 250, two clients';
export const NAME_BARE = 'names, bare, tuned, 64 connections';
export const NUMBER_SINGLE = 'numbers, REST, 64 connections';
export const NUMBER_ROSTER = 'numbers, rosters of 1,000, two clients';
export const NAME_SINGLE = 'names, REST, 64 connections';
export const NAME_ROSTER = 'names, rosters of 1,000, two clients';
export const MIXED_ROSTER = 'mixed rosters of 1,000, two clients';
export const NUMBER_POSTGRES = 'numbers, PostgreSQL, thin API, 64 connections';
export const NUMBER_POSTGRES_BATCH = 'numbers, PostgreSQL, thin API, batches of 1,000, two clients';
export const NAME_POSTGRES = 'names, PostgreSQL, thin API, 64 connections';
export const NAME_POSTGRES_BATCH = 'names, PostgreSQL, thin API, batches of 1,000, two clients';
