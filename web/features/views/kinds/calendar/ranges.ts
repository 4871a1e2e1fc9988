import { resolveZone } from '../../../../../src/core/dates.ts'
import { shownType } from '../../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import type { Field } from '../../../../../src/core/model.ts'
import { type CalendarRange, isDated } from '../../../../../src/core/views/index.ts'

/** A field whose values are days or instants, as the calendar reads it. */
export interface DateField {
  field: Field
  hasTime: boolean
  /** The zone whose clocks its cells show. */
  zone: string
  /** False for what is computed, or read-only in its database. */
  isWritable: boolean
}

/** Two fields between which records lie, or one on which they lie. */
export interface DatedRange {
  /** Its place among the ranges of the view, which gives it its colour. */
  index: number
  from: DateField
  to: DateField | null
}

/** The ranges of a view over the fields that there are; those whose field is gone are left out. */
export function rangesOf(ranges: readonly CalendarRange[], fields: readonly Field[]): DatedRange[] {
  const dated = (id: string | null): DateField | null => {
    const field = fields.find((one) => one.id === id)
    return field && isDated(field) ? dateField(field) : null
  }
  return ranges.flatMap(({ fromFieldId, toFieldId }, index) => {
    const from = dated(fromFieldId)
    return from ? [{ index, from, to: dated(toFieldId) }] : []
  })
}

function dateField(field: Field): DateField {
  const { type, options } = shownType(field)
  const hasTime = type.storage === 'datetime'
  const zone = typeof options.timeZone === 'string' ? options.timeZone : 'local'
  return { field, hasTime, zone: hasTime ? resolveZone(zone) : 'UTC', isWritable: takesValues(field) }
}

const takesValues = (field: Field): boolean =>
  !field.isSystem && field.readOnlyReason === null && fieldType(field.type).readOnly !== true

/** True where a record can be moved: all that it is moved by can be written. */
export const isMovable = ({ from, to }: DatedRange): boolean =>
  from.isWritable && (to === null || to.isWritable)
