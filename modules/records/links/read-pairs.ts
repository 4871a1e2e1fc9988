import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { breathe, forEachBreathing } from '../../../src/breathe.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Dialect, QueryDialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { asKey, chunks, columnName, listOf, perDialect, perModel } from '../table/index.ts'
import {
  columnIn,
  idPart,
  type KeyRelation,
  keyPart,
  type OpenLink,
  type PairRelation,
  tableAs,
  type WriteScope,
} from './relation.ts'

/** A stored pair; `pairId` is its junction row. */
export interface StoredPair extends Pair {
  pairId: RecordId | null
}

/** Selects the pairs of any of the given records; if both are given, those that match both. */
export interface PairFilter {
  own?: RecordId[]
  target?: RecordId[]
}

/** Limit of existing links that one change examines, equal to what it may write. */
const MAX_PAIRS = 50_000
// Not bound: SQLite plans a statement anew for each bound limit.
const TOO_MANY = sql.raw(String(MAX_PAIRS + 1))

/**
 * The existing pairs of a link, in a statement per 500 ids.
 *
 * @throws BAD_REQUEST where there are more than one change may touch
 */
export async function readPairs(
  { tx, dialect }: Pick<WriteScope, 'dialect'> & { tx: Pick<Transaction, 'all'> },
  link: OpenLink,
  filter: PairFilter,
): Promise<StoredPair[]> {
  const { relation } = link
  const source = relation.kind === 'key' ? keyed(link, relation) : pairsOf(link, relation)
  const found: StoredPair[] = []
  for (const [owns, targets] of partsOf(filter.own, filter.target)) {
    await breathe()
    const render = (): Statement => {
      const conditions = [owns && source.own.isIn(owns), targets && source.target.isIn(targets)].filter(
        (condition) => condition !== undefined,
      )
      const parts = [source.own.select, source.target.select, ...(source.pair ? [source.pair.select] : [])]
      return dialect.render(sql`select ${sql.join(parts, sql`, `)} from ${source.from}
        where ${sql.join(conditions, sql` and `)} limit ${TOO_MANY}`)
    }
    const statement =
      relation.kind === 'pairs'
        ? inJunction(relation.junction, dialect, link, owns, targets, render)
        : render()
    const rows = await tx.all<Record<string, unknown>>(statement)
    if (found.length + rows.length > MAX_PAIRS) {
      throw badRequest(m.records_error_too_many_links({ field: link.field.title, max: MAX_PAIRS }))
    }
    await forEachBreathing(rows, (row) => {
      const pairId = source.pair ? source.pair.read(row) : null
      found.push({ own: source.own.read(row), target: source.target.read(row), pairId })
    })
  }
  return found
}

/** The texts of statements on a junction table, by what they select. */
const junctionTexts = perDialect(
  (_junction: TableModel, _dialect: Dialect) => new LRUCache<string, string>({ max: 100 }),
)

/** The statement of `render`, rendered once for each number of ids: that takes longer than a short read. */
function inJunction(
  junction: TableModel,
  dialect: Dialect,
  { options }: OpenLink,
  owns: RecordId[] | undefined,
  targets: RecordId[] | undefined,
  render: () => Statement,
): Statement {
  const texts = junctionTexts(junction, dialect)
  const { ownFieldId, relatedFieldId } = options.junction ?? {}
  const shape = `${ownFieldId} ${relatedFieldId} ${owns?.length} ${targets?.length}`
  const known = texts.get(shape)
  if (known !== undefined) return { sql: known, params: [...(owns ?? []), ...(targets ?? [])] }
  const statement = render()
  texts.set(shape, statement.sql)
  return statement
}

function* partsOf(
  own: RecordId[] | undefined,
  target: RecordId[] | undefined,
): Generator<[RecordId[] | undefined, RecordId[] | undefined]> {
  if (own && target) {
    for (const owns of chunks(own)) for (const targets of chunks(target)) yield [owns, targets]
    return
  }
  if (own) for (const owns of chunks(own)) yield [owns, undefined]
  if (target) for (const targets of chunks(target)) yield [undefined, targets]
}

interface Source {
  from: SQL
  own: ReturnType<typeof idPart>
  target: ReturnType<typeof idPart>
  pair: ReturnType<typeof idPart> | null
}

/** Only children whose parent exists: a dangling key is no link. */
function keyed(link: OpenLink, { child, key, parent, parentField }: KeyRelation): Source {
  const [own, target] = link.options.holdsKey ? [child, parent] : [parent, child]
  const [ownAs, targetAs] = link.options.holdsKey ? ['child', 'parent'] : ['parent', 'child']
  const from = sql`${tableAs(child, 'child')} join ${tableAs(parent, 'parent')}
    on ${columnIn('parent', parentField)} = ${columnIn('child', key)}`
  return { from, own: idPart(own, ownAs, 'own'), target: idPart(target, targetAs, 'target'), pair: null }
}

/** The sources of the links that a junction table stores: building one takes longer than reading a few pairs. */
const pairSources = perModel(
  (_junction) => new Map<string, { model: TableModel; related: TableModel; source: Source }>(),
)

function pairsOf(link: OpenLink, relation: PairRelation): Source {
  const { model, related, field } = link
  const sources = pairSources(relation.junction)
  const known = sources.get(field.id)
  if (known?.model === model && known.related === related) return known.source
  const source = paired(link, relation)
  sources.set(field.id, { model, related, source })
  return source
}

function paired(link: OpenLink, { junction }: PairRelation): Source {
  const { ownFieldId = '', relatedFieldId = '' } = link.options.junction ?? {}
  const [ownKey, relatedKey] = [junction.field(ownFieldId), junction.field(relatedFieldId)]
  if (!ownKey || !relatedKey) throw new Error(`Junction ${junction.table.id} lacks a key`)
  return {
    from: tableAs(junction, 'pair'),
    own: keyPart(link.model, 'pair', ownKey, 'own'),
    target: keyPart(link.related, 'pair', relatedKey, 'target'),
    pair: idPart(junction, 'pair', 'pair'),
  }
}

/**
 * Reads one column of a table by another.
 *
 * @returns the values of `wanted` by the value of `by`, as text, of the records whose `by` is among `values`
 */
export async function readColumn(
  { tx, dialect }: { tx: Pick<Transaction, 'all'>; dialect: QueryDialect },
  model: TableModel,
  { by, wanted }: { by: Field; wanted: Field },
  values: CellValue[],
): Promise<Map<string, CellValue>> {
  const found = new Map<string, CellValue>()
  const [key, value] = [sql`${sql.identifier(columnName(by))}`, sql`${sql.identifier(columnName(wanted))}`]
  for (const chunk of chunks(values)) {
    await breathe()
    const rows = await tx.all<{ k: CellValue; v: CellValue }>(
      dialect.render(sql`select ${asKey(key, by)} as k, ${asKey(value, wanted)} as v from ${sql.identifier(model.table.tableName)}
        where ${key} in (${listOf(chunk)})`),
    )
    for (const { k, v } of rows) found.set(String(k), v)
  }
  return found
}

/** A linked pair: a record of the link’s own table and one of the related table. */
export interface Pair {
  own: RecordId
  target: RecordId
}
