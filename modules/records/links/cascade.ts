import { sql } from 'drizzle-orm'
import { breathe } from '../../../src/breathe.ts'
import type { RecordChange } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { deleteRecords, updateRecords } from '../rows/index.ts'
import { chunks, columnName, isForeign } from '../table/index.ts'
import { keysOf } from './change-links.ts'
import { columnIn, idPart, listOf, tableAs } from './ids.ts'
import { columnKey, followRules } from './reference-rules.ts'
import { type KeyRelation, type PairRelation, relationsAround } from './relation.ts'
import { LargeCascade, type WriteScope, within } from './scope.ts'

/**
 * What has to go before records can be deleted: the pairs that name them, and the keys of children that
 * point at them. Written here, in a number of statements that grows with the table's links and not with
 * its records, so that the log has it in the same change and undo brings it back.
 *
 * @throws REQUIRED_FIELD_MISSING where a child that stays must have its parent (spec §5); DATABASE_ERROR where
 *   a foreign key of a connected database forbids the deletion; LargeCascade where it is more than `scope.cascade`
 */
export async function letGo(scope: WriteScope, model: TableModel, ids: RecordId[]): Promise<RecordChange[]> {
  if (ids.length === 0) return []
  // A connected database has rules of its own; links that none of its foreign keys stands for follow ours.
  const { changes, settled } = isForeign(model)
    ? await followRules(scope, model, ids)
    : { changes: [], settled: new Set<string>() }
  for (const relation of await relationsAround(scope.schema, model.table)) {
    if (settled.size > 0 && keysOfRelation(relation, model).some((key) => settled.has(key))) continue
    const left = scope.cascade?.left ?? Number.POSITIVE_INFINITY
    const part =
      relation.kind === 'pairs'
        ? await dropPairs(scope, relation, model, ids, left)
        : await clearKeys(scope, relation, model, ids, left)
    if (scope.cascade) scope.cascade.left -= part.length
    for (const change of part) changes.push(change)
  }
  return changes
}

/** The columns of a relation that refer to a table. */
const keysOfRelation = (relation: KeyRelation | PairRelation, { table }: TableModel): string[] =>
  relation.kind === 'key'
    ? [columnKey(relation.child.table.tableName, columnName(relation.key))]
    : relation.sides
        .filter((side) => side.model.table.id === table.id)
        .map((side) => columnKey(relation.junction.table.tableName, columnName(side.key)))

async function dropPairs(
  scope: WriteScope,
  { junction, sides }: PairRelation,
  model: TableModel,
  ids: RecordId[],
  limit: number,
): Promise<RecordChange[]> {
  const ends = sides.filter((side) => side.model.table.id === model.table.id)
  const found = new Set<RecordId>()
  for (const { key } of ends) {
    for (const id of await idsWhere(scope, junction, key, ids, limit)) found.add(id)
  }
  return deleteRecords(within(scope, junction), [...found])
}

async function clearKeys(
  scope: WriteScope,
  relation: KeyRelation,
  model: TableModel,
  ids: RecordId[],
  limit: number,
): Promise<RecordChange[]> {
  const { child, key, parent } = relation
  // A key in the trash that must not be empty stays as it is: nobody can be asked to fill it.
  if (parent.table.id !== model.table.id || (key.required && !relation.isLive)) return []
  const keys = [...(await keysOf(scope, relation, ids)).values()].filter((value) => value !== null)
  const children = await idsWhere(scope, child, key, keys, limit)
  // Children that go as well keep their keys: they come back with them.
  const going = new Set(child.table.id === model.table.id ? ids.map(String) : [])
  const staying = children.filter((id) => !going.has(String(id)))
  if (key.required && staying.length > 0) throw refuseOrphans(relation, staying)
  return updateRecords(
    within(scope, child),
    staying.map((id) => ({ id, values: { [key.id]: null } })),
  )
}

/** The refusal of a deletion that would leave children without the parent that they must have. */
export function refuseOrphans({ child, childLink, key }: KeyRelation, children: RecordId[]): AppError {
  const field = childLink ?? key
  const names = children.slice(0, 5).map((id) => `'${id}'`)
  const more = children.length > 5 ? ' and more' : ''
  return new AppError(
    'REQUIRED_FIELD_MISSING',
    `Field '${field.title}' is required: ${names.join(', ')}${more} in "${child.table.title}" would lose it`,
    { fieldId: field.id, field: field.title, recordIds: children.slice(0, 100) },
  )
}

/**
 * Ids of the records whose field has one of the values.
 *
 * @throws LargeCascade where there are more than `limit`
 */
export async function idsWhere(
  { tx, dialect }: Pick<WriteScope, 'tx' | 'dialect'>,
  model: TableModel,
  column: Field,
  values: CellValue[],
  limit = Number.POSITIVE_INFINITY,
): Promise<RecordId[]> {
  const found: RecordId[] = []
  const id = idPart(model, 'child', 'id')
  for (const chunk of chunks(values)) {
    await breathe()
    const end = Number.isFinite(limit) ? sql`limit ${Math.max(0, limit - found.length) + 1}` : sql``
    const rows = await tx.all<Record<string, unknown>>(
      dialect.render(sql`select ${id.select} from ${tableAs(model, 'child')}
        where ${columnIn('child', column)} in (${listOf(chunk)}) ${end}`),
    )
    for (const row of rows) found.push(id.read(row))
    if (found.length > limit) throw new LargeCascade()
  }
  return found
}
