import type { Field } from '../../../../../src/core/model.ts'
import type { CalendarOptions, RowColoring } from '../../../../../src/core/views/index.ts'
import { type ColorOf, rowColors } from '../../coloring/row-color.ts'
import type { CalendarEvent } from './events.ts'

/** One colour for each range of a view, as far apart as the palette lets them be. */
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

/** The colour of the range at a place of the list. */
export const rangeColor = (index: number): string =>
  RANGE_COLORS[index % RANGE_COLORS.length] ?? 'var(--color-primary)'

/** Colours records by the options of a select field; null where the view names none that is there. */
export function optionColors(
  { colorFieldId }: Pick<CalendarOptions, 'colorFieldId'>,
  fields: readonly Field[],
): ColorOf | null {
  if (colorFieldId === null) return null
  const coloring: RowColoring = { mode: 'select', fieldId: colorFieldId, isBackground: false }
  return rowColors(coloring, fields, { now: new Date() })
}

/** The colour of an event: of its record where the view colours records, else of its range. */
export function eventColor(event: CalendarEvent, colorings: readonly (ColorOf | null)[]): string {
  for (const colorOf of colorings) {
    const color = colorOf?.(event.row)
    if (color) return color.color
  }
  return rangeColor(event.range.index)
}
