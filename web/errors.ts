import type { TRPCClientError } from '@trpc/client'
import { ERROR_STATUS, type ErrorCode } from '../src/core/errors.ts'
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
  if (code === 'FIELD_NOT_FOUND') return m.app_field_was_deleted()
  if (code === 'RECORD_NOT_FOUND' && Array.isArray(recordIds))
    return m.app_records_were_deleted({ count: recordIds.length })
  // The API's message only names the value; users need to know what the field expects.
  if (code === 'INVALID_VALUE_FOR_FIELD' && typeof field === 'string' && typeof reason === 'string')
    return m.app_field_refused({ field, reason })
  const message = error instanceof Error ? error.message : m.app_something_went_wrong()
  return plainMessage(message)
}

/** Replaces messages whose exact text REST clients rely on with clearer ones; returns others unchanged. */
export function plainMessage(message: string): string {
  const exact = clearerMessages()[message]
  if (exact !== undefined) return exact
  for (const [pattern, wording] of WIRE_PATTERNS) {
    const match = pattern.exec(message)
    if (match) return wording(match[1] ?? '', match[2] ?? '')
  }
  return message
}

/** Messages whose exact text REST clients rely on, and the app's wording. */
const clearerMessages = (): Record<string, string> => ({
  'Invalid credentials': m.app_incorrect_email_or_password(),
  'User already exist': m.app_account_email_already_exists(),
  'Invalid invite url': m.app_invitation_different_email_address_already(),
  'Invalid reset url': m.app_link_expired_already_used_request(),
  'Not allowed to signup, contact super admin.': m.app_sign_up_invitation_only_ask(),
  'Empty options are not allowed!': m.app_every_option_needs_a_name(),
  'Duplicates are not allowed!': m.app_option_names_must_be_unique(),
  "Illegal char(',') for MultiSelect": m.app_option_names_cant_contain_commas(),
  'Required arguments missing': m.app_wrong_number_of_arguments(),
  'Minimum arguments required': m.app_too_few_arguments(),
  'Maximum arguments missing': m.app_too_many_arguments(),
  'Numeric type is expected': m.app_expected_a_number(),
  'Date type is expected': m.app_expected_a_date(),
  'Boolean type is expected': m.app_expected_a_condition(),
  'String type is expected': m.app_expected_text(),
  'Circular reference detected': m.app_this_formula_refers_to_itself(),
  'Compound statement is not supported': m.app_only_one_expression_is_allowed(),
})

/** Such messages with names in them. */
const WIRE_PATTERNS: readonly [RegExp, (first: string, second: string) => string][] = [
  [/^Invalid column name\/id (.+) in formula$/, (name) => m.app_no_field_named_name({ name })],
  [
    /^Duplicate table alias '(.*)' at base '[^']*'$/,
    (title) => m.app_table_named_title_already_exists({ title }),
  ],
  [
    /^Duplicate column alias '(.*)' at table '[^']*', base '[^']*'$/,
    (title) => m.app_field_named_title_already_exists({ title }),
  ],
  [
    /^Duplicate view alias '(.*)' at table '[^']*'$/,
    (title) => m.app_view_named_title_already_exists({ title }),
  ],
  [
    /^Following characters are not allowed "(.*)"$/,
    (characters) => m.app_these_characters_not_allowed_characters({ characters }),
  ],
  [
    /^Updating (\w+) => (\w+) is not implemented$/,
    (from, to) => m.app_type_conversion_impossible({ from, to }),
  ],
  [/^Forbidden - (.+)$/, (reason) => reason],
  [/^Table '[^']*' not found$/, m.app_table_was_deleted],
  [/^View '[^']*' not found$/, m.app_view_was_deleted],
  [/^Base '[^']*' not found$/, m.app_base_was_deleted],
]

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
