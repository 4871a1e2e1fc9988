import { TRPCClientError } from '@trpc/client'
import type { AppliedChange, Change, RecordChange, Values } from '../../src/core/changes.ts'
import { OWN_COLUMN } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { readLinks, writeLinks } from '../../src/core/fields/list-value.ts'
import { filterTester } from '../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import type { RecordsApi, Written } from '../../web/records/types.ts'

/** A field of a table in memory; options are the type's defaults as far as tests need them. */
export function memoryField(
  id: string,
  type: Field['type'] = 'SingleLineText',
  more: Partial<Field> = {},
): Field {
  return {
    id,
    tableId: 'm1',
    title: id,
    columnName: id,
    type,
    options: {},
    description: null,
    required: false,
    unique: false,
    defaultValue: null,
    order: 1,
    isDisplay: id === 'title',
    isPrimaryKey: false,
    isSystem: false,
    ...OWN_COLUMN,
    ...more,
  }
}

/**
 * The calls of the record store answered from an array, for tests of the browser's side alone: no clock,
 * no network, refusals and lost connections on demand.
 */
export function memoryRecords(fields: Field[], start: Values[]) {
  let nextId = 1
  let log = 0
  let rows = start.map((values) => ({ id: nextId++ as RecordId, values }))
  const calls: string[] = []
  const world = { online: true, refuse: null as null | { message: string; fieldId?: string } }

  /** The field that keeps the records' own order, where the table has one. */
  const order = fields.find((field) => field.type === 'Order')

  const matching = (filter: Parameters<typeof filterTester>[0] | undefined) => {
    const field = (id: string) => fields.find((candidate) => candidate.id === id)
    const test = filterTester(filter ?? null, { field, now: new Date() })
    return rows.filter((row) => test(row.values))
  }

  async function reach(name: string): Promise<void> {
    await Promise.resolve()
    if (!world.online) throw new TypeError('Failed to fetch')
    calls.push(name)
  }

  function write(change: Change): Written {
    const records: RecordChange[] = []
    const inserted: RecordId[] = []
    for (const operation of change.operations) {
      const { tableId } = operation
      if (operation.kind === 'insert') {
        const at = rows.findIndex((row) => row.id === operation.before)
        const added = operation.rows.map(({ values }) => ({ id: nextId++ as RecordId, values }))
        rows.splice(at === -1 ? rows.length : at, 0, ...added)
        for (const { id, values } of added) {
          inserted.push(id)
          records.push({ tableId, recordId: id, before: null, after: values })
        }
      } else if (operation.kind === 'update') {
        for (const { id, values, expected = {} } of operation.rows) {
          const row = rows.find((candidate) => candidate.id === id)
          if (!row) throw refusal(`Record '${id}' not found`)
          for (const [fieldId, value] of Object.entries(expected)) {
            const current = row.values[fieldId] ?? null
            if (current !== value) throw refusal('Changed since', { fieldId, current }, 'CONFLICT')
          }
          const before: Values = Object.fromEntries(
            Object.keys(values).map((key) => [key, row.values[key] ?? null]),
          )
          row.values = { ...row.values, ...values }
          records.push({ tableId, recordId: id, before, after: values })
        }
      } else if (operation.kind === 'delete') {
        for (const id of operation.ids) records.push({ tableId, recordId: id, before: {}, after: null })
        rows = rows.filter((row) => !operation.ids.includes(row.id))
      } else if ('targets' in operation) {
        const row = rows.find((candidate) => candidate.id === operation.id)
        if (!row) throw refusal(`Record '${operation.id}' not found`)
        const known = readLinks(row.values[operation.fieldId] ?? null).records
        const others = known.filter(({ id }) => !operation.targets.includes(id))
        // The server knows the titles.
        const linked = operation.targets.map((id) => ({ id, title: `Target ${id}` }))
        const after = operation.kind === 'link' ? [...others, ...linked] : others
        row.values[operation.fieldId] = writeLinks({ count: after.length, records: after })
        records.push({ tableId, recordId: row.id, before: null, after: {} })
      } else {
        const moved = rows.filter((row) => operation.ids.includes(row.id))
        rows = rows.filter((row) => !operation.ids.includes(row.id))
        const at = rows.findIndex((row) => row.id === operation.before)
        const place = at === -1 ? rows.length : at
        const [previous, next] = [rows[place - 1], rows[place]]
        rows.splice(place, 0, ...moved)
        for (const [index, row] of order ? moved.entries() : []) {
          const [from, to] = [previous, next].map((other) => other?.values[order?.id ?? ''])
          const start = Number(from ?? 0)
          const step = to === undefined ? 1 : (Number(to) - start) / (moved.length + 1)
          const after = { [order?.id ?? '']: start + step * (index + 1) }
          row.values = { ...row.values, ...after }
          records.push({ tableId, recordId: row.id, before: {}, after })
        }
      }
    }
    const applied: AppliedChange = {
      id: ++log,
      baseId: change.baseId,
      clientId: change.clientId,
      actorId: 'us1',
      at: '2024-01-01',
      records,
      truncated: false,
      tableIds: ['m1'],
    }
    return { ...applied, inserted }
  }

  const api: RecordsApi = {
    async list(query, signal) {
      await reach(
        query.recordIds
          ? `list of ${query.recordIds.join()}`
          : ['list', ...(query.group ?? []).map(({ value }) => value), `${query.offset}+${query.limit}`].join(
              ' ',
            ),
      )
      signal.throwIfAborted()
      const { recordIds, group = [] } = query
      const found = matching(query.filter)
        .filter((row) => recordIds?.includes(row.id) ?? true)
        .filter((row) => group.every(({ fieldId, value }) => (row.values[fieldId] ?? null) === value))
      const page = found.slice(query.offset, query.offset + query.limit)
      const fieldIds = query.fieldIds ?? []
      const values = page.map((row) => fieldIds.map((id): CellValue => row.values[id] ?? null))
      return { fieldIds, ids: page.map((row) => row.id), rows: values, offset: query.offset }
    },
    async count(selection) {
      await reach('count')
      return matching(selection.filter).length
    },
    async positions(query, ids) {
      await reach(`positions of ${ids.join()}`)
      const places = matching(query.filter).map((row, at) => [row.id, at] as const)
      return new Map(places.filter(([id]) => ids.includes(id)))
    },
    async apply(change) {
      await reach(`apply ${change.operations.map((operation) => operation.kind).join('+')}`)
      if (world.refuse) throw refusal(world.refuse.message, { fieldId: world.refuse.fieldId })
      return write(change)
    },
  }
  return {
    api,
    calls,
    world,
    values: () => rows.map((row) => row.values),
    /** Someone else writes. */
    elsewhere: (change: Omit<Change, 'baseId'>): AppliedChange => write({ baseId: 'p1', ...change }),
  }
}

/** The server reads at once, and its pages wait for the call of the returned function. */
export function delayPages(api: RecordsApi): () => void {
  const { list } = api
  const released = Promise.withResolvers<void>()
  api.list = async (query, signal) => {
    const page = await list(query, signal)
    await released.promise
    return page
  }
  return released.resolve
}

/** Counts wait for the call of the returned function. */
export function delayCounts(api: RecordsApi): () => void {
  const { count } = api
  const released = Promise.withResolvers<void>()
  api.count = async (selection, signal) => {
    await released.promise
    return count(selection, signal)
  }
  return released.resolve
}

function refusal(
  message: string,
  details: { fieldId?: string; current?: CellValue } = {},
  appCode = 'INVALID_VALUE_FOR_FIELD',
): Error {
  const data = {
    code: 'UNPROCESSABLE_CONTENT',
    httpStatus: 422,
    appCode,
    details,
  }
  return TRPCClientError.from({ error: { message, code: -32000, data } })
}
