import { sql } from 'drizzle-orm'
import { toStored } from '../../../src/core/dates.ts'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { type ColumnValue, columnNameOf, pagesOf } from '../../../src/db/column-values.ts'
import { readNames, recordsByName } from '../../../src/db/names-of-records.ts'
import { type ChangeContext, expectRecords, type SchemaContext } from '../change/index.ts'
import type { TableModel } from '../model/index.ts'

/** The columns in which a link is kept: a key in the record itself, or pairs in a table of their own. */
export interface LinkTarget {
  tableName: string
  /** The column with the key of the link's own record; null where the link is a column of that record. */
  ownColumn: string | null
  column: string
}

/** A link that values of a field are read for. */
interface Wanted {
  own: TableModel
  related: TableModel
  /** The field as it was before, with its column. */
  before: Pick<Field, 'type' | 'options' | 'columnName'>
  kind: LinkOptions['kind']
}

/** The records that each record's value names, page by page. */
async function* linksOf({ tx, engine }: ChangeContext, { own, related, before, kind }: Wanted) {
  const read = (statement: Parameters<typeof tx.all>[0]) => tx.all<ColumnValue>(statement)
  const names = await recordsByName(engine, related, read)
  for await (const page of pagesOf(engine, own, before, read)) {
    yield page.map(({ id, value }) => ({
      id,
      ids: readNames(formatValue(before, value), { kind }, names).ids,
    }))
  }
}

/** Writes the links that the values of a field name. Gives how many records had a value. */
export async function writeLinks(
  change: ChangeContext,
  wanted: Wanted,
  { tableName, ownColumn, column }: LinkTarget,
  actorId: string | null,
): Promise<number> {
  const { tx, engine, now } = change
  const { quote, placeholder, encode } = engine.dialect
  const names = (columns: string[]) => columns.map(quote).join(', ')
  const stored = toStored(Date.parse(now))
  const at = encode('datetime')?.(stored) ?? stored
  let [count, order] = [0, 0]
  await expectRecords(tx, engine.dialect, wanted.own)
  for await (const page of linksOf(change, wanted)) {
    count += page.length
    if (ownColumn === null) {
      const key = quote(columnNameOf(wanted.own.primaryKey))
      await tx.runMany(
        `update ${quote(tableName)} set ${quote(column)} = ${placeholder(0)} where ${key} = ${placeholder(1)}`,
        page.flatMap(({ id, ids }) => (ids.length > 0 ? [[ids[0], id]] : [])),
      )
    } else {
      const columns = [ownColumn, column, 'created_at', 'created_by', 'nc_order']
      const marks = columns.map((_, index) => placeholder(index)).join(', ')
      await tx.runMany(
        `insert into ${quote(tableName)} (${names(columns)}) values (${marks})`,
        page.flatMap(({ id, ids }) => ids.map((other) => [id, other, at, actorId, ++order])),
      )
    }
  }
  return count
}

/** True where the link still leads where the values of the old column say: nobody has written either since. */
export async function isAsNamed(
  change: ChangeContext,
  wanted: Wanted,
  { tableName, ownColumn, column }: LinkTarget,
): Promise<boolean> {
  const { tx, engine } = change
  const [table, own, other] = [tableName, ownColumn ?? columnNameOf(wanted.own.primaryKey), column].map(
    (name) => sql.identifier(name),
  )
  const rows = await tx.all<{ own: RecordId; other: RecordId }>(
    engine.dialect.render(
      sql`select ${own} as ${sql.identifier('own')}, ${other} as ${sql.identifier('other')} from ${table}
        where ${other} is not null`,
    ),
  )
  const left = new Set(rows.map((row) => `${row.own} ${row.other}`))
  for await (const page of linksOf(change, wanted)) {
    for (const { id, ids } of page) {
      for (const other of ids) if (!left.delete(`${id} ${other}`)) return false
    }
  }
  return left.size === 0
}

/** Where a link is kept that may be in the trash; null where a part of it is gone. */
export async function targetOf(
  { store }: Pick<SchemaContext, 'store'>,
  own: TableModel,
  field: Pick<Field, 'type' | 'options'>,
): Promise<LinkTarget | null> {
  const link = linkOf(field)
  if (!link?.junction) {
    const key = await store.findField(link?.keyFieldId ?? '')
    return key && { tableName: own.table.tableName, ownColumn: null, column: key.columnName }
  }
  const { tableId, ownFieldId, relatedFieldId } = link.junction
  const [table, ownKey, relatedKey] = [
    await store.findTable(tableId),
    await store.findField(ownFieldId),
    await store.findField(relatedFieldId),
  ]
  if (!table || !ownKey || !relatedKey) return null
  return { tableName: table.tableName, ownColumn: ownKey.columnName, column: relatedKey.columnName }
}
