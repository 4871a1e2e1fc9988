import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import type { AppliedChange } from '../../src/core/changes.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

let app: TestApp
let owner: TestUser
let baseId: string
let tableId: string
const open: Socket[] = []

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp()
  baseId = (await createBase(app, owner)).id
  tableId = (await app.trpc(owner.token).schema.createTable.mutate({ baseId, title: 'Live' })).table.id
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})
afterAll(() => app.stop())

/** A connection with that token; rejects where the server refuses it. */
function connect(token: string | undefined): Promise<Socket> {
  const socket = io(app.url, {
    auth: { token },
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
  })
  open.push(socket)
  return new Promise((resolve, reject) => {
    socket.on('connect', () => resolve(socket))
    socket.on('connect_error', reject)
  })
}

const join = (socket: Socket, ageMs = 0): Promise<{ joined: boolean; missed: boolean }> =>
  socket.emitWithAck('base:join', baseId, ageMs)

const next = <T>(socket: Socket, event: string): Promise<T> =>
  new Promise((resolve) => {
    socket.once(event, resolve)
  })

const write = () =>
  app.trpc(owner.token).records.write.mutate({
    change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: {} }] }] },
  })

describe('the live connection', () => {
  // The last ones are no values of a header, as which tokens are read elsewhere.
  test.each([undefined, '', 'nonsense', 'two\nlines', '漢字', '\ud800'])(
    'refuses the token %p',
    async (token) => {
      await expect(connect(token)).rejects.toThrow('Authentication required')
    },
  )

  test('tells of webhooks only those who may list them', async () => {
    const viewer = await createMember(app, baseId, 'viewer')
    const [forOwner, forViewer] = [await connect(owner.token), await connect(viewer.token)]
    const heard: { hookId: string; baseId: string }[] = []
    forViewer.on('hook', (news) => heard.push(news))
    await Promise.all([join(forOwner), join(forViewer)])
    const told = next<{ hookId: string }>(forOwner, 'hook')
    const { id: hookId } = await app.trpc(owner.token).hooks.create.mutate({
      tableId,
      title: 'Hook',
      event: 'manual',
      operations: [],
      channel: { type: 'URL', payload: { path: 'https://example.com' } },
    })
    expect(await told).toEqual({ hookId, baseId } as never)
    // A later message reaches the viewer, so the one before it would have.
    const change = next(forViewer, 'change')
    await write()
    await change
    expect(heard).toEqual([])
  })

  test('reads no more of a request than a message may have', async () => {
    const hello = await (await fetch(`${app.url}/socket.io/?EIO=4&transport=polling`)).text()
    const { sid, maxPayload } = JSON.parse(hello.slice(1))
    const path = `${app.url}/socket.io/?EIO=4&transport=polling&sid=${sid}`
    const untold = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('4'))
        controller.close()
      },
    })
    const refusals = [
      await fetch(path, { method: 'POST', body: 'a'.repeat(maxPayload * 4 + 1) }),
      await fetch(path, { method: 'POST', body: untold }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([413, 411])
    // It was not even handed on: the connection that it was sent on stands.
    const message = await fetch(path, { method: 'POST', body: '3' })
    expect([message.status, await message.text()]).toEqual([200, 'ok'])
  })

  test('lets nobody follow a base that they may not read', async () => {
    const stranger = await connect((await app.signUp()).token)
    expect(await join(stranger)).toEqual({ joined: false, missed: false })
  })

  test('is cut if the rights in a base cannot be read, so that the browser joins again', async () => {
    const socket = await connect(owner.token)
    using metadata = new Database(`${app.config.dataDir}/sheaf.db`)
    const cut = next(socket, 'disconnect')
    metadata.run('alter table memberships rename to hidden_memberships')
    try {
      socket.emit('base:join', baseId, 0, () => {})
      expect(await cut).toBe('io server disconnect')
    } finally {
      metadata.run('alter table hidden_memberships rename to memberships')
    }
    expect((await join(await connect(owner.token))).joined).toBe(true)
  })

  test('tells of changes to records and tables as they are committed', async () => {
    const socket = await connect(owner.token)
    expect((await join(socket)).joined).toBe(true)
    const change = next<AppliedChange>(socket, 'change')
    const { id } = await write()
    expect(await change).toMatchObject({ id, baseId, tableIds: [tableId], actorId: owner.id })
    const schema = next(socket, 'schema')
    await app.trpc(owner.token).schema.updateTable.mutate({ tableId, description: 'seen' })
    expect(await schema).toMatchObject({ baseId, tableId })
  })

  test('says whether a base has changed since a browser began to read it', async () => {
    await write()
    const socket = await connect(owner.token)
    expect((await join(socket, 60_000)).missed).toBe(true)
    await Bun.sleep(300)
    expect((await join(socket, 0)).missed).toBe(false)
  })

  test('is cut when the person loses the right, who cannot come back to the base', async () => {
    const editor = await createMember(app, baseId, 'editor')
    const socket = await connect(editor.token)
    await join(socket)
    const cut = next<string>(socket, 'disconnect')
    await app.rest(owner.token).delete(`/api/v1/db/meta/projects/${baseId}/users/${editor.id}`)
    expect(await cut).toBe('io server disconnect')
    expect((await join(await connect(editor.token))).joined).toBe(false)
  })

  test('is cut when a membership gives less than the role in all bases', async () => {
    const dan = await app.signUp()
    const everywhere = { userId: dan.id, role: 'workspace-level-viewer' } as const
    await app.trpc(owner.token).auth.setWorkspaceRole.mutate(everywhere)
    const socket = await connect(dan.token)
    expect((await join(socket)).joined).toBe(true)
    const cut = next<string>(socket, 'disconnect')
    await app.trpc(owner.token).bases.invite.mutate({ baseId, emails: [dan.email], role: 'no-access' })
    expect(await cut).toBe('io server disconnect')
    expect((await join(await connect(dan.token))).joined).toBe(false)
  })
})
