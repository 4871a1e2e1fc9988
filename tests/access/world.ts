import { BASE_ROLES } from '../../src/core/roles.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import type { ActorName } from './actors.ts'

/** One of everything that an operation can name, in a base of its own. */
export type World = Awaited<ReturnType<typeof createWorld>>

/** Makes a base with a table, a view and a record, and gives each actor their role in it. */
export async function createWorld(app: TestApp, actors: Record<ActorName, TestUser | null>) {
  const admin = actors.super
  if (!admin) throw new Error('Nobody has signed up')
  const trpc = app.trpc(admin.token)
  const { id: baseId, title: base } = await trpc.bases.create.mutate({
    title: `World ${crypto.randomUUID()}`,
  })
  for (const role of BASE_ROLES) {
    await app.services.auth.access.setMembership(baseId, actors[role]?.id ?? '', role)
  }
  const { table, fields, views } = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Things',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Note', type: 'SingleLineText' },
      { title: 'State', type: 'SingleSelect', options: { choices: [{ title: 'Open' }] } },
    ],
  })
  const fieldId = fields.find(({ title }) => title === 'Note')?.id ?? ''
  const selectId = fields.find(({ title }) => title === 'State')?.id ?? ''
  const defaultViewId = views[0]?.id ?? ''
  const { id: viewId } = await trpc.views.create.mutate({ tableId: table.id, title: 'Second', kind: 'grid' })
  const operations = [{ kind: 'insert' as const, tableId: table.id, rows: [{ values: { [fieldId]: 'a' } }] }]
  const { inserted } = await trpc.records.write.mutate({ change: { baseId, operations } })
  const [sources] = [...(await app.services.bases.sourcesOf([baseId])).values()]
  return {
    app,
    admin,
    trpc,
    base,
    baseId,
    tableId: table.id,
    table: 'Things',
    fieldId,
    selectId,
    viewId,
    defaultViewId,
    orgs: 'noco',
    view: 'Second',
    columnId: fieldId,
    recordId: inserted[0] ?? 0,
    sourceId: sources?.[0]?.id ?? '',
    userId: actors.stranger?.id ?? '',
    /** Links the table with itself, many to many, and gives the field's id. */
    async link(): Promise<string> {
      const options = { kind: 'mm', relatedTableId: table.id }
      const { id } = await trpc.schema.createField.mutate({
        tableId: table.id,
        field: { type: 'Links', options },
      })
      return id
    },
    /** The REST API as the super admin, for what an operation needs beforehand. */
    rest: app.rest(admin.token),
  }
}

/** An id of the right shape that nothing has. */
export const NOBODY = 'us00000000000000'
export const NO_JOB = 'job00000000000000'
