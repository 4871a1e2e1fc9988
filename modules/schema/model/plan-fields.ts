import { badRequest } from '../../../src/core/errors.ts'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import { isRecordId } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { checkFieldInput } from './definition.ts'
import type { NewField, StoredField, TableModel } from './model.ts'
import {
  checkTitle,
  duplicateField,
  duplicateTable,
  isTitleTaken,
  physicalName,
  titleKey,
  uniqueTitle,
} from './names.ts'
import type { SchemaStore } from './store.ts'

/** The system columns of every table, in the order of the REST API. */
export const SYSTEM_FIELDS = [
  { columnName: 'created_at', title: 'CreatedAt', type: 'CreatedTime' },
  { columnName: 'updated_at', title: 'UpdatedAt', type: 'LastModifiedTime' },
  { columnName: 'created_by', title: 'nc_created_by', type: 'CreatedBy' },
  { columnName: 'updated_by', title: 'nc_updated_by', type: 'LastModifiedBy' },
  { columnName: 'nc_order', title: 'nc_order', type: 'Order' },
] as const

/** A field of a table that is being created. */
export type PlannedField = Field & { wireMeta: Record<string, unknown> | null }

/**
 * The fields of a new table with their columns: record id, system fields, then the requested ones.
 *
 * @throws BAD_REQUEST for an invalid field
 */
export function planFields(tableId: string, inputs: NewField[]): PlannedField[] {
  const ids = inputs.filter(isRecordId)
  if (ids.length > 1) throw badRequest(m.schema_error_one_id({ type: 'ID' }))
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
  const requested = inputs
    .filter((input) => !isRecordId(input))
    .map((input) => ({ input, checked: checkFieldInput(input) }))
  add({
    title: uniqueTitle(
      checkTitle('field', idField?.title ?? 'Id'),
      requested.map(({ checked }) => checked),
    ),
    type: 'ID',
    columnName: idColumn,
    isPrimaryKey: true,
    wireMeta: idField?.wireMeta ?? null,
  })
  for (const field of SYSTEM_FIELDS) add({ ...field, options: readOptions(field.type, {}), isSystem: true })
  for (const { input, checked } of requested) {
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
  const chosen = requested.findIndex(({ input }) => input.isDisplay)
  const display = own[Math.max(0, chosen)] ?? planned[0]
  if (display) display.isDisplay = true
  return planned
}

function refuseComputed(type: FieldTypeName): void {
  if (fieldType(type).computed === undefined) return
  throw badRequest(m.schema_error_needs_table({ type: fieldType(type).label() }))
}

/** Leaves room for the suffix `_id` and a number. */
const MAX_KEY_NAME = 48

/** A new field; absent keys take the usual defaults. */
export type SlotField = Pick<Field, 'title' | 'type' | 'options'> & Partial<Field>

/** Assigns titles, column names and order to the new fields that one change adds to a table. */
export interface FieldSlots {
  readonly model: TableModel
  readonly added: Field[]
  /** @throws DUPLICATE_ALIAS for a title in use */
  requireTitle(title: string): void
  /** The title if it is free, else with a number: `Owner1` (wire §8.2). */
  freeTitle(title: string): string
  /** The column name, and title, of a foreign key to a table: `Author_id`, `Author_id1`. */
  keyName(parentTableName: string): string
  /** A free column name for a field with this title. */
  columnName(title: string): string
  add(field: SlotField): Field
}

/** @param stored every field of the table, including the trash, whose columns still exist */
export function openSlots(model: TableModel, stored: StoredField[]): FieldSlots {
  const titles = new Set(model.fields.map((field) => titleKey(field.title)))
  const columns = new Set(stored.map((field) => field.columnName.toLowerCase()))
  let order = Math.max(0, ...stored.map((field) => field.order))
  const added: Field[] = []
  const numbered = (name: string, isFree: (candidate: string) => boolean): string => {
    for (let number = 0; ; number++) {
      const candidate = number === 0 ? name : `${name}${number}`
      if (isFree(candidate)) return candidate
    }
  }
  const isFreeTitle = (title: string) => !titles.has(titleKey(title))
  return {
    model,
    added,
    requireTitle(title) {
      if (!isFreeTitle(title)) throw duplicateField(title, model.table.id, model.table.baseId)
    },
    freeTitle: (title) => numbered(title, isFreeTitle),
    keyName(parentTableName) {
      const name = physicalName(parentTableName, new Set(), 'table').slice(0, MAX_KEY_NAME)
      return numbered(
        `${name}_id`,
        (candidate) => isFreeTitle(candidate) && !columns.has(candidate.toLowerCase()),
      )
    },
    columnName: (title) => physicalName(title, columns, 'field'),
    add(field) {
      order++
      const created: Field = {
        id: createId('field'),
        tableId: model.table.id,
        columnName: '',
        description: null,
        required: false,
        unique: false,
        defaultValue: null,
        order,
        isDisplay: false,
        isPrimaryKey: false,
        isSystem: false,
        ...OWN_COLUMN,
        ...field,
      }
      titles.add(titleKey(created.title))
      if (created.columnName !== '') columns.add(created.columnName.toLowerCase())
      added.push(created)
      return created
    },
  }
}

/** Most tables of one base. */
export const MAX_TABLES = 1000

interface SlotTable extends Pick<Table, 'id' | 'title' | 'description' | 'meta' | 'isJunction'> {
  /** Requested name in the database; derived from the title by default. */
  tableName?: string | null
}

/** Assigns titles, names and order to the new tables that one change adds to a base. */
export interface TableSlots {
  /** The existing tables of the base, in their order. */
  readonly others: readonly Table[]
  /**
   * @throws DUPLICATE_ALIAS for a title in use, unless `freeTitle` asks for the next free one; BAD_REQUEST if the base
   *   has `MAX_TABLES` tables
   */
  add(table: SlotTable, options?: { freeTitle?: boolean }): Table
}

/**
 * @param now the time of the change, ISO 8601
 * @param suffix appended to the names in the database, see `withFreshName`
 */
export async function openTableSlots(
  store: Pick<SchemaStore, 'ownSourceId' | 'tablesOf' | 'tablesOfSource'>,
  baseId: string,
  { now, suffix = '' }: { now: string; suffix?: string },
): Promise<TableSlots> {
  const sourceId = await store.ownSourceId(baseId)
  const others = await store.tablesOf(baseId)
  const all = [...others]
  const taken = new Set((await store.tablesOfSource(sourceId)).map((other) => other.tableName.toLowerCase()))
  return {
    others,
    add({ tableName, ...requested }, { freeTitle = false } = {}) {
      if (all.length >= MAX_TABLES) throw badRequest(m.schema_error_too_many_tables({ max: MAX_TABLES }))
      const title = freeTitle ? uniqueTitle(requested.title, all) : requested.title
      if (isTitleTaken(title, all)) throw duplicateTable(title, baseId)
      const table: Table = {
        ...requested,
        baseId,
        sourceId,
        title,
        kind: 'table' as const,
        tableName: physicalName((tableName || title) + suffix, taken, 'table'),
        order: Math.max(0, ...all.map((other) => other.order)) + 1,
        version: 0,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      }
      all.push(table)
      taken.add(table.tableName.toLowerCase())
      return table
    },
  }
}
