import { sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { loggedSet } from '../../../src/db/change-log/sets.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { listOf, storedId } from '../table/index.ts'
import { linkDelta } from './marks.ts'
import { isWholeId, type LinkSchema, type Relation, relationsAround } from './relation.ts'

/** Links of one relation that are read, at most. */
const MAX_REMOVED = 10_000

/** A link field of the deleted records, and where the log has its links. */
interface RemovedFrom {
  link: Field
  holder: TableModel
  /** The key of `holder` with the deleted record. */
  own: Field
  /** The key of `holder` with the other record; null: `holder` has the other records themselves. */
  related: { model: TableModel; key: Field } | null
}

/**
 * The links that an entry of the log has removed with the records that it deleted, except those that the records held
 * themselves, which are among their values.
 *
 * @param home the database with the log
 * @returns `linkDelta`s by link field, by record id as text
 */
export async function removedLinks(
  home: Engine,
  schema: LinkSchema,
  model: TableModel,
  { changeId, recordIds }: { changeId: number; recordIds: readonly RecordId[] },
): Promise<Map<string, Values>> {
  const found = new Map<string, Values>()
  if (recordIds.length === 0) return found
  const { dialect } = home
  const relations = await relationsAround(schema, model.table)
  for (const { link, holder, own, related } of relations.flatMap((relation) => fieldsOf(relation, model))) {
    const log = loggedSet(changeId, holder.table.id)
    const keyIn = (json: typeof log.before, key: Field) =>
      dialect.jsonValue(json, key.id, fieldType(key.type).storage)
    const other = related ? keyIn(log.before, related.key) : log.recordId
    const rows = await home.all<{ own: RecordId; other: RecordId }>(
      dialect.render(sql`select ${keyIn(log.before, own)} as own, ${other} as other from ${log.table}
        where ${log.where} and ${keyIn(log.before, own)} in (${listOf([...recordIds])})
          and (${log.after} is null or ${keyIn(log.after, own)} is null)
        order by other limit ${MAX_REMOVED}`),
      { scan: true },
    )
    for (const [recordId, ofRecord] of Map.groupBy(rows, (row) => String(row.own))) {
      const ids = ofRecord.map((row) => storedId(related?.model ?? holder, row.other))
      found.set(recordId, { ...found.get(recordId), [link.id]: linkDelta([], ids) })
    }
  }
  return found
}

/** The link fields of a table whose links another table holds: two for links between its own records. */
function fieldsOf(relation: Relation, model: TableModel): RemovedFrom[] {
  if (!relation.isLive) return []
  if (relation.kind === 'pairs') {
    const { junction: holder, sides } = relation
    return sides.flatMap((side, at) => {
      const { model: other, key } = sides[1 - at]!
      const isOwn = side.model.table.id === model.table.id && side.link !== null
      return isOwn ? [{ link: side.link!, holder, own: side.key, related: { model: other, key } }] : []
    })
  }
  const { child: holder, key: own, parent, parentField, parentLink: link } = relation
  const isOwn = link !== null && parent.table.id === model.table.id && isWholeId(parent, parentField)
  return isOwn ? [{ link, holder, own, related: null }] : []
}
