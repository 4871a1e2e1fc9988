import { asc, eq, inArray } from 'drizzle-orm'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, isFieldTypeName } from '../../../src/core/fields/index.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { trimTrailing } from '../../../src/core/trim-characters.ts'
import type { ColumnStructure, Introspector, TableStructure } from '../../../src/db/introspect/index.ts'
import type { SchemaContext } from '../change/index.ts'
import type { StoredField } from '../model/index.ts'
import { titleKey, toStored, toTable } from '../model/index.ts'

/** What the tables of a source are made with. */
export interface PlanContext {
  baseId: string
  sourceId: string
  introspector: Introspector
  inflection: { table: Inflection; column: Inflection }
  /** Names of tables that were not chosen. */
  leftOut?: readonly string[]
  now: string
}

/** A table of another database as the metadata will have it. */
export interface PlannedForeignTable {
  table: Table
  fields: Field[]
  structure: TableStructure
}

/** A table or view with a field for each of its columns; links are added by `planLinks`. */
export function planTable(
  context: PlanContext,
  structure: TableStructure,
  { title, order }: { title: string; order: number },
): PlannedForeignTable {
  const { baseId, sourceId, now } = context
  const table: Table = {
    id: createId('table'),
    baseId,
    sourceId,
    title,
    kind: structure.kind,
    isJunction: false,
    tableName: structure.name,
    description: structure.comment,
    meta: {},
    order,
    version: 0,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  }
  const titles = createTitles()
  const fields = structure.columns.map((column, index) =>
    planField(context, structure, column, {
      tableId: table.id,
      title: titles(titleOf(column.name, context.inflection.column, 'field')),
      order: index + 1,
    }),
  )
  markDisplayField(fields, structure)
  return { table, fields, structure }
}

/** The field of one column. */
export function planField(
  { introspector }: Pick<PlanContext, 'introspector'>,
  { primaryKey }: Pick<TableStructure, 'primaryKey'>,
  column: ColumnStructure,
  place: Pick<Field, 'tableId' | 'title' | 'order'>,
): Field {
  const isPrimaryKey = primaryKey.includes(column.name)
  const { type, options, readOnlyReason } = shapeOf(introspector, column, primaryKey)
  return {
    id: createId('field'),
    ...place,
    columnName: column.name,
    type,
    options,
    description: column.comment,
    // What nobody may write here is the database's to ask for, or a trigger's to fill in.
    required: isRequired(column) && fieldType(type).readOnly === undefined && readOnlyReason === null,
    unique: false,
    defaultValue: readOnlyReason === null ? plainDefault(introspector, column, type, options) : null,
    isDisplay: false,
    isPrimaryKey,
    isSystem: false,
    ...OWN_COLUMN,
    databaseType: column.type,
    readOnlyReason,
  }
}

/** The database refuses a record without it: nothing else would fill it. */
const isRequired = (column: ColumnStructure): boolean =>
  !column.isNullable && column.defaultExpression === null && !column.isAutoIncrement && !column.isGenerated

interface Shape {
  type: FieldTypeName
  options: FieldOptions
  readOnlyReason: string | null
}

/** The type of a column's field, with its options as they are kept. */
export function shapeOf(introspector: Introspector, column: ColumnStructure, primaryKey: string[]): Shape {
  // The one key that the database counts up by itself is a record's number, as in tables of ours.
  if (column.isAutoIncrement && primaryKey.length === 1 && primaryKey[0] === column.name) {
    return { type: 'ID', options: {}, readOnlyReason: null }
  }
  const { type, options, readOnlyReason } = introspector.shape(column)
  const read = isFieldTypeName(type) ? fieldType(type).options.safeParse(options) : null
  // Values of an enum may be what no option can be called: then the column is the text that it is.
  if (!read?.success || !isFieldTypeName(type)) {
    return { type: 'SingleLineText', options: {}, readOnlyReason }
  }
  return { type, options: read.data, readOnlyReason }
}

function plainDefault(
  introspector: Introspector,
  column: ColumnStructure,
  type: FieldTypeName,
  options: FieldOptions,
): CellValue {
  const text = introspector.defaultValue(column)
  const { readOnly, read } = fieldType(type)
  if (text === null || readOnly) return null
  const value = read(text, options)
  return value.ok ? value.value : null
}

const NAMES =
  /^((.+_)?(name|title|label|subject)|bezeichnung|nom|nombre|(display|full|user)_?name|(user_?)?login|e-?mail)$/i

/**
 * The field that names the records: one called so, else the first text, else the first that is no key. A column that
 * refers to another table names that table's records, whatever it is called.
 */
function markDisplayField(fields: Field[], { foreignKeys }: TableStructure): void {
  const referring = new Set(foreignKeys.flatMap(({ columns }) => columns))
  const plain = fields.filter((field) => !field.isPrimaryKey)
  const unlinked = plain.filter((field) => !referring.has(field.columnName))
  const own = unlinked.length > 0 ? unlinked : plain
  const texts = own.filter((field) => fieldType(field.type).naming === 'likely' && !isKeyLike(field))
  const chosen =
    texts.find((field) => NAMES.test(field.columnName)) ?? texts[0] ?? own.find(isShort) ?? fields[0]
  if (chosen) chosen.isDisplay = true
}

const isKeyLike = ({ columnName, databaseType }: Field): boolean =>
  databaseType === 'uuid' || /_(id|type)$|passw|_pass$|hash|token|secret|digest/i.test(columnName)

const isShort = ({ type }: Field): boolean =>
  fieldType(type).storage !== 'json' && !fieldType(type).namesDatabaseType

const MAX_TITLE = 255

/** How names of the database become titles: as they are, or in the manner of `FirstName`. */
type Inflection = 'none' | 'camelize'

/**
 * A name of the database as a title, which may not hold everything that a name may.
 *
 * @example titleOf('first_name', 'camelize', 'field') // 'FirstName'
 */
export function titleOf(name: string, inflection: Inflection, kind: 'table' | 'field'): string {
  const plain = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/\p{Cc}/gu, ' ')
  // Both mean something in the addresses that REST clients build from the titles of tables.
  const allowed = kind === 'table' ? plain.replace(/[./]/g, '_') : plain
  const title = inflection === 'camelize' ? camelize(allowed) : allowed
  return title.trim().slice(0, MAX_TITLE).toWellFormed() || `(${kind})`
}

function camelize(name: string): string {
  const words = name.split(/[\s_-]+/).filter((word) => word !== '')
  return words.length === 0
    ? name
    : words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** Gives titles that are free: as wished, or with the next free number behind. */
export function createTitles(taken: Iterable<string> = []) {
  const used = new Set([...taken].map(titleKey))
  // Without it, a thousand tables of one name would each count from the start.
  const next = new Map<string, number>()
  return (wish: string): string => {
    const key = titleKey(wish)
    let title = wish
    for (let number = next.get(key) ?? 1; used.has(titleKey(title)); number++) {
      const suffix = `_${number}`
      title = wish.slice(0, MAX_TITLE - suffix.length).toWellFormed() + suffix
      next.set(key, number + 1)
    }
    used.add(titleKey(title))
    return title
  }
}

/** The column's name without what says that it holds a key: `author_id`, `authorId` give `author`. */
export function withoutKeyWord(columnName: string): string {
  const parted = /[_\s-](?:id|fk|key)$/i.exec(columnName)
  const found = parted ?? /(?<=[A-Za-z0-9])(?:Id|ID|Fk|FK)$/.exec(columnName)
  const bare = columnName.slice(0, found?.index ?? 0)
  return trimTrailing(bare, '_- \t\n') || columnName
}

/** Every table of a source with all of its fields, the trash included: two statements whatever its size. */
export async function readKnown({ store, kernel }: SchemaContext, sourceId: string): Promise<KnownTable[]> {
  const { tables, fields } = store
  const { db } = kernel.meta
  const ofSource = eq(tables.sourceId, sourceId)
  const rows = await db.select().from(tables).where(ofSource).orderBy(asc(tables.order), asc(tables.id))
  const ids = db.select({ id: tables.id }).from(tables).where(ofSource)
  const all = await db
    .select()
    .from(fields)
    .where(inArray(fields.tableId, ids))
    .orderBy(asc(fields.order), asc(fields.id))
  const byTable = Map.groupBy(all, (row) => row.tableId)
  return rows.map((row) => ({ table: toTable(row), fields: (byTable.get(row.id) ?? []).map(toStored) }))
}

/** A table of the source as the metadata has it, its fields and itself perhaps in the trash. */
export interface KnownTable {
  table: Table
  fields: StoredField[]
}
