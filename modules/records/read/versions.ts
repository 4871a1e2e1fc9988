import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { isComputed, storageOf } from '../../../src/core/fields/field.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { loggedSet } from '../../../src/db/change-log/sets.ts'
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
/** The table with the removed links of a field is this, followed by the field's id. */
const REMOVED_LINKS = '~removed '
/** Columns of linked tables in one statement, which binds a value for most of them; further links are those of now. */
const MAX_LINKED_COLUMNS = 8_000
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

/** Records as they were, to be read in place of those in their table. */
export interface VersionsRequest {
  /** The stored values by field id, complete. */
  given: readonly Values[]
  fields: Field[]
  filters: readonly Filter[]
  /**
   * The entry of the log that deleted the records. Their links are then those that it has removed with them. Only in a
   * base's own database, which has the log.
   */
  deletedBy?: number | undefined
}

/**
 * Selects records as they were: with the given stored values in place of those in the table. Formulas are computed
 * over them. Links are those of now, or those of the deletion; what is read through them is that of now.
 */
export function versionsQuery(
  dialect: Dialect,
  context: PlanContext,
  { given, fields, filters, deletedBy }: VersionsRequest,
): SQL {
  const { model } = context
  const { versions, removed } =
    deletedBy === undefined
      ? { versions: asVersions(context), removed: [] }
      : withRemovedLinks(dialect, asVersions(context), deletedBy)
  const values = storedFields(model).map(
    (field) => sql`${loggedValue(dialect, sql`j`, field)} as ${sql.identifier(columnName(field))}`,
  )
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
  const versionsTable = sql`${sql.identifier(VERSIONS_TABLE)} as (
      select ${sql.join(values, sql`, `)}, n as ${sql.identifier(AT)}
      from (${sql.join(rows, sql` union all `)}) as given)`
  return sql`with ${sql.join([versionsTable, ...removed], sql`, `)}
    select ${sql.join(columns, sql`, `)} from ${sql.identifier(VERSIONS_TABLE)}`
}

/** The stored value of a field in a JSON object of the log, with the type of its column. */
function loggedValue(dialect: Dialect, json: SQL, field: Field): SQL {
  const storage = storageOf(field)
  const type = field.databaseType === null ? storage : { databaseType: field.databaseType }
  const value = dialect.jsonValue(json, field.id, type)
  return (field.databaseType === null && dialect.asColumn?.(value, storage)) || value
}

/** A table of the statement, and the table that it stands for. */
interface Stand {
  name: string
  holder: TableModel
  rows: SQL
}

/**
 * The context in which the links of deleted records lead to those that the deletion has removed. Their rows are
 * tables of the statement (`removed`), which the link fields of the records name in place of the junction, the linked
 * records or the children; other link fields still read the current links.
 */
function withRemovedLinks(
  dialect: Dialect,
  context: PlanContext,
  deletedBy: number,
): { versions: PlanContext; removed: SQL[] } {
  const { model } = context
  const models = new Map(context.models)
  const redirected = new Map<string, Field>()
  const removed: SQL[] = []
  let columns = 0
  const stand = ({ name, holder, rows }: Stand): string => {
    removed.push(sql`${sql.identifier(name)} as materialized (${rows})`)
    models.set(name, { ...holder, table: { ...holder.table, tableName: name } })
    return name
  }
  for (const field of model.fields) {
    const link = linkOf(field)
    const related = link && models.get(link.relatedTableId)
    if (!link || !related || link.holdsKey || field.error !== null) continue
    columns += storedFields(related).length
    if (columns > MAX_LINKED_COLUMNS) break
    const log = { dialect, deletedBy, owner: model }
    const { junction } = link
    if (junction) {
      const pairs = models.get(junction.tableId)
      const [own, other] = [junction.ownFieldId, junction.relatedFieldId].map((id) => pairs?.field(id))
      if (!pairs || !own || !other) continue
      const name = `${REMOVED_LINKS}${field.id}`
      const tableId = stand({ name, holder: pairs, rows: removedPairs(log, pairs, own, other) })
      const linked = { name: `${name} linked`, holder: related, rows: linkedRows(log, related, name, other) }
      const options = { ...link, junction: { ...junction, tableId }, relatedTableId: stand(linked) }
      redirected.set(field.id, { ...field, options })
    } else {
      const key = related.field(link.keyFieldId ?? '')
      if (!key) continue
      const name = `${REMOVED_LINKS}${field.id}`
      const relatedTableId = stand({ name, holder: related, rows: formerChildren(log, related, key) })
      redirected.set(field.id, { ...field, options: { ...link, relatedTableId } })
    }
  }
  const fields = model.fields.map((field) => redirected.get(field.id) ?? field)
  const field = (id: string) => redirected.get(id) ?? model.field(id)
  return { versions: { ...context, model: { ...model, fields, field }, models }, removed }
}

/** The entry that deleted the records, and their table. */
interface DeletionLog {
  dialect: Dialect
  deletedBy: number
  owner: TableModel
}

const column = (field: Field): SQL => sql`${sql.identifier(columnName(field))}`

/** All stored fields of a table as a select list. */
const selectList = (model: TableModel, sqlOf: (field: Field) => SQL): SQL =>
  sql.join(
    storedFields(model).map((field) => sql`${sqlOf(field)} as ${column(field)}`),
    sql`, `,
  )

/** `where …` for the lines of the log with the key of a deleted record. */
function ofOwners({ dialect, deletedBy, owner }: DeletionLog, holder: TableModel, key: Field) {
  const log = loggedSet(deletedBy, holder.table.id)
  const former = loggedValue(dialect, log.before, key)
  const owners = sql`select ${column(owner.primaryKey)} from ${sql.identifier(VERSIONS_TABLE)}`
  return { log, former, where: sql`where ${log.where} and ${former} in (${owners})` }
}

/** The junction rows that the deletion removed. */
function removedPairs(deletion: DeletionLog, pairs: TableModel, own: Field, other: Field): SQL {
  const { log, former, where } = ofOwners(deletion, pairs, own)
  return sql`select ${former} as ${column(own)},
      ${loggedValue(deletion.dialect, log.before, other)} as ${column(other)}
    from ${log.table} ${where} and ${log.after} is null`
}

/** The records at the other end of removed pairs, also those that were deleted with them. */
function linkedRows(
  { dialect, deletedBy }: DeletionLog,
  related: TableModel,
  pairsName: string,
  other: Field,
): SQL {
  const table = sql.identifier(related.table.tableName)
  const log = loggedSet(deletedBy, related.table.id)
  const linked = sql`select ${column(other)} from ${sql.identifier(pairsName)}`
  const deletedKey = loggedValue(dialect, log.before, related.primaryKey)
  return sql`select ${selectList(related, (field) => sql`${table}.${column(field)}`)} from ${table}
      where ${table}.${column(related.primaryKey)} in (${linked})
    union all
    select ${selectList(related, (field) => loggedValue(dialect, log.before, field))} from ${log.table}
      where ${log.where} and ${log.after} is null and ${deletedKey} in (${linked})
        and ${deletedKey} not in (select ${column(related.primaryKey)} from ${table})`
}

/** The children with the keys that the deletion cleared, also those that were deleted with their parent. */
function formerChildren(deletion: DeletionLog, children: TableModel, key: Field): SQL {
  const { log, former, where } = ofOwners(deletion, children, key)
  const table = sql.identifier(children.table.tableName)
  const lines = sql`select cast(${log.recordId} as bigint) as id, ${former} as k
    from ${log.table} ${where} and ${log.after} is not null`
  const cleared = sql.identifier('~cleared')
  const sqlOf = (field: Field) => (field.id === key.id ? sql`${cleared}.k` : sql`${table}.${column(field)}`)
  return sql`select ${selectList(children, sqlOf)} from (${lines}) as ${cleared}
      join ${table} on ${table}.${column(children.primaryKey)} = ${cleared}.id
    union all
    select ${selectList(children, (field) => loggedValue(deletion.dialect, log.before, field))}
      from ${log.table} ${where} and ${log.after} is null`
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
