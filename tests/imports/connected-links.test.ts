import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import {
  type ConnectedDatabase,
  type ConnectedTable,
  connectTables,
  createConnected,
  ENGINES,
  type EngineKind,
  type LoadOptions,
  load,
} from './connected-support.ts'
import { type Door, doorOf } from './support.ts'

/** A key type of each engine, and the keys of three records in their order. */
interface KeyCase {
  /** Part of the names of its tables. */
  name: string
  type: string
  keys: [string, string, string]
}

const UUIDS: KeyCase['keys'] = [
  '0b0e7a52-1111-4222-8333-444444444444',
  '1b0e7a52-1111-4222-8333-444444444444',
  'cb0e7a52-1111-4222-8333-444444444444',
]
const NUMBERS: KeyCase['keys'] = ['7', '8', '12']
const CODES: KeyCase['keys'] = ['C-1', 'D-2', 'ü 3']

const KEYS: Record<EngineKind, KeyCase[]> = {
  postgres: [
    { name: 'uuids', type: 'uuid', keys: UUIDS },
    { name: 'numbers', type: 'bigint', keys: NUMBERS },
    { name: 'codes', type: 'varchar(40)', keys: CODES },
    { name: 'padded', type: 'character(8)', keys: CODES },
    { name: 'decimals', type: 'numeric(10)', keys: NUMBERS },
  ],
  mariadb: [
    { name: 'uuids', type: 'uuid', keys: UUIDS },
    { name: 'numbers', type: 'bigint unsigned', keys: NUMBERS },
    { name: 'codes', type: 'varchar(40)', keys: CODES },
    { name: 'padded', type: 'char(40)', keys: UUIDS },
    { name: 'decimals', type: 'decimal(10)', keys: NUMBERS },
  ],
  sqlite: [
    { name: 'uuids', type: 'uuid', keys: UUIDS },
    { name: 'numbers', type: 'bigint', keys: NUMBERS },
    { name: 'codes', type: 'text', keys: CODES },
  ],
}

const SERIAL: Record<EngineKind, string> = {
  postgres: 'serial primary key',
  mariadb: 'int auto_increment primary key',
  sqlite: 'integer primary key',
}

/** Parents with each type of key, and their children. */
const tablesFor = (kind: EngineKind): string[] =>
  KEYS[kind].flatMap(({ name, type }) => [
    `create table ${name} (id ${type} not null primary key, name varchar(40))`,
    `create table of_${name} (id ${SERIAL[kind]}, title varchar(40), parent_id ${type},
      foreign key (parent_id) references ${name} (id))`,
  ])

describe.each(ENGINES)('links in an import into a connected %s', (kind) => {
  let bench: Bench
  let database: ConnectedDatabase
  let door: Door
  let tables: Map<string, ConnectedTable>

  beforeAll(async () => {
    bench = await createBench()
    database = await createConnected(kind, tablesFor(kind), bench.app.config.dataDir)
    door = doorOf(bench.app, bench.owner)
    ;({ tables } = await connectTables(bench, database))
  })
  afterAll(async () => {
    await bench.stop()
    await database.stop()
  })

  const into = (name: string, file: string, options?: LoadOptions) =>
    load(door, bench.baseId, tables.get(name)!, file, options)
  const ask = async <T = Record<string, unknown>>(sql: string) =>
    (await database.ask<T>(sql)).map((row) => ({ ...row }))
  /** The title of the field that links to a table. */
  const linkTo = (own: string, related: string): string => {
    const { fields } = tables.get(own)!
    const { tableId } = tables.get(related)!
    return fields.find(({ options }) => options.relatedTableId === tableId)?.title ?? ''
  }

  test.each(KEYS[kind].map((each) => [each.type, each] as const))(
    'find records with a key of type %s by name, by key if they have no name, and the first of several',
    async (_, { name, keys: [first, second, third] }) => {
      await database.ask(
        `insert into ${name} (id, name) values ('${first}', 'Ann'), ('${second}', null), ('${third}', 'Ann')`,
      )
      const link = linkTo(`of_${name}`, name)
      const { result, report } = await into(
        `of_${name}`,
        `title,${link}\nby name,Ann\nby key,${second}\nunknown,ann\nno key,99\nempty,\n`,
      )
      expect(report).toEqual([expect.stringContaining('“ann”'), expect.stringContaining('“99”')])
      expect(result).toMatchObject({ rows: 5, cellsRefused: 2 })
      const rows = await ask<{ title: string; parent: unknown }>(
        `select title, parent_id as parent from of_${name} order by id`,
      )
      expect(
        rows.map(({ title, parent }) => [title, parent === null ? null : String(parent).trim()]),
      ).toEqual([
        ['by name', first],
        ['by key', second],
        ['unknown', null],
        ['no key', null],
        ['empty', null],
      ])
    },
  )
})
