import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign } from './support.ts'

const STATEMENTS = [
  `create table employees (id integer primary key, name varchar(20), manager_id integer, mentor_id integer, deputy integer,
    foreign key (manager_id) references employees (id),
    foreign key (mentor_id) references employees (id),
    foreign key (deputy) references employees (id))`,
  "insert into employees values (1, 'Ann', null, null, null)",
  "insert into employees values (2, 'Ben', 1, null, 1)",
  "insert into employees values (3, 'Cleo', 1, 2, null)",
]

/** A base that is connected to a database of that kind, with the statements run in it. */
async function open(
  kind: 'sqlite' | 'postgres' | 'mariadb',
): Promise<{ bench: Bench; stop: () => Promise<void> }> {
  const bench = await createBench()
  if (kind !== 'sqlite') {
    const foreign = await createForeign(kind, STATEMENTS)
    await connect(bench, foreign.sent)
    return { bench, stop: () => bench.stop().then(foreign.stop) }
  }
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const file = new Database(join(folder, 'staff.db'))
  for (const statement of STATEMENTS) file.run(statement)
  file.close()
  await connect(bench, { client: 'sqlite3', connection: { filename: 'staff.db' } })
  return { bench, stop: () => bench.stop() }
}

describe.each(['sqlite', 'postgres', 'mariadb'] as const)(
  'foreign keys of a table to itself, in %s',
  (kind) => {
    test('are links whose two ends have titles that tell them apart, and hold the right records', async () => {
      const { bench, stop } = await open(kind)
      const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const { fields } = await bench.trpc.schema.table.query({ tableId: table?.id ?? '' })
      const links = fields.filter(({ type }) => type === 'Links' || type === 'LinkToAnotherRecord')
      const inverse = (title: string) => {
        const link = links.find((field) => field.title === title)
        return links.find(({ id }) => id === link?.options.inverseFieldId)?.title
      }
      expect(links.map(({ title }) => title).toSorted()).toEqual([
        'employees (deputy)',
        'employees (deputy, reverse)',
        'employees (manager)',
        'employees (mentor)',
        'manager',
        'mentor',
      ])
      expect([inverse('manager'), inverse('mentor'), inverse('employees (deputy)')]).toEqual([
        'employees (manager)',
        'employees (mentor)',
        'employees (deputy, reverse)',
      ])
      const { body } = await bench.rest.get(`/api/v2/tables/${table?.id}/records?limit=10&sort=id`)
      const row = (at: number) => body.list[at] as Record<string, unknown>
      expect([
        row(0)['employees (manager)'],
        row(0)['employees (mentor)'],
        row(0)['employees (deputy, reverse)'],
      ]).toEqual([2, 0, 1])
      expect(row(2).manager).toMatchObject({ name: 'Ann' })
      expect(row(2).mentor).toMatchObject({ name: 'Ben' })
      await stop()
    })
  },
)
