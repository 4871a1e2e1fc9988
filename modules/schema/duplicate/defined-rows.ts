import { z } from 'zod'
import { nowIso } from '../../../src/clock.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { FIELD_TYPE_NAMES, fieldType, readOptions } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, isRecordId, numbersRecords } from '../../../src/core/fields/traits.ts'
import { createId, renameIds } from '../../../src/core/ids.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SchemaContext } from '../change/index.ts'
import { readGraph, resolveAll } from '../computed/index.ts'
import {
  checkFieldInput,
  checkTitle,
  createTableModel,
  MAX_FIELDS,
  MAX_TABLES,
  physicalName,
  refuseUnstorable,
  type SchemaRows,
  SYSTEM_FIELDS,
  type TableModel,
  titleKey,
  toStored,
  toTable,
  uniqueTitle,
} from '../model/index.ts'

const id = z.string().regex(/^[mc][a-z0-9]{14}$/)
const json = z.record(z.string().max(64), z.unknown())
const description = z.string().max(100_000).nullable()

/** A table as a file describes it. */
export const tableDefinition = z.object({
  id,
  title: z.string().max(1000),
  description,
  meta: json,
  isJunction: z.boolean(),
  order: z.number(),
})

/** A field as a file describes it. References to tables, fields and views are ids of the file. */
export const fieldDefinition = z.object({
  id,
  tableId: id,
  title: z.string().max(1000),
  type: z.enum(FIELD_TYPE_NAMES),
  options: z.record(z.string().max(64), z.unknown()),
  description,
  required: z.boolean(),
  unique: z.boolean(),
  defaultValue: z.union([z.string().max(1_000_000), z.number(), z.boolean(), z.null()]),
  wireMeta: json.nullable(),
  order: z.number(),
  isDisplay: z.boolean(),
  isPrimaryKey: z.boolean(),
  isSystem: z.boolean(),
})

export type TableDefinition = z.output<typeof tableDefinition>
export type FieldDefinitionRow = z.output<typeof fieldDefinition>

/** The rows of a new base's tables and fields. */
export interface DefinedRows extends SchemaRows {
  /** New ids by those of the definitions: tables, fields, and what `known` has. */
  ids: ReadonlyMap<string, string>
  /** By new table id. */
  models: ReadonlyMap<string, TableModel>
}

/**
 * Turns definitions from a file into rows of a base without tables, under new ids. They are checked like new tables and
 * fields; references are resolved within the definitions only. Computed fields get their result types.
 *
 * @param known other ids to replace in options: those of views
 * @throws BAD_REQUEST naming the table or field that cannot be created
 */
export async function rowsOfDefinitions(
  { kernel, store }: Pick<SchemaContext, 'kernel' | 'store'>,
  { baseId, sourceId, known }: { baseId: string; sourceId: string; known: ReadonlyMap<string, string> },
  tables: readonly TableDefinition[],
  fields: readonly FieldDefinitionRow[],
): Promise<DefinedRows> {
  refuseUnstorable([tables, fields])
  if (tables.filter(({ isJunction }) => !isJunction).length > MAX_TABLES)
    throw badRequest(m.schema_error_too_many_tables({ max: MAX_TABLES }))
  const ids = new Map(known)
  for (const table of tables) ids.set(table.id, createId('table'))
  for (const field of fields) ids.set(field.id, createId('field'))
  if (ids.size < known.size + tables.length + fields.length) throw invalid('id')
  const now = nowIso()
  const times = { createdAt: now, updatedAt: now, deletedAt: null }
  const renamed = (old: string) => ids.get(old) ?? ''

  const physical = new Set<string>()
  const titles = new Set<string>()
  const tableRows = tables.map((table): SchemaRows['tables'][number] => {
    const title = checkTitle('table', table.title)
    if (titles.has(titleKey(title))) throw invalid(title)
    titles.add(titleKey(title))
    const tableName = physicalName(title, physical, 'table')
    physical.add(tableName.toLowerCase())
    return {
      ...table,
      ...times,
      id: renamed(table.id),
      baseId,
      sourceId,
      kind: 'table',
      title,
      tableName,
      version: 0,
    }
  })

  const byTable = Map.groupBy(fields, ({ tableId }) => tableId)
  const fieldRows = tables.flatMap((table) => {
    const own = byTable.get(table.id) ?? []
    byTable.delete(table.id)
    return fieldsOf(table, own, ids).map((field) => ({ ...field, ...times }))
  })
  if (byTable.size > 0) throw invalid([...byTable.keys()][0] ?? '')
  checkLinks(tableRows, fieldRows)

  const plain = fieldRows.map((row) => ({ ...toStored(row), deletedAt: null }))
  const graph = await readGraph(kernel, store, baseId, { fields: plain, tables: tableRows.map(toTable) })
  const resolved = resolveAll(graph, new Set())
  const complete = fieldRows.map((row) => ({ ...row, ...resolved.get(row.id) }))
  const models = new Map(
    tableRows.map((row) => {
      const own = complete.filter(({ tableId }) => tableId === row.id)
      return [row.id, createTableModel(toTable(row), own.map(toStored))] as const
    }),
  )
  return { tables: tableRows, fields: complete, ids, models }
}

type NewRow = Omit<SchemaRows['fields'][number], 'createdAt' | 'updatedAt' | 'deletedAt'>

/** The fields of a table with their columns. @throws BAD_REQUEST */
function fieldsOf(
  table: TableDefinition,
  definitions: readonly FieldDefinitionRow[],
  ids: ReadonlyMap<string, string>,
): NewRow[] {
  const shown = definitions.filter(({ isSystem, isPrimaryKey }) => !isSystem && !isPrimaryKey)
  if (shown.length > MAX_FIELDS) throw badRequest(m.schema_error_too_many_fields({ max: MAX_FIELDS }))
  const sorted = definitions.toSorted((a, b) => a.order - b.order)
  const keys = sorted.filter(({ isPrimaryKey }) => isPrimaryKey)
  if (keys.length !== 1 || !keys.every(isRecordId) || sorted.filter(isRecordId).length !== 1)
    throw invalid(table.title)
  // The first system field of each type has the column of the table.
  const system = new Map(
    SYSTEM_FIELDS.map(({ type, columnName }) => [
      sorted.find((field) => field.type === type && field.isSystem)?.id,
      columnName as string,
    ]),
  )
  if (system.size < SYSTEM_FIELDS.length || system.has(undefined)) throw invalid(table.title)
  const display = sorted.find(({ isDisplay }) => isDisplay) ?? keys[0]
  const columns = new Set<string>(SYSTEM_FIELDS.map(({ columnName }) => columnName))
  const rows: NewRow[] = []
  for (const field of sorted) {
    const { type, options, ...definition } = checked(field, ids)
    const { computed, systemColumn } = fieldType(type)
    const hasColumn = computed === undefined && systemColumn === undefined
    const fallback = isRecordId(field) ? 'id' : 'field'
    const columnName =
      system.get(field.id) ??
      (hasColumn ? physicalName(isRecordId(field) ? 'id' : definition.title, columns, fallback) : '')
    columns.add(columnName.toLowerCase())
    rows.push({
      ...field,
      ...definition,
      id: ids.get(field.id) ?? '',
      tableId: ids.get(field.tableId) ?? '',
      title: uniqueTitle(definition.title, rows),
      columnName,
      type,
      options,
      isDisplay: field === display,
      databaseType: null,
      readOnlyReason: null,
      result: null,
      error: null,
    })
  }
  return rows
}

/** A field's definition, checked as that of a new field. Types that users cannot choose have no rules. */
function checked(field: FieldDefinitionRow, ids: ReadonlyMap<string, string>) {
  const options = withoutHook(readOptions(field.type, renameIds(field.options, ids)))
  const plain = {
    title: checkTitle('field', field.title),
    type: field.type,
    options,
    required: false,
    unique: false,
    defaultValue: null,
  }
  if (isRecordId(field) || numbersRecords(field)) return plain
  if (isForeignKey(field)) return { ...plain, required: field.required }
  if (fieldType(field.type).internal || field.isSystem) return plain
  const { type, required, unique, defaultValue } = checkFieldInput({ ...field, options })
  return { ...plain, type, required, unique, defaultValue }
}

/** Webhooks are in no file: a button that triggers one triggers none. */
const withoutHook = (options: Record<string, unknown>) =>
  typeof options.webhookId === 'string' ? { ...options, webhookId: null } : options

/** @throws BAD_REQUEST for a link whose key, junction table or reverse field does not fit */
function checkLinks(tables: SchemaRows['tables'], fields: SchemaRows['fields']): void {
  const tableOf = new Map(tables.map((table) => [table.id, table]))
  const fieldOf = new Map(fields.map((field) => [field.id, field]))
  const isKeyIn = (fieldId: string | null, tableId: string) => {
    const key = fieldOf.get(fieldId ?? '')
    return key !== undefined && key.tableId === tableId && isForeignKey(key)
  }
  for (const field of fields) {
    if (fieldType(field.type).computed !== 'link') continue
    const link = linkOf(field)
    const related = tableOf.get(link?.relatedTableId ?? '')
    if (!link || !related || related.isJunction) throw invalid(field.title)
    const inverse = link.inverseFieldId === null ? null : fieldOf.get(link.inverseFieldId)
    const isMutual =
      inverse === null ||
      (inverse !== undefined &&
        inverse.tableId === related.id &&
        linkOf(inverse)?.inverseFieldId === field.id)
    const { junction } = link
    const isStored =
      link.kind === 'mm'
        ? junction !== null &&
          tableOf.get(junction.tableId)?.isJunction === true &&
          junction.ownFieldId !== junction.relatedFieldId &&
          isKeyIn(junction.ownFieldId, junction.tableId) &&
          isKeyIn(junction.relatedFieldId, junction.tableId)
        : isKeyIn(link.keyFieldId, link.holdsKey ? field.tableId : related.id) &&
          fieldOf.get(link.parentFieldId ?? '')?.isPrimaryKey === true &&
          fieldOf.get(link.parentFieldId ?? '')?.tableId === (link.holdsKey ? related.id : field.tableId)
    if (!isMutual || !isStored) throw invalid(field.title)
  }
}

const invalid = (title: string) => badRequest(m.schema_error_definition({ title: title.slice(0, 100) }))
