import type { AppliedChange } from '../../src/core/changes.ts'
import type { RecordPage } from '../../src/core/model.ts'
import { isUnanswered } from '../errors.ts'
import { expectContent, noteContent } from '../navigation/first-content.ts'
import { session } from '../session/index.ts'
import { onChange, onReconnect } from '../socket.ts'
import { timeZone } from '../time-zone.ts'
import { api, inAction } from '../trpc.ts'
import type { GroupsApi, RecordsApi } from './types.ts'

/** The call for groups over tRPC. */
export const groupsApi: GroupsApi = {
  groups: ({ selection, ...request }, signal) =>
    readOrRemember(
      { name: 'groups', tableId: selection.tableId, input: { selection, request } },
      (signal) =>
        api.records.groups.query(
          { request: { ...request, selection: { ...selection, timeZone } } },
          { signal },
        ),
      signal,
    ),
}

/** The record calls over tRPC. */
export const recordsApi: RecordsApi = {
  list: (query, signal) =>
    readOrRemember(
      { name: 'list', tableId: query.tableId, input: query },
      (signal) => api.records.list.query({ query: { ...query, timeZone } }, { signal }),
      signal,
    ),
  count: (selection, signal) =>
    readOrRemember(
      { name: 'count', tableId: selection.tableId, input: selection },
      async (signal) =>
        (await api.records.count.query({ selection: { ...selection, timeZone } }, { signal })).count,
      signal,
    ),
  rememberPage: (query, page) => remember({ name: 'list', tableId: query.tableId, input: query }, page),
  async positions(query, ids, signal) {
    const { places } = await api.records.positions.query(
      { query: { ...query, timeZone }, recordIds: [...ids] },
      { signal },
    )
    return new Map(places.map(({ recordId, offset }) => [recordId, offset]))
  },
  apply: (change, actionId) =>
    api.records.write.mutate({ change: { ...change, timeZone } }, inAction(actionId)),
}

/** Limits of the answers kept for offline use: the views opened last, not the whole base. */
const MAX_ANSWERS = 200
const MAX_RECORDS = 20_000

interface ReadRequest {
  name: 'list' | 'count' | 'groups'
  tableId: string
  input: unknown
}

interface Remembered {
  tableId: string
  answer: unknown
  /** Number of records in the answer; counts towards `MAX_RECORDS`. */
  size: number
}

/** Answers by request, least recently used first. */
const answers = new Map<string, Remembered>()
let records = 0
let isFollowing = false

/**
 * Reads from the server; while offline, returns the last answer to the same request, so that a view opened before is
 * shown as it was. Only for reads that display data, never for checks.
 */
async function readOrRemember<T>(
  request: ReadRequest,
  read: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    const reading = untilAnswered(read, signal)
    expectContent(reading)
    const answer = await reading
    remember(request, answer)
    if (request.name !== 'count') noteContent()
    return answer
  } catch (error) {
    const known = answers.get(keyOf(request))
    if (signal.aborted || !known || !isUnanswered(error)) throw error
    return structuredClone(known.answer) as T
  }
}

/** Longer than the server lets a read take by default. */
const PATIENCE_MS = 90_000

/**
 * Asks again, with twice the time, if no answer comes in time, or the connection for live updates was lost meanwhile: a
 * connection may be dead without anybody noticing.
 */
async function untilAnswered<T>(read: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let patienceMs = PATIENCE_MS; ; patienceMs *= 2) {
    const attempt = new AbortController()
    const giveUp = () => attempt.abort()
    const timer = setTimeout(giveUp, patienceMs)
    const stop = onReconnect(giveUp)
    try {
      return await read(AbortSignal.any([signal, attempt.signal]))
    } catch (error) {
      if (signal.aborted || !attempt.signal.aborted) throw error
    } finally {
      clearTimeout(timer)
      stop()
    }
  }
}

/** Stores an answer for offline use without a request, e.g. the rows of a view when it is closed. */
export function remember(request: ReadRequest, answer: unknown): void {
  if (!isFollowing) onChange(updateAnswers)
  isFollowing = true
  const key = keyOf(request)
  forget(key)
  const size = isPage(answer) ? answer.ids.length : 1
  answers.set(key, { tableId: request.tableId, answer: structuredClone(answer), size })
  records += size
  for (const [oldest] of answers) {
    if (answers.size <= MAX_ANSWERS && records <= MAX_RECORDS) break
    forget(oldest)
  }
}

// Includes the user: someone else may sign in on the same page.
const keyOf = ({ name, input }: ReadRequest): string => JSON.stringify([session.userId(), name, input])

function forget(key: string): void {
  records -= answers.get(key)?.size ?? 0
  answers.delete(key)
}

/**
 * Applies a change to the remembered answers. Updates and deletions are merged into the pages; counts and groups that
 * the change makes wrong are forgotten. Inserted records are left out, as their position is unknown.
 */
function updateAnswers(change: AppliedChange): void {
  for (const [key, { tableId, answer }] of answers) {
    if (!change.tableIds.includes(tableId)) continue
    const own = change.records.filter((record) => record.tableId === tableId)
    const isCountSame = own.every(({ before, after }) => before !== null && after !== null)
    const isKept = isPage(answer)
      ? own.every((record) => updatePage(answer, record))
      : typeof answer !== 'number' || isCountSame
    if (change.truncated || !isKept) forget(key)
  }
}

/** Applies one record's change to a page. Returns false if the page cannot be brought up to date. */
function updatePage(page: RecordPage, { recordId, after }: AppliedChange['records'][number]): boolean {
  const at = page.ids.indexOf(recordId)
  const row = page.rows[at]
  if (!row) return true
  if (after === null) {
    page.ids.splice(at, 1)
    page.rows.splice(at, 1)
    return true
  }
  for (const [fieldId, value] of Object.entries(after)) {
    const column = page.fieldIds.indexOf(fieldId)
    // Changes of links are deltas, not cell values.
    if (column >= 0 && typeof value === 'string' && value.startsWith('{')) return false
    if (column >= 0) row[column] = value
  }
  return true
}

const isPage = (answer: unknown): answer is RecordPage =>
  typeof answer === 'object' && answer !== null && 'ids' in answer && 'rows' in answer
