import { Connection, errors } from '@opensearch-project/opensearch';

type ResponseError = InstanceType<typeof errors.ResponseError>;
type TimeoutError = InstanceType<typeof errors.TimeoutError>;

/** The client's error for an OpenSearch response with this status and error type. */
export function openSearchError(status: number, type?: string): ResponseError {
  return new errors.ResponseError(response(status, type));
}

/** The client's error for a request that timed out. */
export function openSearchTimeout(message: string): TimeoutError {
  return new errors.TimeoutError(message, response(null));
}

function response(status: number | null, type = 'some_exception'): ResponseError['meta'] {
  return {
    body: { error: { type, reason: 'invented for a test' }, status },
    statusCode: status,
    headers: {},
    warnings: null,
    meta: {
      context: null,
      name: 'test',
      request: { params: { method: 'POST', path: '/licenses/_search' }, options: {}, id: 1 },
      connection: new Connection({ url: new URL('http://127.0.0.1:9200') }),
      attempts: 0,
      aborted: false,
    },
  };
}
