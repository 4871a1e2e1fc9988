import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import type { Position, Presence, PresenceNews } from '../../src/core/presence.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'

let app: TestApp
let owner: TestUser
let baseId: string
const open: Socket[] = []

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp()
  baseId = (await createBase(app, owner)).id
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.close()
})
afterAll(() => app.stop())

const at = (position: Partial<Position> = {}): Position => ({
  tableId: 'mTasks',
  viewId: 'vwGrid',
  recordId: null,
  fieldId: null,
  isEditing: false,
  ...position,
})

interface Watcher {
  socket: Socket
  /** Others as this browser knows them, by connection. */
  others: Map<string, Presence>
  /** Everything received, as JSON. */
  received: string[]
  report(position: Position, isHidden?: boolean): void
  names(): string[]
}

/** A browser that follows the base and reports its position. */
async function enter(auth: object, position: Position | null = at(), isHidden = false): Promise<Watcher> {
  const socket = io(app.url, { auth, transports: ['websocket'], reconnection: false, forceNew: true })
  open.push(socket)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('connect_error', reject)
  })
  const others = new Map<string, Presence>()
  const received: string[] = []
  socket.on('presence', ({ isComplete, here, gone }: PresenceNews) => {
    received.push(JSON.stringify({ here, gone }))
    if (isComplete) others.clear()
    for (const each of here) others.set(each.id, each)
    for (const id of gone) others.delete(id)
  })
  const report = (next: Position, hides = isHidden) =>
    void socket.emit('presence', { ...next, baseId, isHidden: hides })
  await socket.emitWithAck('base:join', baseId, 0)
  if (position) report(position)
  const names = () => [...others.values()].map(({ name }) => name)
  return { socket, others, received, report, names }
}

const member = (role: 'viewer' | 'editor' = 'editor') => createMember(app, baseId, role)
/** Everybody of whom a message tells. */
const peopleIn = (message: string): string[] => {
  const { here, gone }: PresenceNews = JSON.parse(message)
  return [...here.map(({ userId }) => userId), ...gone]
}

/** Waits until a browser is told of a newcomer, and so of all that happened before. */
async function untilTold(watcher: Watcher): Promise<TestUser> {
  const newcomer = await member()
  await enter({ token: newcomer.token })
  await until(() => here(watcher, newcomer) !== undefined)
  return newcomer
}

const here = (watcher: Watcher, user: TestUser): Presence | undefined =>
  [...watcher.others.values()].find(({ userId }) => userId === user.id)

describe('presence in a base', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['text', 'here'],
    ['a list', []],
    ['no position', {}],
    ['a table that is no id', { ...at({ tableId: '<b>' }) }],
    ['an object as record', { ...at({ recordId: {} as never }) }],
    ['a fraction as record', { ...at({ recordId: 1.5 }) }],
    ['a long record id', { ...at({ recordId: 'x'.repeat(256) }) }],
    ['text as a truth value', { ...at({ isEditing: 'yes' as never }) }],
  ])('ignores %s as a report', async (_what, report) => {
    const mine = await enter({ token: owner.token })
    const other = await member()
    const theirs = await enter({ token: other.token }, null)
    theirs.socket.emit(
      'presence',
      typeof report === 'object' ? { baseId, isHidden: false, ...report } : report,
    )
    // A later valid report is taken, and shows that the connection survived.
    await Bun.sleep(150)
    expect(here(mine, other)).toBeUndefined()
    theirs.report(at())
    await until(() => here(mine, other) !== undefined)
  })

  test('is neither shown nor told to someone who may not read the base', async () => {
    const mine = await enter({ token: owner.token })
    const stranger = await app.signUp()
    const theirs = await enter({ token: stranger.token })
    await Bun.sleep(200)
    expect(here(mine, stranger)).toBeUndefined()
    expect(theirs.received).toEqual([])
  })

  test('is neither shown nor told to visitors of a public link', async () => {
    const target = { kind: 'base', targetId: baseId } as const
    const { id } = await app.trpc(owner.token).shares.save.mutate({ ...target, patch: {} })
    const mine = await enter({ token: owner.token })
    const visitor = await enter({ sharedBaseId: id })
    const other = await member()
    await enter({ token: other.token })
    await until(() => here(mine, other) !== undefined)
    expect(visitor.received).toEqual([])
    expect(mine.names().filter((name) => name !== owner.email && name !== other.email)).toEqual([])
    await app.trpc(owner.token).shares.close.mutate(target)
  })

  test('drops what exceeds the rate limit, and closes a connection that floods', async () => {
    const mine = await enter({ token: owner.token })
    const other = await member()
    const theirs = await enter({ token: other.token })
    await until(() => here(mine, other) !== undefined)
    const startedAt = performance.now()
    for (let count = 1; count <= 200; count++) theirs.report(at({ recordId: count, fieldId: 'cTitle' }))
    // Its answer follows the reports.
    await theirs.socket.emitWithAck('base:join', baseId, 0)
    const seconds = (performance.now() - startedAt) / 1000
    await until(() => typeof here(mine, other)?.recordId === 'number')
    await untilTold(mine)
    // Forty at once, and fifteen a second.
    expect(here(mine, other)!.recordId).toBeLessThan(Math.min(200, 42 + 15 * seconds))
    const closed = new Promise((resolve) => theirs.socket.once('disconnect', resolve))
    for (let count = 1; count <= 600; count++) theirs.report(at({ recordId: count }))
    expect(await closed).toBe('io server disconnect')
    await until(() => here(mine, other) === undefined)
  })

  test('drops a message that is too long with its connection', async () => {
    const theirs = await enter({ token: owner.token })
    const closed = new Promise((resolve) => theirs.socket.once('disconnect', resolve))
    theirs.socket.emit('presence', { ...at(), baseId, isHidden: false, more: 'x'.repeat(100_000) })
    await closed
  })

  test('tells a newcomer of all others, and them of the newcomer', async () => {
    const other = await member('viewer')
    const mine = await enter({ token: owner.token }, at({ recordId: 7, fieldId: 'cTitle' }))
    const theirs = await enter({ token: other.token })
    await until(() => here(theirs, owner) !== undefined && here(mine, other) !== undefined)
    expect(here(theirs, owner)).toMatchObject({
      name: owner.email,
      ...at({ recordId: 7, fieldId: 'cTitle' }),
    })
  })

  test('tells of cells only those who look at the same table', async () => {
    const [inTable, elsewhere] = [await member(), await member()]
    const mine = await enter({ token: owner.token })
    const near = await enter({ token: inTable.token })
    const far = await enter({ token: elsewhere.token }, at({ tableId: 'mOther', viewId: 'vwOther' }))
    await until(() => here(near, owner) !== undefined && here(far, owner) !== undefined)
    // The batch in which they came.
    await untilTold(far)
    const before = far.received.length
    mine.report(at({ recordId: 4711, fieldId: 'cTitle', isEditing: true }))
    await until(() => here(near, owner)?.isEditing === true)
    expect(here(near, owner)).toMatchObject({ recordId: 4711, fieldId: 'cTitle' })
    const newcomer = await untilTold(far)
    expect(far.received.slice(before).flatMap(peopleIn)).toEqual([newcomer.id])
    // Coming to the table, the other learns of the cell.
    far.report(at())
    await until(() => here(far, owner)?.recordId === 4711)
  })

  test('collects moves into few messages', async () => {
    const other = await member()
    const mine = await enter({ token: owner.token })
    const theirs = await enter({ token: other.token })
    await until(() => here(mine, other) !== undefined)
    const before = mine.received.length
    const startedAt = performance.now()
    for (let count = 1; count <= 30; count++) {
      theirs.report(at({ recordId: count, fieldId: 'cTitle' }))
      await Bun.sleep(5)
    }
    await until(() => here(mine, other)?.recordId === 30)
    // One in 100 ms, however long the reports took.
    const batches = Math.ceil((performance.now() - startedAt) / 100)
    expect(mine.received.length - before).toBeLessThanOrEqual(Math.min(2 + batches, 29))
  })

  test('ends when the connection closes, or the person leaves the base', async () => {
    const [first, second] = [await member(), await member()]
    const mine = await enter({ token: owner.token })
    const closing = await enter({ token: first.token })
    const leaving = await enter({ token: second.token })
    await until(() => here(mine, first) !== undefined && here(mine, second) !== undefined)
    closing.socket.close()
    leaving.socket.emit('base:leave', baseId)
    await until(() => here(mine, first) === undefined && here(mine, second) === undefined)
  })

  test('ends at once when access is revoked, and tells nothing more', async () => {
    const other = await member()
    const mine = await enter({ token: owner.token })
    const theirs = await enter({ token: other.token })
    await until(() => here(mine, other) !== undefined && here(theirs, owner) !== undefined)
    await app.trpc(owner.token).bases.removeMember.mutate({ baseId, userId: other.id })
    const before = theirs.received.length
    await until(() => here(mine, other) === undefined)
    mine.report(at({ recordId: 1, fieldId: 'cTitle' }))
    await Bun.sleep(200)
    expect(theirs.received.length).toBe(before)
  })

  test('ends when a browser stops reporting', async () => {
    const other = await member()
    const mine = await enter({ token: owner.token })
    const beat = setInterval(() => mine.report(at()), 1000)
    await enter({ token: other.token })
    await until(() => here(mine, other) !== undefined)
    await until(() => here(mine, other) === undefined, 'They vanish', 60_000).finally(() =>
      clearInterval(beat),
    )
  })

  test('can be hidden by the person, who still sees others', async () => {
    const other = await member()
    const mine = await enter({ token: owner.token })
    const theirs = await enter({ token: other.token }, at(), true)
    await until(() => here(theirs, owner) !== undefined)
    expect(here(mine, other)).toBeUndefined()
    theirs.report(at(), false)
    await until(() => here(mine, other) !== undefined)
    theirs.report(at(), true)
    await until(() => here(mine, other) === undefined)
  })
})
