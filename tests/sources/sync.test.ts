import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Field } from '../../src/core/model.ts'
import { type Bench, createBench } from '../records/support.ts'
import { createBase } from '../support/factories.ts'
import { connect, createForeign, type ForeignDatabase, jobEnd } from './support.ts'

let main: Bench
beforeAll(async () => {
  main = await createBench()
})
afterAll(() => main.stop())

const SCHEMA = `
  create type state as enum ('open', 'done');
  create table project (id serial primary key, name varchar(40) not null);
  create table task (
    id serial primary key, title varchar(40) not null, points integer, state state default 'open',
    project_id integer references project (id)
  );
  create table note (id serial primary key, body text);
  create view done_task as select id from task where state = 'done'`

/** A base of its own that is connected to a fresh database. */
async function connected() {
  const foreign: ForeignDatabase = await createForeign('postgres', [SCHEMA])
  const { id: baseId } = await createBase(main.app, main.owner)
  const bench = { ...main, baseId }
  const sourceId = await connect(bench, foreign.sent)
  const { trpc, rest } = bench
  const path = `/api/v1/db/meta/projects/${baseId}/meta-diff`
  return {
    foreign,
    baseId,
    sourceId,
    trpc,
    rest,
    path,
    differences: () => trpc.schema.differences.query({ baseId, sourceId }),
    async sync(keys?: string[]) {
      const { id } = await trpc.schema.syncSource.mutate({ baseId, sourceId, ...(keys && { keys }) })
      const job = await jobEnd(bench, id)
      expect(job.error).toBeNull()
      return job
    },
    tables: () => trpc.schema.tables.query({ baseId }),
    async fields(title: string): Promise<Field[]> {
      const table = (await trpc.schema.tables.query({ baseId })).find((one) => one.title === title)
      return (await trpc.schema.table.query({ tableId: table?.id ?? '' })).fields
    },
  }
}

const titled = (fields: Field[], title: string) => fields.find((field) => field.title === title)

describe('GET M/projects/{b}/meta-diff', () => {
  test('is empty for the own database, and for a source that nothing has changed in', async () => {
    expect((await main.rest.get(`/api/v1/db/meta/projects/${main.baseId}/meta-diff`)).body).toEqual([])
    const { rest, path, sourceId, foreign } = await connected()
    expect((await rest.get(path)).body).toEqual([])
    expect((await rest.get(`${path}/${sourceId}`)).body).toEqual([])
    expect((await rest.get(`${path}/b00000000000000`)).status).toBe(404)
    await foreign.stop()
  })

  test('lists every kind of difference as clients know it', async () => {
    const { rest, path, sourceId, foreign } = await connected()
    await foreign.ask(`alter table task add column extra text, drop column points,
      drop constraint task_project_id_fkey, alter column title type varchar(80)`)
    await foreign.ask('drop table note')
    await foreign.ask('create table fresh (id serial primary key)')
    await foreign.ask('create view fresh_view as select id from fresh')
    await foreign.ask('alter table project add column lead_id integer references task (id)')
    const { body } = await rest.get(`${path}/${sourceId}`)
    const found = body.flatMap(
      (entry: { table_name: string; detectedChanges: { type: string; msg: string }[] }) =>
        entry.detectedChanges.map(({ type, msg }) => `${entry.table_name} ${type} ${msg}`),
    )
    expect(found.toSorted()).toEqual([
      'fresh TABLE_NEW New table',
      'fresh_view VIEW_NEW New view',
      'note TABLE_REMOVE Table removed',
      'project TABLE_COLUMN_ADD New column(lead_id)',
      'project TABLE_RELATION_ADD New relation',
      'task TABLE_COLUMN_ADD New column(extra)',
      'task TABLE_COLUMN_REMOVE Column removed(points)',
      'task TABLE_COLUMN_TYPE_CHANGE Column type changed(title)',
      'task TABLE_RELATION_REMOVE Relation removed',
    ])
    const task = body.find((entry: { table_name: string }) => entry.table_name === 'task')
    expect(task).toMatchObject({ title: 'task', meta: null, source_id: sourceId, type: 'table' })
    const removed = task.detectedChanges.find((one: { type: string }) => one.type === 'TABLE_RELATION_REMOVE')
    const ends = { tn: 'task', rtn: 'project', cn: 'project_id', rcn: 'id' }
    expect(removed).toMatchObject({ ...ends, colId: expect.any(String) })
    await foreign.stop()
  })

  test('says why where the database cannot be read', async () => {
    const { rest, path, foreign } = await connected()
    await foreign.stop()
    const { status, body } = await rest.get(path)
    expect([status, body.error]).toEqual([400, 'DATABASE_ERROR'])
    expect(body.message).toContain('does not exist on this server')
  })
})

describe('POST M/projects/{b}/meta-diff', () => {
  test('applies them all, and then none is left', async () => {
    const { rest, path, foreign, tables, fields, differences } = await connected()
    await foreign.ask(`alter table task add column extra text, drop column points,
      alter column title type text, drop constraint task_project_id_fkey`)
    await foreign.ask(`alter type state add value 'waiting'`)
    await foreign.ask('drop view done_task')
    await foreign.ask('drop table note')
    await foreign.ask('create table fresh (id serial primary key, task_id integer references task (id))')
    const { body } = await rest.post(path)
    expect(body.id).toMatch(/^job/)
    expect((await jobEnd(main, body.id)).status).toBe('completed')
    expect(await differences()).toEqual([])
    expect((await tables()).map((table) => table.title).toSorted()).toEqual(['fresh', 'project', 'task'])
    const task = await fields('task')
    expect(task.map((field) => field.title)).not.toContain('points')
    expect(titled(task, 'extra')?.type).toBe('LongText')
    expect(titled(task, 'title')).toMatchObject({ databaseType: 'text', isDisplay: true })
    expect(titled(task, 'project_id')).toMatchObject({ type: 'Number' })
    expect(titled(task, 'project')).toBeUndefined()
    expect(titled(await fields('project'), 'task')).toBeUndefined()
    expect(titled(task, 'fresh')).toMatchObject({ type: 'Links' })
    const choices = titled(task, 'state')?.options.choices as { title: string }[]
    expect(choices.map(({ title }) => title)).toEqual(['open', 'done', 'waiting'])
    await foreign.stop()
  })

  test('applies only what was chosen', async () => {
    const { foreign, differences, sync, fields } = await connected()
    await foreign.ask('alter table task add column one text, add column two text')
    const [one, two] = await differences()
    expect([one?.column, two?.column]).toEqual(['one', 'two'])
    await sync([two?.key ?? ''])
    const titles = (await fields('task')).map((field) => field.title)
    expect([titles.includes('one'), titles.includes('two')]).toEqual([false, true])
    expect((await differences()).map((change) => change.column)).toEqual(['one'])
    await foreign.stop()
  })

  test('keeps what people made of a field, and brings a column back as the field that it was', async () => {
    const { foreign, trpc, sync, fields } = await connected()
    const before = titled(await fields('task'), 'points')!
    await trpc.schema.updateField.mutate({
      fieldId: before.id,
      patch: { title: 'Effort', description: 'In days' },
    })
    await foreign.ask('alter table task drop column points')
    await sync()
    expect(titled(await fields('task'), 'Effort')).toBeUndefined()
    await foreign.ask('alter table task add column points bigint')
    await sync()
    expect(titled(await fields('task'), 'Effort')).toMatchObject({
      id: before.id,
      description: 'In days',
      databaseType: 'bigint',
      columnName: 'points',
    })
    await foreign.stop()
  })

  test('is taken back as a whole by undo, and done again by redo', async () => {
    const { foreign, baseId, trpc, sync, tables, fields, differences } = await connected()
    const state = async () => ({
      tables: (await tables()).map((table) => table.title).toSorted(),
      task: (await fields('task')).map((field) => `${field.title} ${field.type} ${field.databaseType}`),
      project: (await fields('project')).map((field) => field.title),
    })
    const before = await state()
    await foreign.ask(`alter table task add column extra text, drop column points,
      drop constraint task_project_id_fkey, alter column title type varchar(80)`)
    await foreign.ask('drop table note')
    await foreign.ask('create table fresh (id serial primary key)')
    const changes = (await differences()).length
    await sync()
    const after = await state()
    await trpc.records.undo.mutate({ baseId })
    expect(await state()).toEqual(before)
    expect(await differences()).toHaveLength(changes)
    await trpc.records.redo.mutate({ baseId })
    expect(await state()).toEqual(after)
    await foreign.stop()
  })

  test('puts nothing away for good: a removed table waits in the trash with its view', async () => {
    const { foreign, baseId, trpc, sync, tables } = await connected()
    const note = (await tables()).find((table) => table.title === 'note')!
    const [view] = (await trpc.schema.table.query({ tableId: note.id })).views
    await foreign.ask('drop table note')
    await sync()
    const trash = await trpc.schema.tables.query({ baseId, trash: true })
    expect(trash.map((table) => table.title)).toEqual(['note'])
    await foreign.ask('create table note (id serial primary key, body text)')
    await sync()
    const schema = await trpc.schema.table.query({ tableId: note.id })
    expect(schema.views.map(({ id }) => id)).toEqual([view!.id])
    await foreign.stop()
  })

  test('brings a table back with the links that it had, from either side and once each', async () => {
    const { foreign, trpc, tables, sync, fields, differences } = await connected()
    const links = async () =>
      (await Promise.all(['task', 'project'].map(fields)))
        .flat()
        .filter(({ type }) => type === 'Links' || type === 'LinkToAnotherRecord')
        .map(({ id, title, options }) => ({ id, title, inverse: options.inverseFieldId }))
    const link = titled(await fields('task'), 'project')!
    await trpc.schema.updateField.mutate({ fieldId: link.id, patch: { title: 'Belongs to' } })
    const before = await links()
    expect(before).toHaveLength(2)
    await foreign.ask('drop table task cascade')
    await sync()
    await foreign.ask(`create table task (id serial primary key, title varchar(40) not null, points integer,
      state state default 'open', project_id integer references project (id))`)
    await sync()
    expect(await links()).toEqual(before)
    // Deleted here, and asked for by name.
    for (const title of ['task', 'project']) {
      const tableId = (await tables()).find((table) => table.title === title)?.id ?? ''
      await trpc.schema.deleteTable.mutate({ tableId })
      await sync((await differences()).map(({ key }) => key))
      expect(await links()).toEqual(before)
    }
    expect(await differences()).toEqual([])
    await foreign.stop()
  })

  test('brings back many-to-many links with the tables that they lead to', async () => {
    const { foreign, trpc, tables, sync, fields, differences } = await connected()
    await foreign.ask(`create table tag (id serial primary key, name varchar(40));
      create table note_tag (note_id integer references note (id), tag_id integer references tag (id),
        primary key (note_id, tag_id))`)
    await sync()
    const links = async () =>
      (await Promise.all(['note', 'tag'].map(fields)))
        .flat()
        .filter(({ type }) => type === 'Links')
        .map(({ id, title, options, isSystem }) => ({ id, title, kind: options.kind, isSystem }))
    const before = await links()
    expect(before.filter(({ kind }) => kind === 'mm').map(({ title }) => title)).toEqual(['tag', 'note'])
    const tableId = (await tables()).find((table) => table.title === 'tag')?.id ?? ''
    await trpc.schema.deleteTable.mutate({ tableId })
    await sync((await differences()).map(({ key }) => key))
    expect(await links()).toEqual(before)
    await foreign.stop()
  })

  test('keeps a link whose key people have hidden when its table comes back', async () => {
    const { foreign, trpc, sync, fields } = await connected()
    const key = titled(await fields('task'), 'project_id')!
    const link = titled(await fields('task'), 'project')!
    await trpc.schema.deleteField.mutate({ fieldId: key.id })
    await foreign.ask('drop table task cascade')
    await sync()
    await foreign.ask('create table task (id serial primary key, project_id integer references project (id))')
    await sync()
    expect(titled(await fields('task'), 'project')?.id).toBe(link.id)
    await foreign.stop()
  })
})
