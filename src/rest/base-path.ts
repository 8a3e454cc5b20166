/** The path under which the REST API is served (specification 9.1). */
export const REST_PATH = '/api/v1';
