import { type SQL, sql } from 'drizzle-orm'
import { nowMs } from '../../../src/clock.ts'
import { toStored } from '../../../src/core/dates.ts'
import type { StorageKind } from '../../../src/core/fields/field-type.ts'
import { logRows } from '../../../src/db/change-log/set-entries.ts'
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
export interface Group<Storage> {
  /** The file's column that identifies them in the links table. */
  link: number
  kind: LinkColumn['link']['kind']
  storedIn: Storage
  columns: { link: number; isSwapped: boolean; column: LinkColumn }[]
}

export interface LinkGroups {
  keys: Group<KeyStorage>[]
  pairs: Group<PairStorage>[]
}

interface Tools {
  tx: Transaction
  dialect: Dialect
}

export function groupLinks({ columns }: Pick<ImportPlan, 'columns'>): LinkGroups {
  const groups: LinkGroups = { keys: [], pairs: [] }
  for (const column of columns.filter(isLinkColumn)) {
    const { index: link, link: how } = column
    const { kind, storedIn } = how
    if (storedIn.at === 'pairs') {
      const [first, second] = [storedIn.ownColumn, storedIn.relatedColumn].toSorted()
      const swapped = { ...storedIn, ownColumn: first ?? '', relatedColumn: second ?? '' }
      const known = groups.pairs.find((group) => group.storedIn.tableName === storedIn.tableName)
      const group = known ?? { link, kind, storedIn: swapped, columns: [] }
      group.columns.push({ link, isSwapped: storedIn.ownColumn !== first, column })
      if (!known) groups.pairs.push(group)
    } else {
      const known = groups.keys.find((group) => group.storedIn.keyFieldId === storedIn.keyFieldId)
      const group = known ?? { link, kind, storedIn, columns: [] }
      group.columns.push({ link, isSwapped: storedIn.at === 'related', column })
      if (!known) groups.keys.push(group)
    }
  }
  return groups
}

/**
 * Replaces row numbers in the links table by record ids, and keeps the last of conflicting links: a child has
 * one parent, and in a one-to-one link a parent has one child.
 * @param records selects the record's `id` of each row (`at`); the negative row number for a record without an id yet
 */
export async function resolveLinkIds(
  { staging }: Pick<ImportPlan, 'staging'>,
  { keys, pairs }: LinkGroups,
  { tx, dialect }: Tools,
  records: SQL,
): Promise<void> {
  const name = linksTableOf(staging)
  const links = sql.identifier(name)
  const run = (query: SQL) => tx.run(dialect.render(query))
  const row = sql.identifier(ROW_COLUMN)
  const numbered = sql`(${records}) as numbered`
  await run(sql`update ${links} set own = numbered.id from ${numbered} where numbered.at = ${links}.row`)
  await run(
    sql`update ${links} set target = numbered.id from ${numbered} where numbered.at = -${links}.target`,
  )
  // Links of rows that were removed in the meantime.
  await run(sql`delete from ${links} where own is null or (target < 0 and not exists
    (select 1 from ${sql.identifier(staging)} as s where s.${row} = -${links}.target))`)
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

/** Fields for the time and author of the last change, and their new values. */
const stampedWith = (actorId: string) => {
  const now = toStored(nowMs())
  return (column: string) => (column === 'updated_at' ? now : actorId)
}

/** Values of existing records that an import changes beside keys, in one table. */
export interface OwnChanges {
  tableName: string
  tableId: string
  idColumn: string
  stamps: KeyStorage['stamps']
  /** Values of the record, and what becomes of them, for a row of the staging table named `s`. */
  cells: { key: string; name: string; storage: StorageKind; now: SQL; next: SQL }[]
  /** Condition: row `s` changes the record with this id. */
  isOf(id: SQL): SQL
  /** Adds the changes of links to the object of new values of row `s`. */
  withLinks(after: SQL): SQL
  /**
   * Condition: a row of the file lists all linked records of this child or, for the other end, of its parent, so that
   * it loses a link that is not listed.
   */
  isListed(column: LinkColumn, record: SQL): SQL
}

/** A key column of a table, with its next value. */
interface NextKey {
  name: string
  fieldId: string
  now: SQL
  next: SQL
}

/**
 * Writes the keys of existing records: children that the file names, and records whose only partner it gives to
 * another. With `own` also the other values of one table, and it clears the keys of links that a row does not list. Logs
 * the previous values for undo, each record once.
 */
export async function writeKeys(
  { staging, actorId }: Pick<ImportPlan, 'staging' | 'actorId'>,
  groups: LinkGroups,
  { tx, dialect }: Tools,
  changeId: number,
  own?: OwnChanges,
): Promise<void> {
  const stampOf = stampedWith(actorId)
  const tables = new Map<string, Omit<OwnChanges, 'isListed'> | KeyStorage>()
  // First: its log tells the links that change, before any of them does.
  if (own) tables.set(own.tableName, own)
  for (const { storedIn } of groups.keys)
    if (!tables.has(storedIn.tableName)) tables.set(storedIn.tableName, storedIn)
  for (const [tableName, { tableId, idColumn, stamps }] of tables) {
    const table = sql.identifier(tableName)
    const id = sql`${table}.${sql.identifier(idColumn)}`
    const keys = groups.keys
      .filter(({ storedIn }) => storedIn.tableName === tableName)
      .map((group) => nextKey(group, staging, own))
    const isHit = dialect.or([
      dialect.constant(false),
      ...keys.map(({ now, next }) => dialect.not(dialect.isSame(now, next))),
    ])
    const values = own?.tableName === tableName ? own : null
    const cells = values?.cells ?? []
    const isChanged = sql`s.${sql.identifier(ROW_COLUMN)} is not null`
    const changed = sql`${sql.identifier(staging)} as s`
    let rows = sql`from ${table} where ${isHit}`
    if (values) {
      // The staged rows are fewer than the records; only records whose key changes may lack one.
      rows =
        keys.length === 0
          ? sql`from ${changed} join ${table} on ${values.isOf(id)}`
          : sql`from ${table} left join ${changed} on ${values.isOf(id)} where ${isChanged} or ${isHit}`
    }
    const before = dialect.jsonObject([
      ...cells.map(({ key, now, storage }) => ({ key, column: now, storage })),
      ...keys.map(({ fieldId, now }) => ({ key: fieldId, column: now, storage: 'integer' as const })),
      ...stamps.map(({ fieldId, column, storage }) => ({
        key: fieldId,
        storage,
        column: sql`${table}.${sql.identifier(column)}`,
      })),
    ])
    const after = dialect.jsonObject([
      ...cells.map(({ key, now, next, storage }) => ({
        key,
        storage,
        column: sql`case when ${isChanged} then ${next} else ${now} end`,
      })),
      ...keys.map(({ fieldId, next }) => ({ key: fieldId, column: next, storage: 'integer' as const })),
      ...stamps.map(({ fieldId, column }) => ({
        key: fieldId,
        storage: null,
        column: sql`${stampOf(column)}`,
      })),
    ])
    await tx.run(
      dialect.render(
        logRows(dialect, {
          changeId: sql`${changeId}`,
          tableId: sql`${tableId}`,
          recordId: dialect.logId(id),
          before,
          after: values ? values.withLinks(after) : after,
          source: rows,
        }),
      ),
    )
    const stamped = stamps.map(({ column }) => sql`${sql.identifier(column)} = ${stampOf(column)}`)
    const assign = (assignments: SQL[]) => sql.join([...assignments, ...stamped], sql`, `)
    if (keys.length > 0) {
      const given = keys.map(({ name, next }) => sql`${sql.identifier(name)} = ${next}`)
      await tx.run(dialect.render(sql`update ${table} set ${assign(given)} where ${isHit}`))
    }
    if (values) {
      const given = cells.map(({ name, next }) => sql`${sql.identifier(name)} = ${next}`)
      await tx.run(
        dialect.render(sql`update ${table} set ${assign(given)} from ${changed} where ${values.isOf(id)}`),
      )
    }
  }
}

function nextKey(
  { link, kind, storedIn, columns }: Group<KeyStorage>,
  staging: string,
  own: OwnChanges | undefined,
): NextKey {
  const links = sql.identifier(linksTableOf(staging))
  const table = sql.identifier(storedIn.tableName)
  const now = sql`${table}.${sql.identifier(storedIn.keyColumn)}`
  const id = sql`${table}.${sql.identifier(storedIn.idColumn)}`
  const given = sql`select l.target from ${links} as l where l.link = ${link} and l.own = ${id}`
  const cases = [sql`when exists (${given}) then (${given})`]
  if (kind === 'oo')
    cases.push(
      sql`when exists (select 1 from ${links} as l where l.link = ${link} and l.target = ${now}) then null`,
    )
  if (own && !storedIn.isRequired) {
    for (const { column, isSwapped } of columns)
      cases.push(sql`when ${own.isListed(column, isSwapped ? now : id)} then null`)
  }
  return {
    name: storedIn.keyColumn,
    fieldId: storedIn.keyFieldId,
    now,
    next: sql`case ${sql.join(cases, sql` `)} else ${now} end`,
  }
}

/** How an update writes pairs of existing records. */
interface PairChanges extends Pick<OwnChanges, 'isListed'> {
  changeId: number
}

/**
 * Inserts junction records, each pair once. With `changes`, pairs that exist are left out, pairs that a row does not
 * list are removed, and both are logged; otherwise every pair has a new record, with which it comes and goes.
 */
export async function writePairs(
  { staging }: Pick<ImportPlan, 'staging'>,
  { pairs }: LinkGroups,
  { tx, dialect }: Tools,
  changes?: PairChanges,
): Promise<void> {
  const links = sql.identifier(linksTableOf(staging))
  for (const group of pairs) {
    const { link, storedIn } = group
    const junction = sql.identifier(storedIn.tableName)
    const [id, ownKey, relatedKey] = [storedIn.idColumn, storedIn.ownColumn, storedIn.relatedColumn].map(
      (name) => sql`${junction}.${sql.identifier(name)}`,
    ) as [SQL, SQL, SQL]
    const log = (side: 'before' | 'after', where: SQL) =>
      tx.run(
        dialect.render(
          logRows(dialect, {
            changeId: sql`${changes?.changeId ?? 0}`,
            tableId: sql`${storedIn.tableId}`,
            recordId: dialect.logId(id),
            before: side === 'before' ? pairObject(dialect, storedIn) : sql`null`,
            after: side === 'after' ? pairObject(dialect, storedIn) : sql`null`,
            source: sql`from ${junction} where ${where}`,
          }),
        ),
      )
    if (changes) {
      const isNamed = sql`exists (select 1 from ${links} as l
        where l.link = ${link} and l.own = ${ownKey} and l.target = ${relatedKey})`
      const isListed = dialect.or(
        group.columns.map(({ column, isSwapped }) =>
          changes.isListed(column, isSwapped ? relatedKey : ownKey),
        ),
      )
      const isGone = sql`not ${isNamed} and ${isListed}`
      await log('before', isGone)
      await tx.run(dialect.render(sql`delete from ${junction} where ${isGone}`))
    }
    const isMissing = changes
      ? sql`and not exists (select 1 from ${junction} where ${ownKey} = l.own and ${relatedKey} = l.target)`
      : sql``
    const once = sql`from (select own, target, min(seq) as seq from ${links} as l where link = ${link} ${isMissing}
      group by own, target) as once`
    const one = async (query: SQL) => (await tx.all<{ n: number | null }>(dialect.render(query)))[0]?.n ?? 0
    const count = Number(await one(sql`select count(*) as n ${once}`))
    if (count === 0) continue
    const [firstId = 1] = await dialect.allocateIds(tx, storedIn.tableName, count)
    const names = [storedIn.idColumn, storedIn.ownColumn, storedIn.relatedColumn]
    const at = sql`row_number() over (order by seq)`
    await tx.run(
      dialect.render(
        dialect.insertSelected({
          into: sql`${junction}`,
          columns: names.map((name) => sql`${sql.identifier(name)}`),
          constants: [],
          values: [sql`${firstId - 1} + ${at}`, sql`own`, sql`target`],
          source: once,
        }),
      ),
    )
    if (changes) await log('after', sql`${id} between ${firstId} and ${firstId + count - 1}`)
  }
}

/** All values of a junction's row, for the log. */
const pairObject = (dialect: Dialect, { tableName, columns }: PairStorage): SQL =>
  dialect.jsonObject(
    columns.map(({ fieldId, column, storage }) => ({
      key: fieldId,
      column: sql`${sql.identifier(tableName)}.${sql.identifier(column)}`,
      storage,
    })),
  )
