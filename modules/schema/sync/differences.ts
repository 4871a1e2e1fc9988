import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type {
  DatabaseStructure,
  ForeignKeyStructure,
  Introspector,
  TableStructure,
} from '../../../src/db/introspect/index.ts'
import type { StoredField } from '../model/index.ts'
import { type KnownTable, planField } from './plan-table.ts'

/** A difference between a database and the metadata. */
export interface SyncChange {
  /** Identifies the difference; stable until it is applied. */
  key: string
  kind:
    | 'table.add'
    | 'table.remove'
    | 'column.add'
    | 'column.change'
    | 'column.remove'
    | 'relation.add'
    | 'relation.remove'
  /** The table's name in the database. */
  table: string
  tableId: string | null
  isView: boolean
  column: string | null
  fieldId: string | null
  relatedTable: string | null
  relatedColumn: string | null
  /** `column.change`: the types before and after. */
  from: string | null
  to: string | null
  /** True for a table that was deselected when its database was connected, and for what people have deleted here. */
  isLeftOut: boolean
}

/**
 * Lists the differences between a database and the metadata, table by table.
 *
 * @param leftOut names of deselected tables
 */
export function findDifferences(
  introspector: Introspector,
  known: KnownTable[],
  structure: DatabaseStructure,
  leftOut: readonly string[] = [],
): SyncChange[] {
  const isLeftOut = new Set(leftOut)
  for (const { table, hidden } of known) if (hidden.has(table.id)) isLeftOut.add(table.tableName)
  const live = known.filter(({ table }) => table.deletedAt === null)
  const byName = new Map(live.map((knownTable) => [knownTable.table.tableName, knownTable]))
  const found = new Map(structure.tables.map((table) => [table.name, table]))
  const changes: SyncChange[] = []
  for (const table of structure.tables) {
    const knownTable = byName.get(table.name)
    if (table.columns.length === 0) continue
    const details = { isView: table.kind === 'view', isLeftOut: isLeftOut.has(table.name) }
    if (!knownTable) changes.push(change('table.add', table.name, null, details))
    else changes.push(...differencesOf(introspector, knownTable, table, live))
  }
  for (const { table } of live) {
    if (found.has(table.tableName)) continue
    changes.push(change('table.remove', table.tableName, table.id, { isView: table.kind === 'view' }))
  }
  return changes
}

/** The live fields with a column. */
const columnsOf = ({ fields }: KnownTable): StoredField[] =>
  fields.filter((field) => field.deletedAt === null && field.columnName !== '')

function differencesOf(
  introspector: Introspector,
  known: KnownTable,
  structure: TableStructure,
  live: KnownTable[],
): SyncChange[] {
  const { table } = known
  const isView = table.kind === 'view'
  const columns = columnsOf(known)
  const named = new Map(columns.map((field) => [field.columnName, field]))
  const changes: SyncChange[] = []
  for (const column of structure.columns) {
    const field = named.get(column.name)
    const details = { isView, column: column.name, fieldId: field?.id ?? null }
    if (!field) {
      const isLeftOut = known.fields.some(
        ({ id, columnName }) => columnName === column.name && known.hidden.has(id),
      )
      changes.push(change('column.add', table.tableName, table.id, { ...details, isLeftOut }))
    } else if (columnDiffers(field, planField({ introspector }, structure, column, field))) {
      const types = { from: field.databaseType, to: column.type }
      changes.push(change('column.change', table.tableName, table.id, { ...details, ...types }))
    }
  }
  const present = new Set(structure.columns.map((column) => column.name))
  for (const { id, columnName } of columns) {
    if (present.has(columnName)) continue
    changes.push(
      change('column.remove', table.tableName, table.id, { isView, column: columnName, fieldId: id }),
    )
  }
  return [...changes, ...relationChanges(known, structure, live)]
}

function relationChanges(known: KnownTable, structure: TableStructure, live: KnownTable[]): SyncChange[] {
  const { table } = known
  const nameOf = new Map(live.map((other) => [other.table.id, other.table.tableName]))
  const columnOf = new Map(
    live.flatMap((other) => other.fields.map(({ id, columnName }) => [id, columnName])),
  )
  const linked = linksWithKey(known, ({ deletedAt }) => deletedAt === null).map(
    ({ field, key, relatedTableId }) => {
      const relatedTable = nameOf.get(relatedTableId) ?? ''
      const relatedColumn = columnOf.get(linkOf(field)?.parentFieldId ?? '') ?? null
      return { field, column: key.columnName, relatedTable, relatedColumn }
    },
  )
  // A link to a table that is not here comes with the table.
  const names = new Set(nameOf.values())
  const keys = structure.foreignKeys.filter(
    ({ columns, relatedTable }) => columns.length === 1 && names.has(relatedTable),
  )
  const added = keys.filter(
    (key) => !linked.some((link) => link.column === key.columns[0] && link.relatedTable === key.relatedTable),
  )
  const removed = linked.filter(
    (link) => !keys.some((key) => key.columns[0] === link.column && key.relatedTable === link.relatedTable),
  )
  return [
    ...added.map((key) =>
      change('relation.add', table.tableName, table.id, {
        column: key.columns[0] ?? null,
        relatedTable: key.relatedTable,
        relatedColumn: key.relatedColumns[0] ?? null,
        isLeftOut: hiddenLinkOf(known, key, nameOf) !== null,
      }),
    ),
    ...removed.map(({ field, ...details }) =>
      change('relation.remove', table.tableName, table.id, { ...details, fieldId: field.id }),
    ),
  ]
}

/**
 * The link of a foreign key that people moved to the trash; null without one.
 *
 * @param nameOf names of tables in the database, by id
 */
export function hiddenLinkOf(
  known: KnownTable,
  { columns, relatedTable }: ForeignKeyStructure,
  nameOf: ReadonlyMap<string, string>,
): StoredField | null {
  const found = linksWithKey(known, ({ id }) => known.hidden.has(id)).find(
    ({ key, relatedTableId }) => key.columnName === columns[0] && nameOf.get(relatedTableId) === relatedTable,
  )
  return found?.field ?? null
}

/** The wanted links of a table whose foreign key is in the table itself. */
function linksWithKey({ fields }: KnownTable, isWanted: (field: StoredField) => boolean) {
  return fields.flatMap((field) => {
    const link = isWanted(field) ? linkOf(field) : null
    const key = link?.holdsKey ? fields.find((other) => other.id === link.keyFieldId) : undefined
    return link && key ? [{ field, key, relatedTableId: link.relatedTableId }] : []
  })
}

/** Compares the properties that the database determines; titles, descriptions and formats are the user's. */
function columnDiffers(field: Field, now: Field): boolean {
  if (field.databaseType !== now.databaseType || field.isPrimaryKey !== now.isPrimaryKey) return true
  if (field.readOnlyReason !== now.readOnlyReason || field.required !== now.required) return true
  if (isForeignKey(field)) return false
  return field.defaultValue !== now.defaultValue || choiceTitles(field) !== choiceTitles(now)
}

const choiceTitles = ({ options }: Field): string => {
  const choices = options.choices as { title: string }[] | undefined
  return JSON.stringify(choices?.map(({ title }) => title).sort() ?? null)
}

const NO_DETAILS = {
  isView: false,
  column: null,
  fieldId: null,
  relatedTable: null,
  relatedColumn: null,
  from: null,
  to: null,
  isLeftOut: false,
}

const change = (
  kind: SyncChange['kind'],
  table: string,
  tableId: string | null,
  details: Partial<SyncChange>,
): SyncChange => ({
  ...NO_DETAILS,
  ...details,
  kind,
  table,
  tableId,
  key: JSON.stringify([kind, table, details.column ?? null, details.relatedTable ?? null]),
})
