import { afterAll, beforeAll, expect, test } from 'bun:test'
import { SERVERS_TIMEOUT_MS, startThreeServers, type ThreeServers } from '../servers/support.ts'

/** The promise is 300 ms; a busy machine gets more. */
const SLACK_MS = 20_000

let world: ThreeServers
let baseId: string
beforeAll(async () => {
  world = await startThreeServers({})
  baseId = (await world.trpc(world.servers[0]).bases.create.mutate({ title: 'Shared' })).id
}, SERVERS_TIMEOUT_MS)
afterAll(() => world.stop())

test('a notification made by one of three servers reaches browsers of the others, and is stored once', async () => {
  const [a, b, c] = world.servers
  const api = world.trpc(a)
  const { table, fields } = await api.schema.createTable.mutate({
    baseId,
    title: 'Tasks',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Who', type: 'User', options: { multiple: false, notify: true } },
    ],
  })
  const fieldId = fields.find(({ title }) => title === 'Who')?.id ?? ''
  const person = await world.signUp()
  await world.trpc(c).bases.invite.mutate({ baseId, emails: [person.email], role: 'editor' })
  const mine = world.trpc(b, person.token).notifications
  await mine.markAllRead.mutate()
  const socket = await world.connect(b, { token: person.token })
  const insert = (server: typeof a) =>
    world.trpc(server).records.write.mutate({
      change: {
        baseId,
        operations: [{ kind: 'insert', tableId: table.id, rows: [{ values: { [fieldId]: person.id } }] }],
      },
    })
  const times: number[] = []
  for (const server of [a, c, b]) {
    const told = new Promise((resolve) => socket.once('notification', resolve))
    const startedAt = performance.now()
    await insert(server)
    await told
    times.push(performance.now() - startedAt)
  }
  console.info(`notifications across servers: ${times.map(Math.round).join(', ')} ms`)
  expect(Math.max(...times)).toBeLessThan(SLACK_MS)
  // Whichever server reads the log, each assignment is one notification.
  const { notifications } = await mine.list.query({ unreadOnly: true })
  expect(notifications.map(({ kind, count }) => [kind, count])).toEqual([
    ['assigned', 1],
    ['assigned', 1],
    ['assigned', 1],
  ])
})
