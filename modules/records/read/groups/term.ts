import { type SQL, sql } from 'drizzle-orm'
import { isDay, resolveZone } from '../../../../src/core/dates.ts'
import { badRequest } from '../../../../src/core/errors.ts'
import { filterSetOf, shownType } from '../../../../src/core/fields/field.ts'
import type {
  AnyFieldType,
  CellValue,
  FieldOptions,
  FilterSet,
  StorageKind,
} from '../../../../src/core/fields/field-type.ts'
import { describeValue } from '../../../../src/core/fields/field-type.ts'
import { holdsPeople, showsPeople } from '../../../../src/core/fields/traits.ts'
import { createBuild } from '../../../../src/core/formula/build.ts'
import { compileToWall } from '../../../../src/core/formula/instants.ts'
import { inSetOrder } from '../../../../src/core/group-key.ts'
import type { Field, Sort } from '../../../../src/core/model.ts'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import { fragmentsOf } from '../expression/fragments.ts'
import type { ReadContext } from '../expression/scope.ts'
import { valueStorage } from '../expression/scope.ts'
import { peopleOrder } from '../people-order.ts'

/**
 * How the records of a table are told apart by one field, and in which order the groups stand. The list of
 * records and the list of groups are ordered by the same terms, so that they agree.
 */
export interface GroupTerm {
  /** What the records of a group share; NULL: no value. An empty text is none, a box that was never touched is off. */
  key: SQL
  /** How the key comes out of the database. */
  storage: StorageKind
  /** What groups stand by ahead of their key, where the key's own order is not what one sees. */
  rank: ((key: SQL) => SQL) | null
  /** The same for what is not seen from the key; records of one group have the same. */
  leading: SQL[]
}

/** Lists whose text is in another order than their values: the first value says where they stand. */
const ORDERED_BY_FIRST: ReadonlySet<FilterSet> = new Set(['number', 'select', 'user'])

/**
 * The term of a field. An instant groups by its day, several options by which ones they are (in whatever order
 * they were chosen), a link as it is compared: by its number, or the name of its one record.
 */
export function groupTerm(context: ReadContext, field: Field): GroupTerm {
  const { dialect } = context
  const { type, options, isList } = shownType(field)
  const fragments = fragmentsOf(context)
  if (isList) return listTerm(context, field)
  const value = fragments.of(field, 'value')
  const storage = valueStorage(field)
  if (storage === 'datetime') return plain(localDay(context, value, options), 'text')
  if (storage === 'boolean') {
    const { formula } = dialect
    return plain(
      formula.choose([[dialect.eq(value, true), formula.truth(true)]], formula.truth(false)),
      storage,
    )
  }
  if (!isTextStorage(storage)) return plain(value, storage)
  const filled = dialect.exactText(sql`nullif(${value}, '')`)
  const titles = titlesOf(type, options)
  if (type.choices === 'single' && titles.length > 0) {
    return { ...plain(filled, storage), rank: (key) => dialect.optionOrder(key, titles) }
  }
  if (type.choices === 'multiple') return setTerm(context, filled, titles, titles)
  if (holdsPeople({ type: type.name }) && options.multiple === true) return peopleSetTerm(context, filled)
  if (showsPeople({ type: type.name })) return { ...plain(filled, storage), rank: personRank(context, field) }
  return plain(filled, storage)
}

/** What a list or a page is ordered by so that groups stand together, in their order. */
export function groupOrder(context: ReadContext, field: Field, direction: Sort['direction']): SQL[] {
  const { key, rank, leading } = groupTerm(context, field)
  const terms = [...leading, ...(rank ? [rank(key)] : []), key]
  return terms.map((term) => context.dialect.orderBy(term, direction))
}

const plain = (key: SQL, storage: StorageKind): GroupTerm => ({ key, storage, rank: null, leading: [] })

/** A list is told apart by all of its values, and stands where it would in a sorted view. */
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
  return { ...plain(inOrder(dialect, cell, keyed), 'text'), rank: (key) => setRank(dialect, key, ranked) }
}

/** Several people: told apart by who they are, in the order of their names. */
function peopleSetTerm(context: ReadContext, cell: SQL): GroupTerm {
  const ids = (context.moment.people ?? [])
    .toSorted((a, b) => nameOf(a).localeCompare(nameOf(b), 'en') || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id)
  // The key's own order must not follow from names, which change while somebody looks at the groups.
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
 * The day, as text, on which clocks show an instant: those of the field's own zone, or where it has none those
 * of the person who asks. Offsets come from the table that formulas use, as not every engine knows zones.
 */
function localDay({ dialect, moment }: ReadContext, instant: SQL, { timeZone }: FieldOptions): SQL {
  const own = typeof timeZone === 'string' && timeZone !== 'local' ? timeZone : moment.timeZone
  const { formula } = dialect
  const build = createBuild(formula, {
    // Conversions to a zone do not read it, and plans that read the moment are not cached.
    now: 0,
    zone: resolveZone(own ?? 'UTC'),
    recordId: sql`''`,
    prefix: 'day_',
  })
  const ms = formula.cell(instant, 'datetime', build.freshName())
  return formula.dateText(compileToWall({ sql: ms, type: 'datetime', isSimple: false }, build), false)
}

/** Most options by which sets are told apart; each is a comparison per record. With more, cells group as they are. */
const MAX_SET_OPTIONS = 200

/** A comma list with its titles in the order given: those of `red,blue` and `blue,red` are one set. */
function inOrder({ formula, hasOption }: QueryDialect, cell: SQL, titles: readonly string[]): SQL {
  const set = (list: SQL): SQL => {
    const parts = titles.map((title) =>
      formula.choose([[hasOption(list, title), formula.text(`,${title}`)]], formula.text('')),
    )
    return formula.part(formula.concat(parts), formula.constant(2), formula.constant(MAX_LENGTH))
  }
  return formula.once([{ sql: cell, type: 'text' }], ['set_cell'], ([list = cell]) =>
    formula.once([{ sql: set(list), type: 'text' }], ['set_sorted'], ([sorted = list]) =>
      // One that holds more than these titles stays as it is, or it would look like another.
      formula.choose([[formula.compare('=', formula.length(sorted), formula.length(list)), sorted]], list),
    ),
  )
}

/** Text by which sets stand in the order of their options: `{a}`, `{a, b}`, `{b}`. NULL for none. */
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
  const { key, storage } = groupTerm(context, field)
  if (storage === 'boolean') return dialect.eq(key, isOn(field, value))
  if (value === null || value === '') return dialect.isNull(key)
  if (!isPossible(storage, value)) {
    throw badRequest(`Field "${field.title}" has no group ${describeValue(value)}`)
  }
  // Engines that tell types apart compare no text with a number.
  const wanted = isTextStorage(storage) ? String(value) : value
  // Somebody may have put the options into another order meanwhile.
  return dialect.eq(key, storage === 'text' ? inSetOrder(field, wanted) : wanted)
}

/** True for records of any of the groups. */
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
  throw badRequest(`Field "${field.title}" has no group ${describeValue(value)}`)
}

const NUMBER = /^-?\d{1,30}(\.\d{1,30})?$/
/** MySQL's times may be spans of up to 838 hours, and PostgreSQL's day ends at 24:00:00. */
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
