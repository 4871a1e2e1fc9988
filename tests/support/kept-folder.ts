import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { ended, importNew } from '../imports/support.ts'
import { EVERY_TYPE } from '../records/every-type.ts'
import { type TestTable, testTable } from '../records/support.ts'
import { PASSWORD } from './app.ts'
import { createRestClient, createTrpcClient } from './client.ts'

/** Folder of the archives, one per release and home: `0.2.0-sqlite.tar.gz`. */
export const KEPT_FOLDERS = 'tests/fixtures/releases'

/** SQL dump of the database in the archive of a PostgreSQL home. */
export const DATABASE_DUMP = 'database.sql'

/** Content of an archived folder, stored in its `kept.json`. */
export interface Kept {
  email: string
  password: string
  baseTitle: string
  /** The records of each table by title, as returned by `GET /api/v2/tables/{id}/records`. */
  tables: Record<string, Record<string, unknown>[]>
}

/**
 * Fills the empty server at `url` through its API: all field types, links and computed fields, views, public
 * links, members, tokens, an import, edits, deletions and undo.
 */
export async function fillFolder(url: string): Promise<Kept> {
  const email = 'ada@example.com'
  const { token } = await createTrpcClient(url).auth.signUp.mutate({ email, password: PASSWORD })
  const trpc = createTrpcClient(url, token)
  const rest = createRestClient(url, token)
  const { id: baseId } = await trpc.bases.create.mutate({ title: 'Kept' })
  await trpc.bases.invite.mutate({ baseId, emails: ['bob@example.com'], role: 'editor' })
  const create = async (title: string, fields: object[]): Promise<TestTable> =>
    testTable(rest, await trpc.schema.createTable.mutate({ baseId, title, fields: fields as never }))

  const kinds = await create(
    'Kinds',
    Object.entries(EVERY_TYPE).map(([title, spec]) => ({
      title,
      ...(typeof spec === 'string' ? { type: spec } : spec),
    })),
  )
  await rest.post(kinds.path, [
    {
      Title: 'One',
      Notes: 'first\nsecond',
      Num: 1,
      Dec: 1.5,
      Cur: 9.99,
      Pct: 50,
      Rat: 4,
      Cb: true,
      ...LATER,
    },
    { Title: 'Two' },
  ])

  const people = await create('People', [
    { title: 'Name', type: 'SingleLineText' },
    { title: 'Rate', type: 'Decimal' },
  ])
  const tasks = await create('Tasks', [
    { title: 'Title', type: 'SingleLineText' },
    { title: 'Qty', type: 'Number' },
    { title: 'Due', type: 'Date' },
    { title: 'State', type: 'SingleSelect', options: { choices: [{ title: 'Open' }, { title: 'Done' }] } },
    { title: 'Files', type: 'Attachment' },
  ])
  await rest.post(people.path, [
    { Name: 'Grace', Rate: 3.5 },
    { Name: 'Edsger', Rate: 4 },
  ])
  await rest.post(tasks.path, [
    { Title: 'Plan', Qty: 2, Due: '2026-01-02', State: 'Open' },
    { Title: 'Build', Qty: 5, State: 'Done' },
    { Title: 'Drop', Qty: 1 },
  ])
  const add = (title: string, type: FieldTypeName, options: Record<string, unknown>) =>
    trpc.schema.createField.mutate({ tableId: tasks.id, field: { title, type, options } })
  const link = await add('People', 'Links', { kind: 'mm', relatedTableId: people.id })
  const relation = { relationFieldId: link.id, targetFieldId: people.field('Rate').id }
  await add('Rates', 'Rollup', { ...relation, function: 'sum' })
  await add('Names', 'Lookup', { ...relation, targetFieldId: people.field('Name').id })
  await add('Cost', 'Formula', { formula: '{Qty} * {Rates}' })
  const write = (operation: object) =>
    trpc.records.write.mutate({ change: { baseId, operations: [operation as never] } })
  await write({ kind: 'link', tableId: tasks.id, fieldId: link.id, id: 1, targets: [1, 2] })
  await write({ kind: 'delete', tableId: tasks.id, ids: [3] })
  await write({ kind: 'update', tableId: tasks.id, rows: [{ id: 2, values: tasks.values({ Qty: 50 }) }] })
  await trpc.records.undo.mutate({ baseId })

  for (const kind of ['kanban', 'gallery', 'form', 'calendar'] as const) {
    await trpc.views.create.mutate({ tableId: tasks.id, title: kind, kind })
  }
  const [view] = tasks.schema.views
  if (!view) throw new Error('The table has no view')
  await trpc.views.update.mutate({
    viewId: view.id,
    patch: {
      filter: { fieldId: tasks.field('Qty').id, operator: 'gt', value: 0 },
      sorts: [{ fieldId: tasks.field('Title').id, direction: 'desc' }],
    },
  })
  await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: { password: 'open sesame' } })
  await rest.post('/api/v1/tokens', { description: 'ci' })

  const how = { title: 'Imported', columns: [{ title: 'City' }, { title: 'Size', type: 'Number' as const }] }
  await importNew({ url, token }, baseId, 'City,Size\nOslo,7\nRome,28\n', how)
  const { jobId } = await trpc.copies.table.mutate({ tableId: people.id })
  await ended({ url, token }, jobId)
  // Deleted objects stay in the trash, from which undo restores them.
  await trpc.schema.deleteField.mutate({ fieldId: kinds.field('Js').id })
  await trpc.schema.updateField.mutate({ fieldId: kinds.field('Dec').id, patch: { type: 'SingleLineText' } })
  return { email, password: PASSWORD, baseTitle: 'Kept', tables: await readTables(url, token, baseId) }
}

const LATER = {
  D: '2026-01-02',
  Dt: '2026-01-02 03:04:05+00:00',
  Ss: 'red',
  Ms: 'red,blue',
  Em: 'a@example.com',
}

/** The records of all of a base's tables, by the tables' titles. */
export async function readTables(url: string, token: string, baseId: string): Promise<Kept['tables']> {
  const rest = createRestClient(url, token)
  const tables = await createTrpcClient(url, token).schema.tables.query({ baseId })
  const read = tables.map(async ({ id, title }) => {
    const { status, body } = await rest.get(`/api/v2/tables/${id}/records?limit=100`)
    if (status !== 200) throw new Error(`${title}: ${status} ${JSON.stringify(body)}`)
    return [title, body.list] as const
  })
  return Object.fromEntries(await Promise.all(read))
}
