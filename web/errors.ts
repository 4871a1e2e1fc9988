import type { TRPCClientError } from '@trpc/client'
import { ERROR_STATUS, type ErrorCode } from '../src/core/errors.ts'
import { plainMessage } from '../src/core/plain-message.ts'
import type { AppRouter } from '../src/router.ts'
import { m } from './messages.gen.ts'

/** The server's error code; null without a response. */
export function appCodeOf(error: unknown): ErrorCode | null {
  const code = dataOf(error)?.appCode
  return code !== undefined && code in ERROR_STATUS ? (code as ErrorCode) : null
}

/** Machine-readable details of an error: `{ fieldId, recordId }`, a list of problems, … */
export function detailsOf(error: unknown): Record<string, unknown> {
  return dataOf(error)?.details ?? {}
}

/** The request's id in the server's log, or null. */
function requestIdOf(error: unknown): string | null {
  return dataOf(error)?.requestId ?? null
}

/** Error message for the user: the server's, or our own without a response. */
export function messageOf(error: unknown): string {
  if (isOffline(error)) return m.app_server_reach_failed()
  const code = appCodeOf(error)
  if (code === 'INTERNAL_SERVER_ERROR' || (isFromServer(error) && code === null)) {
    const requestId = requestIdOf(error)
    return requestId
      ? m.app_something_went_wrong_server_request({ requestId })
      : m.app_something_went_wrong_server()
  }
  const { field, reason, recordIds } = detailsOf(error)
  if (code === 'RECORD_NOT_FOUND' && Array.isArray(recordIds))
    return m.app_records_were_deleted({ count: recordIds.length })
  // The API's message only names the value; users need to know what the field expects.
  if (code === 'INVALID_VALUE_FOR_FIELD' && typeof field === 'string' && typeof reason === 'string')
    return m.app_field_refused({ field, reason })
  const message = error instanceof Error ? error.message : m.app_something_went_wrong()
  return plainMessage(message)
}

/** True without an answer from our server: offline, server down, or a proxy error other than a refusal (`fetchAnswer`). */
export const isOffline = (error: unknown): boolean => error instanceof TypeError || isCallUnanswered(error)

/** True for a call that got no answer from our server. Unlike `isOffline`, false for faults of the page itself. */
export const isCallUnanswered = (error: unknown): boolean => isFromServer(error) && dataOf(error) === null

/** True if the same request may be answered later: without an answer, or while the database of our server is away. */
export const isAway = (error: unknown): boolean =>
  isOffline(error) ||
  (appCodeOf(error) === 'DATABASE_UNREACHABLE' && detailsOf(error).retryAfterSeconds !== undefined)

/** True if it is unknown whether the request was carried out: without an answer from our server, or from its database. */
export const isUnanswered = (error: unknown): boolean =>
  isOffline(error) || detailsOf(error).isUnanswered === true

/** True for lost connections and a busy server, false for rejected requests. */
export function isWorthRetrying(error: unknown): boolean {
  const status = dataOf(error)?.httpStatus
  return status === undefined || status === 429 || status >= 502
}

function dataOf(error: unknown) {
  return isFromServer(error) ? (error.data ?? null) : null
}

/** By its name: the class would bring the client into pages that send requests without it. */
const isFromServer = (error: unknown): error is TRPCClientError<AppRouter> =>
  error instanceof Error && error.name === 'TRPCClientError'
