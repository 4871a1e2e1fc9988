import { type SQL, sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../../../../src/core/fields/field-type.ts'
import type { Field, Sort } from '../../../../src/core/model.ts'
import {
  type GroupPage,
  type GroupRequest,
  MAX_LISTED_GROUPS,
  type RecordGroup,
} from '../../../../src/core/query.ts'
import type { Engine, QueryDialect, Statement } from '../../../../src/dialects/dialect.ts'
import { getField } from '../../../schema/index.ts'
import { fragmentsOf } from '../expression/fragments.ts'
import { select } from '../plan.ts'
import type { PlanContext } from '../plan-cache.ts'
import { compiled } from '../plan-cache.ts'
import { readSummaries, type SummaryColumn, summaryColumns, summaryParts } from '../summaries.ts'
import { groupsUpkeep, maintained, type Upkeep } from '../upkeep.ts'
import { decodeKey, type GroupTerm, groupsCondition, groupTerm } from './term.ts'

/** One level of groups: its field, its direction, and the SQL that tells its groups apart. */
interface Level {
  direction: Sort['direction']
  term: GroupTerm
}

/** The compiled statement of one depth, with how the keys of each level are stored. */
interface LevelPlan {
  statement: Statement
  storages: StorageKind[]
}

/**
 * The groups of a selection, each before its subgroups. One statement per level, whatever the number of records,
 * groups and summaries.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST where a field does not offer a summary
 */
export async function listGroups(
  { engine, context }: { engine: Pick<Engine, 'values'> & { dialect: QueryDialect }; context: PlanContext },
  request: GroupRequest,
): Promise<GroupPage> {
  const columns = summaryColumns(context.model, request.summaries)
  const read = async (within: PlanContext, depth: number, page: Page): Promise<RecordGroup[]> => {
    const { statement, storages } = planLevel(within, request, depth, page)
    const rows = await engine.values(statement, { scan: true })
    return rows.map((row) => ({
      keys: storages.map((storage, at) => decodeKey(context, storage, row[at])),
      count: Number(row[depth]),
      summaries: readSummaries(columns, row.slice(depth + 1)),
    }))
  }
  const { limit, offset, groups } = request
  const listed = await read(context, 1, { limit: limit + 1, offset })
  const hasMore = listed.length > limit
  const first = listed.slice(0, limit)
  const [outer] = groups
  if (!outer || first.length === 0) return { groups: [], hasMore: false }
  const within = hasMore || offset > 0 ? narrowed(context, outer.fieldId, first) : context
  const deeper: RecordGroup[][] = []
  for (let depth = 2; depth <= groups.length; depth++) {
    deeper.push(await read(within, depth, { limit: MAX_LISTED_GROUPS, offset: 0 }))
  }
  return { groups: inOrder([first, ...deeper]), hasMore }
}

/** Compiles the statement for the groups of the first `depth` levels. */
function planLevel(context: PlanContext, request: GroupRequest, depth: number, page: Page): LevelPlan {
  const key = request.selection.recordIds ? null : `groups ${JSON.stringify([request, depth, page])}`
  return compiled(context, key, (watched) => {
    const levels = request.groups.slice(0, depth).map(({ fieldId, direction }): Level => {
      return { direction, term: groupTerm(watched, getField(watched.model, fieldId)) }
    })
    const columns = summaryColumns(watched.model, request.summaries)
    const statement = watched.dialect.render(levelQuery(watched, request, levels, columns, page))
    return {
      statement: maintained(statement, () => levelUpkeep(watched, request, depth, columns, page)),
      storages: levels.map(({ term }) => term.storage),
    }
  })
}

function levelUpkeep(
  context: PlanContext,
  { selection, groups }: GroupRequest,
  depth: number,
  columns: SummaryColumn[],
  { limit, offset }: Page,
): Upkeep | null {
  const keys = groups.slice(0, depth).map(({ fieldId }) => {
    const field = getField(context.model, fieldId)
    return { field, sql: (within: PlanContext) => groupTerm(within, field).key }
  })
  const { summarized, parts } = summaryParts(columns)
  return groupsUpkeep(
    context,
    { selection, keys, summarized },
    {
      keysOf: (row) => (row as unknown[]).slice(0, depth),
      countOf: (row) => Number((row as unknown[])[depth]),
      change: (row, count, changed) => [...(row as unknown[]).slice(0, depth), count, ...changed],
      parts,
      partsOf: (row) => (row as CellValue[]).slice(depth + 1),
      isComplete: (rows) => offset === 0 && rows.length < limit,
    },
  )
}

interface Page {
  limit: number
  offset: number
}

/** Limits the context to the records of these groups of the first level. */
function narrowed(context: PlanContext, fieldId: string, groups: RecordGroup[]): PlanContext {
  const keys = groups.map((group) => group.keys[0] ?? null)
  const isAny = groupsCondition(context, getField(context.model, fieldId), keys)
  return { ...context, narrow: context.narrow ? sql`${context.narrow} and ${isAny}` : isAny }
}

/**
 * Selects the keys, counts and summary parts of the groups of one level. A subquery computes the values, so that a
 * computed field is evaluated once per record.
 */
function levelQuery(
  context: PlanContext,
  { selection }: GroupRequest,
  levels: Level[],
  columns: SummaryColumn[],
  { limit, offset }: Page,
): SQL {
  const { dialect } = context
  const { from, where } = select(context, selection)
  if (columns.length === 0) {
    const stored = storedTerms(levels)
    if (stored) return storedQuery(dialect, levels, stored, { from, where }, { limit, offset })
  }
  const keys = levels.map((_, at) => name(`k${at}`))
  const leading = levels.flatMap(({ term }, level) =>
    term.leading.map((value, at) => ({ value, as: name(`f${level}_${at}`) })),
  )
  const fields = [...new Set(columns.map(({ field }) => field))]
  const column = (field: Field) => name(`v${fields.indexOf(field)}`)
  const valued = list([
    ...levels.map(({ term }, at) => sql`${term.key} as ${keys[at]}`),
    ...leading.map(({ value, as }) => sql`${value} as ${as}`),
    ...fields.map((field) => sql`${fragmentsOf(context).of(field, 'value')} as ${column(field)}`),
  ])
  const placed: SQL[] = []
  const parts = columns.flatMap(({ field, summary }) =>
    summary.needs.map((part) => {
      const { rows, over } = dialect.groupSummary(part, column(field), list(keys))
      const names = rows.map((_, at) => name(`p${placed.length + at}`))
      placed.push(...rows)
      return over(names)
    }),
  )
  const rows = sql`(select ${valued} from ${from} ${where}) as ${name('valued')}`
  const source =
    placed.length === 0
      ? rows
      : sql`(select ${name('valued')}.*, ${list(placed.map((each, at) => sql`${each} as ${name(`p${at}`)}`))} from ${rows}) as ${name('placed')}`
  const results = parts.map((part, at) => ({ part, as: name(`s${at}`) }))
  const grouped = list([
    ...keys,
    sql`count(*) as ${name('n')}`,
    // Equal for all records of a group, which the engine does not know.
    ...leading.map(({ as }) => sql`min(${as}) as ${as}`),
    ...results.map(({ part, as }) => sql`${part} as ${as}`),
  ])
  return sql`select ${list([...keys, name('n'), ...results.map(({ as }) => as)])}
    from (select ${grouped} from ${source} group by ${list(keys)}) as ${name('grouped')}
    order by ${list(orderOf(dialect, levels))} ${pageOf({ limit, offset })}`
}

/** The stored values of all levels; null if the key of one is not computed from a stored value. */
function storedTerms(levels: Level[]): NonNullable<GroupTerm['stored']>[] | null {
  const stored = levels.flatMap(({ term }) => term.stored ?? [])
  return stored.length === levels.length ? stored : null
}

/**
 * Counts records by the stored values first, which an index alone can answer, and computes the keys of these few
 * results. Of one level whose keys have the order of the values, no more are counted than the page needs.
 */
function storedQuery(
  dialect: QueryDialect,
  levels: Level[],
  stored: NonNullable<GroupTerm['stored']>[],
  { from, where }: { from: SQL; where: SQL },
  { limit, offset }: Page,
): SQL {
  const keys = levels.map((_, at) => name(`k${at}`))
  const values = levels.map((_, at) => name(`r${at}`))
  const selected = list(stored.map(({ value }, at) => sql`${value} as ${values[at]}`))
  const computed = list(stored.map(({ keyOf }, at) => sql`${keyOf(values[at]!)} as ${keys[at]}`))
  const [first] = levels
  // NULL and its neighbour in the order, such as the empty text, may be one group.
  const needed = sql`order by ${dialect.orderBy(values[0]!, first?.direction ?? 'asc')} ${pageOf({ limit: offset + limit + 1, offset: 0 })}`
  const isInOrder = levels.length === 1 && first?.term.rank === null
  return sql`select ${list([...keys, name('n')])}
    from (select ${list(keys)}, sum(${name('n')}) as ${name('n')} from (select ${computed}, ${name('n')}
      from (select ${list(values)}, count(*) as ${name('n')} from (select ${selected} from ${from} ${where}) as ${name('valued')}
        group by ${list(values)} ${isInOrder ? needed : sql``}) as ${name('counted')}) as ${name('keyed')}
      group by ${list(keys)}) as ${name('grouped')}
    order by ${list(orderOf(dialect, levels))} ${pageOf({ limit, offset })}`
}

const pageOf = ({ limit, offset }: Page): SQL =>
  sql`limit ${sql.raw(String(limit))} offset ${sql.raw(String(offset))}`

/** The order of the groups, over the names of their keys and leading values. */
const orderOf = (dialect: QueryDialect, levels: Level[]): SQL[] =>
  levels.flatMap(({ term, direction }, level) => {
    const key = name(`k${level}`)
    const first = term.leading.map((_, at) => name(`f${level}_${at}`))
    return [...first, ...(term.rank ? [term.rank(key)] : []), key].map((each) =>
      dialect.orderBy(each, direction),
    )
  })

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

/** Aliases; no column of a table begins with this character. */
const name = (text: string): SQL => sql`${sql.identifier(`~${text}`)}`

/** Merges the groups of all levels into one list, each group before its subgroups. */
function inOrder([first = [], ...deeper]: RecordGroup[][]): RecordGroup[] {
  const below = deeper.map((groups) => Map.groupBy(groups, ({ keys }) => nameOf(keys.slice(0, -1))))
  const all: RecordGroup[] = []
  const add = (group: RecordGroup): void => {
    all.push(group)
    for (const own of below[group.keys.length - 1]?.get(nameOf(group.keys)) ?? []) add(own)
  }
  for (const group of first) add(group)
  return all
}

const nameOf = (keys: CellValue[]): string => JSON.stringify(keys)
