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
  statements = STATEMENTS,
): Promise<{ bench: Bench; stop: () => Promise<void> }> {
  const bench = await createBench()
  if (kind !== 'sqlite') {
    const foreign = await createForeign(kind, statements)
    await connect(bench, foreign.sent)
    return { bench, stop: () => bench.stop().then(foreign.stop) }
  }
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const file = new Database(join(folder, 'staff.db'))
  for (const statement of statements) file.run(statement)
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
      // Columns of equal order would stand in any.
      expect(new Set(fields.map(({ order }) => order)).size).toBe(fields.length)
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

const PART = {
  sqlite: 'id integer primary key',
  postgres: 'id serial primary key',
  mariadb: 'id int auto_increment primary key',
}

describe.each(['sqlite', 'postgres', 'mariadb'] as const)(
  'new records that name each other, in %s',
  (kind) => {
    test('are added parents first and undone as one, or refused as a whole', async () => {
      const { bench, stop } = await open(kind, [
        `create table part (${PART[kind]}, name varchar(20) not null unique, parent_id int not null, twin_id int,
        foreign key (parent_id) references part (id), foreign key (twin_id) references part (id))`,
        "insert into part (name, parent_id) values ('Root', 1)",
      ])
      const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
      const tableId = table?.id ?? ''
      const { fields } = await bench.trpc.schema.table.query({ tableId })
      const idOf = (title: string) => fields.find((field) => field.title === title)?.id ?? title
      const [name, parent, twin] = [idOf('name'), idOf('parent'), idOf('twin')]
      const row = (title: string, above: number | string, other?: number) => ({
        values: { [name]: title, ...(typeof above === 'string' && { [parent]: above }) },
        siblings: {
          ...(typeof above === 'number' && { [parent]: [above] }),
          ...(other !== undefined && { [twin]: [other] }),
        },
      })
      const insert = (rows: object[]) =>
        bench.trpc.records.write.mutate({
          change: { baseId: bench.baseId, operations: [{ kind: 'insert', tableId, rows }] },
        } as Parameters<typeof bench.trpc.records.write.mutate>[0])
      const stored = async () => {
        const { body } = await bench.rest.get(`/api/v2/tables/${tableId}/records?limit=10&sort=id`)
        const named = (value?: { name: string } | null) => value?.name ?? null
        return body.list.map((record: Record<string, never>) => [
          record.name,
          named(record.parent),
          named(record.twin),
        ])
      }
      for (const [rows, reason] of [
        [[row('Good', '[1]'), row('A', 2), row('B', 1)], 'circle'],
        [[row('Good', '[1]'), row('Own', 1)], 'circle'],
        [[row('A', 1)], 'cannot link'],
        [[{ values: { [name]: 'A', [parent]: '[1]' }, siblings: { [name]: [0] } }], 'cannot link'],
        [[{ values: { [name]: 'A', [parent]: '[1]' }, siblings: { nothing: [0] } }], 'not found'],
        // Its name is taken, when its parent has been written.
        [[row('Root', 1), row('A', '[1]')], 'name'],
      ] as const) {
        expect(await insert([...rows]).then(String, String)).toContain(reason)
        expect(await stored()).toEqual([['Root', 'Root', null]])
      }
      const rows = [row('Leaf', 1, 2), row('Branch', 2), row('Stem', '[1]')]
      const after = [
        ['Root', 'Root', null],
        ['Stem', 'Root', null],
        ['Branch', 'Stem', null],
        ['Leaf', 'Branch', 'Stem'],
      ]
      const { inserted, records } = await insert(rows)
      expect(records.filter(({ before }) => before === null).map(({ recordId }) => recordId)).toEqual(
        inserted,
      )
      expect(records.map(({ after }) => after?.[name]).filter(Boolean)).toEqual(['Leaf', 'Branch', 'Stem'])
      expect(await stored()).toEqual(after)
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
      expect(await stored()).toEqual([['Root', 'Root', null]])
      await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
      expect(await stored()).toEqual(after)
      await stop()
    })
  },
)
