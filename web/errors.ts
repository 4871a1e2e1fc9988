import { TRPCClientError } from '@trpc/client'
import { ERROR_STATUS, type ErrorCode } from '../src/core/errors.ts'
import type { AppRouter } from '../src/router.ts'
import { t } from './i18n.ts'

/** The code of a refusal by the server, or null for what never got an answer. */
export function appCodeOf(error: unknown): ErrorCode | null {
  const code = dataOf(error)?.appCode
  return code !== undefined && code in ERROR_STATUS ? (code as ErrorCode) : null
}

/** What a program needs beside the message: `{ fieldId, recordId }`, the list of problems, … */
export function detailsOf(error: unknown): Record<string, unknown> {
  return dataOf(error)?.details ?? {}
}

/** The id under which the server's log has this request, or null. */
export function requestIdOf(error: unknown): string | null {
  return dataOf(error)?.requestId ?? null
}

/** A sentence for the person: the server's own words for a refusal, ours where there was no answer. */
export function messageOf(error: unknown): string {
  if (isOffline(error)) return t('The server cannot be reached. Check your connection and try again.')
  const code = appCodeOf(error)
  if (code === 'INTERNAL_SERVER_ERROR' || (error instanceof TRPCClientError && code === null)) {
    const requestId = requestIdOf(error)
    return requestId
      ? t('Something went wrong on the server. Request id: {requestId}', { requestId })
      : t('Something went wrong on the server.')
  }
  const { field, reason } = detailsOf(error)
  // The message of the API names the value alone: people need to know what the field expects.
  if (code === 'INVALID_VALUE_FOR_FIELD' && typeof field === 'string' && typeof reason === 'string')
    return t('{field}: {reason}', { field, reason })
  const message = error instanceof Error ? error.message : t('Something went wrong')
  return plainMessage(message)
}

/** A message that REST clients rely on word by word, in the words of the app; any other as it is. */
export function plainMessage(message: string): string {
  const exact = clearerWords()[message]
  if (exact !== undefined) return exact
  for (const [pattern, say] of WIRE_PATTERNS) {
    const match = pattern.exec(message)
    if (match) return say(match[1] ?? '', match[2] ?? '')
  }
  return message
}

/** Sentences that REST clients rely on word by word, and how a person is better told. */
const clearerWords = (): Record<string, string> => ({
  'Invalid credentials': t('Incorrect email or password.'),
  'User already exist': t('An account with this email already exists.'),
  'Invalid invite url': t('This invitation is for a different email address or was already used.'),
  'Invalid reset url': t('This link has expired or was already used. Request a new one.'),
  'Not allowed to signup, contact super admin.': t(
    'Sign-up is by invitation only. Ask an administrator for an invitation.',
  ),
  'Empty options are not allowed!': t('Every option needs a name'),
  'Duplicates are not allowed!': t('Option names must be unique'),
  "Illegal char(',') for MultiSelect": t('Option names can’t contain commas'),
  'Required arguments missing': t('Wrong number of arguments'),
  'Minimum arguments required': t('Too few arguments'),
  'Maximum arguments missing': t('Too many arguments'),
  'Numeric type is expected': t('Expected a number'),
  'Date type is expected': t('Expected a date'),
  'Boolean type is expected': t('Expected a condition'),
  'String type is expected': t('Expected text'),
  'Circular reference detected': t('This formula refers to itself'),
  'Compound statement is not supported': t('Only one expression is allowed'),
})

/** The same for messages that name something. */
const WIRE_PATTERNS: readonly [RegExp, (first: string, second: string) => string][] = [
  [/^Invalid column name\/id (.+) in formula$/, (name) => t('There is no field named “{name}”', { name })],
  [
    /^Duplicate table alias '(.*)' at base '[^']*'$/,
    (title) => t('A table named “{title}” already exists', { title }),
  ],
  [
    /^Duplicate column alias '(.*)' at table '[^']*', base '[^']*'$/,
    (title) => t('A field named “{title}” already exists', { title }),
  ],
  [
    /^Duplicate view alias '(.*)' at table '[^']*'$/,
    (title) => t('A view named “{title}” already exists', { title }),
  ],
  [
    /^Following characters are not allowed "(.*)"$/,
    (characters) => t('These characters are not allowed: {characters}', { characters }),
  ],
  [
    /^Updating (\w+) => (\w+) is not implemented$/,
    (from, to) => t('{from} fields can’t be converted to {to}', { from, to }),
  ],
  [/^Forbidden - (.+)$/, (reason) => reason],
]

/** True where no answer came: offline, the server is down, or a proxy in between said something of its own. */
export const isOffline = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof TRPCClientError && dataOf(error) === null)

/** Reading again helps against lost connections and a busy server, not against a refusal. */
export function isWorthRetrying(error: unknown): boolean {
  const status = dataOf(error)?.httpStatus
  return status === undefined || status === 429 || status >= 502
}

function dataOf(error: unknown) {
  return error instanceof TRPCClientError ? ((error as TRPCClientError<AppRouter>).data ?? null) : null
}
