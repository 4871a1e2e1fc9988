import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import type { CellValue, StorageKind } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { LoggedRecord } from '../../../src/db/change-log/records.ts'
import type { Dialect, Engine } from '../../../src/dialects/dialect.ts'
import {
  type DefinitionsAt,
  definitionsAt,
  type FieldChanges,
  type FormerChoices,
  fieldChangesSince,
  formerChoices,
  type TableModel,
} from '../../schema/index.ts'

/** What the fields of a table were at an entry of the log, as far as its values need it. */
export interface FormerFields {
  /** Those whose logged values are others than their columns hold now. Columns of text hold all values. */
  converted: ReadonlySet<string>
  /** Select fields whose options are called otherwise now, or are gone. */
  choices: ReadonlyMap<string, FormerChoices>
}

/** @param then what the fields were like at the entry, and later */
export function formerFields(model: TableModel, then: ReturnType<DefinitionsAt>): FormerFields {
  const converted = new Set<string>()
  const choices = new Map<string, FormerChoices>()
  for (const [id, definitions] of then) {
    const [first] = definitions
    if (!first) continue
    const now = model.field(id)
    const { storage } = fieldType(now?.type ?? first.type)
    if (storage !== 'text' && storage !== 'longText' && fieldType(first.type).storage !== storage)
      converted.add(id)
    const former = now && formerChoices(definitions, now)
    if (former) choices.set(id, former)
  }
  return { converted, choices }
}

/**
 * As `formerFields` with the write lease, which keeps the fields as they are.
 *
 * @param known changes since the entry that were read before: the rest is short
 */
export async function formerFieldsNow(
  engine: Engine,
  model: TableModel,
  entryId: number,
  known?: FieldChanges,
): Promise<FormerFields> {
  const changes = await fieldChangesSince(engine, model.table.id, entryId, known)
  return formerFields(model, definitionsAt(changes)(entryId))
}

/** Fields whose logged values are all as they were. */
export const UNCHANGED_FIELDS: FormerFields = { converted: new Set(), choices: new Map() }

/** More former titles make an expression that engines refuse. */
const MAX_TITLES_OF_SET = 200

/** True if statements can give the logged values of a set their present titles. */
export const fitsSet = ({ choices }: FormerFields): boolean =>
  choices.values().reduce((sum, { titles }) => sum + titles.size, 0) <= MAX_TITLES_OF_SET

/** No select field accepts it, and none has it: stands for the value of an option that is gone. */
const NO_OPTION = false

/** The logged values of a record with the present titles of their options. A select field refuses an option that is gone. */
export const withPresentTitles = (line: LoggedRecord, former: FormerFields): LoggedRecord =>
  former.choices.size === 0
    ? line
    : { ...line, before: presentJson(line.before, former), after: presentJson(line.after, former) }

/** As `withPresentTitles`, for values as JSON. */
export function presentJson(json: string | null, { choices }: FormerFields): string | null {
  if (json === null || choices.size === 0) return json
  const values: Values = JSON.parse(json)
  for (const [id, former] of choices) if (id in values) values[id] = presentTitles(values[id] ?? null, former)
  return JSON.stringify(values)
}

function presentTitles(value: CellValue, { isList, titles }: FormerChoices): CellValue {
  if (value === null) return null
  const present: (string | null)[] = (isList ? titlesIn(String(value)) : [String(value)]).map((title) => {
    const now = titles.get(title)
    return now === undefined ? title : now
  })
  return present.includes(null) ? NO_OPTION : present.join(',')
}

/** The text that stands for the value of an option that is gone, in statements: no option and no cell has it. */
const GONE = sql`''`

/**
 * Reads values of the log in statements.
 *
 * @param former what the fields were at its entry
 */
export function loggedValues(dialect: Pick<Dialect, 'jsonValue' | 'isSame'>, { choices }: FormerFields) {
  /** A value of a logged object, with the present titles of its options; '' for an option that is gone. */
  const read = (json: SQL, key: string, as: StorageKind | { databaseType: string }): SQL => {
    const value = dialect.jsonValue(json, key, as)
    const former = choices.get(key)
    if (!former) return value
    return former.isList ? renamedList(value, former.titles) : renamedTitle(value, former.titles)
  }
  return {
    read,
    /** As `read`; null for an option that is gone. */
    readOrNull: (...[json, key, as]: Parameters<typeof read>): SQL =>
      choices.has(key) ? sql`nullif(${read(json, key, as)}, ${GONE})` : read(json, key, as),
    /** True if the option of a value that `read` has given is gone. */
    isGone: (key: string, value: SQL): SQL | null => (choices.has(key) ? dialect.isSame(value, GONE) : null),
  }
}

function renamedTitle(value: SQL, titles: FormerChoices['titles']): SQL {
  const cases = Array.from(titles, ([title, now]) => sql`when ${title} then ${now ?? GONE}`)
  return sql`case ${value} ${sql.join(cases, sql` `)} else ${value} end`
}

/** Titles of lists have no commas. They are replaced by marks first: a former title may be the present one of another option. */
function renamedList(value: SQL, titles: FormerChoices['titles']): SQL {
  const list = sql`(',' || ${value} || ',')`
  const replaced = (text: SQL, from: string, to: string) =>
    sql`replace(${text}, ${`,${from},`}, ${`,${to},`})`
  const renamed = [...titles].flatMap(([title, now], at) =>
    now === null ? [] : [{ title, now, mark: `\u0001${at}` }],
  )
  const marked = renamed.reduce((text, { title, mark }) => replaced(text, title, mark), list)
  const present = renamed.reduce((text, { now, mark }) => replaced(text, mark, now), marked)
  const gone = [...titles].flatMap(([title, now]) => (now === null ? [title] : []))
  const trimmed = sql`trim(${present}, ',')`
  if (gone.length === 0) return trimmed
  const left = gone.reduce((text, title) => sql`replace(${text}, ${`,${title},`}, ',')`, list)
  return sql`case when ${left} <> ${list} then ${GONE} else ${trimmed} end`
}
