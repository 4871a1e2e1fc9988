import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { personHash } from '../../modules/base-imports/roster.ts'
import { defineBaseImportsTables } from '../../modules/base-imports/tables.ts'
import {
  type AirtableServer,
  type AirtableServerTable,
  startAirtableServer,
} from '../support/airtable-server.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { startBaserowServer } from '../support/baserow-server.ts'
import { createBase, createMember } from '../support/factories.ts'
import { airtableBase, airtableTable, fromAirtable, importFrom, recordsOf, settled } from './support.ts'

let app: TestApp
let owner: TestUser
let server: AirtableServer
const imports = () => app.trpc(owner.token).baseImports

beforeAll(async () => {
  server = startAirtableServer({ bases: [] })
  app = await createTestApp({
    config: { airtableApiUrl: server.url, allowLocalHttp: true, airtableRequestsPerSecond: 500 },
  })
  owner = await app.signUp()
})
afterAll(async () => {
  await app.stop()
  await server.stop()
})

const zed = { id: 'usrZed', email: 'Zed@example.com', name: 'Zed' }
const una = { id: 'usrUna', name: 'Una Named' }
const comment = (id: string, text: string, minute: number) => ({
  id,
  author: zed,
  text,
  createdTime: `2024-03-05T08:${minute}:30.000Z`,
})

/** Imports a base with jobs of people without an account; the returned functions read what it has brought. */
async function importJobs(choices: { names?: boolean } = {}) {
  const me = { id: 'usrMe', email: owner.email, name: 'Me' }
  const jobs = airtableTable(
    'Jobs',
    {
      Name: 'singleLineText',
      Owner: 'singleCollaborator',
      Team: 'multipleCollaborators',
      Maker: 'createdBy',
    },
    [
      { Name: 'One', Owner: zed, Team: [me, zed, una], Maker: zed },
      { Name: 'Two', Owner: zed, Team: [zed], Maker: me },
      { Name: 'Three', Owner: me, Maker: me },
    ],
  )
  jobs.records[0]!.comments = [comment('comOne', 'First', 10), comment('comTwo', 'Second', 20)]
  const base = airtableBase('Crew', [jobs])
  server.options.bases.push(base)
  const { id } = await imports().begin.mutate(fromAirtable(base.id, { keepCredentials: true, choices }))
  const done = await settled(app, owner, id)
  expect(done.status).toBe('completed')
  const baseId = done.baseId!
  const read = () => recordsOf(app, owner, baseId, 'Jobs')
  const { table, rows } = await read()
  const recordId = rows[0]!.$id as number
  return {
    id,
    baseId,
    jobs,
    read,
    table,
    again: async () => {
      await imports().again.mutate({ importId: id })
      const { status, tables } = await settled(app, owner, id)
      expect(status).toBe('completed')
      return tables[0]!.changed
    },
    cells: async () =>
      (await read()).rows.map((row) => [
        row.Owner,
        row['Owner (not matched)'],
        row.Team,
        row['Team (not matched)'],
      ]),
    people: async () =>
      (await imports().people.query({ importId: id })).people.map((person) => [
        person.key,
        person.cells,
        person.records,
        person.comments,
        person.memberId,
        person.isBehind,
      ]),
    authors: async () => {
      const here = { tableId: table.id, recordId }
      const { comments } = await app.trpc(owner.token).comments.list.query(here)
      return comments.map(({ createdBy, authorName }) => [createdBy, authorName])
    },
    report: async () =>
      (await imports().report.query({ importId: id })).flatMap(({ value, reason }) =>
        /Nobody with this|does not give the e-mail/.test(reason) ? [value] : [],
      ),
    async write(name: string, values: Record<string, unknown>) {
      const { rows, schema } = await read()
      const byId = Object.entries(values).map(([title, value]) => [
        schema.fields.find((field) => field.title === title)!.id,
        value,
      ])
      const row = { id: rows.find(({ Name }) => Name === name)!.$id, values: Object.fromEntries(byId) }
      await app.trpc(owner.token).records.write.mutate({
        change: { baseId, operations: [{ kind: 'update', tableId: table.id, rows: [row as never] }] },
      })
    },
  }
}

/** Stores what an import knows of people as a version did that told them apart by their addresses and names alone. */
async function forgetIds(importId: string, { fields, records }: AirtableServerTable): Promise<void> {
  const { db, tables } = app.kernel.meta
  const { baseImportObjects } = tables(defineBaseImportsTables)
  const { scope: scopeOf, sourceId: idOf } = baseImportObjects
  const isOfImport = eq(baseImportObjects.importId, importId)
  const withoutIds = (json: string): string =>
    JSON.stringify(JSON.parse(json, (key, value) => (key === 'id' ? undefined : value)))
  const digestOf = (recordId: string, personOf: (person: typeof zed) => unknown): string => {
    const record = records.find(({ id }) => id === recordId)!
    const cells = fields.flatMap(({ id, type }) => {
      const value = record.fields[id]
      if (value === undefined) return []
      return [[id, type === 'singleCollaborator' ? { people: [personOf(value as typeof zed)] } : value]]
    })
    const hashed = JSON.stringify([cells, [], record.comments?.length ?? 0])
    return createHash('sha256').update(hashed).digest('base64url')
  }
  for (const { scope, sourceId, digest } of await db.select().from(baseImportObjects).where(isOfImport)) {
    const patch: { sourceId?: string; digest?: string } = {}
    if (scope === 'person') {
      patch.digest = withoutIds(digest!)
      if (sourceId.startsWith('id ')) patch.sourceId = JSON.parse(digest!).name.toLowerCase()
    } else if (scope.startsWith('comment:')) {
      patch.digest = digest!.replace(personHash('id usrKim'), personHash('kim'))
    } else if (scope.startsWith('record:')) {
      const [present, lacking] = digest!.split(' lacks ')
      expect(present).toBe(digestOf(sourceId, ({ id, email, name }) => ({ id, email: email ?? null, name })))
      const former = digestOf(sourceId, ({ email, name }) => ({ email: email ?? null, name }))
      patch.digest = lacking ? `${former} lacks ${withoutIds(lacking)}` : former
    } else continue
    const isIt = and(isOfImport, eq(scopeOf, scope), eq(idOf, sourceId))
    await db.update(baseImportObjects).set(patch).where(isIt)
  }
}

describe('baseImports.match', () => {
  test('rejects people whom the import has not found, others than members, and other users', async () => {
    const { id, baseId } = await importJobs()
    const stranger = await app.signUp()
    const editor = await createMember(app, baseId, 'editor')
    const choice = { importId: id, key: 'zed@example.com', memberId: editor.id }
    await expect(imports().match.mutate({ ...choice, key: 'nobody@example.com' })).rejects.toThrow(
      'no such person',
    )
    await expect(imports().match.mutate({ ...choice, memberId: stranger.id })).rejects.toThrow('Only members')
    for (const { token } of [stranger, editor]) {
      await expect(app.trpc(token).baseImports.match.mutate(choice)).rejects.toThrow('does not exist')
      await expect(app.trpc(token).baseImports.people.query({ importId: id })).rejects.toThrow(
        'does not exist',
      )
    }
  })

  test('rejects a user who may not import into the base any more', async () => {
    const { id: baseId } = await createBase(app, owner)
    const user = await createMember(app, baseId, 'creator')
    const table = airtableTable('Own', { Name: 'singleLineText', Owner: 'singleCollaborator' }, [
      { Owner: zed },
    ])
    const base = airtableBase('Own', [table])
    server.options.bases.push(base)
    const own = app.trpc(user.token).baseImports
    const { id } = await own.begin.mutate(fromAirtable(base.id, { baseId }))
    await settled(app, user, id)
    const { people } = await own.people.query({ importId: id })
    expect(people.map(({ email }) => email)).toEqual(['Zed@example.com'])
    await app.services.auth.access.setMembership(baseId, user.id, 'editor')
    await expect(own.people.query({ importId: id })).rejects.toThrow()
    const choice = { importId: id, key: 'zed@example.com', memberId: user.id }
    await expect(own.match.mutate(choice)).rejects.toThrow()
  })

  test('gives a member the cells and comments of a person with the next run, then another one or nobody', async () => {
    const crew = await importJobs()
    const { id, baseId, again, cells, people, authors, report } = crew
    const bob = await createMember(app, baseId, 'editor')
    const [z, u] = ['Zed <Zed@example.com>', 'Una Named']
    expect(await people()).toEqual([
      ['zed@example.com', 5, 1, 2, null, false],
      ['id usrUna', 1, 0, 0, null, false],
      [owner.email.toLowerCase(), 4, 2, 0, owner.id, false],
    ])
    expect(await cells()).toEqual([
      [null, z, owner.id, `${z}, ${u}`],
      [null, z, null, z],
      [owner.id, null, null, null],
    ])
    expect(await authors()).toEqual([
      [owner.id, 'Zed'],
      [owner.id, 'Zed'],
    ])
    expect((await report()).toSorted()).toEqual(['Una Named', 'Zed@example.com'])

    const match = (key: string, memberId?: string | null) =>
      imports().match.mutate({ importId: id, key, ...(memberId !== undefined && { memberId }) })
    expect(await match('zed@example.com', bob.id)).toMatchObject({ memberId: bob.id, isBehind: true })
    // They stay where they are in the list.
    expect((await people()).map(([key]) => key)).toEqual([
      'zed@example.com',
      'id usrUna',
      owner.email.toLowerCase(),
    ])
    await match('id usrUna', owner.id)
    // Nothing but the next run changes records.
    expect((await cells())[0]![0]).toBeNull()
    expect(await again()).toBe(2)
    expect(await cells()).toEqual([
      [bob.id, null, `${owner.id},${bob.id}`, null],
      [bob.id, null, bob.id, null],
      [owner.id, null, null, null],
    ])
    expect(await authors()).toEqual([
      [bob.id, null],
      [bob.id, null],
    ])
    expect(await report()).toEqual([])
    expect((await people())[0]).toEqual(['zed@example.com', 5, 1, 2, bob.id, false])
    expect(await again()).toBe(0)

    // Another member, but not in a cell that was changed here meanwhile.
    const eve = await createMember(app, baseId, 'editor')
    await crew.write('Two', { Owner: eve.id })
    await match('zed@example.com', owner.id)
    expect(await again()).toBe(2)
    expect(await cells()).toEqual([
      [owner.id, null, owner.id, null],
      [eve.id, null, owner.id, null],
      [owner.id, null, null, null],
    ])
    expect(await authors()).toEqual([
      [owner.id, null],
      [owner.id, null],
    ])

    // Nobody: the names come back.
    await match('zed@example.com', null)
    expect(await again()).toBe(2)
    const [one, two] = await cells()
    expect([one![0], one![1], two![3]]).toEqual([null, z, z])
    expect(await authors()).toEqual([
      [owner.id, 'Zed'],
      [owner.id, 'Zed'],
    ])

    // Whoever has the address.
    await match('zed@example.com')
    const real = await app.signUp('zed@example.com')
    await app.services.auth.access.setMembership(baseId, real.id, 'editor')
    await again()
    expect((await cells()).map(([first]) => first)).toEqual([real.id, eve.id, owner.id])
    // One who leaves stays in the cells.
    await app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: real.id })
    expect(await again()).toBe(0)
    expect((await cells())[0]![0]).toBe(real.id)
    expect((await authors())[0]).toEqual([real.id, null])
  })

  test('tells people of the same name apart by their ids, each with a choice of their own', async () => {
    const kims = ['usrKimOne', 'usrKimTwo'].map((id) => ({ id, name: 'Kim' }))
    const table = airtableTable(
      'Kims',
      { Name: 'singleLineText', Owner: 'singleCollaborator', Team: 'multipleCollaborators' },
      [
        { Name: 'One', Owner: kims[0], Team: kims },
        { Name: 'Two', Owner: kims[1] },
      ],
    )
    table.records[0]!.comments = [{ ...comment('comKim', 'Mine', 10), author: kims[1]! as never }]
    const base = airtableBase('Kims', [table])
    server.options.bases.push(base)
    const { id } = await imports().begin.mutate(fromAirtable(base.id, { keepCredentials: true }))
    const baseId = (await settled(app, owner, id)).baseId!
    const { people } = await imports().people.query({ importId: id })
    const counted = people.map(({ sourceId, name, email, cells, comments }) => [
      sourceId,
      name,
      email,
      cells,
      comments,
    ])
    expect(counted.toSorted()).toEqual([
      ['usrKimOne', 'Kim', null, 2, 0],
      ['usrKimTwo', 'Kim', null, 2, 1],
    ])
    const keyOf = (sourceId: string) => people.find((one) => one.sourceId === sourceId)!.key
    const bob = await createMember(app, baseId, 'editor')
    await imports().match.mutate({ importId: id, key: keyOf('usrKimTwo'), memberId: bob.id })
    await imports().again.mutate({ importId: id })
    await settled(app, owner, id)
    const { rows, table: made } = await recordsOf(app, owner, baseId, 'Kims')
    expect(rows.map((row) => [row.Owner, row['Owner (not matched)'], row.Team])).toEqual([
      [null, 'Kim', bob.id],
      [bob.id, null, null],
    ])
    const here = { tableId: made.id, recordId: rows[0]!.$id as number }
    const { comments } = await app.trpc(owner.token).comments.list.query(here)
    expect(comments.map(({ createdBy }) => createdBy)).toEqual([bob.id])
  })

  test('goes on with people whom an earlier version knew by their names, and writes only what they change', async () => {
    const kim = { id: 'usrKim', name: 'Kim' }
    const table = airtableTable('Early', { Name: 'singleLineText', Owner: 'singleCollaborator' }, [
      { Name: 'One', Owner: kim },
      { Name: 'Two', Owner: zed },
    ])
    table.records[0]!.comments = [{ ...comment('comEarly', 'Kept', 10), author: kim as never }]
    const base = airtableBase('Early', [table])
    server.options.bases.push(base)
    const { id } = await imports().begin.mutate(fromAirtable(base.id, { keepCredentials: true }))
    const baseId = (await settled(app, owner, id)).baseId!
    await forgetIds(id, table)
    const bob = await createMember(app, baseId, 'editor')
    await imports().match.mutate({ importId: id, key: 'kim', memberId: bob.id })
    const { table: made, schema, rows } = await recordsOf(app, owner, baseId, 'Early')
    const nameId = schema.fields.find(({ title }) => title === 'Name')!.id
    const changed = rows.map(({ $id, Name }) => ({ id: $id as number, values: { [nameId]: `${Name} here` } }))
    await app.trpc(owner.token).records.write.mutate({
      change: { baseId, operations: [{ kind: 'update', tableId: made.id, rows: changed }] },
    })
    for (let run = 0; run < 2; run++) {
      await imports().again.mutate({ importId: id })
      await settled(app, owner, id)
      const after = await recordsOf(app, owner, baseId, 'Early')
      expect(after.rows.map(({ Name, Owner }) => [Name, Owner])).toEqual([
        ['One here', bob.id],
        ['Two here', null],
      ])
      const { people } = await imports().people.query({ importId: id })
      expect(people.map(({ key, cells, comments, memberId }) => [key, cells, comments, memberId])).toEqual([
        ['zed@example.com', 1, 0, null],
        ['kim', 1, 1, bob.id],
      ])
      const here = { tableId: made.id, recordId: rows[0]!.$id as number }
      const { comments } = await app.trpc(owner.token).comments.list.query(here)
      expect(comments.map(({ createdBy }) => createdBy)).toEqual([bob.id])
    }
  })

  test('leaves a chosen member who has left the base in cells and comments until somebody else is chosen', async () => {
    const { id, baseId, again, cells, people, authors } = await importJobs()
    const match = (memberId: string | null) =>
      imports().match.mutate({ importId: id, key: 'zed@example.com', memberId })
    const firsts = async () => (await cells()).map(([first]) => first)
    const [bob, eve] = [await createMember(app, baseId, 'editor'), await createMember(app, baseId, 'editor')]
    await match(bob.id)
    expect(await again()).toBe(2)
    await app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: bob.id })
    expect(await people()).toContainEqual(['zed@example.com', 5, 1, 2, null, false])
    // Also in the run after the one that has found them gone.
    for (const _ of [1, 2]) {
      expect(await again()).toBe(0)
      expect(await firsts()).toEqual([bob.id, bob.id, owner.id])
      expect((await authors())[0]).toEqual([bob.id, null])
    }
    await match(eve.id)
    expect(await again()).toBe(2)
    expect(await firsts()).toEqual([eve.id, eve.id, owner.id])
    expect((await authors())[0]).toEqual([eve.id, null])
    await app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: eve.id })
    await match(null)
    expect(await again()).toBe(2)
    expect(await firsts()).toEqual([null, null, owner.id])
  })

  test('counts the same when a table is read again, and when an import goes on', async () => {
    const many = airtableTable(
      'Many',
      { Name: 'singleLineText', Owner: 'singleCollaborator' },
      Array.from({ length: 250 }, (_, index) => ({ Name: `Job ${index}`, Owner: zed })),
    )
    const base = airtableBase('Many', [many])
    server.options.bases.push(base)
    let asked = 0
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    server.delays.set(`/v0/${base.id}/${many.id}`, async () => {
      asked += 1
      if (asked !== 3) return
      reached.resolve()
      await released.promise
    })
    const { id } = await imports().begin.mutate(fromAirtable(base.id, { keepCredentials: true }))
    await reached.promise
    await imports().pause.mutate({ importId: id })
    server.expireOffsets()
    released.resolve()
    await imports().resume.mutate({ importId: id })
    expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', tables: [{ added: 250 }] })
    const { people } = await imports().people.query({ importId: id })
    expect(people).toMatchObject([{ email: 'Zed@example.com', cells: 250, memberId: null }])
    // One line for all.
    const lines = await imports().report.query({ importId: id })
    expect(lines.filter(({ value }) => value === 'Zed@example.com').length).toBe(1)
  })
})

describe('baseImports.begin with matchFirst', () => {
  const users = [
    { user_id: 7, name: 'Kim', email: 'kim@example.com' },
    { user_id: 8, name: 'Kim', email: '' },
  ]
  const jobs = {
    id: 1,
    name: 'Jobs',
    fields: [
      { id: 1, name: 'Name', type: 'text', primary: true },
      { id: 2, name: 'Team', type: 'multiple_collaborators' },
    ],
    views: [],
    rows: [{ id: 1, field_1: 'One', field_2: [{ id: 8, name: 'Kim' }] }],
  }

  async function withBaserow(work: (address: string) => Promise<void>): Promise<void> {
    const databases = [{ id: 5, name: 'Crew', tables: [jobs] }]
    const others = [{ user_id: 9, name: 'Stranger', email: 'stranger@example.com' }]
    const baserow = startBaserowServer({ databases, users, others })
    try {
      await work(baserow.url)
    } finally {
      await baserow.stop()
    }
  }

  test('rejects sources that do not tell their people, and creates nothing', async () => {
    const base = airtableBase('Untold', [
      airtableTable('Jobs', { Name: 'singleLineText' }, [{ Name: 'One' }]),
    ])
    server.options.bases.push(base)
    const title = 'Never created'
    await expect(
      imports().begin.mutate({ ...fromAirtable(base.id, { title }), matchFirst: true }),
    ).rejects.toThrow('does not list its people')
    await withBaserow(async (address) => {
      const from = { source: 'baserow' as const, credentials: { address, token: 'token' } }
      const input = { ...importFrom(from, '5', { title }), matchFirst: true }
      await expect(imports().begin.mutate(input)).rejects.toThrow('does not list its people')
    })
    const bases = await app.trpc(owner.token).bases.list.query()
    expect(bases.filter((one) => one.title === title)).toEqual([])
  })

  test('pauses with the people of the source listed, and brings the chosen members with the first run', () =>
    withBaserow(async (address) => {
      const credentials = { address, email: 'ann@example.com', password: 'secret' }
      const from = { source: 'baserow' as const, credentials }
      const begun = await imports().begin.mutate({ ...importFrom(from, '5'), matchFirst: true })
      expect(begun).toMatchObject({ status: 'paused', run: 1, tables: [] })
      const { id, baseId } = begun
      const { people } = await imports().people.query({ importId: id })
      expect(people.map(({ sourceId, name, cells }) => [sourceId, name, cells]).toSorted()).toEqual([
        ['7', 'Kim', 0],
        ['8', 'Kim', 0],
      ])
      const bob = await createMember(app, baseId!, 'editor')
      const { key } = people.find(({ sourceId }) => sourceId === '8')!
      const choice = { importId: id, key, memberId: bob.id }
      expect(await imports().match.mutate(choice)).toMatchObject({ memberId: bob.id, isBehind: false })
      await imports().resume.mutate({ importId: id })
      expect(await settled(app, owner, id)).toMatchObject({ status: 'completed', run: 1 })
      const { rows } = await recordsOf(app, owner, baseId!, 'Jobs')
      expect(rows.map(({ Name, Team }) => [Name, Team])).toEqual([['One', bob.id]])
      // Those who are in no record are not listed any more.
      const after = await imports().people.query({ importId: id })
      expect(after.people).toMatchObject([{ sourceId: '8', cells: 1, memberId: bob.id, isBehind: false }])
    }))
})

describe('the names of people who are not members', () => {
  test('come with a later run that wants them', async () => {
    const crew = await importJobs({ names: false })
    const names = async () => (await crew.read()).rows.map((row) => row['Owner (not matched)'])
    expect(await names()).toEqual([undefined, undefined, undefined])
    await imports().again.mutate({ importId: crew.id, names: true })
    await settled(app, owner, crew.id)
    expect(await names()).toEqual(['Zed <Zed@example.com>', 'Zed <Zed@example.com>', null])
  })

  test('stand beside their field, but not over texts of this base, nor into a field that was deleted here', async () => {
    const crew = await importJobs()
    const { schema } = await crew.read()
    const [view] = schema.views
    const shown = view!.fields
      .toSorted((a, b) => a.order - b.order)
      .filter(({ show }) => show)
      .map(({ fieldId }) => schema.fields.find(({ id }) => id === fieldId)?.title)
    expect(shown.indexOf('Owner (not matched)')).toBe(shown.indexOf('Owner') + 1)
    await crew.write('One', { 'Owner (not matched)': 'Zed, who left' })
    const gone = schema.fields.find(({ title }) => title === 'Team (not matched)')!
    await app.trpc(owner.token).schema.deleteField.mutate({ fieldId: gone.id })
    const bob = await createMember(app, crew.baseId, 'editor')
    await imports().match.mutate({ importId: crew.id, key: 'zed@example.com', memberId: bob.id })
    expect(await crew.again()).toBe(2)
    expect(await crew.cells()).toEqual([
      [bob.id, 'Zed, who left', `${owner.id},${bob.id}`, undefined],
      [bob.id, null, bob.id, undefined],
      [owner.id, null, null, undefined],
    ])
  })
})

describe('the comments of a record', () => {
  test('come from all pages of their list', async () => {
    const posts = airtableTable('Posts', { Name: 'singleLineText' }, [{ Name: 'One' }])
    posts.records[0]!.comments = Array.from({ length: 120 }, (_, at) => comment(`com${at}`, `Text ${at}`, 10))
    const base = airtableBase('Posts', [posts])
    server.options.bases.push(base)
    server.options.commentsPerPage = 1
    const { id } = await imports().begin.mutate(fromAirtable(base.id))
    const done = await settled(app, owner, id)
    delete server.options.commentsPerPage
    expect(done).toMatchObject({ status: 'completed', counts: { comments: 120 } })
  })
})

describe('the reactions of imported comments', () => {
  test('come with Sync again when they were added later, but not those that were removed here', async () => {
    const crew = await importJobs()
    const react = (unicodeCharacter: string) => ({
      emoji: { unicodeCharacter },
      reactingUser: { userId: 'usrMe', email: owner.email },
    })
    const [one] = crew.jobs.records
    const { rows } = await crew.read()
    const reactions = async () => {
      const here = { tableId: crew.table.id, recordId: rows[0]!.$id as number }
      const { comments } = await app.trpc(owner.token).comments.list.query(here)
      return comments.map((each) => each.reactions.map(({ emoji }) => emoji))
    }
    const compare = async () => {
      await imports().again.mutate({ importId: crew.id, compareComments: true })
      expect((await settled(app, owner, crew.id)).status).toBe('completed')
    }
    expect(await reactions()).toEqual([[], []])
    one!.comments![0]!.reactions = [react('👍'), react('🚀')]
    await compare()
    expect(await reactions()).toEqual([['👍'], []])
    const lines = await imports().report.query({ importId: crew.id })
    expect(lines.filter(({ value }) => value === '🚀').length).toBe(1)
    const { comments } = await app
      .trpc(owner.token)
      .comments.list.query({ tableId: crew.table.id, recordId: rows[0]!.$id as number })
    await app
      .trpc(owner.token)
      .comments.react.mutate({ commentId: comments[0]!.id, emoji: '👍', isOn: false })
    one!.comments![0]!.reactions!.push(react('🎉'))
    one!.comments![0]!.text = 'First, edited'
    await compare()
    expect(await reactions()).toEqual([['🎉'], []])
  })
})
