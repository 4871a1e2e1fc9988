import { type SQL, sql } from 'drizzle-orm'
import { isDay, resolveZone } from '../../../../src/core/dates.ts'
import { badRequest } from '../../../../src/core/errors.ts'
import { filterSetOf, isComputed, shownType } from '../../../../src/core/fields/field.ts'
import type {
  AnyFieldType,
  CellValue,
  FieldOptions,
  FilterSet,
  StorageKind,
} from '../../../../src/core/fields/field-type.ts'
import { describeValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { holdsPeople, showsPeople } from '../../../../src/core/fields/traits.ts'
import type { FilterMoment } from '../../../../src/core/filters/index.ts'
import { createBuild } from '../../../../src/core/formula/build.ts'
import { compileToWall } from '../../../../src/core/formula/instants.ts'
import { MAX_SET_OPTIONS, sortSet } from '../../../../src/core/group-key.ts'
import type { Field, Person, Sort } from '../../../../src/core/model.ts'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import { m } from '../../../../src/messages.gen.ts'
import { columnName, isForeign } from '../../table/index.ts'
import { unindexedFormula } from '../expression/formula.ts'
import { fragmentsOf } from '../expression/fragments.ts'
import type { ReadContext } from '../expression/scope.ts'
import { valueStorage, wholeOf } from '../expression/scope.ts'

/**
 * How one field groups the records of a table, and how the groups are sorted. Lists of records and lists of groups
 * use the same terms, so that they agree.
 */
export interface GroupTerm {
  /** The value shared by a group; NULL for no value. An empty text counts as none, an untouched checkbox as false. */
  key: SQL
  /** The storage kind of the key. */
  storage: StorageKind
  /** Sorts groups before their key, where the key’s own order is not the visible one. */
  rank: ((key: SQL) => SQL) | null
  /** Sort terms that do not follow from the key, equal for all records of a group. */
  leading: SQL[]
  /** The present key of a group whose key was read before: the order of the options may have changed. Absent if keys do not change. */
  presentKey?(key: string): string
  /**
   * The stored value that the key is computed from, or that of a formula over stored values. Absent for other computed
   * fields, and for instants, of which a day has many.
   */
  stored?: StoredTerm
}

/** A stored value, of which records that share it are in one group. */
interface StoredTerm {
  value: SQL
  /** The key of a group, given its stored value. */
  keyOf(value: SQL): SQL
}

/** Lists sorted by their first value, as their text has another order. */
const ORDERED_BY_FIRST: ReadonlySet<FilterSet> = new Set(['number', 'select', 'user'])

/**
 * The group term of a field. Instants are grouped by day, multiple choices regardless of their order, links by their
 * value (number or name).
 */
export function groupTerm(context: ReadContext, field: Field): GroupTerm {
  const { options, isList } = shownType(field)
  const fragments = fragmentsOf(context)
  if (isList) return listTerm(context, field)
  const value = fragments.of(field, 'value')
  const storage = valueStorage(field)
  if (storage === 'datetime') return plain(localDay(context, value, options), 'text')
  const termOf = (own: SQL) => valueTerm(context, field, own)
  const isStored = isComputed(field) ? isIndexedFormula(context, field) : columnName(field) !== ''
  if (!isStored || isForeign(wholeOf(context))) return termOf(value)
  return { ...termOf(value), stored: { value, keyOf: (stored) => termOf(stored).key } }
}

/** True for a formula that is computed from values of the record alone, as a stored value is read. */
const isIndexedFormula = (context: ReadContext, field: Field): boolean =>
  fieldType(field.type).computed === 'formula' &&
  field.error === null &&
  unindexedFormula(wholeOf(context), context.dialect, field) === null

/** The group term of a single value. */
function valueTerm(context: ReadContext, field: Field, value: SQL): GroupTerm {
  const { dialect } = context
  const { type, options } = shownType(field)
  const storage = valueStorage(field)
  if (storage === 'boolean') {
    const { formula } = dialect
    return plain(
      formula.choose([[dialect.eq(value, true), formula.truth(true)]], formula.truth(false)),
      storage,
    )
  }
  if (!isTextStorage(storage)) return plain(value, storage)
  const filled = dialect.exactText(dialect.emptyAsNull(value))
  const titles = titlesOf(type, options)
  if (type.choices === 'single' && titles.length > 0) {
    return { ...plain(filled, storage), rank: (key) => dialect.optionOrder(key, titles) }
  }
  if (type.choices === 'multiple') return setTerm(context, filled, titles, titles)
  if (holdsPeople({ type: type.name }) && options.multiple === true) return peopleSetTerm(context, filled)
  if (showsPeople({ type: type.name })) return { ...plain(filled, storage), rank: personRank(context, field) }
  return plain(filled, storage)
}

/**
 * The sort terms that keep groups together and in order.
 *
 * @param isUnindexed true: no index supplies the order
 */
export function groupOrder(
  context: ReadContext,
  field: Field,
  direction: Sort['direction'],
  isUnindexed: boolean,
): SQL[] {
  const { dialect } = context
  const { key, rank, leading } = groupTerm(context, field)
  const [first = key, ...others] = [...leading, ...(rank ? [rank(key)] : []), key]
  const terms = [isUnindexed ? (dialect.unindexed?.(first) ?? first) : first, ...others]
  return terms.map((term) => dialect.orderBy(term, direction))
}

const plain = (key: SQL, storage: StorageKind): GroupTerm => ({ key, storage, rank: null, leading: [] })

/** A list is grouped by all of its values, and sorted as in a sorted view. */
function listTerm(context: ReadContext, field: Field): GroupTerm {
  const fragments = fragmentsOf(context)
  const whole = fragments.of(field, 'value')
  const leading = [whole]
  if (ORDERED_BY_FIRST.has(filterSetOf(field))) {
    const first = fragments.of(field, 'first')
    const { type, options } = shownType(field)
    const titles = titlesOf(type, options)
    const rank = personRank(context, field)
    if (rank) leading.unshift(rank(first))
    else leading.unshift(type.choices === 'single' ? context.dialect.optionOrder(first, titles) : first)
  }
  return { ...plain(fragments.of(field, 'cell'), 'longText'), leading }
}

function setTerm({ dialect }: ReadContext, cell: SQL, keyed: string[], ranked: string[]): GroupTerm {
  if (keyed.length === 0 || keyed.length > MAX_SET_OPTIONS) return plain(cell, 'text')
  return {
    ...plain(inOrder(dialect, cell, keyed), 'text'),
    rank: (key) => setRank(dialect, key, ranked),
    presentKey: (key) => sortSet(key, keyed),
  }
}

/** Several people: grouped by who they are, sorted by name. */
function peopleSetTerm(context: ReadContext, cell: SQL): GroupTerm {
  const ids = (context.moment.people ?? [])
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b), 'en') || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
  // The key must not depend on names, which may change between two reads.
  return setTerm(context, cell, ids.toSorted(), ids)
}

const nameOf = ({ displayName, email }: { displayName: string | null; email: string }): string =>
  (displayName || email).toLocaleLowerCase('en')

function personRank({ dialect, moment }: ReadContext, field: Field): ((value: SQL) => SQL) | null {
  const rank = (value: SQL) => peopleOrder(dialect, field, value, moment)
  return rank(sql`''`) === null ? null : (value) => rank(value) ?? value
}

const titlesOf = (type: AnyFieldType, { choices }: { choices?: unknown }): string[] =>
  type.choices !== undefined && Array.isArray(choices)
    ? choices.map((choice: { title?: unknown }) => String(choice.title))
    : []

/** A group key from the engine's driver value. */
export const decodeKey = ({ dialect }: ReadContext, storage: StorageKind, value: unknown): CellValue =>
  dialect.decode(storage)?.(value) ?? ((value ?? null) as CellValue)

/**
 * The day of an instant as text, in the field’s time zone or else the caller’s. Offsets come from the table that
 * formulas use, as not every engine knows time zones.
 */
function localDay({ dialect, moment }: ReadContext, instant: SQL, { timeZone }: FieldOptions): SQL {
  const own = typeof timeZone === 'string' && timeZone !== 'local' ? timeZone : moment.timeZone
  const { formula } = dialect
  const build = createBuild(formula, {
    // Conversions to a zone do not read it, and plans that read the moment are not cached.
    now: 0,
    zone: resolveZone(own ?? 'UTC'),
    recordId: sql`''`,
    createdTime: sql`null`,
    modifiedTime: sql`null`,
    prefix: 'day_',
  })
  const ms = formula.cell(instant, 'datetime', build.freshName())
  return formula.dateText(compileToWall({ sql: ms, type: 'datetime', isSimple: false }, build), false)
}

/** `sortSet` in SQL. */
function inOrder({ formula, hasOption }: QueryDialect, cell: SQL, titles: readonly string[]): SQL {
  const set = (list: SQL): SQL => {
    const parts = titles.map((title) =>
      formula.choose([[hasOption(list, title), formula.text(`,${title}`)]], formula.text('')),
    )
    return formula.part(formula.concat(parts), formula.constant(2), formula.constant(MAX_LENGTH))
  }
  return formula.once([{ sql: cell, type: 'text' }], ['set_cell'], ([list = cell]) =>
    formula.once([{ sql: set(list), type: 'text' }], ['set_sorted'], ([sorted = list]) =>
      formula.choose([[formula.compare('=', formula.length(sorted), formula.length(list)), sorted]], list),
    ),
  )
}

/** Sort text of sets in the order of their options: `{a}`, `{a, b}`, `{b}`. NULL for an empty set. */
function setRank({ formula, hasOption, isNull }: QueryDialect, cell: SQL, titles: readonly string[]): SQL {
  return formula.once([{ sql: cell, type: 'text' }], ['rank_cell'], ([list = cell]) => {
    const places = titles.map((title, index) =>
      formula.choose(
        [[hasOption(list, title), formula.text(String(index).padStart(3, '0'))]],
        formula.text(''),
      ),
    )
    return formula.choose([[isNull(list), formula.nothing('text')]], formula.concat(places))
  })
}

const MAX_LENGTH = 1_000_000

/**
 * True for the records of one group.
 *
 * @throws BAD_REQUEST for a value that no record of the field could have
 */
export function groupCondition(context: ReadContext, field: Field, value: CellValue): SQL {
  const { dialect } = context
  const { key, storage, presentKey } = groupTerm(context, field)
  if (storage === 'boolean') return dialect.eq(key, isOn(field, value))
  if (value === null || value === '') return dialect.isNull(key)
  if (!isPossible(storage, value)) {
    throw badRequest(m.records_error_no_group({ field: field.title, value: describeValue(value) }))
  }
  // Strictly typed engines do not compare text with numbers.
  const wanted = isTextStorage(storage) ? String(value) : value
  return dialect.eq(key, presentKey ? presentKey(String(wanted)) : wanted)
}

/** True for the records of any of the groups. */
export function groupsCondition(context: ReadContext, field: Field, values: CellValue[]): SQL {
  const { dialect } = context
  const { key } = groupTerm(context, field)
  const filled = values.filter((value) => value !== null)
  const conditions = [
    ...(filled.length > 0 ? [dialect.inList(key, filled)] : []),
    ...(filled.length < values.length ? [dialect.isNull(key)] : []),
  ]
  return conditions.length === 0 ? sql`1 = 0` : dialect.or(conditions)
}

function isOn(field: Field, value: CellValue): boolean {
  if (value === null || typeof value === 'boolean') return value ?? false
  throw badRequest(m.records_error_no_group({ field: field.title, value: describeValue(value) }))
}

const NUMBER = /^-?\d{1,30}(\.\d{1,30})?$/
/** MySQL’s times reach 838 hours, and PostgreSQL’s day ends at 24:00:00. */
const TIME = /^-?\d{2,3}:[0-5]\d:[0-5]\d(\.\d{3,9})?$/

function isPossible(storage: StorageKind, value: string | number | boolean): boolean {
  switch (storage) {
    case 'id':
    case 'integer':
      return Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,20}$/.test(value))
    case 'real':
      return typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value))
    case 'date':
      return typeof value === 'string' && isDay(value)
    case 'time':
      return typeof value === 'string' && TIME.test(value)
    default:
      return isTextStorage(storage) && typeof value !== 'boolean'
  }
}

/** People that a sort compares by name, each a comparison per record. */
export const MAX_NAMED = 200

/**
 * Sort key of a people field, or a lookup of one: the position of the (first) person by name, former members last.
 * Null for other fields, and for too many people: these are sorted by id.
 */
export function peopleOrder(
  dialect: QueryDialect,
  field: Field,
  value: SQL,
  moment: FilterMoment,
): SQL | null {
  const { type, options } = shownType(field)
  const shown = { type: type.name }
  if (!showsPeople(shown)) return null
  const { people = [] } = moment
  if (people.length === 0 || people.length > MAX_NAMED) return null
  const nameOf = ({ displayName, email }: Person) => (displayName || email).toLocaleLowerCase('en')
  const ids = people
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b), 'en') || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
  const isAlone = !holdsPeople(shown) || options.multiple !== true
  const place = dialect.optionOrder(isAlone ? value : firstId(dialect, value), ids)
  return sql`case when ${dialect.isNull(value)} then null else coalesce(${place}, ${sql.raw(String(ids.length))}) end`
}

/** The first id of a comma list. */
export function firstId({ formula }: QueryDialect, value: SQL): SQL {
  const [comma, one] = [formula.text(','), formula.constant(1)]
  const end = formula.position(formula.concat([value, comma]), comma)
  return formula.part(value, one, formula.arithmetic('-', end, one))
}
