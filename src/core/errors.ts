/** HTTP status of each error code (spec §8; codes as REST clients know them). */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  BAD_JSON: 400,
  INVALID_REQUEST_BODY: 400,
  DATABASE_ERROR: 400,
  FORMULA_ERROR: 400,
  INVALID_ATTACHMENT_JSON: 400,
  AUTHENTICATION_REQUIRED: 401,
  API_TOKEN_NOT_ALLOWED: 401,
  FORBIDDEN: 403,
  PERMISSION_DENIED: 403,
  INVALID_SHARED_VIEW_PASSWORD: 403,
  NOT_FOUND: 404,
  BASE_NOT_FOUND: 404,
  SOURCE_NOT_FOUND: 404,
  TABLE_NOT_FOUND: 404,
  VIEW_NOT_FOUND: 404,
  FIELD_NOT_FOUND: 404,
  HOOK_NOT_FOUND: 404,
  RECORD_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  JOB_NOT_FOUND: 404,
  GENERIC_NOT_FOUND: 404,
  OUT_OF_SYNC: 409,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  DUPLICATE_ALIAS: 422,
  BASE_USER_ERROR: 422,
  INVALID_OFFSET_VALUE: 422,
  INVALID_PK_VALUE: 422,
  REQUIRED_FIELD_MISSING: 422,
  INVALID_VALUE_FOR_FIELD: 422,
  FILTER_VERIFICATION_FAILED: 422,
  INVALID_FILTER: 422,
  TOO_MANY_REQUESTS: 429,
  /** The client closed the request before the answer. */
  QUERY_CANCELLED: 499,
  INTERNAL_SERVER_ERROR: 500,
  NOT_IMPLEMENTED: 501,
  STORAGE_FULL: 507,
  /** A database does not respond; the same call may succeed later. */
  DATABASE_UNREACHABLE: 503,
  /** The file or schema of one base's records is missing or unreadable; other bases are unaffected. */
  BASE_DATA_MISSING: 503,
  BASE_DATA_DAMAGED: 503,
  /** The folder of uploaded files is missing. */
  STORAGE_MISSING: 503,
  /** A schema change or other long write blocks the base. */
  BASE_BUSY: 503,
  /** A read, including its wait in the queue, exceeded the server's time limit. */
  QUERY_TIMEOUT: 503,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof ERROR_STATUS

/** Errors that only the server's operator can resolve: they are logged as failures. */
const OPERATOR_CODES: ReadonlySet<ErrorCode> = new Set([
  'STORAGE_FULL',
  'BASE_DATA_MISSING',
  'BASE_DATA_DAMAGED',
  'STORAGE_MISSING',
])

/**
 * Shape of a REST error body: `typed` is `{error, message}`, `msg` is the older `{msg}` (wire reference). The
 * web app reads both.
 */
type ErrorEnvelope = 'typed' | 'msg'

/**
 * An expected error that the caller can act on. Services throw nothing else on purpose: any other error is a
 * bug and becomes a 500 with a request id.
 *
 * The message is shown to users and names the object: `Field "Due" already exists in Tasks`.
 */
export class AppError extends Error {
  override readonly name = 'AppError'

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Machine-readable details: `{ fieldId, recordId }`, the list of problems, … */
    readonly details?: Record<string, unknown>,
    readonly envelope: ErrorEnvelope = 'typed',
  ) {
    super(message)
  }

  get status(): number {
    return ERROR_STATUS[this.code]
  }
}

/** True for errors that must be reported to the server's operator. */
export const concernsOperator = (error: unknown): boolean =>
  error instanceof AppError && OPERATOR_CODES.has(error.code)

/** A 400 in the `{msg}` envelope, which existing clients show for plain bad requests. */
export const badRequest = (message: string): AppError =>
  new AppError('BAD_REQUEST', message, undefined, 'msg')

/** Value of the `Retry-After` header, from `details.retryAfterSeconds`; null if the error has none. */
export function retryAfterOf(error: unknown): string | null {
  const seconds = error instanceof AppError ? error.details?.retryAfterSeconds : undefined
  return typeof seconds === 'number' ? String(seconds) : null
}

/** An error such as `Base 'p123' not found`, with the error code for the kind. */
export function notFound(
  kind:
    | 'Base'
    | 'Source'
    | 'Table'
    | 'View'
    | 'Field'
    | 'Hook'
    | 'Record'
    | 'Sort'
    | 'Filter'
    | 'Action'
    | 'User'
    | 'Job'
    | 'Index'
    | 'Comment'
    | 'Delivery'
    | 'File',
  id: string,
): AppError {
  const code = NOT_FOUND_CODES[kind]
  return new AppError(code, kind === 'User' ? `User with id '${id}' not found` : `${kind} '${id}' not found`)
}

const NOT_FOUND_CODES = {
  Base: 'BASE_NOT_FOUND',
  Source: 'SOURCE_NOT_FOUND',
  Table: 'TABLE_NOT_FOUND',
  View: 'VIEW_NOT_FOUND',
  Field: 'FIELD_NOT_FOUND',
  Hook: 'HOOK_NOT_FOUND',
  Record: 'RECORD_NOT_FOUND',
  User: 'USER_NOT_FOUND',
  Job: 'JOB_NOT_FOUND',
  Sort: 'GENERIC_NOT_FOUND',
  Filter: 'GENERIC_NOT_FOUND',
  Action: 'GENERIC_NOT_FOUND',
  Index: 'GENERIC_NOT_FOUND',
  Comment: 'GENERIC_NOT_FOUND',
  Delivery: 'GENERIC_NOT_FOUND',
  File: 'GENERIC_NOT_FOUND',
} as const satisfies Record<string, ErrorCode>
