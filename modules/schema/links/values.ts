import { type SQL, sql } from 'drizzle-orm'
import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { fieldInZone } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { type ColumnValue, columnNameOf, pagesOf } from '../../../src/db/column-values.ts'
import {
  type FoundNames,
  namesInZone,
  type ReadValues,
  readNames,
  recordsByName,
} from '../../../src/db/names-of-records.ts'
import { type ChangeContext, expectRecords, type SchemaContext } from '../change/index.ts'
import type { TableModel } from '../model/index.ts'

/** The columns that hold a link: a foreign key in the record's own table, or two keys in a junction table. */
export interface LinkTarget {
  tableName: string
  /** The key of the link's own record in the junction table; null for a foreign key. */
  ownColumn: string | null
  column: string
}

/** A conversion of field values, which name records, to links. */
interface LinkConversion {
  own: TableModel
  related: TableModel
  /** The field before the conversion. */
  before: Pick<Field, 'type' | 'options' | 'columnName'>
  kind: LinkOptions['kind']
  /** Finds the records; default: by display value. */
  names?: LoadNames
  /** The zone in which the values, and the names of the records, are written; by default UTC. */
  timeZone?: string
}

/** Loads what finds the records that values name; closed after use. */
export type LoadNames = (read: ReadValues) => Promise<FoundNames>

/** The ids of the records that each value names, page by page. */
async function* linksOf(
  { tx, engine }: ChangeContext,
  { own, related, before, kind, names: loadNames, timeZone = 'UTC' }: LinkConversion,
) {
  const read = (statement: Parameters<typeof tx.all>[0]) => tx.all<ColumnValue>(statement)
  const names = await (loadNames
    ? loadNames(read)
    : recordsByName(engine, namesInZone(related, timeZone), read))
  const shown = fieldInZone(before, timeZone)
  try {
    for await (const page of pagesOf(engine, own, before, read)) {
      yield page.map(({ id, value }) => ({
        id,
        ids: readNames(formatValue(shown, value), { kind }, names).ids,
      }))
    }
  } finally {
    names.close()
  }
}

/** Writes the links that the values of a field name. Returns the number of records that had a value. */
export async function writeLinks(
  change: ChangeContext,
  conversion: LinkConversion,
  target: LinkTarget,
): Promise<number> {
  const { tx, engine } = change
  let count = 0
  await expectRecords(tx, engine.dialect, conversion.own)
  for await (const page of linksOf(change, conversion)) {
    count += page.length
    const linked =
      target.ownColumn === null
        ? page.flatMap(({ id, ids }) => ids.slice(0, 1).map((other): Link => [id, other]))
        : page.flatMap(({ id, ids }) => ids.map((other): Link => [id, other]))
    if (linked.length > 0) await writePage(change, conversion, target, linked)
  }
  return count
}

/** The ids of a record and of one that it links to. */
type Link = [own: RecordId, other: RecordId]

/** Writes links by one statement, or by one for each where that takes no longer. */
async function writePage(
  { tx, engine: { dialect } }: ChangeContext,
  { own }: LinkConversion,
  { tableName, ownColumn, column }: LinkTarget,
  links: readonly Link[],
): Promise<void> {
  const { quote, placeholder, keyList } = dialect
  const [table, key] = [tableName, columnNameOf(own.primaryKey)]
  if (!keyList) {
    const text =
      ownColumn === null
        ? `update ${quote(table)} set ${quote(column)} = ${placeholder(0)} where ${quote(key)} = ${placeholder(1)}`
        : `insert into ${quote(table)} (${quote(ownColumn)}, ${quote(column)}) values (${placeholder(0)}, ${placeholder(1)})`
    const values = ownColumn === null ? links.map(([id, other]) => [other, id]) : [...links]
    return tx.runMany(text, values)
  }
  const [owns, others] = [0, 1].map((at) => sql`${keyList.text(links.map((link) => link[at]!))}`)
  const named = sql`${keyList.pairs(owns!, others!)} as named (own, other)`
  const [of, to] = [table, column].map((name) => sql.identifier(name))
  const statement =
    ownColumn === null
      ? sql`update ${of} set ${to} = named.other from ${named} where ${of}.${sql.identifier(key)} = named.own`
      : dialect.insertSelected({
          into: sql`${of}`,
          columns: [ownColumn, column].map((name) => sql`${sql.identifier(name)}`),
          constants: [],
          values: [sql`own`, sql`other`],
          source: sql`from ${named}`,
        })
  await tx.run(dialect.render(statement))
}

/** True if the link still equals the values of the old column, so neither has been edited since the conversion. */
export async function hasConvertedLinks(
  change: ChangeContext,
  conversion: LinkConversion,
  { tableName, ownColumn, column }: LinkTarget,
): Promise<boolean> {
  const { tx, engine } = change
  const [table, own, other] = [tableName, ownColumn ?? columnNameOf(conversion.own.primaryKey), column].map(
    (name) => sql.identifier(name),
  )
  const storedWhere = async (where: SQL) => {
    const rows = await tx.all<{ own: RecordId; other: RecordId }>(
      engine.dialect.render(
        sql`select ${own} as ${sql.identifier('own')}, ${other} as ${sql.identifier('other')} from ${table}
          where ${other} is not null and ${where}`,
      ),
    )
    return new Set(rows.map((row) => `${row.own} ${row.other}`))
  }
  let isAfter = sql`1 = 1`
  // Page by page, in the order of the records, with those in between that have no value.
  for await (const page of linksOf(change, conversion)) {
    const last = page.at(-1)?.id ?? 0
    const stored = await storedWhere(sql`${isAfter} and ${own} <= ${last}`)
    for (const { id, ids } of page) {
      for (const linked of ids) if (!stored.delete(`${id} ${linked}`)) return false
    }
    if (stored.size > 0) return false
    isAfter = sql`${own} > ${last}`
  }
  return (await storedWhere(sql`${isAfter} limit 1`)).size === 0
}

/** The columns that hold a link, including the trash; null if a part of it no longer exists. */
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
