import type { Engine } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import { FROM_ANOTHER_BASE } from '../change-log/entry.ts'
import { CHANGES_TABLE } from '../change-log/tables.ts'
import type { LastChange } from '../last-change.ts'
import { schemaOfBase } from './base-schema.ts'

/** Schemas per statement, which locks the log of each and its index. */
const SCHEMAS_AT_ONCE = 100

/**
 * When bases in schemas were last changed: the time of the newest entry of their logs. Unknown where that is from another
 * base, as its time is that of the original, and for a base without a log; null for an empty log.
 */
export async function lastChangesOfSchemas(
  engine: Pick<Engine, 'all'>,
  baseIds: readonly string[],
): Promise<Map<string, LastChange | null>> {
  const found = new Map<string, LastChange | null>()
  for (let at = 0; at < baseIds.length; at += SCHEMAS_AT_ONCE) {
    const some = baseIds.slice(at, at + SCHEMAS_AT_ONCE)
    for (const baseId of some) found.set(baseId, { until: null, mark: null })
    const present = await withLog(engine, some)
    if (present.length === 0) continue
    for (const baseId of present) found.set(baseId, null)
    const newest = present.map(
      (baseId) => `(select ${quoteText(baseId)} as base, id, at, undone_by
        from ${quotePostgres(schemaOfBase(baseId))}.${CHANGES_TABLE} order by id desc limit 1)`,
    )
    const rows = await engine.all<{ base: string; id: number; at: string; undone_by: number | null }>({
      sql: newest.join(' union all '),
      params: [],
    })
    for (const { base, id, at: until, undone_by } of rows) {
      const isOwn = undone_by === null || Number(undone_by) !== FROM_ANOTHER_BASE
      found.set(base, { until: isOwn ? until : null, mark: isOwn ? String(id) : null })
    }
  }
  return found
}

/** Those bases whose schema has a log. */
async function withLog(engine: Pick<Engine, 'all'>, baseIds: readonly string[]): Promise<string[]> {
  const names = baseIds.map((baseId) => quoteText(schemaOfBase(baseId))).join(', ')
  const rows = await engine.all<{ name: string }>({
    sql: `select n.nspname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relname = ${quoteText(CHANGES_TABLE)} and n.nspname in (${names})`,
    params: [],
  })
  const present = new Set(rows.map(({ name }) => name))
  return baseIds.filter((baseId) => present.has(schemaOfBase(baseId)))
}
