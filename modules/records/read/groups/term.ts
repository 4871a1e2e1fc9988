import { type SQL, sql } from 'drizzle-orm'
import { resolveZone } from '../../../../src/core/dates.ts'
import { filterSetOf, shownType } from '../../../../src/core/fields/field.ts'
import type {
  AnyFieldType,
  CellValue,
  FieldOptions,
  FilterSet,
  StorageKind,
} from '../../../../src/core/fields/field-type.ts'
import { holdsPeople, showsPeople } from '../../../../src/core/fields/traits.ts'
import { createBuild } from '../../../../src/core/formula/build.ts'
import { compileToWall } from '../../../../src/core/formula/instants.ts'
import type { Field, Sort } from '../../../../src/core/model.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import { fragmentsOf } from '../expression/fragments.ts'
import { valueStorage } from '../expression/related-value.ts'
import type { ReadContext } from '../expression/scope.ts'
import { peopleOrder } from '../people-order.ts'
import { inOrder, MAX_SET_OPTIONS, setRank } from './option-set.ts'

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

/** A key as the engine's driver gave it. */
export const decodeKey = ({ dialect }: ReadContext, { storage }: GroupTerm, value: unknown): CellValue =>
  dialect.decode(storage)?.(value) ?? ((value ?? null) as CellValue)

/**
 * The day, as text, on which clocks show an instant: those of the field's own zone, or where it has none those
 * of the person who asks. Offsets come from the table that formulas use, as not every engine knows zones.
 */
function localDay({ dialect, moment }: ReadContext, instant: SQL, { timeZone }: FieldOptions): SQL {
  const own = typeof timeZone === 'string' && timeZone !== 'local' ? timeZone : moment.timeZone
  const { formula } = dialect
  const build = createBuild(formula, {
    now: moment.now.getTime(),
    zone: resolveZone(own ?? 'UTC'),
    recordId: sql`''`,
    prefix: 'day_',
  })
  const ms = formula.cell(instant, 'datetime', build.freshName())
  return formula.dateText(compileToWall({ sql: ms, type: 'datetime', isSimple: false }, build), false)
}
