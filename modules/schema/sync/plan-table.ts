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

/** The source whose tables are planned. */
export interface PlanContext {
  baseId: string
  sourceId: string
  introspector: Introspector
  inflection: { table: Inflection; column: Inflection }
  /** Names of deselected tables. */
  leftOut?: readonly string[]
  now: string
}

/** The metadata of a table in a connected database. */
export interface PlannedForeignTable {
  table: Table
  fields: Field[]
  structure: TableStructure
  /** The fields that the table had before, those in the trash too. */
  former: Field[]
}

/** Plans a table or view with a field for each column; `planLinks` adds the links. */
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
  return { table, fields, structure, former: [] }
}

/** Plans the field of a column. */
export function planField(
  { introspector }: Pick<PlanContext, 'introspector'>,
  { primaryKey }: Pick<TableStructure, 'primaryKey'>,
  column: ColumnStructure,
  position: Pick<Field, 'tableId' | 'title' | 'order'>,
): Field {
  const isPrimaryKey = primaryKey.includes(column.name)
  const { type, options, readOnlyReason } = shapeOf(introspector, column, primaryKey)
  return {
    id: createId('field'),
    ...position,
    columnName: column.name,
    type,
    options,
    description: column.comment,
    // A read-only column cannot be required here: the database or a trigger fills it.
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

/** True if the database refuses a record without a value for the column. */
const isRequired = (column: ColumnStructure): boolean =>
  !column.isNullable && column.defaultExpression === null && !column.isAutoIncrement && !column.isGenerated

interface Shape {
  type: FieldTypeName
  options: FieldOptions
  readOnlyReason: string | null
}

/** The field type and options of a column. */
export function shapeOf(introspector: Introspector, column: ColumnStructure, primaryKey: string[]): Shape {
  // A single auto-increment key is a record id, as in the base's own tables.
  if (column.isAutoIncrement && primaryKey.length === 1 && primaryKey[0] === column.name) {
    return { type: 'ID', options: {}, readOnlyReason: null }
  }
  const { type, options, readOnlyReason } = introspector.shape(column)
  const read = isFieldTypeName(type) ? fieldType(type).options.safeParse(options) : null
  // An enum may have values that are invalid as option titles: then the field is text.
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
 * Marks the display field: a column named like one, else the first text, else the first short column that is not a key.
 * Foreign keys are skipped, because they name records of another table.
 */
function markDisplayField(fields: Field[], { foreignKeys }: TableStructure): void {
  const referencing = new Set(foreignKeys.flatMap(({ columns }) => columns))
  const withoutKey = fields.filter((field) => !field.isPrimaryKey)
  const unlinked = withoutKey.filter((field) => !referencing.has(field.columnName))
  const candidates = unlinked.length > 0 ? unlinked : withoutKey
  const texts = candidates.filter((field) => fieldType(field.type).naming === 'likely' && !isKeyLike(field))
  const chosen =
    texts.find((field) => NAMES.test(field.columnName)) ?? texts[0] ?? candidates.find(isShort) ?? fields[0]
  if (chosen) chosen.isDisplay = true
}

const isKeyLike = ({ columnName, databaseType }: Field): boolean =>
  databaseType === 'uuid' || /_(id|type)$|passw|_pass$|hash|token|secret|digest/i.test(columnName)

const isShort = ({ type }: Field): boolean =>
  fieldType(type).storage !== 'json' && !fieldType(type).namesDatabaseType

const MAX_TITLE = 255

/** How names of the database become titles: unchanged, or as `FirstName`. */
type Inflection = 'none' | 'camelize'

/**
 * Converts a name of the database to a valid title.
 *
 * @example titleOf('first_name', 'camelize', 'field') // 'FirstName'
 */
export function titleOf(name: string, inflection: Inflection, kind: 'table' | 'field'): string {
  const plain = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/\p{Cc}/gu, ' ')
  // REST clients build paths from table titles, where both have another meaning.
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

/** Returns a function that makes titles unique by appending a number. */
export function createTitles(taken: Iterable<string> = []) {
  const used = new Set([...taken].map(titleKey))
  // Remembers the next number, so that many equal titles do not each count from 1.
  const next = new Map<string, number>()
  return (requested: string): string => {
    const key = titleKey(requested)
    let title = requested
    for (let number = next.get(key) ?? 1; used.has(titleKey(title)); number++) {
      const suffix = `_${number}`
      title = requested.slice(0, MAX_TITLE - suffix.length).toWellFormed() + suffix
      next.set(key, number + 1)
    }
    used.add(titleKey(title))
    return title
  }
}

/** The name of a foreign key column without its suffix: `author` for `author_id` and `authorId`. */
export function withoutKeySuffix(columnName: string): string {
  const separated = /[_\s-](?:id|fk|key)$/i.exec(columnName)
  const found = separated ?? /(?<=[A-Za-z0-9])(?:Id|ID|Fk|FK)$/.exec(columnName)
  const name = columnName.slice(0, found?.index ?? 0)
  return trimTrailing(name, '_- \t\n') || columnName
}

/** Reads all tables of a source with their fields, including the trash, in two statements. */
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
  return rows.map((row) => {
    const own = byTable.get(row.id) ?? []
    const hidden = [row, ...own].filter(
      ({ deletedAt, deletedBy }) => deletedAt !== null && deletedBy !== null,
    )
    return { table: toTable(row), fields: own.map(toStored), hidden: new Set(hidden.map(({ id }) => id)) }
  })
}

/** A table of a source in the metadata, including the trash. */
export interface KnownTable {
  table: Table
  fields: StoredField[]
  /** Ids of the table and its fields that people moved to the trash. What a synchronization moved there is not among them. */
  hidden: ReadonlySet<string>
}
