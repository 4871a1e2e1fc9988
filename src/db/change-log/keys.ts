import { type SQL, sql } from 'drizzle-orm'
import type { Engine, Statement } from '../../dialects/dialect.ts'

/*
 * Keys (field ids) in the values of logged records.
 */

/** A key in the values of a table's records that becomes another one in some entries of the log. */
export interface RenamedKey {
  tableId: string
  from: string
  to: string
  /** The first entry. */
  since: number
  /** The first entry after them; null: all later ones. */
  until: number | null
}

/** The statements that rename keys in the log, for a copy of it that is not kept. */
export const renameKeys = ({ dialect }: Engine, keys: readonly RenamedKey[]): Statement[] =>
  keys.map(({ tableId, from, to, since, until }) => {
    const [old, fresh] = [`${JSON.stringify(from)}:`, `${JSON.stringify(to)}:`]
    const renamed = (side: SQL) => sql`replace(${side}, ${old}, ${fresh})`
    return dialect.render(sql`update sheaf_change_records
      set before = ${renamed(sql`before`)}, after = ${renamed(sql`after`)}
      where table_id = ${tableId} and change_id >= ${since} ${until === null ? sql`` : sql`and change_id < ${until}`}
        and (${hasKey(sql`before`, from)} or ${hasKey(sql`after`, from)})`)
  })

/** Which keys the values of a table's records have in a range of entries: one read of these. */
export async function listedKeys(
  engine: Engine,
  { tableId, from, to, keys }: { tableId: string; from: number; to: number; keys: readonly string[] },
): Promise<Set<string>> {
  const found = new Set<string>()
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE)
    const columns = some.map((key, index) => {
      const isThere = sql`${hasKey(sql`before`, key)} or ${hasKey(sql`after`, key)}`
      return sql`max(case when ${isThere} then 1 else 0 end) as ${sql.identifier(`k${index}`)}`
    })
    const [row] = await engine.all<Record<string, number | null>>(
      engine.dialect.render(sql`select ${sql.join(columns, sql`, `)} from sheaf_change_records
        where table_id = ${tableId} and change_id between ${from} and ${to}
          and before is not null`),
      { scan: true },
    )
    some.forEach((key, index) => {
      if (Number(row?.[`k${index}`] ?? 0) > 0) found.add(key)
    })
  }
  return found
}

const KEYS_AT_ONCE = 100

/** True if an object of the log has a key. Quotes within values are escaped, so that no value looks like one. */
export const hasKey = (json: SQL, key: string): SQL =>
  sql`${json} like ${`%"${key.replaceAll(/[\\%_]/g, String.raw`\$&`)}":%`} escape '\\'`
