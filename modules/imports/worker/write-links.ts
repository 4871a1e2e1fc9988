import { type SQL, sql } from 'drizzle-orm'
import { toStored } from '../../../src/core/dates.ts'
import { logRows } from '../../../src/db/change-log.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import {
  type ImportPlan,
  isLinkColumn,
  type KeyStorage,
  type LinkColumn,
  linksTableOf,
  type PairStorage,
  ROW_COLUMN,
} from '../plan.ts'

/*
 * Writes the links of imported rows by set-based statements, whose number depends on the columns alone. Links
 * of a table to itself may be given from either end: the links table is first normalized so that `own` is the
 * child or the junction's first record, and `target` the parent or its second.
 */

/** Links in one key column or junction table. */
interface Group<Storage> {
  /** The file's column that identifies them in the links table. */
  link: number
  kind: LinkColumn['link']['kind']
  storedIn: Storage
  columns: { link: number; isSwapped: boolean }[]
}

interface LinkGroups {
  keys: Group<KeyStorage>[]
  pairs: Group<PairStorage>[]
}

interface Tools {
  tx: Transaction
  dialect: Dialect
}

interface NewRecords {
  firstId: number
}

export function groupLinks({ columns }: Pick<ImportPlan, 'columns'>): LinkGroups {
  const groups: LinkGroups = { keys: [], pairs: [] }
  for (const { index: link, link: how } of columns.filter(isLinkColumn)) {
    const { kind, storedIn } = how
    if (storedIn.at === 'pairs') {
      const [first, second] = [storedIn.ownColumn, storedIn.relatedColumn].toSorted()
      const swapped = { ...storedIn, ownColumn: first ?? '', relatedColumn: second ?? '' }
      const known = groups.pairs.find((group) => group.storedIn.tableName === storedIn.tableName)
      const group = known ?? { link, kind, storedIn: swapped, columns: [] }
      group.columns.push({ link, isSwapped: storedIn.ownColumn !== first })
      if (!known) groups.pairs.push(group)
    } else {
      const known = groups.keys.find((group) => group.storedIn.keyFieldId === storedIn.keyFieldId)
      const group = known ?? { link, kind, storedIn, columns: [] }
      group.columns.push({ link, isSwapped: storedIn.at === 'related' })
      if (!known) groups.keys.push(group)
    }
  }
  return groups
}

/**
 * Replaces row numbers in the links table by record ids, and keeps the last of conflicting links: a child has
 * one parent, and in a one-to-one link a parent has one child.
 */
export async function resolveLinkIds(
  { staging }: Pick<ImportPlan, 'staging'>,
  { keys, pairs }: LinkGroups,
  { tx, dialect }: Tools,
  { firstId }: NewRecords,
): Promise<void> {
  const name = linksTableOf(staging)
  const links = sql.identifier(name)
  const run = (query: SQL) => tx.run(dialect.render(query))
  const row = sql.identifier(ROW_COLUMN)
  const numbered = sql`(select ${row} as at, ${firstId - 1} + row_number() over (order by ${row}) as id
    from ${sql.identifier(staging)}) as numbered`
  await run(sql`update ${links} set own = numbered.id from ${numbered} where numbered.at = ${links}.row`)
  await run(
    sql`update ${links} set target = numbered.id from ${numbered} where numbered.at = -${links}.target`,
  )
  // Links of rows that were removed in the meantime.
  await run(sql`delete from ${links} where own is null or target < 0`)
  for (const { link, columns } of [...keys, ...pairs]) {
    for (const column of columns) {
      const swapped = column.isSwapped ? sql`own = target, target = own, ` : sql``
      if (column.isSwapped || column.link !== link)
        await run(sql`update ${links} set ${swapped} link = ${link} where link = ${column.link}`)
    }
  }
  for (const statement of dialect.createIndex(name, ['link', 'own'])) await tx.run(statement)
  for (const statement of dialect.createIndex(name, ['link', 'target'])) await tx.run(statement)
  const keepLast = (link: number, side: SQL) =>
    run(sql`delete from ${links} where link = ${link} and exists (select 1 from ${links} as later
      where later.link = ${link} and later.${side} = ${links}.${side} and later.seq > ${links}.seq)`)
  for (const { link, kind } of keys) {
    await keepLast(link, sql`own`)
    if (kind === 'oo') await keepLast(link, sql`target`)
  }
}

/** Key columns of new records: an expression over the record's id. */
export function newKeys(
  { staging, tableName }: { staging: string; tableName: string },
  { keys }: LinkGroups,
  id: SQL,
): { column: string; value: SQL }[] {
  const links = sql.identifier(linksTableOf(staging))
  return keys
    .filter(({ storedIn }) => storedIn.tableName === tableName)
    .map(({ link, storedIn }) => ({
      column: storedIn.keyColumn,
      value: sql`(select l.target from ${links} as l where l.link = ${link} and l.own = ${id})`,
    }))
}

/**
 * Writes the keys of existing records: children that the file names, and records whose only partner it gives to
 * another. Logs the previous keys for undo.
 */
export async function writeKeys(
  { staging, actorId }: Pick<ImportPlan, 'staging' | 'actorId'>,
  groups: LinkGroups,
  { tx, dialect }: Tools,
  changeId: number,
): Promise<void> {
  const links = sql.identifier(linksTableOf(staging))
  const now = toStored(Date.now())
  for (const ofTable of Map.groupBy(groups.keys, ({ storedIn }) => storedIn.tableName).values()) {
    const [{ storedIn: child }] = ofTable as [Group<KeyStorage>]
    const table = sql.identifier(child.tableName)
    const id = sql`${table}.${sql.identifier(child.idColumn)}`
    const keys = ofTable.map(({ link, kind, storedIn }) => {
      const column = sql`${table}.${sql.identifier(storedIn.keyColumn)}`
      const given = sql`select l.target from ${links} as l where l.link = ${link} and l.own = ${id}`
      const taken = sql`exists (select 1 from ${links} as l where l.link = ${link} and l.target = ${column})`
      const isTaken = kind === 'oo' ? sql`when ${taken} then null` : sql``
      return {
        name: storedIn.keyColumn,
        fieldId: storedIn.keyFieldId,
        column,
        isHit: kind === 'oo' ? sql`exists (${given}) or ${taken}` : sql`exists (${given})`,
        next: sql`case when exists (${given}) then (${given}) ${isTaken} else ${column} end`,
      }
    })
    const where = sql.join(
      keys.map(({ isHit }) => isHit),
      sql` or `,
    )
    const { stamps } = child
    const stampOf = (column: string) => (column === 'updated_at' ? now : actorId)
    const before = [
      ...keys.map(({ fieldId, column }) => ({ key: fieldId, column, storage: 'integer' as const })),
      ...stamps.map(({ fieldId, column, storage }) => ({
        key: fieldId,
        storage,
        column: sql`${table}.${sql.identifier(column)}`,
      })),
    ]
    const after = [
      ...keys.map(({ fieldId, next }) => ({ key: fieldId, column: next, storage: 'integer' as const })),
      ...stamps.map(({ fieldId, column }) => ({
        key: fieldId,
        storage: null,
        column: sql`${stampOf(column)}`,
      })),
    ]
    const assignments = [
      ...keys.map(({ name, next }) => sql`${sql.identifier(name)} = ${next}`),
      ...stamps.map(({ column }) => sql`${sql.identifier(column)} = ${stampOf(column)}`),
    ]
    await tx.run(
      dialect.render(
        logRows(dialect, {
          changeId: sql`${changeId}`,
          tableId: sql`${child.tableId}`,
          recordId: dialect.logId(id),
          before: dialect.jsonObject(before),
          after: dialect.jsonObject(after),
          source: sql`from ${table} where ${where}`,
        }),
      ),
    )
    await tx.run(dialect.render(sql`update ${table} set ${sql.join(assignments, sql`, `)} where ${where}`))
  }
}

/** Inserts junction records, each pair once. Every pair has a new record, so none exists yet. */
export async function writePairs(
  { staging, actorId }: Pick<ImportPlan, 'staging' | 'actorId'>,
  { pairs }: LinkGroups,
  { tx, dialect }: Tools,
): Promise<void> {
  const links = sql.identifier(linksTableOf(staging))
  const now = toStored(Date.now())
  for (const { link, storedIn } of pairs) {
    const once = sql`from (select own, target, min(seq) as seq from ${links} where link = ${link}
      group by own, target) as once`
    const one = async (query: SQL) => (await tx.all<{ n: number | null }>(dialect.render(query)))[0]?.n ?? 0
    const count = await one(sql`select count(*) as n ${once}`)
    const order = await one(sql`select max(nc_order) as n from ${sql.identifier(storedIn.tableName)}`)
    const [firstId = 1] = await dialect.allocateIds(tx, storedIn.tableName, count)
    const names = [
      'created_at',
      'created_by',
      storedIn.idColumn,
      storedIn.ownColumn,
      storedIn.relatedColumn,
      'nc_order',
    ]
    const at = sql`row_number() over (order by seq)`
    await tx.run(
      dialect.render(
        dialect.insertSelected({
          into: sql`${sql.identifier(storedIn.tableName)}`,
          columns: names.map((name) => sql`${sql.identifier(name)}`),
          constants: [sql`${now}`, sql`${actorId}`],
          values: [
            sql`${firstId - 1} + ${at}`,
            sql`own`,
            sql`target`,
            sql`cast(${order} as double precision) + ${at}`,
          ],
          source: once,
        }),
      ),
    )
  }
}
