import { Connection, errors } from '@opensearch-project/opensearch';

type ResponseError = InstanceType<typeof errors.ResponseError>;
type TimeoutError = InstanceType<typeof errors.TimeoutError>;

/** The client's error for an OpenSearch response with this status and error type. */
export const openSearchError = (status: number, type?: string): ResponseError =>
  new errors.ResponseError(response(status, type));

/** The client's error for a request that timed out. */
export const openSearchTimeout = (message: string): TimeoutError =>
  new errors.TimeoutError(message, response(null));

const response = (status: number | null, type = 'some_exception'): ResponseError['meta'] => ({
  ...{ body: { error: { type, reason: 'invented for a test' }, status }, statusCode: status, headers: {} },
  warnings: null,
  meta: {
    context: null,
    name: 'test',
    request: { params: { method: 'POST', path: '/licenses/_search' }, options: {}, id: 1 },
    connection: new Connection({ url: new URL('http://127.0.0.1:9200') }),
    attempts: 0,
    aborted: false,
  },
});
