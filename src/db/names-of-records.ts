import { type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../core/errors.ts'
import type { CellValue } from '../core/fields/field-type.ts'
import { fieldType } from '../core/fields/index.ts'
import { isSingleLink, type LinkOptions } from '../core/fields/link-options.ts'
import { readNameList } from '../core/fields/list-value.ts'
import { formatValue } from '../core/fields/read.ts'
import { fieldInZone } from '../core/fields/traits.ts'
import type { Field, RecordId } from '../core/model.ts'
import type { Engine, Statement } from '../dialects/dialect.ts'
import { comparedColumn, isComparable, isPadded } from '../dialects/foreign.ts'
import { m } from '../messages.gen.ts'
import { type ColumnValue, columnNameOf, type PagedTable, pagesOf } from './column-values.ts'
import { createSpillMap, type SpillMap } from './spill-map.ts'

/** Runs a statement, in a transaction or as a scan. */
export type ReadValues = (statement: Statement) => Promise<ColumnValue[]>

/** A column to look for values in. `databaseType` is set for one of a connected database. */
type NamedField = Pick<Field, 'type' | 'columnName'> & Partial<Pick<Field, 'databaseType'>>

/** A table whose records are looked up by display value. */
export interface NamedTable extends PagedTable {
  table: { title: string; tableName: string }
  primaryKey: NamedField
  displayField: NamedField & Pick<Field, 'title' | 'options'>
}

/** The table with names that are written and read in a time zone, unless its display field has one. */
export const namesInZone = <Named extends NamedTable>(table: Named, timeZone: string): Named => ({
  ...table,
  displayField: fieldInZone(table.displayField, timeZone),
})

/** Looks up records by display value; of duplicates, the first that was added. Must be closed. */
export interface RecordNames {
  add(id: RecordId, value: CellValue): void
  find(name: string): RecordId | undefined
  close(): void
}

/** As `RecordNames`, without what adds to them. */
export type FoundNames = Pick<RecordNames, 'find' | 'close'>

/** The linked records that a text names. */
export interface NamedRecords {
  ids: RecordId[]
  /** Names with and without a record. */
  titles: string[]
  missing: string[]
  /** True if a link to one record names several existing ones. */
  isTooMany: boolean
}

/** @throws BAD_REQUEST if the display field is not stored in a column */
export function requireStoredNames({ table, displayField }: NamedTable): void {
  if (!fieldType(displayField.type).computed) return
  throw badRequest(m.records_error_computed_names({ table: table.title, field: displayField.title }))
}

/**
 * Matches names exactly as links show them, then as the display field formats its values, both with and without
 * surrounding whitespace.
 */
export function createRecordNames(displayField: Pick<Field, 'type' | 'options'>): RecordNames {
  const exact = createSpillMap<RecordId>()
  const others = createSpillMap<RecordId>()
  return {
    close() {
      exact.close()
      others.close()
    },
    add(id, value) {
      const text = String(value ?? '')
      if (text === '') return
      if (exact.get(text) === undefined) exact.set(text, id)
      const shown = formatValue(displayField, value)
      for (const other of [text.trim(), shown.trim()]) {
        if (other !== text && other !== '' && others.get(other) === undefined) others.set(other, id)
      }
    },
    find(name) {
      const trimmed = name.trim()
      return exact.get(name) ?? exact.get(trimmed) ?? others.get(trimmed)
    },
  }
}

/** Names that never guess: `find` gives nothing for a name that several records have. */
export interface UniqueNames extends RecordNames {
  isAmbiguous(name: string): boolean
}

/** As `createRecordNames`, without surrounding whitespace. */
export function createUniqueNames(displayField: Pick<Field, 'type' | 'options'>): UniqueNames {
  /** Null for a name of several records. */
  const byName = createSpillMap<RecordId | null>()
  return {
    close: byName.close,
    add(id, value) {
      for (const name of new Set([String(value ?? '').trim(), formatValue(displayField, value).trim()])) {
        if (name === '') continue
        const known = byName.get(name)
        byName.set(name, known === undefined || known === id ? id : null)
      }
    },
    find: (name) => byName.get(name.trim()) ?? undefined,
    isAmbiguous: (name) => byName.get(name.trim()) === null,
  }
}

/** Records of a table by the text of their display field, in bounded memory. @throws BAD_REQUEST as `requireStoredNames` */
export const recordsByName = (
  engine: Pick<Engine, 'dialect'>,
  related: NamedTable,
  read: ReadValues,
): Promise<RecordNames> => addNames(createRecordNames(related.displayField), engine, related, read)

/** As `recordsByName`, for `UniqueNames`. @throws BAD_REQUEST as `requireStoredNames` */
export const recordsByUniqueName = (
  engine: Pick<Engine, 'dialect'>,
  related: NamedTable,
  read: ReadValues,
): Promise<UniqueNames> => addNames(createUniqueNames(related.displayField), engine, related, read)

async function addNames<Names extends RecordNames>(
  names: Names,
  engine: Pick<Engine, 'dialect'>,
  related: NamedTable,
  read: ReadValues,
): Promise<Names> {
  try {
    requireStoredNames(related)
    for await (const page of pagesOf(engine, related, related.displayField, read)) {
      for (const { id, value } of page) names.add(id, value)
    }
    return names
  } catch (error) {
    names.close()
    throw error
  }
}

/** Names per statement. */
const ASKED = 500

/**
 * Looks up the records with some names in the database; memory grows with the number of names only. Misses some names
 * that differ in surrounding whitespace. Works for keys and display fields of any type that a connected database has.
 *
 * @throws BAD_REQUEST as `requireStoredNames`
 */
export async function recordsNamed(
  { dialect }: Pick<Engine, 'dialect'>,
  related: NamedTable,
  names: readonly string[],
  read: ReadValues,
): Promise<FoundNames> {
  requireStoredNames(related)
  const { displayField, primaryKey, table } = related
  const { parse, storage } = fieldType(displayField.type)
  const [encode, decode] = [dialect.encode(storage), dialect.decode(storage)]
  const asStored = (name: string): CellValue[] => {
    if (isText(displayField)) return [name, name.trim()]
    const value = parse(name, displayField.options)
    return value === null ? [] : [encode?.(value) ?? value]
  }

  /** The first record with each of some values of a column. */
  async function select(
    field: NamedField,
    values: readonly CellValue[],
    where: SQL = sql`1 = 1`,
  ): Promise<ColumnValue[]> {
    const { databaseType = null } = field
    const id = keyColumn(primaryKey)
    const column = comparedColumn(dialect, sql`${sql.identifier(columnNameOf(field))}`, {
      storage: fieldType(field.type).storage,
      databaseType,
    })
    const wanted = [...new Set(values)].filter(
      (value) => value !== null && value !== '' && isComparable(databaseType, value),
    ) as (string | number | boolean)[]
    const found: ColumnValue[] = []
    for (let start = 0; start < wanted.length; start += ASKED) {
      const isWanted = dialect.inList(column, wanted.slice(start, start + ASKED))
      // By exact text: a collation may equate names that differ in case. Not by the least id, which UUIDs do not have.
      const numbered = sql`select ${id} as ${sql.identifier('id')}, ${column} as ${sql.identifier('value')},
          row_number() over (partition by ${dialect.exactText(column)} order by ${id}) as ${sql.identifier('place')}
        from ${sql.identifier(table.tableName)} where ${isWanted} and ${where}`
      found.push(
        ...(await read(
          dialect.render(sql`select ${sql.identifier('id')}, ${sql.identifier('value')}
            from (${numbered}) as numbered where ${sql.identifier('place')} = 1`),
        )),
      )
    }
    return found
  }

  const found = createRecordNames(displayField)
  for (const { id, value } of await select(displayField, names.flatMap(asStored)))
    found.add(id, decode ? decode(value) : value)
  const unnamed = new Map<string, RecordId>()
  for (const { id } of await select(primaryKey, keysIn(names, primaryKey), isUnnamed(dialect, displayField)))
    unnamed.set(String(id), id)
  const [nameText, keyText] = [displayField, primaryKey].map(({ databaseType }) => textIn(databaseType))
  return {
    close: found.close,
    find: (name) =>
      found.find(nameText?.(name) ?? name) ?? unnamed.get(keyText?.(name.trim()) ?? name.trim()),
  }
}

/** A key column in the form that ids have: without the padding of its type. */
const keyColumn = (key: NamedField): SQL => {
  const column = sql`${sql.identifier(columnNameOf(key))}`
  return isPadded(key.databaseType ?? null) ? sql`rtrim(${column})` : column
}

/** The names that may be keys of records. */
function keysIn(names: readonly string[], { type }: NamedField): CellValue[] {
  const { storage } = fieldType(type)
  if (storage === 'text' || storage === 'longText') return names.map((name) => name.trim())
  return names.map(Number).filter((number) => Number.isSafeInteger(number) && number > 0)
}

/** Writes a text as values of a type are read: UUIDs come in lower case, however they are given. */
const textIn = (databaseType: string | null | undefined): ((text: string) => string) | null =>
  databaseType === 'uuid' ? (text) => text.trim().toLowerCase() : null

const isText = ({ type }: Pick<Field, 'type'>): boolean =>
  fieldType(type).storage === 'text' || fieldType(type).storage === 'longText'

/** Condition: the record's display value is empty. */
const isUnnamed = ({ foreign }: Engine['dialect'], field: NamedTable['displayField']): SQL => {
  const column = sql`${sql.identifier(columnNameOf(field))}`
  if (!isText(field)) return sql`${column} is null`
  // Through text: not every type of a connected database can be compared with an empty one.
  const text = field.databaseType ? foreign.asText(column, field.databaseType) : column
  return sql`coalesce(${text}, '') = ''`
}

/** Records without a display value, by id as text, which is how an export writes their links. Must be closed. */
export async function unnamedRecords(
  engine: Pick<Engine, 'dialect'>,
  related: NamedTable,
  read: ReadValues,
): Promise<Pick<SpillMap<RecordId>, 'get' | 'close'>> {
  const unnamed = createSpillMap<RecordId>()
  const one = {
    column: sql`case when ${isUnnamed(engine.dialect, related.displayField)} then 1 end`,
    decode: null,
  }
  for await (const page of pagesOf(engine, related, related.displayField, read, one)) {
    for (const { id } of page) unnamed.set(String(id), id)
  }
  return unnamed
}

/**
 * Parses text as names of records: one name, or for a link to many a list (see `writeNameList`), also with a name per
 * line. Ambiguous text is read as a list.
 */
export function readNames(
  text: string,
  { kind }: Pick<LinkOptions, 'kind'>,
  { find }: Pick<RecordNames, 'find'>,
): NamedRecords {
  const none: NamedRecords = { ids: [], titles: [], missing: [], isTooMany: false }
  if (text.trim() === '') return none
  const names = namesIn(text, { find })
  const titles = names.filter((name) => find(name) !== undefined)
  const whole = find(text)
  const isWhole = isSingleLink({ kind }) || titles.length < names.length
  if (whole !== undefined && isWhole) return { ...none, ids: [whole], titles: [text.trim()] }
  if (!isSingleLink({ kind }) || (names.length === 1 && titles.length === 1)) {
    const missing = names.filter((name) => find(name) === undefined)
    return { ...none, ids: [...new Set(titles.flatMap((name) => find(name) ?? []))], titles, missing }
  }
  const isTooMany = titles.length > 1 && titles.length === names.length
  return { ...none, missing: [text.trim()], isTooMany }
}

/** The names in a list. Lines are read as names of their own if the text names something unknown otherwise. */
function namesIn(text: string, { find }: Pick<RecordNames, 'find'>): string[] {
  const names = [...new Set(readNameList(text))]
  const countFound = (list: string[]) => list.filter((name) => find(name) !== undefined).length
  if (!text.includes('\n') || countFound(names) === names.length) return names
  const byLine = [...new Set(text.split('\n').flatMap(readNameList))]
  return countFound(byLine) >= countFound(names) ? byLine : names
}
