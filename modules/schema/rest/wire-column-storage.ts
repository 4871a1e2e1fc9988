import { badRequest } from '../../../src/core/errors.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { hasChoices, isRecordId } from '../../../src/core/fields/traits.ts'

/*
 * What a column says of its storage: `dt`, `dtxp`, `dtxs`, `ct`, `clen`, `un`, `ai`, `au`, `pk` … (wire reference §8.1).
 * Sheaf chooses how a type is stored, so most of it cannot be set. A client that sends a whole column back unchanged
 * is served; anything else is refused by name, instead of being dropped.
 */

/** Spellings of database types that hold the same kind of value. */
const FAMILIES: readonly (readonly string[])[] = [
  [
    ...[
      'varchar',
      'character varying',
      'text',
      'char',
      'character',
      'nvarchar',
      'nchar',
      'clob',
      'string',
      'enum',
    ],
    ...['set', 'tinytext', 'mediumtext', 'longtext', 'json', 'jsonb'],
  ],
  [
    'integer',
    'int',
    'bigint',
    'smallint',
    'mediumint',
    'tinyint',
    'int2',
    'int4',
    'int8',
    'serial',
    'bigserial',
    'year',
  ],
  [
    ...['decimal', 'numeric', 'real', 'float', 'double', 'double precision', 'float4', 'float8', 'money'],
    // Numbers that are shown as durations or amounts may be whole.
    ...['integer', 'int', 'bigint'],
  ],
  ['boolean', 'bool', 'tinyint', 'bit', 'integer', 'int'],
  ['date'],
  ['datetime', 'timestamp', 'timestamptz', 'timestamp with time zone', 'timestamp without time zone'],
  ['time', 'timetz', 'time with time zone', 'time without time zone'],
]

/** Sizes: a client that changes the type sends the usual ones of the new type along. */
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
 * @param current the column as clients read it
 * @param type what it is, or is going to be
 * @param usual the name of the database type that stores it
 * @throws BAD_REQUEST naming what cannot be changed
 */
export function refuseStorageChange(
  column: WireColumn,
  current: WireColumn,
  type: FieldTypeName,
  usual: string | null,
): void {
  const title = String(current.title)
  for (const [key, explain] of Object.entries(FLAGS)) {
    if (isSaid(column[key]) && isSet(column[key]) !== isSet(current[key])) throw badRequest(explain(title))
  }
  const isOtherType = type !== current.uidt
  for (const [key, what] of Object.entries(SIZES)) {
    if (!isSaid(column[key]) || isSame(column[key], current[key]) || isOtherType) continue
    if (key === 'dtxp' && hasChoices({ type })) continue
    throw badRequest(
      `${what} (${key}) cannot be set for column '${title}': a ${type} column is stored without such limits${hintOf(type)}`,
    )
  }
  const { dt } = column
  // The database type of SpecificDBType is its option; what it takes is checked there.
  if (fieldType(type).namesDatabaseType || !isSaid(dt) || isSame(dt, current.dt) || fits(dt, usual)) return
  throw badRequest(
    `Column '${title}' cannot be stored as '${text(dt)}': the type ${type} is stored as '${usual ?? 'nothing'}'. Send another uidt to change its type`,
  )
}

/** For new columns: what they ask of their storage, and cannot have. @throws BAD_REQUEST as `refuseStorageChange` */
export function refuseNewStorage(column: WireColumn, title: string, type: FieldTypeName): void {
  const isKey = isRecordId({ type })
  for (const [key, explain] of Object.entries(FLAGS)) {
    // A primary key of another type is refused by name elsewhere; keys are unsigned and count by themselves.
    if (key !== 'pk' && isSet(column[key]) && !(isKey && key !== 'au')) throw badRequest(explain(title))
  }
}

/** The titles in `dtxp`: `'Todo','it''s'`, or bare ones with commas between them. */
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

/** True for a family that has both names. */
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

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && text(value).trim() !== ''
const isSet = (value: unknown): boolean => value === true || value === 1 || value === '1' || value === 'true'
const isSame = (sent: unknown, known: unknown): boolean => text(sent).trim() === text(known).trim()
const text = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')

/** A column as a REST client sends it; whatever else is in the object is of no matter. */
export type WireColumn = Record<string, unknown>
