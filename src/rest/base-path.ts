/** The path under which the REST API is served (VERSIONS-01). */
export const REST_PATH = '/api/v1';
