import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isExclusiveLink, type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import {
  asKey,
  columnName,
  foreignKeysOf,
  keyFieldsOf,
  keyOf,
  keyValues,
  listOf,
  storedId,
  type WriteContext,
} from '../table/index.ts'

/** The parts of the schema reader that links need. */
export type LinkSchema = Pick<SchemaReader, 'load' | 'loadWithKeys' | 'allLinkFieldsOf' | 'tableInDatabase'>

/** Children that hold the key of their parent: one-to-many, and one-to-one where `isOneToOne`. */
export interface KeyRelation {
  kind: 'key'
  /** False if a part is in the trash: hidden, but it may be restored. */
  isLive: boolean
  child: TableModel
  key: Field
  parent: TableModel
  /** The field that the key refers to: the parent’s primary key, or another column in connected databases. */
  parentField: Field
  isOneToOne: boolean
  /** The link field in either table; null if there is none. */
  childLink: Field | null
  parentLink: Field | null
}

/** One end of a many-to-many relation. */
export interface PairSide {
  model: TableModel
  /** The junction’s field with the key of this table’s record. */
  key: Field
  link: Field | null
}

/** A many-to-many relation, stored as rows of a junction table. */
export interface PairRelation {
  kind: 'pairs'
  isLive: boolean
  junction: TableModel
  sides: [PairSide, PairSide]
}

/** A relation of two tables, whichever shows it as a field. */
export type Relation = KeyRelation | PairRelation

/** A link field with the tables at both ends. */
export interface OpenLink {
  field: Field
  options: LinkOptions
  model: TableModel
  related: TableModel
  relation: Relation
}

/** True if a record of the link’s own table has one linked record at most. */
export const ownHoldsOne = ({ options }: OpenLink): boolean => options.kind === 'bt' || options.kind === 'oo'

/** True if a record of the related table is linked to one record at most. */
export const relatedHeldByOne = ({ options }: OpenLink): boolean => isExclusiveLink(options)

/**
 * Resolves a link field for reading or writing.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for a field that is no link, or whose other side is gone
 */
export async function openLink(schema: LinkSchema, model: TableModel, fieldId: string): Promise<OpenLink> {
  const field = model.field(fieldId)
  if (!field) throw notFound('Field', fieldId.slice(0, 64))
  const options = linkOf(field)
  if (!options) {
    throw new AppError('BAD_REQUEST', m.records_error_not_a_link({ field: field.title }), { fieldId }, 'msg')
  }
  const relation = field.error === null ? await relationOf(schema, model, field, options) : null
  if (!relation?.isLive) {
    const reason = field.error ?? m.records_error_linked_deleted()
    throw new AppError('BAD_REQUEST', m.records_error_broken_link({ field: field.title, reason }), {
      fieldId,
    })
  }
  return { field, options, model, related: await schema.load(options.relatedTableId), relation }
}

/**
 * Every relation of a table: as parent, child, either end, or junction. Includes those in the trash, which must be
 * correct when restored.
 */
export async function relationsAround(schema: LinkSchema, table: TableModel['table']): Promise<Relation[]> {
  const found = new Map<string, Relation>()
  for (const { field, isLive } of await schema.allLinkFieldsOf(table.baseId)) {
    const options = linkOf(field)
    if (!options || !touches(field, options, table.id)) continue
    const key = options.junction?.tableId ?? options.keyFieldId ?? field.id
    const known = found.get(key)
    // One of the two sides may be in the trash.
    if (known && (known.isLive || !isLive)) continue
    const relation = await relationOf(schema, await schema.loadWithKeys(field.tableId), field, options)
    if (relation) found.set(key, { ...relation, isLive: isLive && relation.isLive })
  }
  return [...found.values()]
}

/** As `relationsAround`, only those whose keys the table itself holds. */
export async function relationsKeptIn(schema: LinkSchema, model: TableModel): Promise<Relation[]> {
  if (foreignKeysOf(model).length === 0) return []
  const all = await relationsAround(schema, model.table)
  return all.filter((relation) => keeperOf(relation).table.id === model.table.id)
}

/** The table that holds the keys of a relation. */
const keeperOf = (relation: Relation): TableModel =>
  relation.kind === 'key' ? relation.child : relation.junction

const touches = (field: Field, options: LinkOptions, tableId: string): boolean =>
  field.tableId === tableId || options.relatedTableId === tableId || options.junction?.tableId === tableId

/** Null if a part was never created or is deleted forever. */
async function relationOf(
  schema: LinkSchema,
  model: TableModel,
  field: Field,
  options: LinkOptions,
): Promise<Relation | null> {
  const related = await find(schema, options.relatedTableId)
  if (!related) return null
  const inverse = (options.inverseFieldId && related.field(options.inverseFieldId)) || null
  const isLive = field.error === null && related.table.deletedAt === null
  if (options.junction) {
    const junction = await find(schema, options.junction.tableId)
    const ownKey = junction?.field(options.junction.ownFieldId)
    const relatedKey = junction?.field(options.junction.relatedFieldId)
    if (!junction || !ownKey || !relatedKey) return null
    const sides: PairRelation['sides'] = [
      { model, key: ownKey, link: field },
      { model: related, key: relatedKey, link: inverse },
    ]
    return { kind: 'pairs', junction, sides, isLive: isLive && junction.table.deletedAt === null }
  }
  const [child, parent] = options.holdsKey ? [model, related] : [related, model]
  const [childLink, parentLink] = options.holdsKey ? [field, inverse] : [inverse, field]
  const key = child.field(options.keyFieldId ?? '')
  const parentField = options.parentFieldId ? parent.field(options.parentFieldId) : parent.primaryKey
  if (!key || !parentField) return null
  return {
    kind: 'key',
    child,
    key,
    parent,
    parentField,
    childLink,
    parentLink,
    isOneToOne: options.kind === 'oo',
    isLive: isLive && (await isLiveKey(schema, child, key)),
  }
}

/** False for a key in the trash, or in a table in the trash. */
async function isLiveKey(schema: LinkSchema, { table }: TableModel, key: Field): Promise<boolean> {
  return table.deletedAt === null && (await schema.load(table.id)).field(key.id) !== undefined
}

async function find(schema: LinkSchema, tableId: string): Promise<TableModel | null> {
  try {
    return await schema.loadWithKeys(tableId)
  } catch (error) {
    if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
    throw error
  }
}

/** A field’s column under a table alias. */
export const columnIn = (alias: string, field: Field): SQL =>
  sql`${sql.identifier(alias)}.${sql.identifier(columnName(field))}`

/** A table under an alias. */
export const tableAs = (model: TableModel, alias: string): SQL =>
  sql`${sql.identifier(model.table.tableName)} as ${sql.identifier(alias)}`

/** True if the field alone is the id of the table’s records. */
export const isWholeId = (model: TableModel, field: Field): boolean =>
  keyFieldsOf(model).length === 1 && field.id === model.primaryKey.id

/** Selects and reads the id of a table’s records, which may have several key columns. */
export function idPart(model: TableModel, alias: string, name: string) {
  const columns = keyFieldsOf(model).map((field) => columnIn(alias, field))
  return {
    select: sql`${keyOf(model, alias)} as ${sql.identifier(name)}`,
    read: (row: Record<string, unknown>): RecordId => storedId(model, row[name] as RecordId),
    /** Matches the ids, of which there is at least one. */
    isIn(ids: RecordId[]): SQL {
      const [only] = columns
      if (only && columns.length === 1) return sql`${only} in (${listOf(ids)})`
      const each = ids.map((id) => {
        const values = keyValues(model, id)
        const parts = columns.map((column, index) => sql`${column} = ${values[index] ?? null}`)
        return sql`(${sql.join(parts, sql` and `)})`
      })
      return sql`(${sql.join(each, sql` or `)})`
    },
  }
}

/** As `idPart`, for an id in one column of a junction. */
export function keyPart(
  model: TableModel,
  alias: string,
  key: Field,
  name: string,
): ReturnType<typeof idPart> {
  const column = columnIn(alias, key)
  return {
    select: sql`${asKey(column, key)} as ${sql.identifier(name)}`,
    read: (row) => storedId(model, row[name] as RecordId),
    isIn: (ids) => sql`${column} in (${listOf(ids)})`,
  }
}

/** One transaction of the write door, over all tables that a change touches. */
export interface WriteScope {
  tx: Transaction
  dialect: Dialect
  schema: LinkSchema
  actorId: string | null
  /** UTC, in the stored form. */
  now: CellValue
  /** As `WriteContext.renumbered`. */
  renumbered: Set<string>
  /** Stored times and authors of records that the transaction has read, by table and id as text, see `readStamped`. */
  stamps?: Map<TableModel, Map<string, Values>>
  /** Remaining number of linked records that deletions may touch, see `LargeCascade`; absent: unlimited. */
  cascade?: { left: number }
}

/** Thrown by deletions that touch too many linked records to write one by one on the main thread. */
export class LargeCascade extends Error {
  override readonly name = 'LargeCascade'
}

/** The write context of one table in the transaction. */
export const contextFor = (
  { tx, dialect, actorId, now, renumbered }: WriteScope,
  model: TableModel,
): WriteContext => ({
  tx,
  dialect,
  model,
  actorId,
  now,
  renumbered,
})
