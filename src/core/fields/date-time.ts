import * as z from 'zod/mini'
import { isTimeZone } from '../dates.ts'
import { m } from '../messages.gen.ts'
import { DATE_FORMATS } from './date-text.ts'
import { type CellValue, defineFieldType, describeValue, type Read, readFail, readOk } from './field-type.ts'
import { exactInstant, type InstantOptions, parseInstant, readInstant } from './instant-text.ts'
import { rejectInput } from './system-value.ts'

/** Options of every field that shows instants. */
const instantOptions = z.object({
  format: z._default(z.enum(DATE_FORMATS), 'YYYY-MM-DD'),
  time12h: z._default(z.boolean(), false),
  seconds: z._default(z.boolean(), false),
  milliseconds: z._default(z.boolean(), false),
  timeZone: z._default(
    z.string().check(
      z.maxLength(64),
      z.refine((zone) => zone === 'local' || isTimeZone(zone), { error: () => m.field_error_time_zone() }),
    ),
    'local',
  ),
})

/** Shared definition of the types whose values are instants. */
const instantValue = {
  storage: 'datetime' as const,
  options: instantOptions,
  filters: 'date' as const,
  summaries: 'date' as const,
  parse: (text: string, options: InstantOptions): CellValue => parseInstant(text, options),
  format: (value: CellValue, options: InstantOptions) =>
    value === null ? '' : exactInstant(String(value), options),
  databaseTypes: { sqlite3: 'datetime', pg: 'timestamp' },
}

/** An instant, shown in the field's zone. */
export const dateTime = defineFieldType({
  ...instantValue,
  name: 'DateTime',
  label: m.field_type_date_time,
  group: 'date',
  help: m.field_type_date_time_help,
  example: '2024-03-05 08:20',
  fill: 'datetime',
  read(input, options: InstantOptions): Read {
    const instant = typeof input === 'string' ? readInstant(input, options) : null
    if (instant !== null) return readOk(instant)
    return readFail(m.value_error_date_time({ value: describeValue(input) }))
  },
})

/** The record's creation time. */
export const createdTime = defineFieldType({
  ...instantValue,
  name: 'CreatedTime',
  label: m.field_type_created_time,
  group: 'system',
  help: m.field_type_created_time_help,
  example: '2024-03-05 08:20',
  readOnly: true,
  systemColumn: 'created_at',
  read: rejectInput,
})

/** The time of the record's last change; null until its first change. */
export const lastModifiedTime = defineFieldType({
  ...instantValue,
  name: 'LastModifiedTime',
  label: m.field_type_last_modified_time,
  group: 'system',
  help: m.field_type_last_modified_time_help,
  example: '2024-03-06 17:05',
  readOnly: true,
  systemColumn: 'updated_at',
  read: rejectInput,
})
