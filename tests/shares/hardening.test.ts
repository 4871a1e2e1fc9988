import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ended } from '../imports/support.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { until } from '../support/until.ts'
import { createForm } from './form-world.ts'
import { byLink, createSecrets, refusalOf, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
let headers: Record<string, string>
let shareId: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('boss.address@example.com')
  world = await createSecrets(app, owner)
  shareId = (await world.share()).id
  headers = byLink('view', shareId)
})
afterAll(() => app.stop())

describe('the password of a link', () => {
  test('is not found out by who has had their tries, also while others are in', async () => {
    const own = await createSecrets(app, owner, 'Remembered')
    const target = { kind: 'view', targetId: own.viewId } as const
    const { id } = await own.trpc.shares.save.mutate({ ...target, patch: { password: 'hard to guess' } })
    const attempt = (password: string) =>
      refusalOf(
        app.trpc(byLink('view', id, password)).records.count.query({ selection: { tableId: own.tableId } }),
      )
    // A page that asks for many things at once makes one attempt.
    const first = await Promise.all(Array.from({ length: 15 }, () => attempt('hard to guess')))
    expect(first).toEqual(first.map(() => null))
    for (let tries = 0; tries < 10; tries++) {
      expect(await attempt(`guess ${tries}`)).toBe('403 INVALID_SHARED_VIEW_PASSWORD')
    }
    expect([await attempt('guess 10'), await attempt('hard to guess')]).toEqual([
      '429 TOO_MANY_REQUESTS',
      '429 TOO_MANY_REQUESTS',
    ])
  })
})

describe('a link to a view', () => {
  test('leaves out those whom the view leaves out by their address', async () => {
    const { trpc, tableId, fields, viewId } = world
    const { id: filteredId } = await trpc.views.duplicate.mutate({ viewId })
    const filter = { fieldId: fields.boss, operator: 'nlike', value: 'boss.address@' }
    const patch = { filter: { join: 'and' as const, children: [filter] } }
    await trpc.views.update.mutate({ viewId: filteredId, patch })
    const members = await trpc.records.count.query({ selection: { tableId, viewId: filteredId } })
    const { id } = await trpc.shares.save.mutate({ kind: 'view', targetId: filteredId, patch: {} })
    const visitor = app.trpc(byLink('view', id))
    expect(await visitor.records.count.query({ selection: { tableId } })).toEqual(members)
    expect(await refusalOf(visitor.records.get.query({ tableId, recordId: world.records.ann }))).toBe(
      '404 RECORD_NOT_FOUND',
    )
    expect(members).toEqual({ count: 2 })
    // Nor is the address told as a part of the filter.
    const { views } = await visitor.schema.table.query({ tableId })
    const meta = await app.rest().get(`/api/v2/public/shared-view/${id}/meta`)
    expect([views[0]?.filter, JSON.stringify([views, meta.body]).includes('boss.address@')]).toEqual([
      null,
      false,
    ])
  })

  test('does not show what is added to its table elsewhere', async () => {
    const own = await createSecrets(app, owner, 'Growing')
    const { trpc, tableId, viewId, teams } = own
    const visitor = app.trpc(byLink('view', (await own.share()).id))
    const titles = async () =>
      (await visitor.schema.table.query({ tableId })).fields.map(({ title }) => title)
    const before = await titles()
    const known = (await trpc.schema.table.query({ tableId })).fields.length
    await trpc.schema.createField.mutate({ tableId, field: { title: 'Later', type: 'Number' } })
    // The other end of a link that is made in another table.
    const options = { kind: 'mm', relatedTableId: tableId }
    const link = { title: 'Inmates', type: 'Links' as const, options }
    await trpc.schema.createField.mutate({ tableId: teams.table.id, field: link })
    const count = (await trpc.schema.table.query({ tableId })).fields.length
    expect(count).toBe(known + 2)
    expect(await titles()).toEqual(before)
    // In the view itself it is put there.
    await trpc.schema.createField.mutate({ tableId, field: { title: 'Public', type: 'Number' }, viewId })
    expect(await titles()).toEqual([...before, 'Public'])
  })

  test('does not show what it has left out because a field of its filter is gone', async () => {
    const { app, trpc, tableId, viewId, fields, share } = await createSecrets(world.app, owner, 'Loosened')
    const visitor = app.trpc(byLink('view', (await share()).id))
    const seen = () => visitor.records.count.query({ selection: { tableId } })
    const isBlocked = async () => (await trpc.shares.get.query({ kind: 'view', targetId: viewId }))?.isBlocked
    await trpc.schema.deleteField.mutate({ fieldId: fields.office })
    expect([await refusalOf(seen()), await isBlocked()]).toEqual(['403 FORBIDDEN', true])
    await trpc.schema.restoreField.mutate({ fieldId: fields.office })
    expect(await seen()).toEqual({ count: 2 })
    // A formula that has lost what it reads tells no record from another either.
    const filter = { fieldId: fields.band, operator: 'eq', value: 'high' }
    const set = (children: object[]) =>
      trpc.views.update.mutate({ viewId, patch: { filter: { join: 'and', children: children as never } } })
    await set([filter])
    expect(await seen()).toEqual({ count: 2 })
    await trpc.schema.deleteField.mutate({ fieldId: fields.salary })
    expect(await refusalOf(seen())).toBe('403 FORBIDDEN')
    await set([{ fieldId: fields.name, operator: 'eq', value: 'Ann' }])
    expect([await seen(), await isBlocked()]).toEqual([{ count: 1 }, false])
  })

  test('writes no file that names a hidden field, and answers as if there were none', async () => {
    const path = `/api/v1/db/data/noco/${world.baseId}/Staff/export/csv`
    const ask = async (query: string, title: string) => {
      const answer = await app.rest(headers).get(`${path}?${query.replaceAll('FIELD', title)}`)
      return [answer.status, JSON.stringify(answer.body).replaceAll(title, 'FIELD')]
    }
    for (const query of [
      'fields=FIELD',
      'where=(FIELD,gt,1)',
      'sort=-FIELD',
      'where=(Name,eq,Ann)~or(FIELD,eq,1)',
    ]) {
      const hidden = await ask(query, 'Secret salary')
      expect([query, hidden]).toEqual([query, await ask(query, 'Nothing there')])
      expect([query, Number(hidden[0]) >= 400 && Number(hidden[0]) < 500]).toEqual([query, true])
    }
    // Of members the same is refused ahead of the first byte.
    const own = app.trpc(owner.token).records.export.mutate({
      tableId: world.tableId,
      format: 'csv',
      filter: { fieldId: 'c00000000000000', operator: 'eq', value: '1' },
    })
    expect(await refusalOf(own)).toBe('404 FIELD_NOT_FOUND')
  })

  test('does not fill the queue of its base with downloads', async () => {
    const own = await createSecrets(app, owner, 'Queue')
    const { id } = await own.share()
    const start = async () => (await app.rest().post(`/api/v2/public/export/${id}/csv`)).status
    const statuses: number[] = []
    while (statuses.length < 500 && statuses.at(-1) !== 429) {
      statuses.push(...(await Promise.all(Array.from({ length: 25 }, start))))
      statuses.sort()
    }
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    // Of members nobody is kept waiting at the door.
    const job = await own.trpc.records.export.mutate({ tableId: own.tableId, format: 'csv' })
    expect(job.jobId).toMatch(/^job/)
  })

  test('does not say which other tables, views and bases there are by their names', async () => {
    const rest = app.rest(headers)
    const { trpc, baseId, tableId } = world
    await trpc.views.create.mutate({ tableId, title: 'Secret view', kind: 'grid' })
    await trpc.bases.create.mutate({ title: 'Secret base' })
    const ask = async (path: string, name: string) => {
      const answer = await rest.get(`/api/v1/db/data/noco/${path.replace('NAME', encodeURIComponent(name))}`)
      return [answer.status, JSON.stringify(answer.body).replaceAll(name, 'NAME')]
    }
    const known: [string, string][] = [
      [`${baseId}/NAME`, 'Secret teams'],
      [`${baseId}/NAME/export/csv`, 'Secret teams'],
      [`${baseId}/Staff/views/NAME`, 'Secret view'],
      ['NAME/Staff', 'Secret base'],
    ]
    for (const [path, name] of known) {
      const answer = await ask(path, name)
      expect([path, answer]).toEqual([path, await ask(path, 'Nothing there')])
      expect([path, answer[0]]).toEqual([path, 404])
    }
    expect((await rest.get(`/api/v1/db/data/noco/${baseId}/Staff/views/For%20everyone`)).status).toBe(200)
  })

  test('keeps what members are told of the table, and its answers out of every cache', async () => {
    const { trpc, tableId, baseId } = world
    await trpc.schema.updateTable.mutate({ tableId, description: 'Confidential' })
    const { table } = await app.trpc(headers).schema.table.query({ tableId })
    expect(table.description).toBeNull()
    const nobody = app.rest()
    const meta = await nobody.get(`/api/v2/public/shared-view/${shareId}/meta`)
    expect(JSON.stringify(meta.body)).not.toContain('Confidential')
    const answers = [
      meta,
      await nobody.get(`/api/v2/public/shared-view/${shareId}/rows`),
      await nobody.get('/api/v2/public/shared-view/nowhere/rows'),
      await app.rest(headers).get(`/api/v2/tables/${tableId}/records`),
      await app.rest(headers).get(`/api/v1/db/data/noco/${baseId}/Staff/nothing`),
      await app
        .rest(headers)
        .get(`/trpc/schema.table?input=${encodeURIComponent(JSON.stringify({ tableId }))}`),
    ]
    expect(answers.map((answer) => answer.headers.get('cache-control'))).toEqual(
      answers.map(() => 'no-store'),
    )
  })
})

describe('a link to a base', () => {
  test('tells nothing of what came of the jobs of members', async () => {
    const { trpc, baseId, tableId } = world
    const { id } = await trpc.shares.save.mutate({ kind: 'base', targetId: baseId, patch: {} })
    const { jobId } = await trpc.records.export.mutate({ tableId, format: 'csv' })
    const listen = async (credentials: string | Record<string, string>) =>
      JSON.stringify(
        (await app.rest(credentials).post('/jobs/listen', { _mid: 0, data: { id: jobId } })).body,
      )
    let own = ''
    await until(async () => {
      own = await listen(owner.token)
      return own.includes('dltemp')
    }, 'The exported file')
    expect(await listen(byLink('base', id))).not.toContain('dltemp')
  })

  test('gives copies without the addresses that answers to forms are mailed to', async () => {
    const own = await createSecrets(app, owner, 'Copied')
    await createForm(own, { name: {} }, { emailTo: 'inbox@example.com' })
    const { id } = await own.trpc.shares.save.mutate({ kind: 'base', targetId: own.baseId, patch: {} })
    const guest = await app.signUp()
    await app.rest(owner.token).patch(`/api/v1/users/${guest.id}`, { roles: 'org-level-creator' })
    const trpc = app.trpc(guest.token)
    const copy = await trpc.copies.sharedBase.mutate({ shareId: id })
    const { status } = await ended({ url: app.url, token: guest.token }, copy.jobId)
    expect(status).toBe('completed')
    const staff = (await trpc.schema.tables.query({ baseId: copy.baseId })).find(
      ({ title }) => title === 'Staff',
    )
    const schema = await trpc.schema.table.query({ tableId: staff?.id ?? '' })
    expect(schema.views.map(({ kind }) => kind)).toContain('form')
    expect(JSON.stringify(schema)).not.toContain('inbox@')
  })
})

describe('a link to a form', () => {
  test('tells nothing of a field that it does not ask for, be it the one that names records', async () => {
    const { trpc, tableId, teams, fields } = world
    const teamField = teams.fields.find(({ title }) => title === 'Team')?.id ?? ''
    await trpc.schema.updateField.mutate({ fieldId: fields.name, patch: { defaultValue: 'Inside name' } })
    await trpc.schema.updateField.mutate({ fieldId: teamField, patch: { defaultValue: 'Inside team' } })
    const form = await createForm(world, { mood: {}, team: {} })
    const { fields: seen } = await form.visitor.schema.table.query({ tableId })
    expect(seen.map(({ title }) => title)).toEqual(['Id', 'Mood', 'Teams'])
    const meta = await app.rest().get(`/api/v2/public/shared-view/${form.id}/meta`)
    expect([meta.status, JSON.stringify(meta.body).match(/Inside \w+|Secret \w+/g)]).toEqual([200, null])
    const rows = `/api/v2/public/shared-view/${form.id}/rows`
    const kept = await app.rest().post(rows, { data: { Mood: 'Fine', Name: 'Mine' } })
    expect([kept.status, Object.keys(kept.body).toSorted()]).toEqual([200, ['Id', 'Mood', 'Teams']])
    // A linked record without its key: the refusal does not say what its table is called.
    const faulty = await app.rest().post(rows, { data: { Mood: 'Fine', Teams: [{}] } })
    expect([faulty.status, JSON.stringify(faulty.body)]).toEqual([422, expect.not.stringContaining('Secret')])
  })

  test('keeps no file of a question that was not asked after all', async () => {
    const showIf = { fieldId: world.fields.mood, operator: 'eq', value: 'Sad' }
    const form = await createForm(world, { mood: {}, photo: { showIf } })
    const send = async () => {
      const body = new FormData()
      body.append('data', JSON.stringify({ Mood: 'Fine' }))
      for (let at = 0; at < 10; at++) body.append('Photo', new File(['x'], `${at}.txt`))
      return (await fetch(`${app.url}/api/v2/public/shared-view/${form.id}/rows`, { method: 'POST', body }))
        .status
    }
    // More files together than may wait for a record by one link, and no more in one answer than the field takes.
    for (let answers = 0; answers < 30; answers++) expect(await send()).toBe(200)
  })

  test('takes no answer that was begun before it was closed and ended after', async () => {
    const form = await createForm(world, { mood: {}, photo: {} })
    const edge = '--edge\r\ncontent-disposition: form-data; name='
    const pieces = [
      `${edge}"data"\r\n\r\n{"Mood":"Fine"}\r\n${edge}"Photo"; filename="a.txt"\r\n\r\n${'x'.repeat(100_000)}`,
      'x\r\n--edge--\r\n',
    ]
    const closed = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode(pieces[0]))
        await closed.promise
        controller.enqueue(new TextEncoder().encode(pieces[1]))
        controller.close()
      },
    })
    const answer = fetch(`${app.url}/api/v2/public/shared-view/${form.id}/rows`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    })
    const arriving = join(app.config.dataDir, 'incoming')
    while (!existsSync(arriving) || readdirSync(arriving).length === 0) await Bun.sleep(5)
    await form.change({ closesAt: new Date(Date.now() - 1000).toISOString() })
    closed.resolve()
    const { status, body: said } = await answer.then(async (one) => ({
      status: one.status,
      body: (await one.json()) as { details?: { reason?: string } },
    }))
    expect([status, said.details?.reason]).toEqual([403, 'closed'])
  })
})
