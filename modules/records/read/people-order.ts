import { type SQL, sql } from 'drizzle-orm'
import { shownType } from '../../../src/core/fields/field.ts'
import { holdsPeople, showsPeople } from '../../../src/core/fields/traits.ts'
import type { FilterMoment } from '../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import type { QueryDialect } from '../../../src/dialects/dialect.ts'

/** Most people that a sort tells apart by name; each is a comparison per record. */
const MAX_NAMED = 200

/**
 * What a field of people, or a lookup of one, is sorted by: the name of the person, of several that of the
 * first; who is no member any more comes last. Null for other fields, and where there are too many people: the
 * same ones then stand together, in the order of their ids.
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

/** The first of ids that are joined by commas. */
function firstId({ formula }: QueryDialect, value: SQL): SQL {
  const [comma, one] = [formula.text(','), formula.constant(1)]
  const end = formula.position(formula.concat([value, comma]), comma)
  return formula.part(value, one, formula.arithmetic('-', end, one))
}
