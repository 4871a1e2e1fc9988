import { Elysia } from 'elysia'
import { forEachBreathing } from '../../../src/breathe.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { addDays, daysBetween, fromStored, isDay, toStored } from '../../../src/core/dates.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { hasTime, readInstant } from '../../../src/core/fields/instant-text.ts'
import { allOf, type Condition, type Filter, verificationFailed } from '../../../src/core/filters/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { rangesOfCalendar } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { Opened } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import type { RestList, RestLists } from './list.ts'
import { queryOf, readListParameters, readOffset } from './parameters.ts'
import { type Row, visibleFields } from './present.ts'
import type { Resolver, Target } from './v1.ts'

/** Records of one list; clients cannot change it. */
const PAGE_SIZE = 3000
/** Limit of the records whose days are listed, and of all these days. */
const MAX_DATED = 25_000
const MAX_DATES = 100_000
const DAY_MS = 86_400_000

/** Where the stored form of dates begins and ends, as days and as instants. */
const EVER = {
  days: ['0001-01-01', '9999-12-31'],
  instants: ['0001-01-01 00:00:00+00:00', '9999-12-31 23:59:59.999999+00:00'],
} as const

/** A range of the calendar, with live fields. */
interface DatedRange {
  from: Field
  to: Field | null
}

/** The period as the client gives it. */
interface Period {
  from: string
  to: string
}

/** The first and the last stored value of a field in the period. */
type Bounds = [first: string, last: string]

/** The records of calendars in a period, as the calendar of NocoDB's web client reads them. */
export function createRestCalendars(records: RecordsService, lists: RestLists) {
  /**
   * The records with a day in the period, by any of the calendar's ranges, in the order of the view or of `sort`.
   *
   * @throws BAD_REQUEST without a period, for another kind of view, and without ranges; as `readListParameters`
   */
  async function list(actor: Actor, target: Target, query: URLSearchParams): Promise<RestList> {
    const { opened, filter } = await open(actor, target, query)
    const { fields, sorts } = readListParameters(opened.model, query)
    return lists.listOpened(opened, {
      fields: visibleFields(opened.model, opened.context.view, fields),
      filter,
      sorts,
      limit: PAGE_SIZE,
      offset: readOffset(query, PAGE_SIZE),
    })
  }

  /**
   * The number of these records, and the distinct starts of their days in the period: `2024-03-05 00:00:00+00:00`, or for
   * fields with a time the instant of the start, and the same time of each further day. @throws as `list`
   */
  async function countByDate(actor: Actor, target: Target, query: URLSearchParams) {
    const { opened, filter, ranges, period } = await open(actor, target, query)
    const fields = [...new Set(ranges.flatMap(({ from, to }) => (to === null ? [from] : [from, to])))]
    const plan = records.plan(opened, null, () => ({
      fields,
      filter,
      limit: MAX_DATED,
      offset: 0,
      shape: { kind: 'titled', withKey: false },
    }))
    const [count, rows] = await Promise.all([
      records.countPlanned(opened, plan),
      records.titled(opened, plan),
    ])
    const dates = new Set<string>()
    const bounded = ranges.map((range) => ({ range, bounds: boundsOf(range.from, period) }))
    const starts = rows
      .values()
      .flatMap((row) => bounded.values().flatMap(({ range, bounds }) => startsOf(range, row, bounds)))
    await forEachBreathing(starts.take(MAX_DATES), (date) => dates.add(presentDate(date)))
    return { count, dates: [...dates] }
  }

  async function open(actor: Actor, { tableId, viewId }: Target, query: URLSearchParams) {
    const opened = await records.open(actor, tableId, viewId)
    const period = readPeriod(query)
    const ranges = rangesOf(opened)
    const { filter } = readListParameters(opened.model, query)
    const inPeriod: Filter = { join: 'or', children: ranges.flatMap((range) => conditions(range, period)) }
    return { opened, period, ranges, filter: allOf([filter, inPeriod]) }
  }

  return { list, countByDate }
}

export type RestCalendars = ReturnType<typeof createRestCalendars>

/** `prev_date` and `next_date`, which clients send as well, say nothing more. @throws BAD_REQUEST without both */
function readPeriod(query: URLSearchParams): Period {
  const [from, to] = [query.get('from_date'), query.get('to_date')]
  if (!from || !to) throw badRequest('from_date and to_date are required')
  return { from, to }
}

/** @throws BAD_REQUEST for another kind of view, and for a calendar without ranges */
function rangesOf({ model, context: { view } }: Opened): DatedRange[] {
  const ranges = view && rangesOfCalendar(view)
  if (ranges === null) throw badRequest('View is not a calendar view')
  const live = ranges.flatMap(({ fromFieldId, toFieldId }): DatedRange[] => {
    const from = model.field(fromFieldId)
    return from ? [{ from, to: (toFieldId !== null && model.field(toFieldId)) || null }] : []
  })
  if (live.length === 0) throw badRequest('No ranges found')
  return live
}

const isDayField = (field: Field): boolean => shownType(field).type.storage === 'date'

/** @throws FILTER_VERIFICATION_FAILED for text that is no date */
function boundsOf(field: Field, { from, to }: Period): Bounds {
  const read = (text: string, time: string): string => {
    const day = text.trim().slice(0, 10)
    const instant = hasTime(text) ? text : `${text.trim()} ${time}`
    const value = isDayField(field) ? isDay(day) && day : readInstant(instant)
    if (value) return value
    const problem = `Value ${text.slice(0, 60)} is not supported for type ${field.type} on column ${field.title}`
    throw verificationFailed(problem, field.id)
  }
  const last = read(to, '23:59:59')
  // A second that is named as the last one belongs to the period as a whole.
  const isWholeSecond = last.length === '2024-03-05 08:20:30+00:00'.length
  return [read(from, '00:00:00'), isWholeSecond ? last.replace('+', '.999999+') : last]
}

/** Conditions of which a record in the period meets one: it starts there, or starts before its end and ends after its start. */
function conditions({ from, to }: DatedRange, period: Period): Filter[] {
  const during = (field: Field, value: string[]): Condition => ({
    fieldId: field.id,
    operator: 'during',
    value,
  })
  const starts = during(from, boundsOf(from, period))
  if (to === null) return [starts]
  const [earliest] = isDayField(from) ? EVER.days : EVER.instants
  const [, latest] = isDayField(to) ? EVER.days : EVER.instants
  const reaching = [
    during(from, [earliest, boundsOf(from, period)[1]]),
    during(to, [boundsOf(to, period)[0], latest]),
  ]
  return [starts, { join: 'and', children: reaching }]
}

/** The starts of a record's days from one value of its range's first field to another, from the first one in it. */
function* startsOf({ from, to }: DatedRange, row: Row, [first, last]: Bounds): Generator<string> {
  const start = textOf(row[from.title])
  if (start === null) return
  const end = to && textOf(row[to.title])
  const days = end === null ? 0 : daysBetween(dayOf(start), dayOf(end))
  const shift = isDayField(from) ? addDays : addToInstant
  const skipped = Math.max(0, daysBetween(dayOf(start), dayOf(first)) - 1)
  for (let count = skipped; count === 0 || count <= days; count++) {
    const date = count === 0 ? start : shift(start, count)
    if (date > last) return
    if (date >= first) yield date
  }
}

const dayOf = (date: string): string => date.slice(0, 10)

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The instant so many days later. */
const addToInstant = (instant: string, days: number): string =>
  toStored((fromStored(instant) ?? 0) + days * DAY_MS) ?? EVER.instants[1]

const presentDate = (date: string): string => (date.length === 10 ? `${date} 00:00:00+00:00` : date)

/** `/api/v1/db/calendar-data/{orgs}/{base}/{table}/views/{view}` and its `countByDate`. */
export function calendarRest(
  kernel: Kernel,
  { auth, calendars, resolve }: { auth: AuthService; calendars: RestCalendars; resolve: Resolver },
) {
  return new Elysia({
    prefix: '/api/v1/db/calendar-data/:orgs/:base/:table/views/:view',
    tags: ['Records v1'],
  })
    .use(restBase(kernel, auth))
    .get('/', async ({ actor, params, request }) =>
      calendars.list(actor, await resolve(actor, params), new URLSearchParams(queryOf(request))),
    )
    .get('/countByDate', async ({ actor, params, request }) =>
      calendars.countByDate(actor, await resolve(actor, params), new URLSearchParams(queryOf(request))),
    )
}
