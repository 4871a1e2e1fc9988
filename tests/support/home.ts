import type { TestApp } from './app.ts'

const TABLE_NAMES: Record<string, string> = {
  sqlite3: "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
  pg: 'select tablename from pg_tables where schemaname = current_schema() order by tablename',
}

/** Names of all tables in a base's home, of any engine; those of the log start with `sheaf_`. */
export async function tableNames(app: Pick<TestApp, 'kernel'>, baseId: string): Promise<string[]> {
  const engine = await app.kernel.sources.engine(baseId)
  const rows = await engine.values({ sql: TABLE_NAMES[engine.dialect.client] ?? '', params: [] })
  return rows.map(([name]) => String(name))
}

/** Names of the user's tables, including those that an import is filling. */
export const ownTableNames = async (app: Pick<TestApp, 'kernel'>, baseId: string): Promise<string[]> =>
  (await tableNames(app, baseId)).filter(
    (name) => !/^sheaf_(changes|change_records|places|version|release)$/.test(name),
  )
