import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import {
  passwordHeader,
  SHARE_HEADERS,
  SHARE_PASSWORD_HEADER,
  SUBMISSION_HEADER,
  TIME_ZONE_HEADER,
} from '../../../../src/core/share-headers.ts'
import type { OpenedShare } from '../../../../src/core/shares.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import type { Inputs, Outputs } from '../../../trpc.ts'

/** An error response of the server; `code` is null if the server could not be reached. */
export class ShareError extends Error {
  override readonly name = 'ShareError'

  constructor(
    message: string,
    readonly code: string | null,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message)
  }
}

/** A public link's id and the password that the visitor entered. */
export interface Link {
  id: string
  password: string | null
}

/**
 * Calls the app's tRPC procedures for a visitor. Handwritten, because tRPC's client would be a third of the
 * form page's code, which is often loaded on phones, for five calls.
 */
export function shareClient({ id, password }: Link) {
  const headers = {
    [SHARE_HEADERS.view]: id,
    [TIME_ZONE_HEADER]: timeZone,
    ...(password === null ? {} : { [SHARE_PASSWORD_HEADER]: passwordHeader(password) }),
  }
  const read = async <T>(procedure: string, input: unknown, signal?: AbortSignal): Promise<T> => {
    const query = `input=${encodeURIComponent(JSON.stringify(input))}`
    return answerOf<T>(await ask(`/trpc/${procedure}?${query}`, { headers, signal }))
  }
  return {
    open: () => read<OpenedShare>('shares.open', { kind: 'view', id }),
    people: (baseId: string) => read<Outputs['records']['people']>('records.people', { baseId }),
    signFiles: (tableId: string, paths: string[]) =>
      read<Outputs['records']['signFiles']>('records.signFiles', { tableId, paths }),
    linkable: (request: Inputs['records']['linkable'], signal: AbortSignal) =>
      read<Outputs['records']['linkable']>('records.linkable', request, signal),
    submit: async ({
      id: submissionId,
      values,
      signal,
    }: {
      id: string
      values: Record<string, CellValue>
      signal: AbortSignal
    }) =>
      answerOf<Outputs['shares']['submit']>(
        await ask('/trpc/shares.submit', {
          method: 'POST',
          signal,
          headers: { ...headers, [SUBMISSION_HEADER]: submissionId, 'content-type': 'application/json' },
          body: JSON.stringify({ values }),
        }),
      ),
    /** URL for submissions with files, as multipart form data. */
    formAddress: `/api/v1/db/public/shared-view/${encodeURIComponent(id)}/rows`,
    headers,
  }
}

export type ShareClient = ReturnType<typeof shareClient>

async function ask(url: string, init: RequestInit): Promise<unknown> {
  let answer: Response
  try {
    answer = await fetch(url, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw offline()
  }
  return bodyOf(await answer.text())
}

/** Error for a failed connection. */
export const offline = (): ShareError => new ShareError(m.form_server_reach_failed(), null)

/** Parses a JSON body. @throws ShareError with code null when it is not JSON, such as a proxy's HTML page */
export function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw offline()
    throw error
  }
}

interface Envelope {
  result?: { data: unknown }
  error?: { message?: string; data?: { appCode?: string; details?: Record<string, unknown> } }
}

function answerOf<T>(body: unknown): T {
  const { result, error } = (body ?? {}) as Envelope
  if (result) return result.data as T
  const { appCode = 'INTERNAL_SERVER_ERROR', details } = error?.data ?? {}
  throw new ShareError(error?.message ?? m.form_something_went_wrong_server(), appCode, details)
}
