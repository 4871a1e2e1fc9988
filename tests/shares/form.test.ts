import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TIME_ZONE_HEADER } from '../../src/core/share-headers.ts'
import { formField } from '../../src/core/views/index.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createForm, INVALID } from './form-world.ts'
import { all, byLink, createSecrets, refusalOf, refusalsOf, type Secrets } from './world.ts'

/** A picture of one point. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let app: TestApp
let owner: TestUser
let world: Secrets

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
})
afterAll(() => app.stop())

const record = (recordId: number | string) =>
  world.trpc.records.get.query({ tableId: world.tableId, recordId })
const total = async () =>
  (await world.trpc.records.count.query({ selection: { tableId: world.tableId } })).count

describe('a shared form', () => {
  test('asks, and shows no record, nobody and no file', async () => {
    const { tableId, records, baseId, fields } = world
    const { visitor, id } = await createForm(
      world,
      { name: {}, mood: { limitOptions: ['Fine'] } },
      { emailTo: 'boss@example.com' },
    )
    const schema = await visitor.schema.table.query({ tableId })
    expect(JSON.stringify(schema)).not.toMatch(/secret|boss@example|"Sad"/i)
    const opened = await app.trpc().shares.open.query({ kind: 'view', id })
    expect(opened).toMatchObject({ viewKind: 'form', form: 'open' })
    expect(JSON.stringify(opened)).not.toMatch(/secret|boss@example|"Sad"/i)
    expect(opened.definition?.questions.map(({ field }) => field.id)).toEqual([fields.name, fields.mood])
    const query = { tableId, limit: 10, offset: 0 }
    const reads = {
      list: visitor.records.list.query({ query }),
      count: visitor.records.count.query({ selection: { tableId } }),
      get: visitor.records.get.query({ tableId, recordId: records.ann }),
      position: visitor.records.position.query({ query, recordId: records.ann }),
      people: visitor.records.formerPeople.query({ tableId, ids: [owner.id] }),
      groups: visitor.records.groups.query({
        request: {
          selection: { tableId },
          summaries: [],
          limit: 5,
          offset: 0,
          groups: [{ fieldId: fields.mood, direction: 'asc' }],
        },
      }),
      linked: visitor.records.linked.query({
        tableId,
        fieldId: fields.name,
        recordId: records.ann,
        limit: 5,
        offset: 0,
      }),
    }
    expect(await refusalsOf(reads)).toEqual(all(reads, '403 FORBIDDEN'))
    expect(await visitor.records.people.query({ baseId })).toEqual([])
    const { files } = await visitor.records.signFiles.query({ tableId, paths: ['download/a/b.png'] })
    expect(files).toEqual({})
  })

  test('keeps what it asks for, as a record of nobody in particular, and tells those who listen', async () => {
    const { fields } = world
    const { submit, viewId, id } = await createForm(world, { name: {}, mood: {} })
    const told: object[] = []
    const stop = app.kernel.events.on('form.answered', (answer) => told.push(answer))
    const { recordId } = await submit({
      [fields.name]: 'Zoe',
      [fields.mood]: 'Fine',
      [fields.salary]: 1_000_000,
      nonsense: 1,
    })
    stop()
    const { values } = await record(recordId)
    expect([values[fields.name], values[fields.mood], values[fields.salary]]).toEqual(['Zoe', 'Fine', null])
    expect(told).toEqual([{ baseId: world.baseId, tableId: world.tableId, viewId, shareId: id, recordId }])
    expect((await world.trpc.shares.get.query({ kind: 'view', targetId: viewId }))?.answers).toBe(1)
    const { entries } = await world.trpc.records.history.query({ tableId: world.tableId, recordId })
    expect(entries.map(({ actorId }) => actorId)).toEqual([null])
  })

  test('holds answers against the fields, what is required, the rules and the options offered', async () => {
    const { fields } = world
    const { refusal } = await createForm(world, {
      name: { required: true, rules: [{ rule: 'minLength', value: 3, message: null }] },
      mood: { limitOptions: ['Fine'] },
    })
    const before = await total()
    expect(await refusal({})).toEqual([INVALID, [fields.name]])
    expect(await refusal({ [fields.name]: 'Al' })).toEqual([INVALID, [fields.name]])
    expect(await refusal({ [fields.name]: 'Alma', [fields.mood]: 'Sad' })).toEqual([INVALID, [fields.mood]])
    expect(await refusal({ [fields.name]: { odd: 1 }, [fields.mood]: 7 })).toEqual([
      INVALID,
      expect.anything(),
    ])
    expect(await total()).toBe(before)
    expect(await refusal({ [fields.name]: 'Alma', [fields.mood]: 'Fine' })).toBeNull()
  })

  test('passes over questions whose condition is not met', async () => {
    const { fields } = world
    const { submit, refusal } = await createForm(world, {
      name: {},
      mood: { required: true, showIf: { fieldId: fields.name, operator: 'eq', value: 'Ask me' } },
    })
    const { recordId } = await submit({ [fields.name]: 'Leave me', [fields.mood]: 'Sad' })
    expect((await record(recordId)).values[fields.mood]).toBeNull()
    expect(await refusal({ [fields.name]: 'Ask me' })).toEqual([INVALID, [fields.mood]])
  })

  test('links only what its picker offers', async () => {
    const { fields, records, teams, tableId, trpc } = world
    const teamField = teams.fields.find(({ isDisplay }) => isDisplay)?.id ?? ''
    const view = await trpc.views.create.mutate({ tableId: teams.table.id, title: 'Red ones', kind: 'grid' })
    await trpc.views.update.mutate({
      viewId: view.id,
      patch: { filter: { fieldId: teamField, operator: 'eq', value: 'Red' } },
    })
    await trpc.schema.updateField.mutate({ fieldId: fields.team, patch: { options: { viewId: view.id } } })
    const { visitor, submit, refusal } = await createForm(world, { name: {}, team: {} })
    const page = { tableId, recordId: null, limit: 10, offset: 0 }
    const offered = await visitor.records.linkable.query({ ...page, fieldId: fields.team })
    expect([offered.rows, offered.ids]).toEqual([[['Red']], [records.red]])
    expect(await refusalOf(visitor.records.linkable.query({ ...page, fieldId: fields.secretTeam }))).toBe(
      '404 FIELD_NOT_FOUND',
    )
    expect(
      await refusalOf(
        visitor.records.linkable.query({ ...page, fieldId: fields.team, recordId: records.ann }),
      ),
    ).toBe('403 FORBIDDEN')
    const { recordId } = await submit({
      [fields.name]: 'Red one',
      [fields.team]: JSON.stringify([records.red]),
    })
    const linked = await trpc.records.linked.query({
      tableId,
      fieldId: fields.team,
      recordId,
      limit: 5,
      offset: 0,
    })
    expect(linked.ids).toEqual([records.red])
    expect(await refusal({ [fields.team]: JSON.stringify([records.blue]) })).toEqual([INVALID, [fields.team]])
    expect(await refusal({ [fields.team]: JSON.stringify([records.red, 999]) })).toEqual([
      INVALID,
      [fields.team],
    ])
    await trpc.schema.updateField.mutate({ fieldId: fields.team, patch: { options: { viewId: null } } })
  })

  test('takes no record away from another that holds it', async () => {
    const own = await createSecrets(app, owner, 'Owned')
    const { id: fieldId } = await own.trpc.schema.createField.mutate({
      tableId: own.tableId,
      field: { title: 'Flock', type: 'Links', options: { kind: 'hm', relatedTableId: own.teams.table.id } },
    })
    await own.trpc.records.write.mutate({
      change: {
        baseId: own.baseId,
        operations: [
          { kind: 'link', tableId: own.tableId, fieldId, id: own.records.ann, targets: [own.records.red] },
        ],
      },
    })
    const form = await createForm(own, { name: {} })
    const { fields } = await own.trpc.schema.table.query({ tableId: own.tableId })
    const order = fields.findIndex(({ id }) => id === fieldId)
    await own.trpc.views.arrange.mutate({ viewId: form.viewId, fields: [{ fieldId, show: true, order }] })
    const page = { tableId: own.tableId, fieldId, recordId: null, limit: 10, offset: 0 }
    expect((await form.visitor.records.linkable.query(page)).ids).toEqual([own.records.blue])
    expect(await form.refusal({ [fieldId]: JSON.stringify([own.records.red]) })).toEqual([INVALID, [fieldId]])
    await form.submit({ [fieldId]: JSON.stringify([own.records.blue]) })
    const kept = await own.trpc.records.linked.query({ ...page, recordId: own.records.ann })
    expect(kept.ids).toEqual([own.records.red])
  })

  test('chooses people by id alone, so that no address is found out', async () => {
    const { fields } = world
    const { refusal } = await createForm(world, { boss: {} })
    expect(await refusal({ [fields.boss]: 'owner@example.com' })).toEqual(
      await refusal({ [fields.boss]: 'nobody@example.com' }),
    )
    expect(await refusal({ [fields.boss]: owner.id })).toBeNull()
  })

  test('says nothing of fields that it does not ask for, whatever their table asks', async () => {
    const own = await createSecrets(app, owner, 'Strict')
    const { fields, trpc } = own
    const form = await createForm(own, { name: {} })
    await trpc.schema.updateField.mutate({ fieldId: fields.name, patch: { unique: true } })
    expect(await form.refusal({ [fields.name]: 'Ann' })).toEqual([INVALID, [fields.name]])
    await trpc.schema.createField.mutate({
      tableId: own.tableId,
      field: { title: 'Secret number', type: 'Number', required: true },
    })
    const refused = await form.submit({ [fields.name]: 'Nobody' }).catch((error) => error)
    expect(refused.data.appCode).toBe('BAD_REQUEST')
    expect(JSON.stringify(refused)).not.toMatch(/secret/i)
    // The place that was held for it is free again.
    expect((await trpc.shares.get.query({ kind: 'view', targetId: form.viewId }))?.answers).toBe(0)
  })

  test('shows its own pictures', async () => {
    const body = new FormData()
    body.append('file', new File([PIXEL], 'banner.png'))
    const answer = await fetch(`${app.url}/api/v1/db/storage/upload`, {
      method: 'POST',
      headers: { 'xc-auth': owner.token },
      body,
    })
    const [{ path }] = (await answer.json()) as [{ path: string }]
    const { tableId, trpc } = world
    await trpc.records.keepPicture.mutate({ tableId, path })
    const form = await createForm(world, { name: {} }, { bannerPath: path })
    const sign = () => form.visitor.records.signFiles.query({ tableId, paths: [path] })
    expect(Object.keys((await sign()).files)).toEqual([path])
    await form.change({ bannerPath: null })
    expect((await sign()).files).toEqual({})
  })

  test('is closed by its day and by its number of answers, also where many come at once', async () => {
    const { fields } = world
    const form = await createForm(world, { name: {} }, { maxAnswers: 3 })
    const { auth, shares } = app.services
    const actor = await auth.authenticate(new Headers(byLink('view', form.id)))
    const { promise: allAreIn, resolve: letThem } = Promise.withResolvers<void>()
    let arrived = 0
    // Each has found the form open before any of them is counted.
    const read = async () => {
      if (++arrived === 8) letThem()
      await allAreIn
      return { [fields.name]: 'Guest' }
    }
    const sender = { address: '', headers: new Headers() }
    const sent = Array.from({ length: 8 }, () => shares.answers.submit(actor, read, sender))
    const said = await Promise.allSettled(sent)
    expect(said.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    const refused = said.flatMap((one) => (one.status === 'rejected' ? [one.reason.details] : []))
    expect(refused).toEqual(Array(5).fill({ reason: 'full' }))
    expect((await app.trpc().shares.open.query({ kind: 'view', id: form.id })).form).toBe('full')
    await form.change({ maxAnswers: null, closesAt: '2020-01-01T00:00:00Z' })
    expect(await form.refusal({ [fields.name]: 'Late' })).toEqual(['FORBIDDEN', 'closed'])
    const closed = await app.trpc().shares.open.query({ kind: 'view', id: form.id })
    expect(closed).toMatchObject({ form: 'closed', definition: null })
    // What is refused takes no place of those that are left.
    await form.change({ maxAnswers: 4, closesAt: null })
    expect(await form.refusal({ [fields.name]: [] })).toEqual([INVALID, expect.anything()])
    expect(await form.refusal({ [fields.name]: 'Last' })).toBeNull()
    expect(await form.refusal({ [fields.name]: 'One more' })).toEqual(['FORBIDDEN', 'full'])
  })

  test('takes one answer from each browser where it is told to', async () => {
    const { fields } = world
    const form = await createForm(world, { name: {} }, { onePerPerson: true })
    const send = (cookie: string) =>
      fetch(`${app.url}/trpc/shares.submit`, {
        method: 'POST',
        body: JSON.stringify({ values: { [fields.name]: 'Me' } }),
        headers: { ...form.headers, 'content-type': 'application/json', cookie },
      })
    const first = await send('')
    const [cookie = ''] = first.headers.getSetCookie()
    expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/)
    const own = cookie.split(';')[0] ?? ''
    const second = await send(`other=1; ${own}`)
    expect([second.status, (await second.json()).error.data.details]).toEqual([403, { reason: 'answered' }])
    expect((await send(`${own.split('=')[0]}=forged`)).status).toBe(200)
    expect((await send('')).status).toBe(200)
  })

  test('is refused to whoever sends too much', async () => {
    const small = await createTestApp({ config: { formAnswersPerHour: 2 } })
    const boss = await small.signUp()
    const own = await createSecrets(small, boss)
    const view = await own.trpc.views.create.mutate({ tableId: own.tableId, title: 'Apply', kind: 'form' })
    const { id } = await own.trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const submit = () =>
      refusalOf(
        small.trpc(byLink('view', id)).shares.submit.mutate({ values: { [own.fields.name]: 'Spam' } }),
      )
    expect([await submit(), await submit(), await submit()]).toEqual([null, null, '429 TOO_MANY_REQUESTS'])
    await small.stop()
  })

  test('is over at once when its link is closed', async () => {
    const { fields, trpc } = world
    const form = await createForm(world, { name: {} })
    expect(await form.refusal({ [fields.name]: 'In time' })).toBeNull()
    await trpc.shares.close.mutate({ kind: 'view', targetId: form.viewId })
    expect(await form.refusal({ [fields.name]: 'Too late' })).toEqual(['VIEW_NOT_FOUND', null])
  })

  test('sees the days of its conditions in the time zone of the page', async () => {
    const own = await createSecrets(app, owner, 'Zones')
    const { trpc, tableId, fields } = own
    const { id: at } = await trpc.schema.createField.mutate({
      tableId,
      field: { title: 'At', type: 'DateTime' },
    })
    const form = await createForm(own, { name: {} })
    const showIf = { fieldId: at, operator: 'eq', operand: 'exactDate' as const, value: '2026-11-28' }
    await trpc.views.arrange.mutate({
      viewId: form.viewId,
      fields: [
        { fieldId: at, show: true, order: 0 },
        { fieldId: fields.name, show: true, order: 1, form: formField.parse({ required: true, showIf }) },
      ],
    })
    const send = async (zone: string) => {
      const visitor = app.trpc({ ...form.headers, [TIME_ZONE_HEADER]: zone })
      const values = { [at]: '2026-11-29 02:00:00+00:00', [fields.name]: 'Late' }
      const { recordId } = await visitor.shares.submit.mutate({ values })
      return (await trpc.records.get.query({ tableId, recordId: recordId ?? '' })).values[fields.name]
    }
    // There it is still six in the evening of the day before.
    expect([await send('America/Los_Angeles'), await send('UTC')]).toEqual(['Late', null])
  })

  test('requires nobody of visitors, who see nobody to choose', async () => {
    const { fields } = world
    const { refusal } = await createForm(world, { name: { required: true }, boss: { required: true } })
    expect(await refusal({})).toEqual([INVALID, [fields.name]])
    expect(await refusal({ [fields.name]: 'Ann', [fields.boss]: null })).toBeNull()
  })
})
