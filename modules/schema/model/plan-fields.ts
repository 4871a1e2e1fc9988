import { badRequest } from '../../../src/core/errors.ts'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import { isRecordId } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field } from '../../../src/core/model.ts'
import { checkFieldInput } from './definition.ts'
import { checkTitle, physicalName, uniqueTitle } from './names.ts'
import type { NewField } from './new-field.ts'

/** Columns that every table has for itself, in the order in which REST clients know them. */
const SYSTEM_FIELDS = [
  { columnName: 'created_at', title: 'CreatedAt', type: 'CreatedTime' },
  { columnName: 'updated_at', title: 'UpdatedAt', type: 'LastModifiedTime' },
  { columnName: 'created_by', title: 'nc_created_by', type: 'CreatedBy' },
  { columnName: 'updated_by', title: 'nc_updated_by', type: 'LastModifiedBy' },
  { columnName: 'nc_order', title: 'nc_order', type: 'Order' },
] as const

/** A field of a table that is being made. */
export type PlannedField = Field & { wireMeta: Record<string, unknown> | null }

/**
 * The fields of a new table, each with its column: the record id, the system fields, then those that were
 * asked for.
 *
 * @throws BAD_REQUEST for what does not fit
 */
export function planFields(tableId: string, inputs: NewField[]): PlannedField[] {
  const ids = inputs.filter(isRecordId)
  if (ids.length > 1) throw badRequest('A table can only have one field of type "ID"')
  const idField = ids[0]
  const idColumn = physicalName(
    idField?.columnName ?? 'id',
    new Set(SYSTEM_FIELDS.map((field) => field.columnName)),
    'id',
  )
  const planned: PlannedField[] = []
  const columns = new Set<string>([idColumn.toLowerCase(), ...SYSTEM_FIELDS.map((field) => field.columnName)])
  const add = (field: Partial<PlannedField> & Pick<Field, 'title' | 'type' | 'columnName'>) => {
    planned.push({
      id: createId('field'),
      tableId,
      options: {},
      description: null,
      required: false,
      unique: false,
      defaultValue: null,
      order: planned.length + 1,
      isDisplay: false,
      isPrimaryKey: false,
      isSystem: false,
      ...OWN_COLUMN,
      wireMeta: null,
      ...field,
    })
  }
  const wanted = inputs
    .filter((input) => !isRecordId(input))
    .map((input) => ({ input, checked: checkFieldInput(input) }))
  add({
    title: uniqueTitle(
      checkTitle('field', idField?.title ?? 'Id'),
      wanted.map(({ checked }) => checked),
    ),
    type: 'ID',
    columnName: idColumn,
    isPrimaryKey: true,
    wireMeta: idField?.wireMeta ?? null,
  })
  for (const field of SYSTEM_FIELDS) add({ ...field, options: readOptions(field.type, {}), isSystem: true })
  for (const { input, checked } of wanted) {
    refuseComputed(checked.type)
    const hasColumn = fieldType(checked.type).systemColumn === undefined
    const columnName = hasColumn ? physicalName(input.columnName || checked.title, columns, 'field') : ''
    columns.add(columnName.toLowerCase())
    add({
      ...checked,
      title: uniqueTitle(checked.title, planned),
      columnName,
      wireMeta: input.wireMeta ?? null,
    })
  }
  const own = planned.slice(1 + SYSTEM_FIELDS.length)
  const chosen = wanted.findIndex(({ input }) => input.isDisplay)
  const display = own[Math.max(0, chosen)] ?? planned[0]
  if (display) display.isDisplay = true
  return planned
}

function refuseComputed(type: FieldTypeName): void {
  if (fieldType(type).computed === undefined) return
  throw badRequest(`A "${fieldType(type).label}" field can only be added to an existing table`)
}
