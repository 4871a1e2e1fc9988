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

/** One way in which the database is not what the metadata says. */
export interface SyncChange {
  /** Names the change: the same as long as it stands. */
  key: string
  kind:
    | 'table.add'
    | 'table.remove'
    | 'column.add'
    | 'column.change'
    | 'column.remove'
    | 'relation.add'
    | 'relation.remove'
  /** The table's name in the database, and its id where the metadata has it. */
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
  /** `table.add`: true for a table that was not chosen when its database was connected. */
  isLeftOut: boolean
}

/**
 * How the database differs from the metadata, table by table.
 *
 * @param leftOut names of tables that were not chosen
 */
export function findDifferences(
  introspector: Introspector,
  known: KnownTable[],
  structure: DatabaseStructure,
  leftOut: readonly string[] = [],
): SyncChange[] {
  const isLeftOut = new Set(leftOut)
  const live = known.filter(({ table }) => table.deletedAt === null)
  const byName = new Map(live.map((one) => [one.table.tableName, one]))
  const found = new Map(structure.tables.map((table) => [table.name, table]))
  const changes: SyncChange[] = []
  for (const table of structure.tables) {
    const one = byName.get(table.name)
    if (table.columns.length === 0) continue
    const about = { isView: table.kind === 'view', isLeftOut: isLeftOut.has(table.name) }
    if (!one) changes.push(change('table.add', table.name, null, about))
    else changes.push(...differencesOf(introspector, one, table, live, structure))
  }
  for (const { table } of live) {
    if (found.has(table.tableName)) continue
    changes.push(change('table.remove', table.tableName, table.id, { isView: table.kind === 'view' }))
  }
  return changes
}

/** The live fields that hold a column of the table's own. */
export const columnsOf = ({ fields }: KnownTable): StoredField[] =>
  fields.filter((field) => field.deletedAt === null && field.columnName !== '')

function differencesOf(
  introspector: Introspector,
  one: KnownTable,
  structure: TableStructure,
  live: KnownTable[],
  database: DatabaseStructure,
): SyncChange[] {
  const { table } = one
  const isView = table.kind === 'view'
  const columns = columnsOf(one)
  const named = new Map(columns.map((field) => [field.columnName, field]))
  const changes: SyncChange[] = []
  for (const column of structure.columns) {
    const field = named.get(column.name)
    const about = { isView, column: column.name, fieldId: field?.id ?? null }
    if (!field) {
      changes.push(change('column.add', table.tableName, table.id, about))
    } else if (factsDiffer(field, planField({ introspector }, structure, column, field))) {
      const types = { from: field.databaseType, to: column.type }
      changes.push(change('column.change', table.tableName, table.id, { ...about, ...types }))
    }
  }
  const present = new Set(structure.columns.map((column) => column.name))
  for (const { id, columnName } of columns) {
    if (present.has(columnName)) continue
    const about = { isView, column: columnName, fieldId: id }
    changes.push(change('column.remove', table.tableName, table.id, about))
  }
  return [...changes, ...relationChanges(one, structure, live, database)]
}

function relationChanges(
  one: KnownTable,
  structure: TableStructure,
  live: KnownTable[],
  database: DatabaseStructure,
): SyncChange[] {
  const { table } = one
  const titleOf = new Map(live.map((other) => [other.table.id, other.table.tableName]))
  const columnOf = new Map(
    live.flatMap((other) => other.fields.map(({ id, columnName }) => [id, columnName])),
  )
  const linked = heldKeys(one).map(({ field, key, relatedTableId }) => {
    const relatedTable = titleOf.get(relatedTableId) ?? ''
    const relatedColumn = columnOf.get(linkOf(field)?.parentFieldId ?? '') ?? null
    return { field, column: key.columnName, relatedTable, relatedColumn }
  })
  const keys = structure.foreignKeys.filter((key) => isLinkable(key, database))
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
      }),
    ),
    ...removed.map(({ field, ...about }) =>
      change('relation.remove', table.tableName, table.id, { ...about, fieldId: field.id }),
    ),
  ]
}

/** The live links of a table whose key it holds itself, as a foreign key of the database does. */
export function heldKeys(
  one: KnownTable,
): { field: StoredField; key: StoredField; relatedTableId: string }[] {
  return one.fields.flatMap((field) => {
    const link = field.deletedAt === null ? linkOf(field) : null
    const key = link?.holdsKey ? one.fields.find((other) => other.id === link.keyFieldId) : undefined
    return link && key ? [{ field, key, relatedTableId: link.relatedTableId }] : []
  })
}

const isLinkable = ({ columns, relatedTable }: ForeignKeyStructure, database: DatabaseStructure): boolean =>
  columns.length === 1 && database.tables.some((table) => table.name === relatedTable)

/** What the database says of a column; titles, descriptions and how values are shown are people's own. */
function factsDiffer(field: Field, now: Field): boolean {
  if (field.databaseType !== now.databaseType || field.isPrimaryKey !== now.isPrimaryKey) return true
  if (field.readOnlyReason !== now.readOnlyReason || field.required !== now.required) return true
  if (isForeignKey(field)) return false
  return field.defaultValue !== now.defaultValue || choiceTitles(field) !== choiceTitles(now)
}

const choiceTitles = ({ options }: Field): string => {
  const choices = options.choices as { title: string }[] | undefined
  return JSON.stringify(choices?.map(({ title }) => title).sort() ?? null)
}

const NOTHING = {
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
  about: Partial<SyncChange>,
): SyncChange => ({
  ...NOTHING,
  ...about,
  kind,
  table,
  tableId,
  key: JSON.stringify([kind, table, about.column ?? null, about.relatedTable ?? null]),
})
