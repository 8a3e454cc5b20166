/** The names of the contenders, in the order of the report. */
export const NUMBER_BARE = 'number, bare `_search`';
export const NUMBER_BARE_WHOLE = 'number, bare `_search`, whole hits';
export const NUMBER_GET = 'number, bare `GET _doc/{id}`';
export const NUMBER_MGET = 'number, bare `_mget` of 1';
export const NUMBER_MGET_32 = 'number, bare `_mget` of 32, two clients';
export const NUMBER_REST = 'number, REST';
export const NUMBER_MCP = 'number, MCP';
export const NAME_BARE = 'name, bare, tuned';
export const NAME_BARE_WHOLE = 'name, bare, tuned, whole hits';
export const NAME_REST = 'name, REST';
export const NAME_FIRST = 'name, bare, as first written';
export const MISS_REST = 'number missed, REST';
export const MISS_BUSY = 'number missed, REST, too busy for suggestions';
