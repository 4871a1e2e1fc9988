import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase, jobEnd } from './support.ts'

/** Written in the manner of databases that people have: a video shop, an ERP, and what web frameworks make. */
const SCHEMA = `
create extension if not exists citext;
create table category (category_id serial primary key, name varchar(25) not null);
create table film (film_id serial primary key, title varchar(255) not null, length smallint, rate numeric(4,2),
  fulltext tsvector not null);
create function fill() returns trigger language plpgsql as
  $$ begin new.fulltext := to_tsvector('simple', new.title); return new; end $$;
create trigger fill before insert or update on film for each row execute function fill();
create table film_category (film_id int not null references film, category_id int not null references category,
  primary key (film_id, category_id));
create table inventory (inventory_id serial primary key, film_id int not null references film,
  category_id int not null references category);
create table people (id uuid primary key default gen_random_uuid(), password varchar(128) not null,
  email citext not null unique, settings json, admin boolean not null);
create table comment (id serial primary key, person_id uuid not null references people, body text);
create table schema_migrations (version varchar not null unique);
create table company (code char(4) primary key, name varchar(40) not null, parent char(4) references company);
create table doc (company char(4) not null references company, year int not null, no int not null, text varchar(20),
  primary key (company, year, no), unique (company, text));
create table payment (no int, paid timestamptz, amount numeric(5,2), primary key (paid, no)) partition by range (paid);
create table payment_all partition of payment default;
create table country (country_name varchar(40) primary key);
create table visit (id serial primary key, country_name varchar(40) references country, day date, note text);
create table moments (id serial primary key, at timestamptz, day date, hour time, number double precision);
insert into category (name) values ('Action');
insert into company values ('AAAA', 'Holding', null), ('B', 'Sub', 'AAAA');
insert into doc values ('B', 2024, 1, 'x');
insert into payment values (1, '2024-01-01 10:00:00.123456+00', 1);
insert into people (password, email, settings, admin) values ('secret', 'Ann@x.com', '{"b": 1, "a": 2}', true);
insert into comment (person_id, body) select id, 'hi' from people;
insert into moments (at, day, hour, number) values ('2024-01-01 10:00:00.123456+00', '0044-03-15 BC', '24:00', 'NaN')`

let bench: Bench
let foreign: ForeignDatabase
let sourceId: string
const ids = new Map<string, string>()
beforeAll(async () => {
  bench = await createBench()
  foreign = await createForeign('postgres', [SCHEMA])
  sourceId = await connect(bench, foreign.sent)
  const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId, includeJunctions: true })
  for (const table of tables) ids.set(table.tableName, table.id)
})
afterAll(async () => {
  await bench.stop()
  await foreign.stop()
})

const path = (table: string) => `/api/v2/tables/${ids.get(table)}/records`
const get = (table: string, query = '') => bench.rest.get(path(table) + query)
const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const fieldsOf = async (table: string) =>
  (await bench.trpc.schema.table.query({ tableId: ids.get(table) ?? '' })).fields

describe('a connected schema', () => {
  test('has a junction only where a table can pair two records but once', async () => {
    const listed = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const titles = listed.map(({ tableName }) => tableName)
    expect([titles.includes('inventory'), titles.includes('film_category')]).toEqual([true, false])
  })

  test('names people by their e-mail and not by their password, and knows the types of extensions', async () => {
    const fields = await fieldsOf('people')
    expect(fields.find(({ isDisplay }) => isDisplay)).toMatchObject({
      title: 'email',
      type: 'SingleLineText',
      readOnlyReason: null,
    })
    expect((await fieldsOf('visit')).find(({ isDisplay }) => isDisplay)?.title).toBe('note')
  })

  test('is written in a table whose key is a unique column, and where a trigger fills what is asked for', async () => {
    expect((await bench.rest.post(path('schema_migrations'), { version: '2026' })).body).toEqual({
      version: '2026',
    })
    const made = await bench.rest.post(path('film'), { title: 'New film' })
    expect([made.status, made.body.error]).toEqual([200, undefined])
    expect(await foreign.ask('select fulltext::text as words from film')).toEqual([
      { words: "'film':2 'new':1" },
    ])
  })

  test('finds and sorts by documents, by keys that are texts, and by the names of what they lead to', async () => {
    for (const query of [
      '?sort=settings',
      '?where=(settings,eq,abc)',
      '?where=(settings,like,b)',
      '?where=(settings,blank)',
    ]) {
      expect([query, (await get('people', query)).status]).toEqual([query, 200])
    }
    expect((await get('comment', '?where=(person_id,like,-)')).body.list).toHaveLength(1)
    expect((await get('comment', '?where=(person_id,eq,5)')).body.list).toEqual([])
    const search = { text: 'Hold', fieldId: null }
    const tableId = ids.get('company') ?? ''
    const found = await bench.trpc.records.list.query({ query: { tableId, limit: 10, offset: 0, search } })
    expect(found.ids).toEqual(['AAAA', 'B'])
  })

  test('has keys without the spaces that fill them up, alone, in several parts, and where they lead', async () => {
    expect((await get('company', '/B')).body).toMatchObject({ code: 'B', parent: 'AAAA', doc: 1 })
    expect((await bench.rest.post(path('company'), { code: 'CC', name: 'C', parent: 'B' })).status).toBe(200)
    expect((await bench.rest.delete(path('company'), { code: 'CC' })).status).toBe(200)
    await undo()
    expect(await foreign.ask(`select trim(parent) as parent from company where code = 'CC'`)).toEqual([
      { parent: 'B' },
    ])
    expect((await get('doc', '/B___2024___1')).body).toMatchObject({ text: 'x' })
    const link = (await fieldsOf('company')).find(({ title }) => title === 'doc')!
    const {
      fieldIds,
      ids: found,
      rows,
    } = await bench.trpc.records.list.query({
      query: { tableId: ids.get('company') ?? '', limit: 10, offset: 0 },
    })
    const cell = String(rows[found.indexOf('B')]?.[fieldIds.indexOf(link.id)])
    expect(JSON.parse(cell)).toEqual([1, [['B___2024___1', expect.anything()]]])
  })

  test('has keys with microseconds, of records that are made here as well', async () => {
    const tableId = ids.get('payment') ?? ''
    const list = await bench.trpc.records.list.query({ query: { tableId, limit: 10, offset: 0 } })
    const [id] = list.ids
    const amount = (await fieldsOf('payment')).find(({ title }) => title === 'amount')!.id
    const operations = [{ kind: 'update' as const, tableId, rows: [{ id: id!, values: { [amount]: 2 } }] }]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    expect(await foreign.ask('select amount from payment')).toEqual([{ amount: '2.00' }])
    const made = await bench.rest.post(path('payment'), { no: 2, paid: '2024-02-01 10:00:00+00:00' })
    expect(made.status).toBe(200)
    await undo()
    expect(await foreign.ask('select no from payment')).toEqual([{ no: 1 }])
  })

  test('gets back by undo what a cell does not show: microseconds, a day before Christ, NaN', async () => {
    const text = 'select at::text, day::text, hour::text, number::text from moments'
    const before = await foreign.ask(text)
    const values = { at: '2025-01-01 00:00:00+00:00', day: '2025-01-01', hour: '01:00:00', number: 5 }
    expect((await bench.rest.patch(path('moments'), { id: 1, ...values })).status).toBe(200)
    const after = await foreign.ask(text)
    await undo()
    expect(await foreign.ask(text)).toEqual(before)
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect(await foreign.ask(text)).toEqual(after)
    await undo()
    expect(await foreign.ask(text)).toEqual(before)
  })

  test('names the field and the value that a column does not take', async () => {
    for (const [values, field] of [
      [{ title: 'x', length: 99_999 }, 'length'],
      [{ title: 'x', rate: 1234.5 }, 'rate'],
      [{ title: 'x'.repeat(300) }, 'title'],
    ] as const) {
      const { status, body } = await bench.rest.post(path('film'), values)
      expect([status, body.details?.field]).toEqual([422, field])
    }
    const double = await bench.rest.post(path('doc'), { company: 'B', year: 2024, no: 2, text: 'x' })
    expect([double.status, double.body.message]).toEqual([
      400,
      'A record with these values in "company", "text" already exists',
    ])
    const same = await bench.rest.post(path('people'), { email: 'ANN@X.com', password: 'p' })
    expect(same.body.message).toContain('“ANN@X.com” is already used by another record')
  })

  test('loses a hundred records that were added at once, by undo', async () => {
    const rows = Array.from({ length: 150 }, (_, n) => ({ name: `Category ${n}` }))
    expect((await bench.rest.post(path('category'), rows)).status).toBe(200)
    await undo()
    expect(await foreign.ask('select count(*)::int as n from category')).toEqual([{ n: 1 }])
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect(await foreign.ask('select count(*)::int as n from category')).toEqual([{ n: 151 }])
    await undo()
  })
})

describe('what others change in the database meanwhile', () => {
  test('is answered as before where a type has become wider, and in words where something is gone', async () => {
    const list = () => get('category', '?where=(name,like,A)')
    for (const _ of [1, 2, 3]) await list()
    await foreign.ask('alter table category alter column name type text')
    for (const _ of [1, 2, 3]) expect((await list()).status).toBe(200)
    await foreign.ask('alter table category rename column name to label')
    const gone = await list()
    expect([gone.status, gone.body.error]).toEqual([400, 'DATABASE_ERROR'])
    expect(gone.body.message).toContain('have changed in the database. Synchronise the data source')
    const refused = await bench.rest.patch(path('category'), { category_id: 1, name: 'x' })
    expect([refused.status, refused.body.error]).toEqual([400, 'DATABASE_ERROR'])
    await foreign.ask('alter table category rename column label to name')
  })

  test('is told in words where a column that is reckoned with has become of another type', async () => {
    const field = {
      type: 'Formula' as const,
      title: 'Twice',
      options: { formula: '{length} * 2 + {rate}', display: null },
    }
    await bench.trpc.schema.createField.mutate({ tableId: ids.get('film') ?? '', field })
    for (const type of ['text', 'boolean', 'date', 'uuid', 'jsonb', 'text[]']) {
      await foreign.ask(`alter table film alter column length type ${type} using null`)
      for (const query of ['', '?sort=length', '?where=(length,gt,3)']) {
        const answer = await get('film', query)
        expect([type, query, answer.status, answer.body.error]).toEqual([type, query, 400, 'DATABASE_ERROR'])
      }
      expect((await get('film')).body.message).toContain(
        'have changed in the database. Synchronise the data source',
      )
    }
  })

  test('ends with its connections once the source is removed', async () => {
    const { id } = await bench.trpc.sources.delete.mutate({ baseId: bench.baseId, sourceId })
    expect((await jobEnd(bench, id)).status).toBe('completed')
    const open = `select count(*)::int as n from pg_stat_activity
      where application_name = 'sheaf' and datname = current_database()`
    expect(await foreign.ask(open)).toEqual([{ n: 0 }])
  })
})

describe('what MySQL has and others do not', () => {
  let shop: ForeignDatabase
  const tables = new Map<string, string>()
  const base: { id: string } = { id: '' }
  beforeAll(async () => {
    shop = await createForeign('mariadb', [
      `create table posts (id bigint unsigned auto_increment primary key, title text not null,
        at datetime not null default '0000-00-00 00:00:00', seen bit(1), big bigint unsigned)`,
      'create table line (no int primary key, quantity int check (quantity >= 0))',
      'create table tokens (id char(36) primary key default uuid(), name varchar(20))',
      'create table bytes (id binary(16) primary key, name varchar(20))',
      `insert into posts (title, at, seen, big) values ('a', '2024-01-01 10:00:00', b'1', 18446744073709551615)`,
      `set sql_mode = ''`,
      `insert into posts (title) values ('b')`,
    ])
    base.id = (await bench.trpc.bases.create.mutate({ title: 'MySQL' })).id
    await connect({ ...bench, baseId: base.id }, shop.sent)
    for (const table of await bench.trpc.schema.tables.query({ baseId: base.id })) {
      tables.set(table.tableName, `/api/v2/tables/${table.id}/records`)
    }
  })
  afterAll(() => shop.stop())
  const at = (table: string) => tables.get(table) ?? ''

  test('bits for yes and no, days of zeroes, large numbers: edited, and back by undo', async () => {
    const text = 'select title, cast(at as char) as at, seen + 0 as seen, cast(big as char) as big from posts'
    const before = await shop.ask(text)
    expect((await bench.rest.get(`${at('posts')}?where=(seen,checked)`)).body.list).toHaveLength(1)
    const values = { title: '', at: '2025-01-01 00:00:00+00:00', seen: false, big: 5 }
    const rows = [1, 2].map((id) => ({ id, ...values }))
    expect((await bench.rest.patch(at('posts'), rows)).status).toBe(200)
    const [first] = await shop.ask<{ title: string; seen: number }>(text)
    expect([first?.title, Number(first?.seen)]).toEqual(['', 0])
    await bench.trpc.records.undo.mutate({ baseId: base.id })
    expect(await shop.ask(text)).toEqual(before)
  })

  test('checks, keys that it makes itself, and keys of bytes', async () => {
    const refused = await bench.rest.post(at('line'), { no: 1, quantity: -1 })
    expect([refused.status, refused.body.error]).toEqual([400, 'DATABASE_ERROR'])
    const made = await bench.rest.post(at('tokens'), { name: 'x' })
    expect(made.body.id).toMatch(/^[0-9a-f-]{36}$/)
    const bytes = await bench.rest.post(at('bytes'), { name: 'x' })
    expect([bytes.status, bytes.body.message]).toEqual([403, expect.stringContaining('binary primary key')])
  })
})
