import type { Values } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { writeLinks } from '../../../src/core/fields/list-value.ts'
import { hasSingleChoice, holdsPeople, isBoolean } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { isStackable } from '../../../src/core/views/index.ts'

/** Which stack: the title of an option, the id of a person or a linked record, `true`/`false`; null: no value. */
export type StackKey = string | null

/** The field whose values are the stacks of a kanban, and where its records keep them. */
export interface StackBy {
  field: Field
  /** The field itself; of a link the one that holds the key of the linked record. */
  keyField: Field
  kind: 'option' | 'person' | 'tick' | 'record'
}

/** Whether a stackable field's stacks are options, people, linked records or states of a checkbox. */
function stackKind(field: Field): StackBy['kind'] {
  if (hasSingleChoice(field)) return 'option'
  if (holdsPeople(field)) return 'person'
  return isBoolean(field) ? 'tick' : 'record'
}

/** How a table is stacked by a field; null if the field is deleted or cannot be stacked by. */
export function stackByOf(fields: readonly Field[], fieldId: string | null): StackBy | null {
  const field = fields.find((one) => one.id === fieldId)
  if (!field || !isStackable(field)) return null
  const kind = stackKind(field)
  if (kind !== 'record') return { field, keyField: field, kind }
  const keyFieldId = linkOf(field)?.keyFieldId
  const keyField = fields.find((one) => one.id === keyFieldId)
  return keyField ? { field, keyField, kind } : null
}

/** The stack of a value of the key field. */
export function stackKey({ kind }: Pick<StackBy, 'kind'>, value: CellValue): StackKey {
  // An unset checkbox counts as off.
  if (kind === 'tick') return String(value === true)
  return value === null || value === '' ? null : String(value)
}

/** Value of the key field in a stack's records. */
export function stackValue({ kind, keyField }: StackBy, key: StackKey): CellValue {
  if (key === null) return null
  if (kind === 'tick') return key === 'true'
  return kind === 'record' && keyField.options.isText !== true ? Number(key) : key
}

/** True if records may be put into the stack: the field is writable, and optional for the stack of empty values. */
export const takesRecords = ({ field, kind }: StackBy, key: StackKey): boolean =>
  field.readOnlyReason === null && (key !== null || (!field.required && kind !== 'tick'))

/** Values that put a new record into a stack; `title` is the linked record's title. */
export function stackValues(by: StackBy, key: StackKey, title: string): Values {
  // A field that is left out gets its default.
  if (key === null) return by.field.defaultValue === null ? {} : { [by.field.id]: null }
  const value = stackValue(by, key)
  if (by.kind !== 'record' || typeof value === 'boolean' || value === null) return { [by.keyField.id]: value }
  return { [by.field.id]: writeLinks({ count: 1, records: [{ id: value, title }] }) }
}

/** Count and summaries of a stack, as sent by the server. */
export interface StackTotals {
  count: number
  /** The value of the summary that the kanban shows; null without one. */
  summary: CellValue
}

/** Most stacks of a board. */
export const MAX_STACKS = 1000
