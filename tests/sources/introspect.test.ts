import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DatabaseStructure, introspector, type StructureReader } from '../../src/db/introspect/index.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { NASTY_MARIADB } from './nasty-mariadb.ts'
import { LONGEST_NAME, NASTY_POSTGRES } from './nasty-postgres.ts'

const readerOf = (sql: Bun.SQL): StructureReader => ({
  all: async <T>({ sql: text, params }: { sql: string; params: unknown[] }) =>
    [...(await sql.unsafe(text, params))] as T[],
})

const tableOf = (structure: DatabaseStructure, name: string) => {
  const table = structure.tables.find((one) => one.name === name)
  if (!table) throw new Error(`There is no table ${name}`)
  return table
}

const columnOf = (structure: DatabaseStructure, table: string, name: string) => {
  const column = tableOf(structure, table).columns.find((one) => one.name === name)
  if (!column) throw new Error(`There is no column ${name}`)
  return column
}

/** `{ column: 'Type' }`, those that cannot be edited with an exclamation mark. */
const shapesOf = (client: string, structure: DatabaseStructure, table: string) =>
  Object.fromEntries(
    tableOf(structure, table).columns.map((column) => {
      const { type, readOnlyReason } = introspector(client).shape(column)
      return [column.name, type + (readOnlyReason ? '!' : '')]
    }),
  )

describe('reading the structure of PostgreSQL', () => {
  let database: TestDatabase
  let structure: DatabaseStructure
  let sql: Bun.SQL
  beforeAll(async () => {
    database = await createDatabase('postgres')
    sql = new Bun.SQL(database.url, { max: 1 })
    await sql.unsafe(NASTY_POSTGRES)
    structure = await introspector('pg').read(readerOf(sql), 'public')
  })
  afterAll(async () => {
    await sql.close()
    await database.drop()
  })

  test('lists the tables and views of the schema alone, without the parts of a partitioned one', () => {
    const names = structure.tables.map((table) => table.name)
    expect(names).toContain('Order')
    expect(names).toContain(LONGEST_NAME)
    expect(names).toContain('ticks')
    expect(names).not.toContain('ticks_2026')
    expect(names).not.toContain('hidden')
    expect(tableOf(structure, 'book_list').kind).toBe('view')
    expect(tableOf(structure, 'author_count').kind).toBe('view')
  })

  test('lists the schemas, public first and none of the server', async () => {
    expect(await introspector('pg').schemas(readerOf(sql))).toEqual(['public', 'other'])
  })

  test('keeps names exactly, whatever is in them', () => {
    expect(tableOf(structure, 'Order').columns.map((column) => column.name)).toEqual([
      'ID',
      'select',
      'First Name',
      'quo"te',
      'Ünïcode 🎉',
    ])
    expect(tableOf(structure, LONGEST_NAME).columns[1]?.name).toBe(LONGEST_NAME)
  })

  test('knows every type, resolving domains and enums', () => {
    expect(shapesOf('pg', structure, 'every_type')).toEqual({
      id: 'Number',
      small: 'Number',
      whole: 'Number',
      big: 'Number',
      exact: 'Decimal',
      long_exact: 'Decimal',
      free: 'Decimal',
      round_number: 'Number',
      single: 'Decimal',
      double_number: 'Decimal',
      cash: 'SpecificDBType',
      yes: 'Checkbox',
      flag: 'Checkbox',
      fixed: 'SingleLineText',
      short: 'SingleLineText',
      line: 'SingleLineText',
      body: 'LongText',
      key: 'SingleLineText',
      feeling: 'SingleSelect',
      cost: 'Decimal',
      must_cost: 'Decimal',
      day: 'Date',
      at: 'DateTime',
      at_zone: 'DateTime',
      at_micro: 'DateTime',
      hour: 'Time',
      hour_zone: 'SpecificDBType',
      span: 'SpecificDBType',
      doc: 'JSON',
      docb: 'JSON',
      numbers: 'SpecificDBType!',
      words: 'SpecificDBType!',
      raw: 'SpecificDBType!',
      bits: 'SpecificDBType!',
      many_bits: 'SpecificDBType!',
      place: 'SpecificDBType!',
      period: 'SpecificDBType!',
      address: 'SpecificDBType',
      search: 'SpecificDBType!',
      doubled: 'Number!',
    })
    expect(columnOf(structure, 'every_type', 'feeling').values).toEqual(['sad', "it's ok", 'happy, very'])
    expect(columnOf(structure, 'every_type', 'exact').type).toBe('numeric(10,2)')
    expect(columnOf(structure, 'every_type', 'must_cost')).toMatchObject({
      baseType: 'numeric',
      sizes: [12, 2],
      isNullable: false,
    })
  })

  test('tells defaults that are values from those that the database works out', () => {
    const value = (name: string) =>
      introspector('pg').defaultValue(columnOf(structure, 'every_type', name)) ?? null
    expect([value('yes'), value('feeling'), value('must_cost')]).toEqual(['true', 'sad', '1'])
    expect([value('key'), value('at_zone'), value('id'), value('doubled')]).toEqual([null, null, null, null])
    expect(columnOf(structure, 'every_type', 'id').isAutoIncrement).toBe(true)
    expect(columnOf(structure, 'Order', 'ID').isAutoIncrement).toBe(true)
    expect(columnOf(structure, 'every_type', 'doubled')).toMatchObject({
      isGenerated: true,
      defaultExpression: null,
    })
  })

  test('reads primary keys, unique keys and references, those of several columns too', () => {
    expect(tableOf(structure, 'pairs').primaryKey).toEqual(['region', 'number'])
    expect(tableOf(structure, 'no_key').primaryKey).toEqual([])
    expect(tableOf(structure, 'author').uniqueKeys).toEqual([['email']])
    expect(tableOf(structure, 'pair_child').foreignKeys).toEqual([
      {
        name: 'pair_child_region_number_fkey',
        columns: ['region', 'number'],
        relatedTable: 'pairs',
        relatedColumns: ['region', 'number'],
      },
    ])
    expect(
      tableOf(structure, 'book').foreignKeys.map((key) => [key.columns[0], key.relatedColumns[0]]),
    ).toEqual([
      ['author_email', 'email'],
      ['author_id', 'id'],
      ['editor_id', 'id'],
    ])
    // What it refers to is in another schema, which is not shown.
    expect(tableOf(structure, 'other_child').foreignKeys).toEqual([])
  })

  test('reads comments', () => {
    expect(tableOf(structure, 'author').comment).toBe('Who writes')
    expect(columnOf(structure, 'author', 'name').comment).toBe('As on the cover')
  })
})

describe('reading the structure of MariaDB', () => {
  let database: TestDatabase
  let structure: DatabaseStructure
  let sql: Bun.SQL
  beforeAll(async () => {
    database = await createDatabase('mariadb')
    sql = new Bun.SQL(database.url, { max: 1 })
    for (const statement of NASTY_MARIADB) await sql.unsafe(statement)
    structure = await introspector('mysql2').read(readerOf(sql), '')
  })
  afterAll(async () => {
    await sql.close()
    await database.drop()
  })

  test('knows every type', () => {
    expect(shapesOf('mysql2', structure, 'every_type')).toEqual({
      id: 'Number',
      yes: 'Checkbox',
      tiny: 'Number',
      small: 'Number',
      medium: 'Number',
      whole: 'Number',
      big: 'Number',
      huge: 'Number',
      exact: 'Decimal',
      long_exact: 'Decimal',
      round_number: 'Number',
      single: 'Decimal',
      double_number: 'Decimal',
      fixed: 'SingleLineText',
      short: 'SingleLineText',
      body: 'LongText',
      long_body: 'LongText',
      key: 'SingleLineText',
      feeling: 'SingleSelect',
      colours: 'MultiSelect',
      day: 'Date',
      at: 'DateTime',
      at_milli: 'DateTime',
      stamp: 'DateTime',
      hour: 'Time',
      year_made: 'Year',
      doc: 'JSON',
      raw: 'SpecificDBType!',
      fixed_raw: 'SpecificDBType!',
      bits: 'SpecificDBType!',
      place: 'SpecificDBType!',
      doubled: 'Number!',
      shout: 'SingleLineText!',
    })
    expect(columnOf(structure, 'every_type', 'feeling').values).toEqual(['sad', "it's ok", 'happy, very'])
    expect(columnOf(structure, 'every_type', 'colours').values).toEqual(['red', 'green', 'blue'])
    expect(columnOf(structure, 'every_type', 'huge')).toMatchObject({ isUnsigned: true, baseType: 'bigint' })
  })

  test('keeps names exactly, and tells defaults from expressions', () => {
    expect(tableOf(structure, 'Order').columns.map((column) => column.name)).toEqual([
      'ID',
      'select',
      'First Name',
      'back`tick',
      'Ünïcode',
    ])
    const value = (table: string, name: string) =>
      introspector('mysql2').defaultValue(columnOf(structure, table, name))
    expect([value('Order', 'select'), value('every_type', 'yes')]).toEqual(['new', '1'])
    expect([value('every_type', 'key'), value('every_type', 'stamp'), value('every_type', 'day')]).toEqual([
      null,
      null,
      null,
    ])
    expect(columnOf(structure, 'every_type', 'key').defaultExpression).not.toBeNull()
  })

  test('reads keys, references, views and comments', () => {
    expect(tableOf(structure, 'pairs').primaryKey).toEqual(['region', 'number'])
    expect(tableOf(structure, 'no_key').primaryKey).toEqual([])
    expect(tableOf(structure, 'author').uniqueKeys).toEqual([['email']])
    expect(tableOf(structure, 'pair_child').foreignKeys[0]).toMatchObject({
      columns: ['region', 'number'],
      relatedTable: 'pairs',
      relatedColumns: ['region', 'number'],
    })
    expect(tableOf(structure, 'book').foreignKeys).toHaveLength(2)
    expect(tableOf(structure, 'book_list').kind).toBe('view')
    expect(tableOf(structure, 'author').comment).toBe('Who writes')
    expect(columnOf(structure, 'author', 'name').comment).toBe('As on the cover')
  })
})

describe('reading the structure of an SQLite file', () => {
  const file = new Database(':memory:')
  file.run(`create table "Parent Table" (id integer primary key, "Name" varchar(30) not null default 'x')`)
  file.run(`create table child (
    code text primary key, parent integer references "parent table", amount decimal(10,2), doc json, raw blob,
    yes boolean, day date, at datetime, any_thing, total as (amount * 2) stored, unique (parent, code)
  ) without rowid`)
  file.run('create table no_key (a int, b text)')
  file.run('create view both as select * from child')
  const reader: StructureReader = {
    all: async <T>({ sql }: { sql: string }) => file.prepare(sql).all() as T[],
  }
  let structure: DatabaseStructure
  beforeAll(async () => {
    structure = await introspector('sqlite3').read(reader, '')
  })

  test('knows types, keys, references, views and generated columns', () => {
    expect(structure.tables.map(({ name, kind }) => [name, kind])).toEqual([
      ['Parent Table', 'table'],
      ['both', 'view'],
      ['child', 'table'],
      ['no_key', 'table'],
    ])
    expect(shapesOf('sqlite3', structure, 'child')).toEqual({
      code: 'LongText',
      parent: 'Number',
      amount: 'Decimal',
      doc: 'JSON',
      raw: 'SpecificDBType!',
      yes: 'Checkbox',
      day: 'Date',
      at: 'DateTime',
      any_thing: 'SpecificDBType',
      total: 'SpecificDBType!',
    })
    expect(columnOf(structure, 'Parent Table', 'id').isAutoIncrement).toBe(true)
    expect(columnOf(structure, 'child', 'code').isAutoIncrement).toBe(false)
    expect(tableOf(structure, 'child').foreignKeys).toEqual([
      { name: 'fk_0', columns: ['parent'], relatedTable: 'Parent Table', relatedColumns: ['id'] },
    ])
    expect(tableOf(structure, 'child').uniqueKeys).toEqual([['parent', 'code']])
    expect(tableOf(structure, 'no_key').primaryKey).toEqual([])
  })
})
