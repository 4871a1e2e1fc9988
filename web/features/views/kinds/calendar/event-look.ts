import { useMemo } from 'react'
import type { CellValue } from '../../../../../src/core/fields/field-type.ts'
import { isBoolean } from '../../../../../src/core/fields/traits.ts'
import type { Field, TableSchema, View } from '../../../../../src/core/model.ts'
import type { CalendarOptions, RowColoring } from '../../../../../src/core/views/index.ts'
import { shownText } from '../../../../cells/index.ts'
import { usePeople } from '../../../../cells/people-context.ts'
import { m } from '../../../../messages.gen.ts'
import { can, type TableContext } from '../../../records/context/table-context.ts'
import { type ColorOf, rowColors } from '../../coloring/row-colors.ts'
import { useRowColor } from '../../coloring/use-row-color.ts'
import { shownFields } from '../../state/arrange-fields.ts'
import type { EventLook } from './calendar-context.ts'
import { type CalendarEvent, type DatedRange, type DatedRow, isMovable } from './events.ts'
import { NEW_ID } from './moves.ts'

/** Maximum length of an event's extra text; longer text would not fit a line. */
const MAX_EXTRA = 200

/** Appearance of records in the calendar: title, other visible fields, colour. */
export function useLook(
  schema: TableSchema,
  view: View,
  options: CalendarOptions,
  ranges: readonly DatedRange[],
  people: TableContext['people'],
): { look: (event: CalendarEvent) => EventLook; titleOf: (row: DatedRow) => string } {
  const byId = usePeople()
  const coloring = useRowColor(schema.fields, view.coloring, people)
  return useMemo(() => {
    const display = schema.fields.find((field) => field.isDisplay)
    // The position already shows the dates.
    const dates = new Set(ranges.flatMap(({ from, to }) => [from.field.id, to?.field.id]))
    const extras = shownFields(schema.fields, view)
      .map(({ field }) => field)
      .filter((field) => !field.isDisplay && !dates.has(field.id))
    const colors = [coloring, optionColors(options, schema.fields)]
    const words = new WeakMap<DatedRow, Omit<EventLook, 'color'>>()
    const titleOf = (row: DatedRow): string => (row.id === NEW_ID ? m.common_new_record() : savedTitle(row))
    const savedTitle = (row: DatedRow): string =>
      (display && shownText(display, row.values(display.id), byId).trim()) || m.common_untitled()
    const read = (row: DatedRow) => {
      const known = words.get(row)
      if (known) return known
      const texts = extras.map((field) => extraText(field, row.values(field.id), byId)).filter(Boolean)
      const fresh = { title: titleOf(row), extra: texts.join(' · ').slice(0, MAX_EXTRA) }
      words.set(row, fresh)
      return fresh
    }
    return { titleOf, look: (event) => ({ ...read(event.row), color: eventColor(event, colors) }) }
  }, [schema.fields, view, options, ranges, byId, coloring])
}

/** Why an event of a range cannot be moved; null if it can. */
export function fixedReason(
  context: Pick<TableContext, 'role' | 'schema'>,
  range: DatedRange,
): string | null {
  const { schema } = context
  if (!can(context, 'record.update')) return schema.readOnlyReason ?? m.calendar_your_role_cant_edit_records()
  if (isMovable(range)) return null
  const { field } = range.from.isWritable ? (range.to ?? range.from) : range.from
  return m.calendar_field_read_only_record_cant({ field: field.title })
}

/** Check boxes show their title if checked, and nothing otherwise. */
const extraText = (field: Field, value: CellValue, people: Parameters<typeof shownText>[2]): string =>
  isBoolean(field) ? (value === true ? field.title : '') : shownText(field, value, people)

/** Colours of a view's ranges. */
const RANGE_COLORS = [
  'var(--color-primary)',
  'var(--color-accent)',
  'var(--color-success)',
  'var(--color-role-commenter)',
  'var(--color-role-owner)',
  'var(--color-danger)',
  'var(--color-role-viewer)',
  'var(--color-accent-text)',
  'var(--color-text-muted)',
  'var(--color-warning)',
] as const

/** The colour of the range at an index. */
export const rangeColor = (index: number): string =>
  RANGE_COLORS[index % RANGE_COLORS.length] ?? 'var(--color-primary)'

/** Colours records by a select field's options; null if the field is unset or missing. */
function optionColors(
  { colorFieldId }: Pick<CalendarOptions, 'colorFieldId'>,
  fields: readonly Field[],
): ColorOf | null {
  if (colorFieldId === null) return null
  const coloring: RowColoring = { mode: 'select', fieldId: colorFieldId, isBackground: false }
  return rowColors(coloring, fields, { now: new Date() })
}

/** The colour of an event: from the view's colouring, else of its range. */
function eventColor(event: CalendarEvent, colorings: readonly (ColorOf | null)[]): string {
  for (const colorOf of colorings) {
    const color = colorOf?.(event.row)
    if (color) return color.color
  }
  return rangeColor(event.range.index)
}
