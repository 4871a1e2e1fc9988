import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { logRows } from '../../src/db/change-log/set-entries.ts'
import { postgres } from '../../src/dialects/postgres.ts'
import { sqlite } from '../../src/dialects/sqlite.ts'

/** Words of the dialects, and statements over databases that hold no distributed tables. */
const OTHERS = ['src/dialects/', 'src/db/postgres/copy-schema.ts']

describe('insert … select', () => {
  test('is made by the dialect alone, which knows the form that every engine takes', async () => {
    const found: string[] = []
    for (const folder of ['modules', 'src']) {
      for await (const name of new Bun.Glob('**/*.ts').scan(folder)) {
        const path = `${folder}/${name}`
        if (OTHERS.some((other) => path.startsWith(other))) continue
        const text = await Bun.file(path).text()
        for (const { index } of text.matchAll(/`insert into /g)) {
          const [statement = ''] = text.slice(index, index + 300).split(/\bvalues\b/)
          if (/\bselect\b/.test(statement)) found.push(`${path}: ${statement.slice(0, 80)}`)
        }
      }
    }
    expect(found).toEqual([])
  })

  test('works its values out before it writes in PostgreSQL, as Citus takes no other form', () => {
    const rows = {
      changeId: sql`(select max(id) from sheaf_changes)`,
      tableId: sql`${'t'}`,
      recordId: sql`id::text`,
      before: sql`jsonb_build_object('a', a)::text`,
      after: sql`${'{}'}`,
      source: sql`from things where a > ${1}`,
    }
    const written = (dialect: typeof postgres) => {
      const { sql: text, params } = dialect.render(logRows(dialect, rows))
      return [text.replace(/\s+/g, ' '), params]
    }
    expect(written(postgres)).toEqual([
      'with source_rows as materialized (select cast((select max(id) from sheaf_changes) as bigint) as v0, cast($1 as text) as v1, ' +
        "id::text as v2, jsonb_build_object('a', a)::text as v3, $2 as v4 from things where a > $3) " +
        'insert into sheaf_change_records (change_id, table_id, record_id, before, after) ' +
        'select v0, v1, v2, v3, v4 from source_rows',
      ['t', '{}', 1],
    ])
    expect(written(sqlite)[0]).toStartWith('insert into sheaf_change_records')
  })
})
