import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import type { Presence, PresenceNews } from '../../src/core/presence.ts'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { createTestApp, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { createBase, createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'

// Two servers over one PostgreSQL, the other as a process of its own: what ends an access on one counts on the connections of the other.
let app: TestApp
let other: ServerProcess
let owner: TestUser
let baseId: string
let tableId: string
const open: Socket[] = []

beforeAll(async () => {
  app = await createTestApp({ database: 'postgres' })
  other = await startServerProcess(app.config.dataDir, { DATABASE_URL: app.config.databaseUrl ?? '' })
  owner = await app.signUp()
  baseId = (await createBase(app, owner)).id
  tableId = (await app.trpc(owner.token).schema.createTable.mutate({ baseId, title: 'Live' })).table.id
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})
afterAll(async () => {
  await other.end('SIGTERM')
  await app.stop()
})

/** A connection to the other server that follows the base, with all that it is told of. */
async function follow(auth: object): Promise<{ socket: Socket; told: unknown[]; ended: Promise<unknown> }> {
  const socket = io(other.url, { auth, transports: ['websocket'], reconnection: false, forceNew: true })
  open.push(socket)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('connect_error', reject)
  })
  const told: unknown[] = []
  for (const event of ['change', 'schema']) socket.on(event, (payload) => told.push(payload))
  expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
  return { socket, told, ended: new Promise((resolve) => socket.once('disconnect', resolve)) }
}

/** A record that is written at once on the other server, whose followers are told of it. */
const write = () =>
  createTrpcClient(other.url, owner.token).records.write.mutate({
    change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: {} }] }] },
  })

describe('someone who follows a base on another server', () => {
  const endings: [how: string, end: (member: TestUser) => Promise<unknown>][] = [
    [
      'is removed from it',
      (member) => app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: member.id }),
    ],
    [
      'gets another role',
      (member) =>
        app.trpc(owner.token).bases.updateMember.mutate({ baseId, userId: member.id, role: 'no-access' }),
    ],
    ['is deleted', (member) => app.services.auth.users.delete(superAdmin(), member.id)],
    ['signs out', (member) => app.trpc(member.token).auth.signOut.mutate()],
    [
      'changes their password',
      (member) =>
        app
          .trpc(member.token)
          .auth.changePassword.mutate({ currentPassword: PASSWORD, newPassword: 'another password' }),
    ],
  ]
  const superAdmin = () => {
    const { id, email } = owner
    const orgRoles = ['org-level-creator', 'super']
    return { kind: 'user', id, email, orgRoles, via: 'session' } as const
  }

  test.each(endings)('who %s is told nothing more', async (_how, end) => {
    const member = await createMember(app, baseId, 'editor')
    const theirs = await follow({ token: member.token })
    const stays = await follow({ token: owner.token })
    await write()
    await until(() => theirs.told.length === 1 && stays.told.length === 1)
    await end(member)
    await write()
    await until(() => stays.told.length === 2)
    expect(theirs.told).toHaveLength(1)
    await theirs.ended
    expect(stays.socket.connected).toBe(true)
  })

  test('is cut off within seconds where nothing is written', async () => {
    const member = await createMember(app, baseId, 'viewer')
    const theirs = await follow({ token: member.token })
    await app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: member.id })
    await theirs.ended
  })

  test('by a link that is closed is told nothing more', async () => {
    const target = { kind: 'base', targetId: baseId } as const
    const { id } = await app.trpc(owner.token).shares.save.mutate({ ...target, patch: {} })
    const visitor = await follow({ sharedBaseId: id })
    const stays = await follow({ token: owner.token })
    await write()
    await until(() => visitor.told.length === 1 && stays.told.length === 1)
    await app.trpc(owner.token).shares.close.mutate(target)
    await write()
    await until(() => stays.told.length === 2)
    expect(visitor.told).toHaveLength(1)
    await visitor.ended
  })

  test('is told of many changes in their order', async () => {
    const stays = await follow({ token: owner.token })
    for (let count = 0; count < 20; count++) await write()
    await until(() => stays.told.length === 20)
    const entries = (stays.told as { id: number }[]).map(({ id }) => id)
    expect(entries).toEqual(entries.toSorted((a, b) => a - b))
  })
})

const REPORT_EVERY_MS = 1_000

describe('people in a base', () => {
  const place = (baseId: string) => ({
    baseId,
    tableId,
    viewId: null,
    recordId: null,
    fieldId: null,
    isEditing: false,
    isHidden: false,
  })

  /** A connection to a server that reports its position, with the ids of the people whom it is told of. */
  async function enter(url: string, token: string) {
    const socket = io(url, {
      auth: { token },
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
    })
    open.push(socket)
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
    const others = new Map<string, Presence>()
    const vanished: string[] = []
    socket.on('presence', ({ here, gone }: PresenceNews) => {
      for (const each of here) others.set(each.id, each)
      for (const id of gone) {
        const { userId } = others.get(id) ?? {}
        if (userId !== undefined) vanished.push(userId)
        others.delete(id)
      }
    })
    await socket.emitWithAck('base:join', baseId, 0)
    const beat = setInterval(() => socket.emit('presence', place(baseId)), REPORT_EVERY_MS)
    socket.once('disconnect', () => clearInterval(beat))
    socket.emit('presence', place(baseId))
    return {
      people: () => [...others.values()].map(({ userId }) => userId),
      /** Those who are no longer told of, in the order of their leaving. */
      vanished,
      /** Stays connected, but reports no more. */
      fallSilent: () => clearInterval(beat),
    }
  }

  test('see each other on different servers, also those who were there before', async () => {
    const member = await createMember(app, baseId, 'viewer')
    const mine = await enter(app.url, owner.token)
    const theirs = await enter(other.url, member.token)
    const seeEachOther = () => mine.people().includes(member.id) && theirs.people().includes(owner.id)
    await until(seeEachOther, 'They see each other')
  })

  test('vanish when their access ends on another server', async () => {
    const member = await createMember(app, baseId, 'viewer')
    const mine = await enter(app.url, owner.token)
    await enter(other.url, member.token)
    await until(() => mine.people().includes(member.id))
    await app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: member.id })
    await until(() => !mine.people().includes(member.id))
  })

  test('are known to a server that starts later, and vanish with one that is killed', async () => {
    const member = await createMember(app, baseId, 'viewer')
    const silent = await createMember(app, baseId, 'viewer')
    const mine = await enter(app.url, owner.token)
    const { fallSilent } = await enter(app.url, silent.token)
    const third = await startServerProcess(app.config.dataDir, { DATABASE_URL: app.config.databaseUrl ?? '' })
    try {
      const theirs = await enter(third.url, member.token)
      await until(() => mine.people().includes(member.id) && theirs.people().includes(owner.id))
    } finally {
      await third.end('SIGKILL')
    }
    // Whoever falls silent vanishes some seconds later. The end of a server shows earlier.
    await until(() => mine.people().includes(silent.id))
    fallSilent()
    await until(() => !mine.people().includes(member.id) && !mine.people().includes(silent.id))
    expect(mine.vanished.lastIndexOf(member.id)).toBeLessThan(mine.vanished.lastIndexOf(silent.id))
  })
})
