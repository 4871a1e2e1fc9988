import { badRequest } from '../../../src/core/errors.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { hasChoices, isRecordId } from '../../../src/core/fields/traits.ts'

/*
 * The storage properties of a column: `dt`, `dtxp`, `dtxs`, `ct`, `clen`, `un`, `ai`, `au`, `pk` … (wire §8.1).
 * Sheaf chooses the storage of a type, so most of them cannot be set. Unchanged values are accepted, because clients send
 * whole columns back; any other value is refused by name.
 */

/** Database types, separated by `|`, that hold the same kind of value. */
const FAMILIES = [
  'varchar|character varying|text|char|character|nvarchar|nchar|clob|string|enum|set|tinytext|mediumtext|longtext|json|jsonb',
  'integer|int|bigint|smallint|mediumint|tinyint|int2|int4|int8|serial|bigserial|year',
  // Durations and amounts may be stored as integers.
  'decimal|numeric|real|float|double|double precision|float4|float8|money|integer|int|bigint',
  'boolean|bool|tinyint|bit|integer|int',
  'date',
  'datetime|timestamp|timestamptz|timestamp with time zone|timestamp without time zone',
  'time|timetz|time with time zone|time without time zone',
].map((names) => names.split('|'))

/** Sizes are ignored in a change of type, with which clients send the usual sizes of the new type. */
const SIZES = {
  dtxp: 'A length',
  dtxs: 'A scale',
  ct: 'A full column type',
  clen: 'A length',
  np: 'A precision',
  ns: 'A scale',
}

const FLAGS: Record<string, (title: string) => string> = {
  un: (title) => `Column '${title}' cannot be made unsigned or signed: only MySQL's own columns are unsigned`,
  ai: (title) =>
    `Column '${title}' cannot get or lose auto-increment: only the column of the type ID counts by itself`,
  au: (title) =>
    `Column '${title}' cannot get or lose auto-update: a column of the type LastModifiedTime shows when a record changed`,
  pk: (title) => `Column '${title}' cannot become or cease to be the primary key`,
}

/**
 * Refuses an update of storage properties.
 *
 * @param current the presented column
 * @param type the type after the update
 * @param usual the database type that stores it
 * @throws BAD_REQUEST naming the property
 */
export function refuseStorageChange(
  column: WireColumn,
  current: WireColumn,
  type: FieldTypeName,
  usual: string | null,
): void {
  const title = String(current.title)
  for (const [key, explain] of Object.entries(FLAGS)) {
    if (isGiven(column[key]) && isSet(column[key]) !== isSet(current[key])) throw badRequest(explain(title))
  }
  const isOtherType = type !== current.uidt
  for (const [key, size] of Object.entries(SIZES)) {
    if (!isGiven(column[key]) || isSame(column[key], current[key]) || isOtherType) continue
    if (key === 'dtxp' && hasChoices({ type })) continue
    throw badRequest(
      `${size} (${key}) cannot be set for column '${title}': a ${type} column is stored without such limits${hintOf(type)}`,
    )
  }
  const { dt } = column
  // The database type of SpecificDBType is an option, which is checked with the others.
  if (fieldType(type).namesDatabaseType || !isGiven(dt) || isSame(dt, current.dt) || fits(dt, usual)) return
  throw badRequest(
    `Column '${title}' cannot be stored as '${text(dt)}': the type ${type} is stored as '${usual ?? 'nothing'}'. Send another uidt to change its type`,
  )
}

/** Refuses storage properties of a new column. @throws BAD_REQUEST naming the property */
export function refuseNewStorage(column: WireColumn, title: string, type: FieldTypeName): void {
  const isKey = isRecordId({ type })
  for (const [key, explain] of Object.entries(FLAGS)) {
    // `readNewColumn` refuses primary keys of other types; record ids are unsigned and auto-increment.
    if (key !== 'pk' && isSet(column[key]) && !(isKey && key !== 'au')) throw badRequest(explain(title))
  }
}

/** Parses the option titles in `dtxp`: `'Todo','it''s'`, or unquoted and separated by commas. */
export function readOptionTitles(dtxp: unknown): string[] {
  if (typeof dtxp !== 'string' || dtxp.trim() === '') return []
  const titles: string[] = []
  let at = 0
  while (at <= dtxp.length) {
    while (dtxp[at] === ' ') at++
    let title = ''
    if (dtxp[at] === "'") {
      for (at++; at < dtxp.length; at++) {
        if (dtxp[at] === "'" && dtxp[at + 1] === "'") at++
        else if (dtxp[at] === "'") break
        title += dtxp[at]
      }
      const comma = dtxp.indexOf(',', at)
      at = comma < 0 ? dtxp.length + 1 : comma + 1
    } else {
      const comma = dtxp.indexOf(',', at)
      const end = comma < 0 ? dtxp.length : comma
      title = dtxp.slice(at, end).trim()
      at = end + 1
    }
    titles.push(title)
  }
  return titles
}

const hintOf = (type: FieldTypeName): string =>
  'precision' in ((fieldType(type).options.safeParse({}).data as object | undefined) ?? {})
    ? '; meta.precision says how many decimals are shown'
    : ''

/** True if both names belong to one family. */
const fits = (dt: unknown, usual: string | null): boolean => {
  const [name = ''] = text(dt)
    .toLowerCase()
    .split('(', 1)
    .map((part) => part.trimEnd())
  return (
    name === usual ||
    FAMILIES.some((family) => family.includes(name) && usual !== null && family.includes(usual))
  )
}

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && text(value).trim() !== ''
const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1' || value === 'true'
const isSame = (sent: unknown, known: unknown): boolean => text(sent).trim() === text(known).trim()
const text = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')

/** A column in a request body; unknown keys are ignored. */
export type WireColumn = Record<string, unknown>
