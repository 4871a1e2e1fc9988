import * as z from 'zod/mini'
import type { Field } from '../fields/field.ts'
import { m } from '../messages.gen.ts'
import type { View } from '../model.ts'
import { notSingleSelect } from './coloring.ts'
import { fitOrNull, type ViewKindDefinition, valueTypeOf, wrongType } from './view-kind.ts'

/** Places records on the day of `fromFieldId`, or from there to the day of `toFieldId` if set. */
const calendarRange = z.strictObject({
  fromFieldId: z.string().check(z.minLength(1), z.maxLength(64)),
  toFieldId: z._default(z.nullable(z.string().check(z.minLength(1), z.maxLength(64))), null),
})
export type CalendarRange = z.output<typeof calendarRange>

export const CALENDAR_SCALES = ['day', 'week', 'month', 'year'] as const
export type CalendarScale = (typeof CALENDAR_SCALES)[number]

export const calendarOptions = z.strictObject({
  /** Empty: not chosen yet. */
  ranges: z._default(z.array(calendarRange).check(z.maxLength(10)), []),
  scale: z._default(z.enum(CALENDAR_SCALES), 'month'),
  hideWeekends: z._default(z.boolean(), false),
  /** A single select whose option colours the record; null: each range has its colour. */
  colorFieldId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
})
export type CalendarOptions = z.output<typeof calendarOptions>

/** The ranges of a calendar; null for a view of another kind. */
export const rangesOfCalendar = ({
  kind,
  options,
}: Pick<View, 'kind' | 'options'>): CalendarRange[] | null =>
  kind === 'calendar' ? (options as CalendarOptions).ranges : null

/** True for a field whose values are days or instants. */
export function isDated(field: Field): boolean {
  const storage = valueTypeOf(field)?.storage
  return (storage === 'date' || storage === 'datetime') && field.result?.isList !== true
}

const isColoring = (field: Field): boolean => valueTypeOf(field)?.choices === 'single'

export const calendar: ViewKindDefinition<CalendarOptions> = {
  kind: 'calendar',
  wireNumber: 6,
  label: 'Calendar',
  options: calendarOptions,
  defaults(fields) {
    const dated = fields.find((field) => isDated(field) && !field.isSystem) ?? fields.find(isDated)
    const ranges = dated ? [{ fromFieldId: dated.id, toFieldId: null }] : []
    return { ranges, scale: 'month', hideWeekends: false, colorFieldId: null }
  },
  fieldIds: ({ ranges, colorFieldId }) =>
    [...ranges.flatMap(({ fromFieldId, toFieldId }) => [fromFieldId, toFieldId]), colorFieldId].filter(
      (id) => id !== null,
    ),
  prune: (options, field) => ({
    ...options,
    ranges: options.ranges
      .filter(({ fromFieldId }) => fitOrNull(fromFieldId, field, isDated) !== null)
      .map((range) => ({ ...range, toFieldId: fitOrNull(range.toFieldId, field, isDated) })),
    colorFieldId: fitOrNull(options.colorFieldId, field, isColoring),
  }),
  problem: ({ ranges, colorFieldId }, field) =>
    wrongType(
      ranges.flatMap(({ fromFieldId, toFieldId }) => [fromFieldId, toFieldId]),
      field,
      isDated,
      m.view_error_not_date,
    ) ?? wrongType([colorFieldId], field, isColoring, notSingleSelect),
  setup: {
    hasEnd: true,
    read({ ranges: [range] }) {
      return { fieldId: range?.fromFieldId ?? null, toFieldId: range?.toFieldId ?? null }
    },
    write: ({ fieldId, toFieldId }, copied) => ({
      ranges:
        fieldId === null ? [] : [{ fromFieldId: fieldId, toFieldId }, ...(copied?.ranges.slice(1) ?? [])],
    }),
  },
  hasManualOrder: false,
  shownAtFirst: 2,
}
