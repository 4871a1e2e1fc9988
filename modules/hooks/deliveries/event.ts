import { nowIso } from '../../../src/clock.ts'
import { isComputed, shownType } from '../../../src/core/fields/field.ts'
import type { AnyFieldType, StorageKind } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import {
  type HookDelivery,
  type HookEvent,
  type HookPayload,
  isRecordEvent,
  MAX_EVENT_LENGTH,
  MAX_PAYLOAD_ROWS,
  type RECORD_EVENTS,
} from '../../../src/core/hooks.ts'
import type { Field } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'

/** What has happened: `event` is that of the webhook, and does not matter for calls by hand. */
export interface EventName {
  event: (typeof RECORD_EVENTS)[number]
  operation: HookDelivery['operation']
}

/** The event that a webhook of any kind sends in tests and previews. */
export const eventNameFor = (event: HookEvent, operation: HookDelivery['operation']): EventName => ({
  event: isRecordEvent(event) ? event : 'after',
  operation,
})

/** Only updates have earlier values, and those of `before` do not in the reference. */
export const hasPrevious = ({ event, operation }: EventName): boolean =>
  event === 'after' && operation === 'update'

/**
 * The event of a webhook, with the given rows. Its id is new: stored with the event, it stays the same for each try of
 * the delivery.
 */
export function eventOf(
  { table }: Pick<TableModel, 'table'>,
  { event, operation }: EventName,
  { rows, previousRows, rowCount }: { rows: Row[]; previousRows?: Row[] | undefined; rowCount?: number },
): HookPayload {
  return {
    type: operation === 'trigger' ? 'records.manual.trigger' : `records.${event}.${operation}`,
    id: crypto.randomUUID(),
    base_id: table.baseId,
    version: 'v3',
    data: {
      table_id: table.id,
      table_name: table.title,
      ...(previousRows && { previous_rows: previousRows }),
      rows,
      ...(rowCount !== undefined && rowCount > rows.length && { row_count: rowCount }),
    },
  }
}

/**
 * The JSON of an event, with the first rows if all would be too long.
 *
 * @param previousRows of an update, in the order of the rows
 * @param count the number of changed records; may be larger than that of the rows
 */
export function eventText(
  model: TableModel,
  name: EventName,
  {
    rows,
    previousRows,
    count,
  }: { rows: readonly Row[]; previousRows?: readonly Row[] | undefined; count: number },
): string {
  let length = Math.min(rows.length, MAX_PAYLOAD_ROWS)
  for (;;) {
    const event = eventOf(model, name, {
      rows: rows.slice(0, length),
      previousRows: previousRows?.slice(0, length),
      rowCount: count,
    })
    const text = JSON.stringify(event)
    if (text.length <= MAX_EVENT_LENGTH || length === 0) return text
    length = Math.floor((length * MAX_EVENT_LENGTH) / text.length / 1.1)
  }
}

type Row = Record<string, unknown>

/** An event with a made-up record, for previews and tests. */
export function sampleEvent(model: TableModel, name: EventName, fields: readonly Field[]): HookPayload {
  const row = Object.fromEntries(fields.map((field) => [field.title, sampleValue(field)]))
  const previousRows = hasPrevious(name) ? [row] : undefined
  return eventOf(model, name, { rows: [row], previousRows })
}

const NOW = () => nowIso()

const BY_STORAGE: Record<StorageKind, (field: Field) => unknown> = {
  id: () => 1,
  integer: () => 123,
  real: () => 123.45,
  text: () => 'Sample text',
  longText: () => 'Sample text',
  boolean: () => true,
  date: () => NOW().slice(0, 10),
  datetime: () => NOW().replace('T', ' ').replace(/\..*/, '+00:00'),
  time: () => '12:00:00',
  json: () => '{}',
}

function sampleValue(field: Field): unknown {
  const { linkAnswer, computed } = fieldType(field.type)
  if (computed === 'link') return linkAnswer === 'count' ? 1 : []
  const { type, options, isList } = shownType(field)
  const choices = (options.choices ?? []) as { title: string }[]
  const person = { id: 'us00000000000000', email: 'ann@example.com', display_name: 'Ann', meta: null }
  const value = type.choices
    ? (choices[0]?.title ?? null)
    : type.people === 'recorded'
      ? person
      : type.people === 'chosen'
        ? [person]
        : type.holdsFiles
          ? []
          : storedSample(field, type)
  return isList ? [value].flat() : value
}

/** A value by the storage of a field, or the example of its type where that is no value of it, such as an address. */
function storedSample(field: Field, { storage }: AnyFieldType): unknown {
  const value = BY_STORAGE[storage](field)
  const { read, parse, example, systemColumn } = fieldType(field.type)
  // Types that take no values from outside have none to compare with.
  if (isComputed(field) || systemColumn || storage === 'id') return value
  return read(value, field.options).ok ? value : (parse(example, field.options) ?? value)
}
