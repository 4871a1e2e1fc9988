import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { isComputed, storageOf } from '../../../src/core/fields/field.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Dialect } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, perModel } from '../table/index.ts'
import { filterCondition } from './expression/conditions.ts'
import { outputColumns, type TitledRow } from './plan.ts'
import type { PlanContext } from './plan-cache.ts'

/** A record with given stored values, as reads would show it. */
export interface RecordVersion {
  /** By field title. */
  row: TitledRow
  /** Whether it meets each filter. */
  meets: boolean[]
}

/** Versions per statement. */
export const VERSIONS = 100

/** In place of the table's name; no table begins with this character. */
export const VERSIONS_TABLE = '~versions'
/** Columns besides those of the fields; titles contain no control characters. */
const AT = '~\u0001at'
const MEETS = '~\u0001meets'

/** The table whose records are the given versions. */
const versioned = perModel(
  (model): TableModel => ({ ...model, table: { ...model.table, tableName: VERSIONS_TABLE } }),
)

/** A table's context whose expressions refer to `VERSIONS_TABLE`. Not planned through the cache, which knows tables by their ids. */
export const asVersions = (context: PlanContext): PlanContext => ({
  ...context,
  model: versioned(context.model),
  plans: undefined,
  searchIndex: undefined,
})

/** The fields with values of their own; of those that share a column, the system field. */
export const storedFields = perModel((model): Field[] => {
  const byColumn = new Map<string, Field>()
  for (const field of model.fields) {
    if (isComputed(field)) continue
    const known = byColumn.get(columnName(field))
    if (!known || field.isSystem) byColumn.set(columnName(field), field)
  }
  return [...byColumn.values()]
})

/**
 * Selects records as they were: with the given stored values in place of those in the table. Formulas are computed
 * over them; links, and what is read through them, are those of now.
 *
 * @param given the stored values by field id, complete
 */
export function versionsQuery(
  dialect: Dialect,
  context: PlanContext,
  given: readonly Values[],
  fields: Field[],
  filters: readonly Filter[],
): SQL {
  const { model } = context
  const versions = asVersions(context)
  const stored = storedFields(model)
  const values = stored.map((field) => {
    const storage = storageOf(field)
    const type = field.databaseType === null ? storage : { databaseType: field.databaseType }
    const value = dialect.jsonValue(sql`j`, field.id, type)
    const typed = (field.databaseType === null && dialect.asColumn?.(value, storage)) || value
    return sql`${typed} as ${sql.identifier(columnName(field))}`
  })
  const rows = given.map(
    (version, at) => sql`select ${JSON.stringify(version)} as j, ${sql.raw(String(at))} as n`,
  )
  const columns = [
    ...outputColumns(versions, fields, { kind: 'titled', withKey: false }),
    sql`${sql.identifier(VERSIONS_TABLE)}.${sql.identifier(AT)} as ${sql.identifier(AT)}`,
    ...filters.map((filter, at) => {
      const condition = filterCondition(versions, filter) ?? dialect.constant(true)
      return sql`case when ${condition} then 1 else 0 end as ${sql.identifier(MEETS + at)}`
    }),
  ]
  return sql`with ${sql.identifier(VERSIONS_TABLE)} as (
      select ${sql.join(values, sql`, `)}, n as ${sql.identifier(AT)}
      from (${sql.join(rows, sql` union all `)}) as given)
    select ${sql.join(columns, sql`, `)} from ${sql.identifier(VERSIONS_TABLE)}`
}

/** Reads the rows of `versionsQuery` in the order of the versions. */
export function takeVersions(rows: TitledRow[], count: number, filters: number): RecordVersion[] {
  const found: RecordVersion[] = Array.from({ length: count })
  for (const row of rows) {
    const at = Number(row[AT])
    delete row[AT]
    const meets = Array.from({ length: filters }, (_, index) => {
      const name = MEETS + index
      const isMet = Number(row[name]) === 1
      delete row[name]
      return isMet
    })
    found[at] = { row, meets }
  }
  return found
}
