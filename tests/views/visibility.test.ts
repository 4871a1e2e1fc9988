import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { io } from 'socket.io-client'
import {
  createTable,
  databases,
  openWorkshop,
  readTable,
  refusalOf,
  type Workshop,
} from '../schema/support.ts'
import { byLink } from '../shares/world.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'

const ROLES = ['viewer', 'commenter', 'editor', 'creator'] as const
type Role = (typeof ROLES)[number]
const SEEN = { owner: false, creator: false, viewer: false, editor: false, commenter: false, guest: false }

describe.each([...databases])('who sees a view, metadata in %s', (database) => {
  let shop: Workshop
  let members: Record<Role, TestUser>
  beforeAll(async () => {
    shop = await openWorkshop(database)
    const made = ROLES.map(async (role) => [role, await createMember(shop.app, shop.baseId, role)] as const)
    members = Object.fromEntries(await Promise.all(made)) as Record<Role, TestUser>
  })
  afterAll(() => shop.app.stop())

  const rules = () => `/api/v1/db/meta/projects/${shop.baseId}/visibility-rules`

  async function twoViews() {
    const { table, views } = await createTable(shop, [{ type: 'SingleLineText', title: 'Title' }])
    const create = (title: string) => shop.api.views.create.mutate({ tableId: table.id, title, kind: 'grid' })
    return {
      tableId: table.id,
      standard: views[0]!,
      plain: await create('Plain'),
      secret: await create('Inner'),
    }
  }
  /** The views that a person finds in the list of a table, and in a search of the base. */
  async function titlesFor(tableId: string, token: string) {
    const { schema, views } = shop.app.trpc(token)
    const listed = (await schema.table.query({ tableId })).views.map(({ title }) => title)
    const found = (await views.titles.query({ baseId: shop.baseId })).filter(
      (view) => view.tableId === tableId,
    )
    expect(found.map(({ title }) => title)).toEqual(listed)
    return listed
  }
  /** Who of the members finds a view in their list. */
  async function seenBy(tableId: string, title: string) {
    const lists = await Promise.all(
      ROLES.map(async (role) => [role, await titlesFor(tableId, members[role].token)] as const),
    )
    return lists.filter(([, titles]) => titles.includes(title)).map(([role]) => role)
  }
  const disabledOf = async (viewId: string) =>
    (await shop.rest.get(rules())).body.find(({ id }: { id: string }) => id === viewId).disabled

  test('refuses what cannot be hidden, or not by this person, and changes nothing', async () => {
    const { tableId, standard, plain, secret } = await twoViews()
    const elsewhere = await shop.api.bases.create.mutate({ title: 'Elsewhere' })
    const far = await shop.api.schema.createTable.mutate({ baseId: elsewhere.id, title: 'Far' })
    const good = { id: plain.id, disabled: { viewer: true } }
    for (const [body, status, said] of [
      [{ id: plain.id, disabled: { viewer: true } }, 400, 'must be array'],
      [undefined, 400, 'must be array'],
      [[good, { id: secret.id }], 400, 'disabled'],
      [[good, { id: secret.id, disabled: { viewer: 'yes' } }], 400, 'viewer'],
      [[good, { id: secret.id, disabled: { creator: true } }], 400, 'creator'],
      [[good, { id: secret.id, disabled: { owner: true } }], 400, 'owner'],
      [[good, { id: standard.id, disabled: { viewer: true } }], 400, standard.title],
      [[good, { id: 'vwnowhere00000000', disabled: { viewer: true } }], 404, 'vwnowhere00000000'],
      [[good, { id: far.views[0]?.id, disabled: { viewer: true } }], 404, far.views[0]?.id],
    ] as const) {
      const answer = await shop.rest.post(rules(), body as object)
      expect([body, answer.status]).toEqual([body, status])
      expect(JSON.stringify(answer.body)).toContain(String(said))
    }
    const editor = shop.app.rest(members.editor.token)
    expect((await editor.get(rules())).status).toBe(403)
    expect((await editor.post(rules(), [good])).status).toBe(403)
    const hide = (viewId: string, from: 'viewer'[], as = shop.api) => as.views.hide.mutate({ viewId, from })
    expect(await refusalOf(hide(standard.id, ['viewer']))).toMatchObject({ status: 400 })
    const asEditor = shop.app.trpc(members.editor.token)
    expect(await refusalOf(hide(plain.id, ['viewer'], asEditor))).toMatchObject({ status: 403 })
    expect(await refusalOf(hide(plain.id, ['creator'] as never))).toMatchObject({ status: 400 })
    expect(await seenBy(tableId, 'Plain')).toEqual([...ROLES])
    expect(await disabledOf(plain.id)).toEqual(SEEN)
  })

  test('hides a view from roles in the app, and from nobody who sets views up', async () => {
    const { tableId, secret } = await twoViews()
    const { hiddenFrom } = await shop.api.views.hide.mutate({ viewId: secret.id, from: ['viewer', 'editor'] })
    expect(hiddenFrom).toEqual(['editor', 'viewer'])
    expect(await seenBy(tableId, 'Inner')).toEqual(['commenter', 'creator'])
    expect(await seenBy(tableId, 'Plain')).toEqual([...ROLES])
    expect((await readTable(shop, tableId)).views.map(({ title }) => title)).toContain('Inner')
    // A link to the base shows what its role is shown.
    const { id } = await shop.api.shares.save.mutate({ kind: 'base', targetId: shop.baseId, patch: {} })
    const visited = await shop.app.trpc(byLink('base', id)).schema.table.query({ tableId })
    expect(visited.views.map(({ title }) => title)).not.toContain('Inner')
    // Programs are told all views, with who is not meant to see them.
    const { list } = (
      await shop.app.rest(members.viewer.token).get(`/api/v1/db/meta/tables/${tableId}/views`)
    ).body
    expect(list.find((view: { id: string }) => view.id === secret.id).disabled).toEqual({
      ...SEEN,
      editor: true,
      viewer: true,
    })
    await shop.api.shares.close.mutate({ kind: 'base', targetId: shop.baseId })
  })

  test('takes the rules of several tables at once, as one step of undo', async () => {
    const [one, two] = [await twoViews(), await twoViews()]
    const sent = [
      { id: one.secret.id, disabled: { viewer: true, commenter: true } },
      { id: two.secret.id, disabled: { viewer: true } },
      { id: two.plain.id, disabled: { viewer: false } },
    ]
    const path = rules().replace('/api/v1/db/meta/projects', '/api/v2/meta/bases')
    const { status, body } = await shop.rest.post(path, sent)
    expect([status, body]).toEqual([200, { msg: 'UI ACL has been created successfully' }])
    // What is not named stays.
    await shop.rest.post(path, [{ id: one.secret.id, disabled: { commenter: false } }])
    expect(await disabledOf(one.secret.id)).toEqual({ ...SEEN, viewer: true })
    expect(await seenBy(two.tableId, 'Inner')).toEqual(['commenter', 'editor', 'creator'])
    // All that a client has read may be sent back, and changes nothing.
    expect((await shop.rest.post(path, (await shop.rest.get(path)).body)).status).toBe(200)
    const { baseId } = shop
    await shop.api.records.undo.mutate({ baseId })
    expect(await seenBy(one.tableId, 'Inner')).toEqual(['editor', 'creator'])
    await shop.api.records.undo.mutate({ baseId })
    expect(await seenBy(one.tableId, 'Inner')).toEqual([...ROLES])
    expect(await seenBy(two.tableId, 'Inner')).toEqual([...ROLES])
    await shop.api.records.redo.mutate({ baseId })
    expect(await seenBy(one.tableId, 'Inner')).toEqual(['editor', 'creator'])
    expect(await seenBy(two.tableId, 'Inner')).toEqual(['commenter', 'editor', 'creator'])
  })

  test('tells those who have the base open, and goes along with copies', async () => {
    const { tableId, secret } = await twoViews()
    const socket = io(shop.app.url, {
      auth: { token: members.viewer.token },
      transports: ['websocket'],
      forceNew: true,
    })
    const told = new Promise<{ tableId: string }>((resolve) => socket.on('schema', resolve))
    try {
      await new Promise<void>((resolve) => socket.on('connect', resolve))
      await socket.emitWithAck('base:join', shop.baseId, 0)
      await shop.api.views.hide.mutate({ viewId: secret.id, from: ['viewer'] })
      expect((await told).tableId).toBe(tableId)
    } finally {
      socket.close()
    }
    const copy = await shop.api.views.duplicate.mutate({ viewId: secret.id })
    expect(copy.hiddenFrom).toEqual(['viewer'])
    await shop.api.views.update.mutate({ viewId: copy.id, patch: { lock: 'locked' } })
    expect((await shop.api.views.hide.mutate({ viewId: copy.id, from: [] })).hiddenFrom).toEqual([])
  })
})
