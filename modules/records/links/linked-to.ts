import { type SQL, sql } from 'drizzle-orm'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnIn, idPart, isWholeId, tableAs } from './ids.ts'
import type { OpenLink } from './relation.ts'

/** Names that no table has: a related table of that name would be hidden. */
const OWN = '~own'
const PAIR = '~pair'

/**
 * The condition on the related table's records that they are linked to one record by a link, or (`not`)
 * that they are not. The related table stands in the statement under its own name. Written so that the
 * indexes of keys and pairs are used, also where nearly all of a large table is meant.
 */
export function linkedTo(link: OpenLink, recordId: RecordId, { not }: { not: boolean }): SQL {
  const { relation, model, related } = link
  if (relation.kind === 'pairs') {
    const [own, target] = [link.options.junction?.ownFieldId, link.options.junction?.relatedFieldId].map(
      (id) => {
        const field = relation.junction.field(id ?? '')
        if (!field) throw new Error(`Junction ${relation.junction.table.id} lacks a key`)
        return columnIn(PAIR, field)
      },
    ) as [SQL, SQL]
    const pairs = sql`${tableAs(relation.junction, PAIR)} where ${own} = ${recordId}`
    const id = inTable(related, related.primaryKey)
    return not
      ? sql`not exists (select 1 from ${pairs} and ${target} = ${id})`
      : sql`${id} in (select ${target} from ${pairs})`
  }
  const { key, parentField } = relation
  const ownRecord = sql`${tableAs(model, OWN)} where ${idPart(model, OWN, 'id').isIn([recordId])}`
  if (link.options.holdsKey) {
    const target = inTable(related, parentField)
    return not
      ? sql`not exists (select 1 from ${ownRecord} and ${columnIn(OWN, key)} = ${target})`
      : sql`${target} = (select ${columnIn(OWN, key)} from ${ownRecord})`
  }
  const held = inTable(related, key)
  const value = isWholeId(model, parentField)
    ? sql`${recordId}`
    : sql`(select ${columnIn(OWN, parentField)} from ${ownRecord})`
  return not ? sql`(${held} is null or ${held} <> ${value})` : sql`${held} = ${value}`
}

/** The condition on the related table's records that no record holds them by a link that lets one hold each. */
export function unheld({ relation, options, model, related }: OpenLink): SQL {
  if (relation.kind === 'pairs') throw new Error(`Link ${options.inverseFieldId} lets many hold each record`)
  const { key, parentField } = relation
  if (!options.holdsKey) return sql`${inTable(related, key)} is null`
  return sql`not exists (select 1 from ${tableAs(model, OWN)} where ${columnIn(OWN, key)} = ${inTable(related, parentField)})`
}

const inTable = (model: TableModel, field: Field): SQL => columnIn(model.table.tableName, field)
